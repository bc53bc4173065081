/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shapes of a virtual GPU, and the parser of the text that selects and changes them. Shapes are
 * built in, so that timelines from different machines are comparable. "ideal" takes almost no time,
 * for measuring the cost of tracing. A changed shape shows the times of another device; tests
 * compare `tsctl replay --what-if` with it. The context facade, tsctl and replay/exec/vgpu call the
 * parser.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/vgpu/executor.h"
#include "replay/vgpu/vgpu-internal.h"

static const struct ts_vgpu_shape shapes[] = {
	{
		.key = "h200",
		.name = "TraceSmith Virtual GPU (H200 shape)",
		.host_clock_name = "TraceSmith Virtual GPU (H200 shape, host clock)",
		.timed_name = "TraceSmith Virtual GPU (H200 shape, timed kernels)",
		.cc_major = 9,
		.n_sm = 132,
		.warp_size = 32,
		.max_threads_per_block = 1024,
		.max_threads_per_sm = 2048,
		.max_blocks_per_sm = 32,
		.regs_per_sm = 65536,
		.shared_bytes_per_sm = 228 << 10,
		.shared_bytes_per_block = 48 << 10,
		.shared_bytes_per_block_optin = 227 << 10,
		.l2_bytes = 60 << 20,
		.clock_khz = 1980000,
		.memory_clock_khz = 3201000,
		.memory_bus_bits = 6144,
		.n_h2d_engines = 1,
		.n_d2h_engines = 1,
		.max_concurrent_kernels = 128,
		.memory_bytes = 141ull << 30,
		.memory_bytes_per_s = 4800000000000ull,
		.link_bytes_per_s = 55000000000ull,
		.peer_bytes_per_s = 450000000000ull,
		.launch_ns = 1000,
		.copy_ns = 1200,
		.block_cycles = 400,
		.warp_cycles = 24,
		.issue_per_cycle = 4,
		.insn_cycles = 5,
		.tensor_flops_per_cycle = 4096,
	},
	{
		.key = "small",
		.name = "TraceSmith Virtual GPU (small shape)",
		.host_clock_name = "TraceSmith Virtual GPU (small shape, host clock)",
		.timed_name = "TraceSmith Virtual GPU (small shape, timed kernels)",
		.cc_major = 7,
		.cc_minor = 5,
		.n_sm = 4,
		.warp_size = 32,
		.max_threads_per_block = 1024,
		.max_threads_per_sm = 1024,
		.max_blocks_per_sm = 16,
		.regs_per_sm = 65536,
		.shared_bytes_per_sm = 64 << 10,
		.shared_bytes_per_block = 48 << 10,
		.shared_bytes_per_block_optin = 64 << 10,
		.l2_bytes = 1 << 20,
		.clock_khz = 1000000,
		.memory_clock_khz = 1000000,
		.memory_bus_bits = 256,
		.n_h2d_engines = 1,
		.n_d2h_engines = 1,
		.max_concurrent_kernels = 16,
		.memory_bytes = 1ull << 30,
		.memory_bytes_per_s = 64000000000ull,
		.link_bytes_per_s = 12000000000ull,
		.peer_bytes_per_s = 12000000000ull,
		.launch_ns = 2000,
		.copy_ns = 2000,
		.block_cycles = 600,
		.warp_cycles = 48,
		.issue_per_cycle = 4,
		.insn_cycles = 8,
		.tensor_flops_per_cycle = 512,
	},
	{
		.key = "mi300",
		.name = "TraceSmith Virtual GPU (MI300X shape)",
		.host_clock_name = "TraceSmith Virtual GPU (MI300X shape, host clock)",
		.timed_name = "TraceSmith Virtual GPU (MI300X shape, timed kernels)",
		.cc_major = 9,
		.cc_minor = 4,
		.n_sm = 304,
		.warp_size = 32,
		.timed_warp_size = 64,
		.max_threads_per_block = 1024,
		.max_threads_per_sm = 2048,
		.max_blocks_per_sm = 32,
		.regs_per_sm = 131072,
		.shared_bytes_per_sm = 64 << 10,
		.shared_bytes_per_block = 64 << 10,
		.shared_bytes_per_block_optin = 64 << 10,
		.l2_bytes = 32 << 20,
		.clock_khz = 2100000,
		.memory_clock_khz = 1300000,
		.memory_bus_bits = 8192,
		.n_h2d_engines = 1,
		.n_d2h_engines = 1,
		.max_concurrent_kernels = 128,
		.memory_bytes = 192ull << 30,
		.memory_bytes_per_s = 5300000000000ull,
		.link_bytes_per_s = 55000000000ull,
		.peer_bytes_per_s = 64000000000ull,
		.launch_ns = 1500,
		.copy_ns = 1500,
		.block_cycles = 400,
		.warp_cycles = 24,
		.issue_per_cycle = 4,
		.insn_cycles = 5,
		.tensor_flops_per_cycle = 2048,
	},
	{
		.key = "ideal",
		.name = "TraceSmith Virtual GPU (ideal shape)",
		.host_clock_name = "TraceSmith Virtual GPU (ideal shape, host clock)",
		.timed_name = "TraceSmith Virtual GPU (ideal shape, timed kernels)",
		.cc_major = 9,
		.n_sm = 132,
		.warp_size = 32,
		.max_threads_per_block = 1024,
		.max_threads_per_sm = 2048,
		.max_blocks_per_sm = 32,
		.regs_per_sm = 65536,
		.shared_bytes_per_sm = 228 << 10,
		.shared_bytes_per_block = 48 << 10,
		.shared_bytes_per_block_optin = 227 << 10,
		.l2_bytes = 60 << 20,
		.clock_khz = 1000000,
		.memory_clock_khz = 1000000,
		.memory_bus_bits = 8192,
		.n_h2d_engines = 4,
		.n_d2h_engines = 4,
		.max_concurrent_kernels = 128,
		.memory_bytes = 16ull << 30,
		.memory_bytes_per_s = 1000000000000000ull,
		.link_bytes_per_s = 1000000000000000ull,
		.peer_bytes_per_s = 1000000000000000ull,
		.launch_ns = 1,
		.copy_ns = 1,
		.block_cycles = 0,
		.warp_cycles = 0,
		.issue_per_cycle = 1u << 20,
		.insn_cycles = 0,
		.tensor_flops_per_cycle = 1u << 30,
	},
};

const struct ts_vgpu_shape *ts_vgpu_shape_at(size_t i)
{
	return i < sizeof(shapes) / sizeof(shapes[0]) ? &shapes[i] : NULL;
}

static const struct ts_vgpu_shape *shape_find(const char *key, size_t n)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (strlen(shapes[i].key) == n && !memcmp(shapes[i].key, key, n))
			return &shapes[i];
	return NULL;
}

/* ---- settings -------------------------------------------------------------------------------- */

const char *const ts_vgpu_spec_help =
	"  multiprocessors=66    mhz=1000            compute engine: size, clock\n"
	"  h2d-engines=2         d2h-engines=2       copy engines: to device, to host\n"
	"  link=25GB/s           memory=2TB/s        rate of pinned copies between host\n"
	"                                            and device; rate of device memory\n"
	"  launch-latency=5us    call-time=3us       time from a call to the start of its\n"
	"                                            operation; host time of the call\n"
	"  hip=6.1                                   release of ROCm: 5.7, 6.1, 6.2, 7.1\n"
	"  kernels=timed                             kernels take the model's time and are not\n"
	"                                            computed; HIP programs need no PTX\n";

struct unit {
	const char *text;
	double factor;
};

static const struct unit counts[] = {{"", 1}, {NULL, 0}};
static const struct unit megahertz[] = {{"", 1e3}, {NULL, 0}};
static const struct unit times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
static const struct unit rates[] = {{"B/s", 1},	   {"KB/s", 1e3},  {"MB/s", 1e6},
				    {"GB/s", 1e9}, {"TB/s", 1e12}, {NULL, 0}};

#define SETTING(field) offsetof(struct ts_vgpu_shape, field), sizeof(shapes[0].field)

static const struct setting {
	const char *key;
	const struct unit *units;
	size_t at, bytes;
	uint64_t least, most;
} settings[] = {
	{"multiprocessors", counts, SETTING(n_sm), 1, TS_VGPU_MAX_SM},
	{"mhz", megahertz, SETTING(clock_khz), 1, 10000000},
	{"h2d-engines", counts, SETTING(n_h2d_engines), 1, TS_VGPU_MAX_ENGINES},
	{"d2h-engines", counts, SETTING(n_d2h_engines), 1, TS_VGPU_MAX_ENGINES},
	{"link", rates, SETTING(link_bytes_per_s), 1000, 1000000000000000},
	{"memory", rates, SETTING(memory_bytes_per_s), 1000, 1000000000000000},
	{"launch-latency", times, SETTING(latency_ns), 0, 1000000000},
	{"call-time", times, SETTING(call_ns), 0, 1000000000},
};

/* Parses a number and its unit, up to the next comma. */
static int value_parse(const char *text, size_t n, const struct setting *setting,
		       uint64_t *ret_value)
{
	char one[32], *end;
	double number;

	/* strtod() would accept signs, blanks and words. */
	if (n >= sizeof(one) || *text < '0' || *text > '9')
		return -EINVAL;
	memcpy(one, text, n);
	one[n] = '\0';
	number = strtod(one, &end);
	/* Reject 0x10, and fractions of values without a unit. */
	if (strspn(one, "0123456789.") != (size_t)(end - one))
		return -EINVAL;
	for (const struct unit *unit = setting->units; unit->text; unit++) {
		double value = number * unit->factor;

		if (strcmp(end, unit->text))
			continue;
		if (!(value >= (double)setting->least && value <= (double)setting->most) ||
		    (!*unit->text && value != (double)(uint64_t)value))
			return -EINVAL;
		*ret_value = (uint64_t)(value + 0.5);
		return 0;
	}
	return -EINVAL;
}

static int clock_parse(const char *text, size_t n, struct ts_vgpu_spec *spec, char *message,
		       size_t message_bytes)
{
	bool host = n == 4 && !memcmp(text, "host", n);

	if (!host && (n != 5 || memcmp(text, "model", n))) {
		snprintf(message, message_bytes,
			 "virtual GPU spec: 'clock=%.*s' is neither clock=model nor clock=host",
			 (int)(n < 64 ? n : 64), text);
		return -EINVAL;
	}
	spec->host_clock = host;
	return 0;
}

/* hip=6.1: one digit each. The releases are those of tools/vgpu/hip/hip-version.c. */
static int hip_parse(const char *text, size_t n, struct ts_vgpu_spec *spec, char *message,
		     size_t message_bytes)
{
	static const char *const releases[] = {"5.7", "6.1", "6.2", "7.1"};

	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++)
		if (n == 3 && !memcmp(text, releases[i], n)) {
			spec->hip_major = (uint32_t)(text[0] - '0');
			spec->hip_minor = (uint32_t)(text[2] - '0');
			return 0;
		}
	snprintf(message, message_bytes,
		 "virtual GPU spec: 'hip=%.*s' is no release of the virtual HIP (5.7, 6.1, 6.2, "
		 "7.1)",
		 (int)(n < 64 ? n : 64), text);
	return -EINVAL;
}

static int kernels_parse(const char *text, size_t n, struct ts_vgpu_spec *spec, char *message,
			 size_t message_bytes)
{
	bool timed = n == 5 && !memcmp(text, "timed", n);

	if (!timed && (n != 8 || memcmp(text, "computed", n) != 0)) {
		snprintf(message, message_bytes,
			 "virtual GPU spec: 'kernels=%.*s' is neither kernels=computed nor "
			 "kernels=timed",
			 (int)(n < 64 ? n : 64), text);
		return -EINVAL;
	}
	spec->timed_kernels = timed;
	return 0;
}

static int setting_parse(const char *text, size_t n, struct ts_vgpu_shape *changed, bool *is_set,
			 char *message, size_t message_bytes)
{
	size_t n_key = strcspn(text, "=");

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		const struct setting *setting = &settings[i];
		uint64_t value;

		if (strlen(setting->key) != n_key || memcmp(setting->key, text, n_key))
			continue;
		if (value_parse(text + n_key + 1, n - n_key - 1, setting, &value))
			break;
		is_set[i] = true;
		if (setting->bytes == sizeof(uint32_t))
			*(uint32_t *)((char *)changed + setting->at) = (uint32_t)value;
		else
			*(uint64_t *)((char *)changed + setting->at) = value;
		return 0;
	}
	snprintf(message, message_bytes,
		 "virtual GPU spec: '%.*s' is not a setting, or its value is invalid (like "
		 "multiprocessors=66, link=25GB/s, call-time=3us)",
		 (int)(n < 64 ? n : 64), text);
	return -EINVAL;
}

static void apply(const struct ts_vgpu_shape *changed, const bool *is_set,
		  struct ts_vgpu_spec *spec)
{
	for (uint32_t i = 0; i < spec->n_devices; i++)
		for (size_t k = 0; k < sizeof(settings) / sizeof(settings[0]); k++)
			if (is_set[k])
				memcpy((char *)&spec->shapes[i] + settings[k].at,
				       (const char *)changed + settings[k].at, settings[k].bytes);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static int shapes_parse(const char *text, size_t n, struct ts_vgpu_spec *spec, char *message,
			size_t message_bytes)
{
	size_t n_key = strcspn(text, ":,");
	const struct ts_vgpu_shape *shape = shape_find(text, n_key);
	unsigned long count = 1;

	if (!shape) {
		snprintf(
			message, message_bytes,
			"virtual GPU spec: unknown shape '%.*s' (the shapes are h200, small, mi300, "
			"ideal)",
			(int)(n_key < 64 ? n_key : 64), text);
		return -EINVAL;
	}
	if (n_key < n) {
		const char *at = text + n_key + 1;
		char *end = NULL;

		/* strtoul() would accept signs and blanks. */
		count = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : 0;
		if (!count || count > TS_VGPU_MAX_DEVICES || end != text + n) {
			snprintf(message, message_bytes,
				 "virtual GPU spec: '%.32s' is not a count of devices from 1 to %d",
				 at, TS_VGPU_MAX_DEVICES);
			return -EINVAL;
		}
	}
	if (spec->n_devices + count > TS_VGPU_MAX_DEVICES) {
		snprintf(message, message_bytes,
			 "virtual GPU spec: more than %d devices, which is "
			 "the limit",
			 TS_VGPU_MAX_DEVICES);
		return -EINVAL;
	}
	while (count--)
		spec->shapes[spec->n_devices++] = *shape;
	return 0;
}

int ts_vgpu_spec_parse(const char *text, struct ts_vgpu_spec *ret_spec, char *message,
		       size_t message_bytes)
{
	bool is_set[sizeof(settings) / sizeof(settings[0])] = {false};
	struct ts_vgpu_shape changed = {0};
	struct ts_vgpu_spec spec = {0};
	const char *at = text && *text ? text : TS_VGPU_SPEC_DEFAULT;

	for (;; at++) {
		size_t n = strcspn(at, ",");
		int r;

		if (!strncmp(at, "clock=", 6))
			r = clock_parse(at + 6, n - 6, &spec, message, message_bytes);
		else if (!strncmp(at, "hip=", 4))
			r = hip_parse(at + 4, n - 4, &spec, message, message_bytes);
		else if (!strncmp(at, "kernels=", 8))
			r = kernels_parse(at + 8, n - 8, &spec, message, message_bytes);
		else if (memchr(at, '=', n))
			r = setting_parse(at, n, &changed, is_set, message, message_bytes);
		else
			r = shapes_parse(at, n, &spec, message, message_bytes);
		if (r)
			return r;
		at += n;
		if (!*at)
			break;
	}
	if (!spec.n_devices)
		spec.shapes[spec.n_devices++] =
			*shape_find(TS_VGPU_SPEC_DEFAULT, strlen(TS_VGPU_SPEC_DEFAULT));
	apply(&changed, is_set, &spec);
	if (spec.timed_kernels && spec.host_clock) {
		snprintf(
			message, message_bytes,
			"virtual GPU spec: kernels=timed needs the model's times: omit clock=host");
		return -EINVAL;
	}
	for (uint32_t i = 0; spec.host_clock && i < spec.n_devices; i++)
		spec.shapes[i].name = spec.shapes[i].host_clock_name;
	for (uint32_t i = 0; spec.timed_kernels && i < spec.n_devices; i++) {
		spec.shapes[i].name = spec.shapes[i].timed_name;
		if (spec.shapes[i].timed_warp_size)
			spec.shapes[i].warp_size = spec.shapes[i].timed_warp_size;
	}
	*ret_spec = spec;
	return 0;
}

int ts_vgpu_threads_parse(const char *text, uint32_t *ret_n_threads)
{
	char *end = NULL;
	long n = text && *text ? strtol(text, &end, 10) : 0;

	if (end && (*end || n < 1 || n > TS_VGPU_MAX_THREADS))
		return -EINVAL;
	*ret_n_threads = (uint32_t)n;
	return 0;
}
