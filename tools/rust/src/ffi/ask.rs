// SPDX-License-Identifier: Apache-2.0
//! Questions with JSON: `replay/report/ask-json.h`.

use std::ffi::CStr;
use std::os::raw::{c_char, c_int};
use std::ptr;
use std::slice;
use std::sync::atomic::AtomicU64;

use super::declare::*;
use super::reader::Reader;
use super::texts;
use crate::error::Error;

/// Limits of a question; 0 is the default of each.
#[derive(Clone, Copy, Default)]
pub struct Limits<'a> {
    pub max_bytes: usize,
    pub n_threads: u32,
    pub device_bytes: u64,
    pub n_rows: Option<&'a AtomicU64>,
}

/// The header: called without memory for a message; must not return. Rust ends a process without memory, too.
pub(super) extern "C" fn no_memory() {
    std::process::abort();
}

fn options(reader: &Reader, limits: Limits<'_>) -> Padded<ts_ask_options> {
    // SAFETY: all zero is the default of all members but no_memory (ask-json.h).
    let mut options = unsafe { Padded::<ts_ask_options>::zeroed() };
    options.no_memory = Some(no_memory);
    options.cancel = reader.cancel_flag();
    // The library adds to the number atomically.
    options.n_rows = limits.n_rows.map_or(ptr::null_mut(), |n_rows| n_rows as *const AtomicU64 as *mut u64);
    options.max_bytes = limits.max_bytes;
    options.n_threads = limits.n_threads;
    options.device_bytes = limits.device_bytes;
    options
}

/// A text of the library, which is freed.
pub(super) struct Json(Padded<ts_json>);

impl Json {
    pub(super) fn new() -> Json {
        // SAFETY: json.h: all zero is an empty text.
        Json(unsafe { Padded::zeroed() })
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut ts_json {
        self.0.as_mut_ptr()
    }

    pub(super) fn copy(&self) -> String {
        if self.0.data.is_null() {
            return String::new();
        }
        // SAFETY: the text has n_bytes bytes and belongs to `self`.
        let bytes = unsafe { slice::from_raw_parts(self.0.data.cast::<u8>(), self.0.n_bytes) };
        String::from_utf8_lossy(bytes).into_owned()
    }
}

impl Drop for Json {
    fn drop(&mut self) {
        // SAFETY: json.h: all zero is an empty text; the text is freed once.
        unsafe { ts_json_deinit(self.0.as_mut_ptr()) }
    }
}

fn answer(result: c_int, json: &Json, line: &[c_char]) -> Result<String, Error> {
    match result {
        0 => Ok(json.copy()),
        _ => Err(Error::new(result, texts::copy_array(line), None)),
    }
}

/// Asks a question about a session, or about all (0). The answer is JSON.
pub fn ask(
    reader: &Reader,
    session: u32,
    question: &CStr,
    options_json: &CStr,
    limits: Limits<'_>,
) -> Result<String, Error> {
    let mut line: [c_char; WHY_BYTES] = [0; WHY_BYTES];
    let mut json = Json::new();
    let options = options(reader, limits);
    // SAFETY: reader, texts and options live longer than the call; the line has TS_ASK_WHY_BYTES; the thread is the reader's.
    let result = unsafe {
        ts_ask_json(
            reader.as_ptr(),
            session,
            reader.path().as_ptr(),
            question.as_ptr(),
            options_json.as_ptr(),
            options.as_ptr(),
            json.as_mut_ptr(),
            line.as_mut_ptr(),
        )
    };
    // A library before this version ends the reader's flag.
    reader.use_cancel();
    answer(result, &json, &line)
}

/// Draws the answer to "timeline" or "memory" as SVG.
pub fn picture(reader: &Reader, question: &CStr, options_json: &CStr, width: u32) -> Result<String, Error> {
    let mut line: [c_char; WHY_BYTES] = [0; WHY_BYTES];
    let mut json = Json::new();
    let options = options(reader, Limits::default());
    // SAFETY: as in ask().
    let result = unsafe {
        ts_ask_picture(
            reader.as_ptr(),
            0,
            reader.path().as_ptr(),
            question.as_ptr(),
            options_json.as_ptr(),
            width,
            options.as_ptr(),
            json.as_mut_ptr(),
            line.as_mut_ptr(),
        )
    };
    reader.use_cancel();
    answer(result, &json, &line)
}

/// Compares the traces of two builds. Each reader may occur once: the header wants it for this call alone.
pub fn diff(before: &[&Reader], after: &[&Reader], options_json: &CStr) -> Result<String, Error> {
    let sides = [before, after];
    let pointers = sides.map(|side| side.iter().map(|reader| reader.as_ptr()).collect::<Vec<_>>());
    let mut all: Vec<_> = pointers.concat();
    all.sort_unstable();
    if all.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Error::from_errno(22, "one trace is compared with itself: open it twice".to_string()));
    }
    let first = match before.first() {
        Some(first) if !after.is_empty() => first,
        _ => return Err(Error::from_errno(22, "a comparison needs a trace on each side".to_string())),
    };
    let c_sides = [0, 1].map(|side| ts_query_side {
        readers: pointers[side].as_ptr(),
        n: pointers[side].len(),
        path: sides[side][0].path().as_ptr(),
    });
    let mut line: [c_char; WHY_BYTES] = [0; WHY_BYTES];
    let mut json = Json::new();
    let options = options(first, Limits::default());
    // SAFETY: as in ask(); the sides have as many readers as they state, each once.
    let result = unsafe {
        ts_ask_json_diff(
            c_sides.as_ptr(),
            options_json.as_ptr(),
            options.as_ptr(),
            json.as_mut_ptr(),
            line.as_mut_ptr(),
        )
    };
    for reader in sides.concat() {
        reader.use_cancel();
    }
    answer(result, &json, &line)
}
