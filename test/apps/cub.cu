/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cub [N [RUNS]]: device-wide algorithms of CUB on N numbers (default: 30011), RUNS times (default: 1), checked on the host. The
 * blocks of scan, select, unique and reduce_by_key wait for the blocks before them by spinning (decoupled look-back).
 */
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
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
#define with_room(call)                                      \
	do {                                                 \
		void *room = NULL;                           \
		size_t bytes = 0;                            \
		check(call);                                 \
		check(cudaMalloc(&room, bytes ? bytes : 1)); \
		check(call);                                 \
		check(cudaFree(room));                       \
	} while (0)

struct Odd {
	__host__ __device__ bool operator()(unsigned x) const
	{
		return x % 2;
	}
};

static const int n_bins = 200;

/* The numbers, and the results that the host computes. */
struct truth {
	std::vector<unsigned> x, few, scanned, sorted, odd, unique, sums;
	std::vector<int> histogram;
	unsigned sum;

	explicit truth(int n) : x(n), few(n), scanned(n), histogram(n_bins)
	{
		unsigned state = 1;

		for (unsigned &v : x)
			v = state = state * 1664525u + 1013904223u;
		/* Runs of equal keys. */
		for (int i = 0; i < n; i++)
			few[i] = i && x[i] >> 30 ? few[i - 1] : x[i] >> 10 & 0xff;
		sum = std::accumulate(x.begin(), x.end(), 0u);
		std::partial_sum(x.begin(), x.end(), scanned.begin());
		sorted = x;
		std::sort(sorted.begin(), sorted.end());
		std::copy_if(x.begin(), x.end(), std::back_inserter(odd), Odd());
		for (int i = 0; i < n; i++) {
			if (!i || few[i] != few[i - 1]) {
				unique.push_back(few[i]);
				sums.push_back(0);
			}
			sums.back() += x[i];
			if (few[i] < n_bins)
				histogram[few[i]]++;
		}
	}
};

/* A program's memory on the device. */
struct memory {
	unsigned *in, *few, *out, *more;
	int *count, *bins;
};

template <typename T> static std::vector<T> host(const T *device, size_t n)
{
	std::vector<T> to(n);

	check(cudaMemcpy(to.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost));
	return to;
}

/* Counts one result. Prints it if it is wrong, or in the last run. */
static int check_result(const char *name, bool right, int run, int n_runs)
{
	if (!right)
		printf("%s: wrong in run %d\n", name, run);
	else if (run == n_runs - 1)
		printf("%s: right\n", name);
	return !right;
}

static int check_all(const truth &want, const memory &m, int run, int n_runs)
{
	const int n = (int)want.x.size();
	int status = 0, count;

	with_room(cub::DeviceReduce::Sum(room, bytes, m.in, m.out, n));
	status |= check_result("reduce", host(m.out, 1)[0] == want.sum, run, n_runs);

	with_room(cub::DeviceScan::InclusiveSum(room, bytes, m.in, m.out, n));
	status |= check_result("scan", host(m.out, n) == want.scanned, run, n_runs);

	with_room(cub::DeviceRadixSort::SortKeys(room, bytes, m.in, m.out, n));
	status |= check_result("sort", host(m.out, n) == want.sorted, run, n_runs);

	with_room(cub::DeviceSelect::If(room, bytes, m.in, m.out, m.count, n, Odd()));
	count = host(m.count, 1)[0];
	status |= check_result("select",
			       count == (int)want.odd.size() && host(m.out, count) == want.odd, run,
			       n_runs);

	with_room(cub::DeviceSelect::Unique(room, bytes, m.few, m.out, m.count, n));
	count = host(m.count, 1)[0];
	status |=
		check_result("unique",
			     count == (int)want.unique.size() && host(m.out, count) == want.unique,
			     run, n_runs);

	with_room(cub::DeviceReduce::ReduceByKey(room, bytes, m.few, m.out, m.in, m.more, m.count,
						 cuda::std::plus<>{}, n));
	count = host(m.count, 1)[0];
	status |= check_result("reduce_by_key",
			       count == (int)want.unique.size() &&
				       host(m.out, count) == want.unique &&
				       host(m.more, count) == want.sums,
			       run, n_runs);

	with_room(cub::DeviceHistogram::HistogramEven(room, bytes, m.few, m.bins, n_bins + 1, 0u,
						      (unsigned)n_bins, n));
	status |= check_result("histogram", host(m.bins, n_bins) == want.histogram, run, n_runs);
	return status;
}

int main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 30011, n_runs = argc > 2 ? atoi(argv[2]) : 1;
	const size_t bytes = n * sizeof(unsigned);
	int status = 0;
	memory m;

	check(cudaMalloc(&m.in, bytes));
	check(cudaMalloc(&m.few, bytes));
	check(cudaMalloc(&m.out, bytes));
	check(cudaMalloc(&m.more, bytes));
	check(cudaMalloc(&m.count, sizeof(*m.count)));
	check(cudaMalloc(&m.bins, n_bins * sizeof(*m.bins)));

	truth want(n);

	check(cudaMemcpy(m.in, want.x.data(), bytes, cudaMemcpyHostToDevice));
	check(cudaMemcpy(m.few, want.few.data(), bytes, cudaMemcpyHostToDevice));
	for (int run = 0; run < n_runs; run++)
		status |= check_all(want, m, run, n_runs);
	for (void *p : {(void *)m.in, (void *)m.few, (void *)m.out, (void *)m.more, (void *)m.count,
			(void *)m.bins})
		check(cudaFree(p));
	return status;
}
