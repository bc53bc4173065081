// SPDX-License-Identifier: Apache-2.0
//! Annotations of this process for its trace: ranges, marks, counters. They do nothing in a process that is
//! not recorded.
//!
//! The functions are those of `<tracesmith/annotate.h>`, which the recording library exports; `tsctl record`
//! preloads it. Without the feature `library`, the crate has this module alone, and links nothing.
//!
//! ```
//! use tracesmith::annotate;
//!
//! let _epoch = annotate::range("epoch");
//! annotate::mark("data loaded");
//! annotate::counter("loss", 0.25);
//! ```
//!
//! A name is UTF-8 of at most 4096 bytes, preferably a constant: the recording library copies each name at its
//! first use. A name ends at a zero byte.

use std::ffi::CString;
use std::marker::PhantomData;

use crate::ffi::annotate as ffi;

fn text(name: &str) -> CString {
    let end = name.find('\0').unwrap_or(name.len());
    CString::new(&name.as_bytes()[..end]).unwrap_or_default()
}

/// Returns whether this process is recorded. The first call of this module looks for the recording library.
pub fn is_recorded() -> bool {
    ffi::functions().is_some()
}

/// Records that something happened now.
pub fn mark(name: &str) {
    Domain::DEFAULT.mark(name);
}

/// Begins a range that ends when the guard is dropped. Ranges nest within their thread, and thus enclose the GPU
/// work that the thread launches. Guards end in the reverse order of their beginnings, as the locals of a block do.
#[must_use = "the range ends when the guard is dropped"]
pub fn range(name: &str) -> Range {
    Domain::DEFAULT.range(name)
}

/// Begins a range that any thread may end.
#[must_use = "the range ends when the guard is dropped"]
pub fn span(name: &str) -> Span {
    Domain::DEFAULT.span(name)
}

/// Records a counter's new value.
pub fn counter(name: &str, value: f64) {
    Domain::DEFAULT.counter(name, value);
}

/// Records a counter's new value, exactly.
pub fn counter_i64(name: &str, value: i64) {
    Domain::DEFAULT.counter_i64(name, value);
}

/// Stops the recording of this process until [`start`]. If the program calls it first of all, nothing before
/// `start` is recorded.
pub fn stop() {
    if let Some(functions) = ffi::functions() {
        functions.record(false);
    }
}

/// Starts the recording of this process again.
pub fn start() {
    if let Some(functions) = ffi::functions() {
        functions.record(true);
    }
}

/// A domain of names: equal names in different domains stay apart.
#[derive(Clone, Copy, Debug)]
pub struct Domain(ffi::Domain);

impl Domain {
    /// The domain of the functions of this module.
    pub const DEFAULT: Domain = Domain(ffi::Domain::DEFAULT);

    /// Returns the domain of a name, which a library uses for its own annotations.
    pub fn new(name: &str) -> Domain {
        ffi::functions().map_or(Domain::DEFAULT, |functions| Domain(functions.domain(&text(name))))
    }

    /// As [`mark`].
    pub fn mark(self, name: &str) {
        if let Some(functions) = ffi::functions() {
            functions.mark(self.0, &text(name));
        }
    }

    /// As [`range`].
    #[must_use = "the range ends when the guard is dropped"]
    pub fn range(self, name: &str) -> Range {
        let functions = ffi::functions();
        if let Some(functions) = functions {
            functions.push(self.0, &text(name));
        }
        Range { functions, domain: self.0, thread: PhantomData }
    }

    /// As [`span`].
    #[must_use = "the range ends when the guard is dropped"]
    pub fn span(self, name: &str) -> Span {
        Span(ffi::functions().map_or(0, |functions| functions.begin(self.0, &text(name))))
    }

    /// As [`counter`].
    pub fn counter(self, name: &str, value: f64) {
        if let Some(functions) = ffi::functions() {
            functions.counter(self.0, &text(name), value);
        }
    }

    /// As [`counter_i64`].
    pub fn counter_i64(self, name: &str, value: i64) {
        if let Some(functions) = ffi::functions() {
            functions.counter_i64(self.0, &text(name), value);
        }
    }
}

/// Ends a range of this thread when it is dropped. It stays in its thread:
///
/// ```compile_fail,E0277
/// let range = tracesmith::annotate::range("epoch");
/// std::thread::spawn(move || drop(range));
/// ```
#[derive(Debug)]
pub struct Range {
    functions: Option<ffi::Functions>,
    domain: ffi::Domain,
    /// Not Send: a range nests within its thread.
    thread: PhantomData<*const ()>,
}

impl Drop for Range {
    fn drop(&mut self) {
        if let Some(functions) = self.functions {
            functions.pop(self.domain);
        }
    }
}

/// Ends a range when it is dropped, in any thread.
#[derive(Debug)]
pub struct Span(u64);

impl Drop for Span {
    fn drop(&mut self) {
        if self.0 != 0 {
            if let Some(functions) = ffi::functions() {
                functions.end(self.0);
            }
        }
    }
}
