// SPDX-License-Identifier: Apache-2.0
//! Writers of `sbt/writer.h`.

use std::ffi::{CStr, CString};
use std::os::raw::c_int;
use std::os::unix::io::{AsRawFd, IntoRawFd, OwnedFd};
use std::ptr::{self, NonNull};

use super::declare::*;
use super::rows::{self, RowImage};
use super::texts;
use crate::error::Error;
use crate::row::{Row, StackId, StringId};
use crate::rows::RowType;

/// Owns a file's writer. writer.h: "several threads may use it at once".
pub struct Writer {
    pointer: NonNull<ts_sbt_writer>,
    path: CString,
}

// SAFETY: the header's sentence above.
unsafe impl Send for Writer {}
// SAFETY: the header's sentence above.
unsafe impl Sync for Writer {}

impl Writer {
    /// Starts a file on an empty file or a pipe. `path` is its name, for messages.
    pub fn new(fd: OwnedFd, path: CString) -> Result<Writer, Error> {
        rows::check_library()?;
        let mut pointer = ptr::null_mut();
        // SAFETY: the descriptor is open.
        let result = unsafe { ts_sbt_writer_new(fd.as_raw_fd(), &mut pointer) };
        match NonNull::new(pointer) {
            Some(pointer) if result == 0 => {
                // The writer owns the descriptor from here on, and closes it.
                let _ = fd.into_raw_fd();
                Ok(Writer { pointer, path })
            }
            _ => Err(texts::plain(&path, result)),
        }
    }

    fn check(&self, result: c_int) -> Result<(), Error> {
        if result == 0 {
            Ok(())
        } else {
            Err(texts::plain(&self.path, result))
        }
    }

    pub fn string(&self, text: &[u8]) -> Result<StringId, Error> {
        let mut id = 0;
        // SAFETY: the text has as many bytes.
        let result = unsafe { ts_sbt_writer_string(self.pointer.as_ptr(), text.as_ptr().cast(), text.len(), &mut id) };
        self.check(result).map(|()| StringId(id))
    }

    pub fn metadata(&self, key: &CStr, value: &CStr) -> Result<(), Error> {
        // SAFETY: both texts are terminated.
        let result = unsafe { ts_sbt_writer_metadata(self.pointer.as_ptr(), key.as_ptr(), value.as_ptr()) };
        self.check(result)
    }

    pub fn row<R: Row>(&self, row_type: RowType, row: &R) -> Result<(), Error> {
        let image = RowImage::new(row);
        // SAFETY: the image has the type's struct, and zeroes behind it; the row is copied.
        let result = unsafe { ts_sbt_writer_row(self.pointer.as_ptr(), row_type as u32, image.as_ptr()) };
        self.check(result)
    }

    pub fn flush(&self) -> Result<(), Error> {
        // SAFETY: the writer lives.
        let result = unsafe { ts_sbt_writer_flush(self.pointer.as_ptr()) };
        self.check(result)
    }

    pub fn finish(&self) -> Result<(), Error> {
        // SAFETY: the writer lives.
        let result = unsafe { ts_sbt_writer_finish(self.pointer.as_ptr()) };
        self.check(result)
    }

    pub fn session<R: Row>(&self, row: &R) -> Result<SessionWriter<'_>, Error> {
        let image = RowImage::new(row);
        let mut pointer = ptr::null_mut();
        // SAFETY: the image has the session's struct, and zeroes behind it; the row is copied.
        let result = unsafe { ts_sbt_session_writer_new(self.pointer.as_ptr(), image.as_ptr(), &mut pointer) };
        self.check(result)?;
        Ok(SessionWriter { pointer: NonNull::new(pointer).expect("a new session"), writer: self })
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // SAFETY: sessions borrow the writer, so none is left that could be used.
        unsafe { ts_sbt_writer_free(self.pointer.as_ptr()) }
    }
}

/// Owns a session's writer. writer.h: one thread at a time, different ones at the same time: Send and not Sync.
pub struct SessionWriter<'w> {
    pointer: NonNull<ts_sbt_session_writer>,
    writer: &'w Writer,
}

// SAFETY: the header's sentence above.
unsafe impl Send for SessionWriter<'_> {}

impl SessionWriter<'_> {
    pub fn number(&self) -> u32 {
        // SAFETY: the session lives.
        unsafe { ts_sbt_session_writer_number(self.pointer.as_ptr()) }
    }

    pub fn pending_rows(&self) -> u64 {
        // SAFETY: the session lives.
        unsafe { ts_sbt_session_writer_pending_rows(self.pointer.as_ptr()) }
    }

    pub fn update<R: Row>(&mut self, row: &R) -> Result<(), Error> {
        let image = RowImage::new(row);
        // SAFETY: the image has the session's struct, and zeroes behind it; the row is copied.
        let result = unsafe { ts_sbt_session_writer_update(self.pointer.as_ptr(), image.as_ptr()) };
        self.writer.check(result)
    }

    pub fn stack(&mut self, frames: &[u64], flags: u32) -> Result<StackId, Error> {
        let n = u32::try_from(frames.len()).unwrap_or(u32::MAX);
        let mut id = 0;
        // SAFETY: the array has n frames; a longer one is refused, because n exceeds the library's limit.
        let result =
            unsafe { ts_sbt_session_writer_add_stack(self.pointer.as_ptr(), frames.as_ptr(), n, flags, &mut id) };
        self.writer.check(result).map(|()| StackId(id))
    }

    pub fn thread<R: Row>(&mut self, row: &R) -> Result<u32, Error> {
        let image = RowImage::new(row);
        let mut id = 0;
        // SAFETY: the image has the thread's struct, and zeroes behind it; the row is copied.
        let result = unsafe { ts_sbt_session_writer_add_thread(self.pointer.as_ptr(), image.as_ptr(), &mut id) };
        self.writer.check(result).map(|()| id)
    }

    pub fn row<R: Row>(&mut self, row_type: RowType, row: &R) -> Result<(), Error> {
        let image = RowImage::new(row);
        // SAFETY: the image has the type's struct, and zeroes behind it; the row is copied.
        let result = unsafe { ts_sbt_session_writer_add_row(self.pointer.as_ptr(), row_type as u32, image.as_ptr()) };
        self.writer.check(result)
    }

    pub fn seal(&mut self) -> Result<(), Error> {
        // SAFETY: without a checkpoint.
        let result = unsafe { ts_sbt_session_writer_seal(self.pointer.as_ptr(), ptr::null(), 0) };
        self.writer.check(result)
    }
}

impl Drop for SessionWriter<'_> {
    fn drop(&mut self) {
        // SAFETY: the session is freed once, before its writer.
        unsafe { ts_sbt_session_writer_free(self.pointer.as_ptr()) }
    }
}
