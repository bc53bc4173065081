/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules' code that a replay has no more use for, for the next one of the same program: where a program is done many times, its
 * modules are compiled once. One is with one context of one replay at a time, since it knows where its variables lie.
 */
#pragma once

#include "replay/vgpu/vgpu-module.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ts_exec_compiled_module {
	uint32_t content; /* of the image, in the program */
	unsigned cc;	  /* that it was compiled for */
	struct ts_vgpu_module *code;
};

/* All zero: none. */
struct ts_exec_compiled {
	struct ts_exec_compiled_module *modules;
	size_t n, capacity;
};

/* The caller's from now on; NULL: there is none. */
struct ts_vgpu_module *ts_exec_compiled_take(struct ts_exec_compiled *compiled, uint32_t content,
					     unsigned cc);
/* Takes it over; where memory is short it is freed. */
void ts_exec_compiled_give(struct ts_exec_compiled *compiled, uint32_t content, unsigned cc,
			   struct ts_vgpu_module *code);
void ts_exec_compiled_deinit(struct ts_exec_compiled *compiled);

#ifdef __cplusplus
}
#endif
