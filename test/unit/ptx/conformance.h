/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs one instruction on many operands and compares with a function in C. A case names the
 * instruction and the sizes of result and operands: h 16, r 32, d 64 bits, p predicate. A digit is
 * a constant operand of that value, which may also be the fourth operand. The case gives the
 * expected result in terms of a, b and c.
 */
#pragma once

#include "test/unit/ptx/device.h"

struct conformance {
	const char *op;
	const char *sizes; /* result first */
	uint64_t (*expected)(uint64_t a, uint64_t b, uint64_t c);
};

#define CONFORMANCE_CASE(name, op, sizes, T, expr)                           \
	static uint64_t expect_##name(uint64_t a_, uint64_t b_, uint64_t c_) \
	{                                                                    \
		T a = (T)a_, b = (T)b_, c = (T)c_;                           \
		(void)a;                                                     \
		(void)b;                                                     \
		(void)c;                                                     \
		return (uint64_t)(expr);                                     \
	}
#define CONFORMANCE_ROW(name, op, sizes, T, expr) {op, sizes, expect_##name},

static const uint64_t conformance_specials[] = {
	0,
	1,
	2,
	3,
	7,
	8,
	15,
	16,
	31,
	32,
	33,
	63,
	64,
	65,
	127,
	128,
	255,
	256,
	0x7fff,
	0x8000,
	0xffff,
	0x3c00,
	0x3c01,
	0x7bff,
	0x7c00,
	0xfc00,
	0x7e00,
	0x0400,
	0x03ff,
	0x8001,
	0xbc00,
	0x3f80,
	0x7f80,
	/* f32: one, neighbours, denormals, infinities, NaNs, near the limits of integers */
	0x3f800000,
	0x3f800001,
	0x3f7fffff,
	0xbf800000,
	0x00800000,
	0x007fffff,
	0x00000001,
	0x80000000,
	0x80000001,
	0x7f7fffff,
	0x7f800000,
	0xff800000,
	0x7fc00000,
	0x7fffffff,
	0xffffffff,
	0x4effffff,
	0x4f000000,
	0x4f7fffff,
	0x4f800000,
	0xcf000000,
	0x5effffff,
	0x5f000000,
	0x3f000000,
	0x3fc00000,
	0x40200000,
	0xbfc00000,
	0x7e800001,
	0x33800000,
	0x477fe000,
	0x477ff000,
	0x38800000,
	0x33000001,
	/* f64 */
	0x3ff0000000000000,
	0x3ff0000000000001,
	0xbff0000000000000,
	0x0010000000000000,
	0x000fffffffffffff,
	0x8000000000000000,
	0x8000000000000001,
	0x7fefffffffffffff,
	0x7ff0000000000000,
	0xfff0000000000000,
	0x7ff8000000000000,
	0x7fffffffffffffff,
	0xffffffffffffffff,
	0x41dfffffffc00000,
	0x41e0000000000000,
	0x43e0000000000000,
	0x3fe0000000000000,
	0x3ff8000000000000,
	0xc1e0000000000000,
	0x47efffffe0000000,
	0x47effffff0000000,
	0x36a0000000000000,
	0x3690000000000000,
	0x380fffffe0000000,
};
#define CONFORMANCE_N_SPECIALS (sizeof(conformance_specials) / sizeof(conformance_specials[0]))

static uint64_t conformance_random(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15u;
	uint64_t x = *state;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	x ^= x >> 31;
	/* Also short values, for counts and positions. */
	return x >> 60 ? x : x & 127;
}

static const char *conformance_type(char size)
{
	return size == 'h' ? "b16" : size == 'd' ? "b64" : "b32";
}

/*
 * Writes the text of a kernel that reads operands from arrays of 64-bit words, executes the
 * instruction, and writes the result to another array.
 */
static inline void conformance_text(const struct conformance *c, char *text, size_t n)
{
	size_t at = 0, n_sources = strlen(c->sizes) - 1;
	char d = c->sizes[0];

	at += (size_t)snprintf(
		text + at, n - at,
		PTX_HEAD
		".visible .entry k(.param .u64 po, .param .u64 pa, .param .u64 pb, .param .u64 pc) {\n"
		".reg .b32 %%r<8>; .reg .b64 %%d<20>; .reg .b16 %%h<8>; .reg .pred %%p<8>;\n"
		"mov.u32 %%r5, %%ctaid.x; mov.u32 %%r6, %%ntid.x; mov.u32 %%r7, %%tid.x;\n"
		"mad.lo.u32 %%r5, %%r5, %%r6, %%r7; mul.wide.u32 %%d10, %%r5, 8;\n");
	for (size_t i = 0; i < n_sources; i++) {
		char s = c->sizes[i + 1];

		if (s <= '9')
			continue;
		at += (size_t)snprintf(text + at, n - at,
				       "ld.param.u64 %%d11, [p%c]; add.u64 %%d11, %%d11, %%d10;\n"
				       "ld.global.%s %%%c%zu, [%%d11];\n",
				       (char)('a' + i), conformance_type(s), s == 'p' ? 'r' : s,
				       i + 1);
		if (s == 'p')
			at += (size_t)snprintf(
				text + at, n - at,
				"and.b32 %%r%zu, %%r%zu, 1; setp.ne.u32 %%p%zu, %%r%zu, 0;\n",
				i + 1, i + 1, i + 1, i + 1);
	}
	at += (size_t)snprintf(text + at, n - at, "%s %%%c0", c->op, d);
	for (size_t i = 0; i < n_sources; i++)
		at += c->sizes[i + 1] <= '9'
			      ? (size_t)snprintf(text + at, n - at, ", %c", c->sizes[i + 1])
			      : (size_t)snprintf(text + at, n - at, ", %%%c%zu", c->sizes[i + 1],
						 i + 1);
	at += (size_t)snprintf(text + at, n - at, ";\n");
	if (d == 'p')
		at += (size_t)snprintf(text + at, n - at, "selp.b32 %%r0, 1, 0, %%p0;\n");
	(void)snprintf(
		text + at, n - at,
		"ld.param.u64 %%d11, [po]; add.u64 %%d11, %%d11, %%d10; st.global.%s [%%d11], %%%c0;\n"
		"ret; }\n",
		conformance_type(d), d == 'p' ? 'r' : d);
}

static inline uint64_t conformance_cut(uint64_t v, char size)
{
	if (size <= '9')
		return (uint64_t)(size - '0');
	return size == 'h' ? (uint16_t)v : size == 'd' ? v : size == 'p' ? v & 1 : (uint32_t)v;
}

/*
 * If set, NaN doubles are equal whatever their payload is. With TS_TEST_PAYLOADS they are not: a
 * run on a GPU then shows the GPU's payloads.
 */
static bool (*conformance_nan64)(uint64_t v);

/* Mismatches of one form of an instruction. All are counted; a few are printed. */
struct conformance_wrong {
	const char *op;
	unsigned n;
};

static inline bool conformance_print(struct conformance_wrong *wrong)
{
	unsigned n = ++wrong->n;

	/* True for 1, 2, 4, 16, 64, 256, 1024. */
	return n <= 2 || (n <= 1024 && !(n & (n - 1)) && __builtin_ctz(n) % 2 == 0);
}

/* Ends the test on a mismatch, or with TS_TEST_GO_ON only this form. */
static inline void conformance_end(const struct conformance_wrong *wrong)
{
	if (!wrong->n)
		return;
	fprintf(stderr, "%s: %u wrong\n", wrong->op, wrong->n);
	ts_test_failed();
}

static inline void conformance_run(const struct conformance *c)
{
	enum {
		N = 1 << 14
	};
	struct device d;
	char text[4096];
	uint64_t o, in[3], state = 42;
	uint64_t *host[3];
	size_t n_sources = strlen(c->sizes) - 1;
	struct conformance_wrong wrong = {c->op, 0};

	conformance_text(c, text, sizeof(text));
	device_open(&d, text);
	/* A coverage run needs only the compiled form; another run checks results. */
	if (getenv("TS_TEST_COVERAGE") || !device_loaded(&d)) {
		device_close(&d);
		return;
	}
	o = device_alloc(&d, N * 8);
	for (int k = 0; k < 3; k++) {
		in[k] = device_alloc(&d, N * 8);
		host[k] = device_host(&d, in[k]);
	}
	for (size_t i = 0; i < N; i++) {
		size_t s = i;

		for (int k = 0; k < 3; k++) {
			/*
			 * All pairs of special values first, then mixtures of special and random
			 * ones.
			 */
			bool special = n_sources < 3
					       ? i < CONFORMANCE_N_SPECIALS * CONFORMANCE_N_SPECIALS
					       : conformance_random(&state) & 1;
			uint64_t pick =
				n_sources < 3 ? s % CONFORMANCE_N_SPECIALS
					      : conformance_random(&state) % CONFORMANCE_N_SPECIALS;

			host[k][i] =
				special ? conformance_specials[pick] : conformance_random(&state);
			if (c->sizes[k < (int)n_sources ? k + 1 : 0] == 'r' && special &&
			    conformance_specials[pick] >> 32)
				host[k][i] = conformance_specials[pick] >> 32;
			s /= CONFORMANCE_N_SPECIALS;
		}
	}
	DEVICE_RUN(&d, "k", N / 128, 128, o, in[0], in[1], in[2]);
	for (size_t i = 0; i < N; i++) {
		uint64_t v[4] = {0};
		uint64_t got, want;

		for (size_t k = 0; k < n_sources; k++)
			v[k] = conformance_cut(k < 3 ? host[k][i] : 0, c->sizes[k + 1]);
		got = conformance_cut(((uint64_t *)device_host(&d, o))[i], c->sizes[0]);
		want = conformance_cut(c->expected(v[0], v[1], v[2]), c->sizes[0]);
		if (conformance_nan64 && !getenv("TS_TEST_PAYLOADS") && c->sizes[0] == 'd' &&
		    conformance_nan64(got) && conformance_nan64(want))
			continue;
		if (got != want && conformance_print(&wrong))
			fprintf(stderr,
				"%s of 0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64 ": 0x%" PRIx64
				", not 0x%" PRIx64 "\n",
				c->op, v[0], v[1], v[2], got, want);
	}
	conformance_end(&wrong);
	device_close(&d);
}

static inline void conformance_all(const struct conformance *cases, size_t n)
{
	for (size_t i = 0; i < n; i++)
		conformance_run(&cases[i]);
}
