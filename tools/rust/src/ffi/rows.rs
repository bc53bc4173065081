// SPDX-License-Identifier: Apache-2.0
//! Rows in the library's memory. A library of another version may have longer structs, so rows are copied
//! by the shorter length. `check_library()` compares all columns once.

use std::ffi::CStr;
use std::marker::PhantomData;
use std::mem::size_of;
use std::os::raw::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use super::declare::*;
use crate::error::Error;
use crate::row::Row;
use crate::rows::RowType;

/// A row of the library, with its type.
pub struct RawRow<'a> {
    row_type: u32,
    session: u32,
    row_bytes: usize,
    row: *const c_void,
    lives: PhantomData<&'a ()>,
}

impl<'a> RawRow<'a> {
    /// # Safety
    /// `row` points to a row of this type with `row_bytes` readable bytes, for the lifetime 'a.
    pub(super) unsafe fn new(row_type: u32, session: u32, row_bytes: usize, row: *const c_void) -> RawRow<'a> {
        RawRow { row_type, session, row_bytes, row, lives: PhantomData }
    }

    /// Returns the type; None: this crate does not know it.
    pub fn row_type(&self) -> Option<RowType> {
        RowType::from_number(self.row_type)
    }

    /// Returns the number of the row's session.
    pub fn session(&self) -> u32 {
        self.session
    }

    /// Copies the row; None: rows of its type have another struct.
    pub fn read<R: Row>(&self) -> Option<R> {
        if !self.row_type().map_or(false, |own| R::TYPES.contains(&own)) {
            return None;
        }
        let mut row = R::default();
        // SAFETY: the type has this struct, whose leading fields are the same in all versions; both sides have the bytes; a
        // row struct is valid with any bytes (`Sealed`).
        unsafe {
            ptr::copy_nonoverlapping(
                self.row.cast::<u8>(),
                (&mut row as *mut R).cast::<u8>(),
                self.row_bytes.min(size_of::<R>()),
            );
        }
        Some(row)
    }
}

/// A row for the library: zeroes follow the fields, so that a library with a longer struct reads zeroes.
pub struct RowImage([u64; MAX_ROW_BYTES / 8]);

impl RowImage {
    pub fn zeroed() -> RowImage {
        RowImage([0; MAX_ROW_BYTES / 8])
    }

    pub fn new<R: Row>(row: &R) -> RowImage {
        let mut image = RowImage::zeroed();
        let n_bytes = size_of::<R>().min(MAX_ROW_BYTES);
        // SAFETY: both sides have the bytes. Row structs have no padding: each gap is a reserved field (tests/all/interface.rs).
        unsafe { ptr::copy_nonoverlapping((row as *const R).cast::<u8>(), image.0.as_mut_ptr().cast::<u8>(), n_bytes) };
        image
    }

    pub(super) fn as_ptr(&self) -> *const c_void {
        self.0.as_ptr().cast()
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }

    /// Reads the image as a row that the library has filled.
    pub fn read<R: Row>(&self, row_type: RowType) -> Option<R> {
        // SAFETY: the image has MAX_ROW_BYTES bytes, and lives longer than the call.
        unsafe { RawRow::new(row_type as u32, 0, MAX_ROW_BYTES, self.as_ptr()) }.read()
    }
}

/// Returns a type's schema, which is constant.
pub(super) fn schema(row_type: RowType) -> Option<&'static ts_row_schema> {
    // SAFETY: the function accepts any number, and returns NULL or a constant struct.
    unsafe { ts_row_schema(row_type as u32).as_ref() }
}

fn check_type(row_type: RowType) -> Result<(), String> {
    let name = row_type.name();
    let schema = schema(row_type).ok_or_else(|| format!("it has no rows of type {name}"))?;
    if schema.row_bytes as usize > MAX_ROW_BYTES {
        return Err(format!("its rows of type {name} have {} bytes", schema.row_bytes));
    }
    for own in row_type.columns() {
        let c_name = own.c_name.as_ptr().cast();
        // SAFETY: `row!` ends each name with a zero byte.
        let index = unsafe { ts_row_column(schema, c_name) };
        if index < 0 || index >= i32::from(schema.n_columns) {
            return Err(format!("its rows of type {name} have no column {}", own.name()));
        }
        // SAFETY: the schema has n_columns columns, and the index is one of them.
        let column = unsafe { &*schema.columns.add(index as usize) };
        let same =
            (column.id, column.width, column.offset, column.role) == (own.id, own.width, own.offset, own.role as u8);
        if !same || usize::from(own.offset + own.width) > schema.row_bytes as usize {
            return Err(format!("the column {name}.{} has another layout", own.name()));
        }
    }
    // SAFETY: a schema's name is a constant text.
    let given = unsafe { CStr::from_ptr(schema.name) };
    if given.to_bytes() != name.as_bytes() {
        return Err(format!("its rows of type {name} have another name"));
    }
    Ok(())
}

/// Compares the library's rows with those of this crate, once in a process. All other code depends on it.
pub fn check_library() -> Result<(), Error> {
    static IS_CHECKED: AtomicBool = AtomicBool::new(false);

    if IS_CHECKED.load(Ordering::Relaxed) {
        return Ok(());
    }
    for row_type in RowType::EVENTS.iter().chain(RowType::DEFINITIONS) {
        check_type(*row_type).map_err(|text| {
            Error::from_errno(
                38,
                format!(
                    "libtracesmith does not fit to the crate tracesmith {}: {text}; update the older one",
                    env!("CARGO_PKG_VERSION")
                ),
            )
        })?;
    }
    IS_CHECKED.store(true, Ordering::Relaxed);
    Ok(())
}
