// SPDX-License-Identifier: Apache-2.0
/*
 * Queries of an image: symbols of a module's names, kernels, variables and their initial bytes. The
 * decoder resolves names with it; vgpu-module.c and replay/check read kernels and variables.
 */
#include <errno.h>
#include <string.h>

#include "replay/vgpu/ptx/code.h"

/* Returns the definition of a linked name, or its declaration if no module defines it. */
struct ts_ptx_symbol *ts_ptx_resolve_name(const struct ts_ptx_image *image,
					  struct ts_ptx_module *module, const char *name)
{
	struct ts_ptx_symbol *s = ts_ptx_map_get(&module->symbols, name, strlen(name), 0), *global;

	/* Limit chains of aliases. */
	for (int hops = 0; s && s->func && s->func->alias && hops < 16; hops++)
		s = ts_ptx_map_get(&module->symbols, s->func->alias, strlen(s->func->alias), 0);
	if (!s)
		return NULL;
	if (s->func ? s->func->defined && s->func->linkage == LINK_NONE
		    : s->var->linkage == LINK_NONE)
		return s;
	name = s->func ? s->func->name : s->var->name;
	global = ts_ptx_map_get(&image->names, name, strlen(name), 0);
	if (global && !global->func == !s->func)
		return global;
	return s;
}

size_t ts_ptx_image_n_variables(const struct ts_ptx_image *image)
{
	return image->n_variables;
}

void ts_ptx_image_variable(const struct ts_ptx_image *image, size_t i,
			   struct ts_ptx_variable *ret_variable)
{
	*ret_variable = image->variables[i].info;
}

int ts_ptx_image_find_variable(const struct ts_ptx_image *image, const char *name, size_t *ret_i)
{
	for (uint32_t i = 0; i < image->n_variables; i++) {
		if (strcmp(image->variables[i].info.name, name))
			continue;
		*ret_i = i;
		return 0;
	}
	return -ENOENT;
}

void ts_ptx_image_initial(const struct ts_ptx_image *image, size_t i, uint8_t *bytes)
{
	const struct ts_ptx_image_variable *v = &image->variables[i];

	memset(bytes, 0, v->info.bytes);
	for (uint32_t k = 0; k < v->n_inits; k++) {
		const struct ts_ptx_image_init *in = &v->inits[k];
		uint64_t value = in->value;

		if (in->variable != TS_PTX_NONE)
			value += image->variables[in->variable].info.address;
		if (in->function != TS_PTX_NONE)
			value += TS_PTX_WINDOW_FUNCTION +
				 (uint64_t)in->function * TS_PTX_FUNCTION_STRIDE;
		if (in->mask)
			value = (value & in->mask) >> __builtin_ctzll(in->mask);
		memcpy(bytes + in->offset, &value, in->bytes);
	}
}

size_t ts_ptx_image_n_kernels(const struct ts_ptx_image *image)
{
	return image->n_kernels;
}

const struct ts_ptx_kernel *ts_ptx_image_kernel(const struct ts_ptx_image *image, size_t i)
{
	return i < image->n_kernels ? &image->kernels[i] : NULL;
}

const struct ts_ptx_kernel *ts_ptx_image_find_kernel(const struct ts_ptx_image *image,
						     const char *name)
{
	for (uint32_t i = 0; i < image->n_kernels; i++)
		if (!strcmp(image->kernels[i].info.name, name))
			return &image->kernels[i];
	return NULL;
}

const struct ts_ptx_kernel_info *ts_ptx_kernel_info(const struct ts_ptx_kernel *kernel)
{
	return &kernel->info;
}

uint64_t ts_ptx_image_function_address(const struct ts_ptx_image *image, const char *name)
{
	for (uint32_t i = 0; i < image->n_codes; i++)
		if (!strcmp(image->codes[i].name, name))
			return TS_PTX_WINDOW_FUNCTION + (uint64_t)i * TS_PTX_FUNCTION_STRIDE;
	return 0;
}
