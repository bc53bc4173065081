/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of libcuda: the objects behind the API's handles, the current context, and
 * the pattern of the public functions. The build generates these functions from
 * proto/abi/vendor/cuda_driver.calls:
 *
 *     API int cuMemAlloc_v2(uint64_t *dev_ptr, size_t byte_size)
 *     {
 *             struct ts_cu_mem_alloc_params params = {dev_ptr, byte_size};
 *
 *             return CALL(cuMemAlloc_v2, &params, mem_alloc(dev_ptr, byte_size));
 *     }
 *
 * CALL reports the call to a profiler before and after, with the vendor's callback id, name and
 * parameters. The wrapped function does the work and returns an enum ts_cu_result. Each .c file
 * includes the generated functions of its section at its end.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/abi/vendor/cuda_driver.h"
#include "proto/abi/vendor/cuda_driver_params.h"
#include "proto/abi/vendor/cupti_cbid.h"
#include "replay/vgpu/executor.h"
#include "replay/vgpu/vgpu-module.h"
#include "replay/vgpu/vgpu.h"
#include "tools/vgpu/cuda/report.h"
#include "tools/vgpu/refused.h"

#define API __attribute__((visibility("default")))

/*
 * Kind of an object, in the first word of a handle. A destroyed object keeps its memory but loses
 * its kind.
 */
enum handle_kind {
	HANDLE_CONTEXT = 0x54534378,
	HANDLE_STREAM = 0x54535374,
	HANDLE_EVENT = 0x54534576,
	HANDLE_MODULE = 0x54534d6f,
	HANDLE_FUNCTION = 0x54534675,
	HANDLE_LIBRARY = 0x54534c69,
	HANDLE_KERNEL = 0x54534b65,
	HANDLE_POOL = 0x5453506f,
	HANDLE_ALLOCATION = 0x5453416c,
	HANDLE_GRAPH = 0x54534772,
	HANDLE_GRAPH_NODE = 0x5453476e,
	HANDLE_GRAPH_EXEC = 0x54534765,
};

struct handle {
	uint32_t kind;
};

/* Nodes of a graph, in order of insertion. */
struct node_list {
	struct graph_node **at;
	size_t n, capacity;
};

struct context {
	struct handle handle;
	struct context *next; /* list of the driver */
	struct ts_vgpu_context *vctx;
	uint32_t device;
	uint32_t uid;
	uint32_t flags;
	bool primary;
	unsigned refs;	/* number of retains of a primary context, or of attaches of another one */
	uint32_t peers; /* devices with peer access, one bit each */
	int32_t cache_config;
	size_t limits[8];
	struct module *modules;
	struct stream *streams;
	struct event *events; /* under the driver's lock */
};

struct stream {
	struct handle handle;
	struct context *context;
	struct ts_vgpu_stream *vstream;
	struct stream *next, **prev; /* list of the context */
	bool per_thread;

	/* State of a stream capture; under graph_lock. */
	struct stream_capture *stream_capture;
	struct stream *stream_capture_next;   /* list of the capture */
	struct node_list stream_capture_deps; /* dependencies of the next node */
};

struct event {
	struct handle handle;
	struct context *context;
	struct ts_vgpu_event *vevent;
	struct event *next, **prev; /* list of the context */
	uint32_t flags;
	uint32_t id;
	_Atomic uint64_t stream_capture_id;   /* capture of its latest record, else 0 */
	struct node_list stream_capture_deps; /* nodes of that record */
};

struct function {
	struct handle handle;
	struct module *module;
	const struct ts_vgpu_kernel *decl;
	const char *name;      /* interned */
	struct kernel *kernel; /* NULL: not from a library */
	uint32_t max_dynamic_shared_bytes;
	int32_t carveout;
	int32_t cache_config;
};

struct module {
	struct handle handle;
	struct context *context;
	struct ts_vgpu_module *code;
	struct function *functions; /* one per kernel of code */
	uint64_t *addresses;	    /* one per variable of code */
	bool borrowed;		    /* code belongs to the library */
	struct library *library;    /* NULL: loaded as a module */
	uint32_t id;
	const void *image;
	size_t image_bytes;
	struct module *next;
};

struct kernel {
	struct handle handle;
	struct library *library;
	size_t index;			   /* index in the library's code */
	const char *name;		   /* interned */
	_Atomic(struct function *) cached; /* the first context that requested it */
};

struct library {
	struct handle handle;
	struct ts_vgpu_module *code;
	char *image; /* copy of the image, if the caller's may be freed */
	const void *data;
	struct kernel *kernels;
	unsigned cc;	   /* compute capability of the code */
	_Atomic bool lent; /* a module uses the code */
	struct library *next;
};

struct driver {
	pthread_mutex_t lock;
	pthread_cond_t initialised;
	_Atomic bool ready;
	bool tried, starting;
	int result; /* result of the attempt to start the driver */
	pthread_t starter;
	struct ts_vgpu *vgpu;
	struct ts_vgpu_ptx_executor *executor; /* NULL with kernels=timed */
	bool timed_kernels;		       /* kernels are not computed */
	struct context *contexts;
	struct context *primary[TS_VGPU_MAX_DEVICES];
	uint32_t primary_flags[TS_VGPU_MAX_DEVICES];
	struct library *libraries;
	uint32_t next_module_id, next_event_id;

	/* Set before the start by a library that contains the driver, see tools/vgpu/hip. */
	const char *default_spec; /* if TRACESMITH_VGPU is not set; NULL: that of replay/vgpu */
	/* Loads no library of CUDA_INJECTION64_PATH; reports records of events as operations. */
	bool is_contained;
};
extern struct driver driver;

/* Returns CUDA_ERROR_NOT_SUPPORTED. The first call prints one line on stderr. */
#define NOT_SERVED(what, remedy)                              \
	({                                                    \
		static atomic_bool said_;                     \
		ts_vgpu_say_not_served(what, remedy, &said_); \
		TS_CU_ERROR_NOT_SUPPORTED;                    \
	})
#define ON_A_REAL_GPU "run on a real GPU for it"

static inline int check_ready(void)
{
	if (__builtin_expect(!atomic_load_explicit(&driver.ready, memory_order_acquire) ||
				     ts_vgpu_forked(),
			     0))
		return TS_CU_ERROR_NOT_INITIALIZED;
	return 0;
}

/*
 * Returns an object for a handle: zeroed except its kind. The object's memory is never returned to
 * the system, see handle.c. NULL: out of memory.
 */
void *handle_new(enum handle_kind kind, size_t bytes);
void handle_free(void *object, size_t bytes);
static inline bool handle_is(const void *object, enum handle_kind kind)
{
	/* Small numbers are special streams, or errors of the program. */
	return (uintptr_t)object > 4096 && ((uintptr_t)object & 7) == 0 &&
	       ((const struct handle *)object)->kind == (uint32_t)kind;
}

/* True if the function is exported only to be refused. */
bool is_refused(const char *symbol);

/* Returns the only copy of a text. The copy lives as long as the process. NULL: out of memory. */
const char *intern(const char *text);

/* Converts a result of the device to the driver's. */
int result_of(int r);
int result_of_context(const struct context *context);

/*
 * Returns the current context. TS_CU_ERROR_INVALID_CONTEXT: there is none. Also returns the
 * context's error.
 */
int context_current(struct context **ret_context);
struct context *context_current_or_null(void);
/* Returns the current context, or NULL if there is none or it was destroyed. */
struct context *context_current_alive(void);
/*
 * The calling thread's stack of current contexts. Call push only if there is room; pop returns NULL
 * if the stack is empty.
 */
bool context_may_push(void);
void context_push(struct context *context);
struct context *context_pop(void);
/* True if the context is on the thread's stack and another one is current. */
bool context_is_hidden(const struct context *context);
struct context *context_of_vctx(const struct ts_vgpu_context *vctx);
/* Returns the context of a handle; NULL means the current context. */
int context_get(void *handle, struct context **ret_context);
struct ts_vgpu_device *device_get(int32_t device);
void device_uuid(int32_t dev, struct ts_cu_uuid *ret_uuid);

/* Returns the stream of a handle. */
int stream_get(void *handle, struct context **ret_context, struct ts_vgpu_stream **ret_stream);
/* Returns the calling thread's own default stream of a context. */
int stream_own(struct context *context, struct stream **ret_stream);
/* Creates a stream in the context's list. own: a thread's own default stream. */
int stream_new(struct context *context, uint32_t flags, int32_t priority, bool own,
	       struct stream **ret_stream);
void stream_delete(struct stream *stream);
void streams_destroy(struct context *context);
static inline void *per_thread(void *stream)
{
	return stream ? stream : TS_CU_STREAM_PER_THREAD;
}

int event_get(void *handle, struct event **ret_event);
void events_destroy(struct context *context);

/* Returns a kernel's function in a context. The first call loads the library there. */
int kernel_function(struct context *context, struct kernel *kernel, struct function **ret_function);
/* Returns the function of a CUfunction or CUkernel in a context. */
int function_get(struct context *context, void *handle, struct function **ret_function);
/* Returns the name of a CUfunction or CUkernel, for a profiler. */
const char *function_name(const void *handle);
/* Returns an estimate of the registers per thread: PTX does not contain the number. */
static inline uint32_t function_regs(const struct function *function)
{
	return function->decl->regs;
}
/*
 * Loads an image for a compute capability. Prints on stderr the details that the result code cannot
 * contain.
 */
int code_new(const void *image, unsigned cc, struct ts_vgpu_module **ret_code);
int module_new(struct context *context, const void *image, struct library *library,
	       struct module **ret_module);
/* Finds a variable of a module. Managed and other variables have separate lookups. */
int variable_find(struct module *m, const char *name, bool managed, uint64_t *dev_ptr,
		  size_t *bytes);
/* Reads a file and appends a NUL. The caller frees the bytes. */
int read_file(const char *path, char **ret_bytes);
void module_destroy(struct module *module);
void modules_destroy(struct context *context);
