/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shapes a virtual GPU can take, and the text that chooses them. Shapes are ready-made so that a timeline made
 * anywhere can be compared with one made elsewhere; "ideal" takes no time at all, for measuring tracing itself.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/vgpu/vgpu.h"

static const struct ts_vgpu_shape shapes[] = {
	{
		.key = "h200",
		.name = "TraceSmith Virtual GPU (H200 shape)",
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
		.key = "ideal",
		.name = "TraceSmith Virtual GPU (ideal shape)",
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

static int clock_parse(const char **at, struct ts_vgpu_spec *spec, char *message,
		       size_t message_bytes)
{
	size_t n = strcspn(*at, ",");
	bool host = n == 10 && !memcmp(*at, "clock=host", n);

	if (!host && (n != 11 || memcmp(*at, "clock=model", n))) {
		snprintf(message, message_bytes,
			 "virtual GPU spec: '%.*s' is neither clock=model nor clock=host",
			 (int)(n < 64 ? n : 64), *at);
		return -EINVAL;
	}
	spec->host_clock = host;
	*at += n;
	return 0;
}

int ts_vgpu_spec_parse(const char *text, struct ts_vgpu_spec *ret_spec, char *message,
		       size_t message_bytes)
{
	struct ts_vgpu_spec spec = {0};
	const char *at = text && *text ? text : TS_VGPU_SPEC_DEFAULT;
	int r;

	for (;;) {
		size_t n = strcspn(at, ":,");
		const struct ts_vgpu_shape *shape = shape_find(at, n);
		unsigned long count = 1;

		if (!strncmp(at, "clock=", 6)) {
			r = clock_parse(&at, &spec, message, message_bytes);
			if (r)
				return r;
			if (!*at)
				break;
			at++;
			continue;
		}
		if (!shape) {
			snprintf(message, message_bytes,
				 "virtual GPU spec: no shape '%.*s' (there are h200, small, ideal)",
				 (int)(n < 64 ? n : 64), at);
			return -EINVAL;
		}
		at += n;
		if (*at == ':') {
			char *end;

			at++;
			/* strtoul() would take signs and blanks. */
			count = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : 0;
			if (!count || count > TS_VGPU_MAX_DEVICES || (*end && *end != ',')) {
				snprintf(
					message, message_bytes,
					"virtual GPU spec: '%.32s' is not a count of devices from 1 to %d",
					at, TS_VGPU_MAX_DEVICES);
				return -EINVAL;
			}
			at = end;
		}
		if (spec.n_devices + count > TS_VGPU_MAX_DEVICES) {
			snprintf(message, message_bytes, "virtual GPU spec: more than %d devices",
				 TS_VGPU_MAX_DEVICES);
			return -EINVAL;
		}
		while (count--)
			spec.shapes[spec.n_devices++] = shape;
		if (!*at)
			break;
		at++;
	}
	if (!spec.n_devices)
		spec.shapes[spec.n_devices++] =
			shape_find(TS_VGPU_SPEC_DEFAULT, strlen(TS_VGPU_SPEC_DEFAULT));
	*ret_spec = spec;
	return 0;
}
