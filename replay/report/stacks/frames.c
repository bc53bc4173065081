/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classifies frames by the name of their file and function. codeplace.c and stackjson.c call this
 * file.
 */
#include "replay/report/stacks/frames.h"

#include "proto/abi/base.h"

#include <ctype.h>
#include <string.h>

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool begins_with_any(const char *text, const char *const *with, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (begins(text, with[i]))
			return true;
	return false;
}

/*
 * True for a function of the CUDA runtime, such as cudaLaunchKernel or __cudaRegisterFunction.
 * False for a program's function named cuda_init.
 */
static bool is_cudart(const char *function)
{
	static const char *const prefixes[] = {"__cuda", "libcudart_static_", "cudart::"};

	if (begins_with_any(function, prefixes, TS_ARRAY_LEN(prefixes)) ||
	    strstr(function, "__wrapper__device_stub_"))
		return true;
	if (strstr(function, TS_FRAME_STUB))
		return true;
	return begins(function, "cuda") && isupper((unsigned char)function[4]);
}

static bool is_start(const char *function)
{
	static const char *const names[] = {"_start", "start_thread", "clone", "clone3",
					    "__clone3"};

	for (size_t i = 0; i < TS_ARRAY_LEN(names); i++)
		if (!strcmp(function, names[i]))
			return true;
	return begins(function, "__libc_start");
}

static const char *base(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "";
}

bool ts_frame_is_runtime(const char *path)
{
	static const char *const libraries[] = {"libc.so",	"libc-2",     "libm.so",
						"libm-2",	"libpthread", "librt.so",
						"libstdc++.so", "libc++.so",  "libgcc_s.so",
						"libmvec.so",	"linux-vdso", "[vdso]"};

	return begins_with_any(base(path), libraries, TS_ARRAY_LEN(libraries));
}

bool ts_frame_is_hidden(const char *path, const char *function, bool python)
{
	static const char *const vendors[] = {"libtsinject", "libcuda.so",     "libcudart.so",
					      "libcupti.so", "libamdhip64.so", "ld-linux"};
	static const char *const interpreter[] = {"python", "libpython", "_ctypes", "libffi.so"};
	const char *file = base(path);

	if (begins_with_any(file, vendors, TS_ARRAY_LEN(vendors)))
		return true;
	if (python && begins_with_any(file, interpreter, TS_ARRAY_LEN(interpreter)))
		return true;
	return function && (is_cudart(function) || is_start(function));
}

/*
 * True if `function` is `kernel` without parameters and return type: "tmpl<float, 3>" for "void
 * tmpl<float, 3>(float*)".
 */
static bool is_base_of(const char *function, const char *kernel)
{
	size_t n = strlen(function);

	if (!strncmp(kernel, "void ", 5))
		kernel += 5;
	return !strchr(function, '(') && !strncmp(kernel, function, n) && kernel[n] == '(';
}

bool ts_frame_is_stub(const char *function, const char *kernel)
{
	if (!function || !kernel)
		return false;
	return strstr(function, TS_FRAME_STUB) || !strcmp(function, kernel) ||
	       is_base_of(function, kernel);
}
