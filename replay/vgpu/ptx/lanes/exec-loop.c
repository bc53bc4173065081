// SPDX-License-Identifier: Apache-2.0
/*
 * The interpreter's loop: fetch, guard, dispatch. engine.c and schedule.c call this file for each
 * turn of a warp. Uniform branches run here; control-flow.c handles all other control flow.
 */
#include "replay/vgpu/ptx/lanes/lanes.h"

static int loop(struct ts_ptx_warp *w)
{
	const struct ts_ptx_insn *pc = w->pc;
	uint32_t act = w->act, n_act = (uint32_t)__builtin_popcount(act);
	uint64_t n_warp = 0, n_thread = 0;
	/*
	 * Instructions since w->slice was last charged. Functions of instructions may charge
	 * w->slice, too.
	 */
	int64_t n = 0;
	int r;

	for (;;) {
		const struct ts_ptx_insn *in = pc;
		uint32_t m;

		n++;
		if (in->kind == KIND_ALWAYS) {
			n_thread += n_act;
			if (n > w->slice) {
				r = STOP_SLICE;
				break;
			}
			pc++;
			if (in->fn(w, in, act)) {
				pc = in;
				r = STOP_FAULT;
				break;
			}
			continue;
		}
		m = act & (*ts_ptx_pred(w, in->guard) ^ in->guard_xor);
		n_thread += (uint32_t)__builtin_popcount(m);
		if (n > w->slice) {
			r = STOP_SLICE;
			break;
		}
		if (in->kind == KIND_OP) {
			pc++;
			if (m && in->fn(w, in, m)) {
				pc = in;
				r = STOP_FAULT;
				break;
			}
			continue;
		}
		if (in->kind == KIND_BRA) {
			if (!m) {
				pc++;
				continue;
			}
			if (m == act) {
				pc = in + (int32_t)in->aux;
				continue;
			}
		} else if (in->kind == KIND_JOIN) {
			const struct ts_ptx_join *join = w->splits[w->current].join;

			n_warp--;
			n_thread -= (uint32_t)__builtin_popcount(m);
			if (!join || join->pc != in) {
				pc++;
				continue;
			}
		}
		n_warp += (uint64_t)n;
		w->slice -= n;
		n = 0;
		w->pc = pc;
		r = ts_ptx_control(w, in);
		pc = w->pc;
		if (r) {
			r--;
			break;
		}
		act = w->act;
		n_act = (uint32_t)__builtin_popcount(act);
	}
	w->pc = pc;
	w->slice -= n;
	w->n_warp_insns += n_warp + (uint64_t)n;
	w->n_thread_insns += n_thread;
	return r;
}

void TS_PTX_FILL(loop)(struct ts_ptx_optable *t)
{
	t->loop = loop;
}
