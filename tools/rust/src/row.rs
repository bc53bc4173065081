// SPDX-License-Identifier: Apache-2.0
//! Types of columns, and the macros that `rows.rs` uses: the traits of rows, ids, descriptions.

use std::fmt;
use std::marker::PhantomData;

use crate::rows::RowType;

/// Id of a text in a trace; 0 is none. [`Trace::string`](crate::Trace::string) returns the text.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StringId(pub u32);

/// Id of a host stack in a session; 0 is none. [`Trace::stack`](crate::Trace::stack) returns the frames.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StackId(pub u32);

/// Meaning of a column's numbers: enum ts_role of `sbt/schema.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Role {
    /// A number without a further meaning.
    Number = 0,
    /// Start of an event, in nanoseconds.
    TimeStart,
    /// End of an event, in nanoseconds.
    TimeEnd,
    /// Another instant, in nanoseconds; 0: not collected.
    Time,
    /// Nanoseconds.
    Duration,
    /// Id of a text.
    String,
    /// Id of a stack of the session.
    Stack,
    /// Id of a thread of the session.
    Thread,
    /// Operation id: joins a call with the device's rows.
    Op,
    /// Bytes moved or allocated.
    Bytes,
    /// Bytes that are not summed.
    Size,
    /// A count.
    Count,
    /// An address, or a vendor's handle.
    Address,
    /// The vendor's id of a device.
    Device,
    /// The vendor's id of a context.
    Context,
    /// The vendor's id of a stream.
    Stream,
    /// A value of an enum.
    Enum,
    /// Flags.
    Flags,
    /// Number of a session.
    Session,
    /// A double.
    Double,
    /// A fixed number of bytes.
    Octets,
}

/// Describes a column of a row struct.
#[derive(Clone, Copy, Debug)]
pub struct ColumnInfo {
    pub(crate) c_name: &'static str,
    /// Id of the column on disk, unique in its row type.
    pub id: u16,
    /// Bytes of a value.
    pub width: u16,
    /// Offset in the row struct.
    pub offset: u16,
    /// Meaning of the values.
    pub role: Role,
}

impl ColumnInfo {
    /// Returns the column's name, for example "start_ns".
    pub fn name(&self) -> &'static str {
        without_end(self.c_name)
    }
}

fn without_end(c_name: &'static str) -> &'static str {
    &c_name[..c_name.len() - 1]
}

/// Names a column of rows `R` with values of type `T`: [`Kernel::START_NS`](crate::rows::Kernel::START_NS).
pub struct Column<R, T> {
    pub(crate) c_name: &'static str,
    types: PhantomData<fn() -> (R, T)>,
}

impl<R, T> Column<R, T> {
    pub(crate) const fn new(c_name: &'static str) -> Self {
        Column { c_name, types: PhantomData }
    }

    /// Returns the column's name, for example "start_ns".
    pub fn name(&self) -> &'static str {
        without_end(self.c_name)
    }
}

impl<R, T> Clone for Column<R, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R, T> Copy for Column<R, T> {}

impl<R, T> fmt::Debug for Column<R, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Column").field(&self.name()).finish()
    }
}

/// The number of a call's name: its low half is ts_call_number() of `sbt/columns.h`.
pub(crate) fn call_key(domain: u16, cbid: u16) -> u64 {
    1 << 32 | u64::from(domain) << 16 | u64::from(cbid)
}

/// Returns the name of a vendor's call, by the columns of an [`Api`](crate::rows::Api) row: "cudaLaunchKernel". The
/// name of a call that the library does not know is "runtime#999".
pub fn call_name(domain: u16, cbid: u16) -> String {
    crate::ffi::call_name(domain, cbid)
}

pub(crate) mod sealed {
    /// Only `row!` implements it, for structs with C's layout that are valid with any bytes. The unsafe
    /// code of `ffi` depends on that.
    pub trait Sealed {}
}

/// A row struct. The structs are in [`rows`](crate::rows).
pub trait Row: sealed::Sealed + Copy + Default + Send + Sync + fmt::Debug + 'static {
    /// The row types that have this struct.
    const TYPES: &'static [RowType];
    /// The columns, in the order of the struct's fields.
    const COLUMNS: &'static [ColumnInfo];

    /// Returns the id of the row's name, if rows of this type have one.
    fn name_id(&self) -> Option<StringId> {
        None
    }

    /// Returns a number of the row's name: of a call, or of a text.
    #[doc(hidden)]
    fn name_key(&self) -> Option<u64> {
        self.name_id().map(|id| id.0.into())
    }

    /// Returns name, offset and width of each field of the struct, for tests.
    #[doc(hidden)]
    fn layout() -> Vec<(&'static str, usize, usize)>;
}

/// A row struct of events.
pub trait EventRow: Row {
    /// Returns the start, in nanoseconds of CLOCK_MONOTONIC.
    fn start_ns(&self) -> u64;
    /// Returns the end. If the row has no end, or an end before its start, returns the start.
    fn end_ns(&self) -> u64;
    /// Returns the duration in nanoseconds; 0 for an instant.
    fn duration_ns(&self) -> u64 {
        self.end_ns() - self.start_ns()
    }
}

macro_rules! row_types {
    (events { $($event:ident($event_row:ident) = $event_number:literal $event_name:literal,)* }
     definitions { $($definition:ident($definition_row:ident) = $number:literal $name:literal,)* }) => {
        /// A type of row that has a struct.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum RowType {
            $(#[doc = concat!("Events of type `", $event_name, "`: [`", stringify!($event_row), "`].")]
              $event = $event_number,)*
            $(#[doc = concat!("Definitions of type `", $name, "`: [`", stringify!($definition_row), "`].")]
              $definition = $number,)*
        }

        impl RowType {
            /// All types of events.
            pub const EVENTS: &'static [RowType] = &[$(RowType::$event,)*];
            /// All types of definitions.
            pub const DEFINITIONS: &'static [RowType] = &[$(RowType::$definition,)*];

            /// Returns the name: "kernel", "memcpy", ...
            pub const fn name(self) -> &'static str {
                match self {
                    $(RowType::$event => $event_name,)*
                    $(RowType::$definition => $name,)*
                }
            }

            /// Returns the type with this number; None: this crate does not know it, or its rows have no struct.
            pub const fn from_number(number: u32) -> Option<RowType> {
                match number {
                    $($event_number => Some(RowType::$event),)*
                    $($number => Some(RowType::$definition),)*
                    _ => None,
                }
            }

            /// Returns the bit of the type in a set of types.
            pub(crate) const fn bit(self) -> u64 {
                1 << self as u64
            }

            /// Returns whether rows of the type are events; else they are definitions.
            pub const fn is_event(self) -> bool {
                matches!(self, $(RowType::$event)|*)
            }

            /// Returns the columns of the type's struct.
            pub fn columns(self) -> &'static [crate::row::ColumnInfo] {
                match self {
                    $(RowType::$event => <$event_row as crate::row::Row>::COLUMNS,)*
                    $(RowType::$definition => <$definition_row as crate::row::Row>::COLUMNS,)*
                }
            }

            /// Returns the layout and the size of the type's struct, for tests.
            #[doc(hidden)]
            #[allow(clippy::type_complexity)]
            pub fn layout(self) -> (Vec<(&'static str, usize, usize)>, usize) {
                match self {
                    $(RowType::$event =>
                        (<$event_row as crate::row::Row>::layout(), std::mem::size_of::<$event_row>()),)*
                    $(RowType::$definition =>
                        (<$definition_row as crate::row::Row>::layout(), std::mem::size_of::<$definition_row>()),)*
                }
            }
        }

        /// An event of any type.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum AnyEvent {
            $(#[doc = concat!("A row of type `", $event_name, "`.")]
              $event($event_row),)*
        }

        impl AnyEvent {
            pub(crate) fn read(from: &crate::ffi::RawRow<'_>) -> Option<AnyEvent> {
                match from.row_type()? {
                    $(RowType::$event => from.read().map(AnyEvent::$event),)*
                    $(RowType::$definition => None,)*
                }
            }

            /// Returns the row's type.
            pub const fn row_type(&self) -> RowType {
                match self {
                    $(AnyEvent::$event(_) => RowType::$event,)*
                }
            }

            /// Returns the start, in nanoseconds of CLOCK_MONOTONIC.
            pub fn start_ns(&self) -> u64 {
                match self {
                    $(AnyEvent::$event(row) => crate::row::EventRow::start_ns(row),)*
                }
            }

            /// Returns the end; of an instant, its start.
            pub fn end_ns(&self) -> u64 {
                match self {
                    $(AnyEvent::$event(row) => crate::row::EventRow::end_ns(row),)*
                }
            }

            /// Returns the id of the row's name, if rows of its type have one.
            pub fn name_id(&self) -> Option<StringId> {
                match self {
                    $(AnyEvent::$event(row) => crate::row::Row::name_id(row),)*
                }
            }

            pub(crate) fn name_key(&self) -> Option<u64> {
                match self {
                    $(AnyEvent::$event(row) => crate::row::Row::name_key(row),)*
                }
            }
        }
    };
}

macro_rules! row {
    ($(#[$doc:meta])* $name:ident $c_name:literal $kind:ident [$($type:ident)*] ($($named:ident)?) {
        $($(#[$field_doc:meta])* $field:ident: $field_type:ty
            $(= $constant:ident $column:literal $id:literal $offset:literal $role:ident)?;)*
    }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $field_type,)*
        }

        impl $name {
            $($(#[doc = concat!("The column `", $column, "`.")]
                pub const $constant: crate::row::Column<$name, $field_type> =
                    crate::row::Column::new(concat!($column, "\0"));)?)*
        }

        impl crate::row::sealed::Sealed for $name {}

        impl crate::row::Row for $name {
            const TYPES: &'static [RowType] = &[$(RowType::$type),*];
            const COLUMNS: &'static [crate::row::ColumnInfo] = &[$($(crate::row::ColumnInfo {
                c_name: concat!($column, "\0"),
                id: $id,
                width: std::mem::size_of::<$field_type>() as u16,
                offset: $offset,
                role: crate::row::Role::$role,
            },)?)*];

            $(row!(@$named);)?

            fn layout() -> Vec<(&'static str, usize, usize)> {
                let row = $name::default();
                let start = &row as *const $name as usize;
                vec![$((stringify!($field), &row.$field as *const $field_type as usize - start,
                        std::mem::size_of::<$field_type>()),)*]
            }
        }

        row!(@$kind $name);
    };
    (@span $name:ident) => {
        impl crate::row::EventRow for $name {
            fn start_ns(&self) -> u64 {
                self.start_ns
            }
            fn end_ns(&self) -> u64 {
                self.end_ns.max(self.start_ns)
            }
        }
    };
    (@instant $name:ident) => {
        impl crate::row::EventRow for $name {
            fn start_ns(&self) -> u64 {
                self.start_ns
            }
            fn end_ns(&self) -> u64 {
                self.start_ns
            }
        }
    };
    (@definition $name:ident) => {};
    (@name) => {
        fn name_id(&self) -> Option<StringId> {
            Some(self.name)
        }
    };
    (@call) => {
        fn name_key(&self) -> Option<u64> {
            Some(crate::row::call_key(self.domain, self.cbid))
        }
    };
}

pub(crate) use {row, row_types};
