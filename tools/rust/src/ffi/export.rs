// SPDX-License-Identifier: Apache-2.0
//! Exports: `tools/export/export.h`.

use std::os::unix::io::{AsRawFd, BorrowedFd};

use super::ask::no_memory;
use super::declare::*;
use super::reader::{Reader, Selection};
use super::texts;
use crate::error::Error;

/// The report of an export: rows, those without a call, those without a stack, slices that were left out.
pub struct Exported {
    pub n_rows: u64,
    pub n_without_call: u64,
    pub n_without_stack: u64,
    pub n_left_out: u64,
    pub totals: [u64; WEIGHTS],
}

/// Writes a trace to a descriptor, which stays the caller's.
pub fn export(
    reader: &Reader,
    format: u32,
    weight: u32,
    mangled: bool,
    types: u64,
    selection: &Selection,
    fd: BorrowedFd<'_>,
) -> Result<Exported, Error> {
    // SAFETY: all zero is the default, and the pointers may be NULL (export.h).
    let mut options = unsafe { Padded::<ts_export_options>::zeroed() };
    options.session = selection.session;
    options.types = types;
    options.from_ns = selection.from_ns;
    options.to_ns = selection.to_ns;
    options.weight = weight;
    options.mangled = mangled;
    options.cancel = reader.cancel_flag();
    options.no_memory = Some(no_memory);
    // SAFETY: numbers, booleans and bytes.
    let mut report = unsafe { Padded::<ts_export_report>::zeroed() };
    // SAFETY: reader, options and descriptor live longer than the call; zeroes are the defaults of the pointers.
    let result =
        unsafe { ts_export_fd(reader.as_ptr(), format, options.as_ptr(), fd.as_raw_fd(), report.as_mut_ptr()) };
    // The export may have ended the reader's flag.
    reader.use_cancel();
    if result != 0 {
        return Err(reader.why(result));
    }
    if report.damaged {
        return Err(texts::why(reader.path(), report.damage.code, &report.damage));
    }
    Ok(Exported {
        n_rows: report.n_rows,
        n_without_call: report.n_without_call,
        n_without_stack: report.n_without_stack,
        n_left_out: report.n_left_out,
        totals: report.totals,
    })
}
