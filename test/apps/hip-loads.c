/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hip-loads WAY LIBRARY [SECOND]: a program that is not linked with HIP, and loads it by dlopen().
 * WAY is local, global or deep (RTLD_DEEPBIND). It allocates, copies, sets and frees, and counts
 * that in the truth. Prints the checked bytes of each library. LIBRARY may also be one of
 * hip-plugin.c, which is linked with HIP.
 *
 * With SECOND, another copy of HIP in the process does the same work at the same time. It is no
 * part of the truth.
 */
#include <dlfcn.h>

#include "proto/abi/vendor/hip.h"
#include "test/apps/truth.h"
#include "tools/vgpu/generated-hip-functions.h"

#define N_ROUNDS 5
#define N_BYTES	 4096u

enum call {
	MALLOC,
	COPY,
	SET,
	FREE,
	SYNC,
	N_CALLS
};

struct hip {
	void *functions[N_CALLS];
	struct ts_truth *truth;
	void *memory;
	uint8_t host[N_BYTES];
	size_t n_right;
};

static const char *const names[N_CALLS] = {
	[MALLOC] = "hipMalloc",
	[COPY] = "hipMemcpy",
	[SET] = "hipMemset",
	[FREE] = "hipFree",
	[SYNC] = "hipDeviceSynchronize",
};

static void check(int result, const char *call)
{
	if (!result)
		return;
	fprintf(stderr, "%s: %d\n", call, result);
	exit(9);
}

static void load(struct hip *hip, const char *path, int flags)
{
	void *library = dlopen(path, flags);
	char name[64];

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(9);
	}
	for (int i = 0; i < N_CALLS; i++) {
		snprintf(name, sizeof(name), "plugin_%s", names[i]);
		hip->functions[i] = dlsym(library, name);
		if (!hip->functions[i])
			hip->functions[i] = dlsym(library, names[i]);
		if (!hip->functions[i]) {
			fprintf(stderr, "%s\n", dlerror());
			exit(9);
		}
	}
}

static void count(struct hip *hip, enum call call, uint64_t *n, uint64_t *n_bytes)
{
	ts_truth_add(&hip->truth->calls[call], 1);
	if (n)
		ts_truth_add(n, 1);
	if (n_bytes)
		ts_truth_add(n_bytes, N_BYTES);
}

static void begin(struct hip *hip)
{
	__typeof__(&hipMalloc) allocate = (__typeof__(&hipMalloc))hip->functions[MALLOC];

	check(allocate(&hip->memory, N_BYTES), "hipMalloc");
	count(hip, MALLOC, &hip->truth->allocs[TS_TRUTH_DEVICE],
	      &hip->truth->alloc_bytes[TS_TRUTH_DEVICE]);
}

static void round_trip(struct hip *hip, uint8_t value)
{
	__typeof__(&hipMemset) set = (__typeof__(&hipMemset))hip->functions[SET];
	__typeof__(&hipMemcpy) copy = (__typeof__(&hipMemcpy))hip->functions[COPY];
	struct ts_truth *truth = hip->truth;

	memset(hip->host, 0, N_BYTES);
	check(copy(hip->memory, hip->host, N_BYTES, TS_HIP_MEMCPY_HOST_TO_DEVICE), "hipMemcpy");
	count(hip, COPY, &truth->copies[TS_TRUTH_H2D], &truth->copy_bytes[TS_TRUTH_H2D]);
	check(set(hip->memory, value, N_BYTES), "hipMemset");
	count(hip, SET, &truth->sets, &truth->set_bytes);
	check(copy(hip->host, hip->memory, N_BYTES, TS_HIP_MEMCPY_DEVICE_TO_HOST), "hipMemcpy");
	count(hip, COPY, &truth->copies[TS_TRUTH_D2H], &truth->copy_bytes[TS_TRUTH_D2H]);
	for (size_t i = 0; i < N_BYTES; i++)
		hip->n_right += hip->host[i] == value;
}

static void end(struct hip *hip)
{
	__typeof__(&hipDeviceSynchronize) sync =
		(__typeof__(&hipDeviceSynchronize))hip->functions[SYNC];
	__typeof__(&hipFree) release = (__typeof__(&hipFree))hip->functions[FREE];

	check(sync(), "hipDeviceSynchronize");
	count(hip, SYNC, NULL, NULL);
	check(release(hip->memory), "hipFree");
	count(hip, FREE, &hip->truth->frees[TS_TRUTH_DEVICE], NULL);
	printf("%zu\n", hip->n_right);
}

int main(int argc, char **argv)
{
	static struct ts_truth uncounted;
	static struct hip copies[2] = {[1] = {.truth = &uncounted}};
	int n_copies = argc - 2, flags = RTLD_NOW;

	if (n_copies < 1 || n_copies > 2) {
		fprintf(stderr, "usage: hip-loads local|global|deep LIBRARY [SECOND]\n");
		return 2;
	}
	flags |= !strcmp(argv[1], "global") ? RTLD_GLOBAL : RTLD_LOCAL;
	flags |= !strcmp(argv[1], "deep") ? RTLD_DEEPBIND : 0;
	copies[0].truth = ts_truth_open();
	copies[0].truth->threads = copies[0].truth->devices = 1;
	for (int i = 0; i < N_CALLS; i++)
		snprintf(copies[0].truth->call_names[i], TS_TRUTH_NAME_BYTES, "%s", names[i]);
	for (int i = 0; i < n_copies; i++) {
		load(&copies[i], argv[2 + i], flags);
		begin(&copies[i]);
	}
	for (int round = 0; round < N_ROUNDS; round++)
		for (int i = 0; i < n_copies; i++)
			round_trip(&copies[i], (uint8_t)(round + 1));
	for (int i = 0; i < n_copies; i++)
		end(&copies[i]);
	copies[0].truth->finished = 1;
	return 0;
}
