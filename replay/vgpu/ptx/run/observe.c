// SPDX-License-Identifier: Apache-2.0
/*
 * Observation of kernels (observe.h): in an observed image, instructions that access memory or
 * order threads call the functions here. These functions report to the observer first and then call
 * the original function. Other images contain no calls to this file. exec-vgpu-module.c in
 * replay/exec observes an image.
 */
#include <errno.h>

#include "replay/vgpu/ptx/lanes/mem.h"

struct ts_ptx_observed_family {
	enum ts_ptx_family first, last;
	ts_ptx_fn fn;
};

static const struct ts_ptx_observer *observer_of(const struct ts_ptx_warp *w)
{
	return w->worker->observer;
}

/* Returns the flags of an access besides read and write. */
static uint32_t access_flags(const struct ts_ptx_warp *w, const struct ts_ptx_insn *in, bool strong)
{
	const struct ts_ptx_code *code = ts_ptx_frame_of(w)->code;

	return (strong ? TS_PTX_ACCESS_STRONG : 0) |
	       (code->origins[in->index].releases ? TS_PTX_ACCESS_RELEASE : 0);
}

static uint32_t element_bytes_of(const struct ts_ptx_warp *w, const struct ts_ptx_insn *in)
{
	return ts_ptx_frame_of(w)->code->observed_bytes[in->index];
}

/* Reports the access of each element. Elements that the program discards are not reported. */
static void observe_elements(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m,
			     uint32_t element_bytes, uint8_t *const host[TS_PTX_LANES])
{
	uint64_t address[TS_PTX_LANES], at[TS_PTX_LANES];
	const uint32_t *refs = in->n > 1 ? ts_ptx_operands(w, in) : NULL;
	uint8_t *bytes[TS_PTX_LANES] = {0};

	ts_ptx_lane_addresses(w, in, address);
	for (uint32_t k = 0, end; k < in->n; k = end + 1) {
		for (end = k; end < in->n && !(refs && refs[end] == TS_PTX_NONE); end++)
			;
		if (end == k)
			continue;
		for (uint32_t i = 0; i < TS_PTX_LANES; i++) {
			at[i] = address[i] + k * element_bytes;
			if (m >> i & 1)
				bytes[i] = host[i] + k * element_bytes;
		}
		ts_ptx_observed(w, in, m, at, (end - k) * element_bytes, false, bytes);
	}
}

static int observe_load(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	struct ts_ptx_worker *worker = w->worker;
	struct ts_ptx_stats stats = worker->stats;
	uint32_t element_bytes = element_bytes_of(w, in) & 15;
	uint8_t *host[TS_PTX_LANES];
	int r;

	if (!worker->observer)
		return in->inner(w, in, m);
	r = ts_ptx_addresses(w, in, m, element_bytes * in->n, false, host);
	if (!r) {
		worker->observing = TS_PTX_OBSERVING | access_flags(w, in, in->flags & INSN_SYNC);
		observe_elements(w, in, m, element_bytes, host);
		worker->observing = 0;
	}
	/* The instruction itself counts the bytes later. */
	worker->stats = stats;
	return r ? r : in->inner(w, in, m);
}

static int observe_store(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	struct ts_ptx_worker *worker = w->worker;
	struct ts_ptx_stats stats = worker->stats;
	uint32_t bytes = element_bytes_of(w, in) & 15;
	uint32_t slot_bytes = element_bytes_of(w, in) & 16 ? 8 : 4;
	uint8_t values[TS_PTX_LANES][TS_PTX_OBSERVED_BYTES], *host[TS_PTX_LANES];
	int r;

	if (!worker->observer)
		return in->inner(w, in, m);
	for (uint32_t k = 0; k < in->n; k++) {
		const uint8_t *from =
			ts_ptx_slot(w, in->n == 1 ? in->b : ts_ptx_operands(w, in)[k]);

		for (uint32_t i = 0; i < TS_PTX_LANES; i++)
			memcpy(values[i] + (size_t)k * bytes, from + (size_t)i * slot_bytes, bytes);
	}
	worker->observed_values = (const uint8_t(*)[TS_PTX_OBSERVED_BYTES])values;
	worker->observing = TS_PTX_OBSERVING | access_flags(w, in, in->flags & INSN_SYNC);
	r = ts_ptx_addresses(w, in, m, bytes * in->n, true, host);
	worker->observing = 0;
	worker->observed_values = NULL;
	worker->stats = stats;
	return r ? r : in->inner(w, in, m);
}

static int observe_with(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m,
			uint32_t flags, bool atomic)
{
	int r;

	if (!w->worker->observer)
		return in->inner(w, in, m);
	w->worker->observing = TS_PTX_OBSERVING | flags;
	w->worker->observed_atomic = atomic;
	r = in->inner(w, in, m);
	w->worker->observing = 0;
	w->worker->observed_atomic = false;
	return r;
}

/* Runs an observed copy or matrix instruction, which reports each access itself. */
static int observe_plain(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	return observe_with(w, in, m, 0, false);
}

static int observe_atomic(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	return observe_with(w, in, m, access_flags(w, in, true), true);
}

/* Runs an observed mbarrier instruction. In PTX, arrivals release and waits acquire by default. */
static int observe_mbarrier(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	bool first = in->aux == TS_PTX_MBARRIER_INIT;

	return observe_with(w, in, m, TS_PTX_ACCESS_STRONG | TS_PTX_ACCESS_RELEASE, !first);
}

static int observe_fence(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	const struct ts_ptx_observer *observer = observer_of(w);

	if (observer)
		observer->fence(observer->userdata, w->block->observed, w->index, m);
	return in->inner(w, in, m);
}

static int observe_warp_barrier(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	const struct ts_ptx_observer *observer = observer_of(w);

	(void)in;
	if (observer)
		observer->warp_sync(observer->userdata, w->block->observed, w->index, m);
	return 0;
}

static const struct ts_ptx_observed_family ts_ptx_families[] = {
	{F_LD, F_LD64, observe_load},
	{F_ST, F_ST64, observe_store},
	{F_FENCE, F_FENCE, observe_fence},
	{F_CP_ASYNC, F_CP_ASYNC, observe_plain},
	{F_CP_BULK, F_CP_BULK, observe_plain},
	{F_WMMA_LOAD, F_STMATRIX, observe_plain},
	{F_ATOM, F_ATOM_VECTOR, observe_atomic},
	{F_MBARRIER, F_MBARRIER, observe_mbarrier},
};

/*
 * Replaces the instruction's function. *ret_bytes: size of an element, plus 16 if it lies in 64-bit
 * slots.
 */
static void observe_insn(const struct ts_ptx_optable *ops, struct ts_ptx_insn *in,
			 uint8_t *ret_bytes)
{
	if (in->kind == KIND_WARP_BARRIER) {
		in->inner = in->fn;
		in->fn = observe_warp_barrier;
		return;
	}
	for (size_t i = 0; i < sizeof(ts_ptx_families) / sizeof(ts_ptx_families[0]); i++) {
		const struct ts_ptx_observed_family *family = &ts_ptx_families[i];

		for (uint32_t f = family->first; f <= (uint32_t)family->last; f++)
			for (uint32_t type = 0; type < TY_N; type++) {
				if (!in->fn || ops->fn[f][type] != in->fn)
					continue;
				*ret_bytes = (uint8_t)(ts_ptx_types[type].bytes |
						       (f == F_ST64 ? 16 : 0));
				in->inner = in->fn;
				in->fn = family->fn;
				return;
			}
	}
}

int ts_ptx_image_observe(struct ts_ptx_image *image)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < image->n_codes; i++) {
		struct ts_ptx_code *code = &image->codes[i];

		if (code->observed_bytes)
			return 0;
		code->observed_bytes = ts_ptx_arena_get(&image->arena, code->n_insns + 1u);
		if (!code->observed_bytes)
			return -ENOMEM;
		code->first_place = n;
		n += code->n_insns;
		for (uint32_t k = 0; k < code->n_insns; k++)
			observe_insn(image->ops, &code->insns[k], &code->observed_bytes[k]);
	}
	return 0;
}

void ts_ptx_image_site(const struct ts_ptx_image *image, uint32_t place,
		       struct ts_ptx_site *ret_site)
{
	*ret_site = (struct ts_ptx_site){.function = ""};
	for (uint32_t i = 0; i < image->n_codes; i++) {
		const struct ts_ptx_code *code = &image->codes[i];
		const struct ts_ptx_origin *origin;

		if (place - code->first_place >= code->n_insns)
			continue;
		origin = &code->origins[place - code->first_place];
		ret_site->function = code->name;
		ret_site->line = origin->line;
		ret_site->source_line = origin->source_line;
		for (const struct ts_ptx_file *file = code->files; file && origin->source_line;
		     file = file->next)
			if (file->number == origin->source_file)
				ret_site->source_file = file->path;
		return;
	}
}

const struct ts_ptx_image *ts_ptx_kernel_image(const struct ts_ptx_kernel *kernel)
{
	return kernel->image;
}
