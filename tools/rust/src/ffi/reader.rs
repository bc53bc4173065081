// SPDX-License-Identifier: Apache-2.0
//! Readers, cursors and totals of `sbt/reader.h`.

use std::ffi::{CStr, CString};
use std::mem::{size_of, ManuallyDrop};
use std::os::raw::{c_char, c_int, c_void};
use std::os::unix::io::{AsRawFd, BorrowedFd};
use std::ptr::{self, NonNull};
use std::slice;

use super::declare::*;
use super::rows::{self, RawRow, RowImage};
use super::texts;
use crate::cancel::Cancel;
use crate::error::Error;
use crate::row::{Row, StackId, StringId};
use crate::rows::{Part, RowType};

/// Frees a reader.
struct Handle(NonNull<ts_sbt_reader>);

// SAFETY: reader.h: "A reader and its cursors are used by one thread at a time." A reader belongs to no thread, and one thread
// at a time uses it, because Handle is not Sync.
unsafe impl Send for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: cursors borrow the Reader, so none is left that could be used.
        unsafe { ts_sbt_reader_free(self.0.as_ptr()) }
    }
}

/// Owns a reader, and what its calls need.
pub struct Reader {
    handle: Handle,
    path: CString,
    /// The flag that the library reads; it is dropped after the handle.
    cancel: Option<Cancel>,
}

/// The rows that a cursor, totals or columns have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Selection {
    pub session: u32,
    pub from_ns: u64,
    pub to_ns: u64,
    /// TS_SBT_BY_*, and the ids.
    pub filter: u32,
    pub device: u32,
    pub context: u32,
    pub stream: u32,
    pub thread: u32,
}

impl Selection {
    fn cursor_options(&self, types: u64) -> Padded<ts_sbt_cursor_options> {
        // SAFETY: all zero is the default (reader.h).
        let mut options = unsafe { Padded::<ts_sbt_cursor_options>::zeroed() };
        options.types = types;
        options.session = self.session;
        options.filter = self.filter;
        options.from_ns = self.from_ns;
        options.to_ns = self.to_ns;
        options.device = self.device;
        options.context = self.context;
        options.stream = self.stream;
        options.thread = self.thread;
        options
    }
}

/// A function of the library that returns row `i` of a list.
type At = unsafe extern "C" fn(*const ts_sbt_reader, usize) -> *const c_void;

impl Reader {
    /// Opens the trace of a descriptor, which stays the caller's. `path` is its name, for messages.
    pub fn open(fd: BorrowedFd<'_>, path: CString) -> Result<Reader, Error> {
        rows::check_library()?;
        let mut pointer = ptr::null_mut();
        // SAFETY: numbers and bytes.
        let mut error = unsafe { Padded::<ts_sbt_error>::zeroed() };
        // SAFETY: the descriptor is open, and both results have their place.
        let result = unsafe { ts_sbt_reader_open(fd.as_raw_fd(), &mut pointer, error.as_mut_ptr()) };
        if result != 0 {
            return Err(texts::why(&path, result, &error));
        }
        let pointer = NonNull::new(pointer).expect("an opened reader");
        Ok(Reader { handle: Handle(pointer), path, cancel: None })
    }

    pub(super) fn as_ptr(&self) -> *mut ts_sbt_reader {
        self.handle.0.as_ptr()
    }

    pub fn path(&self) -> &CStr {
        &self.path
    }

    /// Returns the error of a result that is not 0.
    pub(super) fn why(&self, result: c_int) -> Error {
        // SAFETY: the reader lives; the struct belongs to it, and the function never returns NULL.
        let error = unsafe { &*ts_sbt_reader_error(self.as_ptr()) };
        texts::why(&self.path, result, error)
    }

    pub(super) fn check(&self, result: c_int) -> Result<(), Error> {
        if result == 0 {
            Ok(())
        } else {
            Err(self.why(result))
        }
    }

    /// Returns the error that the library noted last.
    pub fn last_error(&self) -> Error {
        // SAFETY: as in why().
        let code = unsafe { (*ts_sbt_reader_error(self.as_ptr())).code };
        self.why(code)
    }

    /// Returns the error of the first definition that could not be read.
    pub fn lost_definitions(&self) -> Option<Error> {
        // SAFETY: the reader lives; the struct belongs to it.
        unsafe { ts_sbt_reader_lost_definitions(self.as_ptr()).as_ref() }
            .map(|error| texts::why(&self.path, error.code, error))
    }

    /// Sets the flag that ends reading. The library keeps a pointer to the flag.
    pub fn set_cancel(&mut self, cancel: Option<Cancel>) {
        self.cancel = cancel;
        self.use_cancel();
    }

    /// Passes the flag to the library again: a question ends it.
    pub(super) fn use_cancel(&self) {
        let flag = self.cancel_flag();
        // SAFETY: `self.cancel` keeps the flag while the library has the pointer.
        unsafe { ts_sbt_reader_cancel(self.as_ptr(), flag) };
    }

    pub(super) fn cancel_flag(&self) -> *const c_int {
        self.cancel.as_ref().map_or(ptr::null(), Cancel::flag)
    }

    /// Needs `&mut`, so that no row or cursor of before is left.
    pub fn refresh(&mut self) -> Result<(), Error> {
        // SAFETY: the reader lives, and nothing refers to its rows.
        let result = unsafe { ts_sbt_reader_refresh(self.as_ptr()) };
        self.check(result)
    }

    /// Returns the path of the file before this one in its recording, if `path` is the recording's newest file.
    pub fn part_before(&self, path: &CStr) -> Option<Vec<u8>> {
        let mut image = RowImage::zeroed();
        // SAFETY: the image has room for any row.
        if unsafe { ts_sbt_reader_part(self.as_ptr(), image.as_mut_ptr()) } != 0 {
            return None;
        }
        let part: Part = image.read(RowType::Part)?;
        // SAFETY: the path is terminated.
        let name = unsafe { ts_sbt_part_path(path.as_ptr(), part.before) };
        if name.is_null() {
            return None;
        }
        // SAFETY: the function returned a terminated text that the caller frees.
        let copy = unsafe { CStr::from_ptr(name) }.to_bytes().to_vec();
        // SAFETY: as above; nothing refers to the text any more.
        unsafe { free(name.cast()) };
        Some(copy)
    }

    pub fn is_before(&self, after: &Reader) -> bool {
        // SAFETY: both readers live.
        unsafe { ts_sbt_reader_is_before(self.as_ptr(), after.as_ptr()) }
    }

    /// Joins the earlier files of a recording, the newest first. The library frees their readers.
    pub fn join(&mut self, before: Vec<Reader>) -> Result<(), Error> {
        let mut pointers: Vec<*mut ts_sbt_reader> = before
            .into_iter()
            .map(|reader| {
                // The library owns the reader from here on.
                let Reader { handle, .. } = reader;
                ManuallyDrop::new(handle).0.as_ptr()
            })
            .collect();
        // SAFETY: the array has as many readers, which nothing else uses; no cursor exists because of `&mut`.
        let result = unsafe { ts_sbt_reader_join(self.as_ptr(), pointers.as_mut_ptr(), pointers.len()) };
        self.check(result)
    }

    pub fn state(&self) -> c_int {
        // SAFETY: the reader lives.
        unsafe { ts_sbt_reader_state(self.as_ptr()) }
    }

    pub fn file_bytes(&self) -> u64 {
        // SAFETY: the reader lives.
        unsafe { ts_sbt_reader_file_bytes(self.as_ptr()) }
    }

    pub fn tail_bytes(&self) -> u64 {
        // SAFETY: the reader lives.
        unsafe { ts_sbt_reader_tail_bytes(self.as_ptr()) }
    }

    pub fn origin_ns(&self) -> u64 {
        // SAFETY: the reader lives.
        unsafe { ts_sbt_reader_origin_ns(self.as_ptr()) }
    }

    pub fn format(&self) -> String {
        // SAFETY: the text belongs to the reader, which lives.
        unsafe { texts::copy_text(ts_sbt_reader_format(self.as_ptr())) }
    }

    /// Returns the bytes of a text; they are valid until the reader is joined or freed, and join() needs `&mut`.
    pub fn string(&self, id: StringId) -> Option<&[u8]> {
        let mut n_bytes = 0;
        // SAFETY: the function accepts any id.
        let text = unsafe { ts_sbt_reader_string(self.as_ptr(), id.0, &mut n_bytes) };
        if text.is_null() {
            return None;
        }
        // SAFETY: the text has n_bytes bytes, and lives as described.
        Some(unsafe { slice::from_raw_parts(text.cast::<u8>(), n_bytes) })
    }

    /// Returns the frames and flags of a stack; they live as long as a text does.
    pub fn stack(&self, session: u32, id: StackId) -> Result<(&[u64], u32), Error> {
        // SAFETY: numbers and a pointer that may be NULL.
        let mut stack = unsafe { Padded::<ts_sbt_stack>::zeroed() };
        // SAFETY: the function accepts any ids.
        let result = unsafe { ts_sbt_reader_stack(self.as_ptr(), session, id.0, stack.as_mut_ptr()) };
        self.check(result)?;
        if stack.frames.is_null() || stack.n_frames == 0 {
            return Ok((&[], stack.flags));
        }
        // SAFETY: the stack has n_frames frames, and lives as described.
        Ok((unsafe { slice::from_raw_parts(stack.frames, stack.n_frames as usize) }, stack.flags))
    }

    /// Copies a blob, because the library keeps it only until the next call. The second value has its flags.
    pub fn blob(&self, session: u32, number: u32) -> Result<(Vec<u8>, u32), Error> {
        // SAFETY: numbers and a pointer that may be NULL.
        let mut blob = unsafe { Padded::<ts_sbt_blob>::zeroed() };
        // SAFETY: the function accepts any numbers.
        let result = unsafe { ts_sbt_reader_blob(self.as_ptr(), session, number, blob.as_mut_ptr()) };
        self.check(result)?;
        if blob.bytes.is_null() || blob.n_bytes == 0 {
            return Ok((Vec::new(), blob.flags));
        }
        // SAFETY: the blob has n_bytes bytes until the next call.
        Ok((unsafe { slice::from_raw_parts(blob.bytes, blob.n_bytes as usize) }.to_vec(), blob.flags))
    }

    pub fn n_blobs(&self, session: u32) -> u32 {
        // SAFETY: the function accepts any number.
        unsafe { ts_sbt_reader_n_blobs(self.as_ptr(), session) }
    }

    /// Copies the rows of a list whose items begin with the session's number.
    fn owned_rows<R: Row>(&self, row_type: RowType, n: usize, at: At) -> Vec<(u32, R)> {
        let row_bytes = rows::schema(row_type).map_or(0, |schema| schema.row_bytes as usize);
        // struct ts_sbt_thread and the like: the number, then the row at its alignment.
        let offset = size_of::<u32>().max(std::mem::align_of::<R>());
        (0..n)
            .filter_map(|i| {
                // SAFETY: the reader lives, and the functions accept any index.
                let item = unsafe { at(self.as_ptr(), i) };
                if item.is_null() {
                    return None;
                }
                // SAFETY: an item has a session's number and a row behind it (tests/all/interface.rs compares the offset).
                unsafe {
                    let session = item.cast::<u32>().read();
                    let row = item.cast::<u8>().add(offset).cast();
                    RawRow::new(row_type as u32, session, row_bytes, row).read().map(|row| (session, row))
                }
            })
            .collect()
    }

    pub fn sessions<R: Row>(&self) -> Vec<R> {
        let row_bytes = rows::schema(RowType::Session).map_or(0, |schema| schema.row_bytes as usize);
        // SAFETY: the reader lives.
        let n = unsafe { ts_sbt_reader_n_sessions(self.as_ptr()) };
        (0..n)
            .filter_map(|i| {
                // SAFETY: the reader lives, and the function accepts any index.
                let row = unsafe { ts_sbt_reader_session_at(self.as_ptr(), i) };
                if row.is_null() {
                    return None;
                }
                // SAFETY: the function returned a row of a session.
                unsafe { RawRow::new(RowType::Session as u32, 0, row_bytes, row) }.read()
            })
            .collect()
    }

    pub fn threads<R: Row>(&self) -> Vec<(u32, R)> {
        // SAFETY: the reader lives.
        let n = unsafe { ts_sbt_reader_n_threads(self.as_ptr()) };
        self.owned_rows(RowType::Thread, n, ts_sbt_reader_thread_at)
    }

    pub fn devices<R: Row>(&self) -> Vec<(u32, R)> {
        // SAFETY: the reader lives.
        let n = unsafe { ts_sbt_reader_n_devices(self.as_ptr()) };
        self.owned_rows(RowType::Device, n, ts_sbt_reader_device_at)
    }

    pub fn modules<R: Row>(&self) -> Vec<(u32, R)> {
        // SAFETY: the reader lives.
        let n = unsafe { ts_sbt_reader_n_modules(self.as_ptr()) };
        self.owned_rows(RowType::Module, n, ts_sbt_reader_module_at)
    }

    pub fn names<R: Row>(&self) -> Vec<(u32, R)> {
        // SAFETY: the reader lives.
        let n = unsafe { ts_sbt_reader_n_names(self.as_ptr()) };
        self.owned_rows(RowType::Name, n, ts_sbt_reader_name_at)
    }

    pub fn metadata(&self) -> Vec<(String, String)> {
        // SAFETY: the reader lives.
        let n = unsafe { ts_sbt_reader_n_metadata(self.as_ptr()) };
        (0..n)
            .map(|i| {
                let (mut key, mut value): (*const c_char, *const c_char) = (ptr::null(), ptr::null());
                // SAFETY: `i` is in range; the texts belong to the reader.
                unsafe {
                    ts_sbt_reader_metadata_at(self.as_ptr(), i, &mut key, &mut value);
                    (texts::copy_text(key), texts::copy_text(value))
                }
            })
            .collect()
    }

    pub fn summary(&self, session: u32) -> Result<Summary, Error> {
        // SAFETY: numbers.
        let mut summary = Box::new(unsafe { Padded::<ts_sbt_summary>::zeroed() });
        // SAFETY: the struct has its place.
        let result = unsafe { ts_sbt_reader_summary(self.as_ptr(), session, summary.as_mut_ptr()) };
        self.check(result)?;
        Ok(Summary(summary))
    }

    pub fn n_blocks(&self) -> usize {
        // SAFETY: the reader lives.
        unsafe { ts_sbt_reader_n_blocks(self.as_ptr()) }
    }

    pub fn cursor(&self, types: u64, selection: &Selection) -> Result<Cursor<'_>, Error> {
        let options = selection.cursor_options(types);
        let mut pointer = ptr::null_mut();
        // SAFETY: the options live longer than the call, and have no `resume`.
        let result = unsafe { ts_sbt_cursor_new(self.as_ptr(), options.as_ptr(), &mut pointer) };
        self.check(result)?;
        Ok(Cursor { pointer: NonNull::new(pointer).expect("a new cursor"), reader: self })
    }

    pub fn totals(&self, types: u64, selection: &Selection) -> Result<Totals, Error> {
        let options = selection.cursor_options(types);
        let mut pointer = ptr::null_mut();
        // SAFETY: the options live longer than the call, and have no `resume`.
        let result = unsafe { ts_sbt_totals_new(self.as_ptr(), options.as_ptr(), &mut pointer) };
        self.check(result)?;
        let totals = Totals { pointer: NonNull::new(pointer).expect("new totals") };
        // SAFETY: the totals live.
        match unsafe { ts_sbt_totals_damaged(totals.pointer.as_ptr()) } {
            0 => Ok(totals),
            _ => Err(self.last_error()),
        }
    }
}

/// Totals of a trace or a session.
pub struct Summary(Box<Padded<ts_sbt_summary>>);

impl Summary {
    pub fn count(&self, row_type: RowType) -> u64 {
        self.0.counts[row_type as usize]
    }

    pub fn duration_ns(&self, row_type: RowType) -> u64 {
        self.0.durations_ns[row_type as usize]
    }

    pub fn bytes(&self, row_type: RowType) -> u64 {
        self.0.bytes[row_type as usize]
    }

    pub fn stored_bytes(&self, row_type: RowType) -> u64 {
        self.0.stored_bytes[row_type as usize]
    }

    pub fn lost(&self) -> &[u64] {
        &self.0.lost
    }

    pub fn window(&self) -> (u64, u64) {
        (self.0.earliest_ns, self.0.latest_ns)
    }
}

/// Owns a cursor. It refers to the reader, so it is used in the reader's thread: `&Reader` is not Send.
pub struct Cursor<'t> {
    pointer: NonNull<ts_sbt_cursor>,
    reader: &'t Reader,
}

impl Cursor<'_> {
    /// Returns the next row, which is valid until the next call; None: no more rows.
    pub fn next(&mut self) -> Result<Option<RawRow<'_>>, Error> {
        // SAFETY: numbers and pointers that may be NULL.
        let mut row = unsafe { Padded::<ts_sbt_row>::zeroed() };
        // SAFETY: cursor and reader live.
        match unsafe { ts_sbt_cursor_next(self.pointer.as_ptr(), row.as_mut_ptr()) } {
            0 => {
                // SAFETY: the schema of a returned row is constant, and the row has its length until the next call.
                let raw = unsafe { RawRow::new(row.type_, row.session, (*row.schema).row_bytes as usize, row.any) };
                Ok(Some(raw))
            }
            crate::error::END => Ok(None),
            result => Err(self.reader.why(result)),
        }
    }
}

impl Drop for Cursor<'_> {
    fn drop(&mut self) {
        // SAFETY: the cursor is freed once, before its reader.
        unsafe { ts_sbt_cursor_free(self.pointer.as_ptr()) }
    }
}

/// Owns sums by name, which do not refer to the reader.
pub struct Totals {
    pointer: NonNull<ts_sbt_totals>,
}

impl Totals {
    /// Returns the sums whose type has this struct: a row with the fields that all summed rows share, and
    /// count, duration, shortest, longest, bytes.
    pub fn read<R: Row>(&self) -> Vec<(RowType, R, [u64; 5])> {
        // SAFETY: the totals live.
        let n = unsafe { ts_sbt_totals_count(self.pointer.as_ptr()) };
        (0..n)
            .filter_map(|i| {
                // SAFETY: the function accepts any index, and its result lives as long as the totals.
                let total = unsafe { ts_sbt_totals_at(self.pointer.as_ptr(), i).as_ref() }?;
                let row_type = RowType::from_number(total.type_)?;
                let mut image = RowImage::zeroed();
                // SAFETY: the image has room for any row.
                unsafe { ts_sbt_total_row(total, image.as_mut_ptr()) };
                let sums = [total.count, total.duration_ns, total.min_ns, total.max_ns, total.bytes];
                Some((row_type, image.read(row_type)?, sums))
            })
            .collect()
    }
}

impl Drop for Totals {
    fn drop(&mut self) {
        // SAFETY: the totals are freed once.
        unsafe { ts_sbt_totals_free(self.pointer.as_ptr()) }
    }
}
