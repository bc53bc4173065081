// SPDX-License-Identifier: Apache-2.0
//! Rows by iterator, and columns.

use std::collections::HashSet;
use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::ops::Deref;

use crate::error::{Error, ErrorKind, Result};
use crate::ffi;
use crate::row::{Column, EventRow, Row};
use crate::rows::{AnyEvent, RowType};

/// A row with its session and its type. The row's fields are those of the item, too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item<R> {
    /// Number of the session in the trace, from 1.
    pub session: u32,
    /// The row's type.
    pub row_type: RowType,
    /// The row.
    pub row: R,
}

impl<R> Deref for Item<R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.row
    }
}

/// The common part of the iterators: rows in order of start, those with a wanted name.
struct Walk<'t> {
    cursor: ffi::Cursor<'t>,
    /// None: any name.
    names: Option<HashSet<u64>>,
    is_at_end: bool,
}

impl Walk<'_> {
    /// Returns the next row that `read` accepts. A damaged block is an error, and the next call goes on behind it.
    fn next<T>(
        &mut self,
        read: impl Fn(&ffi::RawRow<'_>) -> Option<T>,
        name: impl Fn(&T) -> Option<u64>,
    ) -> Option<Result<T>> {
        while !self.is_at_end {
            match self.cursor.next() {
                Ok(Some(raw)) => {
                    // A type that is newer than this crate is left out.
                    let row = match read(&raw) {
                        Some(row) => row,
                        None => continue,
                    };
                    let is_wanted = self
                        .names
                        .as_ref()
                        .map_or(true, |names| name(&row).map_or(false, |name| names.contains(&name)));
                    if is_wanted {
                        return Some(Ok(row));
                    }
                }
                Ok(None) => self.is_at_end = true,
                Err(error) => {
                    self.is_at_end = error.kind() != ErrorKind::Corrupt;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

/// Rows of one struct in order of start: [`Trace::rows`](crate::Trace::rows).
///
/// A damaged block of the file gives an error, and the rows behind it follow.
pub struct Rows<'t, R> {
    walk: Walk<'t>,
    row: PhantomData<R>,
}

impl<'t, R: EventRow> Rows<'t, R> {
    pub(crate) fn new(cursor: ffi::Cursor<'t>, names: Option<Vec<u64>>) -> Rows<'t, R> {
        let names = names.map(|names| names.into_iter().collect());
        Rows { walk: Walk { cursor, names, is_at_end: false }, row: PhantomData }
    }
}

impl<R: EventRow> Iterator for Rows<'_, R> {
    type Item = Result<Item<R>>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = |raw: &ffi::RawRow<'_>| {
            Some(Item { session: raw.session(), row_type: raw.row_type()?, row: raw.read::<R>()? })
        };
        self.walk.next(read, |item| item.row.name_key())
    }
}

impl<R: EventRow> FusedIterator for Rows<'_, R> {}

/// Events of several types in order of start: [`Trace::events`](crate::Trace::events).
pub struct Events<'t> {
    walk: Walk<'t>,
}

impl<'t> Events<'t> {
    pub(crate) fn new(cursor: ffi::Cursor<'t>, names: Option<Vec<u64>>) -> Events<'t> {
        let names = names.map(|names| names.into_iter().collect());
        Events { walk: Walk { cursor, names, is_at_end: false } }
    }
}

impl Iterator for Events<'_> {
    type Item = Result<Item<AnyEvent>>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = |raw: &ffi::RawRow<'_>| {
            Some(Item { session: raw.session(), row_type: raw.row_type()?, row: AnyEvent::read(raw)? })
        };
        self.walk.next(read, |item| item.row.name_key())
    }
}

impl FusedIterator for Events<'_> {}

/// A column of rows `R`, whatever the type of its values.
pub trait AnyColumn<R> {
    #[doc(hidden)]
    fn c_name(&self) -> &'static str;
}

impl<R: Row, T> AnyColumn<R> for Column<R, T> {
    fn c_name(&self) -> &'static str {
        self.c_name
    }
}

/// Columns of all rows of a type: [`Trace::columns`](crate::Trace::columns).
///
/// The memory is the library's, constant, and independent of the trace: columns outlive their trace, and any
/// threads may share them. A slice lives as long as the columns:
///
/// ```compile_fail,E0505
/// # fn slice(trace: &tracesmith::Trace) -> tracesmith::Result<()> {
/// use tracesmith::{rows::Kernel, Filter};
///
/// let columns = trace.columns::<Kernel>(&Filter::new())?;
/// let starts = columns.get(Kernel::START_NS)?;
/// drop(columns);
/// println!("{}", starts.len());
/// # Ok(())
/// # }
/// ```
///
/// A clone is another reference to the same memory.
#[derive(Clone)]
pub struct Columns<R> {
    columns: ffi::Columns,
    row: PhantomData<fn() -> R>,
}

impl<R: Row> Columns<R> {
    pub(crate) fn new(columns: ffi::Columns) -> Columns<R> {
        Columns { columns, row: PhantomData }
    }

    /// Returns the values of a column, in the order of the rows. The rows of a block are in order of start, and
    /// blocks may overlap in time. It is an error if the column was not selected.
    pub fn get<T>(&self, column: Column<R, T>) -> Result<&[T]> {
        self.columns.values(column).ok_or_else(|| not_selected(column.name()))
    }

    /// Returns the session of each row.
    pub fn sessions(&self) -> &[u32] {
        self.columns.sessions()
    }

    /// Returns the number of rows, which is the length of each column.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the rows' type.
    pub fn row_type(&self) -> RowType {
        self.columns.row_type()
    }
}

impl<R: Row> fmt::Debug for Columns<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Columns({}: {} rows)", self.row_type().name(), self.len())
    }
}

/// Columns of one block: [`Trace::blocks`](crate::Trace::blocks). A block has up to 65,536 rows of one session, in
/// order of start. The memory is constant and independent of the trace, as that of [`Columns`].
pub struct Block<R> {
    arrays: ffi::Arrays,
    row: PhantomData<fn() -> R>,
}

impl<R: Row> Block<R> {
    /// Returns the values of a column. It is an error if the column was not selected.
    pub fn get<T>(&self, column: Column<R, T>) -> Result<&[T]> {
        self.arrays.values(column).ok_or_else(|| not_selected(column.name()))
    }

    /// Returns the session of the rows.
    pub fn session(&self) -> u32 {
        self.arrays.session()
    }

    /// Returns the rows' type.
    pub fn row_type(&self) -> RowType {
        self.arrays.row_type()
    }

    /// Returns the number of rows, which is the length of each column.
    pub fn len(&self) -> usize {
        self.arrays.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Blocks in file order: [`Trace::blocks`](crate::Trace::blocks). A damaged block gives an error, and the others follow.
pub struct Blocks<'t, R> {
    reader: &'t ffi::Reader,
    selection: ffi::Selection,
    c_names: Vec<&'static str>,
    next: usize,
    row: PhantomData<fn() -> R>,
}

impl<'t, R: Row> Blocks<'t, R> {
    pub(crate) fn new(reader: &'t ffi::Reader, selection: ffi::Selection, columns: &[&dyn AnyColumn<R>]) -> Self {
        let c_names = columns.iter().map(|column| column.c_name()).collect();
        Blocks { reader, selection, c_names, next: 0, row: PhantomData }
    }
}

impl<R: Row> Iterator for Blocks<'_, R> {
    type Item = Result<Block<R>>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.next < self.reader.n_blocks() {
            let i = self.next;
            self.next += 1;
            match ffi::Arrays::new(self.reader, i, R::TYPES, &self.selection, &self.c_names) {
                Ok(None) => {}
                Ok(Some(arrays)) => return Some(Ok(Block { arrays, row: PhantomData })),
                Err(error) => {
                    if error.kind() != ErrorKind::Corrupt {
                        self.next = usize::MAX;
                    }
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

impl<R: Row> FusedIterator for Blocks<'_, R> {}

fn not_selected(name: &str) -> Error {
    Error::from_errno(22, format!("the column {name} was not selected"))
}

/// The sum of the rows of one name: [`Trace::totals`](crate::Trace::totals).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Total<R> {
    /// The rows' type.
    pub row_type: RowType,
    /// The fields that all these rows share: a kernel's `name`, a call's `domain` and `cbid`, a copy's `copy_kind`, a
    /// wait's `sync_type`, a range's `domain` and `name`. All other fields are 0.
    pub row: R,
    /// Number of rows.
    pub count: u64,
    /// Sum of the durations in nanoseconds.
    pub duration_ns: u64,
    /// Shortest duration in nanoseconds.
    pub min_ns: u64,
    /// Longest duration in nanoseconds.
    pub max_ns: u64,
    /// Sum of the bytes.
    pub bytes: u64,
}

/// Totals of a trace: [`Trace::summary`](crate::Trace::summary).
pub struct Summary(pub(crate) ffi::Summary);

impl Summary {
    /// Returns the number of rows of a type.
    pub fn count(&self, row_type: RowType) -> u64 {
        self.0.count(row_type)
    }

    /// Returns the sum of the durations of a type's rows, in nanoseconds.
    pub fn duration_ns(&self, row_type: RowType) -> u64 {
        self.0.duration_ns(row_type)
    }

    /// Returns the sum of the bytes of a type's rows.
    pub fn bytes(&self, row_type: RowType) -> u64 {
        self.0.bytes(row_type)
    }

    /// Returns the bytes of the file that hold rows of a type.
    pub fn stored_bytes(&self, row_type: RowType) -> u64 {
        self.0.stored_bytes(row_type)
    }

    /// Returns the lost records by reason, as in `lost` of `tsctl info --json`; empty if nothing was lost.
    pub fn lost(&self) -> Vec<(&'static str, u64)> {
        let counts = self.0.lost().iter().enumerate();
        counts
            .filter(|(_, &count)| count > 0)
            .map(|(reason, &count)| (ffi::loss_name(reason as u32).unwrap_or("unknown"), count))
            .collect()
    }

    /// Returns the start of the earliest event, in nanoseconds of CLOCK_MONOTONIC; 0: there is no event.
    pub fn earliest_ns(&self) -> u64 {
        self.0.window().0
    }

    /// Returns the end of the latest event.
    pub fn latest_ns(&self) -> u64 {
        self.0.window().1
    }
}

impl fmt::Debug for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = RowType::EVENTS.iter().map(|row_type| (row_type.name(), self.count(*row_type)));
        f.debug_map().entries(counts.filter(|(_, count)| *count > 0)).finish()
    }
}
