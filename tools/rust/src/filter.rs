// SPDX-License-Identifier: Apache-2.0
//! Selections of rows.

use crate::ffi;

/// Selects rows: those that match all conditions. The library leaves out blocks without such rows.
///
/// ```
/// use tracesmith::Filter;
///
/// let filter = Filter::new().name("*gemm*").stream(7);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub(crate) selection: ffi::Selection,
    pub(crate) name: Option<String>,
}

const BY_DEVICE: u32 = 1 << 0;
const BY_CONTEXT: u32 = 1 << 1;
const BY_STREAM: u32 = 1 << 2;
const BY_THREAD: u32 = 1 << 3;

impl Filter {
    /// Makes a filter without a condition.
    pub fn new() -> Filter {
        Filter::default()
    }

    /// Rows that end at this time or later: nanoseconds of CLOCK_MONOTONIC, as in the rows.
    pub fn from_ns(mut self, from_ns: u64) -> Filter {
        self.selection.from_ns = from_ns;
        self
    }

    /// Rows that start at this time or earlier.
    pub fn to_ns(mut self, to_ns: u64) -> Filter {
        // The library's 0 means no limit, and no row starts at 0.
        self.selection.to_ns = to_ns.max(1);
        self
    }

    /// Rows with a name of this pattern: `*` matches any text, `?` any character. Names of kernels are those of
    /// the compiler (mangled), names of calls those of [`call_name`](crate::call_name). Rows of types without a name do not match.
    pub fn name(mut self, pattern: &str) -> Filter {
        self.name = Some(pattern.to_string());
        self
    }

    /// Rows of this session.
    pub fn session(mut self, session: u32) -> Filter {
        self.selection.session = session;
        self
    }

    /// Rows of this device. Ids of a device, context, stream or thread are unique only within a session.
    pub fn device(mut self, device: u32) -> Filter {
        self.selection.device = device;
        self.selection.filter |= BY_DEVICE;
        self
    }

    /// Rows of this context.
    pub fn context(mut self, context: u32) -> Filter {
        self.selection.context = context;
        self.selection.filter |= BY_CONTEXT;
        self
    }

    /// Rows of this stream.
    pub fn stream(mut self, stream: u32) -> Filter {
        self.selection.stream = stream;
        self.selection.filter |= BY_STREAM;
        self
    }

    /// Rows of this thread, by its id in the session.
    pub fn thread(mut self, thread: u32) -> Filter {
        self.selection.thread = thread;
        self.selection.filter |= BY_THREAD;
        self
    }
}

/// Returns whether a text matches a pattern with `*` and `?`, in time linear in both for each `*`.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // The last star, and the text's place behind what it has matched.
    let mut star: Option<(usize, usize)> = None;

    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&character) if character == '?' || character == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, matched)) => {
                    star = Some((at, matched + 1));
                    p = at + 1;
                    t = matched + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&character| character == '*')
}
