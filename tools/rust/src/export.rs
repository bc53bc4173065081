// SPDX-License-Identifier: Apache-2.0
//! Traces in the formats of other tools.

use std::os::unix::io::AsFd;

use crate::error::Result;
use crate::ffi;
use crate::filter::Filter;
use crate::trace::Trace;

/// A format of [`Trace::export`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u32)]
pub enum Format {
    /// A trace for Perfetto.
    Perfetto = 0,
    /// Trace events in JSON, as the PyTorch profiler writes them.
    Json = 1,
    /// Folded stacks: a line per distinct stack.
    Folded = 2,
    /// A compressed pprof profile.
    Pprof = 3,
    /// A flame graph as SVG.
    Svg = 4,
    /// A page with the answers of `tsctl analyze`, `gaps`, `memory` and `info`, as `tsctl report` writes.
    Html = 5,
}

/// The value that folded stacks, profiles and flame graphs sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u32)]
pub enum Weight {
    /// Count of executed kernels.
    Launches = 0,
    /// Nanoseconds of kernels, copies and sets.
    GpuTime = 1,
    /// Bytes moved by copies.
    Bytes = 2,
    /// Nanoseconds of threads on a processor, by samples.
    Cpu = 3,
    /// Nanoseconds of threads off a processor.
    OffCpu = 4,
    /// Both of the above.
    Host = 5,
}

/// Options of an export.
#[derive(Clone, Debug)]
pub struct Export {
    /// The format.
    pub format: Format,
    /// The summed value.
    pub weight: Weight,
    /// Names of kernels as the compiler made them.
    pub mangled: bool,
    /// The window and the session. Other conditions are not used.
    pub filter: Filter,
}

impl Export {
    /// Exports the whole trace in this format, and sums GPU time.
    pub fn new(format: Format) -> Export {
        Export { format, weight: Weight::GpuTime, mangled: false, filter: Filter::new() }
    }
}

/// Completeness of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exported {
    /// Kernels, copies and sets; samples and times off a processor.
    pub rows: u64,
    /// Part of `rows` whose call was not recorded.
    pub without_call: u64,
    /// Part of `rows` without a stack.
    pub without_stack: u64,
    /// Slices beyond the limit of lanes that overlap.
    pub left_out: u64,
    totals: [u64; 6],
}

impl Exported {
    /// Returns the sum of all exported rows. Only folded stacks, profiles and flame graphs have sums.
    pub fn total(&self, weight: Weight) -> u64 {
        self.totals[weight as usize]
    }
}

impl Trace {
    /// Writes the trace for another tool to a descriptor.
    ///
    /// ```no_run
    /// use tracesmith::{Export, Format, Trace};
    ///
    /// let file = std::fs::File::create("train.pftrace").unwrap();
    /// Trace::open("train.sbt")?.export(&Export::new(Format::Perfetto), &file)?;
    /// # Ok::<(), tracesmith::Error>(())
    /// ```
    pub fn export(&self, export: &Export, to: impl AsFd) -> Result<Exported> {
        let selection = &export.filter.selection;
        let (format, weight) = (export.format as u32, export.weight as u32);
        let report = ffi::export(&self.reader, format, weight, export.mangled, 0, selection, to.as_fd())?;
        Ok(Exported {
            rows: report.n_rows,
            without_call: report.n_without_call,
            without_stack: report.n_without_stack,
            left_out: report.n_left_out,
            totals: report.totals,
        })
    }
}
