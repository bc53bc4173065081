// SPDX-License-Identifier: Apache-2.0
/*
 * Runs nvcc's PTX for kernels.cu: each argument is one compilation, for a level of optimisation and
 * an architecture. Results are compared with the host's.
 */
#include <math.h>

#include "test/unit/ptx/device.h"

#define KERNELS_ENV "TS_TEST_PTX"

static void open_kernels(struct device *d, uint32_t n_threads)
{
	const char *path = getenv(KERNELS_ENV);
	FILE *f = path ? fopen(path, "re") : NULL;
	char *text;
	size_t n;

	if (!f)
		ts_skip("no PTX to run: set " KERNELS_ENV);
	text = calloc(1, 16 << 20);
	ts_check(text);
	n = fread(text, 1, (16 << 20) - 1, f);
	ts_check(n > 0);
	fclose(f);
	device_load(d, (const char *const[]){text}, 1, n_threads);
	free(text);
	memset(d->memory + d->used, 0, DEVICE_BYTES - d->used);
}

static bool near(double got, double want, double relative)
{
	return fabs(got - want) <= relative * fabs(want) || (got != got && want != want);
}

TS_TEST(reduce_and_histogram)
{
	enum {
		N = 100000
	};
	struct device d;
	uint64_t in, out;
	double sum = 0;
	uint32_t bins[256] = {0};

	open_kernels(&d, 2);
	in = device_alloc(&d, N * 4);
	out = device_alloc(&d, 1024);
	for (int i = 0; i < N; i++)
		sum += ((float *)device_host(&d, in))[i] = (float)(i % 1000) / 8;
	DEVICE_RUN(&d, "reduce", 20, 256, in, out, N);
	ts_check(near((double)*(float *)device_host(&d, out), sum, 1e-5));
	memset(device_host(&d, out), 0, 1024);
	for (int i = 0; i < N; i++)
		bins[((uint8_t *)device_host(&d, in))[i] =
			     (uint8_t)((unsigned)i * (unsigned)i >> 3)]++;
	DEVICE_RUN(&d, "histogram", 7, 192, in, out, N);
	for (int i = 0; i < 256; i++)
		ts_check_int(((uint32_t *)device_host(&d, out))[i], bins[i]);
	device_close(&d);
}

TS_TEST(matmul)
{
	enum {
		N = 64
	};
	struct device d;
	uint64_t a, b, c;
	float *pa, *pb, *pc;

	open_kernels(&d, 2);
	a = device_alloc(&d, N * N * 4);
	b = device_alloc(&d, N * N * 4);
	c = device_alloc(&d, N * N * 4);
	pa = device_host(&d, a);
	pb = device_host(&d, b);
	pc = device_host(&d, c);
	for (int i = 0; i < N * N; i++) {
		pa[i] = (float)(i % 13 - 6);
		pb[i] = (float)(i % 7 - 3);
	}
	d.launch.grid[0] = d.launch.grid[1] = N / 16;
	d.launch.block[0] = d.launch.block[1] = 16;
	d.launch.grid[2] = d.launch.block[2] = 1;
	DEVICE_RUN(&d, "matmul", 0, 0, a, b, c, N);
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			float sum = 0;

			for (int k = 0; k < N; k++)
				sum += pa[i * N + k] * pb[k * N + j];
			ts_check(pc[i * N + j] == sum);
		}
	device_close(&d);
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

TS_TEST(scan_and_sort)
{
	enum {
		N = 128 * 50
	};
	struct device d;
	uint64_t in, out, prefix, ready;
	uint32_t keys[512];
	int sum = 0;

	open_kernels(&d, 2);
	in = device_alloc(&d, N * 4);
	out = device_alloc(&d, N * 4);
	prefix = device_alloc(&d, 4096);
	ready = device_alloc(&d, 4096);
	for (int i = 0; i < N; i++)
		((int *)device_host(&d, in))[i] = i * 7 % 101 - 50;
	DEVICE_RUN(&d, "scan", 50, 128, in, out, prefix, ready);
	for (int i = 0; i < N; i++) {
		sum += ((int *)device_host(&d, in))[i];
		ts_check_int(((int *)device_host(&d, out))[i], sum);
	}
	for (uint32_t i = 0; i < 512; i++)
		keys[i] = i * 2654435761u;
	memcpy(device_host(&d, in), keys, sizeof(keys));
	qsort(keys, 512, 4, by_value);
	DEVICE_RUN(&d, "sort", 1, 128, in);
	ts_check(!memcmp(device_host(&d, in), keys, sizeof(keys)));
	device_close(&d);
}

TS_TEST(mathematics)
{
	enum {
		N = 1000
	};
	struct device d;
	uint64_t x, y;

	open_kernels(&d, 1);
	x = device_alloc(&d, N * 8);
	y = device_alloc(&d, N * 4);
	for (int i = 0; i < N; i++) {
		((double *)device_host(&d, x))[i] = i * 0.017;
		((float *)device_host(&d, y))[i] = (float)i * 0.017f;
	}
	DEVICE_RUN(&d, "doubles", 8, 128, x, N);
	DEVICE_RUN(&d, "singles", 8, 128, y, N);
	for (int i = 0; i < N; i++) {
		double v = i * 0.017, want;
		float u = (float)i * 0.017f, single;

		want = sqrt(v) + sin(v) * exp(-v) + pow(v, 0.3) / (1 + log1p(v)) + fmod(v, 0.7) +
		       (double)(int)(float)v + erf(v) + tgamma(1 + v / 10);
		ts_check(near(((double *)device_host(&d, x))[i], want, 1e-13));
		single = sqrtf(u) + sinf(u * 1000) * expf(-u) + powf(u, 0.3f) / (1 + log1pf(u)) +
			 tanhf(u) + 1 / sqrtf(1 + u) + u / 3 + erff(u) + atan2f(u, 2);
		ts_check(near((double)((float *)device_host(&d, y))[i], (double)single, 2e-6));
	}
	device_close(&d);
}

static uint16_t half_of(float f)
{
	uint32_t u;

	memcpy(&u, &f, 4);
	return (uint16_t)((u >> 16 & 0x8000) | ((u >> 13 & 0x3ffff) - (112 << 10)));
}

TS_TEST(halves_and_softmax)
{
	struct device d;
	uint64_t a, b, out;

	open_kernels(&d, 1);
	a = device_alloc(&d, 128);
	b = device_alloc(&d, 128);
	out = device_alloc(&d, 65536);
	for (int i = 0; i < 64; i++) {
		float f = (float)(i + 1) / 4, g = (float)(i + 1) / 2;

		((uint16_t *)device_host(&d, a))[i] = half_of(f);
		memcpy((uint16_t *)device_host(&d, b) + i, (uint8_t *)&g + 2, 2);
	}
	DEVICE_RUN(&d, "halves", 1, 32, a, b, out);
	for (int i = 0; i < 64; i++) {
		float *r = (float *)device_host(&d, out) + i / 2 * 4;
		double f = (i + 1) / 4.0, g = (i + 1) / 2.0;

		ts_check(near((double)r[i & 1], fmax(f * f + 0.5, sqrt(f)), 1.0 / 1024));
		ts_check(near((double)r[2 + (i & 1)], g * g + 0.25, 1.0 / 128));
	}
	a = device_alloc(&d, 3 * 500 * 4);
	for (int i = 0; i < 1500; i++)
		((float *)device_host(&d, a))[i] = (float)(i * 37 % 101) / 10;
	DEVICE_RUN(&d, "softmax", 3, 128, a, out, 500);
	for (int row = 0; row < 3; row++) {
		double sum = 0;

		for (int i = 0; i < 500; i++)
			sum += exp((double)((float *)device_host(&d, a))[row * 500 + i] - 10);
		for (int i = 0; i < 500; i++)
			ts_check(near((double)((float *)device_host(&d, out))[row * 500 + i],
				      exp((double)((float *)device_host(&d, a))[row * 500 + i] -
					  10) /
					      sum,
				      1e-5));
	}
	device_close(&d);
}

TS_TEST(language)
{
	struct device d;
	uint64_t o, x;
	char want[256];

	open_kernels(&d, 1);
	o = device_alloc(&d, 65536);
	x = device_alloc(&d, 1024);
	DEVICE_RUN(&d, "objects", 1, 32, o);
	for (int t = 0; t < 32; t++)
		ts_check(((float *)device_host(&d, o))[t] == (float)(t & 1 ? t * t : 3 * t * t));
	strcpy(device_host(&d, x), "word");
	DEVICE_RUN(&d, "hello", 1, 2, 2, x);
	(void)snprintf(
		want, sizeof(want),
		"thread 0 of 2: word  0.00 10000000000\nthread 1 of 2: word  0.50 10000000000\n");
	ts_check_str(d.output, want);
	for (uint64_t t = 0; t < 32; t++)
		((uint64_t *)device_host(&d, x))[t] = t * 0x123456789abcdefu + 1;
	DEVICE_RUN(&d, "wide", 1, 32, x, o);
	for (uint64_t t = 0; t < 32; t++) {
		uint64_t v = t * 0x123456789abcdefu + 1, r = 0;
		__int128 q = (__int128)v * v / (t + 3);

		for (int i = 0; i < 64; i++)
			r |= (v >> i & 1) << (63 - i);
		r ^= (uint64_t)__builtin_popcountll(v) ^ (uint64_t)__builtin_clzll(v) ^
		     (v << 13 | v >> 51) ^ (uint64_t)((unsigned __int128)v * v >> 64) ^ v % 1000003;
		ts_check(!memcmp((__int128 *)device_host(&d, o) + t, &q, 16));
		ts_check_int(((uint64_t *)device_host(&d, x))[t], r);
	}
	memset(device_host(&d, o), 0, 65536);
	DEVICE_RUN(&d, "diverge", 10, 100, o);
	for (int i = 0; i < 1000; i++) {
		int r = 0, n = i + 1;

		switch (i % 7) {
		case 0:
			for (; n != 1; r++)
				n = n & 1 ? 3 * n + 1 : n / 2;
			break;
		case 1:
			r = i * 3;
			break;
		case 2:
			r = __builtin_clz((unsigned)i);
			break;
		case 3:
			r = i / 5 + i % 11;
			break;
		case 4:
			r = -i;
			break;
		case 5:
			r = __builtin_popcount((unsigned)i);
			break;
		default:
			break;
		}
		ts_check_int(((int *)device_host(&d, o))[i], r);
	}
	device_close(&d);
}
