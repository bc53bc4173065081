/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA for the test programs. A program is written once against this header. The build makes one
 * form of it with each backend: gpu-runtime.cu (nvcc, the runtime API, <<<>>>), gpu-driver.c (plain
 * C, the driver API found at run time, kernels as PTX text) and gpu-hip.c (HIP). Each function
 * makes the CUDA call that it is named for. If the call fails, the function prints a line on stderr
 * and ends the program. struct ts_truth (truth.h) counts the calls of enum gpu_call, and tests
 * compare the trace with these counts.
 *
 * gpu_open() and gpu_set_device() also set up the device and load the kernels. gpu_capture_end()
 * also instantiates the graph.
 *
 * Thread-safe. Every thread except the first calls gpu_set_device() before its first use. The first
 * thread calls it only to use a device other than 0.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "test/apps/truth.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GPU_FAILED  9  /* exit status if a CUDA call fails */
#define GPU_SKIPPED 77 /* exit status if the machine lacks a requirement */

struct gpu_stream {
	void *handle; /* NULL: the device's default stream */
	uint32_t index;
};

enum gpu_kernel {
	GPU_SAXPY = 0,
	GPU_SCALE = 1,
	GPU_NOTHING = 2,
	GPU_KERNELS
};

/* Indices of struct ts_truth.calls; each backend sets the names. */
enum gpu_call {
	GPU_CALL_LAUNCH,
	GPU_CALL_MALLOC,
	GPU_CALL_FREE,
	GPU_CALL_HOST_MALLOC,
	GPU_CALL_HOST_FREE,
	GPU_CALL_H2D,
	GPU_CALL_D2H,
	GPU_CALL_D2D,
	GPU_CALL_H2D_ASYNC,
	GPU_CALL_D2H_ASYNC,
	GPU_CALL_D2D_ASYNC,
	GPU_CALL_PEER_ASYNC,
	GPU_CALL_SET,
	GPU_CALL_SET_ASYNC,
	GPU_CALL_STREAM_CREATE,
	GPU_CALL_STREAM_DESTROY,
	GPU_CALL_STREAM_SYNC,
	GPU_CALL_STREAM_WAIT,
	GPU_CALL_EVENT_RECORD,
	GPU_CALL_EVENT_SYNC,
	GPU_CALL_DEVICE_SYNC,
	GPU_CALL_CAPTURE_BEGIN,
	GPU_CALL_CAPTURE_END,
	GPU_CALL_GRAPH_INSTANTIATE,
	GPU_CALL_GRAPH_LAUNCH,
	GPU_CALLS
};

/*
 * A program's own kernels. In the truth their numbers follow those of enum gpu_kernel.
 * <program>-driver.c holds them as PTX, <program>-runtime.cu as CUDA C++ for nvcc.
 */
struct gpu_code {
	const char *const *names;     /* ends with NULL */
	const char *ptx;	      /* for the driver form */
	const void *const *functions; /* for the runtime form: the host functions of the kernels */
	/* compute capability that the kernels need (80: 8.0); on older devices the program skips */
	int capability;
};

struct gpu_shape {
	uint32_t grid[3], block[3], shared_bytes;
};

/* The first call of a program; code may be NULL. */
void gpu_open(const struct gpu_code *code);
/* The last call of a program that ends normally. Returns the exit status. */
int gpu_close(void);

struct ts_truth *gpu_truth(void);

int gpu_device_count(void);
void gpu_set_device(int device);
struct gpu_stream gpu_default_stream(int device);

void *gpu_malloc(size_t n_bytes);
void gpu_free(void *memory);
void *gpu_host_malloc(size_t n_bytes);
void gpu_host_free(void *memory);

void gpu_h2d(void *dst, const void *src, size_t n_bytes);
void gpu_d2h(void *dst, const void *src, size_t n_bytes);
void gpu_d2d(void *dst, const void *src, size_t n_bytes);
void gpu_h2d_async(void *dst, const void *src, size_t n_bytes, struct gpu_stream stream);
void gpu_d2h_async(void *dst, const void *src, size_t n_bytes, struct gpu_stream stream);
void gpu_d2d_async(void *dst, const void *src, size_t n_bytes, struct gpu_stream stream);
void gpu_peer_async(void *dst, int dst_device, const void *src, int src_device, size_t n_bytes,
		    struct gpu_stream stream);
void gpu_set(void *dst, uint8_t value, size_t n_bytes);
void gpu_set_async(void *dst, uint8_t value, size_t n_bytes, struct gpu_stream stream);

struct gpu_stream gpu_stream_create(bool blocking);
void gpu_stream_destroy(struct gpu_stream stream);
void gpu_stream_sync(struct gpu_stream stream);
void gpu_stream_wait(struct gpu_stream stream, void *event);

void *gpu_event_create(void);
void gpu_event_destroy(void *event);
void gpu_event_record(void *event, struct gpu_stream stream);
void gpu_event_sync(void *event);
float gpu_event_elapsed_ms(void *start, void *end);

void gpu_device_sync(void);

/* y[i] += a * x[i] */
void gpu_saxpy(uint32_t n, float a, const float *x, float *y, struct gpu_stream stream);
/* x[i] *= a */
void gpu_scale(uint32_t n, float a, float *x, struct gpu_stream stream);
/* One thread; the kernel is empty. */
void gpu_nothing(struct gpu_stream stream);
/*
 * Launches the program's own kernel number `own`, an index of gpu_code.names. `arguments` holds a
 * pointer to each argument.
 */
void gpu_launch(uint32_t own, struct gpu_shape shape, void **arguments, struct gpu_stream stream);

/*
 * Stream capture. Between begin and end, operations of the calling thread on the stream go into a
 * graph instead of the device. Streams joined by events take part too. Each launch of the graph
 * counts these operations in the truth.
 */
struct gpu_graph {
	void *handle; /* the executable graph */
	struct gpu_tally *tally;
};
void gpu_capture_begin(struct gpu_stream stream);
struct gpu_graph gpu_capture_end(struct gpu_stream stream);
void gpu_graph_launch(struct gpu_graph graph, struct gpu_stream stream);
void gpu_graph_destroy(struct gpu_graph graph);

/* For the backends: gpu_truth_begin() sets the names, the other functions count. */
void gpu_truth_begin(const char *const call_names[GPU_CALLS], const struct gpu_code *code);
uint32_t gpu_kernels(void);
void gpu_need_capability(const struct gpu_code *code, int major, int minor);
void gpu_count_call(enum gpu_call call, int device);
void gpu_count_copy(enum gpu_call call, int device, enum ts_truth_direction direction,
		    size_t n_bytes);
void gpu_count_set(enum gpu_call call, int device, size_t n_bytes);
void gpu_count_launch(uint32_t kernel, int device, struct gpu_stream stream);
void gpu_tally_begin(void);
struct gpu_tally *gpu_tally_end(void);
void gpu_tally_count(const struct gpu_tally *tally, struct gpu_stream stream);
void gpu_tally_free(struct gpu_tally *tally);
uint32_t gpu_next_stream(void);

#ifdef __cplusplus
}
#endif
