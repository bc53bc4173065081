/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thrust: sort, stable sort by key, reduce, scans, transform_reduce and a counted predicate as Thrust does them on a device, each
 * checked against the standard library on the host.
 */
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

struct Square {
	__host__ __device__ unsigned operator()(unsigned x) const
	{
		return x * x;
	}
};

struct Odd {
	__host__ __device__ bool operator()(unsigned x) const
	{
		return x % 2;
	}
};

static int say(const char *what, bool right)
{
	printf("%s: %s\n", what, right ? "right" : "wrong");
	return !right;
}

static std::vector<unsigned> host(const thrust::device_vector<unsigned> &device)
{
	std::vector<unsigned> to(device.size());

	thrust::copy(device.begin(), device.end(), to.begin());
	return to;
}

static int check_all(void)
{
	const unsigned n = 20011;
	std::vector<unsigned> x(n), want(n), order(n);
	unsigned state = 1;
	int status = 0;

	for (unsigned &v : x)
		v = (state = state * 1664525u + 1013904223u) >> 20;
	thrust::device_vector<unsigned> in(x.begin(), x.end()), out(n), places(n);

	status |= say("reduce", thrust::reduce(in.begin(), in.end()) ==
					std::accumulate(x.begin(), x.end(), 0u));
	status |= say("transform_reduce",
		      thrust::transform_reduce(in.begin(), in.end(), Square(), 0u,
					       thrust::plus<unsigned>()) ==
			      std::inner_product(x.begin(), x.end(), x.begin(), 0u));
	status |= say("count_if", thrust::count_if(in.begin(), in.end(), Odd()) ==
					  std::count_if(x.begin(), x.end(), Odd()));
	thrust::exclusive_scan(in.begin(), in.end(), out.begin());
	std::exclusive_scan(x.begin(), x.end(), want.begin(), 0u);
	status |= say("scan", host(out) == want);

	/* Keys repeat, and what is equal keeps its order. */
	std::iota(order.begin(), order.end(), 0u);
	thrust::sequence(places.begin(), places.end());
	thrust::stable_sort_by_key(in.begin(), in.end(), places.begin());
	std::stable_sort(order.begin(), order.end(),
			 [&](unsigned a, unsigned b) { return x[a] < x[b]; });
	std::sort(x.begin(), x.end());
	status |= say("sort", host(in) == x && host(places) == order);
	return status;
}

int main(void)
{
	cudaError_t error = cudaFree(NULL);

	if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver) {
		fprintf(stderr, "skipped: %s\n", cudaGetErrorString(error));
		return 77;
	}
	try {
		return check_all();
	} catch (const std::exception &failed) {
		fprintf(stderr, "%s\n", failed.what());
		return 9;
	}
}
