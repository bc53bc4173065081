/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows: the content of a trace. Each type of row has a C struct (generated-rows.h) and a table that
 * names its columns. Encoding, decoding, printing and the tests use that table. Struct and table
 * are generated from proto/abi/rows/rows.table.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC. Ids:
 * - string: id in the file; 0 is unknown or none
 * - stack, thread: id in the session, from 1; 0 is unknown. A row is always read together with the
 *   number of its session.
 * - op_id: id in the session; joins an API row with the device rows that the call caused
 * - device, stream: CUPTI's ids in the session; TS_NO_DEVICE: none
 * - context, graph: CUPTI's ids in the session; 0: none
 *
 * A row type never changes the meaning of a column. New columns get new ids. A reader skips unknown
 * columns, and a column that a file lacks reads as zero.
 *
 * Everything here is constant data: thread- and signal-safe.
 */
#pragma once

#include "proto/abi/record.h"
#include "sbt/generated-rows.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* A set of row types is a uint64_t with one bit per type. */
#define TS_ROW_BIT(type) (UINT64_C(1) << (type))

/*
 * Rows of kernel events, recorded by eBPF programs. Samples are also recorded by
 * perf_event_open(2).
 */
#define TS_ROW_KERNELS                                                                             \
	(TS_ROW_BIT(TS_ROW_OFF_CPU) | TS_ROW_BIT(TS_ROW_PAGE_FAULT) | TS_ROW_BIT(TS_ROW_SYSCALL) | \
	 TS_ROW_BIT(TS_ROW_BLOCK_IO) | TS_ROW_BIT(TS_ROW_PRESSURE) | TS_ROW_BIT(TS_ROW_DRIVER) |   \
	 TS_ROW_BIT(TS_ROW_SAMPLE))

/* Returns true if the type is an event. Accepts any number, also of an unknown type. */
static inline bool ts_row_is_event(unsigned type)
{
	return type < TS_ROW_COUNT && TS_ROW_EVENTS & TS_ROW_BIT(type);
}

/*
 * Returns the next event type by number, or 0 after the last one. The first event type is
 * TS_ROW_API.
 */
static inline unsigned ts_row_next_event(unsigned type)
{
	while (++type < TS_ROW_EVENT_END)
		if (ts_row_is_event(type))
			return type;
	return 0;
}

/*
 * Kernel events of a thread: of the session's process, or of a child process without a session.
 * `pid` is the thread's process; 0 is the session's own. `thread` may be a thread that never called
 * the GPU. `syscall` is TS_NO_SYSCALL if the thread was in no system call.
 */

#define TS_NO_SYSCALL UINT32_MAX

/*
 * Reason why a thread left its CPU. A known system call (futex, ioctl, poll, ...) has precedence
 * over TS_OFF_CPU_IO.
 */
enum ts_off_cpu_reason {
	TS_OFF_CPU_UNKNOWN = 0,
	TS_OFF_CPU_PREEMPTED = 1, /* it was still runnable */
	TS_OFF_CPU_YIELDED = 2,	  /* sched_yield(2) */
	TS_OFF_CPU_PAGE_FAULT = 3,
	TS_OFF_CPU_FUTEX = 4,
	TS_OFF_CPU_IOCTL = 5,
	TS_OFF_CPU_SLEEP = 6,	 /* nanosleep(2), clock_nanosleep(2) */
	TS_OFF_CPU_POLL = 7,	 /* poll, select, epoll_wait: for descriptors or a time */
	TS_OFF_CPU_WAIT = 8,	 /* for a child */
	TS_OFF_CPU_IO = 9,	 /* uninterruptible, and the kernel counts it as I/O wait */
	TS_OFF_CPU_SYSCALL = 10, /* blocked in another system call: see `syscall` */
	TS_OFF_CPU_STOPPED = 11, /* by a signal or a debugger */
};

/* Context that made a blocked thread runnable. */
enum ts_waker_context {
	TS_WAKER_NONE = 0,	/* the thread was not blocked, or the wake-up was not seen */
	TS_WAKER_THREAD = 1,	/* thread `waker_tid` */
	TS_WAKER_INTERRUPT = 2, /* a timer or device; `waker_tid` is the interrupted thread */
};

#define TS_OFF_CPU_OPEN 1u /* flags: off the CPU at the session's end, which is end_ns */

enum ts_fault_kind {
	TS_FAULT_UNKNOWN = 0,
	TS_FAULT_MINOR = 1, /* the page was in memory */
	TS_FAULT_MAJOR = 2, /* the page was read from storage */
};

enum ts_fault_memory {
	TS_FAULT_MEMORY_UNKNOWN = 0,
	TS_FAULT_ANONYMOUS = 1,
	TS_FAULT_FILE = 2,   /* a private mapping of a file */
	TS_FAULT_SHARED = 3, /* a shared mapping, of a file or not */
};

/* Operation of a block device. */
enum ts_block_operation {
	TS_BLOCK_OTHER = 0,
	TS_BLOCK_READ = 1,
	TS_BLOCK_WRITE = 2,
	TS_BLOCK_FLUSH = 3,
	TS_BLOCK_DISCARD = 4,
};

/* flags: the I/O had not ended at the session's end; end_ns is the session's end */
#define TS_BLOCK_IO_OPEN      1u
#define TS_BLOCK_IO_SYNC      2u /* the kernel marked it: a thread waits for this I/O */
#define TS_BLOCK_IO_READAHEAD 4u /* read ahead, not yet requested */
#define TS_BLOCK_IO_METADATA  8u /* metadata of the file system */

/* Effect of low memory on a thread or its process. */
enum ts_pressure_kind {
	TS_PRESSURE_OTHER = 0,
	TS_PRESSURE_DIRECT = 1, /* no memory: the thread reclaims some first */
	/* the thread's cgroup has no memory: the thread reclaims some first */
	TS_PRESSURE_LIMIT = 2,
	/* the thread's NUMA node has no memory: the thread reclaims some first */
	TS_PRESSURE_NODE = 3,
	TS_PRESSURE_OOM_KILL = 4, /* the kernel chose the process to be killed, at start_ns */
};

#define TS_PRESSURE_OPEN 1u /* flags: had not ended at the session's end, which is end_ns */

enum ts_driver_kind {
	TS_DRIVER_OTHER = 0,
	TS_DRIVER_FENCE_WAIT = 1, /* the thread waited for a fence */
	/* a fence of the thread, from its creation until it was signalled */
	TS_DRIVER_FENCE = 2,
	TS_DRIVER_JOB = 3, /* a GPU scheduler job, from submission to completion */
};

#define TS_DRIVER_OPEN 1u /* flags: had not ended at the session's end, which is end_ns */

/* flags: the thread was in the kernel, which the stack's innermost frame had called */
#define TS_SAMPLE_KERNEL 1u

/* How a session ended. */
enum ts_session_end {
	/* the session had not ended, or the recording was cut short before the session's end */
	TS_SESSION_END_NONE = 0,
	TS_SESSION_END_BYE = 1,	     /* everything was flushed */
	TS_SESSION_END_DIED = 2,     /* the process vanished; its committed records are kept */
	TS_SESSION_END_STOPPED = 3,  /* the recording ended before the process */
	TS_SESSION_END_BAD_DATA = 4, /* the process broke the protocol and was dropped */
	TS_SESSION_END_DAEMON = 5,   /* the daemon stopped (disk full, shutdown) */
	/* the process only sent a NOTE, because no session was possible; see empty_reason */
	TS_SESSION_END_EMPTY = 6,
};

/* Source of a session's rows. */
enum ts_session_source {
	TS_SESSION_SOURCE_SHIM = 0, /* libtsinject.so in the process */
	TS_SESSION_SOURCE_PROBES =
		1, /* probes outside the process: calls only, nothing of the device */
};

/* Kind of an image; it defines the addresses of the image's symbols. */
enum ts_image_kind {
	TS_IMAGE_ELF = 0,      /* ELF file: the file's own addresses, without a module's bias */
	TS_IMAGE_PERF_MAP = 1, /* /tmp/perf-PID.map: the session's addresses outside of modules */
	TS_IMAGE_JIT_DUMP = 2, /* /tmp/jit-PID.dump: addresses as in TS_IMAGE_PERF_MAP */
};

/* Result of the search for an image's symbols; a lower value is a better result. */
enum ts_image_result {
	TS_IMAGE_RESOLVED = 0,	 /* functions, inlined frames and lines, as far as known */
	TS_IMAGE_NO_DEBUG = 1,	 /* functions only: no debug information */
	TS_IMAGE_NO_FILE = 2,	 /* the file could not be opened */
	TS_IMAGE_OTHER_FILE = 3, /* the file has another build id */
	/*
	 * the file cannot be used: it is of the wrong kind or damaged, or reading it takes too much
	 * work
	 */
	TS_IMAGE_BAD_FILE = 4,
	/* the time limit was reached, or no confined process could read the file */
	TS_IMAGE_NOT_TRIED = 5,
};

/* Keys of metadata that every daemon writes. Other keys are allowed. */
#define TS_METADATA_HOSTNAME	    "hostname"
#define TS_METADATA_KERNEL	    "kernel" /* uname -sr */
#define TS_METADATA_DAEMON_VERSION  "daemon_version"
#define TS_METADATA_START_REALTIME  "start_realtime_ns"	 /* decimal */
#define TS_METADATA_START_MONOTONIC "start_monotonic_ns" /* decimal; the same instant */
#define TS_METADATA_COMMAND	    "command"
#define TS_METADATA_QUANTUM	    "host_quantum_ns" /* decimal; only if host times were rounded */
#define TS_METADATA_BOOT_ID	    "boot_id"	      /* of the machine, from the kernel */
/*
 * Optional metadata. TS_METADATA_CONTINUES: the file of a daemon that died, if a session in this
 * file continues a session of that daemon. TS_METADATA_COMMAND_END: the signal that ended the
 * recording's command.
 */
#define TS_METADATA_CONTINUES	"continues"
#define TS_METADATA_CUT_SHORT	"cut_short"   /* "the disk is full" */
#define TS_METADATA_CAPTURE	"capture"     /* "replay": operations were captured */
#define TS_METADATA_COMMAND_PID "command_pid" /* decimal */
/* HIP: device code that could not be read, and the reason; the first one: "/lib/x.so: too large" */
#define TS_METADATA_UNREAD_CODE "unread_code"
#define TS_METADATA_COMMAND_END "command_end" /* "killed by SIGKILL"; only after a signal */
/*
 * Written if kernel events were requested: the recorded kinds ("sched,syscalls"), and why the other
 * requested kinds are missing.
 */
#define TS_METADATA_KERNEL_EVENTS	  "kernel_events"
#define TS_METADATA_KERNEL_EVENTS_MISSING "kernel_events_missing"
/*
 * The kinds whose events were only counted: these kinds have no event rows. Counter rows of the
 * domain "kernel TID" have the number of events ("sched.futex.count") and their total time.
 */
#define TS_METADATA_KERNEL_EVENTS_COUNTED "kernel_events_counted"
/*
 * Missing parts of samples with the reason, and the processor time of all samplers ("N samples, M
 * ns").
 */
#define TS_METADATA_SAMPLES_MISSING "samples_missing"
#define TS_METADATA_SAMPLES_COST    "samples_cost"
/* The rate of samples and its reason, if a sampler changed the rate. */
#define TS_METADATA_SAMPLES_RATE "samples_rate"

/*
 * Written if calls of all processes were requested (tsctl record --system): "calls", or why there
 * are none.
 */
#define TS_METADATA_SYSTEM	   "system"
#define TS_METADATA_SYSTEM_MISSING "system_missing"

/*
 * The sources of a copy. If the copy has several sources, each key begins with the number of the
 * source and a dot ("2.file").
 */
#define TS_METADATA_CUT_FROM "cut_from"
#define TS_METADATA_CUT_WINDOW \
	"cut_window" /* "FROM..TO", absolute times; without TO, the window has no end */
#define TS_METADATA_FILE	"file"
#define TS_METADATA_SHIFT	"shift_ns"	 /* decimal; added to the file's times */
#define TS_METADATA_SHIFT_ERROR "shift_error_ns" /* decimal; bound of the shift's error */

/* Meaning of a column's numbers. */
enum ts_role {
	TS_ROLE_NUMBER = 0,
	TS_ROLE_TIME_START, /* ns; first column of every event */
	TS_ROLE_TIME_END,   /* ns */
	TS_ROLE_TIME,	    /* ns; another instant; 0: not collected */
	TS_ROLE_DURATION,   /* ns */
	TS_ROLE_STRING,	    /* id of a string */
	TS_ROLE_STACK,	    /* id of a stack of the session */
	TS_ROLE_THREAD,	    /* id of a thread of the session */
	TS_ROLE_OP,	    /* operation id */
	TS_ROLE_BYTES,	    /* bytes moved or allocated: summed in the index */
	TS_ROLE_SIZE,	    /* bytes, not summed */
	TS_ROLE_COUNT,	    /* a count */
	TS_ROLE_ADDRESS,    /* address of memory, or a vendor's handle: printed as hex */
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
	uint16_t id;	 /* id of the column on disk; unique in the row type, never reused */
	uint16_t width;	 /* bytes: 1, 2, 4, 8; any for TS_ROLE_OCTETS */
	uint16_t offset; /* in the row struct */
	uint8_t role;	 /* enum ts_role */
	uint8_t is_signed;
};

struct ts_row_schema {
	const char *name; /* "kernel", ...; also the key in `counts` of `tsctl info --json` */
	uint16_t type;	  /* enum ts_row_type */
	uint16_t n_columns;
	uint32_t row_bytes;		 /* sizeof the struct */
	const struct ts_column *columns; /* in order of id; events: the first is start_ns */
	bool is_event;
	bool has_end;	      /* events: the second column is end_ns; else an instant */
	int16_t bytes_column; /* index of the column that is summed as bytes; -1: none */
};

#define TS_ROW_MAX_COLUMNS 32
#define TS_ROW_MAX_BYTES   192 /* no row struct is larger */

/* Returns the schema of a row type with a struct, else NULL. Accepts any number. */
const struct ts_row_schema *ts_row_schema(unsigned type);

/* Returns the row type with this name ("kernel", "session", ...), or 0. */
unsigned ts_row_type_by_name(const char *name);

/*
 * Returns a column's value, sign-extended if the column is signed; for a double, its bits. Not for
 * TS_ROLE_OCTETS.
 */
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

/*
 * Return the start and the end of an event. If the row has no end, or its end is before its start,
 * the end returned is the start.
 */
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

/*
 * Returns the name of a loss reason ("ring_full", ...), which is its key in `lost` of `tsctl info
 * --json`. NULL: the reason is unknown.
 */
const char *ts_loss_reason_name(unsigned reason);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
