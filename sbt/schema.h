/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows: what a trace consists of. One C struct for each type of row (generated-rows.h), and one table for each that
 * names its columns; encoding, decoding, printing and the tests all work from that table. Both are made from
 * proto/abi/rows/rows.table.
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
#include "sbt/generated-rows.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* For sets of row types: a type is a bit of a uint64_t. */
#define TS_ROW_BIT(type) (UINT64_C(1) << (type))

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

/* What want of memory did to a thread or its process. */
enum ts_pressure_kind {
	TS_PRESSURE_OTHER = 0,
	TS_PRESSURE_DIRECT = 1,	  /* there was none: the thread frees some before it gets some */
	TS_PRESSURE_LIMIT = 2,	  /* its cgroup had no more: likewise */
	TS_PRESSURE_NODE = 3,	  /* its NUMA node had none: likewise */
	TS_PRESSURE_OOM_KILL = 4, /* the kernel chose the process to die, at start_ns */
};

#define TS_PRESSURE_OPEN 1u /* flags: it was not over when the session ended, at end_ns */

enum ts_driver_kind {
	TS_DRIVER_OTHER = 0,
	TS_DRIVER_FENCE_WAIT = 1, /* the thread waited for a fence */
	TS_DRIVER_FENCE = 2,	  /* that the thread made, until it was signalled */
	TS_DRIVER_JOB =
		3, /* of the GPU scheduler, from when the thread handed it in until it was done */
};

#define TS_DRIVER_OPEN	 1u /* flags: it was not over when the session ended, at end_ns */

#define TS_SAMPLE_KERNEL 1u /* flags: it was in the kernel, called from the stack */

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
