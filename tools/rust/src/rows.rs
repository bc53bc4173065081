// SPDX-License-Identifier: Apache-2.0
//! Rows: the contents of a trace. Each type of row has a struct, whose fields are the columns.
//!
//! `proto/abi/rows/make.py rust proto/abi/rows/rows.table` makes this file, and a test compares. Later
//! versions may append fields to a struct: end a literal with `..Default::default()`.

use crate::row::{row, row_types, StackId, StringId};

row_types! {
    events {
        Api(Api) = 1 "api",
        Kernel(Kernel) = 2 "kernel",
        Memcpy(Memcpy) = 3 "memcpy",
        Memset(Memset) = 4 "memset",
        Sync(Sync) = 5 "sync",
        Alloc(Memory) = 6 "alloc",
        Free(Memory) = 7 "free",
        Event(Event) = 8 "event",
        StreamWait(StreamWait) = 9 "stream_wait",
        Stream(Stream) = 10 "stream",
        Context(Context) = 11 "context",
        GraphLaunch(GraphLaunch) = 12 "graph_launch",
        Mark(Mark) = 13 "mark",
        Range(Range) = 14 "range",
        Counter(Counter) = 15 "counter",
        Clock(Clock) = 16 "clock",
        Loss(Loss) = 17 "loss",
        Overhead(Overhead) = 18 "overhead",
        GpuModule(GpuModule) = 19 "gpu_module",
        Yield(Yield) = 20 "yield",
        RangeBegin(RangeBegin) = 21 "range_begin",
        Pause(Pause) = 22 "pause",
        OffCpu(OffCpu) = 23 "off_cpu",
        PageFault(PageFault) = 24 "page_fault",
        Syscall(Syscall) = 25 "syscall",
        Access(Access) = 26 "access",
        Arguments(Arguments) = 27 "arguments",
        BlockIo(BlockIo) = 28 "block_io",
        Operation(Operation) = 29 "operation",
        Pressure(Pressure) = 30 "pressure",
        Driver(Driver) = 31 "driver",
        Sample(Sample) = 41 "sample",
    }
    definitions {
        Session(Session) = 32 "session",
        Thread(Thread) = 33 "thread",
        Device(Device) = 34 "device",
        Module(Module) = 35 "module",
        Metadata(Metadata) = 36 "metadata",
        Image(Image) = 37 "image",
        Symbol(Symbol) = 38 "symbol",
        Name(Name) = 39 "name",
        Part(Part) = 40 "part",
    }
}

row! {
    /// An outermost call of a function of the vendor's interface. Rows of type `api`.
    Api "api" span [Api] (call) {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// End, in nanoseconds of CLOCK_MONOTONIC.
        end_ns: u64 = END_NS "end_ns" 2 8 TimeEnd;
        /// Operation id.
        op_id: u64 = OP_ID "op_id" 3 16 Op;
        /// Operation id; 0: no nested call had another id.
        nested_op_id: u64 = NESTED_OP_ID "nested_op_id" 4 24 Op;
        /// Id of a thread of the session.
        thread: u32 = THREAD "thread" 5 32 Thread;
        /// Host stack.
        stack: StackId = STACK "stack" 6 36 Stack;
        /// Context; 0: no context was current.
        context: u32 = CONTEXT "context" 7 40 Context;
        /// CUresult or cudaError_t.
        result: i32 = RESULT "result" 8 44 Enum;
        /// Enum ts_api_domain.
        domain: u16 = DOMAIN "domain" 9 48 Enum;
        /// With `domain` names the function.
        cbid: u16 = CBID "cbid" 10 50 Enum;
        /// TS_API_*.
        flags: u32 = FLAGS "flags" 11 52 Flags;
    }
}

row! {
    /// Rows of type `kernel`.
    Kernel "kernel" span [Kernel] (name) {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// End, in nanoseconds of CLOCK_MONOTONIC.
        end_ns: u64 = END_NS "end_ns" 2 8 TimeEnd;
        /// Operation id.
        op_id: u64 = OP_ID "op_id" 3 16 Op;
        /// Device; [`NO_DEVICE`](crate::NO_DEVICE): none.
        device: u32 = DEVICE "device" 4 24 Device;
        /// Context.
        context: u32 = CONTEXT "context" 5 28 Context;
        /// Stream.
        stream: u32 = STREAM "stream" 6 32 Stream;
        /// 0: not from a graph.
        graph: u32 = GRAPH "graph" 7 36 Number;
        /// 0: not from a graph.
        graph_node: u64 = GRAPH_NODE "graph_node" 8 40 Number;
        /// Time, in nanoseconds of CLOCK_MONOTONIC; 0: not recorded.
        queued_ns: u64 = QUEUED_NS "queued_ns" 9 48 Time;
        /// Time, in nanoseconds of CLOCK_MONOTONIC; 0: not recorded.
        submitted_ns: u64 = SUBMITTED_NS "submitted_ns" 10 56 Time;
        /// Text; mangled.
        name: StringId = NAME "name" 11 64 String;
        /// Blocks.
        grid_x: u32 = GRID_X "grid_x" 12 68 Number;
        /// The column `grid_y`.
        grid_y: u32 = GRID_Y "grid_y" 13 72 Number;
        /// The column `grid_z`.
        grid_z: u32 = GRID_Z "grid_z" 14 76 Number;
        /// Threads.
        block_x: u32 = BLOCK_X "block_x" 15 80 Number;
        /// The column `block_y`.
        block_y: u32 = BLOCK_Y "block_y" 16 84 Number;
        /// The column `block_z`.
        block_z: u32 = BLOCK_Z "block_z" 17 88 Number;
        /// The column `cluster_x`.
        cluster_x: u32 = CLUSTER_X "cluster_x" 18 92 Number;
        /// The column `cluster_y`.
        cluster_y: u32 = CLUSTER_Y "cluster_y" 19 96 Number;
        /// The column `cluster_z`.
        cluster_z: u32 = CLUSTER_Z "cluster_z" 20 100 Number;
        /// Bytes.
        static_shared_bytes: u32 = STATIC_SHARED_BYTES "static_shared_bytes" 21 104 Size;
        /// Bytes.
        dynamic_shared_bytes: u32 = DYNAMIC_SHARED_BYTES "dynamic_shared_bytes" 22 108 Size;
        /// Bytes.
        local_bytes_per_thread: u32 = LOCAL_BYTES_PER_THREAD "local_bytes_per_thread" 23 112 Size;
        /// The column `channel`.
        channel: u32 = CHANNEL "channel" 24 116 Number;
        /// The column `registers_per_thread`.
        registers_per_thread: u16 = REGISTERS_PER_THREAD "registers_per_thread" 25 120 Number;
        /// CUpti_ActivityLaunchType.
        launch_type: u8 = LAUNCH_TYPE "launch_type" 26 122 Enum;
        /// CUpti_ChannelType.
        channel_type: u8 = CHANNEL_TYPE "channel_type" 27 123 Enum;
        #[doc(hidden)]
        reserved: u32;
    }
}

row! {
    /// Rows of type `memcpy`.
    Memcpy "memcpy" span [Memcpy] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// End, in nanoseconds of CLOCK_MONOTONIC.
        end_ns: u64 = END_NS "end_ns" 2 8 TimeEnd;
        /// Operation id.
        op_id: u64 = OP_ID "op_id" 3 16 Op;
        /// Device; [`NO_DEVICE`](crate::NO_DEVICE): none.
        device: u32 = DEVICE "device" 4 24 Device;
        /// Context.
        context: u32 = CONTEXT "context" 5 28 Context;
        /// Stream.
        stream: u32 = STREAM "stream" 6 32 Stream;
        /// The column `graph`.
        graph: u32 = GRAPH "graph" 7 36 Number;
        /// The column `graph_node`.
        graph_node: u64 = GRAPH_NODE "graph_node" 8 40 Number;
        /// Bytes.
        bytes: u64 = BYTES "bytes" 9 48 Bytes;
        /// Count.
        copy_count: u64 = COPY_COUNT "copy_count" 10 56 Count;
        /// Device; [`NO_DEVICE`](crate::NO_DEVICE): none; TS_NO_DEVICE: the host.
        src_device: u32 = SRC_DEVICE "src_device" 11 64 Device;
        /// Device; [`NO_DEVICE`](crate::NO_DEVICE): none; TS_NO_DEVICE: the host.
        dst_device: u32 = DST_DEVICE "dst_device" 12 68 Device;
        /// CUpti_ActivityMemcpyKind.
        copy_kind: u8 = COPY_KIND "copy_kind" 13 72 Enum;
        /// CUpti_ActivityMemoryKind.
        src_kind: u8 = SRC_KIND "src_kind" 14 73 Enum;
        /// CUpti_ActivityMemoryKind.
        dst_kind: u8 = DST_KIND "dst_kind" 15 74 Enum;
        /// 1: marked asynchronous.
        async_: u8 = ASYNC "async" 16 75 Flags;
        /// The column `channel`.
        channel: u32 = CHANNEL "channel" 17 76 Number;
    }
}

row! {
    /// Rows of type `memset`.
    Memset "memset" span [Memset] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// End, in nanoseconds of CLOCK_MONOTONIC.
        end_ns: u64 = END_NS "end_ns" 2 8 TimeEnd;
        /// Operation id.
        op_id: u64 = OP_ID "op_id" 3 16 Op;
        /// Device; [`NO_DEVICE`](crate::NO_DEVICE): none.
        device: u32 = DEVICE "device" 4 24 Device;
        /// Context.
        context: u32 = CONTEXT "context" 5 28 Context;
        /// Stream.
        stream: u32 = STREAM "stream" 6 32 Stream;
        /// The column `graph`.
        graph: u32 = GRAPH "graph" 7 36 Number;
        /// The column `graph_node`.
        graph_node: u64 = GRAPH_NODE "graph_node" 8 40 Number;
        /// Bytes.
        bytes: u64 = BYTES "bytes" 9 48 Bytes;
        /// The column `value`.
        value: u32 = VALUE "value" 10 56 Number;
        /// CUpti_ActivityMemoryKind.
        memory_kind: u16 = MEMORY_KIND "memory_kind" 11 60 Enum;
        /// The column `async`.
        async_: u16 = ASYNC "async" 12 62 Flags;
        /// The column `channel`.
        channel: u32 = CHANNEL "channel" 13 64 Number;
        #[doc(hidden)]
        reserved: u32;
    }
}

row! {
    /// The host waited, or a stream had to wait. Rows of type `sync`.
    Sync "sync" span [Sync] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// End, in nanoseconds of CLOCK_MONOTONIC.
        end_ns: u64 = END_NS "end_ns" 2 8 TimeEnd;
        /// Operation id.
        op_id: u64 = OP_ID "op_id" 3 16 Op;
        /// CUpti_ActivitySynchronizationType.
        sync_type: u32 = SYNC_TYPE "sync_type" 4 24 Enum;
        /// Context.
        context: u32 = CONTEXT "context" 5 28 Context;
        /// Stream; TS_NO_DEVICE: this type of wait has no stream.
        stream: u32 = STREAM "stream" 6 32 Stream;
        /// CUPTI's event id; 0: this type of wait has no event.
        event: u32 = EVENT "event" 7 36 Number;
        /// The column `result`.
        result: i32 = RESULT "result" 8 40 Enum;
        #[doc(hidden)]
        reserved: u32;
    }
}

row! {
    /// An allocation (TS_ROW_ALLOC) or a free (TS_ROW_FREE). Rows of type `alloc`, `free`.
    Memory "memory" instant [Alloc Free] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// Operation id.
        op_id: u64 = OP_ID "op_id" 3 8 Op;
        /// Address or handle.
        address: u64 = ADDRESS "address" 4 16 Address;
        /// Bytes.
        bytes: u64 = BYTES "bytes" 5 24 Bytes;
        /// Address or handle; the pool's address; 0: none.
        pool: u64 = POOL "pool" 6 32 Address;
        /// Device; [`NO_DEVICE`](crate::NO_DEVICE): none.
        device: u32 = DEVICE "device" 7 40 Device;
        /// Context.
        context: u32 = CONTEXT "context" 8 44 Context;
        /// Stream; TS_NO_DEVICE: not stream-ordered.
        stream: u32 = STREAM "stream" 9 48 Stream;
        /// CUpti_ActivityMemoryKind.
        memory_kind: u16 = MEMORY_KIND "memory_kind" 10 52 Enum;
        /// The column `async`.
        async_: u16 = ASYNC "async" 11 54 Flags;
        /// Bytes; device memory of the pool after the operation; 0: not recorded.
        pool_bytes: u64 = POOL_BYTES "pool_bytes" 12 56 Size;
        /// Bytes; the allocated part of pool_bytes; 0: not recorded.
        pool_used_bytes: u64 = POOL_USED_BYTES "pool_used_bytes" 13 64 Size;
    }
}

row! {
    /// Memory that is an argument of a copy, a set, an allocation or a free. start_ns is the time
    /// of the call's return. Rows of type `access`.
    Access "access" instant [Access] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// Operation id.
        op_id: u64 = OP_ID "op_id" 3 8 Op;
        /// Address or handle; 0: not recorded.
        dst: u64 = DST "dst" 4 16 Address;
        /// Address or handle; 0: not recorded.
        src: u64 = SRC "src" 5 24 Address;
        /// Bytes.
        dst_bytes: u64 = DST_BYTES "dst_bytes" 6 32 Size;
        /// Bytes.
        src_bytes: u64 = SRC_BYTES "src_bytes" 7 40 Size;
        /// Id of a thread of the session.
        thread: u32 = THREAD "thread" 8 48 Thread;
        /// Enum ts_access_kind.
        access: u32 = ACCESS "access" 9 52 Enum;
    }
}

row! {
    /// The application recorded an event: cudaEventRecord and its variants. Rows of type `event`.
    Event "event" instant [Event] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// Operation id.
        op_id: u64 = OP_ID "op_id" 3 8 Op;
        /// Address or handle; the vendor's handle.
        event: u64 = EVENT "event" 4 16 Address;
        /// Address or handle; as the application passed it.
        stream_handle: u64 = STREAM_HANDLE "stream_handle" 5 24 Address;
        /// Context.
        context: u32 = CONTEXT "context" 6 32 Context;
        /// Stream; TS_NO_DEVICE: unknown.
        stream: u32 = STREAM "stream" 7 36 Stream;
        /// The column `event_flags`.
        event_flags: u32 = EVENT_FLAGS "event_flags" 8 40 Flags;
        /// Id of a thread of the session.
        thread: u32 = THREAD "thread" 9 44 Thread;
    }
}

row! {
    /// cudaStreamWaitEvent: `stream` waits for `event`. With `event` 0 the stream waits for the
    /// host: for a function that cudaLaunchHostFunc queued, or for a value in memory
    /// (cuStreamWaitValue32). Records of events and waits in a captured stream have only the row of
    /// their call. Rows of type `stream_wait`.
    StreamWait "stream_wait" instant [StreamWait] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// Operation id.
        op_id: u64 = OP_ID "op_id" 3 8 Op;
        /// Address or handle.
        event: u64 = EVENT "event" 4 16 Address;
        /// Address or handle.
        stream_handle: u64 = STREAM_HANDLE "stream_handle" 5 24 Address;
        /// Context.
        context: u32 = CONTEXT "context" 6 32 Context;
        /// Stream; TS_NO_DEVICE: unknown.
        stream: u32 = STREAM "stream" 7 36 Stream;
        /// The column `event_flags`.
        event_flags: u32 = EVENT_FLAGS "event_flags" 8 40 Flags;
        /// Id of a thread of the session.
        thread: u32 = THREAD "thread" 9 44 Thread;
    }
}

row! {
    /// Rows of type `stream`.
    Stream "stream" instant [Stream] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// Address or handle; the vendor's handle; 0: unknown.
        handle: u64 = HANDLE "handle" 3 8 Address;
        /// Device; [`NO_DEVICE`](crate::NO_DEVICE): none.
        device: u32 = DEVICE "device" 4 16 Device;
        /// Context.
        context: u32 = CONTEXT "context" 5 20 Context;
        /// Stream.
        stream: u32 = STREAM "stream" 6 24 Stream;
        /// The column `priority`.
        priority: i32 = PRIORITY "priority" 7 28 Number;
        /// CUpti_ActivityStreamFlag.
        stream_flags: u32 = STREAM_FLAGS "stream_flags" 8 32 Flags;
        /// Id of a thread of the session.
        thread: u32 = THREAD "thread" 9 36 Thread;
        /// Enum ts_object_action.
        action: u32 = ACTION "action" 10 40 Enum;
        #[doc(hidden)]
        reserved: u32;
    }
}

row! {
    /// Rows of type `context`.
    Context "context" instant [Context] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// Address or handle.
        handle: u64 = HANDLE "handle" 3 8 Address;
        /// Device; [`NO_DEVICE`](crate::NO_DEVICE): none.
        device: u32 = DEVICE "device" 4 16 Device;
        /// Context.
        context: u32 = CONTEXT "context" 5 20 Context;
        /// Id of a thread of the session.
        thread: u32 = THREAD "thread" 6 24 Thread;
        /// Enum ts_object_action.
        action: u32 = ACTION "action" 7 28 Enum;
    }
}

row! {
    /// Rows of type `graph_launch`.
    GraphLaunch "graph_launch" instant [GraphLaunch] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC; time of the call; no node of the graph ran
        /// earlier.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// Operation id.
        op_id: u64 = OP_ID "op_id" 3 8 Op;
        /// Address or handle; the vendor's handle.
        graph_exec: u64 = GRAPH_EXEC "graph_exec" 4 16 Address;
        /// Address or handle.
        stream_handle: u64 = STREAM_HANDLE "stream_handle" 5 24 Address;
        /// Context.
        context: u32 = CONTEXT "context" 6 32 Context;
        /// Stream; TS_NO_DEVICE: unknown.
        stream: u32 = STREAM "stream" 7 36 Stream;
        /// CUPTI's graph id; 0: unknown.
        graph: u32 = GRAPH "graph" 8 40 Number;
        /// Id of a thread of the session.
        thread: u32 = THREAD "thread" 9 44 Thread;
    }
}

row! {
    /// A mark that the application made. Rows of type `mark`.
    Mark "mark" instant [Mark] (name) {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// The application's value, as bits.
        payload: u64 = PAYLOAD "payload" 3 8 Number;
        /// Text.
        name: StringId = NAME "name" 4 16 String;
        /// Text.
        domain: StringId = DOMAIN "domain" 5 20 String;
        /// The column `category`.
        category: u32 = CATEGORY "category" 6 24 Number;
        /// ARGB; 0: none.
        color: u32 = COLOR "color" 7 28 Number;
        /// Host stack.
        stack: StackId = STACK "stack" 8 32 Stack;
        /// Id of a thread of the session.
        thread: u32 = THREAD "thread" 9 36 Thread;
        /// Enum ts_payload_type.
        payload_type: u32 = PAYLOAD_TYPE "payload_type" 10 40 Enum;
        #[doc(hidden)]
        reserved: u32;
    }
}

row! {
    /// A range that has ended. Rows of type `range`.
    Range "range" span [Range] (name) {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// End, in nanoseconds of CLOCK_MONOTONIC.
        end_ns: u64 = END_NS "end_ns" 2 8 TimeEnd;
        /// Number of the range in the session, which its range_begin row also has.
        range_id: u64 = RANGE_ID "range_id" 3 16 Number;
        /// The column `payload`.
        payload: u64 = PAYLOAD "payload" 4 24 Number;
        /// Text.
        name: StringId = NAME "name" 5 32 String;
        /// Text.
        domain: StringId = DOMAIN "domain" 6 36 String;
        /// The column `category`.
        category: u32 = CATEGORY "category" 7 40 Number;
        /// The column `color`.
        color: u32 = COLOR "color" 8 44 Number;
        /// Host stack.
        stack: StackId = STACK "stack" 9 48 Stack;
        /// Id of a thread of the session; thread that began the range.
        thread: u32 = THREAD "thread" 10 52 Thread;
        /// The column `payload_type`.
        payload_type: u32 = PAYLOAD_TYPE "payload_type" 11 56 Enum;
        /// Enum ts_range_action.
        action: u32 = ACTION "action" 12 60 Enum;
        /// PUSH: number of open ranges of the same thread and domain around this one.
        level: u32 = LEVEL "level" 13 64 Number;
        /// Id of a thread of the session.
        end_thread: u32 = END_THREAD "end_thread" 14 68 Thread;
    }
}

row! {
    /// A range that began. If no `range` row of the session has its range_id, the range has not
    /// ended. Rows of type `range_begin`.
    RangeBegin "range_begin" instant [RangeBegin] (name) {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// The column `range_id`.
        range_id: u64 = RANGE_ID "range_id" 3 8 Number;
        /// The column `payload`.
        payload: u64 = PAYLOAD "payload" 4 16 Number;
        /// Text.
        name: StringId = NAME "name" 5 24 String;
        /// Text.
        domain: StringId = DOMAIN "domain" 6 28 String;
        /// The column `category`.
        category: u32 = CATEGORY "category" 7 32 Number;
        /// The column `color`.
        color: u32 = COLOR "color" 8 36 Number;
        /// Host stack.
        stack: StackId = STACK "stack" 9 40 Stack;
        /// Id of a thread of the session.
        thread: u32 = THREAD "thread" 10 44 Thread;
        /// The column `payload_type`.
        payload_type: u32 = PAYLOAD_TYPE "payload_type" 11 48 Enum;
        /// The column `action`.
        action: u32 = ACTION "action" 12 52 Enum;
        /// The column `level`.
        level: u32 = LEVEL "level" 13 56 Number;
        #[doc(hidden)]
        reserved: u32;
    }
}

row! {
    /// Rows of type `counter`.
    Counter "counter" instant [Counter] (name) {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// The column `value`.
        value: f64 = VALUE "value" 3 8 Double;
        /// If value_type is TS_PAYLOAD_I64: the exact value.
        integer: i64 = INTEGER "integer" 7 16 Number;
        /// Text.
        name: StringId = NAME "name" 4 24 String;
        /// Text.
        domain: StringId = DOMAIN "domain" 5 28 String;
        /// Id of a thread of the session.
        thread: u32 = THREAD "thread" 6 32 Thread;
        /// Enum ts_payload_type.
        value_type: u32 = VALUE_TYPE "value_type" 8 36 Enum;
    }
}

row! {
    /// The value `ticks` of `clock` and start_ns are the same instant, with an error of at most
    /// error_ns. Rows of type `clock`.
    Clock "clock" instant [Clock] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// The column `ticks`.
        ticks: u64 = TICKS "ticks" 3 8 Number;
        /// Duration in nanoseconds.
        error_ns: u64 = ERROR_NS "error_ns" 4 16 Duration;
        /// Enum ts_clock.
        clock: u32 = CLOCK "clock" 5 24 Enum;
        #[doc(hidden)]
        reserved: u32;
    }
}

row! {
    /// `count` losses of one `reason` between start_ns and end_ns. Rows of type `loss`.
    Loss "loss" span [Loss] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// End, in nanoseconds of CLOCK_MONOTONIC.
        end_ns: u64 = END_NS "end_ns" 2 8 TimeEnd;
        /// Count.
        count: u64 = COUNT "count" 3 16 Count;
        /// Enum ts_loss_reason.
        reason: u32 = REASON "reason" 4 24 Enum;
        /// Context; 0: the loss belongs to no context.
        context: u32 = CONTEXT "context" 5 28 Context;
        /// Id of a thread of the session; owner of the shard that counted the loss; 0: the loss
        /// belongs to no thread.
        thread: u32 = THREAD "thread" 6 32 Thread;
        #[doc(hidden)]
        reserved: u32;
    }
}

row! {
    /// Rows of type `overhead`.
    Overhead "overhead" span [Overhead] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// End, in nanoseconds of CLOCK_MONOTONIC.
        end_ns: u64 = END_NS "end_ns" 2 8 TimeEnd;
        /// CUpti_ActivityOverheadKind.
        overhead_kind: u32 = OVERHEAD_KIND "overhead_kind" 3 16 Enum;
        /// CUpti_ActivityObjectKind.
        object_kind: u32 = OBJECT_KIND "object_kind" 4 20 Enum;
        /// Id of a thread, device, context or stream, according to object_kind.
        object: u32 = OBJECT "object" 5 24 Number;
        #[doc(hidden)]
        reserved: u32;
    }
}

row! {
    /// Device code was loaded or unloaded. Rows of type `gpu_module`.
    GpuModule "gpu_module" instant [GpuModule] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// Bytes; size of the image; 0: unknown.
        bytes: u64 = BYTES "bytes" 3 8 Size;
        /// CUPTI's module id.
        module: u32 = MODULE "module" 4 16 Number;
        /// Context.
        context: u32 = CONTEXT "context" 5 20 Context;
        /// Enum ts_object_action.
        action: u32 = ACTION "action" 6 24 Enum;
        /// Id of a thread of the session.
        thread: u32 = THREAD "thread" 7 28 Thread;
    }
}

row! {
    /// From start_ns on, the application held CUPTI (`yielded` 1), or the shim held it again
    /// (`yielded` 0). Rows of type `yield`.
    Yield "yield" instant [Yield] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// Text; name of the library that took CUPTI; 0: unknown.
        to: StringId = TO "to" 3 8 String;
        /// The column `yielded`.
        yielded: u32 = YIELDED "yielded" 4 12 Flags;
        /// Id of a thread of the session.
        thread: u32 = THREAD "thread" 5 16 Thread;
        #[doc(hidden)]
        reserved: u32;
    }
}

row! {
    /// From start_ns on, calls that began were not recorded (`paused` 1), or were recorded again
    /// (`paused` 0). Rows of type `pause`.
    Pause "pause" instant [Pause] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// The column `paused`.
        paused: u32 = PAUSED "paused" 3 8 Flags;
        /// Enum ts_pause_cause.
        cause: u32 = CAUSE "cause" 4 12 Enum;
        /// Id of a thread of the session.
        thread: u32 = THREAD "thread" 5 16 Thread;
        #[doc(hidden)]
        reserved: u32;
    }
}

row! {
    /// A thread left its CPU at start_ns and ran again at end_ns. This row and pressure rows may
    /// name another thread. If that thread is of another user than the session, and the session is
    /// not root's, the thread is hidden: its tid and pid are 0, and its name is "another user's
    /// thread". A tid of 0 without a name: no thread. Rows of type `off_cpu`.
    OffCpu "off_cpu" span [OffCpu] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// End, in nanoseconds of CLOCK_MONOTONIC.
        end_ns: u64 = END_NS "end_ns" 2 8 TimeEnd;
        /// Time, in nanoseconds of CLOCK_MONOTONIC; when the thread became runnable; 0: it stayed
        /// runnable, or this was not seen.
        woken_ns: u64 = WOKEN_NS "woken_ns" 3 16 Time;
        /// Address or handle; FUTEX: address of its word; PAGE_FAULT: 0.
        address: u64 = ADDRESS "address" 4 24 Address;
        /// Id of a thread of the session.
        thread: u32 = THREAD "thread" 5 32 Thread;
        /// The column `pid`.
        pid: u32 = PID "pid" 6 36 Number;
        /// Enum ts_off_cpu_reason.
        reason: u32 = REASON "reason" 7 40 Enum;
        /// The machine's number of the system call that the thread was in; TS_NO_SYSCALL.
        syscall: u32 = SYSCALL "syscall" 8 44 Enum;
        /// Enum ts_waker_context.
        waker_context: u32 = WAKER_CONTEXT "waker_context" 9 48 Enum;
        /// The column `waker_tid`.
        waker_tid: u32 = WAKER_TID "waker_tid" 10 52 Number;
        /// The column `waker_pid`.
        waker_pid: u32 = WAKER_PID "waker_pid" 11 56 Number;
        /// Text; string: the waker's name.
        waker: StringId = WAKER "waker" 12 60 String;
        /// Thread that ran on the CPU instead; 0: none, or hidden.
        next_tid: u32 = NEXT_TID "next_tid" 13 64 Number;
        /// The column `next_pid`.
        next_pid: u32 = NEXT_PID "next_pid" 14 68 Number;
        /// Text; string: the name of that thread.
        next: StringId = NEXT "next" 15 72 String;
        /// CPU that the thread left.
        cpu: u32 = CPU "cpu" 16 76 Number;
        /// CPU on which the thread ran again.
        end_cpu: u32 = END_CPU "end_cpu" 17 80 Number;
        /// Count; number of changes of the CPU in between.
        migrations: u32 = MIGRATIONS "migrations" 18 84 Count;
        /// TS_OFF_CPU_*.
        flags: u32 = FLAGS "flags" 19 88 Flags;
        /// Host stack; where the thread left its CPU.
        stack: StackId = STACK "stack" 20 92 Stack;
    }
}

row! {
    /// The kernel began to handle a page fault at start_ns. At end_ns the page was present. Rows of
    /// type `page_fault`.
    PageFault "page_fault" span [PageFault] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// End, in nanoseconds of CLOCK_MONOTONIC.
        end_ns: u64 = END_NS "end_ns" 2 8 TimeEnd;
        /// Address or handle.
        address: u64 = ADDRESS "address" 3 16 Address;
        /// Address or handle; address of the instruction that accessed the page.
        instruction: u64 = INSTRUCTION "instruction" 4 24 Address;
        /// Id of a thread of the session.
        thread: u32 = THREAD "thread" 5 32 Thread;
        /// The column `pid`.
        pid: u32 = PID "pid" 6 36 Number;
        /// Enum ts_fault_kind.
        fault: u32 = FAULT "fault" 7 40 Enum;
        /// Enum ts_fault_memory.
        memory: u32 = MEMORY "memory" 8 44 Enum;
    }
}

row! {
    /// A system call. A field that the call does not have is 0; without a descriptor `fd` is -1.
    /// Rows of type `syscall`.
    Syscall "syscall" span [Syscall] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// End, in nanoseconds of CLOCK_MONOTONIC.
        end_ns: u64 = END_NS "end_ns" 2 8 TimeEnd;
        /// A negative errno if the call failed.
        result: i64 = RESULT "result" 3 16 Number;
        /// Address or handle; address of memory or of a futex.
        address: u64 = ADDRESS "address" 4 24 Address;
        /// Bytes; number of requested bytes.
        bytes: u64 = BYTES "bytes" 5 32 Size;
        /// Bytes; offset in the file.
        offset: u64 = OFFSET "offset" 6 40 Size;
        /// Id of a thread of the session.
        thread: u32 = THREAD "thread" 7 48 Thread;
        /// The column `pid`.
        pid: u32 = PID "pid" 8 52 Number;
        /// The machine's number of the call.
        syscall: u32 = SYSCALL "syscall" 9 56 Enum;
        /// The column `fd`.
        fd: i32 = FD "fd" 10 60 Number;
        /// Text; string: the last component of the file's path; openat: the path that the caller
        /// passed.
        file: StringId = FILE "file" 11 64 String;
        /// Ioctl: the request; futex: the operation; madvise: the advice.
        operation: u32 = OPERATION "operation" 12 68 Enum;
    }
}

row! {
    /// Recorded arguments of a call in a session without the shim. The api row of the call has the
    /// same op_id. The name of a kernel is known only if probes saw which name its handle got; it
    /// is never guessed. Rows of type `arguments`.
    Arguments "arguments" instant [Arguments] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// Operation id.
        op_id: u64 = OP_ID "op_id" 3 8 Op;
        /// Bytes; number of bytes to copy, set or allocate; 0: no argument has it.
        bytes: u64 = BYTES "bytes" 4 16 Bytes;
        /// Address or handle; of a launch: the handle or host address of the kernel that the caller
        /// passed; else 0.
        function: u64 = FUNCTION "function" 5 24 Address;
        /// Text; string: the kernel's name, mangled; 0: unknown.
        kernel: StringId = KERNEL "kernel" 6 32 String;
        /// Id of a thread of the session.
        thread: u32 = THREAD "thread" 7 36 Thread;
    }
}

row! {
    /// A request to a disk. The thread passed it to the block layer at start_ns, and it was
    /// complete at end_ns. Requests that the kernel makes later by itself belong to no thread of
    /// the process, and have no row. If a disk consists of other disks, a request to it has a row,
    /// and the resulting requests to the other disks have rows too. Rows of type `block_io`.
    BlockIo "block_io" span [BlockIo] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// End, in nanoseconds of CLOCK_MONOTONIC.
        end_ns: u64 = END_NS "end_ns" 2 8 TimeEnd;
        /// Time, in nanoseconds of CLOCK_MONOTONIC; the request was queued until then; 0: not seen,
        /// for example because the disk has no queue.
        issued_ns: u64 = ISSUED_NS "issued_ns" 3 16 Time;
        /// In units of 512 bytes, from the beginning of the disk.
        sector: u64 = SECTOR "sector" 4 24 Number;
        /// Bytes.
        bytes: u64 = BYTES "bytes" 5 32 Size;
        /// Id of a thread of the session; thread that passed the request to the block layer.
        thread: u32 = THREAD "thread" 6 40 Thread;
        /// The column `pid`.
        pid: u32 = PID "pid" 7 44 Number;
        /// Text; string: "nvme0n1".
        disk: StringId = DISK "disk" 8 48 String;
        /// Enum ts_block_operation.
        operation: u32 = OPERATION "operation" 9 52 Enum;
        /// A negative errno if the request failed.
        result: i32 = RESULT "result" 10 56 Number;
        /// TS_BLOCK_IO_*.
        flags: u32 = FLAGS "flags" 11 60 Flags;
    }
}

row! {
    /// Rows of type `pressure`.
    Pressure "pressure" span [Pressure] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// End, in nanoseconds of CLOCK_MONOTONIC.
        end_ns: u64 = END_NS "end_ns" 2 8 TimeEnd;
        /// Number of pages that the thread freed.
        pages: u64 = PAGES "pages" 3 16 Number;
        /// Id of a thread of the session; OOM_KILL: the thread that the kernel chose.
        thread: u32 = THREAD "thread" 4 24 Thread;
        /// The column `pid`.
        pid: u32 = PID "pid" 5 28 Number;
        /// Enum ts_pressure_kind.
        kind: u32 = KIND "kind" 6 32 Enum;
        /// OOM_KILL: the thread that asked for memory then. by_pid and `by` belong to it, too.
        by_tid: u32 = BY_TID "by_tid" 7 36 Number;
        /// The column `by_pid`.
        by_pid: u32 = BY_PID "by_pid" 8 40 Number;
        /// Text; string: the name of that thread.
        by: StringId = BY "by" 9 44 String;
        /// The column `flags`.
        flags: u32 = FLAGS "flags" 10 48 Flags;
        #[doc(hidden)]
        reserved: u32;
    }
}

row! {
    /// Work of a GPU's kernel driver for a thread. The fences that belong to a job have no rows.
    /// Rows of type `driver`.
    Driver "driver" span [Driver] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// End, in nanoseconds of CLOCK_MONOTONIC.
        end_ns: u64 = END_NS "end_ns" 2 8 TimeEnd;
        /// Time, in nanoseconds of CLOCK_MONOTONIC; JOB: when the device got the job; 0: not seen.
        issued_ns: u64 = ISSUED_NS "issued_ns" 3 16 Time;
        /// Timeline of the fence; JOB: of the fence that reports the job's completion.
        context: u64 = CONTEXT "context" 4 24 Number;
        /// Number of the fence on this timeline.
        number: u64 = NUMBER "number" 5 32 Number;
        /// Id of a thread of the session.
        thread: u32 = THREAD "thread" 6 40 Thread;
        /// The column `pid`.
        pid: u32 = PID "pid" 7 44 Number;
        /// Enum ts_driver_kind.
        kind: u32 = KIND "kind" 8 48 Enum;
        /// Text; JOB: string: the name of the scheduler.
        ring: StringId = RING "ring" 9 52 String;
        /// A negative errno on failure.
        result: i32 = RESULT "result" 10 56 Number;
        /// The column `flags`.
        flags: u32 = FLAGS "flags" 11 60 Flags;
    }
}

row! {
    /// A thread was on a processor at start_ns. The sample stands for period_ns of processor time
    /// that ended at start_ns. Rows of type `sample`.
    Sample "sample" instant [Sample] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// Duration in nanoseconds; processor time of the thread that the sample stands for.
        period_ns: u64 = PERIOD_NS "period_ns" 3 8 Duration;
        /// Id of a thread of the session; any thread of the session's process, or of the child
        /// process `pid`.
        thread: u32 = THREAD "thread" 4 16 Thread;
        /// A child without its own session; 0: the session's process.
        pid: u32 = PID "pid" 5 20 Number;
        /// Host stack; stack of the thread; TS_ID_UNKNOWN: unknown.
        stack: StackId = STACK "stack" 6 24 Stack;
        /// The column `cpu`.
        cpu: u32 = CPU "cpu" 7 28 Number;
        /// TS_SAMPLE_*.
        flags: u32 = FLAGS "flags" 8 32 Flags;
        #[doc(hidden)]
        reserved: u32;
    }
}

row! {
    /// A session. A later row with the same `session` supersedes an earlier one. Rows of type
    /// `session`.
    Session "session" definition [Session] () {
        /// Number of a session; its number in this file, from 1.
        session: u32 = SESSION "session" 1 0 Session;
        /// The column `pid`.
        pid: u32 = PID "pid" 2 4 Number;
        /// The traced process that forked this one; 0: none.
        parent_pid: u32 = PARENT_PID "parent_pid" 3 8 Number;
        /// From the peer's credentials; UINT32_MAX: unknown.
        uid: u32 = UID "uid" 4 12 Number;
        /// Start, in nanoseconds of CLOCK_MONOTONIC.
        start_ns: u64 = START_NS "start_ns" 5 16 TimeStart;
        /// End, in nanoseconds of CLOCK_MONOTONIC; 0: the session has not ended.
        end_ns: u64 = END_NS "end_ns" 6 24 TimeEnd;
        /// The column `start_realtime_ns`.
        start_realtime_ns: u64 = START_REALTIME_NS "start_realtime_ns" 7 32 Number;
        /// Duration in nanoseconds; largest error bound of host times so far.
        clock_error_ns: u64 = CLOCK_ERROR_NS "clock_error_ns" 8 40 Duration;
        /// The column `uuid`.
        uuid: [u8; 16] = UUID "uuid" 9 48 Octets;
        /// Text; string.
        program: StringId = PROGRAM "program" 10 64 String;
        /// Enum ts_clock.
        host_clock: u32 = HOST_CLOCK "host_clock" 11 68 Enum;
        /// CuDriverGetVersion().
        driver_version: u32 = DRIVER_VERSION "driver_version" 12 72 Number;
        /// CuptiGetVersion().
        vendor_version: u32 = VENDOR_VERSION "vendor_version" 13 76 Number;
        /// Enum ts_session_state.
        state: u32 = STATE "state" 14 80 Enum;
        /// Enum ts_session_end.
        ended: u32 = ENDED "ended" 15 84 Enum;
        /// Enum ts_empty_reason.
        empty_reason: u32 = EMPTY_REASON "empty_reason" 16 88 Enum;
        /// Text; string.
        empty_text: StringId = EMPTY_TEXT "empty_text" 17 92 String;
        /// Enum ts_session_source.
        source: u32 = SOURCE "source" 18 96 Enum;
        /// Text; string, if `source` is PROBES: the words of the process's command line, with
        /// blanks between; 0: unknown.
        command_line: StringId = COMMAND_LINE "command_line" 19 100 String;
        /// TS_INTERFACE_*: the vendors' interfaces that the shim uses.
        interfaces: u32 = INTERFACES "interfaces" 20 104 Flags;
        /// HipRuntimeGetVersion(); 0: no HIP.
        hip_version: u32 = HIP_VERSION "hip_version" 21 108 Number;
        /// Duration in nanoseconds; largest error of the times of GPU work that HIP's events give;
        /// 0: no such times.
        hip_time_error_ns: u64 = HIP_TIME_ERROR_NS "hip_time_error_ns" 22 112 Duration;
        /// Text; string: the id of the batch job; 0: unknown.
        job: StringId = JOB "job" 23 120 String;
        /// TS_JOB_*: `rank` and `local_rank` are known.
        job_flags: u32 = JOB_FLAGS "job_flags" 24 124 Flags;
        /// Number of the process in its job, from 0.
        rank: u32 = RANK "rank" 25 128 Number;
        /// Number of processes of the job; 0: unknown.
        n_ranks: u32 = N_RANKS "n_ranks" 26 132 Number;
        /// Number of the process on its machine, from 0.
        local_rank: u32 = LOCAL_RANK "local_rank" 27 136 Number;
        #[doc(hidden)]
        reserved: u32;
    }
}

row! {
    /// A thread that made records. A new thread with a reused tid has a row of its own. Rows of
    /// type `thread`.
    Thread "thread" definition [Thread] (name) {
        /// Start, in nanoseconds of CLOCK_MONOTONIC; time of its first record.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// Id of a thread of the session; id of the thread, to which columns `thread` refer.
        thread: u32 = THREAD "thread" 2 8 Thread;
        /// The column `tid`.
        tid: u32 = TID "tid" 3 12 Number;
        /// Text; string.
        name: StringId = NAME "name" 4 16 String;
        #[doc(hidden)]
        reserved: u32;
    }
}

row! {
    /// A GPU, as the session's process sees it. A later row with the same `device` supersedes an
    /// earlier one. Rows of type `device`.
    Device "device" definition [Device] (name) {
        /// Device; [`NO_DEVICE`](crate::NO_DEVICE): none; CUPTI's device id, to which columns
        /// `device` refer.
        device: u32 = DEVICE "device" 1 0 Device;
        /// Text; string.
        name: StringId = NAME "name" 2 4 String;
        /// The column `uuid`.
        uuid: [u8; 16] = UUID "uuid" 3 8 Octets;
        /// Bytes.
        memory_bytes: u64 = MEMORY_BYTES "memory_bytes" 4 24 Size;
        /// The column `memory_bandwidth_kb_per_s`.
        memory_bandwidth_kb_per_s: u64 = MEMORY_BANDWIDTH_KB_PER_S "memory_bandwidth_kb_per_s" 5 32 Number;
        /// The column `compute_capability_major`.
        compute_capability_major: u32 = COMPUTE_CAPABILITY_MAJOR "compute_capability_major" 6 40 Number;
        /// The column `compute_capability_minor`.
        compute_capability_minor: u32 = COMPUTE_CAPABILITY_MINOR "compute_capability_minor" 7 44 Number;
        /// The column `n_multiprocessors`.
        n_multiprocessors: u32 = N_MULTIPROCESSORS "n_multiprocessors" 8 48 Number;
        /// The column `core_clock_khz`.
        core_clock_khz: u32 = CORE_CLOCK_KHZ "core_clock_khz" 9 52 Number;
        /// The column `n_copy_engines`.
        n_copy_engines: u32 = N_COPY_ENGINES "n_copy_engines" 10 56 Number;
        /// The column `threads_per_warp`.
        threads_per_warp: u32 = THREADS_PER_WARP "threads_per_warp" 11 60 Number;
        /// The column `max_warps_per_multiprocessor`.
        max_warps_per_multiprocessor: u32 = MAX_WARPS_PER_MULTIPROCESSOR "max_warps_per_multiprocessor" 12 64 Number;
        /// The column `max_blocks_per_multiprocessor`.
        max_blocks_per_multiprocessor: u32 = MAX_BLOCKS_PER_MULTIPROCESSOR "max_blocks_per_multiprocessor" 13 68 Number;
        /// Bytes.
        max_shared_bytes_per_multiprocessor: u32 = MAX_SHARED_BYTES_PER_MULTIPROCESSOR "max_shared_bytes_per_multiprocessor" 14 72 Size;
        /// The column `max_registers_per_multiprocessor`.
        max_registers_per_multiprocessor: u32 = MAX_REGISTERS_PER_MULTIPROCESSOR "max_registers_per_multiprocessor" 15 76 Number;
        /// Bytes.
        l2_cache_bytes: u32 = L2_CACHE_BYTES "l2_cache_bytes" 16 80 Size;
        /// TS_DEVICE_*.
        flags: u32 = FLAGS "flags" 17 84 Flags;
    }
}

row! {
    /// An ELF file that was mapped into the process, or unmapped from it (TS_MODULE_UNLOADED). Rows
    /// of type `module`.
    Module "module" definition [Module] () {
        /// Start, in nanoseconds of CLOCK_MONOTONIC; mapped or unmapped from this time on.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// Address or handle; first mapped address.
        address: u64 = ADDRESS "address" 2 8 Address;
        /// Address or handle.
        address_end: u64 = ADDRESS_END "address_end" 3 16 Address;
        /// Address or handle; address in memory = bias + virtual address in the file.
        bias: u64 = BIAS "bias" 4 24 Address;
        /// Text; string.
        path: StringId = PATH "path" 5 32 String;
        /// The column `flags`.
        flags: u32 = FLAGS "flags" 6 36 Flags;
        /// Bytes.
        n_build_id_bytes: u32 = N_BUILD_ID_BYTES "n_build_id_bytes" 7 40 Size;
        /// The column `build_id`.
        build_id: [u8; 32] = BUILD_ID "build_id" 8 44 Octets;
        #[doc(hidden)]
        reserved: u32;
    }
}

row! {
    /// A name that the application gave to an object. A later row of the same kind, object and
    /// domain supersedes an earlier one. Rows of type `name`.
    Name "name" definition [Name] (name) {
        /// Start, in nanoseconds of CLOCK_MONOTONIC; when the application gave the name.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// The object; `kind` determines its meaning.
        object: u64 = OBJECT "object" 3 8 Number;
        /// Enum ts_name_kind.
        kind: u32 = KIND "kind" 2 16 Enum;
        /// Text; string.
        domain: StringId = DOMAIN "domain" 4 20 String;
        /// Text; string.
        name: StringId = NAME "name" 5 24 String;
        /// Context; STREAM: CUPTI's context id; 0: unknown.
        context: u32 = CONTEXT "context" 6 28 Context;
        /// Stream; STREAM: CUPTI's stream id; TS_NO_DEVICE: unknown.
        stream: u32 = STREAM "stream" 7 32 Stream;
        #[doc(hidden)]
        reserved: u32;
    }
}

row! {
    /// A fact about the recording. A later row with the same key supersedes an earlier one. Rows of
    /// type `metadata`.
    Metadata "metadata" definition [Metadata] () {
        /// Text; string.
        key: StringId = KEY "key" 1 0 String;
        /// Text; string.
        value: StringId = VALUE "value" 2 4 String;
    }
}

row! {
    /// An operation that a replay must repeat. Only sessions whose operations were captured have
    /// such rows. `sequence` is the order in which the operations took effect. enum
    /// ts_operation_kind lists the columns that each kind uses; all other columns are 0. Rows of
    /// type `operation`.
    Operation "operation" instant [Operation] (name) {
        /// Start, in nanoseconds of CLOCK_MONOTONIC; time of the call.
        start_ns: u64 = START_NS "start_ns" 1 0 TimeStart;
        /// Number of the operation in its session, from 1, without gaps.
        sequence: u64 = SEQUENCE "sequence" 3 8 Number;
        /// Operation id.
        op_id: u64 = OP_ID "op_id" 4 16 Op;
        /// Address or handle.
        object: u64 = OBJECT "object" 5 24 Address;
        /// Address or handle.
        parent: u64 = PARENT "parent" 6 32 Address;
        /// Address or handle.
        stream_handle: u64 = STREAM_HANDLE "stream_handle" 7 40 Address;
        /// Address or handle.
        dst: u64 = DST "dst" 8 48 Address;
        /// Address or handle.
        src: u64 = SRC "src" 9 56 Address;
        /// Bytes.
        bytes: u64 = BYTES "bytes" 10 64 Size;
        /// The column `height`.
        height: u64 = HEIGHT "height" 11 72 Number;
        /// The column `depth`.
        depth: u64 = DEPTH "depth" 12 80 Number;
        /// Bytes.
        dst_pitch: u64 = DST_PITCH "dst_pitch" 13 88 Size;
        /// Bytes.
        src_pitch: u64 = SRC_PITCH "src_pitch" 14 96 Size;
        /// Bytes.
        dst_slice: u64 = DST_SLICE "dst_slice" 15 104 Size;
        /// Bytes.
        src_slice: u64 = SRC_SLICE "src_slice" 16 112 Size;
        /// The column `value`.
        value: u64 = VALUE "value" 17 120 Number;
        /// Enum ts_operation_kind.
        kind: u32 = KIND "kind" 18 128 Enum;
        /// TS_OPERATION_*.
        flags: u32 = FLAGS "flags" 19 132 Flags;
        /// Id of a thread of the session.
        thread: u32 = THREAD "thread" 20 136 Thread;
        /// Context.
        context: u32 = CONTEXT "context" 21 140 Context;
        /// Device; [`NO_DEVICE`](crate::NO_DEVICE): none.
        device: u32 = DEVICE "device" 22 144 Device;
        /// Text; string.
        name: StringId = NAME "name" 23 148 String;
        /// Number of the blob with the content; 0: none.
        content: u32 = CONTENT "content" 24 152 Number;
        /// Bytes.
        shared_bytes: u32 = SHARED_BYTES "shared_bytes" 25 156 Size;
        /// The column `grid_x`.
        grid_x: u32 = GRID_X "grid_x" 26 160 Number;
        /// The column `grid_y`.
        grid_y: u32 = GRID_Y "grid_y" 27 164 Number;
        /// The column `grid_z`.
        grid_z: u32 = GRID_Z "grid_z" 28 168 Number;
        /// The column `block_x`.
        block_x: u32 = BLOCK_X "block_x" 29 172 Number;
        /// The column `block_y`.
        block_y: u32 = BLOCK_Y "block_y" 30 176 Number;
        /// The column `block_z`.
        block_z: u32 = BLOCK_Z "block_z" 31 180 Number;
    }
}

row! {
    /// The place of this file in a recording that has several files. The first file has no such
    /// row. Each other file begins with copies of the previous file's definitions, with the same
    /// ids. This row follows the copies. Rows of type `part`.
    Part "part" definition [Part] () {
        /// The UUID in the header of the first file.
        recording: [u8; 16] = RECORDING "recording" 1 0 Octets;
        /// Number of this file in the recording; the first file is 1.
        part: u32 = PART "part" 2 16 Number;
        /// Number in the name of the previous file.
        before: u32 = BEFORE "before" 3 20 Number;
        /// Count; number of blocks of copies before this row.
        carried: u64 = CARRIED "carried" 4 24 Count;
    }
}

row! {
    /// A source of symbols. If several images have the same file (path, build id), session and
    /// kind, only the last one and its symbols are valid. Rows of type `image`.
    Image "image" definition [Image] () {
        /// Its number in this file, from 1.
        image: u32 = IMAGE "image" 1 0 Number;
        /// Text; string.
        path: StringId = PATH "path" 2 4 String;
        /// Number of a session; 0: valid for all sessions that mapped the file.
        session: u32 = SESSION "session" 3 8 Session;
        /// Enum ts_image_kind.
        kind: u32 = KIND "kind" 4 12 Enum;
        /// Enum ts_image_result.
        result: u32 = RESULT "result" 5 16 Enum;
        /// Text; string: the problem; 0: none.
        why: StringId = WHY "why" 6 20 String;
        /// Bytes.
        n_build_id_bytes: u32 = N_BUILD_ID_BYTES "n_build_id_bytes" 7 24 Size;
        /// The column `build_id`.
        build_id: [u8; 32] = BUILD_ID "build_id" 8 28 Octets;
    }
}

row! {
    /// A function at an address. Each function that was inlined at the address has a row, the
    /// innermost first; the function that contains them has the last one. To look up a return
    /// address, subtract 1, because the call lies before it. Rows of type `symbol`.
    Symbol "symbol" definition [Symbol] () {
        /// Address or handle.
        address: u64 = ADDRESS "address" 1 0 Address;
        /// The column `image`.
        image: u32 = IMAGE "image" 2 8 Number;
        /// 0: the innermost function.
        depth: u32 = DEPTH "depth" 3 12 Number;
        /// Text; string; 0: unknown.
        function: StringId = FUNCTION "function" 4 16 String;
        /// Text; string; 0: unknown.
        file: StringId = FILE "file" 5 20 String;
        /// 0: unknown.
        line: u32 = LINE "line" 6 24 Number;
        #[doc(hidden)]
        reserved: u32;
    }
}
