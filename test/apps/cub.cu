/* SPDX-License-Identifier: Apache-2.0 */
/* cub: device-wide sort, reduce and scan from CUB, checked on the host; the scan's blocks wait for lower ones by spinning. */
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#define check(call)                                                                         \
	do {                                                                                \
		cudaError_t error_ = (call);                                                \
		if (error_ == cudaErrorNoDevice || error_ == cudaErrorInsufficientDriver) { \
			fprintf(stderr, "skipped: %s\n", cudaGetErrorString(error_));       \
			exit(77);                                                           \
		}                                                                           \
		if (error_) {                                                               \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorName(error_));       \
			exit(9);                                                            \
		}                                                                           \
	} while (0)

/* CUB asks first how much room it needs. */
#define with_room(call)                                        \
	do {                                                   \
		void *room = NULL;                             \
		size_t bytes = 0;                              \
		check(call);                                   \
		check(cudaMalloc(&room, bytes ? bytes : 1));   \
		check(call);                                   \
		check(cudaFree(room));                         \
	} while (0)

static int say(const char *what, bool right)
{
	printf("%s: %s\n", what, right ? "right" : "wrong");
	return !right;
}

int main(void)
{
	const int n = 30011;
	std::vector<unsigned> x(n), got(n), want(n);
	unsigned *in, *out, state = 1, sum;
	int status = 0;

	for (unsigned &v : x)
		v = state = state * 1664525u + 1013904223u;
	check(cudaMalloc(&in, n * sizeof(*in)));
	check(cudaMalloc(&out, n * sizeof(*out)));
	check(cudaMemcpy(in, x.data(), n * sizeof(*in), cudaMemcpyHostToDevice));

	with_room(cub::DeviceReduce::Sum(room, bytes, in, out, n));
	check(cudaMemcpy(&sum, out, sizeof(sum), cudaMemcpyDeviceToHost));
	status |= say("reduce", sum == std::accumulate(x.begin(), x.end(), 0u));

	with_room(cub::DeviceScan::InclusiveSum(room, bytes, in, out, n));
	check(cudaMemcpy(got.data(), out, n * sizeof(*out), cudaMemcpyDeviceToHost));
	std::partial_sum(x.begin(), x.end(), want.begin());
	status |= say("scan", got == want);

	with_room(cub::DeviceRadixSort::SortKeys(room, bytes, in, out, n));
	check(cudaMemcpy(got.data(), out, n * sizeof(*out), cudaMemcpyDeviceToHost));
	want = x;
	std::sort(want.begin(), want.end());
	status |= say("sort", got == want);
	check(cudaFree(in));
	check(cudaFree(out));
	return status;
}
