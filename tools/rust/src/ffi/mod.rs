// SPDX-License-Identifier: Apache-2.0
//! All unsafe code of the crate. The types here own the library's objects and permit what the C headers
//! permit; the modules around use them without unsafe code.
//!
//! A header that states "used by one thread at a time" makes a type Send and not Sync. "Any thread may"
//! makes it Sync as well.

#![allow(unsafe_code)]
#![deny(unsafe_op_in_unsafe_fn)]

pub mod annotate;
#[cfg(feature = "library")]
mod ask;
#[cfg(feature = "library")]
mod client;
#[cfg(feature = "library")]
mod columns;
#[cfg(feature = "library")]
pub mod declare;
#[cfg(feature = "library")]
mod export;
#[cfg(feature = "library")]
mod reader;
#[cfg(feature = "library")]
mod rows;
#[cfg(feature = "library")]
mod symbols;
#[cfg(feature = "library")]
mod texts;
#[cfg(feature = "library")]
mod writer;

#[cfg(feature = "library")]
pub use self::{
    ask::{ask, diff, picture, Limits},
    client::Client,
    columns::{Arrays, Columns},
    export::export,
    reader::{Cursor, Reader, Selection, Summary},
    rows::RawRow,
    symbols::Symbols,
    texts::{c_path, c_text, call_name, loss_name},
    writer::{SessionWriter, Writer},
};
