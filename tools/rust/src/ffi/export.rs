// SPDX-License-Identifier: Apache-2.0
//! Exports: `tools/export/export.h`.

use std::mem::MaybeUninit;
use std::os::unix::io::{AsRawFd, BorrowedFd};
use std::ptr;

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
    let options = ts_export_options {
        session: selection.session,
        types,
        from_ns: selection.from_ns,
        to_ns: selection.to_ns,
        weight,
        mangled,
        no_leaf: false,
        processes: false,
        threads: false,
        lines: false,
        names: ptr::null(),
        step: None,
        user: ptr::null_mut(),
        generator: ptr::null(),
        width: 0,
        title: ptr::null(),
        cancel: reader.cancel_flag(),
    };
    let mut report = MaybeUninit::<ts_export_report>::zeroed();
    // SAFETY: reader, options and descriptor live longer than the call; zeroes are the defaults of the pointers.
    let result = unsafe { ts_export_fd(reader.as_ptr(), format, &options, fd.as_raw_fd(), report.as_mut_ptr()) };
    if result != 0 {
        return Err(reader.why(result));
    }
    // SAFETY: zeroes are a valid report, and the library has filled it.
    let report = unsafe { MaybeUninit::assume_init(report) };
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
