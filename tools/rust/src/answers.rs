// SPDX-License-Identifier: Apache-2.0
//! Answers: the messages of `proto/rpc/tracesmith.proto`.
//!
//! The fields are the keys of `tsctl COMMAND --json`. A field that is not set is None. Times are in
//! nanoseconds, of CLOCK_MONOTONIC. `tools/rust/generate.py` makes this file, and a test compares.

use std::collections::BTreeMap;

use crate::ask::answer;

answer! {
    /// The message `SessionInfo`.
    SessionInfo {
        /// Number of the session in the file, from 1.
        session: Option<u32>,
        /// The key `pid`.
        pid: Option<u32>,
        /// Pid of the traced process that forked this one.
        parent_pid: Option<u32>,
        /// The key `program`.
        program: Option<String>,
        /// The key `state`.
        state: Option<String>,
        /// The key `end_reason`.
        end_reason: Option<String>,
        /// The key `start_ns`.
        start_ns: Option<u64>,
        /// The key `end_ns`.
        end_ns: Option<u64>,
        /// The key `start_realtime_ns`.
        start_realtime_ns: Option<u64>,
        /// The key `id`.
        id: Option<String>,
        /// "tsc" or "monotonic".
        host_clock: Option<String>,
        /// CuptiGetVersion().
        cupti_version: Option<u32>,
        /// CuDriverGetVersion().
        driver_version: Option<u32>,
        /// The key `threads`.
        threads: Option<u32>,
        /// The key `uid`.
        uid: Option<u32>,
        /// Reason for the lack of GPU rows: "no_cupti", "cupti_held", "injection_held",
        /// "cupti_too_old", "cupti_error", "no_memory", "refused". Absent: no reason is known.
        empty_reason: Option<String>,
        /// The key `empty_text`.
        empty_text: Option<String>,
        /// Rows by type.
        counts: BTreeMap<String, u64>,
        /// The key `lost`.
        lost: BTreeMap<String, u64>,
        /// How often recording was stopped; absent: never.
        stops: Option<u32>,
        /// Total time in which recording was stopped.
        stopped_ns: Option<u64>,
        /// The session has only the host's calls, observed from outside the process (`tsctl record
        /// --system`), and no rows of a device.
        host_half_only: Option<bool>,
        /// Command line of a session with host_half_only.
        command_line: Option<String>,
        /// absent: nothing was captured for a replay.
        capture: Option<CaptureInfo>,
        /// Interfaces by which the shim recorded the session: "cupti", "hip_tables" (the dispatch
        /// tables of HIP's runtime), "hip_symbols" (functions that stand before those of HIP's
        /// runtime), "hip_tracer" (GPU times by hipRegisterTracerCallback()), "hip_activity" (GPU
        /// times by hipInitActivityCallback()), "hip_events" (GPU times of a sample of the work, by
        /// pairs of HIP's events), "rocprofiler_sdk" (GPU times by AMD's rocprofiler-sdk). Empty in
        /// older traces.
        interfaces: Vec<String>,
        /// HipRuntimeGetVersion().
        hip_version: Option<u32>,
        /// With "hip_events": largest error of these times.
        hip_time_error_ns: Option<u64>,
        /// Id of the batch job, from the process's environment; absent: unknown, as each of the
        /// following.
        job: Option<String>,
        /// Number of the process in its job, from 0.
        rank: Option<u32>,
        /// Number of processes of the job.
        ranks: Option<u32>,
        /// Number of the process on its machine, from 0.
        local_rank: Option<u32>,
    }
}

answer! {
    /// The capture of a session, for a replay.
    CaptureInfo {
        /// The key `operations`.
        operations: Option<u64>,
        /// Number of opened windows; absent: everything was captured, from the session's start.
        windows: Option<u32>,
        /// Operations that a replay cannot repeat, each once, at most 64.
        unsupported: Vec<String>,
        /// Reason why the capture ended early; absent: it lasts until the program's end.
        ended: Option<String>,
        /// Bytes of captured contents, each content once; the last counter's value.
        bytes: Option<u64>,
        /// Time that capturing cost the program's threads.
        ns: Option<u64>,
    }
}

answer! {
    /// The message `DeviceInfo`.
    DeviceInfo {
        /// CUPTI's id.
        device: Option<u32>,
        /// The key `session`.
        session: Option<u32>,
        /// The key `name`.
        name: Option<String>,
        /// The key `uuid`.
        uuid: Option<String>,
        /// The key `virtual`.
        virtual_: Option<bool>,
        /// The key `compute_capability`.
        compute_capability: Option<String>,
        /// The key `multiprocessors`.
        multiprocessors: Option<u32>,
        /// The key `memory_bytes`.
        memory_bytes: Option<u64>,
        /// The key `memory_bandwidth_kb_per_s`.
        memory_bandwidth_kb_per_s: Option<u64>,
        /// The key `core_clock_khz`.
        core_clock_khz: Option<u32>,
        /// The key `copy_engines`.
        copy_engines: Option<u32>,
        /// The key `threads_per_warp`.
        threads_per_warp: Option<u32>,
        /// The key `max_warps_per_multiprocessor`.
        max_warps_per_multiprocessor: Option<u32>,
        /// The key `max_blocks_per_multiprocessor`.
        max_blocks_per_multiprocessor: Option<u32>,
        /// The key `max_shared_bytes_per_multiprocessor`.
        max_shared_bytes_per_multiprocessor: Option<u32>,
        /// The key `max_registers_per_multiprocessor`.
        max_registers_per_multiprocessor: Option<u32>,
        /// The key `l2_cache_bytes`.
        l2_cache_bytes: Option<u32>,
        /// A virtual GPU that timed kernels and did not compute them; absent: false.
        timed_kernels: Option<bool>,
    }
}

answer! {
    /// All rows of one name: of a kernel, an API function, or copies of one kind.
    Aggregate {
        /// The key `name`.
        name: Option<String>,
        /// The key `count`.
        count: Option<u64>,
        /// The key `total_ns`.
        total_ns: Option<u64>,
        /// The key `mean_ns`.
        mean_ns: Option<u64>,
        /// The key `min_ns`.
        min_ns: Option<u64>,
        /// The key `max_ns`.
        max_ns: Option<u64>,
        /// The key `bytes`.
        bytes: Option<u64>,
        /// The following fields are set only by `tsctl view --stats`. error of at most 0.2 %, also
        /// in the next two fields.
        median_ns: Option<u64>,
        /// The key `p95_ns`.
        p95_ns: Option<u64>,
        /// The key `p99_ns`.
        p99_ns: Option<u64>,
        /// Device rows: the most frequent launch sites first, at most 3.
        launched_by: Vec<LaunchSite>,
        /// Number of launch sites.
        launch_sites: Option<u64>,
        /// Several ranges whose names differ only in numbers have one entry: "step 1" and "step 2"
        /// are "step N". Absent: all ranges have this name.
        numbered: Option<bool>,
    }
}

answer! {
    /// Code that launched operations: the innermost frame that belongs to the program itself.
    LaunchSite {
        /// "function (file:line)", as far as it is known.
        frame: Option<String>,
        /// The key `count`.
        count: Option<u64>,
        /// The frames that called `frame`, innermost first, at most 2.
        callers: Vec<String>,
    }
}

answer! {
    /// The size of a column in a file: `tsctl info --columns --json`.
    ColumnSize {
        /// The key `type`.
        type_: Option<String>,
        /// absent: bytes that belong to no column, such as headers and padding.
        column: Option<String>,
        /// Rows of the blocks that have this column.
        rows: Option<u64>,
        /// The key `encoded_bytes`.
        encoded_bytes: Option<u64>,
        /// The column's share of the compressed bytes of its blocks.
        stored_bytes: Option<u64>,
        /// The key `bytes_per_row`.
        bytes_per_row: Option<f64>,
    }
}

answer! {
    /// Bounds of the errors of times, from the clock snapshots. If traces of several machines were
    /// merged, the bounds do not include the differences between the machines' CLOCK_REALTIMEs.
    ClockBounds {
        /// Error of a host's time, in the session with the largest error.
        host_ns: Option<u64>,
        /// Error of a device's time.
        device_ns: Option<u64>,
        /// If times of two sessions differ by more than this, their order is right. Absent: there
        /// is one session.
        between_sessions_ns: Option<u64>,
    }
}

answer! {
    /// `tsctl info --json`.
    TraceInfo {
        /// "SBT 1.0".
        format: Option<String>,
        /// The key `sessions`.
        sessions: Vec<SessionInfo>,
        /// The key `devices`.
        devices: Vec<DeviceInfo>,
        /// From the earliest start to the latest end of all rows.
        duration_ns: Option<u64>,
        /// Rows by type.
        counts: BTreeMap<String, u64>,
        /// By reason; empty if nothing was lost.
        lost: BTreeMap<String, u64>,
        /// Size of the file.
        bytes: Option<u64>,
        /// The file has its end marker.
        finished: Option<bool>,
        /// The file ends in the middle of a block.
        truncated: Option<bool>,
        /// The file is being written.
        live: Option<bool>,
        /// The key `path`.
        path: Option<String>,
        /// The key `start_ns`.
        start_ns: Option<u64>,
        /// The key `end_ns`.
        end_ns: Option<u64>,
        /// The key `start_realtime_ns`.
        start_realtime_ns: Option<u64>,
        /// Bound of the conversion error of each host time.
        clock_error_ns: Option<u64>,
        /// One line of text if the trace has no GPU rows.
        empty_reason: Option<String>,
        /// The key `metadata`.
        metadata: BTreeMap<String, String>,
        /// The key `kernels`.
        kernels: Vec<Aggregate>,
        /// The key `copies`.
        copies: Vec<Aggregate>,
        /// The key `bytes_per_launch`.
        bytes_per_launch: Option<f64>,
        /// Offset of a block that could not be read. Absent: all blocks that were read are good.
        /// The command reads only the blocks that it needs; `tsctl verify` reads every byte.
        damaged_at: Option<u64>,
        /// Set only with --columns.
        columns: Vec<ColumnSize>,
        /// The key `clocks`.
        clocks: Option<ClockBounds>,
        /// A row's time is 146 years or more after its host's start, so durations are not reliable.
        at_no_time: Option<bool>,
        /// In the order of their first calls, at most 1024.
        errors: Vec<CallError>,
        /// The key `failed_calls`.
        failed_calls: Option<u64>,
        /// absent: the trace has no samples.
        samples: Option<SampleInfo>,
    }
}

answer! {
    /// Samples of threads on a processor.
    SampleInfo {
        /// The key `count`.
        count: Option<u64>,
        /// The key `threads`.
        threads: Option<u64>,
        /// The processor time that the samples represent.
        ns: Option<u64>,
    }
}

answer! {
    /// Failed calls of one function with the same error and the same stack.
    CallError {
        /// Name of the function.
        name: Option<String>,
        /// "CUDA_ERROR_OUT_OF_MEMORY".
        error: Option<String>,
        /// The key `result`.
        result: Option<i32>,
        /// The key `count`.
        count: Option<u64>,
        /// The key `session`.
        session: Option<u32>,
        /// Of the first call, as are the following fields.
        start_ns: Option<u64>,
        /// The key `op_id`.
        op_id: Option<u64>,
        /// The key `tid`.
        tid: Option<u32>,
        /// The key `thread_name`.
        thread_name: Option<String>,
        /// Bytes that the call requested, if the function allocates memory.
        bytes: Option<u64>,
        /// The key `stack`.
        stack: Option<Stack>,
        /// Set if a kernel caused the error, and the error is the session's first: the kernels
        /// launched since the last wait, the last one first.
        suspects: Vec<ErrorSuspect>,
        /// Set for the first calls that failed because memory was short: the bytes that were live
        /// on devices at the call, and the code that had allocated them, most bytes first.
        held_bytes: Option<u64>,
        /// The key `held_sites`.
        held_sites: Vec<MemorySite>,
    }
}

answer! {
    /// The message `ErrorSuspect`.
    ErrorSuspect {
        /// The key `op_id`.
        op_id: Option<u64>,
        /// absent: the launch has no device row.
        kernel: Option<String>,
        /// Stack of the launch.
        stack: Option<Stack>,
    }
}

answer! {
    /// `tsctl view --stats --json`.
    TraceStats {
        /// The key `kernels`.
        kernels: Vec<Aggregate>,
        /// The key `api`.
        api: Vec<Aggregate>,
        /// The key `copies`.
        copies: Vec<Aggregate>,
        /// The key `memsets`.
        memsets: Vec<Aggregate>,
        /// The key `syncs`.
        syncs: Vec<Aggregate>,
        /// By reason.
        off_cpu: Vec<Aggregate>,
        /// By kind and memory.
        page_faults: Vec<Aggregate>,
        /// By call and file.
        syscalls: Vec<Aggregate>,
        /// The application's own ranges that have ended, by domain and name.
        ranges: Vec<Aggregate>,
        /// By operation and disk.
        block_io: Vec<Aggregate>,
        /// By kind.
        pressure: Vec<Aggregate>,
        /// By kind and ring.
        drivers: Vec<Aggregate>,
        /// By code position, from samples: the number of samples, and the processor time that they
        /// represent.
        on_cpu: Vec<Aggregate>,
    }
}

answer! {
    /// The message `Stack`.
    Stack {
        /// The key `id`.
        id: Option<u32>,
        /// Innermost first: "0x7f...", or "function (file:line)" of Python.
        frames: Vec<String>,
        /// The key `truncated`.
        truncated: Option<bool>,
        /// Innermost first; empty if the trace has no symbols.
        symbols: Vec<StackSymbol>,
        /// Modules of the frames without a symbol.
        modules: Vec<StackModule>,
        /// Indices of the frames that belong to the tracer, to the vendor's libraries, to the C
        /// library's start or to the interpreter. Text output omits these frames.
        hidden: Vec<u32>,
    }
}

answer! {
    /// The module of a frame.
    StackModule {
        /// Index in `frames`, from 0.
        frame: Option<u32>,
        /// Path of the file that is mapped at the frame's address.
        path: Option<String>,
        /// Address in the file's own numbering.
        offset: Option<u64>,
    }
}

answer! {
    /// A function on a stack. A frame has several functions if the compiler inlined some of them.
    StackSymbol {
        /// Index in `frames`, from 0.
        frame: Option<u32>,
        /// absent: unknown.
        function: Option<String>,
        /// The key `file`.
        file: Option<String>,
        /// The key `line`.
        line: Option<u32>,
        /// The function is inlined into the function of the next symbol.
        inlined: Option<bool>,
        /// Path of the file that is mapped at the frame's address.
        module: Option<String>,
        /// Address in the file's own numbering.
        offset: Option<u64>,
        /// A host stub that nvcc generated for a kernel: text output omits it.
        hidden: Option<bool>,
    }
}

answer! {
    /// An operation whose call had begun at the instant, and that had not ended.
    StateOperation {
        /// "running"; "waiting" (first in its stream, waits for something else); "queued" (behind
        /// other operations in its stream); "dispatch_pending" (no known wait: the operation is on
        /// its way to the device); "unknown" (the device row is missing).
        state: Option<String>,
        /// The key `since_ns`.
        since_ns: Option<u64>,
        /// What the operation waits for: "stream", "event", "legacy_stream", "host" (a host
        /// function in the stream, or a value in memory; waits_for_op_id is the call that queued
        /// it), or "engine" (inferred from the operations that ran at the instant).
        waits_for: Option<String>,
        /// The key `waits_for_op_id`.
        waits_for_op_id: Option<u64>,
        /// The vendor's handle.
        waits_for_event: Option<u64>,
        /// "kernel", "memcpy", "memset"; "api": the device row is missing.
        type_: Option<String>,
        /// The key `name`.
        name: Option<String>,
        /// The key `session`.
        session: Option<u32>,
        /// The key `op_id`.
        op_id: Option<u64>,
        /// Start of the host's call; absent: not recorded.
        call_ns: Option<u64>,
        /// The key `call_end_ns`.
        call_end_ns: Option<u64>,
        /// Start of the operation on the device; absent: not recorded.
        start_ns: Option<u64>,
        /// The key `end_ns`.
        end_ns: Option<u64>,
        /// The key `device`.
        device: Option<u32>,
        /// The key `context`.
        context: Option<u32>,
        /// The key `stream`.
        stream: Option<u32>,
        /// Thread that made the call.
        tid: Option<u32>,
        /// The key `thread_name`.
        thread_name: Option<String>,
        /// The key `grid_x`.
        grid_x: Option<u32>,
        /// The key `grid_y`.
        grid_y: Option<u32>,
        /// The key `grid_z`.
        grid_z: Option<u32>,
        /// The key `block_x`.
        block_x: Option<u32>,
        /// The key `block_y`.
        block_y: Option<u32>,
        /// The key `block_z`.
        block_z: Option<u32>,
        /// Copies and sets.
        bytes: Option<u64>,
        /// The key `unsure`.
        unsure: Vec<String>,
        /// Of the call.
        stack: Option<Stack>,
    }
}

answer! {
    /// A stream that had operations at the instant. Its state is that of its first operation.
    StateStream {
        /// The key `session`.
        session: Option<u32>,
        /// The key `device`.
        device: Option<u32>,
        /// The key `context`.
        context: Option<u32>,
        /// The key `stream`.
        stream: Option<u32>,
        /// The key `state`.
        state: Option<String>,
        /// Number of running operations.
        running: Option<u32>,
        /// Number of operations that had not begun.
        pending: Option<u32>,
    }
}

answer! {
    /// The message `StateDevice`.
    StateDevice {
        /// The key `session`.
        session: Option<u32>,
        /// The key `device`.
        device: Option<u32>,
        /// "running"; "waiting" (the device had operations, and none of them ran); "idle".
        state: Option<String>,
        /// Number of running kernels.
        kernels: Option<u32>,
        /// The key `copies`.
        copies: Option<u32>,
        /// The key `sets`.
        sets: Option<u32>,
        /// The key `pending`.
        pending: Option<u32>,
        /// The key `allocated_bytes`.
        allocated_bytes: Option<u64>,
    }
}

answer! {
    /// A thread that was in a call.
    StateThread {
        /// The key `session`.
        session: Option<u32>,
        /// The key `tid`.
        tid: Option<u32>,
        /// The key `thread_name`.
        thread_name: Option<String>,
        /// The key `call`.
        call: Option<String>,
        /// The key `op_id`.
        op_id: Option<u64>,
        /// The key `since_ns`.
        since_ns: Option<u64>,
        /// The key `until_ns`.
        until_ns: Option<u64>,
        /// Kind of wait, such as "stream_synchronize"; absent: the thread did not wait.
        blocked: Option<String>,
        /// The key `blocked_stream`.
        blocked_stream: Option<u32>,
        /// Of the operations that the call waits for, the one that ends last. Absent: none, or
        /// unknown (always unknown for an event).
        waits_for_op_id: Option<u64>,
    }
}

answer! {
    /// The message `StateAllocation`.
    StateAllocation {
        /// The key `session`.
        session: Option<u32>,
        /// The key `address`.
        address: Option<u64>,
        /// The key `bytes`.
        bytes: Option<u64>,
        /// "device", "pinned", "managed", ...
        kind: Option<String>,
        /// The key `device`.
        device: Option<u32>,
        /// Stream-ordered allocations: the stream of the allocation.
        stream: Option<u32>,
        /// The key `pool`.
        pool: Option<u64>,
        /// The key `op_id`.
        op_id: Option<u64>,
        /// The key `since_ns`.
        since_ns: Option<u64>,
    }
}

answer! {
    /// An event that was recorded in a stream, and whose record the stream had not reached at the
    /// instant.
    StateEvent {
        /// The key `session`.
        session: Option<u32>,
        /// The vendor's handle.
        event: Option<u64>,
        /// The key `stream`.
        stream: Option<u32>,
        /// The key `recorded_ns`.
        recorded_ns: Option<u64>,
        /// The key `waits_for_op_id`.
        waits_for_op_id: Option<u64>,
        /// End of the operation waits_for_op_id. Absent: waits_for_op_id is a call that queued a
        /// host function or a wait for a value.
        due_ns: Option<u64>,
        /// "dependency": the record is behind host work in its stream, and the end of that work is
        /// not recorded.
        unsure: Vec<String>,
    }
}

answer! {
    /// `tsctl state --json`.
    StateReport {
        /// The key `at_ns`.
        at_ns: Option<u64>,
        /// The key `devices`.
        devices: Vec<StateDevice>,
        /// The key `streams`.
        streams: Vec<StateStream>,
        /// Running ones first.
        operations: Vec<StateOperation>,
        /// The key `threads`.
        threads: Vec<StateThread>,
        /// The key `events`.
        events: Vec<StateEvent>,
        /// The key `allocations`.
        allocations: Vec<StateAllocation>,
        /// The key `allocated_bytes`.
        allocated_bytes: Option<u64>,
        /// Frees of addresses whose allocation is not in the trace.
        unknown_frees: Option<u64>,
        /// Number of rows that were read.
        rows: Option<u64>,
        /// Some blocks could not be read, and the report lacks their rows.
        damaged: Option<bool>,
        /// The trace ends before all its operations had ended.
        incomplete: Option<bool>,
        /// If no operation runs at the instant: the operation that ended last before it, and the
        /// first one that starts after it.
        before: Option<StateNear>,
        /// The key `after`.
        after: Option<StateNear>,
    }
}

answer! {
    /// The message `StateNear`.
    StateNear {
        /// "kernel", "memcpy", "memset".
        type_: Option<String>,
        /// The key `name`.
        name: Option<String>,
        /// The key `session`.
        session: Option<u32>,
        /// The key `op_id`.
        op_id: Option<u64>,
        /// The key `device`.
        device: Option<u32>,
        /// The key `stream`.
        stream: Option<u32>,
        /// The key `start_ns`.
        start_ns: Option<u64>,
        /// The key `end_ns`.
        end_ns: Option<u64>,
    }
}

answer! {
    /// Memory of one kind, device and pool, and of one stream if the allocation was stream-ordered.
    MemoryGroup {
        /// The key `session`.
        session: Option<u32>,
        /// The key `device`.
        device: Option<u32>,
        /// "device", "pinned", "managed", ...
        kind: Option<String>,
        /// The key `pool`.
        pool: Option<u64>,
        /// The key `stream`.
        stream: Option<u32>,
        /// The key `allocs`.
        allocs: Option<u64>,
        /// The key `frees`.
        frees: Option<u64>,
        /// Sum of all allocations.
        total_bytes: Option<u64>,
        /// The key `peak_bytes`.
        peak_bytes: Option<u64>,
        /// The key `peak_ns`.
        peak_ns: Option<u64>,
        /// At the end.
        live_bytes: Option<u64>,
    }
}

answer! {
    /// The message `MemoryHolder`.
    MemoryHolder {
        /// The key `session`.
        session: Option<u32>,
        /// The key `address`.
        address: Option<u64>,
        /// The key `bytes`.
        bytes: Option<u64>,
        /// The key `kind`.
        kind: Option<String>,
        /// The key `device`.
        device: Option<u32>,
        /// The key `start_ns`.
        start_ns: Option<u64>,
        /// The key `op_id`.
        op_id: Option<u64>,
        /// Thread that allocated the memory; absent: the call was not recorded.
        tid: Option<u32>,
        /// The key `thread_name`.
        thread_name: Option<String>,
        /// The key `stack`.
        stack: Option<Stack>,
    }
}

answer! {
    /// The largest live memory between start_ns and the start_ns of the next point.
    MemoryPoint {
        /// The key `start_ns`.
        start_ns: Option<u64>,
        /// The key `bytes`.
        bytes: Option<u64>,
    }
}

answer! {
    /// The live memory of one device over time.
    MemoryCurve {
        /// Session of the first process that used the device.
        session: Option<u32>,
        /// absent: memory of an unknown device.
        device: Option<u32>,
        /// The key `name`.
        name: Option<String>,
        /// Memory of the device; absent: unknown.
        capacity_bytes: Option<u64>,
        /// The key `peak_bytes`.
        peak_bytes: Option<u64>,
        /// The key `peak_ns`.
        peak_ns: Option<u64>,
        /// At the end.
        live_bytes: Option<u64>,
        /// The key `points`.
        points: Vec<MemoryPoint>,
    }
}

answer! {
    /// The message `MemoryCurves`.
    MemoryCurves {
        /// End of the last points.
        end_ns: Option<u64>,
        /// At most 64.
        devices: Vec<MemoryCurve>,
        /// Allocations and frees on further devices.
        omitted: Option<u64>,
    }
}

answer! {
    /// The message `MisuseCall`.
    MisuseCall {
        /// absent: the call was not recorded.
        name: Option<String>,
        /// The key `op_id`.
        op_id: Option<u64>,
        /// The key `start_ns`.
        start_ns: Option<u64>,
        /// The key `tid`.
        tid: Option<u32>,
        /// The key `thread_name`.
        thread_name: Option<String>,
        /// Set if the call failed.
        error: Option<String>,
        /// The key `stack`.
        stack: Option<Stack>,
    }
}

answer! {
    /// A call that used memory after it had been freed.
    MemoryMisuse {
        /// "read_after_free", "write_after_free", "double_free".
        kind: Option<String>,
        /// The key `session`.
        session: Option<u32>,
        /// Address that the call used.
        address: Option<u64>,
        /// Absent for a free.
        bytes: Option<u64>,
        /// Start of the freed allocation.
        block: Option<u64>,
        /// The key `block_bytes`.
        block_bytes: Option<u64>,
        /// Kind of the memory: "device", "managed", ...
        memory: Option<String>,
        /// The key `device`.
        device: Option<u32>,
        /// The key `use`.
        use_: Option<MisuseCall>,
        /// The key `freed`.
        freed: Option<MisuseCall>,
        /// absent: not recorded.
        allocated: Option<MisuseCall>,
        /// "call" (a call was not recorded, so the order is that of the ids), "device" (no row
        /// states which allocation had the address then), "mapped" (the application maps memory
        /// itself, so other memory may lie at the address), "lost" (records were lost, at an
        /// unknown time).
        unsure: Vec<String>,
    }
}

answer! {
    /// A pool of the stream-ordered allocator.
    PoolUse {
        /// The key `session`.
        session: Option<u32>,
        /// The key `device`.
        device: Option<u32>,
        /// The key `pool`.
        pool: Option<u64>,
        /// Largest amount of the device's memory that the pool held.
        peak_bytes: Option<u64>,
        /// The key `peak_ns`.
        peak_ns: Option<u64>,
        /// The key `peak_used_bytes`.
        peak_used_bytes: Option<u64>,
        /// The key `growths`.
        growths: Option<u64>,
        /// Number of growths for which the pool's unused memory was large enough in total, but not
        /// in one piece.
        growths_with_room: Option<u64>,
        /// Of these growths, the one with the most unused memory: its time, the unused bytes, the
        /// requested bytes, and the known holes. A hole is memory that was allocated from the pool
        /// and freed; adjacent holes are joined.
        wasted_ns: Option<u64>,
        /// The key `wasted_bytes`.
        wasted_bytes: Option<u64>,
        /// The key `asked_bytes`.
        asked_bytes: Option<u64>,
        /// The key `holes`.
        holes: Option<u64>,
        /// The key `hole_bytes`.
        hole_bytes: Option<u64>,
        /// The key `largest_hole_bytes`.
        largest_hole_bytes: Option<u64>,
    }
}

answer! {
    /// Launches of one kernel that ran while an allocation was live.
    MemoryKernel {
        /// The key `name`.
        name: Option<String>,
        /// The key `count`.
        count: Option<u64>,
        /// The key `ns`.
        ns: Option<u64>,
    }
}

answer! {
    /// An allocation that covered the requested address. The arguments of kernels are not recorded,
    /// so it is unknown whether a kernel used the allocation.
    MemoryAlive {
        /// The key `session`.
        session: Option<u32>,
        /// The key `address`.
        address: Option<u64>,
        /// The key `bytes`.
        bytes: Option<u64>,
        /// The key `kind`.
        kind: Option<String>,
        /// The key `device`.
        device: Option<u32>,
        /// The key `start_ns`.
        start_ns: Option<u64>,
        /// absent: it was not freed.
        end_ns: Option<u64>,
        /// The key `op_id`.
        op_id: Option<u64>,
        /// The kernels with the most time; kernel_count counts all launches.
        kernels: Vec<MemoryKernel>,
        /// The key `kernel_count`.
        kernel_count: Option<u64>,
        /// The key `kernel_ns`.
        kernel_ns: Option<u64>,
    }
}

answer! {
    /// Allocations of one size from one stack.
    MemorySite {
        /// The key `count`.
        count: Option<u64>,
        /// Size of each allocation.
        bytes: Option<u64>,
        /// The key `total_bytes`.
        total_bytes: Option<u64>,
        /// "make_leak (app.py:12)"; absent: no stack was recorded.
        frame: Option<String>,
        /// The key `kind`.
        kind: Option<String>,
        /// The key `device`.
        device: Option<u32>,
        /// The key `session`.
        session: Option<u32>,
        /// The frames that called `frame`, innermost first, at most 2.
        callers: Vec<String>,
    }
}

answer! {
    /// `tsctl memory --json`. Peak and points are of memory on devices, of all sessions together.
    MemoryReport {
        /// The key `peak_bytes`.
        peak_bytes: Option<u64>,
        /// The key `peak_ns`.
        peak_ns: Option<u64>,
        /// The largest allocations; peak_allocations is the number of all.
        at_peak: Vec<MemoryHolder>,
        /// The key `peak_allocations`.
        peak_allocations: Option<u64>,
        /// The largest allocations, without variables of modules; never_freed_allocations is the
        /// number of all.
        never_freed: Vec<MemoryHolder>,
        /// The key `never_freed_allocations`.
        never_freed_allocations: Option<u64>,
        /// The key `never_freed_bytes`.
        never_freed_bytes: Option<u64>,
        /// The key `groups`.
        groups: Vec<MemoryGroup>,
        /// The key `points`.
        points: Vec<MemoryPoint>,
        /// Frees of addresses whose allocation is not in the trace.
        unknown_frees: Option<u64>,
        /// Some blocks could not be read, and the report lacks their rows.
        damaged: Option<bool>,
        /// The first ones; misuse_count is the number of all.
        misuses: Vec<MemoryMisuse>,
        /// The key `misuse_count`.
        misuse_count: Option<u64>,
        /// Number of copies, sets and failed frees whose addresses are recorded. The addresses that
        /// kernels and graphs use are not recorded.
        accesses: Option<u64>,
        /// Failed frees of addresses that have no recorded allocation or free.
        failed_unknown_frees: Option<u64>,
        /// The key `pools`.
        pools: Vec<PoolUse>,
        /// Set if the query has an address: the first allocations there; alive_count is the number
        /// of all.
        alive: Vec<MemoryAlive>,
        /// The key `alive_count`.
        alive_count: Option<u64>,
        /// Frees that were not recorded: an allocation got an address that was still live.
        lost_frees: Option<u64>,
        /// In the order of their first calls, at most 1024.
        errors: Vec<CallError>,
        /// The key `failed_calls`.
        failed_calls: Option<u64>,
        /// The 65536 largest allocations, grouped by the stack that allocated them and by size;
        /// most bytes first, at most 100 groups each.
        peak_sites: Vec<MemorySite>,
        /// The key `never_freed_sites`.
        never_freed_sites: Vec<MemorySite>,
        /// Memory of the devices that have allocations; absent: unknown.
        capacity_bytes: Option<u64>,
        /// Only if the query asks for points.
        curves: Option<MemoryCurves>,
    }
}

answer! {
    /// A part of a gap's time; `cause` determines which other fields are set.
    GapPart {
        /// "running" (the thread ran its own code), "host" (the same, or the thread was off its
        /// CPU: scheduling was not recorded), "off_cpu", "page_fault", "syscall", "call" (a call of
        /// the vendor's library), "dependency" (the operation waited for an operation of another
        /// stream), "device" (an operation of another stream occupied the engine; inferred),
        /// "graph" (time between nodes of one launch), "dispatch" (the operation was on its way to
        /// the device), "reclaim" (the thread freed memory to get some), "unknown". In waker_did
        /// also "block_io" (the thread waited for its own I/O on a disk).
        cause: Option<String>,
        /// The key `ns`.
        ns: Option<u64>,
        /// Number of intervals, faults or calls.
        count: Option<u64>,
        /// off_cpu: part of `ns` in which the thread was runnable, but had no CPU.
        runnable_ns: Option<u64>,
        /// The key `session`.
        session: Option<u32>,
        /// The thread that caused the part.
        tid: Option<u32>,
        /// The key `thread_name`.
        thread_name: Option<String>,
        /// off_cpu: as in OffCpuRow; reclaim: the kind of PressureRow.
        reason: Option<String>,
        /// The system call that the thread was in.
        syscall: Option<String>,
        /// File of that system call; with `function`, the path of its source file.
        file: Option<String>,
        /// The key `waker_context`.
        waker_context: Option<String>,
        /// Thread that woke this one; after a preemption, the thread that ran instead.
        waker_tid: Option<u32>,
        /// If waker_tid is absent: "another user's thread".
        waker: Option<String>,
        /// page_fault: as in PageFaultRow.
        fault: Option<String>,
        /// The key `memory`.
        memory: Option<String>,
        /// The vendor's function that the thread was in.
        call: Option<String>,
        /// Dependency, device: the other operation; absent in the sums over all gaps.
        op_id: Option<u64>,
        /// Dependency by an event: the event's handle; absent in the sums over all gaps.
        event: Option<u64>,
        /// Dependency, device: stream of the other operation.
        stream: Option<u32>,
        /// off_cpu: the work of the waker, or of a disk, during this part. It explains the part's
        /// time and does not add to it.
        waker_did: Vec<GapPart>,
        /// block_io.
        disk: Option<String>,
        /// block_io: as in BlockIoRow.
        operation: Option<String>,
        /// block_io: part of `ns` in which the I/O was in the disk's queue.
        queued_ns: Option<u64>,
        /// Running, host: the code that ran, from samples: the innermost frame that belongs to the
        /// program itself, with one part for each function. `ns` is the function's share of the
        /// time, by samples. If the function is unknown, the file of the library.
        function: Option<String>,
        /// Line in `file` with the most samples of this function.
        line: Option<u32>,
        /// Number of samples of this part.
        samples: Option<u64>,
    }
}

answer! {
    /// The time in which a stream had no running operation: from the end of one operation
    /// (`before_op_id`) to the start of the next one.
    Gap {
        /// The key `start_ns`.
        start_ns: Option<u64>,
        /// The key `end_ns`.
        end_ns: Option<u64>,
        /// The key `session`.
        session: Option<u32>,
        /// The key `device`.
        device: Option<u32>,
        /// The key `context`.
        context: Option<u32>,
        /// The key `stream`.
        stream: Option<u32>,
        /// The key `before_op_id`.
        before_op_id: Option<u64>,
        /// The key `op_id`.
        op_id: Option<u64>,
        /// Type of the operation that ends the gap: "kernel", "memcpy", "memset".
        type_: Option<String>,
        /// The key `name`.
        name: Option<String>,
        /// Call that queued the operation.
        call: Option<String>,
        /// The key `call_ns`.
        call_ns: Option<u64>,
        /// The key `call_end_ns`.
        call_end_ns: Option<u64>,
        /// The key `tid`.
        tid: Option<u32>,
        /// The key `thread_name`.
        thread_name: Option<String>,
        /// Longest first; their sum is the gap.
        parts: Vec<GapPart>,
        /// There were too many parts: some are merged by cause, or lack an explanation.
        truncated: Option<bool>,
        /// As in StateOperation, or "lost": kernel events were lost.
        unsure: Vec<String>,
        /// Stack of the call.
        stack: Option<Stack>,
    }
}

answer! {
    /// In a window, the fields but the gaps are about the stream's operations that touch the
    /// window, whole. Streams without such an operation and without a gap are not listed.
    GapStream {
        /// The key `session`.
        session: Option<u32>,
        /// The key `device`.
        device: Option<u32>,
        /// The key `context`.
        context: Option<u32>,
        /// The key `stream`.
        stream: Option<u32>,
        /// The key `operations`.
        operations: Option<u64>,
        /// From the start of the first operation to the end of the last one.
        span_ns: Option<u64>,
        /// Part of span_ns in which at least one operation ran.
        busy_ns: Option<u64>,
        /// Gaps of at least least_ns.
        gaps: Option<u64>,
        /// The key `gaps_ns`.
        gaps_ns: Option<u64>,
        /// Sums of these gaps by cause.
        causes: Vec<GapPart>,
    }
}

answer! {
    /// Uncertain or contradictory facts of the trace. A count is absent if it is 0.
    Doubts {
        /// Number of operations that were examined.
        operations: Option<u64>,
        /// Operations whose call was not recorded, or began after the operation.
        without_call: Option<u64>,
        /// Operations that began before an operation ended that they had to wait for.
        overlapping: Option<u64>,
        /// Operations that ended before they began; their duration counts as 0.
        backwards: Option<u64>,
        /// Operations with incomplete dependencies, or whose stream is of unknown kind.
        not_all_known: Option<u64>,
        /// Calls whose device rows are missing.
        unanswered: Option<u64>,
        /// Calls that have the operation id of another call.
        ids_twice: Option<u64>,
        /// Operations that ended 146 years or more after their host's start: a clock or a row is
        /// wrong.
        at_no_time: Option<u64>,
    }
}

answer! {
    /// `tsctl gaps --json`. With `from` or `to`, a gap counts and is listed if it overlaps \[from,
    /// to): it starts before `to`, and ends after `from`. It counts whole. Each listed gap is the
    /// one that the answer about the whole trace lists, if no two intervals of one kind overlap on
    /// one thread: the same times, parts and marks. The sums are those of the gaps that count. The
    /// doubts are those of operations that touch the window or end a gap in it, without the counts
    /// of calls.
    GapsReport {
        /// Shorter gaps are not counted.
        least_ns: Option<u64>,
        /// The key `gaps`.
        gaps: Option<u64>,
        /// The key `gaps_ns`.
        gaps_ns: Option<u64>,
        /// The key `streams`.
        streams: Vec<GapStream>,
        /// Sums over all gaps; gaps of several streams at the same time count each.
        parts: Vec<GapPart>,
        /// The key `longest`.
        longest: Vec<Gap>,
        /// `parts` is truncated, as in Gap.
        truncated: Option<bool>,
        /// Number of gaps that were not explained, because there were too many; the shortest ones.
        not_looked_at: Option<u64>,
        /// The key `not_looked_at_ns`.
        not_looked_at_ns: Option<u64>,
        /// Some blocks could not be read, and the report lacks their rows.
        damaged: Option<bool>,
        /// The key `doubts`.
        doubts: Option<Doubts>,
    }
}

answer! {
    /// `tsctl graph --format json`: one object per line, each with its `type`. A node comes after
    /// the nodes that it waited for.
    GraphNode {
        /// "node".
        type_: Option<String>,
        /// Number of the node.
        node: Option<u32>,
        /// "operation", "call", or "return" (the end of a call that waited).
        kind: Option<String>,
        /// Type of an operation: "kernel", "memcpy", "memset".
        of: Option<String>,
        /// The key `name`.
        name: Option<String>,
        /// The key `session`.
        session: Option<u32>,
        /// The key `op_id`.
        op_id: Option<u64>,
        /// The key `start_ns`.
        start_ns: Option<u64>,
        /// The key `end_ns`.
        end_ns: Option<u64>,
        /// How much later the node could have ended without delaying the end of the critical path.
        slack_ns: Option<u64>,
        /// The key `critical`.
        critical: Option<bool>,
        /// Thread that made the call.
        tid: Option<u32>,
        /// The key `thread_name`.
        thread_name: Option<String>,
        /// The key `device`.
        device: Option<u32>,
        /// The key `context`.
        context: Option<u32>,
        /// The key `stream`.
        stream: Option<u32>,
        /// As in StateOperation.
        unsure: Vec<String>,
    }
}

answer! {
    /// The message `GraphEdge`.
    GraphEdge {
        /// "edge".
        type_: Option<String>,
        /// Numbers of nodes.
        from: Option<u32>,
        /// The key `to`.
        to: Option<u32>,
        /// "stream", "event", "legacy", "launch", "host", "sync", "engine".
        kind: Option<String>,
        /// `to` could not continue before this time.
        release_ns: Option<u64>,
        /// Handle of the event.
        event: Option<u64>,
        /// Of all edges into `to`, this one was released last.
        binding: Option<bool>,
        /// The key `inferred`.
        inferred: Option<bool>,
    }
}

answer! {
    /// One step of the critical path. Steps are in order of time, and each step begins at the end
    /// of the step before it.
    GraphStep {
        /// "step".
        type_: Option<String>,
        /// "compute", "copy", "launch_latency" (from the call to the operation's start), "wait"
        /// (from the end of the operation that was waited for to the start), "call" (the host was
        /// in a call and did not wait), "host_gap" (the host was between two calls), "unknown".
        part: Option<String>,
        /// The key `start_ns`.
        start_ns: Option<u64>,
        /// The key `end_ns`.
        end_ns: Option<u64>,
        /// The key `node`.
        node: Option<u32>,
        /// The key `name`.
        name: Option<String>,
        /// The key `session`.
        session: Option<u32>,
        /// The key `op_id`.
        op_id: Option<u64>,
        /// The key `tid`.
        tid: Option<u32>,
        /// The key `device`.
        device: Option<u32>,
        /// The key `stream`.
        stream: Option<u32>,
    }
}

answer! {
    /// The message `GraphPart`.
    GraphPart {
        /// The key `part`.
        part: Option<String>,
        /// The key `ns`.
        ns: Option<u64>,
        /// The key `steps`.
        steps: Option<u64>,
    }
}

answer! {
    /// The message `GraphSummary`.
    GraphSummary {
        /// "summary".
        type_: Option<String>,
        /// The key `start_ns`.
        start_ns: Option<u64>,
        /// The key `end_ns`.
        end_ns: Option<u64>,
        /// The key `nodes`.
        nodes: Option<u64>,
        /// The key `edges`.
        edges: Option<u64>,
        /// Operations with incomplete dependencies.
        unsure: Option<u64>,
        /// Sums of the critical path.
        parts: Vec<GraphPart>,
        /// Some blocks could not be read, and the graph lacks their rows.
        damaged: Option<bool>,
        /// Doubts of the window, without missing calls: these may lie before the window.
        doubts: Option<Doubts>,
        /// The times of a virtual GPU come from its cost model, so they are not comparable to host
        /// times; absent: false.
        model_clock: Option<bool>,
    }
}

answer! {
    /// Upper bound of the occupancy of multiprocessors by kernels, computed from the launch
    /// configurations and the device's limits. It is not a measurement. Means are weighted by the
    /// kernels' durations.
    Occupancy {
        /// Resident warps / maximum of resident warps.
        share: Option<f64>,
        /// The key `share_min`.
        share_min: Option<f64>,
        /// The key `share_max`.
        share_max: Option<f64>,
        /// Blocks of a grid / blocks that fit on the device at once.
        waves: Option<f64>,
        /// Limit that keeps further blocks from being resident, for most of the time: "full"
        /// (none), "registers", "shared_memory", "block_size", "blocks" (the maximum number of
        /// blocks of a multiprocessor), "grid" (the grid has no more blocks).
        limit: Option<String>,
        /// Launches whose occupancy is unknown, because a value is not recorded or is impossible.
        unknown: Option<u64>,
    }
}

answer! {
    /// The message `TimelinePart`.
    TimelinePart {
        /// Part of the time in which kernels and sets ran.
        compute_ns: Option<u64>,
        /// The key `copy_ns`.
        copy_ns: Option<u64>,
    }
}

answer! {
    /// The message `TimelineParts`.
    TimelineParts {
        /// The key `parts`.
        parts: Vec<TimelinePart>,
    }
}

answer! {
    /// The message `TimelineStream`.
    TimelineStream {
        /// The key `session`.
        session: Option<u32>,
        /// The key `device`.
        device: Option<u32>,
        /// The key `context`.
        context: Option<u32>,
        /// The key `stream`.
        stream: Option<u32>,
        /// The application's name of the stream.
        name: Option<String>,
        /// The key `operations`.
        operations: Option<u64>,
        /// Time in which at least one operation ran.
        busy_ns: Option<u64>,
        /// The key `parts`.
        parts: Vec<TimelinePart>,
    }
}

answer! {
    /// The message `TimelineIdle`.
    TimelineIdle {
        /// "host" (no operation was queued), "dependency", "call" (the call that queued the
        /// operation had not returned), "dispatch" (the operation was on its way to the device),
        /// "end" (after the window's last operation), "unknown" (the call is not recorded).
        cause: Option<String>,
        /// The key `ns`.
        ns: Option<u64>,
    }
}

answer! {
    /// The message `TimelineDevice`.
    TimelineDevice {
        /// Session of the first process that used the device.
        session: Option<u32>,
        /// The key `device`.
        device: Option<u32>,
        /// The key `name`.
        name: Option<String>,
        /// The key `operations`.
        operations: Option<u64>,
        /// Time in which any operation ran.
        busy_ns: Option<u64>,
        /// Time in which kernels or sets ran.
        compute_ns: Option<u64>,
        /// The key `copy_ns`.
        copy_ns: Option<u64>,
        /// Time in which both compute and copies ran.
        overlap_ns: Option<u64>,
        /// The key `idle_ns`.
        idle_ns: Option<u64>,
        /// The key `idle`.
        idle: Vec<TimelineIdle>,
        /// Largest number of operations that ran at once.
        max_at_once: Option<u32>,
        /// First time of this number.
        max_at_once_ns: Option<u64>,
        /// Mean number of running operations, while any ran.
        mean_at_once: Option<f64>,
        /// The key `streams`.
        streams: Vec<TimelineStream>,
        /// Of kernels that began in the window.
        occupancy: Option<Occupancy>,
        /// Of all its streams; only if the query asks for them.
        parts: Option<TimelineParts>,
    }
}

answer! {
    /// `tsctl timeline --json`.
    TimelineReport {
        /// The key `start_ns`.
        start_ns: Option<u64>,
        /// The key `end_ns`.
        end_ns: Option<u64>,
        /// Length of each part of a stream.
        part_ns: Option<u64>,
        /// The key `devices`.
        devices: Vec<TimelineDevice>,
        /// Some blocks could not be read, and the report lacks their rows.
        damaged: Option<bool>,
        /// The key `clocks`.
        clocks: Option<ClockBounds>,
        /// The key `doubts`.
        doubts: Option<Doubts>,
    }
}

answer! {
    /// The message `AnalysisExample`.
    AnalysisExample {
        /// The key `count`.
        count: Option<u64>,
        /// The key `ns`.
        ns: Option<u64>,
        /// The key `bytes`.
        bytes: Option<u64>,
        /// The key `session`.
        session: Option<u32>,
        /// Stack of the calls; absent: unknown.
        stack: Option<Stack>,
    }
}

answer! {
    /// The message `AnalysisFinding`.
    AnalysisFinding {
        /// "tiny_copy", "pageable_copy", "redundant_sync", "legacy_stream" or "serialised_streams".
        /// The last one: a device has several streams, and two of them never had running operations
        /// at the same time, though operations waited for other streams. Its examples have the
        /// number and the duration of such waits, and `count` is the number of streams.
        finding: Option<String>,
        /// The key `count`.
        count: Option<u64>,
        /// Time of the operations; of redundant_sync, time of the waits.
        ns: Option<u64>,
        /// The key `bytes`.
        bytes: Option<u64>,
        /// The key `advice`.
        advice: Option<String>,
        /// The examples with the most time.
        examples: Vec<AnalysisExample>,
        /// Upper bound of the time that the program can save: the time of the found operations. For
        /// pageable copies half of it, because they are copied twice; for serialised streams the
        /// time that they waited for each other.
        gain_ns: Option<u64>,
    }
}

answer! {
    /// The message `AnalysisKernel`.
    AnalysisKernel {
        /// The key `name`.
        name: Option<String>,
        /// The key `count`.
        count: Option<u64>,
        /// The key `ns`.
        ns: Option<u64>,
        /// absent: unknown.
        occupancy: Option<Occupancy>,
        /// The most frequent first, at most 3; only in `tsctl analyze`.
        launched_by: Vec<LaunchSite>,
        /// Number of launch sites.
        launch_sites: Option<u64>,
    }
}

answer! {
    /// Code that the host ran, as in GapPart, of all threads together.
    AnalysisCode {
        /// The key `function`.
        function: Option<String>,
        /// The key `file`.
        file: Option<String>,
        /// The key `line`.
        line: Option<u32>,
        /// The key `ns`.
        ns: Option<u64>,
        /// The key `samples`.
        samples: Option<u64>,
    }
}

answer! {
    /// `tsctl analyze --json`.
    AnalysisReport {
        /// "compute_bound", "copy_bound" (the GPU was busy with this for four fifths of the time),
        /// "launch_bound" (the mean idle time per operation that the host caused is below 50 us),
        /// "host_bound" (this time is 50 us or more), "waiting" (for dependencies), "model_clock"
        /// (the host was late for a virtual GPU whose times come from its cost model, so the times
        /// are not comparable), "unknown".
        verdict: Option<String>,
        /// The key `start_ns`.
        start_ns: Option<u64>,
        /// The key `end_ns`.
        end_ns: Option<u64>,
        /// Without their streams.
        devices: Vec<TimelineDevice>,
        /// The kernels with the most time.
        kernels: Vec<AnalysisKernel>,
        /// Time of all kernels.
        kernels_ns: Option<u64>,
        /// Largest gain first.
        findings: Vec<AnalysisFinding>,
        /// Number of the host's waits for a device.
        syncs: Option<u64>,
        /// The key `syncs_ns`.
        syncs_ns: Option<u64>,
        /// Some blocks could not be read, and the report lacks their rows.
        damaged: Option<bool>,
        /// The key `clocks`.
        clocks: Option<ClockBounds>,
        /// Number of sessions that have only the host's calls; absent: none.
        host_half_only: Option<u32>,
        /// The key `doubts`.
        doubts: Option<Doubts>,
        /// In the order of their first calls, at most 1024.
        errors: Vec<CallError>,
        /// The key `failed_calls`.
        failed_calls: Option<u64>,
        /// host_bound: the code that the host ran in the gaps, from samples; longest first, at most
        /// --limit.
        host_code: Vec<AnalysisCode>,
        /// Time of all gaps of 10 us or more that the host caused, as in `tsctl gaps`.
        host_ns: Option<u64>,
        /// A virtual GPU timed kernels and did not compute them; absent: false.
        timed_kernels: Option<bool>,
    }
}

answer! {
    /// Durations over all runs of a side. A side is one of the two compared builds.
    DiffSide {
        /// The key `count`.
        count: Option<u64>,
        /// The key `total_ns`.
        total_ns: Option<u64>,
        /// The key `min_ns`.
        min_ns: Option<u64>,
        /// The key `median_ns`.
        median_ns: Option<u64>,
        /// The key `max_ns`.
        max_ns: Option<u64>,
    }
}

answer! {
    /// The message `DiffName`.
    DiffName {
        /// "kernel", "memcpy", "memset", "api".
        type_: Option<String>,
        /// Copies and sets: with the size class: "htod, 1 MiB to 2 MiB".
        name: Option<String>,
        /// "same", "slower", "faster", "gone", "new", "few" (too few durations for the test),
        /// "more" or "fewer" (launches), "config" (another launch configuration). With fewer than 5
        /// runs per side, a call is "slower" or "faster" only if its time changed by a factor of
        /// 10.
        verdict: Option<String>,
        /// The key `before`.
        before: Option<DiffSide>,
        /// The key `after`.
        after: Option<DiffSide>,
        /// P of the Mann-Whitney test, corrected for the number of names; absent: not tested.
        p: Option<f64>,
        /// Share of all pairs of one duration from each side in which the second one is longer;
        /// ties count half.
        slower_share: Option<f64>,
        /// Kernels: the most frequent launch configuration that only this side has.
        config_before: Option<LaunchConfig>,
        /// The key `config_after`.
        config_after: Option<LaunchConfig>,
    }
}

answer! {
    /// The message `LaunchConfig`.
    LaunchConfig {
        /// Blocks.
        grid_x: Option<u32>,
        /// The key `grid_y`.
        grid_y: Option<u32>,
        /// The key `grid_z`.
        grid_z: Option<u32>,
        /// Threads.
        block_x: Option<u32>,
        /// The key `block_y`.
        block_y: Option<u32>,
        /// The key `block_z`.
        block_z: Option<u32>,
        /// The key `cluster_x`.
        cluster_x: Option<u32>,
        /// The key `cluster_y`.
        cluster_y: Option<u32>,
        /// The key `cluster_z`.
        cluster_z: Option<u32>,
        /// The key `dynamic_shared_bytes`.
        dynamic_shared_bytes: Option<u32>,
    }
}

answer! {
    /// The message `DiffOperation`.
    DiffOperation {
        /// The key `type`.
        type_: Option<String>,
        /// The key `name`.
        name: Option<String>,
        /// As in the second trace, also the stream; as in the first trace if the second one lacks
        /// the operation.
        session: Option<u32>,
        /// The key `stream`.
        stream: Option<u32>,
        /// absent: only the other trace has the operation.
        op_id_before: Option<u64>,
        /// The key `op_id_after`.
        op_id_after: Option<u64>,
        /// The key `duration_before_ns`.
        duration_before_ns: Option<u64>,
        /// The key `duration_after_ns`.
        duration_after_ns: Option<u64>,
        /// Time since the end of the previous operation of its stream.
        wait_before_ns: Option<u64>,
        /// The key `wait_after_ns`.
        wait_after_ns: Option<u64>,
    }
}

answer! {
    /// Totals of a side: means over its runs. The aligned operations and the doubts are those of
    /// the first run.
    DiffTotal {
        /// Path of the first run's trace.
        path: Option<String>,
        /// The key `operations`.
        operations: Option<u64>,
        /// The key `operations_ns`.
        operations_ns: Option<u64>,
        /// From the start of the first operation to the end of the last one.
        span_ns: Option<u64>,
        /// Number of operations without a counterpart in the other trace.
        alone: Option<u64>,
        /// The key `not_aligned`.
        not_aligned: Option<u64>,
        /// Some blocks could not be read, and the comparison lacks their rows.
        damaged: Option<bool>,
        /// Doubts about operations of one stream.
        doubts: Option<Doubts>,
        /// The key `runs`.
        runs: Option<u32>,
        /// The key `kernels`.
        kernels: Option<u64>,
        /// The key `kernels_ns`.
        kernels_ns: Option<u64>,
        /// The key `copies`.
        copies: Option<u64>,
        /// The key `copies_ns`.
        copies_ns: Option<u64>,
        /// The key `sets`.
        sets: Option<u64>,
        /// The key `sets_ns`.
        sets_ns: Option<u64>,
        /// Time in which a device had a running operation: operations_ns without overlaps.
        busy_ns: Option<u64>,
    }
}

answer! {
    /// The message `DiffReport`.
    DiffReport {
        /// The key `before`.
        before: Option<DiffTotal>,
        /// The key `after`.
        after: Option<DiffTotal>,
        /// Number of pairs of operations.
        aligned: Option<u64>,
        /// Changed GPU work, changed calls, then the rest; in each group, the largest change of the
        /// total first.
        names: Vec<DiffName>,
        /// The key `first_difference`.
        first_difference: Option<DiffOperation>,
        /// Pairs with the largest increase of the time, waiting included.
        slower: Vec<DiffOperation>,
        /// "lost" or "gained": the overlapped share of work changed by 5 % or more, under the same
        /// conditions as "slower" and "faster" for host times.
        overlap: Option<String>,
        /// Times of GPU work are host times (virtual GPU with clock=host): with fewer than 5 runs
        /// per side, only a change by a factor of 10 counts.
        host_clock: Option<bool>,
    }
}

answer! {
    /// `tsctl replay --mode dry-run --json`: the selected operations that would run.
    ReplayPlan {
        /// The key `path`.
        path: Option<String>,
        /// Calls of the whole trace.
        calls: Option<u64>,
        /// The key `kernels`.
        kernels: Option<u64>,
        /// The key `copies`.
        copies: Option<u64>,
        /// The key `sets`.
        sets: Option<u64>,
        /// The key `copied_bytes`.
        copied_bytes: Option<u64>,
        /// From the first start to the last end of an operation.
        recorded_ns: Option<u64>,
        /// Sum of the durations of all operations.
        busy_ns: Option<u64>,
        /// Operations whose calls are missing.
        without_call: Option<u64>,
        /// Calls whose device rows are missing.
        without_device: Option<u64>,
        /// Operations with incomplete dependencies.
        unsure: Option<u64>,
        /// Some blocks could not be read, and the plan lacks their rows.
        damaged: Option<bool>,
    }
}

answer! {
    /// The message `ReplayStream`.
    ReplayStream {
        /// The key `session`.
        session: Option<u32>,
        /// The key `device`.
        device: Option<u32>,
        /// The key `context`.
        context: Option<u32>,
        /// The key `stream`.
        stream: Option<u32>,
        /// The key `operations`.
        operations: Option<u64>,
        /// Time in which at least one operation ran.
        busy_ns: Option<u64>,
    }
}

answer! {
    /// The message `ReplayEngine`.
    ReplayEngine {
        /// Session of the first process that used the engine.
        session: Option<u32>,
        /// The key `device`.
        device: Option<u32>,
        /// "compute", "htod", "dtoh", "dtod", "ptop", "memset".
        does: Vec<String>,
        /// Operations that can run at once; "compute": multiprocessors; absent: no known limit.
        capacity: Option<u32>,
        /// The key `operations`.
        operations: Option<u64>,
        /// Time in which at least one operation used the engine.
        busy_ns: Option<u64>,
        /// Sum over operations: duration * used capacity.
        used_ns: Option<u64>,
    }
}

answer! {
    /// One step of the critical path. Steps are in order of time, and each step begins at the end
    /// of the step before it. Times count from the start of the run.
    ReplayStep {
        /// As in GraphStep.
        part: Option<String>,
        /// The key `start_ns`.
        start_ns: Option<u64>,
        /// The key `end_ns`.
        end_ns: Option<u64>,
        /// The key `name`.
        name: Option<String>,
        /// The key `session`.
        session: Option<u32>,
        /// The key `op_id`.
        op_id: Option<u64>,
        /// The key `tid`.
        tid: Option<u32>,
        /// The key `thread_name`.
        thread_name: Option<String>,
        /// The key `stream`.
        stream: Option<u32>,
    }
}

answer! {
    /// The message `ReplayRun`.
    ReplayRun {
        /// From the first start of a call or an operation to the last end.
        makespan_ns: Option<u64>,
        /// The key `calls`.
        calls: Option<u64>,
        /// The key `operations`.
        operations: Option<u64>,
        /// The key `streams`.
        streams: Vec<ReplayStream>,
        /// The key `engines`.
        engines: Vec<ReplayEngine>,
        /// Sums of the critical path.
        parts: Vec<GraphPart>,
        /// The longest steps of the critical path.
        longest: Vec<ReplayStep>,
        /// The key `steps`.
        steps: Option<u64>,
        /// Operations and calls that ran although their wait could not end: they waited for each
        /// other in a circle, or for something that never came.
        let_go: Option<u64>,
    }
}

answer! {
    /// Uncertain facts of the trace; replay/emulate/emulate.h describes each count (struct
    /// ts_emulate_doubts).
    ReplayDoubts {
        /// The key `without_call`.
        without_call: Option<u64>,
        /// The key `without_device`.
        without_device: Option<u64>,
        /// The key `without_record`.
        without_record: Option<u64>,
        /// The key `started_before`.
        started_before: Option<u64>,
        /// The key `not_waited`.
        not_waited: Option<u64>,
        /// The key `backwards`.
        backwards: Option<u64>,
        /// The key `unexplained`.
        unexplained: Option<u64>,
        /// The key `threads_joined`.
        threads_joined: Option<u64>,
        /// The key `damaged`.
        damaged: Option<bool>,
    }
}

answer! {
    /// `tsctl replay --on emulate --json`.
    ReplayReport {
        /// The key `path`.
        path: Option<String>,
        /// The key `executor`.
        executor: Option<String>,
        /// Without a critical path; `tsctl graph` prints it.
        recorded: Option<ReplayRun>,
        /// The key `emulated`.
        emulated: Option<ReplayRun>,
        /// The key `what_if`.
        what_if: Vec<String>,
        /// Operations and calls that the edits changed.
        edited_things: Option<u64>,
        /// The key `edited`.
        edited: Option<ReplayRun>,
        /// The key `doubts`.
        doubts: Option<ReplayDoubts>,
    }
}

answer! {
    /// The result of `tsctl replay` of a capture.
    ReplayResult {
        /// The key `path`.
        path: Option<String>,
        /// "vgpu", "cuda".
        executor: Option<String>,
        /// The key `session`.
        session: Option<u32>,
        /// "same"; "nondeterministic" (replays differ from each other); "differs" (from the
        /// capture); "interrupted" (before the first replay ended); "unfinished" (it took too long,
        /// or a kernel waits for something that cannot come while the kernel runs alone).
        verdict: Option<String>,
        /// Operations that ran.
        operations: Option<u64>,
        /// Operations of the capture.
        captured: Option<u64>,
        /// The key `launches`.
        launches: Option<u64>,
        /// The key `copies`.
        copies: Option<u64>,
        /// The key `fills`.
        fills: Option<u64>,
        /// Results that were compared with those of the capture.
        results: Option<u64>,
        /// Results that the capture does not have.
        unchecked: Option<u64>,
        /// Allocations that were live at the end; their contents were compared between replays.
        allocations: Option<u64>,
        /// The key `replays`.
        replays: Option<u32>,
        /// Time of the first replay.
        elapsed_ns: Option<u64>,
        /// Operations that the capture names as unsupported.
        unsupported: Vec<String>,
        /// Reason why the capture ended early.
        ended: Option<String>,
        /// The capture lacks operations after the last one that ran.
        cut: Option<bool>,
        /// The key `difference`.
        difference: Option<ReplayDifference>,
        /// The key `refusal`.
        refusal: Option<ReplayRefusal>,
        /// `--check`: the requested checks: "races", "init", "bounds", "order".
        checked: Vec<String>,
        /// The key `findings`.
        findings: Vec<ReplayFinding>,
        /// Number of findings that are not listed.
        more_findings: Option<u64>,
        /// Number of accesses that could not be checked.
        unlooked: Option<u64>,
        /// With a selection: operations before it that ran to restore the state.
        before: Option<u64>,
        /// The key `compared_points`.
        compared_points: Option<u64>,
        /// Of the first replay, at most --limit.
        points: Vec<ReplayPoint>,
        /// `--schedules`: number of orders that were tried.
        schedules: Option<u32>,
        /// The key `first_seed`.
        first_seed: Option<u64>,
        /// Number of these orders whose time limit ended them.
        unfinished: Option<u32>,
        /// The refusal is a kernel's fault, and the captured program ended by the same fault.
        faulted_as_captured: Option<bool>,
        /// Further orders were not tried, because the time limit was reached.
        time_is_up: Option<bool>,
        /// If a result depends on the order: the value for `--seed` that repeats it.
        seed: Option<String>,
        /// Without the last decision, the results equal those of the default order; absent: fewer
        /// decisions may be enough.
        smallest: Option<bool>,
        /// At most 64.
        decisions: Vec<ReplayDecision>,
        /// The replay was interrupted; the result has the findings up to then.
        interrupted: Option<bool>,
        /// On a real device: the device's name and the driver's version.
        device: Option<String>,
        /// Differences from the captured run: memory at other addresses, and the consequences.
        notes: Vec<String>,
        /// Number of notes that are not listed.
        more_notes: Option<u64>,
    }
}

answer! {
    /// A decision: a place where a schedule differs from the default order.
    ReplayDecision {
        /// The key `number`.
        number: Option<u64>,
        /// "held": an operation runs later than in the default order; "blocks", "turn", "lanes":
        /// the order of a kernel's threads differs.
        kind: Option<String>,
        /// Sequence number of the operation.
        sequence: Option<u64>,
        /// The key `op_id`.
        op_id: Option<u64>,
        /// Kind of the operation.
        operation: Option<String>,
        /// Name of the launched kernel, demangled.
        name: Option<String>,
        /// held: sequence numbers of the first and the last of the later operations that ran before
        /// it.
        first_before: Option<u64>,
        /// The key `last_before`.
        last_before: Option<u64>,
        /// The block that ran; blocks: the first block that ran.
        block: Option<u64>,
        /// The key `warp`.
        warp: Option<u32>,
        /// Line of the PTX text at which the warp continued.
        line: Option<u32>,
        /// Maximum number of instructions that the warp then ran.
        instructions: Option<u32>,
        /// lanes: the lane whose atomic ran first.
        lane: Option<u32>,
        /// The block that runs in the default order.
        instead_block: Option<u64>,
        /// The key `instead_warp`.
        instead_warp: Option<u32>,
        /// The key `instead_line`.
        instead_line: Option<u32>,
        /// The key `instead_lane`.
        instead_lane: Option<u32>,
        /// The operation.
        done: Option<ReplaySide>,
        /// held: the operation first_before.
        first_done: Option<ReplaySide>,
        /// held: the operation last_before.
        last_done: Option<ReplaySide>,
        /// Ways to fix the order in the program; each of them is enough.
        remedies: Vec<String>,
    }
}

answer! {
    /// The state of memory after an operation.
    ReplayPoint {
        /// The key `sequence`.
        sequence: Option<u64>,
        /// The key `op_id`.
        op_id: Option<u64>,
        /// The key `bytes`.
        bytes: Option<u64>,
        /// Digest of addresses and contents, 32 digits; equal on all machines.
        digest: Option<String>,
    }
}

answer! {
    /// A finding of `--check`. Each pair of instructions, or of operations, is reported once.
    ReplayFinding {
        /// "race", "unwritten", "out-of-bounds", "stray", "unordered" (two operations),
        /// "host-changed".
        kind: Option<String>,
        /// "global", or "shared" (the address is an offset in the block's shared memory).
        space: Option<String>,
        /// Demangled; absent: the finding is about operations.
        kernel: Option<String>,
        /// The key `address`.
        address: Option<u64>,
        /// The key `bytes`.
        bytes: Option<u64>,
        /// The allocation that has the address, or the nearest one.
        allocation: Option<u64>,
        /// The key `allocation_bytes`.
        allocation_bytes: Option<u64>,
        /// The key `times`.
        times: Option<u64>,
        /// The key `access`.
        access: Option<ReplaySide>,
        /// The earlier access that conflicts with `access`.
        earlier: Option<ReplaySide>,
        /// Ways to order the two accesses; each of them is enough.
        remedies: Vec<String>,
        /// The call that allocated the memory.
        allocation_op_id: Option<u64>,
        /// If the memory is a module's variable and the program requested its address: its name.
        allocation_name: Option<String>,
    }
}

answer! {
    /// The message `ReplaySide`.
    ReplaySide {
        /// The key `sequence`.
        sequence: Option<u64>,
        /// The key `op_id`.
        op_id: Option<u64>,
        /// Kind of the operation.
        kind: Option<String>,
        /// Name of the launched kernel, demangled.
        name: Option<String>,
        /// The key `stream_handle`.
        stream_handle: Option<u64>,
        /// "read", "write", "atomic".
        access: Option<String>,
        /// Demangled; this field and the following ones are of a kernel's thread.
        function: Option<String>,
        /// Line of the PTX text.
        line: Option<u32>,
        /// The key `source_file`.
        source_file: Option<String>,
        /// The key `source_line`.
        source_line: Option<u32>,
        /// The key `block`.
        block: Vec<u32>,
        /// The key `thread`.
        thread: Vec<u32>,
        /// Stack of the call that queued the operation.
        stack: Option<Stack>,
        /// Number of the stream, as in rows.
        stream: Option<u32>,
        /// "cudaLaunchKernel".
        call: Option<String>,
        /// The frame that called: "main (app.cu:49)".
        site: Option<String>,
    }
}

answer! {
    /// The first difference that was found.
    ReplayDifference {
        /// What the replay differs from: "capture", "replay" (the first replay), "schedule" (the
        /// default order).
        from: Option<String>,
        /// Sequence number of the operation that copied the data to the host; absent: memory at the
        /// end.
        sequence: Option<u64>,
        /// The key `op_id`.
        op_id: Option<u64>,
        /// Device address of the first byte that differs, if it is known.
        address: Option<u64>,
        /// Offset of that byte in the copied data.
        offset: Option<u64>,
        /// Bytes of the copied data.
        bytes: Option<u64>,
        /// Some bytes from that byte on, in hex.
        expected: Option<String>,
        /// The key `found`.
        found: Option<String>,
        /// Stack of the call that queued the operation.
        stack: Option<Stack>,
        /// The difference is in memory after the operation, or at the end; false: in the data that
        /// was copied to the host.
        in_memory: Option<bool>,
        /// The allocation that has the address.
        buffer_address: Option<u64>,
        /// The key `buffer_bytes`.
        buffer_bytes: Option<u64>,
        /// Offset of the address in the allocation.
        buffer_offset: Option<u64>,
        /// The call that allocated the memory.
        buffer_op_id: Option<u64>,
        /// Name, if the memory is a module's variable.
        buffer_name: Option<String>,
        /// The operation.
        operation: Option<ReplaySide>,
        /// The first element that differs, if a kernel's signature gives the type. Otherwise none
        /// of these fields is set. "float", also for float4.
        element_type: Option<String>,
        /// Size of that type.
        element_bytes: Option<u32>,
        /// Index from the address that the kernel's pointer has.
        element_index: Option<u64>,
        /// Component of a vector: "x" to "w".
        element_part: Option<String>,
        /// "2.0".
        expected_value: Option<String>,
        /// "1.0".
        found_value: Option<String>,
        /// The launch whose parameter points to the memory.
        typed_by: Option<ReplaySide>,
        /// Number of this parameter, from 1.
        parameter: Option<u32>,
    }
}

answer! {
    /// An operation that could not run. The replay ends at it.
    ReplayRefusal {
        /// The key `sequence`.
        sequence: Option<u64>,
        /// The key `op_id`.
        op_id: Option<u64>,
        /// The key `kind`.
        kind: Option<String>,
        /// The key `why`.
        why: Option<String>,
        /// The key `stack`.
        stack: Option<Stack>,
        /// The key `operation`.
        operation: Option<ReplaySide>,
    }
}

answer! {
    /// The current activity of a replay.
    ReplayProgress {
        /// "reading", "emulating", "replaying", "comparing", "ordering".
        doing: Option<String>,
        /// The key `session`.
        session: Option<u32>,
        /// Number of the current replay, from 1.
        replay: Option<u32>,
        /// Number of operations; emulation: nanoseconds of virtual time; reading: rows.
        done: Option<u64>,
        /// The final value of `done`; absent: unknown.
        all: Option<u64>,
        /// The operation that runs now.
        op_id: Option<u64>,
        /// Kind of that operation, or the name of its kernel.
        operation: Option<String>,
    }
}

answer! {
    /// An answer to a replay query: its progress or its result. One field group is set at a time.
    ReplayAnswer {
        /// The key `progress`.
        progress: Option<ReplayProgress>,
        /// The key `emulated`.
        emulated: Option<ReplayReport>,
        /// The key `plan`.
        plan: Option<ReplayPlan>,
        /// One answer for each captured session.
        result: Option<ReplayResult>,
        /// The key `capture_plan`.
        capture_plan: Option<CapturePlan>,
        /// Reason for the lack of a result, or a warning beside a result.
        complaint: Option<String>,
        /// true: the complaint is the reason for the lack of a result.
        failed: Option<bool>,
    }
}

answer! {
    /// `tsctl replay --mode dry-run` of a capture.
    CapturePlan {
        /// The key `path`.
        path: Option<String>,
        /// The key `session`.
        session: Option<u32>,
        /// The key `operations`.
        operations: Option<u64>,
        /// The key `launches`.
        launches: Option<u64>,
        /// The key `copies`.
        copies: Option<u64>,
        /// The key `fills`.
        fills: Option<u64>,
        /// The key `blobs`.
        blobs: Option<u64>,
        /// The key `unsupported`.
        unsupported: Vec<String>,
        /// The key `ended`.
        ended: Option<String>,
        /// The key `cut`.
        cut: Option<bool>,
        /// With a selection: operations before it that would run to restore the state.
        before: Option<u64>,
        /// Contents that operations refer to, and that the trace lacks.
        missing_contents: Option<u64>,
        /// Launches of functions whose module is not in the capture.
        unknown_functions: Option<u64>,
        /// From the first to the last captured call.
        recorded_ns: Option<u64>,
    }
}

answer! {
    /// The message `GraphList`.
    GraphList {
        /// The key `nodes`.
        nodes: Vec<GraphNode>,
        /// The key `edges`.
        edges: Vec<GraphEdge>,
        /// The key `steps`.
        steps: Vec<GraphStep>,
        /// The key `summary`.
        summary: Option<GraphSummary>,
    }
}

answer! {
    /// The message `LiveSession`.
    LiveSession {
        /// The daemon's number of the session, for OpenTrace and Flush.
        session: Option<u32>,
        /// The key `number_in_file`.
        number_in_file: Option<u32>,
        /// The key `pid`.
        pid: Option<u32>,
        /// The key `uid`.
        uid: Option<u32>,
        /// The key `program`.
        program: Option<String>,
        /// "starting", "recording", "paused", "yielded", "refused", "ending".
        state: Option<String>,
        /// The key `path`.
        path: Option<String>,
        /// The key `rows`.
        rows: Option<u64>,
        /// The key `file_bytes`.
        file_bytes: Option<u64>,
        /// The key `start_monotonic_ns`.
        start_monotonic_ns: Option<u64>,
        /// Bytes in the rings.
        unwritten_bytes: Option<u64>,
        /// The key `lost`.
        lost: BTreeMap<String, u64>,
        /// The key `empty_reason`.
        empty_reason: Option<String>,
        /// The key `empty_text`.
        empty_text: Option<String>,
        /// The file has no name any more, and is lost when the session ends.
        removed: Option<bool>,
        /// Rows by type.
        counts: BTreeMap<String, u64>,
        /// Recording is stopped, in any state.
        paused: Option<bool>,
        /// `tsctl sessions`: socket of the session's daemon.
        control: Option<String>,
        /// The process runs without the shim: the session has only its calls, observed from outside
        /// (`--system`).
        host_half_only: Option<bool>,
        /// Set if the session captures for a replay.
        capture: Option<LiveCapture>,
    }
}

answer! {
    /// The message `LiveCapture`.
    LiveCapture {
        /// "whole" (everything is captured from the start), "closed" or "open" (a window), "ended".
        state: Option<String>,
        /// Number of opened windows.
        windows: Option<u32>,
        /// Bytes of captured contents, each content once.
        bytes: Option<u64>,
        /// Time that capturing cost the process's threads.
        ns: Option<u64>,
        /// Limit of `bytes`: at this limit the capture ends.
        max_bytes: Option<u64>,
        /// Reason why the capture ended.
        ended: Option<String>,
    }
}

answer! {
    /// `tsctl sessions --json`.
    SessionList {
        /// The key `sessions`.
        sessions: Vec<LiveSession>,
    }
}

answer! {
    /// A Linux capability that the service uses if it has it.
    Capability {
        /// "CAP_BPF", ...
        name: Option<String>,
        /// The key `present`.
        present: Option<bool>,
        /// What the service cannot do without the capability.
        cost: Option<String>,
    }
}

answer! {
    /// `tsctl status --json`.
    Status {
        /// The key `running`.
        running: Option<bool>,
        /// Reason why no daemon runs, as far as it is known.
        error: Option<String>,
        /// The key `version`.
        version: Option<String>,
        /// The key `pid`.
        pid: Option<u32>,
        /// "service", "record", "private".
        mode: Option<String>,
        /// The key `uptime_ns`.
        uptime_ns: Option<u64>,
        /// The key `control_socket`.
        control_socket: Option<String>,
        /// The key `inject_socket`.
        inject_socket: Option<String>,
        /// The key `directory`.
        directory: Option<String>,
        /// The key `sessions_live`.
        sessions_live: Option<u32>,
        /// The key `sessions_total`.
        sessions_total: Option<u64>,
        /// The key `sessions_refused`.
        sessions_refused: Option<u64>,
        /// The key `bytes_written`.
        bytes_written: Option<u64>,
        /// The key `rows_written`.
        rows_written: Option<u64>,
        /// The key `sessions`.
        sessions: Vec<LiveSession>,
        /// If the daemon records kernel events: the available ones ("sched,syscalls"), and the
        /// reason why others are missing.
        kernel_events: Option<String>,
        /// The key `kernel_events_missing`.
        kernel_events_missing: Option<String>,
        /// If the daemon observes processes without the shim (`--system`): whether it can, and the
        /// reason why it cannot.
        system: Option<bool>,
        /// The key `system_missing`.
        system_missing: Option<String>,
        /// A service: bytes of the trace files that it keeps, of the client's user and of all
        /// users, each with its limit. Absent: no limit.
        disk_bytes: Option<u64>,
        /// The key `disk_bytes_most`.
        disk_bytes_most: Option<u64>,
        /// The key `disk_bytes_all`.
        disk_bytes_all: Option<u64>,
        /// The key `disk_bytes_all_most`.
        disk_bytes_all_most: Option<u64>,
        /// A service: the capabilities that it uses, also those that it lacks.
        capabilities: Vec<Capability>,
    }
}
