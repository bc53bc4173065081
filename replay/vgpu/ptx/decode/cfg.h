/* SPDX-License-Identifier: Apache-2.0 */
/* The basic blocks of a function. cfg.c and alloc.c use them. */
#pragma once

#include "replay/vgpu/ptx/decode/decode.h"

struct ts_ptx_blocks {
	uint32_t n;
	uint32_t *start;    /* n + 1: first instructions, and the end */
	uint32_t *block_of; /* per instruction */
	uint32_t *succ_at;  /* n + 1: indices into succ */
	uint32_t *succ;
};

int ts_ptx_blocks_init(const struct ts_ptx_decoder *d, struct ts_ptx_blocks *ret_blocks);
void ts_ptx_blocks_deinit(struct ts_ptx_blocks *blocks);
/* True if control cannot continue with the next instruction. */
bool ts_ptx_is_end(const struct ts_ptx_insn *in);
