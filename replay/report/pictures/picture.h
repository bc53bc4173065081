/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws answers of replay/report/query.h, and sums by stack, as SVG: a timeline of streams, the
 * live memory of devices, a flame graph. A picture needs no script, file or font; tooltips have the
 * exact figures. Equal input gives equal bytes. Names are data: escaped, cleaned, and shortened to
 * their box. A picture has at most about 20000 elements: elements below half a pixel are merged,
 * and the picture states the number of omitted parts.
 *
 * The text is allocated and terminated; the caller frees *ret_svg with free(). *ret_n_bytes is its
 * length. Functions return 0, -ENOMEM, or -EINVAL, and leave the outputs untouched on failure. They
 * are thread-safe, and accept messages with missing fields.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TS_PICTURE_MIN_WIDTH	 320u
#define TS_PICTURE_MAX_WIDTH	 8192u
#define TS_PICTURE_DEFAULT_WIDTH 1200u

struct ts_picture_options {
	/* Pixels, limited to TS_PICTURE_MIN_WIDTH and TS_PICTURE_MAX_WIDTH; 0: the default. */
	uint32_t width;
	const char *title;  /* such as the file's name; may be NULL */
	uint64_t origin_ns; /* times are shown relative to it: ts_sbt_reader_origin_ns() */
};

/*
 * Returns the number of parts (Query.Timeline) or points (Query.Memory) that fills a picture of
 * this width.
 */
uint32_t ts_picture_parts(uint32_t width);

/*
 * Draws a lane for each stream, with the share of kernels and copies in each column. If the query
 * asked for device_parts, each device also has a lane for compute and a lane for copies.
 */
int ts_picture_timeline(const Ts__Rpc__TimelineReport *report,
			const struct ts_picture_options *options, char **ret_svg,
			size_t *ret_n_bytes);

/*
 * Draws the live memory of each device over time and marks its peak. If the query did not ask for
 * points, draws the sum of all devices.
 */
int ts_picture_memory(const Ts__Rpc__MemoryReport *report, const struct ts_picture_options *options,
		      char **ret_svg, size_t *ret_n_bytes);

/* The kind of a frame selects its hue. */
enum ts_picture_kind {
	TS_PICTURE_NATIVE,
	TS_PICTURE_PYTHON,
	TS_PICTURE_OPERATION, /* a kernel, copy or set */
	TS_PICTURE_OTHER,     /* a process, a thread, an unknown stack */
	TS_PICTURE_N_KINDS
};

struct ts_picture_frame {
	uint32_t parent; /* index + 1 of the caller, which is an earlier frame; 0: none */
	enum ts_picture_kind kind;
	const char *name; /* not terminated */
	size_t n_name_bytes;
	uint64_t weight; /* of the stacks that end here */
};

enum ts_picture_unit {
	TS_PICTURE_NS,
	TS_PICTURE_BYTES,
	TS_PICTURE_COUNT
};

/*
 * Draws an icicle: outermost frames on top, the largest ones first. `what` names the sums, such as
 * "GPU time by launching stack". -EINVAL: a frame's parent is not an earlier frame.
 */
int ts_picture_flame(const struct ts_picture_frame *frames, uint32_t n_frames, const char *what,
		     enum ts_picture_unit unit, const struct ts_picture_options *options,
		     char **ret_svg, size_t *ret_n_bytes);

/* Returned by ts_picture_png() in addition to negative errnos. */
#define TS_PICTURE_E_LIBRARY 1 /* librsvg is not installed, or too old */
#define TS_PICTURE_E_LARGE   2 /* more than 32767 pixels high, or than 134 million in all */

/*
 * Converts a picture of the functions above to PNG, in light colours. Loads librsvg, which may
 * print warnings about fonts, and ends the process if memory is short. The caller frees *ret_png
 * with free(). Returns 0, TS_PICTURE_E_*, -ENOMEM, or -EINVAL (no such picture).
 */
int ts_picture_png(const char *svg, size_t n_bytes, unsigned char **ret_png, size_t *ret_n_bytes);
/* Returns a line for a person about a result of a function above. Never fails. */
const char *ts_picture_why(int r);

#ifdef __cplusplus
}
#endif
