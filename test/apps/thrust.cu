/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thrust [N [RUNS]]: algorithms of Thrust on N numbers (default: 20011), RUNS times (default: 1), each checked against the standard
 * library on the host.
 */
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
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

static std::vector<unsigned> host(const thrust::device_vector<unsigned> &device)
{
	std::vector<unsigned> to(device.size());

	thrust::copy(device.begin(), device.end(), to.begin());
	return to;
}

/* The numbers, sorted and unsorted, and the results that the host computes. */
struct truth {
	std::vector<unsigned> x, scanned, odd, order, sorted, unique, sums;
	unsigned sum, squares, n_odd;

	explicit truth(unsigned n) : x(n), scanned(n), order(n)
	{
		unsigned state = 1;

		for (unsigned &v : x)
			v = (state = state * 1664525u + 1013904223u) >> 20;
		sum = std::accumulate(x.begin(), x.end(), 0u);
		squares = std::inner_product(x.begin(), x.end(), x.begin(), 0u);
		n_odd = (unsigned)std::count_if(x.begin(), x.end(), Odd());
		std::exclusive_scan(x.begin(), x.end(), scanned.begin(), 0u);
		std::copy_if(x.begin(), x.end(), std::back_inserter(odd), Odd());
		std::iota(order.begin(), order.end(), 0u);
		std::stable_sort(order.begin(), order.end(),
				 [&](unsigned a, unsigned b) { return x[a] < x[b]; });
		sorted = x;
		std::sort(sorted.begin(), sorted.end());
		for (unsigned i = 0; i < n; i++) {
			if (!i || sorted[i] != sorted[i - 1]) {
				unique.push_back(sorted[i]);
				sums.push_back(0);
			}
			sums.back() += order[i];
		}
	}
};

/* Counts one result. Prints it if it is wrong, or in the last run. */
static int check_result(const char *name, bool right, int run, int n_runs)
{
	if (!right)
		printf("%s: wrong in run %d\n", name, run);
	else if (run == n_runs - 1)
		printf("%s: right\n", name);
	return !right;
}

static int check_all(const truth &want, int run, int n_runs)
{
	const size_t n = want.x.size();
	thrust::device_vector<unsigned> in(want.x.begin(), want.x.end()), out(n), places(n);
	int status = 0;

	status |= check_result("reduce", thrust::reduce(in.begin(), in.end()) == want.sum, run,
			       n_runs);
	status |= check_result("transform_reduce",
			       thrust::transform_reduce(in.begin(), in.end(), Square(), 0u,
							thrust::plus<unsigned>()) == want.squares,
			       run, n_runs);
	status |= check_result("count_if",
			       thrust::count_if(in.begin(), in.end(), Odd()) == want.n_odd, run,
			       n_runs);
	thrust::exclusive_scan(in.begin(), in.end(), out.begin());
	status |= check_result("scan", host(out) == want.scanned, run, n_runs);

	out.resize(thrust::copy_if(in.begin(), in.end(), out.begin(), Odd()) - out.begin());
	status |= check_result("copy_if", host(out) == want.odd, run, n_runs);

	/* Keys repeat, and what is equal keeps its order. */
	thrust::sequence(places.begin(), places.end());
	thrust::stable_sort_by_key(in.begin(), in.end(), places.begin());
	status |= check_result("sort", host(in) == want.sorted && host(places) == want.order, run,
			       n_runs);

	thrust::device_vector<unsigned> keys(n), sums(n);
	const auto ends = thrust::reduce_by_key(in.begin(), in.end(), places.begin(), keys.begin(),
						sums.begin());

	keys.resize(ends.first - keys.begin());
	sums.resize(ends.second - sums.begin());
	status |= check_result("reduce_by_key",
			       host(keys) == want.unique && host(sums) == want.sums, run, n_runs);

	/* Not in place: there a block loads an element that another stores, with the same value. */
	keys.resize(n);
	keys.resize(thrust::unique_copy(in.begin(), in.end(), keys.begin()) - keys.begin());
	status |= check_result("unique", host(keys) == want.unique, run, n_runs);
	return status;
}

int main(int argc, char **argv)
{
	const unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 20011;
	const int n_runs = argc > 2 ? atoi(argv[2]) : 1;
	cudaError_t error = cudaFree(NULL);
	int status = 0;

	if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver) {
		fprintf(stderr, "skipped: %s\n", cudaGetErrorString(error));
		return 77;
	}
	try {
		const truth want(n);

		for (int run = 0; run < n_runs; run++)
			status |= check_all(want, run, n_runs);
	} catch (const std::exception &failed) {
		fprintf(stderr, "%s\n", failed.what());
		return 9;
	}
	return status;
}
