/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The half of gpu.h that all backends share (gpu-driver.c, gpu-runtime.cu, gpu-hip.c). It counts
 * calls and operations, so that each count has one meaning in all forms of a program. Fills struct
 * ts_truth (truth.h).
 */
#include "test/apps/gpu.h"

static struct ts_truth *truth;
static uint32_t next_stream = TS_TRUTH_FIRST_CREATED_STREAM;
static __thread bool thread_is_counted;

/* Operations of one launch of a graph. */
struct gpu_tally {
	uint64_t copies[TS_TRUTH_DIRECTIONS];
	uint64_t copy_bytes[TS_TRUTH_DIRECTIONS];
	uint64_t sets, set_bytes;
	uint64_t launches[TS_TRUTH_KERNELS];
};

/* The graph that this thread captures, or NULL. */
static __thread struct gpu_tally *capturing;

static uint32_t n_kernels;

static const char *const kernel_names[GPU_KERNELS] = {
	[GPU_SAXPY] = "saxpy",
	[GPU_SCALE] = "scale",
	[GPU_NOTHING] = "nothing",
};

struct ts_truth *gpu_truth(void)
{
	return truth;
}

void gpu_truth_begin(const char *const call_names[GPU_CALLS], const struct gpu_code *code)
{
	truth = ts_truth_open();
	for (int i = 0; i < GPU_CALLS; i++)
		snprintf(truth->call_names[i], TS_TRUTH_NAME_BYTES, "%s", call_names[i]);
	for (n_kernels = 0; n_kernels < GPU_KERNELS; n_kernels++)
		snprintf(truth->kernel_names[n_kernels], TS_TRUTH_NAME_BYTES, "%s",
			 kernel_names[n_kernels]);
	for (int i = 0; code && code->names[i]; i++, n_kernels++) {
		if (n_kernels == TS_TRUTH_KERNELS) {
			fprintf(stderr, "more kernels than the truth has room for\n");
			exit(GPU_FAILED);
		}
		snprintf(truth->kernel_names[n_kernels], TS_TRUTH_NAME_BYTES, "%s", code->names[i]);
	}
}

uint32_t gpu_kernels(void)
{
	return n_kernels;
}

void gpu_need_capability(const struct gpu_code *code, int major, int minor)
{
	if (!code || 10 * major + minor >= code->capability)
		return;
	fprintf(stderr, "skipped: a device of compute capability %d.%d, the program needs %d.%d\n",
		major, minor, code->capability / 10, code->capability % 10);
	exit(GPU_SKIPPED);
}

void gpu_count_call(enum gpu_call call, int device)
{
	if (!thread_is_counted) {
		thread_is_counted = true;
		ts_truth_add(&truth->threads, 1);
	}
	if (!(__atomic_load_n(&truth->devices, __ATOMIC_RELAXED) >> device & 1))
		__atomic_fetch_or(&truth->devices, UINT64_C(1) << device, __ATOMIC_RELAXED);
	ts_truth_add(&truth->calls[call], 1);
}

void gpu_count_copy(enum gpu_call call, int device, enum ts_truth_direction direction,
		    size_t n_bytes)
{
	gpu_count_call(call, device);
	ts_truth_add(capturing ? &capturing->copies[direction] : &truth->copies[direction], 1);
	ts_truth_add(capturing ? &capturing->copy_bytes[direction] : &truth->copy_bytes[direction],
		     n_bytes);
}

void gpu_count_set(enum gpu_call call, int device, size_t n_bytes)
{
	gpu_count_call(call, device);
	ts_truth_add(capturing ? &capturing->sets : &truth->sets, 1);
	ts_truth_add(capturing ? &capturing->set_bytes : &truth->set_bytes, n_bytes);
}

void gpu_count_launch(uint32_t kernel, int device, struct gpu_stream stream)
{
	gpu_count_call(GPU_CALL_LAUNCH, device);
	ts_truth_add(capturing ? &capturing->launches[kernel]
			       : &truth->launches[kernel][stream.index],
		     1);
}

void gpu_tally_begin(void)
{
	capturing = calloc(1, sizeof(*capturing));
	if (!capturing) {
		perror("a graph's tally");
		exit(GPU_FAILED);
	}
}

struct gpu_tally *gpu_tally_end(void)
{
	struct gpu_tally *tally = capturing;

	capturing = NULL;
	return tally;
}

void gpu_tally_count(const struct gpu_tally *tally, struct gpu_stream stream)
{
	for (int i = 0; i < TS_TRUTH_DIRECTIONS; i++) {
		ts_truth_add(&truth->copies[i], tally->copies[i]);
		ts_truth_add(&truth->copy_bytes[i], tally->copy_bytes[i]);
	}
	ts_truth_add(&truth->sets, tally->sets);
	ts_truth_add(&truth->set_bytes, tally->set_bytes);
	for (uint32_t i = 0; i < n_kernels; i++)
		ts_truth_add(&truth->launches[i][stream.index], tally->launches[i]);
}

void gpu_tally_free(struct gpu_tally *tally)
{
	free(tally);
}

uint32_t gpu_next_stream(void)
{
	uint32_t index = __atomic_fetch_add(&next_stream, 1, __ATOMIC_RELAXED);

	if (index >= TS_TRUTH_STREAMS) {
		fprintf(stderr, "more streams than the truth has room for\n");
		exit(GPU_FAILED);
	}
	return index;
}

struct gpu_stream gpu_default_stream(int device)
{
	struct gpu_stream stream = {NULL, (uint32_t)device};

	return stream;
}

int gpu_close(void)
{
	truth->finished = 1;
	return fflush(stdout) ? GPU_FAILED : 0;
}
