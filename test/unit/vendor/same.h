/* SPDX-License-Identifier: Apache-2.0 */
/* Compares one of our declarations with the vendor's: SAME*(ours, theirs). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SAME(ours, theirs) \
	same_value(__FILE__, __LINE__, #ours, (long long)(ours), (long long)(theirs))

/* For names that differ only by our prefix. */
#define SAME_AS(theirs) SAME(TS_##theirs, theirs)

#define SAME_SIZE(ours, theirs) \
	same_value(__FILE__, __LINE__, "sizeof(" #ours ")", sizeof(ours), sizeof(theirs))

#define SAME_FIELD_(ours, theirs, field, their_field)                                              \
	same_value(__FILE__, __LINE__, "offsetof(" #ours ", " #field ")", offsetof(ours, field),   \
		   offsetof(theirs, their_field));                                                 \
	same_value(__FILE__, __LINE__, "sizeof(" #ours "." #field ")", sizeof(((ours *)0)->field), \
		   sizeof(((theirs *)0)->their_field));

/* SAME_FIELDS(ours, theirs, field, their_field, ...): up to 16 pairs. */
#define SAME_FIELDS(ours, theirs, ...)            \
	do {                                      \
		PAIRS_(ours, theirs, __VA_ARGS__) \
	} while (0)
#define PAIRS_(o, t, ...)                                                                        \
	PICK_(__VA_ARGS__, P16, 0, P15, 0, P14, 0, P13, 0, P12, 0, P11, 0, P10, 0, P9, 0, P8, 0, \
	      P7, 0, P6, 0, P5, 0, P4, 0, P3, 0, P2, 0, P1, 0)                                   \
	(o, t, __VA_ARGS__)
#define PICK_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, p, q, r, s, u, v, w, x, y, z, aa, bb, cc, \
	      dd, ee, ff, gg, hh, pick, ...)                                                      \
	pick
#define P1(o, t, a, b)	     SAME_FIELD_(o, t, a, b)
#define P2(o, t, a, b, ...)  SAME_FIELD_(o, t, a, b) P1(o, t, __VA_ARGS__)
#define P3(o, t, a, b, ...)  SAME_FIELD_(o, t, a, b) P2(o, t, __VA_ARGS__)
#define P4(o, t, a, b, ...)  SAME_FIELD_(o, t, a, b) P3(o, t, __VA_ARGS__)
#define P5(o, t, a, b, ...)  SAME_FIELD_(o, t, a, b) P4(o, t, __VA_ARGS__)
#define P6(o, t, a, b, ...)  SAME_FIELD_(o, t, a, b) P5(o, t, __VA_ARGS__)
#define P7(o, t, a, b, ...)  SAME_FIELD_(o, t, a, b) P6(o, t, __VA_ARGS__)
#define P8(o, t, a, b, ...)  SAME_FIELD_(o, t, a, b) P7(o, t, __VA_ARGS__)
#define P9(o, t, a, b, ...)  SAME_FIELD_(o, t, a, b) P8(o, t, __VA_ARGS__)
#define P10(o, t, a, b, ...) SAME_FIELD_(o, t, a, b) P9(o, t, __VA_ARGS__)
#define P11(o, t, a, b, ...) SAME_FIELD_(o, t, a, b) P10(o, t, __VA_ARGS__)
#define P12(o, t, a, b, ...) SAME_FIELD_(o, t, a, b) P11(o, t, __VA_ARGS__)
#define P13(o, t, a, b, ...) SAME_FIELD_(o, t, a, b) P12(o, t, __VA_ARGS__)
#define P14(o, t, a, b, ...) SAME_FIELD_(o, t, a, b) P13(o, t, __VA_ARGS__)
#define P15(o, t, a, b, ...) SAME_FIELD_(o, t, a, b) P14(o, t, __VA_ARGS__)
#define P16(o, t, a, b, ...) SAME_FIELD_(o, t, a, b) P15(o, t, __VA_ARGS__)

static inline void same_value(const char *file, int line, const char *what, long long ours,
			      long long theirs)
{
	if (ours == theirs)
		return;
	fprintf(stderr, "%s:%d: %s is %lld, the vendor's is %lld\n", file, line, what, ours,
		theirs);
	exit(1);
}
