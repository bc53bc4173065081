/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory on a real device: allocations, copies, fills, host writes and read-back. exec-cuda.c has
 * these functions in its table; they call exec-cuda-place.c and exec-cuda-stream.c.
 *
 * All memory is device memory, even memory that the program allocated on the host: the host of the
 * replay does not read it. If an allocation cannot have its captured address, it lies elsewhere,
 * and look-ups use the captured address. An aligned word of a kernel argument that holds such a
 * captured address is changed to the real address. Words in data copied to the device are not
 * changed, only counted.
 */
#include "replay/exec/cuda/exec-cuda-internal.h"

#define STAGING_BYTES (UINT64_C(16) << 20)
#define MAX_SLICES    65536u

static int find(const struct cuda_state *state, const struct ts_exec_io *io, uint64_t address,
		uint64_t bytes, const struct ts_exec_allocation **ret_one)
{
	size_t i = ts_exec_allocations_find(&state->allocations, address, bytes);

	if (i == SIZE_MAX)
		return ts_exec_refuse(io, "address 0x%llx, %llu bytes: outside of allocated memory",
				      (unsigned long long)address, (unsigned long long)bytes);
	*ret_one = &state->allocations.all[i];
	return 0;
}

int ts_exec_cuda_reach(const struct cuda_state *state, const struct ts_exec_io *io,
		       uint64_t address, uint64_t bytes, uint64_t *ret_at)
{
	const struct ts_exec_allocation *one = NULL;
	int r = find(state, io, address, bytes, &one);

	if (!r)
		*ret_at = one->at + (address - one->start);
	return r;
}

/*
 * Returns the moved allocation that a word may point into, or to whose end it may point. If another
 * allocation begins at that end, returns this other allocation if it was moved. NULL: there is no
 * such allocation.
 */
static const struct ts_exec_allocation *moved_at(const struct cuda_state *state, uint64_t word)
{
	size_t i;

	if (word < state->moved_start || word > state->moved_end)
		return NULL;
	i = ts_exec_allocations_find(&state->allocations, word, 0);
	return i == SIZE_MAX || state->allocations.all[i].at == state->allocations.all[i].start
		       ? NULL
		       : &state->allocations.all[i];
}

void ts_exec_cuda_translate(struct cuda_state *state, uint8_t *words, size_t n_bytes)
{
	for (size_t i = 0; state->n_moved && i + 8 <= n_bytes; i += 8) {
		const struct ts_exec_allocation *one;
		uint64_t word;

		memcpy(&word, words + i, 8);
		one = moved_at(state, word);
		if (!one)
			continue;
		word = one->at + (word - one->start);
		memcpy(words + i, &word, 8);
		state->n_pointers_moved++;
	}
}

/* Counts the pointers to moved allocations in data for the device. The data stays unchanged. */
static void count_words(struct cuda_state *state, const struct ts_exec_content *content)
{
	for (size_t i = 0; state->n_moved && i + 8 <= content->n; i += 8) {
		uint64_t word;

		memcpy(&word, content->bytes + i, 8);
		state->n_words_left += moved_at(state, word) != NULL;
	}
}

void ts_exec_cuda_moved(struct cuda_state *state, const struct ts_exec_allocation *one)
{
	if (!state->n_moved || one->start < state->moved_start)
		state->moved_start = one->start;
	if (!state->n_moved || one->start + one->bytes > state->moved_end)
		state->moved_end = one->start + one->bytes;
	state->n_moved++;
}

static int clear(struct cuda_state *state, const struct ts_exec_io *io, uint32_t context,
		 uint64_t at, uint64_t bytes)
{
	const struct cuda_stream own = {cuda_context_at(state, context)->own, context};
	int r = ts_exec_cuda_result(state, io,
				    state->driver.fill_8(at, bytes, 0, bytes, 1, own.handle));

	return r ?: ts_exec_cuda_wait_stream(state, io, &own);
}

/* Frees the allocation's memory, unless it is a variable, which its module frees. */
static void give_back(struct cuda_state *state, const struct ts_exec_allocation *one)
{
	if (one->at == one->start) {
		if (!one->owner)
			ts_exec_cuda_displace(state, one->start, one->bytes);
		return;
	}
	state->n_moved--;
	if (!one->owner)
		(void)state->driver.free(one->at);
}

void ts_exec_cuda_forget(struct cuda_state *state, uint32_t context, uint32_t owner)
{
	for (size_t i = state->allocations.n; i-- > 0;) {
		const struct ts_exec_allocation *one = &state->allocations.all[i];

		if (one->context != context || (owner && one->owner != owner))
			continue;
		give_back(state, one);
		ts_exec_allocations_remove(&state->allocations, i);
	}
}

int ts_exec_cuda_alloc(void *userdata, const struct ts_row_operation *operation,
		       const struct ts_exec_io *io)
{
	struct cuda_state *state = userdata;
	struct ts_exec_allocation one = {.start = operation->dst,
					 .bytes = operation->bytes,
					 .at = operation->dst};
	const char *why;
	uint32_t device;
	int r = ts_exec_cuda_context(state, operation, io, &one.context);

	if (r)
		return r;
	if (!one.bytes || one.start > UINT64_MAX - one.bytes ||
	    ts_exec_allocations_overlap(&state->allocations, one.start, one.bytes))
		return ts_exec_refuse(io, "address 0x%llx is in use or invalid",
				      (unsigned long long)one.start);
	device = cuda_context_at(state, one.context)->device;
	if (one.bytes > state->memory_bytes[device])
		return ts_exec_refuse(io, "the device is out of memory");
	r = ts_exec_cuda_place(state, io, device, one.start, one.bytes, &why);
	if (!r && why) {
		r = ts_exec_cuda_result(state, io, state->driver.alloc(&one.at, one.bytes));
		if (!r)
			ts_exec_cuda_note(state,
					  "the allocation at 0x%llx (%llu bytes) is at 0x%llx in "
					  "the replay: %s",
					  (unsigned long long)one.start,
					  (unsigned long long)one.bytes, (unsigned long long)one.at,
					  why);
	}
	if (r)
		return r;
	if (one.at != one.start)
		ts_exec_cuda_moved(state, &one);
	r = ts_exec_allocations_add(&state->allocations, &one);
	if (r)
		give_back(state, &one);
	return r ?: clear(state, io, one.context, one.at, one.bytes);
}

int ts_exec_cuda_free(void *userdata, const struct ts_row_operation *operation,
		      const struct ts_exec_io *io)
{
	struct cuda_state *state = userdata;
	size_t i = ts_exec_allocations_find(&state->allocations, operation->dst, 0);
	struct ts_exec_allocation one;
	int r;

	if (i == SIZE_MAX || state->allocations.all[i].start != operation->dst ||
	    state->allocations.all[i].owner)
		return ts_exec_refuse(io, "the address to free is not the start of an allocation");
	/* Waits for all work, because any context and device may still access the memory. */
	r = ts_exec_cuda_wait(state, io);
	one = state->allocations.all[i];
	r = r ?: ts_exec_cuda_enter(state, one.context, io);
	if (r)
		return r;
	ts_exec_allocations_remove(&state->allocations, i);
	give_back(state, &one);
	return 0;
}

/* ---- copies ---- */

/* One side of a copy: address and layout of the rows. */
struct side {
	uint64_t at, pitch, slice;
};

static bool is_gapless(const struct ts_row_operation *operation, const struct side *side)
{
	return (operation->height == 1 || side->pitch == operation->bytes) &&
	       (operation->depth == 1 || side->slice == operation->bytes * operation->height);
}

static int copy_plane(struct cuda_state *state, const struct ts_exec_io *io,
		      const struct side *from, const struct side *to, uint64_t width,
		      uint64_t height, void *stream)
{
	const struct ts_cu_memcpy_2d copy = {
		.src_memory_type = TS_CU_MEMORYTYPE_UNIFIED,
		.src_device = from->at,
		.src_pitch = from->pitch,
		.dst_memory_type = TS_CU_MEMORYTYPE_UNIFIED,
		.dst_device = to->at,
		.dst_pitch = to->pitch,
		.width_in_bytes = width,
		.height = height,
	};

	return ts_exec_cuda_result(state, io, state->driver.copy_2d(&copy, stream));
}

static bool is_box(const struct side *side)
{
	return side->pitch && side->slice % side->pitch == 0;
}

static int copy_box(struct cuda_state *state, const struct ts_exec_io *io, const struct side *from,
		    const struct side *to, const struct ts_row_operation *operation, void *stream)
{
	const struct ts_cu_memcpy_3d copy = {
		.src_memory_type = TS_CU_MEMORYTYPE_UNIFIED,
		.src_device = from->at,
		.src_pitch = from->pitch,
		.src_height = from->slice / from->pitch,
		.dst_memory_type = TS_CU_MEMORYTYPE_UNIFIED,
		.dst_device = to->at,
		.dst_pitch = to->pitch,
		.dst_height = to->slice / to->pitch,
		.width_in_bytes = operation->bytes,
		.height = operation->height,
		.depth = operation->depth,
	};

	return ts_exec_cuda_result(state, io, state->driver.copy_3d(&copy, stream));
}

static int copy_all(struct cuda_state *state, const struct ts_exec_io *io, struct side from,
		    struct side to, const struct ts_row_operation *operation, void *stream)
{
	const uint64_t width = operation->bytes, height = operation->height;
	int r = 0;

	if (is_gapless(operation, &from) && is_gapless(operation, &to))
		return ts_exec_cuda_result(state, io,
					   state->driver.copy(to.at, from.at,
							      width * height * operation->depth,
							      stream));
	if (operation->depth == 1)
		return copy_plane(state, io, &from, &to, width, height, stream);
	if (height == 1) {
		from.pitch = from.slice;
		to.pitch = to.slice;
		if (from.pitch >= width && to.pitch >= width)
			return copy_plane(state, io, &from, &to, width, operation->depth, stream);
	} else if (is_box(&from) && is_box(&to) && from.slice >= from.pitch * height &&
		   to.slice >= to.pitch * height) {
		return copy_box(state, io, &from, &to, operation, stream);
	}
	if (operation->depth > MAX_SLICES)
		return ts_exec_refuse(io, "the driver cannot copy this layout of slices");
	for (uint64_t z = 0; !r && z < operation->depth; z++) {
		struct side row = from, into = to;

		row.at += z * from.slice;
		into.at += z * to.slice;
		r = copy_plane(state, io, &row, &into, width, height, stream);
	}
	return r;
}

/*
 * Copies host data to the pinned staging buffer, which stays valid until the device reads it. NULL:
 * no room, or *ret_r is an error.
 */
static uint8_t *stage(struct cuda_state *state, const struct ts_exec_io *io, uint32_t context,
		      const struct ts_exec_content *content, int *ret_r)
{
	struct cuda_context *one = cuda_context_at(state, context);
	uint8_t *at;
	void *made;

	*ret_r = 0;
	if (content->n > STAGING_BYTES)
		return NULL;
	if (!one->staging) {
		if (state->driver.host_alloc(&made, STAGING_BYTES, 0))
			return NULL;
		one->staging = made;
	}
	if (content->n > STAGING_BYTES - one->n_staged)
		*ret_r = ts_exec_cuda_wait_context(state, io, context);
	if (*ret_r)
		return NULL;
	at = one->staging + one->n_staged;
	memcpy(at, content->bytes, content->n);
	one->n_staged += content->n;
	return at;
}

static int copy_in(struct cuda_state *state, const struct ts_exec_io *io, const struct side *to,
		   const struct ts_row_operation *operation, const struct cuda_stream *stream)
{
	struct side from = {.pitch = operation->bytes,
			    .slice = operation->bytes * operation->height};
	const uint8_t *staged;
	int r;

	count_words(state, io->content);
	staged = stage(state, io, stream->context, io->content, &r);
	from.at = (uint64_t)(uintptr_t)(staged ? staged : io->content->bytes);
	/*
	 * The data is not in pinned memory, so the driver's copy call would wait for the stream. As
	 * in copy_out(), wait here first.
	 */
	if (!r && !staged)
		r = ts_exec_cuda_wait_stream(state, io, stream);
	r = r ?: copy_all(state, io, from, *to, operation, stream->handle);
	/* Without staging, the device could read the data after the caller has freed it. */
	return r || staged ? r : ts_exec_cuda_wait_stream(state, io, stream);
}

static int copy_out(struct cuda_state *state, const struct ts_exec_io *io, const struct side *from,
		    const struct ts_row_operation *operation, const struct cuda_stream *stream)
{
	const struct side to = {.at = (uint64_t)(uintptr_t)io->out,
				.pitch = operation->bytes,
				.slice = operation->bytes * operation->height};
	/* Waits here, because this wait can be interrupted; the driver's own wait cannot. */
	int r = ts_exec_cuda_wait_stream(state, io, stream);

	r = r ?: copy_all(state, io, *from, to, operation, stream->handle);
	return r ?: ts_exec_cuda_wait_stream(state, io, stream);
}

int ts_exec_cuda_copy(void *userdata, const struct ts_row_operation *operation,
		      const struct ts_exec_io *io)
{
	struct cuda_state *state = userdata;
	struct side from = {.pitch = operation->src_pitch, .slice = operation->src_slice};
	struct side to = {.pitch = operation->dst_pitch, .slice = operation->dst_slice};
	const char *senseless = "the sizes or pitches of the operation are invalid";
	struct cuda_stream stream;
	uint64_t extent;
	int r = ts_exec_cuda_stream(state, operation, io, &stream);

	if (!r && !io->content)
		r = ts_exec_extent(operation, operation->bytes, operation->depth, from.pitch,
				   from.slice, &extent)
			    ? ts_exec_cuda_reach(state, io, operation->src, extent, &from.at)
			    : ts_exec_refuse(io, "%s", senseless);
	if (!r && !io->out)
		r = ts_exec_extent(operation, operation->bytes, operation->depth, to.pitch,
				   to.slice, &extent)
			    ? ts_exec_cuda_reach(state, io, operation->dst, extent, &to.at)
			    : ts_exec_refuse(io, "%s", senseless);
	if (r)
		return r;
	if (io->content)
		return copy_in(state, io, &to, operation, &stream);
	if (io->out)
		return copy_out(state, io, &from, operation, &stream);
	return copy_all(state, io, from, to, operation, stream.handle);
}

int ts_exec_cuda_fill(void *userdata, const struct ts_row_operation *operation,
		      const struct ts_exec_io *io)
{
	struct cuda_state *state = userdata;
	const struct ts_exec_cuda_driver *driver = &state->driver;
	uint64_t width, extent, at, pitch;
	struct cuda_stream stream;
	int r = ts_exec_cuda_stream(state, operation, io, &stream);

	if (r)
		return r;
	if (!ts_exec_fill_extent(operation, &width, &extent))
		return ts_exec_refuse(io, "the sizes or pitches of the operation are invalid");
	r = ts_exec_cuda_reach(state, io, operation->dst, extent, &at);
	if (r)
		return r;
	pitch = operation->height > 1 ? operation->dst_pitch : width;
	if (operation->src == 1)
		r = driver->fill_8(at, pitch, (uint8_t)operation->value, operation->bytes,
				   operation->height, stream.handle);
	else if (operation->src == 2)
		r = driver->fill_16(at, pitch, (uint16_t)operation->value, operation->bytes,
				    operation->height, stream.handle);
	else
		r = driver->fill_32(at, pitch, (uint32_t)operation->value, operation->bytes,
				    operation->height, stream.handle);
	return ts_exec_cuda_result(state, io, r);
}

/*
 * Repeats a write by the host. In the program, the host wrote the memory without waiting for a
 * stream, so this function waits for none of the program's streams.
 */
int ts_exec_cuda_host_write(void *userdata, const struct ts_row_operation *operation,
			    const struct ts_exec_io *io)
{
	struct cuda_state *state = userdata;
	const struct ts_exec_allocation *one = NULL;
	struct cuda_stream own;
	uint64_t at;
	int r;

	if (!io->content)
		return ts_exec_refuse(io, "the trace lacks the bytes that the host wrote");
	r = find(state, io, operation->dst, io->content->n, &one);
	r = r ?: ts_exec_cuda_enter(state, one->context, io);
	if (r || !io->content->n)
		return r;
	count_words(state, io->content);
	own = (struct cuda_stream){cuda_context_at(state, one->context)->own, one->context};
	at = one->at + (operation->dst - one->start);
	r = ts_exec_cuda_result(state, io,
				state->driver.copy(at, (uint64_t)(uintptr_t)io->content->bytes,
						   io->content->n, own.handle));
	return r ?: ts_exec_cuda_wait_stream(state, io, &own);
}

/* ---- reading it back ---- */

static int read_back(struct cuda_state *state, const struct ts_exec_io *io,
		     const struct ts_exec_allocation *one, uint64_t address, uint64_t bytes)
{
	const struct cuda_stream own = {cuda_context_at(state, one->context)->own, one->context};
	int r;

	if (bytes > state->read_bytes) {
		/*
		 * free() and malloc() instead of realloc(), which would copy the old content: it is
		 * not needed and may be large.
		 */
		free(ts_take_ptr(state->read));
		state->read_bytes = 0;
		state->read = malloc(bytes);
		if (!state->read)
			return -ENOMEM;
		state->read_bytes = bytes;
	}
	r = ts_exec_cuda_enter(state, one->context, io);
	r = r
		    ?: ts_exec_cuda_result(state, io,
					   state->driver.copy((uint64_t)(uintptr_t)state->read,
							      one->at + (address - one->start),
							      bytes, own.handle));
	return r ?: ts_exec_cuda_wait_stream(state, io, &own);
}

int ts_exec_cuda_memory(void *userdata,
			int (*each)(void *userdata, uint64_t address, const uint8_t *bytes,
				    uint64_t n_bytes),
			void *each_userdata)
{
	struct cuda_state *state = userdata;
	char text[TS_EXEC_TEXT_BYTES];
	const struct ts_exec_io io = {.text = text};
	int r = 0;

	for (size_t i = 0; !r && i < state->allocations.n; i++) {
		const struct ts_exec_allocation *one = &state->allocations.all[i];

		r = read_back(state, &io, one, one->start, one->bytes);
		r = r ?: each(each_userdata, one->start, state->read, one->bytes);
	}
	return r;
}

const uint8_t *ts_exec_cuda_bytes(void *userdata, uint64_t address, uint64_t n_bytes)
{
	struct cuda_state *state = userdata;
	char text[TS_EXEC_TEXT_BYTES];
	const struct ts_exec_io io = {.text = text};
	size_t i = ts_exec_allocations_find(&state->allocations, address, n_bytes);

	if (i == SIZE_MAX || !n_bytes ||
	    read_back(state, &io, &state->allocations.all[i], address, n_bytes))
		return NULL;
	return state->read;
}
