/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvrtc: compiles CUDA C++ at run time, as CuPy and Numba do. libnvrtc compiles the source below to
 * PTX, the driver loads it, and the host checks the results. libnvrtc must refuse a source with a
 * mistake and name the mistake in its log. If the machine has no libnvrtc, the program skips.
 * test/integration/test-compute.py runs it.
 */
#include <dlfcn.h>
#include <math.h>

#include "test/apps/gpu.h"

#define N     10007u
#define BLOCK 256u

static const char source[] =
	"template <typename T> struct Pair { T low, high; };\n"
	"template <typename T> __device__ Pair<T> sorted(T a, T b)\n"
	"{\n"
	"	return a < b ? Pair<T>{a, b} : Pair<T>{b, a};\n"
	"}\n"
	"extern \"C\" __global__ void order(unsigned n, float *x, float *y)\n"
	"{\n"
	"	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"	if (i < n) {\n"
	"		auto pair = sorted(x[i], y[i]);\n"
	"		x[i] = pair.low;\n"
	"		y[i] = pair.high;\n"
	"	}\n"
	"}\n"
	"__constant__ float factors[4] = {1, 2, 4, 8};\n"
	"extern \"C\" __global__ void waves(unsigned n, const float *x, float *y)\n"
	"{\n"
	"	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"	if (i < n)\n"
	"		y[i] = FACTOR * factors[i % 4] * sinf(x[i]);\n"
	"}\n";

/* Declared as in nvrtc.h; a program is a pointer, a result is a number (0: success). */
#define NVRTC(X)                                                                             \
	X(create, nvrtcCreateProgram,                                                        \
	  (void **ret_program, const char *source, const char *name, int n_headers,          \
	   const char *const *headers, const char *const *names))                            \
	X(compile, nvrtcCompileProgram, (void *program, int n_options, const char *const *)) \
	X(ptx_size, nvrtcGetPTXSize, (void *program, size_t *ret_size))                      \
	X(ptx, nvrtcGetPTX, (void *program, char *ptx))                                      \
	X(log_size, nvrtcGetProgramLogSize, (void *program, size_t *ret_size))               \
	X(log, nvrtcGetProgramLog, (void *program, char *log))                               \
	X(destroy, nvrtcDestroyProgram, (void **program))

static struct {
#define FIELD(field, name, parameters) int(*field) parameters;
	NVRTC(FIELD)
#undef FIELD
} rtc;

static void check(int result, const char *call)
{
	if (!result)
		return;
	fprintf(stderr, "%s: %d\n", call, result);
	exit(GPU_FAILED);
}

static void load(void)
{
	static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12",
					    "/usr/local/cuda/lib64/libnvrtc.so.13",
					    "/usr/local/cuda/lib64/libnvrtc.so.12"};
	void *library = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !library; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "skipped: no libnvrtc: %s\n", dlerror());
		exit(GPU_SKIPPED);
	}
#define LOAD(field, name, parameters)                                   \
	*(void **)&rtc.field = dlsym(library, #name);                   \
	if (!rtc.field) {                                               \
		fprintf(stderr, "skipped: libnvrtc lacks %s\n", #name); \
		exit(GPU_SKIPPED);                                      \
	}
	NVRTC(LOAD)
#undef LOAD
}

/*
 * Returns the PTX; the caller frees it. If the compiler refuses the source, returns NULL and copies
 * the compiler's log to `log`.
 */
static char *compile(const char *text, char *log, size_t log_bytes)
{
	static const char *const options[] = {"--gpu-architecture=compute_75", "-DFACTOR=0.5f"};
	char *ptx = NULL;
	void *program;
	size_t size;

	check(rtc.create(&program, text, "source.cu", 0, NULL, NULL), "nvrtcCreateProgram");
	if (!rtc.compile(program, 2, options)) {
		check(rtc.ptx_size(program, &size), "nvrtcGetPTXSize");
		ptx = malloc(size);
		check(rtc.ptx(program, ptx), "nvrtcGetPTX");
	} else {
		check(rtc.log_size(program, &size), "nvrtcGetProgramLogSize");
		if (size <= log_bytes)
			check(rtc.log(program, log), "nvrtcGetProgramLog");
	}
	check(rtc.destroy(&program), "nvrtcDestroyProgram");
	return ptx;
}

static bool right(const float *x, const float *y, const float *low, const float *high)
{
	for (uint32_t i = 0; i < N; i++) {
		float want_low = x[i] < y[i] ? x[i] : y[i];
		double want_high = (double)(1u << i % 4) / 2 * sin((double)want_low);

		if (low[i] == want_low && fabs((double)high[i] - want_high) < 1e-5)
			continue;
		printf("nvrtc: element %u is %g and %g, not %g and %g\n", i, (double)low[i],
		       (double)high[i], (double)want_low, want_high);
		return false;
	}
	return true;
}

static bool compute(void)
{
	static float x[N], y[N], low[N], high[N];
	struct gpu_shape shape = {{(N + BLOCK - 1) / BLOCK, 1, 1}, {BLOCK, 1, 1}, 0};
	struct gpu_stream stream = gpu_default_stream(0);
	float *device_x = gpu_malloc(sizeof(x)), *device_y = gpu_malloc(sizeof(y));
	uint32_t n = N;
	void *arguments[] = {&n, &device_x, &device_y};

	for (uint32_t i = 0; i < N; i++) {
		x[i] = (float)(i * 7919 % 1000) / 100;
		y[i] = (float)(i * 104729 % 1000) / 100;
	}
	gpu_h2d(device_x, x, sizeof(x));
	gpu_h2d(device_y, y, sizeof(y));
	gpu_launch(0, shape, arguments, stream);
	gpu_launch(1, shape, arguments, stream);
	gpu_d2h(low, device_x, sizeof(low));
	gpu_d2h(high, device_y, sizeof(high));
	gpu_free(device_x);
	gpu_free(device_y);
	return right(x, y, low, high);
}

int main(void)
{
	static const char *const names[] = {"order", "waves", NULL};
	struct gpu_code code = {.names = names};
	static char log[1 << 16];
	char *ptx;

	load();
	ptx = compile("extern \"C\" __global__ void f() { nothing_declared(); }\n", log,
		      sizeof(log));
	if (ptx || !strstr(log, "nothing_declared")) {
		printf("nvrtc: a mistake was %s\n",
		       ptx ? "compiled" : "refused without a word of it");
		return 1;
	}
	ptx = compile(source, log, sizeof(log));
	if (!ptx) {
		fprintf(stderr, "%s\n", log);
		return GPU_FAILED;
	}
	code.ptx = ptx;
	gpu_open(&code);
	if (!compute())
		return 1;
	free(ptx);
	printf("nvrtc: compiled and computed\n");
	return gpu_close();
}
