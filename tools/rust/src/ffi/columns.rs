// SPDX-License-Identifier: Apache-2.0
//! Columns of `sbt/columns.h`, and of a block: `sbt/arrays.h`.

use std::ptr::{self, NonNull};
use std::slice;

use super::declare::*;
use super::reader::{Reader, Selection};
use super::rows;
use crate::error::Error;
use crate::row::{Column, ColumnInfo, Role, Row, StringId};
use crate::rows::RowType;

/// Owns a reference to columns. columns.h: "constant and independent of the reader: any thread may read
/// them until they are freed", and any thread may add a reference.
pub struct Columns {
    pointer: NonNull<ts_sbt_columns>,
    row_type: RowType,
}

// SAFETY: the header's sentence above.
unsafe impl Send for Columns {}
// SAFETY: the header's sentence above.
unsafe impl Sync for Columns {}

impl Columns {
    /// Reads columns of a type: those with these names, or all.
    pub fn new(
        reader: &Reader,
        row_type: RowType,
        selection: &Selection,
        c_names: &[&'static str],
        names: Option<&[u32]>,
    ) -> Result<Columns, Error> {
        // SAFETY: all zero is the default (columns.h).
        let mut options = unsafe { Padded::<ts_sbt_columns_options>::zeroed() };
        options.type_ = row_type as u32;
        options.session = selection.session;
        options.from_ns = selection.from_ns;
        options.to_ns = selection.to_ns;
        options.filter = selection.filter;
        options.device = selection.device;
        options.context = selection.context;
        options.stream = selection.stream;
        options.thread = selection.thread;
        for c_name in c_names {
            options.columns |= index(row_type, c_name).map_or(0, |index| 1 << index);
        }
        if let Some(names) = names {
            // An empty slice has a pointer that is not NULL, which selects no row.
            options.names = names.as_ptr();
            options.n_names = u32::try_from(names.len()).unwrap_or(u32::MAX);
        }
        let mut pointer = ptr::null_mut();
        // SAFETY: options and names live longer than the call.
        let result = unsafe { ts_sbt_columns_new(reader.as_ptr(), options.as_ptr(), &mut pointer) };
        reader.check(result)?;
        let columns = Columns { pointer: NonNull::new(pointer).expect("new columns"), row_type };
        // SAFETY: the columns live.
        match unsafe { ts_sbt_columns_damaged(columns.pointer.as_ptr()) } {
            0 => Ok(columns),
            _ => Err(reader.last_error()),
        }
    }

    pub fn row_type(&self) -> RowType {
        self.row_type
    }

    pub fn len(&self) -> usize {
        // SAFETY: the columns live.
        usize::try_from(unsafe { ts_sbt_columns_rows(self.pointer.as_ptr()) }).unwrap_or(0)
    }

    /// Returns a column; None: it was not selected, or the rows are of a type without it.
    pub fn values<R: Row, T>(&self, column: Column<R, T>) -> Option<&[T]> {
        if !R::TYPES.contains(&self.row_type) {
            return None;
        }
        let index = index(self.row_type, column.c_name)?;
        // SAFETY: the function accepts any index.
        let values = unsafe { ts_sbt_columns_values(self.pointer.as_ptr(), index) };
        if values.is_null() {
            return None;
        }
        // SAFETY: the array has len() aligned values of the column's width (arrays.h), which is T's: check_library() compared it
        // with `row!`, which alone makes columns. Values are valid with any bytes. The array lives as long as `self`.
        Some(unsafe { slice::from_raw_parts(values.cast::<T>(), self.len()) })
    }

    /// Returns the column `name`, which holds ids of texts in each type that has it.
    pub fn name_ids(&self) -> &[StringId] {
        let is_text = |column: &ColumnInfo| column.name() == "name" && column.role == Role::String;
        let index = index(self.row_type, "name\0").filter(|_| self.row_type.columns().iter().any(is_text));
        // SAFETY: the function accepts any index.
        let values = index.map_or(ptr::null(), |index| unsafe { ts_sbt_columns_values(self.pointer.as_ptr(), index) });
        if values.is_null() {
            return &[];
        }
        // SAFETY: as in values(): the column's width is that of an id, by check_library().
        unsafe { slice::from_raw_parts(values.cast::<StringId>(), self.len()) }
    }

    pub fn sessions(&self) -> &[u32] {
        // SAFETY: the columns live.
        let sessions = unsafe { ts_sbt_columns_sessions(self.pointer.as_ptr()) };
        if sessions.is_null() || self.len() == 0 {
            return &[];
        }
        // SAFETY: the array has a session for each row, and lives as long as `self`.
        unsafe { slice::from_raw_parts(sessions, self.len()) }
    }
}

impl Clone for Columns {
    fn clone(&self) -> Columns {
        // SAFETY: any thread may add a reference; the library returns the same columns.
        let pointer = unsafe { ts_sbt_columns_ref(self.pointer.as_ptr()) };
        Columns { pointer: NonNull::new(pointer).unwrap_or(self.pointer), row_type: self.row_type }
    }
}

impl Drop for Columns {
    fn drop(&mut self) {
        // SAFETY: each reference is freed once.
        unsafe { ts_sbt_columns_free(self.pointer.as_ptr()) }
    }
}

/// Owns the columns of a block. arrays.h: "constant and independent of the reader: any thread may read them until they are freed".
pub struct Arrays {
    pointer: NonNull<ts_sbt_arrays>,
    row_type: RowType,
    session: u32,
}

// SAFETY: the header's sentence above.
unsafe impl Send for Arrays {}
// SAFETY: the header's sentence above.
unsafe impl Sync for Arrays {}

impl Arrays {
    /// Reads columns of block `i`: those with these names, or all. None: the block has other rows than the selection's, or
    /// none in its window.
    pub fn new(
        reader: &Reader,
        i: usize,
        types: &[RowType],
        selection: &Selection,
        c_names: &[&'static str],
    ) -> Result<Option<Arrays>, Error> {
        // SAFETY: the reader lives, and `i` is in range; the struct lives until the reader is refreshed.
        let block = unsafe { &*ts_sbt_reader_block(reader.as_ptr(), i) };
        let row_type = match RowType::from_number(block.type_.into()).filter(|own| types.contains(own)) {
            Some(row_type) => row_type,
            None => return Ok(None),
        };
        let is_outside = row_type.is_event()
            && (block.latest_ns < selection.from_ns || (selection.to_ns > 0 && block.earliest_ns > selection.to_ns));
        if is_outside || (selection.session > 0 && selection.session != block.session) {
            return Ok(None);
        }
        let columns = c_names.iter().fold(0, |bits, name| bits | index(row_type, name).map_or(0, |index| 1 << index));
        let session = block.session;
        let mut pointer = ptr::null_mut();
        // SAFETY: the reader lives.
        let result = unsafe { ts_sbt_arrays_new(reader.as_ptr(), i, columns, &mut pointer) };
        reader.check(result)?;
        Ok(Some(Arrays { pointer: NonNull::new(pointer).expect("new arrays"), row_type, session }))
    }

    pub fn session(&self) -> u32 {
        self.session
    }

    pub fn row_type(&self) -> RowType {
        self.row_type
    }

    pub fn len(&self) -> usize {
        // SAFETY: the arrays live.
        unsafe { ts_sbt_arrays_rows(self.pointer.as_ptr()) as usize }
    }

    /// Returns a column; None: it was not selected.
    pub fn values<R: Row, T>(&self, column: Column<R, T>) -> Option<&[T]> {
        if !R::TYPES.contains(&self.row_type) {
            return None;
        }
        let index = index(self.row_type, column.c_name)?;
        // SAFETY: the function accepts any index.
        let values = unsafe { ts_sbt_arrays_column(self.pointer.as_ptr(), index) };
        if values.is_null() {
            return None;
        }
        // SAFETY: as in Columns::values().
        Some(unsafe { slice::from_raw_parts(values.cast::<T>(), self.len()) })
    }
}

impl Drop for Arrays {
    fn drop(&mut self) {
        // SAFETY: the arrays are freed once.
        unsafe { ts_sbt_arrays_free(self.pointer.as_ptr()) }
    }
}

fn index(row_type: RowType, c_name: &'static str) -> Option<i32> {
    let schema = rows::schema(row_type)?;
    // SAFETY: `row!` ends each name with a zero byte.
    let index = unsafe { ts_row_column(schema, c_name.as_ptr().cast()) };
    (0..i32::from(schema.n_columns)).contains(&index).then_some(index)
}
