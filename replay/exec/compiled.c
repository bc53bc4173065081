/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of compiled modules that are kept between two replays. explore.c owns the list;
 * vgpu/exec-vgpu-module.c calls this file. The list is short, so a linear search is enough.
 */
#include "replay/exec/compiled.h"

#include "proto/abi/grow.h"

#include <stdlib.h>

struct ts_vgpu_module *ts_exec_compiled_take(struct ts_exec_compiled *compiled, uint32_t content,
					     unsigned cc)
{
	for (size_t i = 0; i < compiled->n; i++) {
		struct ts_exec_compiled_module *one = &compiled->modules[i];
		struct ts_vgpu_module *code = one->code;

		if (one->content != content || one->cc != cc)
			continue;
		*one = compiled->modules[--compiled->n];
		return code;
	}
	return NULL;
}

void ts_exec_compiled_give(struct ts_exec_compiled *compiled, uint32_t content, unsigned cc,
			   struct ts_vgpu_module *code)
{
	if (TS_GROW(compiled->modules, compiled->capacity, compiled->n + 1)) {
		ts_vgpu_module_free(code);
		return;
	}
	compiled->modules[compiled->n++] = (struct ts_exec_compiled_module){content, cc, code};
}

void ts_exec_compiled_deinit(struct ts_exec_compiled *compiled)
{
	for (size_t i = 0; i < compiled->n; i++)
		ts_vgpu_module_free(compiled->modules[i].code);
	free(compiled->modules);
	*compiled = (struct ts_exec_compiled){0};
}
