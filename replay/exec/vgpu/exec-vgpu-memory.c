/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual GPU's memory: allocations, copies, fills and host writes. exec-vgpu.c has these
 * functions in its table.
 *
 * The device treats an unknown address as a host address of this process. So this module passes
 * only addresses that lie in an allocation, to the last byte, or in its own buffers. These buffers
 * lie where the program had no memory.
 */
#include <sys/mman.h>

#include "replay/exec/vgpu/exec-vgpu-internal.h"

#define STAGING_TRIES 64u

int ts_exec_vgpu_place(struct vgpu_state *state, uint32_t context, uint64_t address, uint64_t bytes,
		       const struct ts_exec_io *io)
{
	const struct ts_exec_allocation one = {.start = address,
					       .bytes = bytes,
					       .at = address,
					       .context = context};
	int r;

	r = ts_vgpu_alloc_at(context_at(state, context)->vgpu, address, bytes);
	if (r == TS_VGPU_E_ADDRESS)
		return ts_exec_refuse(io, "address 0x%llx is in use or invalid",
				      (unsigned long long)address);
	r = ts_exec_vgpu_result(state, io, r);
	if (r)
		return r;
	r = ts_exec_allocations_add(&state->allocations, &one);
	if (r)
		ts_vgpu_free_memory(context_at(state, context)->vgpu, address);
	return r;
}

int ts_exec_vgpu_check_alloc(struct vgpu_state *state, uint64_t address, uint64_t bytes,
			     const struct ts_row_operation *operation)
{
	const uint32_t flags = operation ? operation->flags : 0;
	uint32_t check = 0;

	/*
	 * Variables have an initial value, and the host may have written memory that it can access.
	 */
	if (!operation || (flags & (TS_OPERATION_MEMORY_PINNED | TS_OPERATION_MEMORY_MANAGED)))
		check |= TS_CHECK_ALLOC_WRITTEN;
	if (flags & TS_OPERATION_MEMORY_PINNED)
		check |= TS_CHECK_ALLOC_PINNED;
	if (flags & TS_OPERATION_MEMORY_MANAGED)
		check |= TS_CHECK_ALLOC_MANAGED;
	if (flags & TS_OPERATION_MEMORY_MAPPED)
		check |= TS_CHECK_ALLOC_MAPPED;
	return state->check ? ts_check_alloc(state->check, address, bytes, check) : 0;
}

void ts_exec_vgpu_wait(struct vgpu_state *state)
{
	for (uint32_t i = 0; i < state->contexts.n; i++)
		if (context_at(state, i)->vgpu)
			(void)ts_vgpu_context_synchronize(context_at(state, i)->vgpu);
}

int ts_exec_vgpu_unplace(struct vgpu_state *state, uint64_t address)
{
	size_t i = ts_exec_allocations_find(&state->allocations, address, 0);
	uint32_t context;

	if (i == SIZE_MAX || state->allocations.all[i].start != address)
		return TS_VGPU_E_NOT_OWNER;
	context = state->allocations.all[i].context;
	ts_exec_allocations_remove(&state->allocations, i);
	if (state->check)
		ts_check_release(state->check, address);
	ts_exec_vgpu_wait(state);
	return ts_vgpu_free_memory(context_at(state, context)->vgpu, address);
}

int ts_exec_vgpu_alloc(void *userdata, const struct ts_row_operation *operation,
		       const struct ts_exec_io *io)
{
	/*
	 * A capture does not record which devices may access mapped memory and memory of pools
	 * (cuMemSetAccess(), cuMemPoolSetAccess()). In a replay all devices may access them.
	 */
	const uint32_t shared = TS_OPERATION_MEMORY_PINNED | TS_OPERATION_MEMORY_MANAGED |
				TS_OPERATION_MEMORY_MAPPED | TS_OPERATION_ASYNC;
	const uint32_t all = (1u << TS_VGPU_MAX_DEVICES) - 1;
	struct vgpu_state *state = userdata;
	uint32_t context;
	int r = ts_exec_vgpu_context(state, operation, io, &context);

	r = r ?: ts_exec_vgpu_place(state, context, operation->dst, operation->bytes, io);
	r = r ?: ts_exec_vgpu_check_alloc(state, operation->dst, operation->bytes, operation);
	if (!r && (operation->flags & shared))
		ts_vgpu_share(state->vgpu, operation->dst, all, all);
	return r;
}

int ts_exec_vgpu_free(void *userdata, const struct ts_row_operation *operation,
		      const struct ts_exec_io *io)
{
	struct vgpu_state *state = userdata;

	return ts_exec_vgpu_result(state, io, ts_exec_vgpu_unplace(state, operation->dst));
}

/*
 * Returns the number of bytes from the address to the end of its allocation; 0: no allocation
 * contains the address.
 */
static uint64_t bytes_from(const struct vgpu_state *state, uint64_t address)
{
	size_t i = ts_exec_allocations_find(&state->allocations, address, 1);
	const struct ts_exec_allocation *one = i == SIZE_MAX ? NULL : &state->allocations.all[i];

	return one ? one->start + one->bytes - address : 0;
}

/*
 * Refuses a range that does not lie in the program's allocations. `is_row`: the range has no gaps,
 * so it may span adjacent mappings.
 */
static int check_reach(struct vgpu_state *state, const struct ts_exec_io *io, uint64_t address,
		       uint64_t extent, bool is_row)
{
	uint64_t at = address, left = extent, n;

	if (ts_exec_allocations_find(&state->allocations, address, extent) != SIZE_MAX)
		return 0;
	while (is_row && left && (n = bytes_from(state, at))) {
		n = n < left ? n : left;
		at += n;
		left -= n;
	}
	if (is_row && !left)
		return 0;
	return ts_exec_refuse(io, "address 0x%llx, %llu bytes: outside of allocated memory",
			      (unsigned long long)address, (unsigned long long)extent);
}

/* Maps the staging buffer at addresses where the program had no memory. */
static int stage(struct vgpu_state *state, size_t bytes)
{
	void *tried[STAGING_TRIES];
	size_t n = 0;

	if (bytes <= state->staging_bytes)
		return 0;
	if (state->staging)
		munmap(ts_take_ptr(state->staging), state->staging_bytes);
	state->staging_bytes = 0;
	while (n < STAGING_TRIES) {
		void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (at == MAP_FAILED)
			break;
		if (ts_exec_layout_is_clear(&state->layout, (uint64_t)(uintptr_t)at, bytes)) {
			state->staging = at;
			state->staging_bytes = bytes;
			break;
		}
		tried[n++] = at;
	}
	while (n)
		munmap(tried[--n], bytes);
	return state->staging ? 0 : -ENOMEM;
}

/*
 * Finds an address by which the device can access host bytes: `bytes` itself, or the staging buffer
 * if the program has memory at the address of `bytes`.
 */
static int host_side(struct vgpu_state *state, const uint8_t *bytes, size_t n,
		     uint64_t *ret_address)
{
	int r;

	*ret_address = (uint64_t)(uintptr_t)bytes;
	if (ts_exec_layout_is_clear(&state->layout, *ret_address, n))
		return 0;
	r = stage(state, n);
	*ret_address = (uint64_t)(uintptr_t)state->staging;
	return r;
}

/* Splits a row that spans several mappings into several copies. */
static int copy_pieces(struct vgpu_state *state, const struct ts_exec_io *io,
		       struct ts_vgpu_stream *stream, struct ts_vgpu_copy copy, bool is_row)
{
	uint64_t left = copy.width, src, dst;
	int r;

	do {
		src = is_row ? bytes_from(state, copy.src) : 0;
		dst = is_row ? bytes_from(state, copy.dst) : 0;
		/* bytes_from() returns 0 for the executor's own buffer, which is contiguous. */
		copy.width = src && src < left ? src : left;
		copy.width = dst && dst < copy.width ? dst : copy.width;
		r = ts_exec_vgpu_result(state, io, ts_vgpu_copy(stream, &copy));
		left -= copy.width;
		copy.src += copy.width;
		copy.dst += copy.width;
	} while (!r && left);
	return r;
}

int ts_exec_vgpu_copy(void *userdata, const struct ts_row_operation *operation,
		      const struct ts_exec_io *io)
{
	struct vgpu_state *state = userdata;
	uint64_t width = operation->bytes, height = operation->height, extent;
	struct ts_vgpu_copy copy = {
		.src = operation->src,
		.dst = operation->dst,
		.width = width,
		.height = height,
		.depth = operation->depth,
		.src_pitch = operation->src_pitch,
		.dst_pitch = operation->dst_pitch,
		.src_slice = operation->src_slice,
		.dst_slice = operation->dst_slice,
		/* A copy to the host is complete when this function returns. */
		.async = !(operation->flags & TS_OPERATION_DST_HOST),
	};
	const bool is_row = height <= 1 && operation->depth <= 1;
	struct stream stream;
	int r = ts_exec_vgpu_stream(state, operation, io, &stream);

	if (!r && io->content) {
		r = host_side(state, io->content->bytes, io->content->n, &copy.src);
		if (!r && copy.src != (uint64_t)(uintptr_t)io->content->bytes)
			memcpy(state->staging, io->content->bytes, io->content->n);
		copy.src_pitch = width;
		copy.src_slice = width * height;
	} else if (!r) {
		r = ts_exec_extent(operation, width, operation->depth, operation->src_pitch,
				   operation->src_slice, &extent)
			    ? check_reach(state, io, operation->src, extent, is_row)
			    : ts_exec_refuse(io, "the sizes or pitches of the operation are "
						 "invalid");
	}
	if (!r && io->out) {
		r = host_side(state, io->out, io->out_bytes, &copy.dst);
		copy.dst_pitch = width;
		copy.dst_slice = width * height;
	} else if (!r) {
		r = ts_exec_extent(operation, width, operation->depth, operation->dst_pitch,
				   operation->dst_slice, &extent)
			    ? check_reach(state, io, operation->dst, extent, is_row)
			    : ts_exec_refuse(io, "the sizes or pitches of the operation are "
						 "invalid");
	}
	r = r ?: copy_pieces(state, io, stream.vgpu, copy, is_row);
	if (!r && io->out && copy.dst != (uint64_t)(uintptr_t)io->out)
		memcpy(io->out, state->staging, io->out_bytes);
	return r;
}

int ts_exec_vgpu_fill(void *userdata, const struct ts_row_operation *operation,
		      const struct ts_exec_io *io)
{
	struct vgpu_state *state = userdata;
	struct ts_vgpu_fill fill = {
		.dst = operation->dst,
		.value = (uint32_t)operation->value,
		.element_bytes = (uint32_t)operation->src,
		.width = operation->bytes,
		.height = operation->height,
		.pitch = operation->dst_pitch,
		.async = true,
	};
	uint64_t width, extent;
	struct stream stream;
	int r = ts_exec_vgpu_stream(state, operation, io, &stream);

	if (r)
		return r;
	if (!ts_exec_fill_extent(operation, &width, &extent))
		return ts_exec_refuse(io, "the sizes or pitches of the operation are invalid");
	r = check_reach(state, io, operation->dst, extent, operation->height <= 1);
	while (!r && fill.width) {
		uint64_t n = bytes_from(state, fill.dst) / fill.element_bytes;
		const uint64_t rest = fill.width - (n && n < fill.width ? n : fill.width);

		/* Splits a row that spans several mappings into several fills. */
		if (operation->height <= 1)
			fill.width -= rest;
		r = ts_exec_vgpu_result(state, io, ts_vgpu_fill(stream.vgpu, &fill));
		fill.dst += fill.width * fill.element_bytes;
		fill.width = operation->height <= 1 ? rest : 0;
	}
	return r;
}

int ts_exec_vgpu_host_write(void *userdata, const struct ts_row_operation *operation,
			    const struct ts_exec_io *io)
{
	struct vgpu_state *state = userdata;
	void *to;
	int r;

	if (!io->content)
		return ts_exec_refuse(io, "the trace lacks the bytes that the host wrote");
	r = check_reach(state, io, operation->dst, io->content->n, false);
	r = r
		    ?: ts_exec_vgpu_result(state, io,
					   ts_vgpu_resolve(state->vgpu, operation->dst,
							   io->content->n, &to));
	/*
	 * In the program, the host wrote this memory while no kernel accessed it, so the write
	 * needs no stream.
	 */
	if (!r)
		memcpy(to, io->content->bytes, io->content->n);
	return r;
}

int ts_exec_vgpu_memory(void *userdata,
			int (*each)(void *userdata, uint64_t address, const uint8_t *bytes,
				    uint64_t n_bytes),
			void *each_userdata)
{
	struct vgpu_state *state = userdata;
	int r = 0;

	for (size_t i = 0; !r && i < state->allocations.n; i++) {
		const struct ts_exec_allocation *one = &state->allocations.all[i];
		void *bytes;

		if (!ts_vgpu_resolve(state->vgpu, one->start, one->bytes, &bytes))
			r = each(each_userdata, one->start, bytes, one->bytes);
	}
	return r;
}

const uint8_t *ts_exec_vgpu_bytes(void *userdata, uint64_t address, uint64_t n_bytes)
{
	struct vgpu_state *state = userdata;
	void *bytes;

	if (ts_exec_allocations_find(&state->allocations, address, n_bytes) == SIZE_MAX ||
	    ts_vgpu_resolve(state->vgpu, address, n_bytes, &bytes))
		return NULL;
	return bytes;
}
