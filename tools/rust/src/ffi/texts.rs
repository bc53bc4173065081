// SPDX-License-Identifier: Apache-2.0
//! Texts of the library, and errors with the library's line.

use std::ffi::{CStr, CString, OsStr};
use std::os::raw::{c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::declare::*;
use crate::error::{Error, FULL, NOT_FOUND};

/// Returns a path for C. A path with a zero byte names no file.
pub fn c_path(path: &Path) -> Result<CString, Error> {
    CString::new(path.as_os_str().as_bytes())
        .map_err(|_| Error::from_errno(22, format!("{}: the path has a zero byte", path.display())))
}

/// Returns a text for C.
pub fn c_text(text: &str, use_: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error::from_errno(22, format!("{use_} has a zero byte")))
}

/// Copies a terminated text.
///
/// # Safety
/// `text` is NULL or points to a terminated text.
pub(super) unsafe fn copy_text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: as above.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Copies the text of an array that the library filled and terminated; a missing end is the array's end.
pub(super) fn copy_array(array: &[c_char]) -> String {
    let bytes: Vec<u8> = array.iter().map(|&byte| byte as u8).take_while(|&byte| byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn shown(path: &CStr) -> String {
    Path::new(OsStr::from_bytes(path.to_bytes())).display().to_string()
}

/// Returns the error of a result that is not 0, with the library's line. `error` is the reader's.
pub(super) fn why(path: &CStr, result: c_int, error: &ts_sbt_error) -> Error {
    let text = copy_array(&error.text);
    let is_own = error.code == result && !text.is_empty();
    // The line of ts_query_why() is for damaged files; a system's error and a missing id have a better one in the reader.
    if is_own && (result < 0 || result == NOT_FOUND) {
        return Error::new(result, format!("{}: {text}", shown(path)), None);
    }
    let mut line: [c_char; WHY_BYTES] = [0; WHY_BYTES];
    // SAFETY: the path is terminated, and `line` has the length that the header requires.
    unsafe { ts_query_why(path.as_ptr(), result, error, line.as_mut_ptr()) };
    Error::new(result, copy_array(&line), (is_own && result > 0).then_some(error.off))
}

/// Returns the error of a call that has no reader: the path, and the system's text or the code.
pub(super) fn plain(path: &CStr, result: c_int) -> Error {
    let text = match result {
        FULL => "the session has too many unwritten rows".to_string(),
        result if result < 0 => std::io::Error::from_raw_os_error(-result).to_string(),
        result => format!("libtracesmith returned {result}"),
    };
    Error::new(result, format!("{}: {text}", shown(path)), None)
}

/// Returns the name of a vendor's call as tsctl prints it.
pub fn call_name(domain: u16, cbid: u16) -> String {
    let mut buffer: [c_char; CALL_NAME_BYTES] = [0; CALL_NAME_BYTES];
    // SAFETY: the buffer has the length that the header requires; the result is never NULL, and is constant or in the buffer.
    unsafe { copy_text(ts_name_call(domain.into(), cbid.into(), buffer.as_mut_ptr())) }
}

/// Returns the name of a loss reason, which is its key in `lost` of `tsctl info --json`.
pub fn loss_name(reason: u32) -> Option<&'static str> {
    // SAFETY: the function accepts any number, and returns NULL or a constant text.
    let name = unsafe { ts_loss_reason_name(reason) };
    if name.is_null() {
        return None;
    }
    // SAFETY: a constant text is terminated and lives as long as the process.
    unsafe { CStr::from_ptr(name) }.to_str().ok()
}
