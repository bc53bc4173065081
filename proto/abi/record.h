/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records: what crosses a shard, and definitions: what their ids stand for.
 *
 * A record is a 16-byte header, a payload of fixed fields that its type determines, then any number
 * of attachments. All of it is 8-byte aligned and little-endian; lengths count 8-byte words. A
 * reader takes `n_fixed_words` from the record itself: fields that a newer writer appended are
 * skipped, fields that an older writer did not have read as zero. An unknown type is skipped and
 * counted, so a type's meaning never changes; a change that is not an addition takes a new type.
 *
 * Ids (string, stack, thread, device, ...) are 32 bits, belong to the session, start at 1; 0 means
 * unknown. An operation id is 64 bits, unique within the session: CUPTI's 32-bit correlation id of
 * the outermost API call, widened by the count of its wraps. An API row and the device rows that it
 * caused carry the same one.
 */
#pragma once

#include "proto/abi/base.h"

#define TS_ABI_MAJOR  1
#define TS_ABI_MINOR  7

#define TS_ID_UNKNOWN 0u
#define TS_NO_DEVICE  UINT32_MAX /* for fields that hold CUPTI's own ids, where 0 is a real one */

enum ts_record_type {
	TS_RECORD_PAD =
		0, /* filler up to the end of the ring's memory; `n_words` is its only field */
	TS_RECORD_API = 1,
	TS_RECORD_KERNEL = 2,
	TS_RECORD_MEMCPY = 3,
	TS_RECORD_MEMSET = 4,
	TS_RECORD_SYNC = 5,
	TS_RECORD_ALLOC = 6,
	TS_RECORD_FREE = 7,
	TS_RECORD_EVENT = 8,	   /* cudaEventRecord and its kin */
	TS_RECORD_STREAM_WAIT = 9, /* cudaStreamWaitEvent */
	TS_RECORD_STREAM = 10,	   /* created, destroyed */
	TS_RECORD_CONTEXT = 11,	   /* created, destroyed */
	TS_RECORD_GRAPH_LAUNCH = 12,
	TS_RECORD_MARK = 13,
	TS_RECORD_RANGE = 14, /* is over; RANGE_BEGIN told of it before */
	TS_RECORD_COUNTER = 15,
	TS_RECORD_CLOCK = 16,	   /* one instant on two clocks */
	TS_RECORD_LOSS = 17,	   /* losses that only the producer knows of */
	TS_RECORD_OVERHEAD = 18,   /* time the vendor's profiling layer says it took itself */
	TS_RECORD_GPU_MODULE = 19, /* device code loaded, unloaded */
	TS_RECORD_YIELD = 20, /* CUPTI given up to the application's own profiler, taken back */
	TS_RECORD_RANGE_BEGIN = 21,
	TS_RECORD_PAUSE = 22, /* recording stopped, started again */
	/* 23 to 25 are rows without a record: see sbt/schema.h */
	TS_RECORD_ACCESS = 26, /* memory that a copy, a set, an allocation or a free named */
	TS_RECORD_COUNT
};

/* Of the lane alone: capture level `replay`. An operation's row has the same number. */
#define TS_RECORD_OPERATION 29u
#define TS_RECORD_BLOB	    30u

/* `time` and every other time of the record are ticks of `clock` (enum ts_clock). */
struct ts_record {
	uint16_t n_words;      /* the whole record, header and attachments included */
	uint8_t n_fixed_words; /* header and fixed fields; attachments begin there */
	uint8_t clock;
	uint16_t type;
	uint16_t flags; /* the type's own */
	uint64_t time;	/* when it happened, or began */
};
TS_ASSERT_SIZE(struct ts_record, 16);
TS_ASSERT_FIELD(struct ts_record, n_fixed_words, 2);
TS_ASSERT_FIELD(struct ts_record, clock, 3);
TS_ASSERT_FIELD(struct ts_record, type, 4);
TS_ASSERT_FIELD(struct ts_record, flags, 6);
TS_ASSERT_FIELD(struct ts_record, time, 8);

#define TS_RECORD_MAX_BYTES (UINT16_MAX * 8u)

/* The vendor interface a call belongs to; with `cbid` it names the function. */
enum ts_api_domain {
	TS_API_CUDA_DRIVER = 1,	 /* cbid: CUpti_driver_api_trace_cbid */
	TS_API_CUDA_RUNTIME = 2, /* cbid: CUpti_runtime_api_trace_cbid */
	TS_API_HIP = 3,
};

/* ts_record_api.record.flags */
#define TS_API_EXPECTS_DEVICE (1u << 0) /* succeeded, and such calls make device rows */

/*
 * An outermost API call, entered at record.time. Nested driver calls make no row; where their
 * correlation id differs from the outermost call's, the last of them is linked here, so that device
 * rows under either id find the call.
 */
struct ts_record_api {
	struct ts_record record;
	uint64_t end;
	uint64_t op_id;
	uint64_t nested_op_id; /* 0: none, or the same */
	uint32_t stack;	       /* TS_DEF_STACK */
	uint16_t domain;       /* enum ts_api_domain */
	uint16_t cbid;
	int32_t result;	  /* CUresult or cudaError_t */
	uint32_t context; /* CUPTI's context id, 0 where none was current */
};
TS_ASSERT_SIZE(struct ts_record_api, 56);
TS_ASSERT_FIELD(struct ts_record_api, end, 16);
TS_ASSERT_FIELD(struct ts_record_api, op_id, 24);
TS_ASSERT_FIELD(struct ts_record_api, nested_op_id, 32);
TS_ASSERT_FIELD(struct ts_record_api, stack, 40);
TS_ASSERT_FIELD(struct ts_record_api, domain, 44);
TS_ASSERT_FIELD(struct ts_record_api, cbid, 46);
TS_ASSERT_FIELD(struct ts_record_api, result, 48);
TS_ASSERT_FIELD(struct ts_record_api, context, 52);

/* Where on a GPU: CUPTI's own ids. */
struct ts_place {
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t graph;	     /* 0: not from a graph */
	uint64_t graph_node; /* 0: not from a graph */
};
TS_ASSERT_SIZE(struct ts_place, 24);
TS_ASSERT_FIELD(struct ts_place, context, 4);
TS_ASSERT_FIELD(struct ts_place, stream, 8);
TS_ASSERT_FIELD(struct ts_place, graph, 12);
TS_ASSERT_FIELD(struct ts_place, graph_node, 16);

/* A kernel ran from record.time to end. */
struct ts_record_kernel {
	struct ts_record record;
	uint64_t end;
	uint64_t op_id;
	struct ts_place place;
	uint64_t queued;    /* same clock; 0 where not collected */
	uint64_t submitted; /* same clock; 0 where not collected */
	uint32_t name;	    /* TS_DEF_STRING: mangled */
	uint32_t grid[3];   /* blocks */
	uint32_t block[3];  /* threads */
	uint32_t cluster[3];
	uint32_t static_shared_bytes;
	uint32_t dynamic_shared_bytes;
	uint32_t local_bytes_per_thread;
	uint16_t registers_per_thread;
	uint8_t launch_type;  /* CUpti_ActivityLaunchType */
	uint8_t channel_type; /* CUpti_ChannelType */
	uint32_t channel;
	uint32_t reserved;
};
TS_ASSERT_SIZE(struct ts_record_kernel, 136);
TS_ASSERT_FIELD(struct ts_record_kernel, end, 16);
TS_ASSERT_FIELD(struct ts_record_kernel, op_id, 24);
TS_ASSERT_FIELD(struct ts_record_kernel, place, 32);
TS_ASSERT_FIELD(struct ts_record_kernel, queued, 56);
TS_ASSERT_FIELD(struct ts_record_kernel, submitted, 64);
TS_ASSERT_FIELD(struct ts_record_kernel, name, 72);
TS_ASSERT_FIELD(struct ts_record_kernel, grid, 76);
TS_ASSERT_FIELD(struct ts_record_kernel, block, 88);
TS_ASSERT_FIELD(struct ts_record_kernel, cluster, 100);
TS_ASSERT_FIELD(struct ts_record_kernel, static_shared_bytes, 112);
TS_ASSERT_FIELD(struct ts_record_kernel, dynamic_shared_bytes, 116);
TS_ASSERT_FIELD(struct ts_record_kernel, local_bytes_per_thread, 120);
TS_ASSERT_FIELD(struct ts_record_kernel, registers_per_thread, 124);
TS_ASSERT_FIELD(struct ts_record_kernel, launch_type, 126);
TS_ASSERT_FIELD(struct ts_record_kernel, channel_type, 127);
TS_ASSERT_FIELD(struct ts_record_kernel, channel, 128);
TS_ASSERT_FIELD(struct ts_record_kernel, reserved, 132);

/* A copy ran from record.time to end. Between devices, src_device and dst_device differ. */
struct ts_record_memcpy {
	struct ts_record record;
	uint64_t end;
	uint64_t op_id;
	struct ts_place place;
	uint64_t bytes;
	uint64_t copy_count;
	uint32_t src_device; /* TS_NO_DEVICE: the host */
	uint32_t dst_device; /* TS_NO_DEVICE: the host */
	uint8_t copy_kind;   /* CUpti_ActivityMemcpyKind */
	uint8_t src_kind;    /* CUpti_ActivityMemoryKind */
	uint8_t dst_kind;    /* CUpti_ActivityMemoryKind */
	uint8_t async;	     /* 1: CUPTI marked it asynchronous */
	uint32_t channel;
};
TS_ASSERT_SIZE(struct ts_record_memcpy, 88);
TS_ASSERT_FIELD(struct ts_record_memcpy, end, 16);
TS_ASSERT_FIELD(struct ts_record_memcpy, op_id, 24);
TS_ASSERT_FIELD(struct ts_record_memcpy, place, 32);
TS_ASSERT_FIELD(struct ts_record_memcpy, bytes, 56);
TS_ASSERT_FIELD(struct ts_record_memcpy, copy_count, 64);
TS_ASSERT_FIELD(struct ts_record_memcpy, src_device, 72);
TS_ASSERT_FIELD(struct ts_record_memcpy, dst_device, 76);
TS_ASSERT_FIELD(struct ts_record_memcpy, copy_kind, 80);
TS_ASSERT_FIELD(struct ts_record_memcpy, src_kind, 81);
TS_ASSERT_FIELD(struct ts_record_memcpy, dst_kind, 82);
TS_ASSERT_FIELD(struct ts_record_memcpy, async, 83);
TS_ASSERT_FIELD(struct ts_record_memcpy, channel, 84);

/* Memory was set from record.time to end. */
struct ts_record_memset {
	struct ts_record record;
	uint64_t end;
	uint64_t op_id;
	struct ts_place place;
	uint64_t bytes;
	uint32_t value;
	uint16_t memory_kind; /* CUpti_ActivityMemoryKind */
	uint16_t async;
	uint32_t channel;
	uint32_t reserved;
};
TS_ASSERT_SIZE(struct ts_record_memset, 80);
TS_ASSERT_FIELD(struct ts_record_memset, end, 16);
TS_ASSERT_FIELD(struct ts_record_memset, op_id, 24);
TS_ASSERT_FIELD(struct ts_record_memset, place, 32);
TS_ASSERT_FIELD(struct ts_record_memset, bytes, 56);
TS_ASSERT_FIELD(struct ts_record_memset, value, 64);
TS_ASSERT_FIELD(struct ts_record_memset, memory_kind, 68);
TS_ASSERT_FIELD(struct ts_record_memset, async, 70);
TS_ASSERT_FIELD(struct ts_record_memset, channel, 72);
TS_ASSERT_FIELD(struct ts_record_memset, reserved, 76);

/* The host waited, or a stream was made to wait, from record.time to end. */
struct ts_record_sync {
	struct ts_record record;
	uint64_t end;
	uint64_t op_id;
	uint32_t sync_type; /* CUpti_ActivitySynchronizationType */
	uint32_t context;
	uint32_t stream; /* TS_NO_DEVICE where the kind has none */
	uint32_t event;	 /* CUPTI's event id; 0 where the kind has none */
	int32_t result;
	uint32_t reserved;
};
TS_ASSERT_SIZE(struct ts_record_sync, 56);
TS_ASSERT_FIELD(struct ts_record_sync, end, 16);
TS_ASSERT_FIELD(struct ts_record_sync, op_id, 24);
TS_ASSERT_FIELD(struct ts_record_sync, sync_type, 32);
TS_ASSERT_FIELD(struct ts_record_sync, context, 36);
TS_ASSERT_FIELD(struct ts_record_sync, stream, 40);
TS_ASSERT_FIELD(struct ts_record_sync, event, 44);
TS_ASSERT_FIELD(struct ts_record_sync, result, 48);
TS_ASSERT_FIELD(struct ts_record_sync, reserved, 52);

/* TS_RECORD_ALLOC and TS_RECORD_FREE. */
struct ts_record_memory {
	struct ts_record record;
	uint64_t op_id;
	uint64_t address;
	uint64_t bytes;
	uint64_t pool; /* the pool's address; 0: none */
	uint32_t device;
	uint32_t context;
	uint32_t stream;     /* TS_NO_DEVICE where not stream-ordered */
	uint8_t memory_kind; /* CUpti_ActivityMemoryKind */
	uint8_t async;
	uint16_t reserved;
	uint64_t
		pool_bytes; /* of a local pool, afterwards: what it holds of the device's memory; 0: not told */
	uint64_t pool_used_bytes; /* of these, what is allocated */
};
TS_ASSERT_SIZE(struct ts_record_memory, 80);
TS_ASSERT_FIELD(struct ts_record_memory, op_id, 16);
TS_ASSERT_FIELD(struct ts_record_memory, address, 24);
TS_ASSERT_FIELD(struct ts_record_memory, bytes, 32);
TS_ASSERT_FIELD(struct ts_record_memory, pool, 40);
TS_ASSERT_FIELD(struct ts_record_memory, device, 48);
TS_ASSERT_FIELD(struct ts_record_memory, context, 52);
TS_ASSERT_FIELD(struct ts_record_memory, stream, 56);
TS_ASSERT_FIELD(struct ts_record_memory, memory_kind, 60);
TS_ASSERT_FIELD(struct ts_record_memory, async, 61);
TS_ASSERT_FIELD(struct ts_record_memory, reserved, 62);
TS_ASSERT_FIELD(struct ts_record_memory, pool_bytes, 64);
TS_ASSERT_FIELD(struct ts_record_memory, pool_used_bytes, 72);

enum ts_access_kind {
	TS_ACCESS_COPY = 1,
	TS_ACCESS_SET = 2,
	TS_ACCESS_FREE = 3,  /* that failed: `dst` is what it was given */
	TS_ACCESS_ALLOC = 4, /* that failed: `dst_bytes` is what it asked for */
	/*
	 * Allocations and frees that succeeded, of `dst`. The vendor's ALLOC and FREE records say more, but come later: a program that
	 * is killed leaves these.
	 */
	TS_ACCESS_ALLOCATED = 5, /* on a device */
	TS_ACCESS_ALLOCATED_PINNED = 6,
	TS_ACCESS_ALLOCATED_MANAGED = 7,
	TS_ACCESS_FREED = 8,
};

/*
 * Memory that a call named, whether it succeeded or not; written when it returned. Arrays, symbols and batches
 * are not told, nor what kernels and the nodes of graphs are given.
 */
struct ts_record_access {
	struct ts_record record;
	uint64_t op_id;
	uint64_t dst; /* written; 0: not told */
	uint64_t src; /* read; 0: not told */
	uint64_t
		dst_bytes; /* from the first to the last: rows of a pitch include what is between them */
	uint64_t src_bytes;
	uint32_t access; /* enum ts_access_kind */
	uint32_t reserved;
};
TS_ASSERT_SIZE(struct ts_record_access, 64);
TS_ASSERT_FIELD(struct ts_record_access, op_id, 16);
TS_ASSERT_FIELD(struct ts_record_access, dst, 24);
TS_ASSERT_FIELD(struct ts_record_access, src, 32);
TS_ASSERT_FIELD(struct ts_record_access, dst_bytes, 40);
TS_ASSERT_FIELD(struct ts_record_access, src_bytes, 48);
TS_ASSERT_FIELD(struct ts_record_access, access, 56);
TS_ASSERT_FIELD(struct ts_record_access, reserved, 60);

/*
 * TS_RECORD_EVENT and TS_RECORD_STREAM_WAIT; written when the call returned successfully, and not where the stream is being
 * captured: then the device does nothing of it.
 */
struct ts_record_event {
	struct ts_record record;
	uint64_t op_id;
	uint64_t event;		/* the vendor's handle; of a wait 0: for what the host does */
	uint64_t stream_handle; /* as the application passed it */
	uint32_t context;
	uint32_t stream;      /* CUPTI's id; TS_NO_DEVICE where it could not be told */
	uint32_t event_flags; /* as the application passed them */
	uint32_t reserved;
};
TS_ASSERT_SIZE(struct ts_record_event, 56);
TS_ASSERT_FIELD(struct ts_record_event, op_id, 16);
TS_ASSERT_FIELD(struct ts_record_event, event, 24);
TS_ASSERT_FIELD(struct ts_record_event, stream_handle, 32);
TS_ASSERT_FIELD(struct ts_record_event, context, 40);
TS_ASSERT_FIELD(struct ts_record_event, stream, 44);
TS_ASSERT_FIELD(struct ts_record_event, event_flags, 48);
TS_ASSERT_FIELD(struct ts_record_event, reserved, 52);

enum ts_object_action {
	TS_OBJECT_CREATED = 1,
	TS_OBJECT_DESTROYED = 2,
	TS_OBJECT_SEEN = 3, /* it existed before recording began */
};

/* TS_RECORD_STREAM, TS_RECORD_CONTEXT. */
struct ts_record_object {
	struct ts_record record;
	uint64_t handle; /* the vendor's; 0 where not known */
	uint32_t device;
	uint32_t context;
	uint32_t stream;       /* TS_NO_DEVICE for a context */
	int32_t priority;      /* streams */
	uint32_t object_flags; /* streams: CUpti_ActivityStreamFlag */
	uint8_t action;	       /* enum ts_object_action */
	uint8_t reserved[3];
};
TS_ASSERT_SIZE(struct ts_record_object, 48);
TS_ASSERT_FIELD(struct ts_record_object, handle, 16);
TS_ASSERT_FIELD(struct ts_record_object, device, 24);
TS_ASSERT_FIELD(struct ts_record_object, context, 28);
TS_ASSERT_FIELD(struct ts_record_object, stream, 32);
TS_ASSERT_FIELD(struct ts_record_object, priority, 36);
TS_ASSERT_FIELD(struct ts_record_object, object_flags, 40);
TS_ASSERT_FIELD(struct ts_record_object, action, 44);
TS_ASSERT_FIELD(struct ts_record_object, reserved, 45);

struct ts_record_graph_launch {
	struct ts_record record;
	uint64_t op_id;
	uint64_t graph_exec; /* the vendor's handle */
	uint64_t stream_handle;
	uint32_t context;
	uint32_t stream; /* CUPTI's id; TS_NO_DEVICE where it could not be told */
	uint32_t graph;	 /* CUPTI's graph id; 0 where it could not be told */
	uint32_t reserved;
};
TS_ASSERT_SIZE(struct ts_record_graph_launch, 56);
TS_ASSERT_FIELD(struct ts_record_graph_launch, op_id, 16);
TS_ASSERT_FIELD(struct ts_record_graph_launch, graph_exec, 24);
TS_ASSERT_FIELD(struct ts_record_graph_launch, stream_handle, 32);
TS_ASSERT_FIELD(struct ts_record_graph_launch, context, 40);
TS_ASSERT_FIELD(struct ts_record_graph_launch, stream, 44);
TS_ASSERT_FIELD(struct ts_record_graph_launch, graph, 48);
TS_ASSERT_FIELD(struct ts_record_graph_launch, reserved, 52);

/* How a range was made. 2 and 4 are not used: they stood for the ends alone. */
enum ts_range_action {
	TS_RANGE_PUSH = 1,  /* nests within its thread */
	TS_RANGE_START = 3, /* may end on another thread */
};

/* The type of a payload, and of a counter's value. Narrow ones are widened to 64 bits as their type says. */
enum ts_payload_type {
	TS_PAYLOAD_NONE = 0,
	TS_PAYLOAD_U64 = 1,
	TS_PAYLOAD_I64 = 2,
	TS_PAYLOAD_F64 = 3,
	TS_PAYLOAD_U32 = 4,
	TS_PAYLOAD_I32 = 5,
	TS_PAYLOAD_F32 = 6, /* as a double */
};

/* The domain of marks and counters that are not the application's: what the shim says of its own work. */
#define TS_OWN_DOMAIN "tracesmith"

/* Longer texts of the application's are cut. */
#define TS_ANNOTATION_MAX_BYTES 4096u

/*
 * TS_RECORD_MARK and TS_RECORD_RANGE_BEGIN: what the application says of itself. A range is told of twice: when it begins,
 * and when it is over, by one range_id. Of one that never ends, the first stands alone.
 */
struct ts_record_annotation {
	struct ts_record record;
	uint64_t range_id; /* ranges: the session's, never used again; 0 for a mark */
	uint64_t payload;  /* its bits */
	uint32_t name;	   /* TS_DEF_STRING */
	uint32_t domain;   /* TS_DEF_STRING */
	uint32_t category;
	uint32_t color;	      /* ARGB; 0: none */
	uint32_t stack;	      /* TS_DEF_STACK */
	uint8_t action;	      /* enum ts_range_action; 0 for a mark */
	uint8_t payload_type; /* enum ts_payload_type */
	uint16_t level; /* PUSH: open ranges of thread and domain around it; UINT16_MAX: or more */
};
TS_ASSERT_SIZE(struct ts_record_annotation, 56);
TS_ASSERT_FIELD(struct ts_record_annotation, range_id, 16);
TS_ASSERT_FIELD(struct ts_record_annotation, payload, 24);
TS_ASSERT_FIELD(struct ts_record_annotation, name, 32);
TS_ASSERT_FIELD(struct ts_record_annotation, domain, 36);
TS_ASSERT_FIELD(struct ts_record_annotation, category, 40);
TS_ASSERT_FIELD(struct ts_record_annotation, color, 44);
TS_ASSERT_FIELD(struct ts_record_annotation, stack, 48);
TS_ASSERT_FIELD(struct ts_record_annotation, action, 52);
TS_ASSERT_FIELD(struct ts_record_annotation, payload_type, 53);
TS_ASSERT_FIELD(struct ts_record_annotation, level, 54);

/* TS_RECORD_RANGE: a range was open from record.time to end; `as_begun` is what its RANGE_BEGIN said. */
struct ts_record_range {
	struct ts_record_annotation as_begun;
	uint64_t end;
	uint32_t begin_thread; /* TS_DEF_THREAD; 0: the shard's owner, which ended it */
	uint32_t reserved;
};
TS_ASSERT_SIZE(struct ts_record_range, 72);
TS_ASSERT_FIELD(struct ts_record_range, end, 56);
TS_ASSERT_FIELD(struct ts_record_range, begin_thread, 64);
TS_ASSERT_FIELD(struct ts_record_range, reserved, 68);

struct ts_record_counter {
	struct ts_record record;
	double value;
	uint32_t name;	     /* TS_DEF_STRING */
	uint32_t domain;     /* TS_DEF_STRING */
	int64_t integer;     /* where value_type is TS_PAYLOAD_I64, the value itself; else 0 */
	uint32_t value_type; /* enum ts_payload_type: I64, or F64 (and 0) where `value` is all */
	uint32_t reserved;
};
TS_ASSERT_SIZE(struct ts_record_counter, 48);
TS_ASSERT_FIELD(struct ts_record_counter, value, 16);
TS_ASSERT_FIELD(struct ts_record_counter, name, 24);
TS_ASSERT_FIELD(struct ts_record_counter, domain, 28);
TS_ASSERT_FIELD(struct ts_record_counter, integer, 32);
TS_ASSERT_FIELD(struct ts_record_counter, value_type, 40);
TS_ASSERT_FIELD(struct ts_record_counter, reserved, 44);

/* record.time on record.clock and other_time on other_clock are one instant, to within error_ns. */
struct ts_record_clock {
	struct ts_record record;
	uint64_t other_time;
	uint64_t error_ns;
	uint8_t other_clock; /* enum ts_clock */
	uint8_t reserved[7];
};
TS_ASSERT_SIZE(struct ts_record_clock, 40);
TS_ASSERT_FIELD(struct ts_record_clock, other_time, 16);
TS_ASSERT_FIELD(struct ts_record_clock, error_ns, 24);
TS_ASSERT_FIELD(struct ts_record_clock, other_clock, 32);
TS_ASSERT_FIELD(struct ts_record_clock, reserved, 33);

/*
 * Why something is missing. Counted in a shard's or the session's `lost`, or told by a LOSS record,
 * never in both. The names here are the keys of `lost` in `tsctl info --json`.
 */
#define TS_LOSS_REASONS(X)                                                                         \
	X(RING_FULL, 1, "ring_full")	     /* the daemon did not drain the shard in time */      \
	X(NO_SHARD, 2, "no_shard")	     /* more producing threads than shards */              \
	X(ARENA_FULL, 3, "arena_full")	     /* a definition did not fit: its id is unknown */     \
	X(CUPTI_DROPPED, 4, "cupti_dropped") /* CUPTI says it dropped activity records */          \
	X(NO_BUFFER, 5, "no_buffer")	     /* no memory for an activity buffer */                \
	X(ZERO_TIMESTAMP, 6,                                                                       \
	  "zero_timestamp")		   /* a device row without times (device buffers full) */  \
	X(UNFINISHED, 7, "unfinished")	   /* still running when it was last asked for */          \
	X(UNJOINED_API, 8, "unjoined_api") /* a call whose device rows never came */               \
	X(UNJOINED_DEVICE, 9, "unjoined_device")  /* device rows whose call was not seen */        \
	X(REENTERED, 10, "reentered")		  /* a call made from inside our own callback */   \
	X(BAD_RECORD, 11, "bad_record")		  /* malformed: skipped by the daemon */           \
	X(UNKNOWN_RECORD, 12, "unknown_record")	  /* a type that this reader does not know */      \
	X(BAD_DEFINITION, 13, "bad_definition")	  /* malformed: skipped by the daemon */           \
	X(STACK_TRUNCATED, 14, "stack_truncated") /* deeper than the limit: the root is cut off */ \
	X(YIELDED, 15, "yielded")		  /* calls made while CUPTI was given up */        \
	X(FORKED, 16, "forked")	    /* calls of a forked child that has no session */              \
	X(DISK, 17, "disk")	    /* the trace file could not be written */                      \
	X(NO_STACK, 18, "no_stack") /* calls without a stack: no unwinder that can be used */      \
	X(BAD_TIME, 19,                                                                            \
	  "bad_time")	    /* a row whose times cannot be: before the session, reversed */        \
	X(LATE, 20, "late") /* device rows that came when the recording was over */                \
	X(UNDRAINED, 21, "undrained") /* left in the rings when the recording ended */             \
	X(NO_MEMORY, 22, "no_memory") /* the daemon had no memory to join halves */                \
	X(CLOCK_BACKWARD, 23,                                                                      \
	  "clock_backward")	      /* jumps back of a clock: times near them are wrong */       \
	X(NO_PYTHON, 24, "no_python") /* stacks that lack the Python functions in them */          \
	X(TEXT_CUT, 25, "text_cut")   /* texts of the application's that were too long */          \
	X(BAD_ANNOTATION, 26,                                                                      \
	  "bad_annotation") /* ranges, marks, counters, names that make no sense, or too many */   \
	X(YIELDED_TO_END, 27,                                                                      \
	  "yielded_to_end") /* CUPTI was given up for good: what was done then is not known */     \
	X(KERNEL_EVENTS, 28,                                                                       \
	  "kernel_events") /* the eBPF programs, or the daemon behind them, had no room for it */

enum ts_loss_reason {
#define TS_LOSS_ENUM_(name, value, key) TS_LOSS_##name = value,
	TS_LOSS_REASONS(TS_LOSS_ENUM_)
#undef TS_LOSS_ENUM_
	TS_LOSS_COUNT = 32 /* room for more in every shard */
};

/* `count` things were lost between record.time and end. */
struct ts_record_loss {
	struct ts_record record;
	uint64_t end;
	uint64_t count;
	uint32_t reason;  /* enum ts_loss_reason */
	uint32_t context; /* 0 where it does not matter */
};
TS_ASSERT_SIZE(struct ts_record_loss, 40);
TS_ASSERT_FIELD(struct ts_record_loss, end, 16);
TS_ASSERT_FIELD(struct ts_record_loss, count, 24);
TS_ASSERT_FIELD(struct ts_record_loss, reason, 32);
TS_ASSERT_FIELD(struct ts_record_loss, context, 36);

/*
 * ts_record_overhead.overhead_kind, beside CUPTI's own (CUpti_ActivityOverheadKind): a thread waited for room in its ring, so
 * that nothing is lost.
 */
#define TS_OVERHEAD_WAITED 0x54530001u

struct ts_record_overhead {
	struct ts_record record;
	uint64_t end;
	uint32_t overhead_kind; /* CUpti_ActivityOverheadKind */
	uint32_t object_kind;	/* CUpti_ActivityObjectKind */
	uint32_t object;	/* thread, device, context or stream id, as object_kind says */
	uint32_t reserved;
};
TS_ASSERT_SIZE(struct ts_record_overhead, 40);
TS_ASSERT_FIELD(struct ts_record_overhead, end, 16);
TS_ASSERT_FIELD(struct ts_record_overhead, overhead_kind, 24);
TS_ASSERT_FIELD(struct ts_record_overhead, object_kind, 28);
TS_ASSERT_FIELD(struct ts_record_overhead, object, 32);
TS_ASSERT_FIELD(struct ts_record_overhead, reserved, 36);

/* Device code that came or went. Its bytes, where they were asked for, are an attachment. */
struct ts_record_gpu_module {
	struct ts_record record;
	uint64_t bytes;	 /* of the image, 0 where not known */
	uint32_t module; /* CUPTI's module id */
	uint32_t context;
	uint8_t action; /* enum ts_object_action */
	uint8_t reserved[7];
};
TS_ASSERT_SIZE(struct ts_record_gpu_module, 40);
TS_ASSERT_FIELD(struct ts_record_gpu_module, bytes, 16);
TS_ASSERT_FIELD(struct ts_record_gpu_module, module, 24);
TS_ASSERT_FIELD(struct ts_record_gpu_module, context, 28);
TS_ASSERT_FIELD(struct ts_record_gpu_module, action, 32);
TS_ASSERT_FIELD(struct ts_record_gpu_module, reserved, 33);

/* From record.time CUPTI was the application's (`yielded` 1), or ours again (0). */
struct ts_record_yield {
	struct ts_record record;
	uint32_t to; /* TS_DEF_STRING: who took it, where it could be told */
	uint32_t yielded;
};
TS_ASSERT_SIZE(struct ts_record_yield, 24);
TS_ASSERT_FIELD(struct ts_record_yield, to, 16);
TS_ASSERT_FIELD(struct ts_record_yield, yielded, 20);

/* Who stopped or started a recording. */
enum ts_pause_cause {
	TS_PAUSE_BY_REQUEST =
		1, /* TS_COMMAND_PAUSED: whoever asked the daemon to, or began it so */
	TS_PAUSE_BY_APPLICATION = 2, /* the process itself */
};

/*
 * From record.time no call that begins is recorded, nor what it makes the device do (`paused` 1); or they are again (0).
 * Calls that began before are recorded whole. None of what is left out is a loss.
 */
struct ts_record_pause {
	struct ts_record record;
	uint32_t paused;
	uint32_t cause; /* enum ts_pause_cause */
};
TS_ASSERT_SIZE(struct ts_record_pause, 24);
TS_ASSERT_FIELD(struct ts_record_pause, paused, 16);
TS_ASSERT_FIELD(struct ts_record_pause, cause, 20);

/*
 * TS_RECORD_OPERATION: one thing that has to be done again when a trace is replayed. The lane has them in the order in which
 * they took effect, whichever threads asked for them. What the kinds use of the fields is in enum ts_operation_kind; all
 * else is 0. Handles are the vendor's, addresses those of the process.
 */
enum ts_operation_kind {
	/* context, device. DESTROY: context */
	TS_OPERATION_CONTEXT_CREATE = 1,
	TS_OPERATION_CONTEXT_DESTROY = 2,
	/* object: the module's (or library's) handle; content: its image, as the driver was given it */
	TS_OPERATION_MODULE_LOAD = 3,
	TS_OPERATION_MODULE_UNLOAD = 4,
	/* object: the function's (or kernel's) handle; parent: of what, as MODULE and FUNCTION say; name */
	TS_OPERATION_FUNCTION = 5,
	/* dst, bytes: where a variable lies; parent: its module's handle; name */
	TS_OPERATION_VARIABLE = 6,
	/* dst, bytes; flags: TS_OPERATION_MEMORY_* */
	TS_OPERATION_ALLOC = 7,
	TS_OPERATION_FREE = 8, /* dst; with a stream where flags say ASYNC */
	/* object: the handle; value: creation flags; src: the priority, 32 bits with its sign */
	TS_OPERATION_STREAM_CREATE = 9,
	TS_OPERATION_STREAM_DESTROY = 10,
	TS_OPERATION_EVENT_CREATE = 11, /* object */
	TS_OPERATION_EVENT_DESTROY = 12,
	TS_OPERATION_EVENT_RECORD = 13, /* object, stream */
	TS_OPERATION_STREAM_WAIT = 14,	/* object: an event; stream */
	/* object: a function's handle; grid, block, shared_bytes, stream; content: its arguments, packed; COOPERATIVE */
	TS_OPERATION_LAUNCH = 15,
	/*
	 * dst, src, bytes of a row, height rows, depth slices, their pitches and slices; stream; SRC_HOST: content is what was
	 * read, its rows without gaps; DST_HOST: content is what was written, the same way (of an ASYNC one RESULT tells)
	 */
	TS_OPERATION_COPY = 16,
	/* dst, value, bytes: elements of a row; height, dst_pitch; src: bytes of an element; stream; ASYNC */
	TS_OPERATION_FILL = 17,
	/* flags: TS_OPERATION_SYNC_*; object: the event; stream */
	TS_OPERATION_SYNC = 18,
	/* dst, bytes: host memory that the device can reach had this content when the next operation was asked for */
	TS_OPERATION_HOST_WRITE = 19,
	/* value: enum CUlimit's number; bytes: the limit */
	TS_OPERATION_LIMIT = 20,
	/* object: another context's handle, whose device's memory kernels may reach from now on, or (value 0) no more */
	TS_OPERATION_PEER = 21,
	/* name: what cannot be done again, and from when on the replay is not the program's */
	TS_OPERATION_UNSUPPORTED = 22,
	/* name: why nothing more was captured */
	TS_OPERATION_END = 23,
	/* parent: the sequence of an asynchronous copy to the host; content: what it wrote, known once it was waited for */
	TS_OPERATION_RESULT = 24,
	/* object: the executable graph's handle; stream. What its nodes do follows, in an order that its edges allow: OF_GRAPH */
	TS_OPERATION_GRAPH_LAUNCH = 25,
	/*
	 * value: 1, a window opens; 0, it closes; name: what opened it. Where there are windows, outside of them only what is alive is
	 * captured (contexts, modules, functions, variables, memory, streams, events). Behind one that opens, memory is as it was
	 * then: COPY, SYNC and HOST_WRITE with an op_id of 0
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
	(1u << 9) /* another thread was in a call: which came first is not known */
#define TS_OPERATION_OF_GRAPH	   (1u << 10) /* of the GRAPH_LAUNCH before it */
#define TS_OPERATION_MEMORY_MAPPED (1u << 11) /* by cuMemMap(), or unmapped */

/* Streams that every context has, as `stream` names them. The per-thread one is the thread's. */
#define TS_OPERATION_STREAM_LEGACY     1u
#define TS_OPERATION_STREAM_PER_THREAD 2u

struct ts_record_operation {
	struct ts_record record;
	uint64_t sequence; /* of the session's operations: without gaps, from 1 */
	uint64_t op_id;	   /* of the call */
	uint64_t object;
	uint64_t parent;
	uint64_t stream;
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
	uint32_t kind; /* enum ts_operation_kind */
	uint32_t operation_flags;
	uint32_t thread; /* TS_DEF_THREAD */
	uint32_t context;
	uint32_t device;
	uint32_t name;	  /* TS_DEF_STRING */
	uint32_t content; /* a blob's number; 0: none */
	uint32_t shared_bytes;
	uint32_t grid[3];
	uint32_t block[3];
};
TS_ASSERT_SIZE(struct ts_record_operation, 192);
TS_ASSERT_FIELD(struct ts_record_operation, sequence, 16);
TS_ASSERT_FIELD(struct ts_record_operation, op_id, 24);
TS_ASSERT_FIELD(struct ts_record_operation, object, 32);
TS_ASSERT_FIELD(struct ts_record_operation, parent, 40);
TS_ASSERT_FIELD(struct ts_record_operation, stream, 48);
TS_ASSERT_FIELD(struct ts_record_operation, dst, 56);
TS_ASSERT_FIELD(struct ts_record_operation, src, 64);
TS_ASSERT_FIELD(struct ts_record_operation, bytes, 72);
TS_ASSERT_FIELD(struct ts_record_operation, height, 80);
TS_ASSERT_FIELD(struct ts_record_operation, depth, 88);
TS_ASSERT_FIELD(struct ts_record_operation, dst_pitch, 96);
TS_ASSERT_FIELD(struct ts_record_operation, src_pitch, 104);
TS_ASSERT_FIELD(struct ts_record_operation, dst_slice, 112);
TS_ASSERT_FIELD(struct ts_record_operation, src_slice, 120);
TS_ASSERT_FIELD(struct ts_record_operation, value, 128);
TS_ASSERT_FIELD(struct ts_record_operation, kind, 136);
TS_ASSERT_FIELD(struct ts_record_operation, operation_flags, 140);
TS_ASSERT_FIELD(struct ts_record_operation, thread, 144);
TS_ASSERT_FIELD(struct ts_record_operation, context, 148);
TS_ASSERT_FIELD(struct ts_record_operation, device, 152);
TS_ASSERT_FIELD(struct ts_record_operation, name, 156);
TS_ASSERT_FIELD(struct ts_record_operation, content, 160);
TS_ASSERT_FIELD(struct ts_record_operation, shared_bytes, 164);
TS_ASSERT_FIELD(struct ts_record_operation, grid, 168);
TS_ASSERT_FIELD(struct ts_record_operation, block, 180);

/* Contents are cut into blobs of so many bytes, the last one of fewer. */
#define TS_BLOB_CHUNK_BYTES (64u * 1024)
#define TS_BLOB_MAX_BYTES   (512u * 1024 - 256)

/*
 * TS_RECORD_BLOB: `n_bytes` bytes follow the fixed fields. Numbers count up from 1, in the order of the lane, without gaps.
 * With the flag LIST the bytes are numbers (u32) of blobs before, which one after the other are the content.
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
 * Attachments follow a record's fixed fields. Unknown kinds are skipped.
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
#ifndef __cplusplus /* it has no such members: n_words - 1 words follow */
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
 * aligned. Ids of one type count up from 1 in the order of the arena. The bytes of a definition
 * never change once published.
 */
enum ts_definition_type {
	TS_DEF_STRING = 1,
	TS_DEF_STACK = 2,
	TS_DEF_MODULE = 3,
	TS_DEF_DEVICE = 4,
	TS_DEF_THREAD = 5,
	TS_DEF_NAME = 6,
	TS_DEF_COUNT
};

struct ts_definition {
	uint32_t n_words; /* this header included */
	uint16_t type;	  /* enum ts_definition_type */
	uint16_t flags;	  /* the type's own */
	uint32_t id;
	uint32_t n; /* STRING: bytes; STACK: frames; otherwise 0 */
};
TS_ASSERT_SIZE(struct ts_definition, 16);
TS_ASSERT_FIELD(struct ts_definition, type, 4);
TS_ASSERT_FIELD(struct ts_definition, flags, 6);
TS_ASSERT_FIELD(struct ts_definition, id, 8);
TS_ASSERT_FIELD(struct ts_definition, n, 12);

#define TS_STRING_MAX_BYTES (64u * 1024)
#define TS_STACK_MAX_FRAMES 4096u

/* STRING: `n` bytes, not terminated, then padding. */

/* STACK: `n` frames, the innermost first. flags: */
#define TS_STACK_TRUNCATED (1u << 0) /* the outermost frames are missing */

/*
 * A frame: the kind in the top 4 bits, the rest as the kind says.
 *   NATIVE  a user-space return address (the innermost: an address in the function)
 *   PYTHON  a function and where in it: the id of a string (TS_DEF_STRING: the function's name, a line break, its file)
 *           above TS_FRAME_LINE_BITS bits of line number, 0 where it is not known
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
 * MODULE: an ELF file mapped into the process, for turning frames into names. With the flag
 * UNLOADED: what was mapped at `start` went away at `time`. flags:
 */
#define TS_MODULE_UNLOADED (1u << 0)

struct ts_definition_module {
	struct ts_definition definition;
	uint64_t start; /* first mapped address */
	uint64_t end;	/* first address after the mapping */
	uint64_t bias;	/* address = bias + address in the file's own view */
	uint64_t time;	/* ticks of the session's host clock: from then on */
	uint32_t path;	/* TS_DEF_STRING */
	uint32_t n_build_id_bytes;
	uint8_t build_id[32];
};
TS_ASSERT_SIZE(struct ts_definition_module, 88);
TS_ASSERT_FIELD(struct ts_definition_module, start, 16);
TS_ASSERT_FIELD(struct ts_definition_module, end, 24);
TS_ASSERT_FIELD(struct ts_definition_module, bias, 32);
TS_ASSERT_FIELD(struct ts_definition_module, time, 40);
TS_ASSERT_FIELD(struct ts_definition_module, path, 48);
TS_ASSERT_FIELD(struct ts_definition_module, n_build_id_bytes, 52);
TS_ASSERT_FIELD(struct ts_definition_module, build_id, 56);

/* DEVICE: a GPU, as the vendor's interface describes it. flags: */
#define TS_DEVICE_VIRTUAL     (1u << 0) /* TraceSmith's virtual GPU */
#define TS_DEVICE_MODEL_CLOCK (1u << 1) /* its operations take the times of its cost model */

struct ts_definition_device {
	struct ts_definition definition;
	uint32_t device; /* CUPTI's device id */
	uint32_t name;	 /* TS_DEF_STRING */
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
	uint32_t reserved;
};
TS_ASSERT_SIZE(struct ts_definition_device, 104);
TS_ASSERT_FIELD(struct ts_definition_device, device, 16);
TS_ASSERT_FIELD(struct ts_definition_device, name, 20);
TS_ASSERT_FIELD(struct ts_definition_device, uuid, 24);
TS_ASSERT_FIELD(struct ts_definition_device, memory_bytes, 40);
TS_ASSERT_FIELD(struct ts_definition_device, memory_bandwidth_kb_per_s, 48);
TS_ASSERT_FIELD(struct ts_definition_device, compute_capability_major, 56);
TS_ASSERT_FIELD(struct ts_definition_device, compute_capability_minor, 60);
TS_ASSERT_FIELD(struct ts_definition_device, n_multiprocessors, 64);
TS_ASSERT_FIELD(struct ts_definition_device, core_clock_khz, 68);
TS_ASSERT_FIELD(struct ts_definition_device, n_copy_engines, 72);
TS_ASSERT_FIELD(struct ts_definition_device, threads_per_warp, 76);
TS_ASSERT_FIELD(struct ts_definition_device, max_warps_per_multiprocessor, 80);
TS_ASSERT_FIELD(struct ts_definition_device, max_blocks_per_multiprocessor, 84);
TS_ASSERT_FIELD(struct ts_definition_device, max_shared_bytes_per_multiprocessor, 88);
TS_ASSERT_FIELD(struct ts_definition_device, max_registers_per_multiprocessor, 92);
TS_ASSERT_FIELD(struct ts_definition_device, l2_cache_bytes, 96);
TS_ASSERT_FIELD(struct ts_definition_device, reserved, 100);

/* THREAD: one life of a producing thread. A recycled tid is a new thread. */
struct ts_definition_thread {
	struct ts_definition definition;
	uint32_t tid;
	uint32_t name; /* TS_DEF_STRING: as it was when the thread first produced */
	uint64_t time; /* ticks of the session's host clock, when it first produced */
};
TS_ASSERT_SIZE(struct ts_definition_thread, 32);
TS_ASSERT_FIELD(struct ts_definition_thread, tid, 16);
TS_ASSERT_FIELD(struct ts_definition_thread, name, 20);
TS_ASSERT_FIELD(struct ts_definition_thread, time, 24);

/* NAME: what the application calls something. A later one of the same thing takes its place. flags: enum ts_name_kind. */
enum ts_name_kind {
	TS_NAME_THREAD = 1,   /* object: the kernel's thread id */
	TS_NAME_CATEGORY = 2, /* of `domain`; object: its number */
	TS_NAME_DEVICE = 3,   /* object: the vendor's ordinal */
	TS_NAME_CONTEXT = 4,  /* object: the vendor's handle */
	TS_NAME_STREAM = 5,   /* object: the vendor's handle */
	TS_NAME_EVENT = 6,    /* object: the vendor's handle */
	TS_NAME_OTHER = 7,    /* object: a handle or address of the application's own */
};

struct ts_definition_name {
	struct ts_definition definition;
	uint64_t object;
	uint64_t time;	 /* ticks of the session's host clock */
	uint32_t domain; /* TS_DEF_STRING */
	uint32_t name;	 /* TS_DEF_STRING */
	/* STREAM: CUPTI's ids, where they could be told; else 0 and TS_NO_DEVICE. Otherwise 0. */
	uint32_t context;
	uint32_t stream;
};
TS_ASSERT_SIZE(struct ts_definition_name, 48);
TS_ASSERT_FIELD(struct ts_definition_name, object, 16);
TS_ASSERT_FIELD(struct ts_definition_name, time, 24);
TS_ASSERT_FIELD(struct ts_definition_name, domain, 32);
TS_ASSERT_FIELD(struct ts_definition_name, name, 36);
TS_ASSERT_FIELD(struct ts_definition_name, context, 40);
TS_ASSERT_FIELD(struct ts_definition_name, stream, 44);
