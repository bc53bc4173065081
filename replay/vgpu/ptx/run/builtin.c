// SPDX-License-Identifier: Apache-2.0
/*
 * Functions that device code calls and no module defines: vprintf, malloc, free and __assertfail.
 * control-flow.c calls this file for such a call. Formats and arguments lie in device memory; each
 * read has the same checks as a load.
 */
#include <stdio.h>
#include <stdlib.h>

#include "proto/abi/grow.h"
#include "replay/vgpu/ptx/run/ptx-exec.h"

#define MAX_STRING 65536

struct ts_ptx_text {
	char *bytes;
	size_t n, capacity;
};

static bool text_reserve(struct ts_ptx_text *t, size_t n)
{
	return !TS_GROW(t->bytes, t->capacity, t->n + n + 1);
}

static void text_add(struct ts_ptx_text *t, const char *s, size_t n)
{
	if (!text_reserve(t, n))
		return;
	memcpy(t->bytes + t->n, s, n);
	t->n += n;
}

/* Returns the host address of operand k of the call, in the caller's memory or registers. */
static uint8_t *call_place(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t k,
			   uint32_t lane)
{
	const uint32_t *place = ts_ptx_operands(w, in) + 3 * k;
	struct ts_ptx_block *b = w->block;

	if (place[0] == TS_PTX_PLACE_LOCAL)
		return b->local + (size_t)(w->index * TS_PTX_LANES + lane) * b->local_stride +
		       ts_ptx_frame_of(w)->local_base + place[1];
	return (uint8_t *)ts_ptx_slot(w, place[1]) +
	       lane * (place[0] == TS_PTX_PLACE_REG64 ? 8u : 4u);
}

static uint64_t call_value(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t k,
			   uint32_t lane)
{
	uint32_t bytes = (ts_ptx_operands(w, in) + 3 * k)[2];
	uint64_t v = 0;

	memcpy(&v, call_place(w, in, k, lane), bytes < 8 ? bytes : 8);
	return v;
}

static void call_answer(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t lane,
			uint64_t v)
{
	uint32_t bytes = ts_ptx_operands(w, in)[2];

	memcpy(call_place(w, in, 0, lane), &v, bytes < 8 ? bytes : 8);
}

/* Appends the string at a device address; false: the address is invalid. */
static bool text_string(struct ts_ptx_warp *w, uint32_t lane, uint64_t address,
			struct ts_ptx_text *t)
{
	uint64_t bytes_left;
	bool read_only;
	const uint8_t *p = ts_ptx_locate(w, lane, address, &bytes_left, &read_only);
	size_t n;

	if (!p)
		return false;
	n = strnlen((const char *)p, bytes_left < MAX_STRING ? bytes_left : MAX_STRING);
	text_add(t, (const char *)p, n);
	return true;
}

struct ts_ptx_arguments {
	struct ts_ptx_warp *w;
	uint32_t lane;
	uint64_t at;
	int n;
	bool bad;
};

static uint64_t argument(struct ts_ptx_arguments *a, unsigned bytes)
{
	uint64_t bytes_left = 0, v = 0;
	bool read_only;
	uint8_t *p;

	a->at = (a->at + bytes - 1) & ~(uint64_t)(bytes - 1);
	p = ts_ptx_locate(a->w, a->lane, a->at, &bytes_left, &read_only);
	a->n++;
	if (!p || bytes_left < bytes) {
		a->bad = true;
		return 0;
	}
	memcpy(&v, p, bytes);
	a->at += bytes;
	return v;
}

static void print_one(struct ts_ptx_text *t, const char *spec, char conversion, bool is_wide,
		      uint64_t v)
{
	double d;
	int n;

	/*
	 * Width and precision are limited, so the text is, too. Reserve the room, then print into
	 * it.
	 */
	if (!text_reserve(t, 2048))
		return;
	memcpy(&d, &v, sizeof(d));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (strchr("aAeEfFgG", conversion))
		n = snprintf(t->bytes + t->n, 2048, spec, d);
	else if (conversion == 'c')
		n = snprintf(t->bytes + t->n, 2048, spec, (int)v);
	else if (conversion == 'p')
		n = snprintf(t->bytes + t->n, 2048, spec, (void *)(uintptr_t)v);
	else if (is_wide)
		n = snprintf(t->bytes + t->n, 2048, spec, (long long)v);
	else
		n = snprintf(t->bytes + t->n, 2048, spec, (int)v);
#pragma GCC diagnostic pop
	t->n += n < 0 ? 0 : n > 2047 ? 2047 : (size_t)n;
}

/* Appends a string argument with its width and precision. */
static void print_string(struct ts_ptx_arguments *a, struct ts_ptx_text *t, int width,
			 int precision, bool left)
{
	struct ts_ptx_text s = {0};
	size_t n;

	if (!text_string(a->w, a->lane, argument(a, 8), &s))
		text_add(&s, "(null)", 6);
	n = precision >= 0 && (size_t)precision < s.n ? (size_t)precision : s.n;
	for (size_t i = n; !left && i < (size_t)width; i++)
		text_add(t, " ", 1);
	text_add(t, s.bytes ? s.bytes : "", n);
	for (size_t i = n; left && i < (size_t)width; i++)
		text_add(t, " ", 1);
	free(s.bytes);
}

static int number(const char **p, const char *end, struct ts_ptx_arguments *a)
{
	int v = 0;

	if (*p < end && **p == '*') {
		++*p;
		v = (int)argument(a, 4);
	} else {
		for (; *p < end && **p >= '0' && **p <= '9' && v < 10000; ++*p)
			v = v * 10 + (**p - '0');
	}
	return v < -1000 ? -1000 : v > 1000 ? 1000 : v;
}

/* Prints one conversion. p points behind the '%'; returns the position behind the conversion. */
static const char *print_conversion(const char *p, const char *end, struct ts_ptx_arguments *a,
				    struct ts_ptx_text *t)
{
	char spec[64], flags[8], precise[16] = "";
	bool is_8, wide;
	int width = 0, precision = -1, n_flags = 0, longs = 0;

	for (; p < end && strchr("-+ #0", *p); p++)
		if (n_flags < 5)
			flags[n_flags++] = *p;
	flags[n_flags] = 0;
	width = number(&p, end, a);
	if (p < end && *p == '.') {
		p++;
		precision = number(&p, end, a);
	}
	for (; p < end && strchr("hlLzjtq", *p); p++)
		longs += *p != 'h' && *p != 'L';
	if (p == end)
		return p;
	if (*p == '%') {
		text_add(t, "%", 1);
		return p + 1;
	}
	if (*p == 's') {
		print_string(a, t, width < 0 ? -width : width, precision,
			     width < 0 || strchr(flags, '-'));
		return p + 1;
	}
	if (!strchr("diouxXcaAeEfFgGp", *p))
		return p + 1; /* %n and unknown conversions print nothing */
	is_8 = strchr("aAeEfFgGp", *p);
	wide = longs && strchr("diouxX", *p);
	if (precision >= 0)
		(void)snprintf(precise, sizeof(precise), ".%d", precision);
	if (width)
		(void)snprintf(spec, sizeof(spec), "%%%s%d%s%s%c", flags, width, precise,
			       wide ? "ll" : "", *p);
	else
		(void)snprintf(spec, sizeof(spec), "%%%s%s%s%c", flags, precise, wide ? "ll" : "",
			       *p);
	print_one(t, spec, *p, wide, argument(a, is_8 || wide ? 8 : 4));
	return p + 1;
}

static int device_printf(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t lane)
{
	struct ts_ptx_text format = {0}, t = {0};
	struct ts_ptx_arguments a = {w, lane, call_value(w, in, 2, lane), 0, false};
	const char *p, *end;
	uint64_t at = call_value(w, in, 1, lane);

	if (!text_string(w, lane, at, &format))
		return ts_ptx_fault(w, in, lane, TS_PTX_FAULT_OUT_OF_BOUNDS,
				    "printf's format at 0x%llx", (unsigned long long)at);
	p = format.bytes;
	end = p + format.n;
	while (p < end) {
		const char *percent = memchr(p, '%', (size_t)(end - p));

		text_add(&t, p, (size_t)((percent ? percent : end) - p));
		p = percent ? print_conversion(percent + 1, end, &a, &t) : end;
	}
	if (t.n)
		ts_ptx_print(w->worker, t.bytes, t.n);
	call_answer(w, in, lane, (uint64_t)(int64_t)a.n);
	free(format.bytes);
	free(t.bytes);
	return a.bad ? ts_ptx_fault(w, in, lane, TS_PTX_FAULT_OUT_OF_BOUNDS,
				    "printf's arguments at 0x%llx", (unsigned long long)a.at)
		     : 0;
}

static int device_assert(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t lane)
{
	struct ts_ptx_text text[3] = {{0}};
	static const uint32_t which[3] = {0, 1, 3};
	int r;

	for (int i = 0; i < 3; i++) {
		uint64_t at = call_value(w, in, which[i], lane);

		if (!text_string(w, lane, at, &text[i]))
			text_add(&text[i], "?", 1);
	}
	r = ts_ptx_fault(w, in, lane, TS_PTX_FAULT_ASSERT, "%.*s:%u: %.*s: Assertion `%.*s' failed",
			 (int)text[1].n, text[1].bytes, (unsigned)call_value(w, in, 2, lane),
			 (int)text[2].n, text[2].bytes, (int)text[0].n, text[0].bytes);
	for (int i = 0; i < 3; i++)
		free(text[i].bytes);
	return r;
}

int ts_ptx_builtin_call(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t mask,
			const struct ts_ptx_code *code)
{
	static const uint8_t n_places[] = {[BUILTIN_VPRINTF] = 3,
					   [BUILTIN_MALLOC] = 2,
					   [BUILTIN_FREE] = 1,
					   [BUILTIN_ASSERTFAIL] = 5};
	const struct ts_ptx_host *host = ts_ptx_engine_host(w->worker->engine);
	int r = 0;

	if (in->n != n_places[code->builtin])
		return ts_ptx_fault(w, in, (uint32_t)__builtin_ctz(mask), TS_PTX_FAULT_ILLEGAL,
				    "call of %s with the wrong parameters", code->name);
	for (uint32_t left = mask; left && !r; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(left);
		uint64_t v;

		switch (code->builtin) {
		case BUILTIN_VPRINTF:
			r = device_printf(w, in, lane);
			break;
		case BUILTIN_MALLOC:
			v = call_value(w, in, 1, lane);
			v = host->malloc ? host->malloc(host->userdata, v) : 0;
			call_answer(w, in, lane, v);
			break;
		case BUILTIN_FREE:
			v = call_value(w, in, 0, lane);
			/* Clear the cached ranges, so that freed memory is not reachable. */
			memset(w->worker->ranges, 0, sizeof(w->worker->ranges));
			if (v && (!host->free || host->free(host->userdata, v)))
				r = ts_ptx_fault(w, in, lane, TS_PTX_FAULT_ILLEGAL,
						 "free of 0x%llx, which malloc did not return",
						 (unsigned long long)v);
			break;
		default:
			r = device_assert(w, in, lane);
			break;
		}
	}
	return r;
}
