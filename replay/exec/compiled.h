/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the compiled code of a program's modules between replays. If a program is replayed many
 * times, each module is compiled only once. A module belongs to one context of one replay at a
 * time, because its code holds the addresses of its variables. Not thread-safe.
 */
#pragma once

#include "replay/vgpu/vgpu-module.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ts_exec_compiled_module {
	uint32_t content; /* the image's content number in the program */
	unsigned cc;	  /* compute capability for which the code was compiled */
	struct ts_vgpu_module *code;
};

/* All zero is empty. */
struct ts_exec_compiled {
	struct ts_exec_compiled_module *modules;
	size_t n, capacity;
};

/*
 * Removes the module with this content and compute capability from the list and returns it. Returns
 * NULL if the list has no such module.
 */
struct ts_vgpu_module *ts_exec_compiled_take(struct ts_exec_compiled *compiled, uint32_t content,
					     unsigned cc);
/* Adds a module to the list, which then owns it. If memory is short, frees the module. */
void ts_exec_compiled_give(struct ts_exec_compiled *compiled, uint32_t content, unsigned cc,
			   struct ts_vgpu_module *code);
void ts_exec_compiled_deinit(struct ts_exec_compiled *compiled);

#ifdef __cplusplus
}
#endif
