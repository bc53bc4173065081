// SPDX-License-Identifier: Apache-2.0
//! Cancelling what runs.

use std::os::raw::c_int;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::Arc;

/// Ends reading and questions from another thread. Clones share one flag.
///
/// [`Trace::set_cancel`](crate::Trace::set_cancel) gives it to a trace. A call that reads then ends at the
/// next block of the file with [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicI32>);

impl Cancel {
    /// Makes a flag that is not set.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Sets the flag: running calls end, and so do later ones until [`reset`](Cancel::reset).
    pub fn cancel(&self) {
        self.0.store(1, Ordering::Relaxed);
    }

    /// Clears the flag.
    pub fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Returns whether the flag is set.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// The flag for the library, which reads it as a volatile int. It lives as long as a clone of `self`.
    pub(crate) fn flag(&self) -> *const c_int {
        (&*self.0 as *const AtomicI32).cast()
    }
}
