/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records, which cross a shard, and definitions, which give the ids in records their meaning.
 *
 * A record is a 16-byte header, a payload of fixed fields that its type determines, then any number
 * of attachments. All of it is 8-byte aligned and little-endian; lengths count 8-byte words. A
 * reader takes `n_fixed_words` from the record itself. The reader skips fields that a newer writer
 * appended; fields that an older writer did not have read as zero. The reader skips and counts an
 * unknown type, so a type's meaning never changes. A change that is not an addition gets a new
 * type.
 *
 * Ids (string, stack, thread, device, ...) are 32 bits, belong to the session and start at 1; 0
 * means unknown. An operation id is 64 bits, unique within the session. It is CUPTI's 32-bit
 * correlation id of the outermost API call, extended by the count of wraps. An API row and its
 * device rows have the same operation id.
 */
#pragma once

#include "proto/abi/base.h"

#define TS_ABI_MAJOR  1
#define TS_ABI_MINOR  11

#define TS_ID_UNKNOWN 0u
/* no device, stream or context: used in fields with CUPTI's own ids, of which 0 is valid */
#define TS_NO_DEVICE UINT32_MAX

/*
 * In a session with CUDA and HIP, devices of the vendor that comes second begin here; its contexts
 * lie as far above the others.
 */
#define TS_BESIDE_DEVICE 64u

/*
 * Records of the lane only (capture level `replay`). The row of an operation has the same type
 * number.
 */
#define TS_RECORD_OPERATION 29u
#define TS_RECORD_BLOB	    30u
#define TS_RECORD_LAUNCH    31u

/* `time` and every other time of the record are ticks of `clock` (enum ts_clock). */
struct ts_record {
	uint16_t n_words;      /* whole record, with header and attachments */
	uint8_t n_fixed_words; /* header and fixed fields; attachments follow */
	uint8_t clock;
	uint16_t type;
	uint16_t flags; /* depends on the type */
	uint64_t time;	/* time of the event, or of its beginning */
};
TS_ASSERT_SIZE(struct ts_record, 16);
TS_ASSERT_FIELD(struct ts_record, n_fixed_words, 2);
TS_ASSERT_FIELD(struct ts_record, clock, 3);
TS_ASSERT_FIELD(struct ts_record, type, 4);
TS_ASSERT_FIELD(struct ts_record, flags, 6);
TS_ASSERT_FIELD(struct ts_record, time, 8);

#define TS_RECORD_MAX_BYTES (UINT16_MAX * 8u)

/* The vendor interface of a call; domain and `cbid` together name the function. */
enum ts_api_domain {
	TS_API_CUDA_DRIVER = 1,	 /* cbid: CUpti_driver_api_trace_cbid */
	TS_API_CUDA_RUNTIME = 2, /* cbid: CUpti_runtime_api_trace_cbid */
	TS_API_HIP = 3,
	/* Libraries like CUPTI (vendor/cupti_family.h). */
	TS_API_MACA = 4,	 /* cbid: as for TS_API_HIP */
	TS_API_MUSA_DRIVER = 5,	 /* cbid: as for TS_API_CUDA_DRIVER */
	TS_API_MUSA_RUNTIME = 6, /* cbid: as for TS_API_CUDA_RUNTIME */
	TS_API_ACL = 7,		 /* cbid: as for TS_API_HIP */
};

/*
 * Returns the domain whose numbers a call's cbid has: of the call's own kind, or of the interface
 * that the vendor copied.
 */
static inline uint32_t ts_api_base(uint32_t domain)
{
	switch (domain) {
	case TS_API_MACA:
	case TS_API_ACL:
		return TS_API_HIP;
	case TS_API_MUSA_DRIVER:
		return TS_API_CUDA_DRIVER;
	case TS_API_MUSA_RUNTIME:
		return TS_API_CUDA_RUNTIME;
	default:
		return domain;
	}
}

/* ts_record_api.record.flags */
#define TS_API_EXPECTS_DEVICE (1u << 0) /* succeeded, and such calls make device rows */
/*
 * The kernel may begin before its predecessor in the stream has ended: programmatic stream
 * serialization.
 */
#define TS_API_MAY_BEGIN_EARLY (1u << 1)

enum ts_access_kind {
	TS_ACCESS_COPY = 1,
	TS_ACCESS_SET = 2,
	TS_ACCESS_FREE = 3,  /* failed: `dst` is the call's argument */
	TS_ACCESS_ALLOC = 4, /* failed: `dst_bytes` is the requested size */
	/*
	 * Successful allocations and frees of `dst`. The vendor's ALLOC and FREE records have more
	 * fields but come later; if the program is killed, only these remain.
	 */
	TS_ACCESS_ALLOCATED = 5, /* on a device */
	TS_ACCESS_ALLOCATED_PINNED = 6,
	TS_ACCESS_ALLOCATED_MANAGED = 7,
	TS_ACCESS_FREED = 8,
};

enum ts_object_action {
	TS_OBJECT_CREATED = 1,
	TS_OBJECT_DESTROYED = 2,
	TS_OBJECT_SEEN = 3, /* it existed before recording began */
};

/* Kind of a range. 2 and 4 are unused: they once marked the ends alone. */
enum ts_range_action {
	TS_RANGE_PUSH = 1,  /* nests within its thread */
	TS_RANGE_START = 3, /* may end on another thread */
};

/*
 * Type of a payload and of a counter's value. Narrow values are widened to 64 bits according to
 * their type.
 */
enum ts_payload_type {
	TS_PAYLOAD_NONE = 0,
	TS_PAYLOAD_U64 = 1,
	TS_PAYLOAD_I64 = 2,
	TS_PAYLOAD_F64 = 3,
	TS_PAYLOAD_U32 = 4,
	TS_PAYLOAD_I32 = 5,
	TS_PAYLOAD_F32 = 6, /* as a double */
};

/*
 * Operation ids from here on belong to calls for which the vendor repeats the id of an earlier
 * call, or gives no id. No device row has such an id. Ids below are the vendor's correlation ids,
 * extended when they wrap.
 */
#define TS_OP_ID_SHARED (UINT64_C(1) << 40)
/*
 * Operation ids from here to TS_OP_ID_SHARED belong to the vendor that comes second in a process
 * with CUDA and HIP.
 */
#define TS_OP_ID_SECOND (UINT64_C(1) << 39)

/* Domain of the shim's own marks and counters, which report its own work. */
#define TS_OWN_DOMAIN "tracesmith"

/* A longer text of the application is cut. */
#define TS_ANNOTATION_MAX_BYTES 4096u

/*
 * Reasons of loss. A loss is counted in a shard's or the session's `lost`, or in a LOSS record,
 * never in both. The names in this list are the keys of `lost` in `tsctl info --json`.
 */
#define TS_LOSS_REASONS(X)                                                                        \
	X(RING_FULL, 1, "ring_full")	     /* the daemon did not drain the shard in time */     \
	X(NO_SHARD, 2, "no_shard")	     /* more producing threads than shards */             \
	X(ARENA_FULL, 3, "arena_full")	     /* a definition did not fit: its id is unknown */    \
	X(CUPTI_DROPPED, 4, "cupti_dropped") /* CUPTI reports dropped activity records */         \
	X(NO_BUFFER, 5, "no_buffer")	     /* no memory for an activity buffer */               \
	X(ZERO_TIMESTAMP, 6,                                                                      \
	  "zero_timestamp")		   /* a device row without times (device buffers full) */ \
	X(UNFINISHED, 7, "unfinished")	   /* still running at the last query */                  \
	X(UNJOINED_API, 8, "unjoined_api") /* a call whose device rows never came */              \
	X(UNJOINED_DEVICE, 9, "unjoined_device")  /* device rows whose call was not seen */       \
	X(REENTERED, 10, "reentered")		  /* a call from inside the shim's callback */    \
	X(BAD_RECORD, 11, "bad_record")		  /* malformed: skipped by the daemon */          \
	X(UNKNOWN_RECORD, 12, "unknown_record")	  /* a type unknown to this reader */             \
	X(BAD_DEFINITION, 13, "bad_definition")	  /* malformed: skipped by the daemon */          \
	X(STACK_TRUNCATED, 14, "stack_truncated") /* too deep: the outermost frames are cut */    \
	X(YIELDED, 15, "yielded")		  /* calls made while CUPTI was yielded */        \
	X(FORKED, 16, "forked")	    /* calls of a forked child that has no session */             \
	X(DISK, 17, "disk")	    /* the trace file could not be written */                     \
	X(NO_STACK, 18, "no_stack") /* calls without a stack: no usable unwinder */               \
	X(BAD_TIME, 19,                                                                           \
	  "bad_time")	    /* a row with impossible times: before the session, reversed */       \
	X(LATE, 20, "late") /* device rows that came after the recording's end */                 \
	X(UNDRAINED, 21, "undrained") /* records left in the rings at the end */                  \
	X(NO_MEMORY, 22, "no_memory") /* no memory to join a call and its work */                 \
	X(CLOCK_BACKWARD, 23,                                                                     \
	  "clock_backward")	      /* backward jumps of a clock: times near them are wrong */  \
	X(NO_PYTHON, 24, "no_python") /* stacks without their Python functions */                 \
	X(TEXT_CUT, 25, "text_cut")   /* texts of the application that were too long */           \
	X(BAD_ANNOTATION, 26,                                                                     \
	  "bad_annotation") /* invalid ranges, marks, counters, names, or too many of them */     \
	X(YIELDED_TO_END, 27,                                                                     \
	  "yielded_to_end") /* CUPTI was yielded to the end: later work is unknown */             \
	X(KERNEL_EVENTS, 28,                                                                      \
	  "kernel_events") /* events that found no room in the eBPF programs or in the daemon */  \
	X(UNTIMED, 29, "untimed") /* work without times, because only a sample of it is timed */

enum ts_loss_reason {
#define TS_LOSS_ENUM_(name, value, key) TS_LOSS_##name = value,
	TS_LOSS_REASONS(TS_LOSS_ENUM_)
#undef TS_LOSS_ENUM_
	TS_LOSS_COUNT = 32 /* reserve in every shard */
};

/*
 * ts_record_overhead.overhead_kind, besides CUPTI's own values (CUpti_ActivityOverheadKind): a
 * thread waited for room in its ring, to avoid a loss.
 */
#define TS_OVERHEAD_WAITED 0x54530001u

/* Cause of a stop or start of a recording. */
enum ts_pause_cause {
	/* TS_COMMAND_PAUSED: a client asked the daemon, or the recording began paused. */
	TS_PAUSE_BY_REQUEST = 1,
	TS_PAUSE_BY_APPLICATION = 2, /* the process itself */
};

/*
 * TS_RECORD_OPERATION: one operation that a replay repeats. The lane holds operations in the order
 * in which they took effect, across threads. The kinds below list the fields that they use; all
 * other fields are 0. Handles are the vendor's; addresses are the process's.
 */
enum ts_operation_kind {
	/* context, device. DESTROY: context */
	TS_OPERATION_CONTEXT_CREATE = 1,
	TS_OPERATION_CONTEXT_DESTROY = 2,
	/* object: handle of the module (or library); content: its image, as passed to the driver */
	TS_OPERATION_MODULE_LOAD = 3,
	TS_OPERATION_MODULE_UNLOAD = 4,
	/*
	 * object: handle of the function (or kernel); parent: the MODULE or FUNCTION that it
	 * belongs to; name
	 */
	TS_OPERATION_FUNCTION = 5,
	/* dst, bytes: place of a variable; parent: handle of its module; name */
	TS_OPERATION_VARIABLE = 6,
	/* dst, bytes; flags: TS_OPERATION_MEMORY_* */
	TS_OPERATION_ALLOC = 7,
	TS_OPERATION_FREE = 8, /* dst; with ASYNC also the stream */
	/* object: the handle; value: creation flags; src: the priority, 32 bits, signed */
	TS_OPERATION_STREAM_CREATE = 9,
	TS_OPERATION_STREAM_DESTROY = 10,
	TS_OPERATION_EVENT_CREATE = 11, /* object */
	TS_OPERATION_EVENT_DESTROY = 12,
	TS_OPERATION_EVENT_RECORD = 13, /* object, stream */
	TS_OPERATION_STREAM_WAIT = 14,	/* object: an event; stream */
	/*
	 * object: handle of a function; grid, block, shared_bytes, stream; content: its packed
	 * arguments; value: its cluster's size as TS_OPERATION_CLUSTER(), 0: the launch asks for no
	 * cluster; COOPERATIVE
	 */
	TS_OPERATION_LAUNCH = 15,
	/*
	 * dst, src, bytes per row, height in rows, depth in slices, pitches and slice sizes;
	 * stream. SRC_HOST: content is the data read, its rows without gaps. DST_HOST: content is
	 * the data written, in the same form (for ASYNC, a RESULT holds it)
	 */
	TS_OPERATION_COPY = 16,
	/*
	 * dst, value, bytes: count of elements per row; height, dst_pitch; src: bytes per element;
	 * stream; ASYNC
	 */
	TS_OPERATION_FILL = 17,
	/* flags: TS_OPERATION_SYNC_*; object: the event; stream */
	TS_OPERATION_SYNC = 18,
	/*
	 * dst, bytes: host memory that the device can access had this content at the next
	 * operation's call
	 */
	TS_OPERATION_HOST_WRITE = 19,
	/*
	 * cuCtxSetLimit: value: the limit that is set (a value of enum CUlimit); bytes: its new
	 * value
	 */
	TS_OPERATION_LIMIT = 20,
	/*
	 * object: handle of another context. value 1: kernels may access its device's memory from
	 * now on; 0: no longer
	 */
	TS_OPERATION_PEER = 21,
	/*
	 * name: an operation that cannot be replayed; from here on the replay differs from the
	 * program
	 */
	TS_OPERATION_UNSUPPORTED = 22,
	/* name: reason why the capture ended */
	TS_OPERATION_END = 23,
	/*
	 * parent: sequence of an asynchronous copy to the host; content: the data written, known
	 * after the program has waited for the copy
	 */
	TS_OPERATION_RESULT = 24,
	/*
	 * object: handle of the executable graph; stream. The operations of its nodes follow in an
	 * order that its edges allow, with the flag OF_GRAPH
	 */
	TS_OPERATION_GRAPH_LAUNCH = 25,
	/*
	 * value: 1, a window opens; 0, it closes. name: the trigger. In a capture with windows,
	 * only live objects are captured outside of a window (contexts, modules, functions,
	 * variables, memory, streams, events). After a window opens, COPY, SYNC and HOST_WRITE with
	 * an op_id of 0 restore the memory of that moment
	 */
	TS_OPERATION_WINDOW = 26,
	TS_OPERATION_COUNT
};

/* ts_record_operation.operation_flags */
#define TS_OPERATION_ASYNC	    (1u << 0)
#define TS_OPERATION_SRC_HOST	    (1u << 1)
#define TS_OPERATION_DST_HOST	    (1u << 2)
#define TS_OPERATION_COOPERATIVE    (1u << 3)
#define TS_OPERATION_MEMORY_PINNED  (1u << 4)
#define TS_OPERATION_MEMORY_MANAGED (1u << 5)
#define TS_OPERATION_SYNC_CONTEXT   (1u << 6)
#define TS_OPERATION_SYNC_STREAM    (1u << 7)
#define TS_OPERATION_SYNC_EVENT	    (1u << 8)
#define TS_OPERATION_UNORDERED \
	(1u << 9) /* another thread was in a call: it is unknown which call came first */
#define TS_OPERATION_OF_GRAPH	   (1u << 10) /* belongs to the GRAPH_LAUNCH before it */
#define TS_OPERATION_MEMORY_MAPPED (1u << 11) /* memory was mapped by cuMemMap(), or unmapped */

/*
 * Streams that every context has, as values of `stream`. Each thread has a per-thread stream of its
 * own.
 */
#define TS_OPERATION_STREAM_LEGACY     1u
#define TS_OPERATION_STREAM_PER_THREAD 2u

/* The size of a cluster in blocks along each axis, as `value` of a LAUNCH. */
#define TS_OPERATION_CLUSTER(x, y, z)	 ((uint64_t)(x) | (uint64_t)(y) << 16 | (uint64_t)(z) << 32)
#define TS_OPERATION_CLUSTER_AT(v, axis) ((uint32_t)((v) >> (16 * (axis)) & 0xffff))

/*
 * TS_RECORD_LAUNCH: an operation of kind LAUNCH that needs no other fields. Half the size of
 * TS_RECORD_OPERATION: most operations of a capture are such launches, and the first lap of the
 * lane costs the application new pages.
 */
struct ts_record_launch {
	struct ts_record record;
	uint64_t sequence;
	uint64_t op_id;
	uint64_t object;
	uint64_t stream;
	uint32_t bytes;
	uint32_t operation_flags;
	uint32_t thread;
	uint32_t context;
	uint32_t content;
	uint32_t shared_bytes;
	uint32_t grid[3];
	uint32_t block[3];
};
TS_ASSERT_SIZE(struct ts_record_launch, 96);
TS_ASSERT_FIELD(struct ts_record_launch, sequence, 16);
TS_ASSERT_FIELD(struct ts_record_launch, op_id, 24);
TS_ASSERT_FIELD(struct ts_record_launch, object, 32);
TS_ASSERT_FIELD(struct ts_record_launch, stream, 40);
TS_ASSERT_FIELD(struct ts_record_launch, bytes, 48);
TS_ASSERT_FIELD(struct ts_record_launch, operation_flags, 52);
TS_ASSERT_FIELD(struct ts_record_launch, thread, 56);
TS_ASSERT_FIELD(struct ts_record_launch, context, 60);
TS_ASSERT_FIELD(struct ts_record_launch, content, 64);
TS_ASSERT_FIELD(struct ts_record_launch, shared_bytes, 68);
TS_ASSERT_FIELD(struct ts_record_launch, grid, 72);
TS_ASSERT_FIELD(struct ts_record_launch, block, 84);

/* A content is cut into blobs of this size; the last one may be smaller. */
#define TS_BLOB_CHUNK_BYTES (64u * 1024)
#define TS_BLOB_MAX_BYTES   (512u * 1024 - 256)

/*
 * TS_RECORD_BLOB: `n_bytes` bytes follow the fixed fields. Numbers ascend from 1 in the order of
 * the lane, without gaps. With the flag LIST, the bytes are numbers (u32) of earlier blobs; the
 * concatenation of these blobs is the content.
 */
#define TS_BLOB_LIST (1u << 0)

struct ts_record_blob {
	struct ts_record record;
	uint64_t hash[2]; /* ts_hash128() of the bytes */
	uint32_t blob;
	uint32_t blob_flags;
	uint32_t n_bytes;
	uint32_t reserved;
};
TS_ASSERT_SIZE(struct ts_record_blob, 48);
TS_ASSERT_FIELD(struct ts_record_blob, hash, 16);
TS_ASSERT_FIELD(struct ts_record_blob, blob, 32);
TS_ASSERT_FIELD(struct ts_record_blob, blob_flags, 36);
TS_ASSERT_FIELD(struct ts_record_blob, n_bytes, 40);
TS_ASSERT_FIELD(struct ts_record_blob, reserved, 44);

/*
 * Attachments follow a record's fixed fields. A reader skips unknown kinds.
 *
 *   ARGUMENTS  the call's or kernel's arguments, packed as `arg` (a definition's id) describes
 *   BULK       three words: offset in the session's bulk lane `arg`, length in bytes, content hash
 *   SEQUENCE   one word: a number that orders this record among those of all threads
 */
enum ts_attachment_kind {
	TS_ATTACHMENT_ARGUMENTS = 1,
	TS_ATTACHMENT_BULK = 2,
	TS_ATTACHMENT_SEQUENCE = 3,
};

struct ts_attachment {
	uint16_t n_words; /* this header included */
	uint16_t kind;
	uint32_t arg;
#ifndef __cplusplus /* C++ has no flexible arrays: n_words - 1 words follow */
	uint64_t data[];
#endif
};
TS_ASSERT_SIZE(struct ts_attachment, 8);
TS_ASSERT_FIELD(struct ts_attachment, kind, 2);
TS_ASSERT_FIELD(struct ts_attachment, arg, 4);
#ifndef __cplusplus
TS_ASSERT_FIELD(struct ts_attachment, data, 8);
#endif

/*
 * Definitions. They lie one after the other in the session's arena, each `n_words` long and 8-byte
 * aligned. Ids of one type ascend from 1 in the order of the arena. The bytes of a published
 * definition never change.
 */
enum ts_definition_type {
	TS_DEF_STRING = 1,
	TS_DEF_STACK = 2,
	TS_DEF_MODULE = 3,
	TS_DEF_DEVICE = 4,
	TS_DEF_THREAD = 5,
	TS_DEF_NAME = 6,
	TS_DEF_CODE = 7,
	TS_DEF_FUNCTION = 8,
	TS_DEF_COUNT
};

struct ts_definition {
	uint32_t n_words; /* this header included */
	uint16_t type;	  /* enum ts_definition_type */
	uint16_t flags;	  /* depends on the type */
	uint32_t id;
	uint32_t n; /* STRING, CODE, FUNCTION: bytes; STACK: frames; otherwise 0 */
};
TS_ASSERT_SIZE(struct ts_definition, 16);
TS_ASSERT_FIELD(struct ts_definition, type, 4);
TS_ASSERT_FIELD(struct ts_definition, flags, 6);
TS_ASSERT_FIELD(struct ts_definition, id, 8);
TS_ASSERT_FIELD(struct ts_definition, n, 12);

#define TS_STRING_MAX_BYTES (64u * 1024)
#define TS_STACK_MAX_FRAMES 4096u

/* STRING: `n` bytes, not terminated, then padding. */

/* STACK: `n` frames, innermost first. flags: */
#define TS_STACK_TRUNCATED (1u << 0) /* the outermost frames are missing */

/*
 * A frame: the kind in the top 4 bits; the kind determines the meaning of the other bits.
 *
 *   NATIVE  a user-space return address (the innermost: an address in the function)
 *   PYTHON  a function and a line: the id of a string (TS_DEF_STRING: the function's name, a line
 *           break, its file) above TS_FRAME_LINE_BITS bits of line number; 0: line unknown
 */
#define TS_FRAME_KIND(frame)  ((unsigned)((uint64_t)(frame) >> 60))
#define TS_FRAME_VALUE(frame) ((uint64_t)(frame) & ((UINT64_C(1) << 60) - 1))
#define TS_FRAME_NATIVE	      0u
#define TS_FRAME_PYTHON	      1u

#define TS_FRAME_LINE_BITS    28
#define TS_FRAME_PYTHON_AT(string, line) \
	((uint64_t)TS_FRAME_PYTHON << 60 | (uint64_t)(string) << TS_FRAME_LINE_BITS | (line))
#define TS_FRAME_STRING(frame) ((uint32_t)(TS_FRAME_VALUE(frame) >> TS_FRAME_LINE_BITS))
#define TS_FRAME_LINE(frame)   ((uint32_t)((frame) & ((1u << TS_FRAME_LINE_BITS) - 1)))

/*
 * MODULE: an ELF file mapped into the process, to turn frames into names. With the flag UNLOADED:
 * the module at `start` was unmapped at `time`. flags:
 */
#define TS_MODULE_UNLOADED (1u << 0)

/* DEVICE: a GPU, as the vendor's interface describes it. flags: */
#define TS_DEVICE_VIRTUAL (1u << 0) /* TraceSmith's virtual GPU */
/* a virtual GPU whose operations last as long as its cost model computes */
#define TS_DEVICE_MODEL_CLOCK (1u << 1)
/* a virtual GPU that timed kernels and did not compute them (kernels=timed) */
#define TS_DEVICE_TIMED_KERNELS (1u << 2)

/*
 * NAME: the application's name of an object. A later name of the same object replaces it. flags:
 * enum ts_name_kind.
 */
enum ts_name_kind {
	TS_NAME_THREAD = 1,   /* object: the kernel's thread id */
	TS_NAME_CATEGORY = 2, /* in `domain`; object: its number */
	TS_NAME_DEVICE = 3,   /* object: the vendor's ordinal */
	TS_NAME_CONTEXT = 4,  /* object: the vendor's handle */
	TS_NAME_STREAM = 5,   /* object: the vendor's handle */
	TS_NAME_EVENT = 6,    /* object: the vendor's handle */
	TS_NAME_OTHER = 7,    /* object: a handle or address of the application */
};

/*
 * CODE: device code of a program, for vendors whose device rows lack the kernels' registers. The
 * code is a part of a file, or `n` bytes in the definition. Behind the struct lie the path of the
 * file, the device's target (HIP: gcnArchName) and these bytes. flags:
 */
#define TS_CODE_IS_METADATA (1u << 0) /* the bytes are AMD's metadata of the code alone */

#define TS_CODE_MAX_BYTES   (48u * 1024)

struct ts_definition_code {
	struct ts_definition definition;
	uint64_t file_off; /* of the code in the file */
	uint32_t n_path_bytes;
	uint32_t n_target_bytes;
};
TS_ASSERT_SIZE(struct ts_definition_code, 32);
TS_ASSERT_FIELD(struct ts_definition_code, file_off, 16);
TS_ASSERT_FIELD(struct ts_definition_code, n_path_bytes, 24);
TS_ASSERT_FIELD(struct ts_definition_code, n_target_bytes, 28);

/* FUNCTION: a kernel of a CODE. Its mangled name lies behind the struct, `n` bytes. */
struct ts_definition_function {
	struct ts_definition definition;
	uint32_t code;
	uint32_t reserved;
};
TS_ASSERT_SIZE(struct ts_definition_function, 24);
TS_ASSERT_FIELD(struct ts_definition_function, code, 16);

#include "proto/abi/generated-records.h"
