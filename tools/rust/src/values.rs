// SPDX-License-Identifier: Apache-2.0
//! Values of columns: the enums and the flags that `proto/abi/rows/rows.table` names. A module is an enum or a
//! set of flags, its constants have the names of C without the common prefix.
//!
//! `tools/rust/generate.py` makes this file, and a test compares.

/// Values of enum ts_clock.
pub mod clock {
    /// TS_CLOCK_NONE.
    pub const NONE: u32 = 0;
    /// TS_CLOCK_MONOTONIC: ns.
    pub const MONOTONIC: u32 = 1;
    /// TS_CLOCK_TSC: Ticks of the processor's counter: the TSC on x86, CNTVCT_EL0 on aarch64. Only
    /// if it is the kernel's clocksource.
    pub const TSC: u32 = 2;
    /// TS_CLOCK_REALTIME: ns.
    pub const REALTIME: u32 = 3;
    /// TS_CLOCK_CUPTI: cuptiGetTimestamp(), if it could not be replaced (CUPTI \< 11.6).
    pub const CUPTI: u32 = 4;
}

/// The vendor interface of a call; domain and `cbid` together name the function.
pub mod api_domain {
    /// TS_API_CUDA_DRIVER: cbid: CUpti_driver_api_trace_cbid.
    pub const CUDA_DRIVER: u32 = 1;
    /// TS_API_CUDA_RUNTIME: cbid: CUpti_runtime_api_trace_cbid.
    pub const CUDA_RUNTIME: u32 = 2;
    /// TS_API_HIP.
    pub const HIP: u32 = 3;
    /// TS_API_MACA: cbid: as for TS_API_HIP.
    pub const MACA: u32 = 4;
    /// TS_API_MUSA_DRIVER: cbid: as for TS_API_CUDA_DRIVER.
    pub const MUSA_DRIVER: u32 = 5;
    /// TS_API_MUSA_RUNTIME: cbid: as for TS_API_CUDA_RUNTIME.
    pub const MUSA_RUNTIME: u32 = 6;
    /// TS_API_ACL: cbid: as for TS_API_HIP.
    pub const ACL: u32 = 7;
}

/// Values of enum ts_access_kind.
pub mod access_kind {
    /// TS_ACCESS_COPY.
    pub const COPY: u32 = 1;
    /// TS_ACCESS_SET.
    pub const SET: u32 = 2;
    /// TS_ACCESS_FREE: failed: `dst` is the call's argument.
    pub const FREE: u32 = 3;
    /// TS_ACCESS_ALLOC: failed: `dst_bytes` is the requested size.
    pub const ALLOC: u32 = 4;
    /// TS_ACCESS_ALLOCATED: on a device.
    pub const ALLOCATED: u32 = 5;
    /// TS_ACCESS_ALLOCATED_PINNED.
    pub const ALLOCATED_PINNED: u32 = 6;
    /// TS_ACCESS_ALLOCATED_MANAGED.
    pub const ALLOCATED_MANAGED: u32 = 7;
    /// TS_ACCESS_FREED.
    pub const FREED: u32 = 8;
}

/// Values of enum ts_object_action.
pub mod object_action {
    /// TS_OBJECT_CREATED.
    pub const CREATED: u32 = 1;
    /// TS_OBJECT_DESTROYED.
    pub const DESTROYED: u32 = 2;
    /// TS_OBJECT_SEEN: it existed before recording began.
    pub const SEEN: u32 = 3;
}

/// Kind of a range. 2 and 4 are unused: they once marked the ends alone.
pub mod range_action {
    /// TS_RANGE_PUSH: nests within its thread.
    pub const PUSH: u32 = 1;
    /// TS_RANGE_START: may end on another thread.
    pub const START: u32 = 3;
}

/// Type of a payload and of a counter's value. Narrow values are widened to 64 bits according to
/// their type.
pub mod payload_type {
    /// TS_PAYLOAD_NONE.
    pub const NONE: u32 = 0;
    /// TS_PAYLOAD_U64.
    pub const U64: u32 = 1;
    /// TS_PAYLOAD_I64.
    pub const I64: u32 = 2;
    /// TS_PAYLOAD_F64.
    pub const F64: u32 = 3;
    /// TS_PAYLOAD_U32.
    pub const U32: u32 = 4;
    /// TS_PAYLOAD_I32.
    pub const I32: u32 = 5;
    /// TS_PAYLOAD_F32: as a double.
    pub const F32: u32 = 6;
}

/// Cause of a stop or start of a recording.
pub mod pause_cause {
    /// TS_PAUSE_BY_REQUEST: TS_COMMAND_PAUSED: a client asked the daemon, or the recording began
    /// paused.
    pub const REQUEST: u32 = 1;
    /// TS_PAUSE_BY_APPLICATION: the process itself.
    pub const APPLICATION: u32 = 2;
}

/// TS_RECORD_OPERATION: one operation that a replay repeats. The lane holds operations in the order
/// in which they took effect, across threads. The kinds below list the fields that they use; all
/// other fields are 0. Handles are the vendor's; addresses are the process's.
pub mod operation_kind {
    /// TS_OPERATION_CONTEXT_CREATE: context, device. DESTROY: context.
    pub const CONTEXT_CREATE: u32 = 1;
    /// TS_OPERATION_CONTEXT_DESTROY.
    pub const CONTEXT_DESTROY: u32 = 2;
    /// TS_OPERATION_MODULE_LOAD: object: handle of the module (or library); content: its image, as
    /// passed to the driver.
    pub const MODULE_LOAD: u32 = 3;
    /// TS_OPERATION_MODULE_UNLOAD.
    pub const MODULE_UNLOAD: u32 = 4;
    /// TS_OPERATION_FUNCTION: object: handle of the function (or kernel); parent: the MODULE or
    /// FUNCTION that it belongs to; name.
    pub const FUNCTION: u32 = 5;
    /// TS_OPERATION_VARIABLE: dst, bytes: place of a variable; parent: handle of its module; name.
    pub const VARIABLE: u32 = 6;
    /// TS_OPERATION_ALLOC: dst, bytes; flags: TS_OPERATION_MEMORY_*.
    pub const ALLOC: u32 = 7;
    /// TS_OPERATION_FREE: dst; with ASYNC also the stream.
    pub const FREE: u32 = 8;
    /// TS_OPERATION_STREAM_CREATE: object: the handle; value: creation flags; src: the priority, 32
    /// bits, signed.
    pub const STREAM_CREATE: u32 = 9;
    /// TS_OPERATION_STREAM_DESTROY.
    pub const STREAM_DESTROY: u32 = 10;
    /// TS_OPERATION_EVENT_CREATE: object.
    pub const EVENT_CREATE: u32 = 11;
    /// TS_OPERATION_EVENT_DESTROY.
    pub const EVENT_DESTROY: u32 = 12;
    /// TS_OPERATION_EVENT_RECORD: object, stream.
    pub const EVENT_RECORD: u32 = 13;
    /// TS_OPERATION_STREAM_WAIT: object: an event; stream.
    pub const STREAM_WAIT: u32 = 14;
    /// TS_OPERATION_LAUNCH: object: handle of a function; grid, block, shared_bytes, stream;
    /// content: its packed arguments; value: its cluster's size as TS_OPERATION_CLUSTER(), 0: the
    /// launch asks for no cluster; COOPERATIVE.
    pub const LAUNCH: u32 = 15;
    /// TS_OPERATION_COPY: dst, src, bytes per row, height in rows, depth in slices, pitches and
    /// slice sizes; stream. SRC_HOST: content is the data read, its rows without gaps. DST_HOST:
    /// content is the data written, in the same form (for ASYNC, a RESULT holds it).
    pub const COPY: u32 = 16;
    /// TS_OPERATION_FILL: dst, value, bytes: count of elements per row; height, dst_pitch; src:
    /// bytes per element; stream; ASYNC.
    pub const FILL: u32 = 17;
    /// TS_OPERATION_SYNC: flags: TS_OPERATION_SYNC_*; object: the event; stream.
    pub const SYNC: u32 = 18;
    /// TS_OPERATION_HOST_WRITE: dst, bytes: host memory that the device can access had this content
    /// at the next operation's call.
    pub const HOST_WRITE: u32 = 19;
    /// TS_OPERATION_LIMIT: cuCtxSetLimit: value: the limit that is set (a value of enum CUlimit);
    /// bytes: its new value.
    pub const LIMIT: u32 = 20;
    /// TS_OPERATION_PEER: object: handle of another context. value 1: kernels may access its
    /// device's memory from now on; 0: no longer.
    pub const PEER: u32 = 21;
    /// TS_OPERATION_UNSUPPORTED: name: an operation that cannot be replayed; from here on the
    /// replay differs from the program.
    pub const UNSUPPORTED: u32 = 22;
    /// TS_OPERATION_END: name: reason why the capture ended.
    pub const END: u32 = 23;
    /// TS_OPERATION_RESULT: parent: sequence of an asynchronous copy to the host; content: the data
    /// written, known after the program has waited for the copy.
    pub const RESULT: u32 = 24;
    /// TS_OPERATION_GRAPH_LAUNCH: object: handle of the executable graph; stream. The operations of
    /// its nodes follow in an order that its edges allow, with the flag OF_GRAPH.
    pub const GRAPH_LAUNCH: u32 = 25;
    /// TS_OPERATION_WINDOW: value: 1, a window opens; 0, it closes. name: the trigger. In a capture
    /// with windows, only live objects are captured outside of a window (contexts, modules,
    /// functions, variables, memory, streams, events). After a window opens, COPY, SYNC and
    /// HOST_WRITE with an op_id of 0 restore the memory of that moment.
    pub const WINDOW: u32 = 26;
}

/// NAME: the application's name of an object. A later name of the same object replaces it. flags:
/// enum ts_name_kind.
pub mod name_kind {
    /// TS_NAME_THREAD: object: the kernel's thread id.
    pub const THREAD: u32 = 1;
    /// TS_NAME_CATEGORY: in `domain`; object: its number.
    pub const CATEGORY: u32 = 2;
    /// TS_NAME_DEVICE: object: the vendor's ordinal.
    pub const DEVICE: u32 = 3;
    /// TS_NAME_CONTEXT: object: the vendor's handle.
    pub const CONTEXT: u32 = 4;
    /// TS_NAME_STREAM: object: the vendor's handle.
    pub const STREAM: u32 = 5;
    /// TS_NAME_EVENT: object: the vendor's handle.
    pub const EVENT: u32 = 6;
    /// TS_NAME_OTHER: object: a handle or address of the application.
    pub const OTHER: u32 = 7;
}

/// Values of ts_control.state, which the producer sets.
pub mod session_state {
    /// TS_SESSION_STARTING.
    pub const STARTING: u32 = 1;
    /// TS_SESSION_RECORDING: the shim holds CUPTI, or CUDA is not in use yet.
    pub const RECORDING: u32 = 2;
    /// TS_SESSION_YIELDED: the application's own profiler has CUPTI.
    pub const YIELDED: u32 = 3;
    /// TS_SESSION_REFUSED: nothing can be recorded: see `reason`, `reason_text`.
    pub const REFUSED: u32 = 4;
    /// TS_SESSION_ENDED: all is flushed; no record follows.
    pub const ENDED: u32 = 5;
}

/// Reason for a session without GPU rows; also in TS_HANDSHAKE_NOTE.
pub mod empty_reason {
    /// TS_EMPTY_NONE.
    pub const NONE: u32 = 0;
    /// TS_EMPTY_NO_CUPTI: no libcupti could be loaded.
    pub const NO_CUPTI: u32 = 1;
    /// TS_EMPTY_CUPTI_HELD: another tool holds CUPTI: reason_text names it.
    pub const CUPTI_HELD: u32 = 2;
    /// TS_EMPTY_INJECTION_HELD: CUDA_INJECTION64_PATH names another tool, which is in reason_text.
    pub const INJECTION_HELD: u32 = 3;
    /// TS_EMPTY_CUPTI_TOO_OLD: lacks a function, which is in reason_text.
    pub const CUPTI_TOO_OLD: u32 = 4;
    /// TS_EMPTY_CUPTI_ERROR: a CUPTI call failed: call and error in reason_text.
    pub const CUPTI_ERROR: u32 = 5;
    /// TS_EMPTY_NO_MEMORY: no memory for the rings: details in reason_text.
    pub const NO_MEMORY: u32 = 6;
    /// TS_EMPTY_REFUSED: the daemon refused the session: details in reason_text.
    pub const REFUSED: u32 = 7;
}

/// Reason why a thread left its CPU. A known system call (futex, ioctl, poll, ...) has precedence
/// over TS_OFF_CPU_IO.
pub mod off_cpu_reason {
    /// TS_OFF_CPU_UNKNOWN.
    pub const UNKNOWN: u32 = 0;
    /// TS_OFF_CPU_PREEMPTED: it was still runnable.
    pub const PREEMPTED: u32 = 1;
    /// TS_OFF_CPU_YIELDED: sched_yield(2).
    pub const YIELDED: u32 = 2;
    /// TS_OFF_CPU_PAGE_FAULT.
    pub const PAGE_FAULT: u32 = 3;
    /// TS_OFF_CPU_FUTEX.
    pub const FUTEX: u32 = 4;
    /// TS_OFF_CPU_IOCTL.
    pub const IOCTL: u32 = 5;
    /// TS_OFF_CPU_SLEEP: nanosleep(2), clock_nanosleep(2).
    pub const SLEEP: u32 = 6;
    /// TS_OFF_CPU_POLL: poll, select, epoll_wait: for descriptors or a time.
    pub const POLL: u32 = 7;
    /// TS_OFF_CPU_WAIT: for a child.
    pub const WAIT: u32 = 8;
    /// TS_OFF_CPU_IO: uninterruptible, and the kernel counts it as I/O wait.
    pub const IO: u32 = 9;
    /// TS_OFF_CPU_SYSCALL: blocked in another system call: see `syscall`.
    pub const SYSCALL: u32 = 10;
    /// TS_OFF_CPU_STOPPED: by a signal or a debugger.
    pub const STOPPED: u32 = 11;
}

/// Context that made a blocked thread runnable.
pub mod waker_context {
    /// TS_WAKER_NONE: the thread was not blocked, or the wake-up was not seen.
    pub const NONE: u32 = 0;
    /// TS_WAKER_THREAD: thread `waker_tid`.
    pub const THREAD: u32 = 1;
    /// TS_WAKER_INTERRUPT: a timer or device; `waker_tid` is the interrupted thread.
    pub const INTERRUPT: u32 = 2;
}

/// Values of enum ts_fault_kind.
pub mod fault_kind {
    /// TS_FAULT_UNKNOWN.
    pub const UNKNOWN: u32 = 0;
    /// TS_FAULT_MINOR: the page was in memory.
    pub const MINOR: u32 = 1;
    /// TS_FAULT_MAJOR: the page was read from storage.
    pub const MAJOR: u32 = 2;
}

/// Values of enum ts_fault_memory.
pub mod fault_memory {
    /// TS_FAULT_MEMORY_UNKNOWN.
    pub const MEMORY_UNKNOWN: u32 = 0;
    /// TS_FAULT_ANONYMOUS.
    pub const ANONYMOUS: u32 = 1;
    /// TS_FAULT_FILE: a private mapping of a file.
    pub const FILE: u32 = 2;
    /// TS_FAULT_SHARED: a shared mapping, of a file or not.
    pub const SHARED: u32 = 3;
}

/// Operation of a block device.
pub mod block_operation {
    /// TS_BLOCK_OTHER.
    pub const OTHER: u32 = 0;
    /// TS_BLOCK_READ.
    pub const READ: u32 = 1;
    /// TS_BLOCK_WRITE.
    pub const WRITE: u32 = 2;
    /// TS_BLOCK_FLUSH.
    pub const FLUSH: u32 = 3;
    /// TS_BLOCK_DISCARD.
    pub const DISCARD: u32 = 4;
}

/// Effect of low memory on a thread or its process.
pub mod pressure_kind {
    /// TS_PRESSURE_OTHER.
    pub const OTHER: u32 = 0;
    /// TS_PRESSURE_DIRECT: no memory: the thread reclaims some first.
    pub const DIRECT: u32 = 1;
    /// TS_PRESSURE_LIMIT: the thread's cgroup has no memory: the thread reclaims some first.
    pub const LIMIT: u32 = 2;
    /// TS_PRESSURE_NODE: the thread's NUMA node has no memory: the thread reclaims some first.
    pub const NODE: u32 = 3;
    /// TS_PRESSURE_OOM_KILL: the kernel chose the process to be killed, at start_ns.
    pub const OOM_KILL: u32 = 4;
}

/// Values of enum ts_driver_kind.
pub mod driver_kind {
    /// TS_DRIVER_OTHER.
    pub const OTHER: u32 = 0;
    /// TS_DRIVER_FENCE_WAIT: the thread waited for a fence.
    pub const FENCE_WAIT: u32 = 1;
    /// TS_DRIVER_FENCE: a fence of the thread, from its creation until it was signalled.
    pub const FENCE: u32 = 2;
    /// TS_DRIVER_JOB: a GPU scheduler job, from submission to completion.
    pub const JOB: u32 = 3;
}

/// How a session ended.
pub mod session_end {
    /// TS_SESSION_END_NONE: the session had not ended, or the recording was cut short before the
    /// session's end.
    pub const NONE: u32 = 0;
    /// TS_SESSION_END_BYE: everything was flushed.
    pub const BYE: u32 = 1;
    /// TS_SESSION_END_DIED: the process vanished; its committed records are kept.
    pub const DIED: u32 = 2;
    /// TS_SESSION_END_STOPPED: the recording ended before the process.
    pub const STOPPED: u32 = 3;
    /// TS_SESSION_END_BAD_DATA: the process broke the protocol and was dropped.
    pub const BAD_DATA: u32 = 4;
    /// TS_SESSION_END_DAEMON: the daemon stopped (disk full, shutdown).
    pub const DAEMON: u32 = 5;
    /// TS_SESSION_END_EMPTY: the process only sent a NOTE, because no session was possible; see
    /// empty_reason.
    pub const EMPTY: u32 = 6;
}

/// Source of a session's rows.
pub mod session_source {
    /// TS_SESSION_SOURCE_SHIM: libtsinject.so in the process.
    pub const SHIM: u32 = 0;
    /// TS_SESSION_SOURCE_PROBES.
    pub const PROBES: u32 = 1;
}

/// Kind of an image; it defines the addresses of the image's symbols.
pub mod image_kind {
    /// TS_IMAGE_ELF: ELF file: the file's own addresses, without a module's bias.
    pub const ELF: u32 = 0;
    /// TS_IMAGE_PERF_MAP: /tmp/perf-PID.map: the session's addresses outside of modules.
    pub const PERF_MAP: u32 = 1;
    /// TS_IMAGE_JIT_DUMP: /tmp/jit-PID.dump: addresses as in TS_IMAGE_PERF_MAP.
    pub const JIT_DUMP: u32 = 2;
}

/// Result of the search for an image's symbols; a lower value is a better result.
pub mod image_result {
    /// TS_IMAGE_RESOLVED: functions, inlined frames and lines, as far as known.
    pub const RESOLVED: u32 = 0;
    /// TS_IMAGE_NO_DEBUG: functions only: no debug information.
    pub const NO_DEBUG: u32 = 1;
    /// TS_IMAGE_NO_FILE: the file could not be opened.
    pub const NO_FILE: u32 = 2;
    /// TS_IMAGE_OTHER_FILE: the file has another build id.
    pub const OTHER_FILE: u32 = 3;
    /// TS_IMAGE_BAD_FILE: the file cannot be used: it is of the wrong kind or damaged, or reading
    /// it takes too much work.
    pub const BAD_FILE: u32 = 4;
    /// TS_IMAGE_NOT_TRIED: the time limit was reached, or no confined process could read the file.
    pub const NOT_TRIED: u32 = 5;
}

/// Flags TS_API_\*.
pub mod api_flags {
    /// TS_API_EXPECTS_DEVICE: succeeded, and such calls make device rows.
    pub const EXPECTS_DEVICE: u32 = 1;
    /// TS_API_MAY_BEGIN_EARLY: The kernel may begin before its predecessor in the stream has ended:
    /// programmatic stream serialization.
    pub const MAY_BEGIN_EARLY: u32 = 2;
}

/// Flags TS_BLOCK_IO_\*.
pub mod block_io_flags {
    /// TS_BLOCK_IO_OPEN: the I/O had not ended at the session's end; end_ns is the session's end.
    pub const OPEN: u32 = 1;
    /// TS_BLOCK_IO_SYNC: the kernel marked it: a thread waits for this I/O.
    pub const SYNC: u32 = 2;
    /// TS_BLOCK_IO_READAHEAD: read ahead, not yet requested.
    pub const READAHEAD: u32 = 4;
    /// TS_BLOCK_IO_METADATA: metadata of the file system.
    pub const METADATA: u32 = 8;
}

/// Flags TS_DEVICE_\*.
pub mod device_flags {
    /// TS_DEVICE_VIRTUAL: TraceSmith's virtual GPU.
    pub const VIRTUAL: u32 = 1;
    /// TS_DEVICE_MODEL_CLOCK: a virtual GPU whose operations last as long as its cost model
    /// computes.
    pub const MODEL_CLOCK: u32 = 2;
    /// TS_DEVICE_TIMED_KERNELS: a virtual GPU that timed kernels and did not compute them
    /// (kernels=timed).
    pub const TIMED_KERNELS: u32 = 4;
}

/// Flags TS_INTERFACE_\*: Ways into a vendor's runtime.
pub mod interface_flags {
    /// TS_INTERFACE_CUPTI: CUPTI's callbacks and activity records.
    pub const CUPTI: u32 = 1;
    /// TS_INTERFACE_HIP_TABLES: the dispatch tables of HIP's runtime.
    pub const HIP_TABLES: u32 = 2;
    /// TS_INTERFACE_HIP_TRACER: GPU times by hipRegisterTracerCallback().
    pub const HIP_TRACER: u32 = 4;
    /// TS_INTERFACE_HIP_SYMBOLS: functions that stand before HIP's.
    pub const HIP_SYMBOLS: u32 = 8;
    /// TS_INTERFACE_HIP_ACTIVITY: GPU times by hipInitActivityCallback().
    pub const HIP_ACTIVITY: u32 = 16;
    /// TS_INTERFACE_HIP_EVENTS: GPU times of samples, by pairs of events.
    pub const HIP_EVENTS: u32 = 32;
    /// TS_INTERFACE_ROCPROFILER_SDK: GPU times by AMD's rocprofiler-sdk.
    pub const ROCPROFILER_SDK: u32 = 64;
    /// TS_INTERFACE_PTI: Bit of a library like CUPTI: this one shifted by its enum ts_pti_id.
    pub const PTI: u32 = 256;
}

/// Flags TS_JOB_\*: The known fields of a struct ts_job.
pub mod job_flags {
    /// TS_JOB_RANK.
    pub const RANK: u32 = 1;
    /// TS_JOB_LOCAL_RANK.
    pub const LOCAL_RANK: u32 = 2;
}

/// Flags TS_OFF_CPU_\*.
pub mod off_cpu_flags {
    /// TS_OFF_CPU_OPEN: off the CPU at the session's end, which is end_ns.
    pub const OPEN: u32 = 1;
}

/// Flags TS_OPERATION_\*.
pub mod operation_flags {
    /// TS_OPERATION_ASYNC.
    pub const ASYNC: u32 = 1;
    /// TS_OPERATION_SRC_HOST.
    pub const SRC_HOST: u32 = 2;
    /// TS_OPERATION_DST_HOST.
    pub const DST_HOST: u32 = 4;
    /// TS_OPERATION_COOPERATIVE.
    pub const COOPERATIVE: u32 = 8;
    /// TS_OPERATION_MEMORY_PINNED.
    pub const MEMORY_PINNED: u32 = 16;
    /// TS_OPERATION_MEMORY_MANAGED.
    pub const MEMORY_MANAGED: u32 = 32;
    /// TS_OPERATION_SYNC_CONTEXT.
    pub const SYNC_CONTEXT: u32 = 64;
    /// TS_OPERATION_SYNC_STREAM.
    pub const SYNC_STREAM: u32 = 128;
    /// TS_OPERATION_SYNC_EVENT.
    pub const SYNC_EVENT: u32 = 256;
    /// TS_OPERATION_UNORDERED: another thread was in a call: it is unknown which call came first.
    pub const UNORDERED: u32 = 512;
    /// TS_OPERATION_OF_GRAPH: belongs to the GRAPH_LAUNCH before it.
    pub const OF_GRAPH: u32 = 1024;
    /// TS_OPERATION_MEMORY_MAPPED: memory was mapped by cuMemMap(), or unmapped.
    pub const MEMORY_MAPPED: u32 = 2048;
}

/// Flags TS_SAMPLE_\*.
pub mod sample_flags {
    /// TS_SAMPLE_KERNEL: the thread was in the kernel, which the stack's innermost frame had
    /// called.
    pub const KERNEL: u32 = 1;
}
