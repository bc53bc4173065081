// SPDX-License-Identifier: Apache-2.0
/* Tests the limits of memory for kernels, and the device heap. */
#include "replay/vgpu/vgpu.h"
#include "test/unit/harness.h"

static struct ts_vgpu *machine(void)
{
	struct ts_vgpu_spec spec;
	struct ts_vgpu *vgpu;
	char message[160];

	ts_check_int(ts_vgpu_spec_parse("small", &spec, message, sizeof(message)), 0);
	ts_check_int(ts_vgpu_new(&spec, &vgpu), 0);
	return vgpu;
}

static struct ts_vgpu_context *context(struct ts_vgpu *vgpu)
{
	struct ts_vgpu_context *c;

	ts_check_int(ts_vgpu_context_new(ts_vgpu_device_at(vgpu, 0), &c), 0);
	return c;
}

static uint64_t at(const void *host)
{
	return (uint64_t)(uintptr_t)host;
}

static void check_reach(struct ts_vgpu *vgpu, struct ts_vgpu_context *c, uint64_t start,
			uint64_t bytes, uint64_t padded)
{
	struct ts_vgpu_range range;

	ts_check_int(ts_vgpu_range_of(vgpu, start + bytes, &range), TS_VGPU_E_ADDRESS);
	ts_check_int(ts_vgpu_reach(c, start + padded - 1, &range), 0);
	ts_check(range.start == start && range.bytes == padded);
	ts_check_int(ts_vgpu_reach(c, start + padded, &range), TS_VGPU_E_ADDRESS);
}

/*
 * Kernels can access the padding up to the end of the last unit; copies and pointer queries cannot.
 */
TS_TEST(padding_behind_memory)
{
	struct ts_vgpu *vgpu = machine();
	struct ts_vgpu_context *c = context(vgpu);
	uint64_t a, low = UINT64_C(1) << 40;
	struct ts_vgpu_range range;
	static char page[8192] __attribute__((aligned(4096)));
	void *host_memory;

	ts_check_int(ts_vgpu_alloc(c, 28, 0, NULL, &a), 0);
	check_reach(vgpu, c, a, 28, 512);
	ts_check_int(ts_vgpu_alloc(c, 1024, 0, NULL, &a), 0);
	check_reach(vgpu, c, a, 1024, 1024);
	ts_check_int(ts_vgpu_alloc_managed(c, 100, 0, &a), 0);
	check_reach(vgpu, c, a, 100, 512);
	ts_check_int(ts_vgpu_alloc_pinned(c, 4097, 0, &host_memory), 0);
	check_reach(vgpu, c, at(host_memory), 4097, 4608);
	ts_check_int(ts_vgpu_heap_alloc(c, 28, &a), 0);
	check_reach(vgpu, c, a, 28, 32);
	/*
	 * Registered memory may begin anywhere. Its last unit ends within its page, or where other
	 * memory begins.
	 */
	ts_check_int(ts_vgpu_register_host(c, page + 100, 10, 0), 0);
	check_reach(vgpu, c, at(page + 100), 10, 412);
	ts_check_int(ts_vgpu_register_host(c, page + 200, 4000, 0), 0);
	ts_check_int(ts_vgpu_reach(c, at(page + 150), &range), 0);
	ts_check_int(range.bytes, 100);
	ts_check_int(ts_vgpu_reach(c, at(page + 4607), &range), 0);
	ts_check_int(ts_vgpu_reach(c, at(page + 4608), &range), TS_VGPU_E_ADDRESS);
	ts_check_int(ts_vgpu_reach(c, at(page + 99), &range), TS_VGPU_E_ADDRESS);
	/* At addresses of a recorded program. */
	ts_check_int(ts_vgpu_alloc_at(c, low + 256, 28), 0);
	check_reach(vgpu, c, low + 256, 28, 256);
	ts_vgpu_free(vgpu);
}

TS_TEST(the_heap_of_kernels)
{
	struct ts_vgpu *vgpu = machine();
	struct ts_vgpu_context *a, *b;
	struct ts_vgpu_range range;
	uint64_t first, second, other, host;
	size_t bytes = 0;

	a = context(vgpu);
	b = context(vgpu);
	ts_check_int(ts_vgpu_heap_alloc(a, 100, &first), 0);
	ts_check_int(ts_vgpu_heap_alloc(a, 100, &second), 0);
	ts_check(first != second && first % 16 == 0);
	/* Each block has its own bounds, up to the end of its last unit of 16 bytes. */
	ts_check_int(ts_vgpu_reach(a, first + 99, &range), 0);
	ts_check(range.start == first && range.bytes == 112);
	ts_check(ts_vgpu_reach(a, first + 112, &range) || range.start != first);
	/* The default limit is 8 MiB, and freed memory can be allocated again. */
	ts_check(ts_vgpu_heap_alloc(a, 9 << 20, &other) != 0);
	while (!ts_vgpu_heap_alloc(a, 1 << 20, &other))
		bytes += 1 << 20;
	ts_check(bytes >= 7 << 20 && bytes <= 8 << 20);
	ts_check_int(ts_vgpu_heap_free(a, other), 0);
	ts_check_int(ts_vgpu_heap_alloc(a, 1 << 20, &other), 0);
	/*
	 * Each context has its own heap. An address that is no block is rejected, so is a second
	 * free, and so is memory of the host's allocation.
	 */
	ts_check_int(ts_vgpu_heap_alloc(b, 1 << 20, &other), 0);
	ts_check(ts_vgpu_heap_free(a, first + 16) != 0);
	ts_check_int(ts_vgpu_heap_free(a, first), 0);
	ts_check(ts_vgpu_heap_free(a, first) != 0);
	ts_check_int(ts_vgpu_alloc(a, 64, 0, NULL, &host), 0);
	ts_check(ts_vgpu_heap_free(a, host) != 0);
	ts_check(ts_vgpu_free_memory(a, second) != 0);
	ts_vgpu_context_free(a);
	/* The heap is freed with its context. */
	ts_check(ts_vgpu_range_of(vgpu, second, &range) != 0);
	ts_vgpu_context_free(b);
	ts_vgpu_free(vgpu);
}
