/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows: what a trace consists of. One C struct for each type of row, and one table for each that
 * names its columns; encoding, decoding, printing and the tests all work from that table.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC. Ids:
 *   string         the file's; 0 is unknown (or none)
 *   stack, thread  the session's, counted from 1; 0 is unknown. Every row is read together with the
 *                  number of its session.
 *   op_id          the session's: joins an API row with the device rows that it caused
 *   device, context, stream, graph: CUPTI's own ids within the session; TS_NO_DEVICE where a row has none
 *
 * A row type never changes the meaning of a column. New columns get new ids; a reader skips columns that it does not
 * know, and a column that a file lacks reads as zero.
 *
 * Everything here is constant data: thread- and signal-safe.
 */
#pragma once

#include "proto/abi/record.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The numbers are on disk. Events first: the same numbers as enum ts_record_type. */
enum ts_row_type {
	TS_ROW_API = 1,
	TS_ROW_KERNEL = 2,
	TS_ROW_MEMCPY = 3,
	TS_ROW_MEMSET = 4,
	TS_ROW_SYNC = 5,
	TS_ROW_ALLOC = 6,
	TS_ROW_FREE = 7,
	TS_ROW_EVENT = 8,
	TS_ROW_STREAM_WAIT = 9,
	TS_ROW_STREAM = 10,
	TS_ROW_CONTEXT = 11,
	TS_ROW_GRAPH_LAUNCH = 12,
	TS_ROW_MARK = 13,
	TS_ROW_RANGE = 14,
	TS_ROW_COUNTER = 15,
	TS_ROW_CLOCK = 16,
	TS_ROW_LOSS = 17,
	TS_ROW_OVERHEAD = 18,
	TS_ROW_GPU_MODULE = 19,
	TS_ROW_YIELD = 20,
	TS_ROW_RANGE_BEGIN = 21,
	TS_ROW_PAUSE = 22,
	/* The kernel's, by eBPF: no ring carries them, and no record may have these numbers. */
	TS_ROW_OFF_CPU = 23,
	TS_ROW_PAGE_FAULT = 24,
	TS_ROW_SYSCALL = 25,
	TS_ROW_ACCESS = 26, /* a record again */
	/* Of a session without a shim. */
	TS_ROW_ARGUMENTS = 27,
	TS_ROW_BLOCK_IO = 28, /* the kernel's */
	TS_ROW_OPERATION = 29,
	TS_ROW_PRESSURE = 30, /* the kernel's again */
	TS_ROW_DRIVER = 31,
	TS_ROW_SAMPLE = 41, /* the kernel's: events and definitions share the numbers from 41 on */
	TS_ROW_EVENT_END, /* above all numbers of events: the length of an array by type of event */

	/* Definitions. */
	TS_ROW_SESSION = 32,
	TS_ROW_THREAD = 33,
	TS_ROW_DEVICE = 34,
	TS_ROW_MODULE = 35,
	TS_ROW_METADATA = 36,
	TS_ROW_IMAGE = 37,
	TS_ROW_SYMBOL = 38,
	TS_ROW_NAME = 39,
	TS_ROW_PART = 40,

	/* Without a row struct: lists, read by ts_sbt_reader_string() and its kin. */
	TS_ROW_STRING = 48,
	TS_ROW_STACK = 49,
	TS_ROW_CHECKPOINT = 50,
	TS_ROW_BLOB = 51,

	/* The reader's and the writer's own: what there is, and what is in it. */
	TS_ROW_INDEX = 56,
	TS_ROW_BLOCK_STREAM = 57,
	TS_ROW_BLOCK_THREAD = 58,
	TS_ROW_BLOCK_SUM = 59,

	/* What replay/state keeps to be quick: lists again, of bytes that it alone reads. */
	TS_ROW_STATE = 60,
	TS_ROW_STATE_HEAD = 61,

	/* Of what is in a block, too: files of before it was there have none. */
	TS_ROW_BLOCK_OPERATION = 62,
	TS_ROW_COUNT = 64
};

/* For sets of row types: a type is a bit of a uint64_t. */
#define TS_ROW_BIT(type) (UINT64_C(1) << (type))
#define TS_ROW_EVENTS	 (UINT64_C(0xfffffffe) | TS_ROW_BIT(TS_ROW_SAMPLE))
#define TS_ROW_N_EVENTS	 32u /* types in TS_ROW_EVENTS */
/* Rows of the kernel's events, by eBPF programs; samples come by perf_event_open(2) as well. */
#define TS_ROW_KERNELS                                                                             \
	(TS_ROW_BIT(TS_ROW_OFF_CPU) | TS_ROW_BIT(TS_ROW_PAGE_FAULT) | TS_ROW_BIT(TS_ROW_SYSCALL) | \
	 TS_ROW_BIT(TS_ROW_BLOCK_IO) | TS_ROW_BIT(TS_ROW_PRESSURE) | TS_ROW_BIT(TS_ROW_DRIVER) |   \
	 TS_ROW_BIT(TS_ROW_SAMPLE))

/* Takes any number, also of a type that this version does not know. */
static inline bool ts_row_is_event(unsigned type)
{
	return type < TS_ROW_COUNT && TS_ROW_EVENTS & TS_ROW_BIT(type);
}

/* The event type that follows `type` by number; 0 after the last. The first is TS_ROW_API. */
static inline unsigned ts_row_next_event(unsigned type)
{
	while (++type < TS_ROW_EVENT_END)
		if (ts_row_is_event(type))
			return type;
	return 0;
}

/* An outermost call of the vendor's interface. */
struct ts_row_api {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t op_id;
	uint64_t nested_op_id; /* 0: none, or the same */
	uint32_t thread;
	uint32_t stack;
	uint32_t context; /* 0 where none was current */
	int32_t result;	  /* CUresult or cudaError_t */
	uint16_t domain;  /* enum ts_api_domain */
	uint16_t cbid;	  /* with `domain` names the function */
	uint32_t flags;	  /* TS_API_* */
};

struct ts_row_kernel {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t op_id;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t graph;	       /* 0: not from a graph */
	uint64_t graph_node;   /* 0: not from a graph */
	uint64_t queued_ns;    /* 0 where not collected */
	uint64_t submitted_ns; /* 0 where not collected */
	uint32_t name;	       /* mangled */
	uint32_t grid_x;       /* blocks */
	uint32_t grid_y;
	uint32_t grid_z;
	uint32_t block_x; /* threads */
	uint32_t block_y;
	uint32_t block_z;
	uint32_t cluster_x;
	uint32_t cluster_y;
	uint32_t cluster_z;
	uint32_t static_shared_bytes;
	uint32_t dynamic_shared_bytes;
	uint32_t local_bytes_per_thread;
	uint32_t channel;
	uint16_t registers_per_thread;
	uint8_t launch_type;  /* CUpti_ActivityLaunchType */
	uint8_t channel_type; /* CUpti_ChannelType */
	uint32_t reserved;    /* not a column */
};

struct ts_row_memcpy {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t op_id;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t graph;
	uint64_t graph_node;
	uint64_t bytes;
	uint64_t copy_count;
	uint32_t src_device; /* TS_NO_DEVICE: the host */
	uint32_t dst_device; /* TS_NO_DEVICE: the host */
	uint8_t copy_kind;   /* CUpti_ActivityMemcpyKind */
	uint8_t src_kind;    /* CUpti_ActivityMemoryKind */
	uint8_t dst_kind;    /* CUpti_ActivityMemoryKind */
	uint8_t async;	     /* 1: marked asynchronous */
	uint32_t channel;
};

struct ts_row_memset {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t op_id;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t graph;
	uint64_t graph_node;
	uint64_t bytes;
	uint32_t value;
	uint16_t memory_kind; /* CUpti_ActivityMemoryKind */
	uint16_t async;
	uint32_t channel;
	uint32_t reserved; /* not a column */
};

/* The host waited, or a stream was made to wait. */
struct ts_row_sync {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t op_id;
	uint32_t sync_type; /* CUpti_ActivitySynchronizationType */
	uint32_t context;
	uint32_t stream; /* TS_NO_DEVICE where the kind has none */
	uint32_t event;	 /* CUPTI's event id; 0 where the kind has none */
	int32_t result;
	uint32_t reserved; /* not a column */
};

/* TS_ROW_ALLOC and TS_ROW_FREE. */
struct ts_row_memory {
	uint64_t start_ns;
	uint64_t op_id;
	uint64_t address;
	uint64_t bytes;
	uint64_t pool; /* the pool's address; 0: none */
	uint32_t device;
	uint32_t context;
	uint32_t stream;      /* TS_NO_DEVICE where not stream-ordered */
	uint16_t memory_kind; /* CUpti_ActivityMemoryKind */
	uint16_t async;
	uint64_t
		pool_bytes; /* what the pool holds of the device's memory, afterwards; 0: not told */
	uint64_t pool_used_bytes; /* of these, what is allocated */
};

/* Memory that a copy, a set or a free that failed named; start_ns is when the call returned. See struct ts_record_access. */
struct ts_row_access {
	uint64_t start_ns;
	uint64_t op_id;
	uint64_t dst; /* 0: not told */
	uint64_t src; /* 0: not told */
	uint64_t dst_bytes;
	uint64_t src_bytes;
	uint32_t thread;
	uint32_t access; /* enum ts_access_kind */
};

/* cudaEventRecord and its kin. */
struct ts_row_event {
	uint64_t start_ns;
	uint64_t op_id;
	uint64_t event;		/* the vendor's handle */
	uint64_t stream_handle; /* as the application passed it */
	uint32_t context;
	uint32_t stream; /* TS_NO_DEVICE where it could not be told */
	uint32_t event_flags;
	uint32_t thread;
};

/*
 * cudaStreamWaitEvent: `stream` waits for `event`; 0: for what the host does, a function that it was given (cudaLaunchHostFunc) or a
 * word in memory (cuStreamWaitValue32). Of events and waits in a stream that is captured there is the call alone.
 */
struct ts_row_stream_wait {
	uint64_t start_ns;
	uint64_t op_id;
	uint64_t event;
	uint64_t stream_handle;
	uint32_t context;
	uint32_t stream; /* TS_NO_DEVICE where it could not be told */
	uint32_t event_flags;
	uint32_t thread;
};

struct ts_row_stream {
	uint64_t start_ns;
	uint64_t handle; /* the vendor's; 0 where not known */
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	int32_t priority;
	uint32_t stream_flags; /* CUpti_ActivityStreamFlag */
	uint32_t thread;
	uint32_t action;   /* enum ts_object_action */
	uint32_t reserved; /* not a column */
};

struct ts_row_context {
	uint64_t start_ns;
	uint64_t handle;
	uint32_t device;
	uint32_t context;
	uint32_t thread;
	uint32_t action; /* enum ts_object_action */
};

struct ts_row_graph_launch {
	uint64_t start_ns; /* called: none of its nodes ran before */
	uint64_t op_id;
	uint64_t graph_exec; /* the vendor's handle */
	uint64_t stream_handle;
	uint32_t context;
	uint32_t stream; /* TS_NO_DEVICE where it could not be told */
	uint32_t graph;	 /* CUPTI's graph id; 0 where it could not be told */
	uint32_t thread;
};

/* What the application says of itself: an instant. */
struct ts_row_mark {
	uint64_t start_ns;
	uint64_t payload; /* bits as the application gave them */
	uint32_t name;
	uint32_t domain;
	uint32_t category;
	uint32_t color; /* ARGB; 0: none */
	uint32_t stack;
	uint32_t thread;
	uint32_t payload_type; /* enum ts_payload_type */
	uint32_t reserved;     /* not a column */
};

/* A range that is over. */
struct ts_row_range {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t range_id; /* the session's: that of its row when it began */
	uint64_t payload;
	uint32_t name;
	uint32_t domain;
	uint32_t category;
	uint32_t color;
	uint32_t stack;
	uint32_t thread; /* that began it */
	uint32_t payload_type;
	uint32_t action; /* enum ts_range_action */
	uint32_t level;	 /* PUSH: open ranges of thread and domain around it */
	uint32_t end_thread;
};

/* A range that began. It is open where no `range` of the session has its range_id. */
struct ts_row_range_begin {
	uint64_t start_ns;
	uint64_t range_id;
	uint64_t payload;
	uint32_t name;
	uint32_t domain;
	uint32_t category;
	uint32_t color;
	uint32_t stack;
	uint32_t thread;
	uint32_t payload_type;
	uint32_t action;
	uint32_t level;
	uint32_t reserved; /* not a column */
};

struct ts_row_counter {
	uint64_t start_ns;
	double value;
	int64_t integer; /* where value_type is TS_PAYLOAD_I64, the value itself */
	uint32_t name;
	uint32_t domain;
	uint32_t thread;
	uint32_t value_type; /* enum ts_payload_type */
};

/* `ticks` of `clock` and start_ns were one instant, to within error_ns. */
struct ts_row_clock {
	uint64_t start_ns;
	uint64_t ticks;
	uint64_t error_ns;
	uint32_t clock;	   /* enum ts_clock */
	uint32_t reserved; /* not a column */
};

/* `count` things were lost between start_ns and end_ns. */
struct ts_row_loss {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t count;
	uint32_t reason;   /* enum ts_loss_reason */
	uint32_t context;  /* 0 where it does not matter */
	uint32_t thread;   /* whose shard it was; 0 where it does not matter */
	uint32_t reserved; /* not a column */
};

struct ts_row_overhead {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t overhead_kind; /* CUpti_ActivityOverheadKind */
	uint32_t object_kind;	/* CUpti_ActivityObjectKind */
	uint32_t object;	/* thread, device, context or stream id, as object_kind says */
	uint32_t reserved;	/* not a column */
};

/* Device code that came or went. */
struct ts_row_gpu_module {
	uint64_t start_ns;
	uint64_t bytes;	 /* of the image, 0 where not known */
	uint32_t module; /* CUPTI's module id */
	uint32_t context;
	uint32_t action; /* enum ts_object_action */
	uint32_t thread;
};

/* From start_ns CUPTI was the application's (`yielded` 1), or ours again (0). */
struct ts_row_yield {
	uint64_t start_ns;
	uint32_t to; /* who took it, where it could be told */
	uint32_t yielded;
	uint32_t thread;
	uint32_t reserved; /* not a column */
};

/* From start_ns calls that began were not recorded (`paused` 1), or were again (0). */
struct ts_row_pause {
	uint64_t start_ns;
	uint32_t paused;
	uint32_t cause; /* enum ts_pause_cause */
	uint32_t thread;
	uint32_t reserved; /* not a column */
};

/*
 * What the kernel did to a thread of the session's process, or of a child of it that has no session. Of these rows
 * `pid` is the thread's process, 0 where that is the session's own; `thread` may be one that never called the GPU.
 */

#define TS_NO_SYSCALL UINT32_MAX

/* Why a thread left its CPU. What it was blocked in goes before how. */
enum ts_off_cpu_reason {
	TS_OFF_CPU_UNKNOWN = 0,
	TS_OFF_CPU_PREEMPTED = 1, /* it could have run on */
	TS_OFF_CPU_YIELDED = 2,	  /* sched_yield(2) */
	TS_OFF_CPU_PAGE_FAULT = 3,
	TS_OFF_CPU_FUTEX = 4,
	TS_OFF_CPU_IOCTL = 5,
	TS_OFF_CPU_SLEEP = 6,	 /* nanosleep(2) and its kin */
	TS_OFF_CPU_POLL = 7,	 /* poll, select, epoll_wait: for descriptors, or a time */
	TS_OFF_CPU_WAIT = 8,	 /* for a child */
	TS_OFF_CPU_IO = 9,	 /* uninterruptible, and the kernel counts it as waiting for I/O */
	TS_OFF_CPU_SYSCALL = 10, /* blocked in another system call: see `syscall` */
	TS_OFF_CPU_STOPPED = 11, /* by a signal or a debugger */
};

/* Who made a blocked thread runnable. */
enum ts_waker_context {
	TS_WAKER_NONE = 0,	/* it never was blocked, or it was not seen */
	TS_WAKER_THREAD = 1,	/* `waker_tid` did */
	TS_WAKER_INTERRUPT = 2, /* a timer or a device did; `waker_tid` was merely interrupted */
};

#define TS_OFF_CPU_OPEN 1u /* flags: it had not come back when the session ended, at end_ns */

/*
 * From when a thread left its CPU to when it ran again. Another thread of this row, or of a pressure row, that is neither of the session's
 * user nor of a session of root has no numbers: its tid and pid are 0, and its name is "another user's thread". A tid of 0 without a name
 * is nobody.
 */
struct ts_row_off_cpu {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t woken_ns; /* when it became runnable; 0: never was not, or not seen */
	uint64_t address;  /* FUTEX: the word; PAGE_FAULT: 0 */
	uint32_t thread;
	uint32_t pid;
	uint32_t reason;  /* enum ts_off_cpu_reason */
	uint32_t syscall; /* the call that it was in, by the machine's number; TS_NO_SYSCALL */
	uint32_t waker_context; /* enum ts_waker_context */
	uint32_t waker_tid;
	uint32_t waker_pid;
	uint32_t waker;	   /* string: its name */
	uint32_t next_tid; /* who ran there instead; 0: nobody, or hidden */
	uint32_t next_pid;
	uint32_t next; /* string: its name */
	uint32_t cpu;  /* that it left */
	uint32_t end_cpu;
	uint32_t migrations; /* meanwhile */
	uint32_t flags;	     /* TS_OFF_CPU_* */
	uint32_t stack;	     /* where it was */
};

enum ts_fault_kind {
	TS_FAULT_UNKNOWN = 0,
	TS_FAULT_MINOR = 1, /* the page was in memory */
	TS_FAULT_MAJOR = 2, /* it had to be read */
};

enum ts_fault_memory {
	TS_FAULT_MEMORY_UNKNOWN = 0,
	TS_FAULT_ANONYMOUS = 1,
	TS_FAULT_FILE = 2,   /* a private mapping of a file */
	TS_FAULT_SHARED = 3, /* a shared mapping, of a file or not */
};

/* From when the kernel began to handle a fault to when the page was there. */
struct ts_row_page_fault {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t address;
	uint64_t instruction; /* that touched it */
	uint32_t thread;
	uint32_t pid;
	uint32_t fault;	 /* enum ts_fault_kind */
	uint32_t memory; /* enum ts_fault_memory */
};

/* A system call. What it does not have is 0, but for `fd` -1. */
struct ts_row_syscall {
	uint64_t start_ns;
	uint64_t end_ns;
	int64_t result;	  /* a negative errno where it failed */
	uint64_t address; /* of memory; of a futex */
	uint64_t bytes;	  /* that were asked for */
	uint64_t offset;  /* in the file */
	uint32_t thread;
	uint32_t pid;
	uint32_t syscall; /* by the machine's number */
	int32_t fd;
	uint32_t file; /* string: the last part of its name; of openat: the path as it was given */
	uint32_t operation; /* ioctl: the request; futex: the operation; madvise: the advice */
};

/*
 * What a call of a session without a shim was given, of what was looked at: its api row is that of the same op_id. The name
 * of a kernel is known where its handle was seen to get one; it is never guessed.
 */
struct ts_row_arguments {
	uint64_t start_ns;
	uint64_t op_id;
	uint64_t bytes; /* to be copied, set, allocated; 0 where no argument says so */
	uint64_t
		function; /* a launch: the kernel, by the handle or host address that was passed; else 0 */
	uint32_t kernel; /* string: its name, mangled; 0: not known */
	uint32_t thread;
};

/* What a disk was asked for. */
enum ts_block_operation {
	TS_BLOCK_OTHER = 0,
	TS_BLOCK_READ = 1,
	TS_BLOCK_WRITE = 2,
	TS_BLOCK_FLUSH = 3,
	TS_BLOCK_DISCARD = 4,
};

#define TS_BLOCK_IO_OPEN      1u /* flags: nobody saw its end before the session's, at end_ns */
#define TS_BLOCK_IO_SYNC      2u /* somebody waits for it, as the kernel has it */
#define TS_BLOCK_IO_READAHEAD 4u /* nobody asked for it yet */
#define TS_BLOCK_IO_METADATA  8u /* the file system's own */

/*
 * From when the thread gave it to the block layer to when it was over. What the kernel writes later by itself is no
 * thread's of the process, and not told. A disk that is made of others has rows of its own, and they have theirs.
 */
struct ts_row_block_io {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t
		issued_ns; /* up to then it was queued; 0: not seen, as of a disk without a queue */
	uint64_t sector;   /* of 512 bytes, from the beginning of the disk */
	uint64_t bytes;
	uint32_t thread; /* who gave it to the block layer */
	uint32_t pid;
	uint32_t disk;	    /* string: "nvme0n1" */
	uint32_t operation; /* enum ts_block_operation */
	int32_t result;	    /* a negative errno where it failed */
	uint32_t flags;	    /* TS_BLOCK_IO_* */
};

/* What want of memory did to a thread or its process. */
enum ts_pressure_kind {
	TS_PRESSURE_OTHER = 0,
	TS_PRESSURE_DIRECT = 1,	  /* there was none: the thread frees some before it gets some */
	TS_PRESSURE_LIMIT = 2,	  /* its cgroup had no more: likewise */
	TS_PRESSURE_NODE = 3,	  /* its NUMA node had none: likewise */
	TS_PRESSURE_OOM_KILL = 4, /* the kernel chose the process to die, at start_ns */
};

#define TS_PRESSURE_OPEN 1u /* flags: it was not over when the session ended, at end_ns */

struct ts_row_pressure {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t pages;	 /* that it freed */
	uint32_t thread; /* OOM_KILL: the victim */
	uint32_t pid;
	uint32_t kind;	 /* enum ts_pressure_kind */
	uint32_t by_tid; /* OOM_KILL, as `by_pid`, `by`: who asked for memory then */
	uint32_t by_pid;
	uint32_t by; /* string: its name */
	uint32_t flags;
};

enum ts_driver_kind {
	TS_DRIVER_OTHER = 0,
	TS_DRIVER_FENCE_WAIT = 1, /* the thread waited for a fence */
	TS_DRIVER_FENCE = 2,	  /* that the thread made, until it was signalled */
	TS_DRIVER_JOB =
		3, /* of the GPU scheduler, from when the thread handed it in until it was done */
};

#define TS_DRIVER_OPEN 1u /* flags: it was not over when the session ended, at end_ns */

/* What a GPU's driver in the kernel did for a thread. A job's own fences have no rows. */
struct ts_row_driver {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t issued_ns; /* JOB: the device got it; 0: not seen */
	uint64_t context; /* the fence's, or that of the job's: its timeline and its number there */
	uint64_t number;
	uint32_t thread;
	uint32_t pid;
	uint32_t kind;	/* enum ts_driver_kind */
	uint32_t ring;	/* JOB: string */
	int32_t result; /* a negative errno where it failed */
	uint32_t flags;
};

#define TS_SAMPLE_KERNEL 1u /* flags: it was in the kernel, called from the stack */

/* A thread was on a processor, and where. One of many: each stands for period_ns of processor time that ended at start_ns. */
struct ts_row_sample {
	uint64_t start_ns;
	uint64_t period_ns; /* processor time of the thread that the sample stands for */
	uint32_t thread;    /* as in off_cpu rows: any thread of the session's process ... */
	uint32_t pid;	    /* ... or of a child without a session of its own; else 0 */
	uint32_t stack;	    /* where it was; TS_ID_UNKNOWN: not known */
	uint32_t cpu;
	uint32_t flags;	   /* TS_SAMPLE_* */
	uint32_t reserved; /* not a column */
};

/* How a session ended. */
enum ts_session_end {
	TS_SESSION_END_NONE = 0,     /* it has not, or the recording was cut first */
	TS_SESSION_END_BYE = 1,	     /* everything was flushed */
	TS_SESSION_END_DIED = 2,     /* the process vanished; what it had committed was kept */
	TS_SESSION_END_STOPPED = 3,  /* the recording ended before the process did */
	TS_SESSION_END_BAD_DATA = 4, /* it broke the contract and was dropped */
	TS_SESSION_END_DAEMON = 5,   /* the daemon could not go on (disk full, shutting down) */
	TS_SESSION_END_EMPTY = 6,    /* a note alone: no session could be made; see empty_reason */
};

/* Where a session's rows come from. */
enum ts_session_source {
	TS_SESSION_SOURCE_SHIM = 0, /* the process had libtsinject.so */
	TS_SESSION_SOURCE_PROBES =
		1, /* it had not: calls alone, seen from outside; nothing of the device */
};

/* A session. A later row with the same `session` supersedes an earlier one. */
struct ts_row_session {
	uint32_t session; /* its number in this file, from 1 */
	uint32_t pid;
	uint32_t parent_pid; /* forked from this traced process; 0: not */
	uint32_t uid;	     /* as the kernel told of the peer; UINT32_MAX where not known */
	uint64_t start_ns;
	uint64_t end_ns; /* 0: has not ended */
	uint64_t start_realtime_ns;
	uint64_t clock_error_ns; /* widest error bound of host times seen so far */
	uint8_t uuid[16];
	uint32_t program;	 /* string */
	uint32_t host_clock;	 /* enum ts_clock */
	uint32_t driver_version; /* cuDriverGetVersion() */
	uint32_t vendor_version; /* cuptiGetVersion() */
	uint32_t state;		 /* enum ts_session_state */
	uint32_t ended;		 /* enum ts_session_end */
	uint32_t empty_reason;	 /* enum ts_empty_reason */
	uint32_t empty_text;	 /* string */
	uint32_t source;	 /* enum ts_session_source */
	uint32_t
		command_line; /* string: PROBES: of the process, words with blanks between; 0: not known */
};

/* One life of a producing thread. */
struct ts_row_thread {
	uint64_t start_ns; /* when it first produced */
	uint32_t thread;   /* its id, what `thread` columns refer to */
	uint32_t tid;
	uint32_t name;	   /* string */
	uint32_t reserved; /* not a column */
};

/* A GPU as the session saw it. A later row with the same `device` supersedes an earlier one. */
struct ts_row_device {
	uint32_t device; /* CUPTI's device id, what `device` columns refer to */
	uint32_t name;	 /* string */
	uint8_t uuid[16];
	uint64_t memory_bytes;
	uint64_t memory_bandwidth_kb_per_s;
	uint32_t compute_capability_major;
	uint32_t compute_capability_minor;
	uint32_t n_multiprocessors;
	uint32_t core_clock_khz;
	uint32_t n_copy_engines;
	uint32_t threads_per_warp;
	uint32_t max_warps_per_multiprocessor;
	uint32_t max_blocks_per_multiprocessor;
	uint32_t max_shared_bytes_per_multiprocessor;
	uint32_t max_registers_per_multiprocessor;
	uint32_t l2_cache_bytes;
	uint32_t flags; /* TS_DEVICE_* */
};

/* An ELF file that was mapped into the process, or (TS_MODULE_UNLOADED) went away. */
struct ts_row_module {
	uint64_t start_ns; /* from then on */
	uint64_t address;  /* first mapped address */
	uint64_t address_end;
	uint64_t bias; /* address = bias + address in the file's own view */
	uint32_t path; /* string */
	uint32_t flags;
	uint32_t n_build_id_bytes;
	uint8_t build_id[32];
	uint32_t reserved; /* not a column */
};

/* What the application calls something. A later one of the same kind, object and domain supersedes an earlier one. */
struct ts_row_name {
	uint64_t start_ns; /* when it was said */
	uint64_t object;   /* as `kind` says */
	uint32_t kind;	   /* enum ts_name_kind */
	uint32_t domain;   /* string */
	uint32_t name;	   /* string */
	uint32_t context;  /* STREAM: where it could be told, else 0 */
	uint32_t stream;   /* STREAM: where it could be told, else TS_NO_DEVICE */
	uint32_t reserved; /* not a column */
};

/* A fact about the recording. A later row with the same key supersedes an earlier one. */
struct ts_row_metadata {
	uint32_t key;	/* string */
	uint32_t value; /* string */
};

/*
 * One thing that has to be done again when the trace is replayed: capture level `replay`. `sequence` is the order in which
 * the session's were done. What the kinds use of the columns is said at enum ts_operation_kind; all else is 0.
 */
struct ts_row_operation {
	uint64_t start_ns; /* of the call */
	uint64_t sequence; /* from 1, without gaps */
	uint64_t op_id;
	uint64_t object;
	uint64_t parent;
	uint64_t stream_handle;
	uint64_t dst;
	uint64_t src;
	uint64_t bytes;
	uint64_t height;
	uint64_t depth;
	uint64_t dst_pitch;
	uint64_t src_pitch;
	uint64_t dst_slice;
	uint64_t src_slice;
	uint64_t value;
	uint32_t kind;	/* enum ts_operation_kind */
	uint32_t flags; /* TS_OPERATION_* */
	uint32_t thread;
	uint32_t context;
	uint32_t device;
	uint32_t name;	  /* string */
	uint32_t content; /* a blob's number; 0: none */
	uint32_t shared_bytes;
	uint32_t grid_x;
	uint32_t grid_y;
	uint32_t grid_z;
	uint32_t block_x;
	uint32_t block_y;
	uint32_t block_z;
};

/*
 * Which file of a recording that is in several this is. The first has no such row; what the others begin with, up to it, are
 * copies of the definitions of the file before, whose ids stay what they are.
 */
struct ts_row_part {
	uint8_t recording[16]; /* the UUID in the header of the first file */
	uint32_t part;	       /* from 1 */
	uint32_t before;       /* the number in the name of the file before */
	uint64_t carried;      /* blocks before this one */
};

/* What an image is, and so what the addresses of its symbols are. */
enum ts_image_kind {
	TS_IMAGE_ELF = 0, /* a file; addresses are in its own view: less a module's bias */
	TS_IMAGE_PERF_MAP =
		1, /* /tmp/perf-PID.map; addresses are the session's, outside of modules */
	TS_IMAGE_JIT_DUMP = 2, /* /tmp/jit-PID.dump; the same */
};

/* How far the symbols of an image could be found. */
enum ts_image_result {
	TS_IMAGE_RESOLVED = 0,	 /* functions, inlined frames and lines, as far as they are told */
	TS_IMAGE_NO_DEBUG = 1,	 /* functions alone: there is no debug information */
	TS_IMAGE_NO_FILE = 2,	 /* it could not be opened */
	TS_IMAGE_OTHER_FILE = 3, /* what lay there had another build id */
	TS_IMAGE_BAD_FILE =
		4, /* it could not be read: not a file of its kind, damaged, too much work */
	TS_IMAGE_NOT_TRIED = 5, /* the time was up, or nothing could be confined to read it */
};

/*
 * Where symbols are from. Of several images of the same file (path, build id, session, kind) the last one counts, and
 * its symbols alone.
 */
struct ts_row_image {
	uint32_t image;	  /* its number in this file, from 1 */
	uint32_t path;	  /* string */
	uint32_t session; /* 0: of all that mapped the file */
	uint32_t kind;	  /* enum ts_image_kind */
	uint32_t result;  /* enum ts_image_result */
	uint32_t why;	  /* string; 0: nothing is wrong */
	uint32_t n_build_id_bytes;
	uint8_t build_id[32];
};

/*
 * A frame of an address: the functions that were inlined there, innermost first, and the one that they were
 * inlined into. A return address is asked for less 1: its call lies before it.
 */
struct ts_row_symbol {
	uint64_t address;
	uint32_t image;
	uint32_t depth;	   /* 0: the innermost */
	uint32_t function; /* string; 0: not known */
	uint32_t file;	   /* string; 0: not known */
	uint32_t line;	   /* 0: not known */
	uint32_t reserved; /* not a column */
};

/* Keys of metadata that every daemon writes. Others are allowed. */
#define TS_METADATA_HOSTNAME	    "hostname"
#define TS_METADATA_KERNEL	    "kernel" /* uname -sr */
#define TS_METADATA_DAEMON_VERSION  "daemon_version"
#define TS_METADATA_START_REALTIME  "start_realtime_ns"	 /* decimal */
#define TS_METADATA_START_MONOTONIC "start_monotonic_ns" /* decimal; the same instant */
#define TS_METADATA_COMMAND	    "command"
#define TS_METADATA_QUANTUM	    "host_quantum_ns" /* decimal; where host times were rounded */
#define TS_METADATA_BOOT_ID	    "boot_id"	      /* of the machine, as the kernel tells it */
/* Where it applies: the file in which a session began whose daemon died; how a recording's command ended. */
#define TS_METADATA_CONTINUES	"continues"
#define TS_METADATA_CUT_SHORT	"cut_short"   /* "the disk is full" */
#define TS_METADATA_CAPTURE	"capture"     /* "replay": there are operations */
#define TS_METADATA_COMMAND_PID "command_pid" /* decimal */
#define TS_METADATA_COMMAND_END "command_end" /* "killed by SIGKILL"; only of one that was */
/* Where kernel events were asked for: which ("sched,syscalls"), and why others are missing. */
#define TS_METADATA_KERNEL_EVENTS	  "kernel_events"
#define TS_METADATA_KERNEL_EVENTS_MISSING "kernel_events_missing"
/* Those that are not told one by one: counters of the domain "kernel TID" say how many there were ("sched.futex.count"), and how long. */
#define TS_METADATA_KERNEL_EVENTS_COUNTED "kernel_events_counted"
/* Parts that samples lack, and why; the processor time of all samplers ("N samples, M ns"). */
#define TS_METADATA_SAMPLES_MISSING "samples_missing"
#define TS_METADATA_SAMPLES_COST    "samples_cost"

/* Where calls of all processes were asked for (tsctl record --system): "calls", or why there are none. */
#define TS_METADATA_SYSTEM	   "system"
#define TS_METADATA_SYSTEM_MISSING "system_missing"

/* Of a copy: what it was made of. Those of merged files stand behind the file's number and a dot ("2.file"). */
#define TS_METADATA_CUT_FROM "cut_from"
#define TS_METADATA_CUT_WINDOW \
	"cut_window" /* "FROM..TO", absolute; nothing behind the dots: to the end */
#define TS_METADATA_FILE	"file"
#define TS_METADATA_SHIFT	"shift_ns"	 /* decimal; what was added to its times */
#define TS_METADATA_SHIFT_ERROR "shift_error_ns" /* decimal; within what it is right */

/* What a column's numbers are. */
enum ts_role {
	TS_ROLE_NUMBER = 0,
	TS_ROLE_TIME_START, /* ns; every event's first column */
	TS_ROLE_TIME_END,   /* ns */
	TS_ROLE_TIME,	    /* ns; another instant; 0 where not collected */
	TS_ROLE_DURATION,   /* ns */
	TS_ROLE_STRING,	    /* id of a string */
	TS_ROLE_STACK,	    /* id of a stack of the session */
	TS_ROLE_THREAD,	    /* id of a thread of the session */
	TS_ROLE_OP,	    /* operation id */
	TS_ROLE_BYTES,	    /* an amount moved or allocated: summed in the index */
	TS_ROLE_SIZE,	    /* bytes, not summed */
	TS_ROLE_COUNT,	    /* a count of things */
	TS_ROLE_ADDRESS,    /* of memory, or a vendor's handle: print as hex */
	TS_ROLE_DEVICE,	    /* CUPTI's device id; TS_NO_DEVICE: none */
	TS_ROLE_CONTEXT,
	TS_ROLE_STREAM, /* TS_NO_DEVICE: none */
	TS_ROLE_ENUM,
	TS_ROLE_FLAGS,
	TS_ROLE_SESSION,
	TS_ROLE_DOUBLE, /* an IEEE 754 double */
	TS_ROLE_OCTETS, /* a fixed number of bytes: a UUID, a build id */
};

struct ts_column {
	const char *name;
	uint16_t id;	 /* on disk; unique within the type, never reused */
	uint16_t width;	 /* bytes: 1, 2, 4, 8; any for TS_ROLE_OCTETS */
	uint16_t offset; /* in the row struct */
	uint8_t role;	 /* enum ts_role */
	uint8_t is_signed;
};

struct ts_row_schema {
	const char *name; /* "kernel", ...: also the key in `tsctl info --json`'s counts */
	uint16_t type;	  /* enum ts_row_type */
	uint16_t n_columns;
	uint32_t row_bytes;		 /* sizeof the struct */
	const struct ts_column *columns; /* in order of id; events: the first is start_ns */
	bool is_event;
	bool has_end;	      /* events: the second column is end_ns; else a row is an instant */
	int16_t bytes_column; /* index of the column that is summed as bytes; -1: none */
};

#define TS_ROW_MAX_COLUMNS 32
#define TS_ROW_MAX_BYTES   192 /* no row struct is larger */

/* The schema of a type of row that has a struct; NULL for any other number. */
const struct ts_row_schema *ts_row_schema(unsigned type);

/* The type of that name ("kernel", "session", ...), or 0. */
unsigned ts_row_type_by_name(const char *name);

/* A column's value, sign-extended where signed; a double's bits. Not for TS_ROLE_OCTETS. */
static inline uint64_t ts_column_get(const struct ts_column *column, const void *row)
{
	const uint8_t *p = (const uint8_t *)row + column->offset;
	uint64_t v8;
	uint32_t v4;
	uint16_t v2;

	switch (column->width) {
	case 1:
		return column->is_signed ? (uint64_t)(int64_t)(int8_t)*p : *p;
	case 2:
		memcpy(&v2, p, 2);
		return column->is_signed ? (uint64_t)(int64_t)(int16_t)v2 : v2;
	case 4:
		memcpy(&v4, p, 4);
		return column->is_signed ? (uint64_t)(int64_t)(int32_t)v4 : v4;
	default:
		memcpy(&v8, p, 8);
		return v8;
	}
}

/* When an event began, and ended: for an instant, or an end before the start, the start. */
static inline uint64_t ts_row_start_ns(const void *row)
{
	uint64_t start_ns;

	memcpy(&start_ns, row, sizeof(start_ns));
	return start_ns;
}

static inline uint64_t ts_row_end_ns(const struct ts_row_schema *schema, const void *row)
{
	uint64_t start_ns = ts_row_start_ns(row), end_ns;

	if (!schema->has_end)
		return start_ns;
	memcpy(&end_ns, (const uint8_t *)row + sizeof(start_ns), sizeof(end_ns));
	return end_ns < start_ns ? start_ns : end_ns;
}

/* The key of a reason of loss in `lost` ("ring_full", ...); NULL for an unknown one. */
const char *ts_loss_reason_name(unsigned reason);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
