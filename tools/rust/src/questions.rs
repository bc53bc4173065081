// SPDX-License-Identifier: Apache-2.0
//! Questions: the members of message `Query` in `proto/rpc/tracesmith.proto`.
//!
//! A field that is not set has its default. [`Trace::ask`](crate::Trace::ask) asks a question.
//! `tools/rust/generate.py` makes this file, and a test compares.

use crate::answers::*;
use crate::ask::{diff_question, part, question};
use crate::json::Value;

part! {
    /// A time of the trace.
    Moment {
        /// The key `ns`.
        ns: Option<u64>,
        /// true: `ns` counts from the trace's start; false: it is a time of CLOCK_MONOTONIC.
        from_start: Option<bool>,
    }
}

part! {
    /// Selects the rows that match all fields that are set.
    RowFilter {
        /// A part of the row's name; with * or ?, a pattern of the whole name.
        name: Option<String>,
        /// The key `stream`.
        stream: Option<u32>,
        /// The key `device`.
        device: Option<u32>,
        /// Number of the thread, or a part of its name; for device rows, the thread that launched
        /// them.
        thread: Option<String>,
        /// Calls that returned an error, and errors of the kernel's drivers.
        errors: Option<bool>,
        /// Operation ids, both ends included.
        first_op: Option<u64>,
        /// The key `last_op`.
        last_op: Option<u64>,
    }
}

part! {
    /// Numbers of decisions from `first` to `last`, both included.
    Decisions {
        /// The key `first`.
        first: Option<u64>,
        /// The key `last`.
        last: Option<u64>,
    }
}

question! {
    /// The question `state`.
    State "state" one StateReport {
        /// The key `at`.
        at: Option<Moment>,
        /// The key `stacks`.
        stacks: Option<bool>,
        /// Names of kernels as the compiler made them.
        mangled: Option<bool>,
    }
}

question! {
    /// The question `timeline`.  Without `from` and `to`, it is about the whole trace.
    Timeline "timeline" one TimelineReport {
        /// The key `from`.
        from: Option<Moment>,
        /// The key `to`.
        to: Option<Moment>,
        /// Parts of each stream, at most 10000; absent: 100.
        parts: Option<u32>,
        /// Also the parts of each device.
        device_parts: Option<bool>,
    }
}

question! {
    /// The question `rows`.  Without `from` and `to`, it is about the whole trace.
    Rows "rows" lines Vec<Value> {
        /// The key `from`.
        from: Option<Moment>,
        /// The key `to`.
        to: Option<Moment>,
        /// "kernel", "memcpy", ...; empty: all types.
        types: Vec<String>,
        /// Maximum number of rows.
        limit: Option<u64>,
        /// The key `stacks`.
        stacks: Option<bool>,
        /// The key `mangled`.
        mangled: Option<bool>,
        /// The key `filter`.
        filter: Option<RowFilter>,
        /// Sort rows by duration; at most `limit` rows (default: 100, maximum: 100000).
        longest_first: Option<bool>,
    }
}

question! {
    /// The question `stats`.  Without `from` and `to`, it is about the whole trace.
    Stats "stats" one TraceStats {
        /// The key `from`.
        from: Option<Moment>,
        /// The key `to`.
        to: Option<Moment>,
        /// The key `types`.
        types: Vec<String>,
        /// Maximum number of names in each list.
        limit: Option<u64>,
        /// The key `mangled`.
        mangled: Option<bool>,
        /// The key `filter`.
        filter: Option<RowFilter>,
    }
}

question! {
    /// The question `memory`.
    Memory "memory" one MemoryReport {
        /// Maximum number of listed allocations; absent: 10.
        limit: Option<u32>,
        /// The key `stacks`.
        stacks: Option<bool>,
        /// Also list the kernels that ran while the memory at this address was allocated.
        address: Option<u64>,
        /// Also the memory of each device over time, in this number of points, at most 10000.
        points: Option<u32>,
    }
}

question! {
    /// The question `graph`.  Without `from` and `to`, it is about the whole trace.
    Graph "graph" graph GraphList {
        /// The key `from`.
        from: Option<Moment>,
        /// The key `to`.
        to: Option<Moment>,
        /// Only the critical path.
        path: Option<bool>,
        /// A window with more calls and operations fails; absent: 8388608.
        max_nodes: Option<u32>,
    }
}

question! {
    /// The question `replay`. Runs operations again, as `tsctl replay` does. The answers are
    /// ReplayAnswers: the progress a few times per second, and the result at the end. After a
    /// Cancel, the result has the findings up to then. Without `from` and `to`, it is about the
    /// whole trace.
    Replay "replay" lines Vec<ReplayAnswer> {
        /// "emulate", "vgpu".
        executor: Option<String>,
        /// The key `dry_run`.
        dry_run: Option<bool>,
        /// Only operations of this stream.
        stream: Option<u32>,
        /// The key `first_op`.
        first_op: Option<u64>,
        /// The key `last_op`.
        last_op: Option<u64>,
        /// The key `from`.
        from: Option<Moment>,
        /// The key `to`.
        to: Option<Moment>,
        /// Maximum number of listed steps and check points; absent: 10.
        limit: Option<u32>,
        /// emulate: edits, in this order; at most 256.
        what_if: Vec<String>,
        /// This field and the following ones: vgpu only. Number of replays; absent: as many as a
        /// verdict needs.
        repeat: Option<u32>,
        /// "races", "init", "bounds", "order", "all".
        check: Vec<String>,
        /// The key `compare_every`.
        compare_every: Option<u64>,
        /// Limit of one replay; with `check` or `schedules`, limit of all replays together
        /// (default: 60 s).
        time_limit_ns: Option<u64>,
        /// Not together with both `repeat` and `compare_every`.
        schedules: Option<u32>,
        /// The key `seed`.
        seed: Option<u64>,
        /// Only these decisions of the seed are applied, in ascending order; at most 64.
        decisions: Vec<Decisions>,
        /// The key `unordered_blocks`.
        unordered_blocks: Option<bool>,
        /// List the check points.
        points: Option<bool>,
    }
}

question! {
    /// The question `gaps`.  Without `from` and `to`, it is about the whole trace.
    Gaps "gaps" one GapsReport {
        /// Shorter gaps are not counted; absent: 10 us.
        least_ns: Option<u64>,
        /// Only the gap before this operation, of any length.
        op_id: Option<u64>,
        /// Maximum number of listed gaps; absent: 10.
        limit: Option<u32>,
        /// The key `stacks`.
        stacks: Option<bool>,
        /// The key `mangled`.
        mangled: Option<bool>,
        /// Only gaps that overlap the window: see GapsReport.
        from: Option<Moment>,
        /// The key `to`.
        to: Option<Moment>,
    }
}

question! {
    /// The question `analyze`.
    Analyze "analyze" one AnalysisReport {
        /// Maximum number of listed kernels, and of stacks per finding; absent: 5.
        limit: Option<u32>,
    }
}

question! {
    /// The question `info`.
    Info "info" one TraceInfo {
        /// Also the bytes of each column in the file.
        columns: Option<bool>,
        /// The key `mangled`.
        mangled: Option<bool>,
        /// Without the failed calls: finding them takes reading all calls.
        no_errors: Option<bool>,
    }
}

diff_question! {
    /// The options of `tsctl diff`, for replay/report/query-diff.h. The daemon compares no traces.
    Diff {
        /// Changes of the median below this percentage are ignored; absent: 3 with one trace on a
        /// side, else 1.
        least_percent: Option<u32>,
        /// Maximum number of listed operations; absent: 10.
        limit: Option<u32>,
        /// The key `mangled`.
        mangled: Option<bool>,
    }
}
