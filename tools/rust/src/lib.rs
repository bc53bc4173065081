// SPDX-License-Identifier: Apache-2.0
#![doc = include_str!("../README.md")]
#![deny(missing_docs)]
#![deny(unsafe_code)]
#![warn(rust_2018_idioms)]
#![allow(clippy::derive_partial_eq_without_eq)]

pub mod annotate;
#[cfg(feature = "library")]
pub mod answers;
#[cfg(feature = "library")]
mod ask;
#[cfg(feature = "library")]
mod cancel;
#[cfg(feature = "library")]
mod error;
#[cfg(feature = "library")]
mod export;
#[allow(missing_docs)]
mod ffi;
#[cfg(feature = "library")]
mod filter;
#[cfg(feature = "library")]
mod json;
#[cfg(feature = "library")]
mod live;
#[cfg(feature = "library")]
pub mod questions;
#[cfg(feature = "library")]
mod row;
#[cfg(feature = "library")]
pub mod rows;
#[cfg(feature = "library")]
mod symbols;
#[cfg(feature = "library")]
mod table;
#[cfg(feature = "library")]
mod trace;
#[cfg(feature = "library")]
pub mod values;
#[cfg(feature = "library")]
mod writer;

#[cfg(feature = "library")]
pub use self::{
    ask::{diff, Limits, Question},
    cancel::Cancel,
    error::{Error, ErrorKind, Result},
    export::{Export, Exported, Format, Weight},
    filter::Filter,
    json::Value,
    live::Client,
    row::{call_name, Column, ColumnInfo, EventRow, Role, Row, StackId, StringId},
    symbols::{Frame, Symbols},
    table::{AnyColumn, Block, Blocks, Columns, Events, Item, Rows, Summary, Total},
    trace::{FileState, Trace},
    writer::{SessionWriter, Writer},
};

/// The id that stands for no device, or for no stream.
pub const NO_DEVICE: u32 = u32::MAX;

/// Returns the layouts of the C structs that this crate declares, for the test of the interface.
#[cfg(feature = "library")]
#[doc(hidden)]
#[allow(clippy::type_complexity)]
pub fn interface() -> Vec<(&'static str, usize, Vec<(&'static str, usize, usize)>)> {
    let mut layouts = ffi::declare::layouts();
    layouts.push(ffi::annotate::layout());
    layouts
}
