/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of libcuda share: the objects behind the API's handles, the current context, and the one
 * pattern in which the build makes public functions from proto/abi/vendor/cuda_driver.calls:
 *
 *	API int cuMemAlloc_v2(uint64_t *dev_ptr, size_t byte_size)
 *	{
 *		struct ts_cu_mem_alloc_params params = {dev_ptr, byte_size};
 *
 *		return CALL(cuMemAlloc_v2, &params, mem_alloc(dev_ptr, byte_size));
 *	}
 *
 * CALL tells a profiler before and after, with the vendor's callback id, name and parameters; the function
 * it wraps does the work and answers with an enum ts_cu_result.
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

/* What a handle's first word says it is; a destroyed object keeps its memory and loses this. */
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

/* Nodes of a graph, in the order in which they were put in. */
struct node_list {
	struct graph_node **at;
	size_t n, capacity;
};

struct context {
	struct handle handle;
	struct context *next; /* the driver's list */
	struct ts_vgpu_context *vctx;
	uint32_t device;
	uint32_t uid;
	uint32_t flags;
	bool primary;
	unsigned refs;	/* of a primary one: retains; of others: attaches */
	uint32_t peers; /* devices it may reach, a bit each */
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
	struct stream *next, **prev; /* the context's */
	bool per_thread;

	/* While it is being captured; all under the lock of graphs. */
	struct stream_capture *stream_capture;
	struct stream *stream_capture_next;   /* the capture's */
	struct node_list stream_capture_deps; /* what the next node depends on */
};

struct event {
	struct handle handle;
	struct context *context;
	struct ts_vgpu_event *vevent;
	struct event *next, **prev; /* the context's */
	uint32_t flags;
	uint32_t id;
	_Atomic uint64_t stream_capture_id;   /* where its latest record was captured, else 0 */
	struct node_list stream_capture_deps; /* what that record stands for */
};

struct function {
	struct handle handle;
	struct module *module;
	const struct ts_vgpu_kernel *decl;
	const char *name;      /* interned */
	struct kernel *kernel; /* where it came from a library */
	uint32_t max_dynamic_shared_bytes;
	int32_t carveout;
	int32_t cache_config;
};

struct module {
	struct handle handle;
	struct context *context;
	struct ts_vgpu_module *code;
	struct function *functions; /* as many as code has kernels */
	uint64_t *addresses;	    /* as many as code has variables */
	bool borrowed;		    /* code is the library's */
	struct library *library;    /* NULL: loaded by itself */
	uint32_t id;
	const void *image;
	size_t image_bytes;
	struct module *next;
};

struct kernel {
	struct handle handle;
	struct library *library;
	size_t index;			   /* in the library's code */
	const char *name;		   /* interned */
	_Atomic(struct function *) cached; /* in the context that asked first */
};

struct library {
	struct handle handle;
	struct ts_vgpu_module *code;
	char *image; /* a copy where the caller's may go */
	const void *data;
	struct kernel *kernels;
	unsigned cc;	   /* the code is for */
	_Atomic bool lent; /* a module uses the code */
	struct library *next;
};

struct driver {
	pthread_mutex_t lock;
	pthread_cond_t initialised;
	_Atomic bool ready;
	bool tried, starting;
	int result; /* of trying */
	pthread_t starter;
	struct ts_vgpu *vgpu;
	struct ts_vgpu_ptx_executor *executor;
	struct context *contexts;
	struct context *primary[TS_VGPU_MAX_DEVICES];
	uint32_t primary_flags[TS_VGPU_MAX_DEVICES];
	struct library *libraries;
	uint32_t next_module_id, next_event_id;
};
extern struct driver driver;

/* CUDA_ERROR_NOT_SUPPORTED, with a line on stderr the first time that the program comes here. */
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

/* An object for a handle, zeroed but for its kind; from memory that is never given back, see handle.c. */
void *handle_new(enum handle_kind kind, size_t bytes);
void handle_free(void *object, size_t bytes);
static inline bool handle_is(const void *object, enum handle_kind kind)
{
	/* The small numbers are streams with a meaning of their own, or mistakes. */
	return (uintptr_t)object > 4096 && ((uintptr_t)object & 7) == 0 &&
	       ((const struct handle *)object)->kind == (uint32_t)kind;
}

/* A function that is there to be refused. */
bool is_refused(const char *symbol);

/* The one copy of a text that lives as long as the process. */
const char *intern(const char *text);

/* A device's answer as the driver's. */
int result_of(int r);
int result_of_context(const struct context *context);

/* The current context; TS_CU_ERROR_INVALID_CONTEXT where there is none, or what befell it. */
int context_current(struct context **ret_context);
struct context *context_current_or_null(void);
/* The current context while it lives. */
struct context *context_current_alive(void);
/* The calling thread's stack of current contexts. Push only if there is room; pop returns NULL if it is empty. */
bool context_may_push(void);
void context_push(struct context *context);
struct context *context_pop(void);
/* True if the context lies on the thread's stack and another one is current. */
bool context_is_hidden(const struct context *context);
struct context *context_of_vctx(const struct ts_vgpu_context *vctx);
/* The context a handle means, NULL meaning the current one. */
int context_get(void *handle, struct context **ret_context);
struct ts_vgpu_device *device_get(int32_t device);
void device_uuid(int32_t dev, struct ts_cu_uuid *ret_uuid);

/* The stream a handle means. */
int stream_get(void *handle, struct context **ret_context, struct ts_vgpu_stream **ret_stream);
/* The calling thread's own default stream of a context. */
int stream_own(struct context *context, struct stream **ret_stream);
/* A stream in the context's list; own: a thread's own default stream. */
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

/* A kernel's function in a context, loaded there when first asked for. */
int kernel_function(struct context *context, struct kernel *kernel, struct function **ret_function);
/* The function a CUfunction or CUkernel means in a context. */
int function_get(struct context *context, void *handle, struct function **ret_function);
/* The name of either, for a profiler. */
const char *function_name(const void *handle);
/* Registers per thread: PTX does not say, so an estimate. */
static inline uint32_t function_regs(const struct function *function)
{
	return function->decl->regs;
}
/* Reads an image for a compute capability, saying on stderr what the result code cannot say. */
int code_new(const void *image, unsigned cc, struct ts_vgpu_module **ret_code);
int module_new(struct context *context, const void *image, struct library *library,
	       struct module **ret_module);
/* A variable of a module; managed ones and others have a lookup each. */
int variable_find(struct module *m, const char *name, bool managed, uint64_t *dev_ptr,
		  size_t *bytes);
/* A file's bytes and a NUL, the caller's to free. */
int read_file(const char *path, char **ret_bytes);
void module_destroy(struct module *module);
void modules_destroy(struct context *context);
