// SPDX-License-Identifier: Apache-2.0
/*
 * Loads and stores of every width, space and vector length, and what else deals in addresses. Naturally aligned accesses
 * of up to 8 bytes are single ones of the host's, so that volatile and relaxed accesses are the plain ones with a fence
 * where the instruction orders.
 */
#include "replay/vgpu/ptx/mem.h"

/* Watching others or being watched: what came before stays before, what follows stays after, and spinning is short. */
static inline void order(struct ts_ptx_warp *w, const struct ts_ptx_insn *in)
{
	if (!(in->flags & INSN_SYNC))
		return;
	ts_ptx_watch(w);
	atomic_thread_fence(memory_order_acq_rel);
}

#define LOAD(name, D, T)                                                                     \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)     \
	{                                                                                    \
		uint8_t *p[TS_PTX_LANES];                                                    \
		uint32_t bytes = (uint32_t)sizeof(T) * in->n;                                \
		bool flat;                                                                   \
                                                                                             \
		if (ts_ptx_resolve_lanes(w, in, m, bytes, bytes, false, p, &flat))           \
			return STOP_FAULT;                                                   \
		if (in->n == 1) {                                                            \
			D *d = ts_ptx_result(w, in);                                         \
                                                                                             \
			if (flat) {                                                          \
				const T *s = (const T *)(const void *)p[0];                  \
                                                                                             \
				TS_PTX_FOR_LANES                                             \
				d[i] = (D)s[i];                                              \
			} else {                                                             \
				for (uint32_t left = m; left; left &= left - 1) {            \
					int i = __builtin_ctz(left);                         \
                                                                                             \
					d[i] = (D) * (const volatile T *)(const void *)p[i]; \
				}                                                            \
			}                                                                    \
		} else {                                                                     \
			const uint32_t *list = ts_ptx_operands(w, in);                       \
                                                                                             \
			for (uint32_t k = 0; k < in->n; k++) {                               \
				D *d;                                                        \
                                                                                             \
				if (list[k] == TS_PTX_NONE)                                  \
					continue;                                            \
				d = ts_ptx_slot(w, list[k]);                                 \
				for (uint32_t left = m; left; left &= left - 1) {            \
					int i = __builtin_ctz(left);                         \
                                                                                             \
					d[i] = (D)((const T *)(const void *)p[i])[k];        \
				}                                                            \
			}                                                                    \
		}                                                                            \
		order(w, in);                                                                \
		return 0;                                                                    \
	}

LOAD(ld_u8, uint32_t, uint8_t)
LOAD(ld_s8, uint32_t, int8_t)
LOAD(ld_u16, uint32_t, uint16_t)
LOAD(ld_s16, uint32_t, int16_t)
LOAD(ld_u32, uint32_t, uint32_t)
LOAD(ld_u8_64, uint64_t, uint8_t)
LOAD(ld_s8_64, uint64_t, int8_t)
LOAD(ld_u16_64, uint64_t, uint16_t)
LOAD(ld_s16_64, uint64_t, int16_t)
LOAD(ld_u32_64, uint64_t, uint32_t)
LOAD(ld_s32_64, uint64_t, int32_t)
LOAD(ld_u64, uint64_t, uint64_t)

/* A store's value is operand b, or in the list where there are several. */
#define STORE(name, S, T)                                                                       \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)        \
	{                                                                                       \
		uint8_t *p[TS_PTX_LANES];                                                       \
		uint32_t bytes = (uint32_t)sizeof(T) * in->n;                                   \
		bool flat;                                                                      \
                                                                                                \
		order(w, in);                                                                   \
		if (ts_ptx_resolve_lanes(w, in, m, bytes, bytes, true, p, &flat))               \
			return STOP_FAULT;                                                      \
		if (flat && in->n == 1) {                                                       \
			const S *s = ts_ptx_slot(w, in->b);                                     \
			T *d = (T *)(void *)p[0];                                               \
                                                                                                \
			TS_PTX_FOR_LANES                                                        \
			d[i] = (T)s[i];                                                         \
			return 0;                                                               \
		}                                                                               \
		for (uint32_t k = 0; k < in->n; k++) {                                          \
			const S *s =                                                            \
				ts_ptx_slot(w, in->n == 1 ? in->b : ts_ptx_operands(w, in)[k]); \
                                                                                                \
			for (uint32_t left = m; left; left &= left - 1) {                       \
				int i = __builtin_ctz(left);                                    \
                                                                                                \
				((volatile T *)(void *)p[i])[k] = (T)s[i];                      \
			}                                                                       \
		}                                                                               \
		return 0;                                                                       \
	}

STORE(st_8, uint32_t, uint8_t)
STORE(st_16, uint32_t, uint16_t)
STORE(st_32, uint32_t, uint32_t)
STORE(st_8_64, uint64_t, uint8_t)
STORE(st_16_64, uint64_t, uint16_t)
STORE(st_32_64, uint64_t, uint32_t)
STORE(st_64, uint64_t, uint64_t)

/* A kernel's parameter at a fixed place: the same for all lanes. The decoder has checked the bounds. */
#define PARAM(name, D, T)                                                                   \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)    \
	{                                                                                   \
		for (uint32_t k = 0; k < in->n; k++) {                                      \
			uint32_t ref = in->n == 1 ? in->dst : ts_ptx_operands(w, in)[k];    \
			D *d_;                                                              \
			T v;                                                                \
                                                                                            \
			if (ref == TS_PTX_NONE)                                             \
				continue;                                                   \
			d_ = ts_ptx_slot(w, ref);                                           \
			memcpy(&v, w->worker->params + in->imm + k * sizeof(T), sizeof(T)); \
			TS_PTX_LOOP(m, D, D, , (D)v)                                        \
		}                                                                           \
		return 0;                                                                   \
	}

PARAM(param_u8, uint32_t, uint8_t)
PARAM(param_s8, uint32_t, int8_t)
PARAM(param_u16, uint32_t, uint16_t)
PARAM(param_s16, uint32_t, int16_t)
PARAM(param_u32, uint32_t, uint32_t)
PARAM(param_u8_64, uint64_t, uint8_t)
PARAM(param_s8_64, uint64_t, int8_t)
PARAM(param_u16_64, uint64_t, uint16_t)
PARAM(param_s16_64, uint64_t, int16_t)
PARAM(param_u32_64, uint64_t, uint32_t)
PARAM(param_s32_64, uint64_t, int32_t)
PARAM(param_u64, uint64_t, uint64_t)

static int local_address(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	uint64_t address = ts_ptx_frame_of(w)->local_base + in->imm;

	if (in->flags & INSN_DST64) {
		uint64_t *d_ = ts_ptx_result(w, in);

		TS_PTX_LOOP(m, uint64_t, uint64_t, , address)
	} else {
		uint32_t *d_ = ts_ptx_result(w, in);

		TS_PTX_LOOP(m, uint32_t, uint32_t, , address)
	}
	return 0;
}

/* imm: the window's start, added on the way to generic, taken off on the way back. */
TS_PTX_OP1(cvta, uint64_t, uint64_t, uint64_t, uint64_t, a + in->imm)

/* Constant variables lie in device memory; what tells them apart is that kernels must not write there. */
static bool is_constant(struct ts_ptx_worker *worker, uint64_t address)
{
	const struct ts_ptx_range *r = ts_ptx_range_of(worker, address);

	return r && r->read_only;
}

static int isspacep(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	static const uint64_t windows[] = {[SP_SHARED] = TS_PTX_WINDOW_SHARED,
					   [SP_LOCAL] = TS_PTX_WINDOW_LOCAL,
					   [SP_PARAM] = TS_PTX_WINDOW_PARAM};
	const uint64_t *a = ts_ptx_slot(w, in->a);
	uint32_t *d = ts_ptx_result(w, in), r = 0;

	for (uint32_t left = m; left; left &= left - 1) {
		int i = __builtin_ctz(left);
		bool is = in->space == SP_GLOBAL  ? a[i] < TS_PTX_WINDOW(0)
			  : in->space == SP_CONST ? is_constant(w->worker, a[i])
						  : a[i] >> 32 == windows[in->space] >> 32;

		r |= (uint32_t)is << i;
	}
	*d = (*d & ~m) | (r & m);
	return 0;
}

static void fill_loads(struct ts_ptx_optable *t)
{
	static const struct {
		enum ts_ptx_type types[4];
		ts_ptx_fn ld, ld64, param, param64, st, st64;
	} kinds[] = {
		{{TY_B8, TY_U8}, ld_u8, ld_u8_64, param_u8, param_u8_64, st_8, st_8_64},
		{{TY_S8}, ld_s8, ld_s8_64, param_s8, param_s8_64, st_8, st_8_64},
		{{TY_B16, TY_U16, TY_F16, TY_BF16},
		 ld_u16,
		 ld_u16_64,
		 param_u16,
		 param_u16_64,
		 st_16,
		 st_16_64},
		{{TY_S16}, ld_s16, ld_s16_64, param_s16, param_s16_64, st_16, st_16_64},
		{{TY_B32, TY_U32, TY_F32, TY_F16X2},
		 ld_u32,
		 ld_u32_64,
		 param_u32,
		 param_u32_64,
		 st_32,
		 st_32_64},
		{{TY_S32}, ld_u32, ld_s32_64, param_u32, param_s32_64, st_32, st_32_64},
		{{TY_B64, TY_U64, TY_S64, TY_F64}, NULL, ld_u64, NULL, param_u64, NULL, st_64},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		for (int k = 0; k < 4 && kinds[i].types[k]; k++) {
			enum ts_ptx_type type = kinds[i].types[k];

			t->fn[F_LD][type] = kinds[i].ld;
			t->fn[F_LD64][type] = kinds[i].ld64;
			t->fn[F_LD_PARAM][type] = kinds[i].param;
			t->fn[F_LD_PARAM64][type] = kinds[i].param64;
			t->fn[F_ST][type] = kinds[i].st;
			t->fn[F_ST64][type] = kinds[i].st64;
		}
	}
}

void TS_PTX_FILL(mem)(struct ts_ptx_optable *t)
{
	fill_loads(t);
	t->fn[F_LOCAL_ADDRESS][TY_NONE] = local_address;
	t->fn[F_CVTA][TY_NONE] = cvta;
	t->fn[F_ISSPACEP][TY_NONE] = isspacep;
}
