/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: the PTX engine compiles and links the texts of an image (fatbin.c). This file lists the
 * result for the device: kernels with parameters and resources, variables with sizes. AMD's code
 * (amd/amd-image.c) has the same result, without code. The module and library facades and
 * replay/exec call this file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/vgpu/amd/amd-image.h"
#include "replay/vgpu/amd/amd-metadata.h"
#include "replay/vgpu/ptx/debug.h"
#include "replay/vgpu/vgpu-module.h"

/*
 * Registers of a multiprocessor and threads of a block, equal on all devices of compute capability
 * 7 to 9.
 */
#define REGS_PER_SM 65536u
#define MAX_THREADS 1024u

static int say(int r, const struct ts_ptx_error *error, size_t n_texts, char *message,
	       size_t message_bytes)
{
	if (r < 0)
		return r;
	/* The engine's message begins with the line number, if the error has one. */
	if (error->line && n_texts > 1)
		snprintf(message, message_bytes, "PTX text %u, %s", error->module + 1,
			 error->message);
	else if (error->line)
		snprintf(message, message_bytes, "PTX %s", error->message);
	else
		snprintf(message, message_bytes, "PTX: %s", error->message);
	return TS_VGPU_MODULE_E_PTX;
}

static int compile(struct ts_vgpu_module *module, bool named, char *message, size_t message_bytes)
{
	size_t n = module->n_texts, n_parsed = 0;
	struct ts_ptx_module **parsed = calloc(n + 1, sizeof(struct ts_ptx_module *));
	struct ts_ptx_error error = {0};
	int r = 0;

	if (!parsed)
		return -ENOMEM;
	for (size_t i = 0; !r && i < n; i++) {
		r = ts_ptx_module_parse(module->texts[i], strlen(module->texts[i]), &parsed[i],
					&error);
		if (r)
			error.module = (uint32_t)i;
		else
			n_parsed++;
	}
	if (!r)
		r = named ? ts_ptx_link_named(parsed, (const char *const *)module->texts, n,
					      &module->image, &error)
			  : ts_ptx_link(parsed, n, &module->image, &error);
	for (size_t i = 0; i < n_parsed; i++)
		ts_ptx_module_free(parsed[i]);
	free(parsed);
	return r ? say(r, &error, n, message, message_bytes) : 0;
}

/*
 * Estimates registers from the values that are alive at once. ptxas spills registers rather than
 * compile a kernel that its declared block size cannot launch. Therefore the estimate is limited to
 * the registers that this block size leaves per thread.
 */
static uint32_t registers_of(const struct ts_ptx_kernel_info *info)
{
	uint32_t threads = info->max_threads ? info->max_threads : MAX_THREADS;
	uint32_t most = REGS_PER_SM / ((threads + 31) / 32 * 32) / 8 * 8;
	uint32_t regs = (info->n_registers + 7) / 8 * 8;

	if (most > 255)
		most = 255;
	if (regs < 16)
		regs = 16;
	return regs < most ? regs : most;
}

/* Returns NULL only if memory is short. */
static struct ts_vgpu_param *copy_params(const struct ts_ptx_kernel_info *info)
{
	struct ts_vgpu_param *params = calloc(info->n_params + 1, sizeof(*params));

	for (size_t i = 0; params && i < info->n_params; i++)
		params[i] = (struct ts_vgpu_param){
			.offset = info->params[i].offset,
			.bytes = info->params[i].bytes,
			.align = info->params[i].align,
		};
	return params;
}

static int list_kernels(struct ts_vgpu_module *module)
{
	size_t n = ts_ptx_image_n_kernels(module->image);

	module->kernels = calloc(n + 1, sizeof(*module->kernels));
	if (!module->kernels)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct ts_ptx_kernel *code = ts_ptx_image_kernel(module->image, i);
		const struct ts_ptx_kernel_info *info = ts_ptx_kernel_info(code);

		module->kernels[i] = (struct ts_vgpu_kernel){
			.name = info->name,
			.code = code,
			.params = copy_params(info),
			.n_params = info->n_params,
			.params_bytes = info->params_bytes,
			.static_shared_bytes = info->static_shared_bytes,
			.local_bytes = info->local_bytes,
			.max_threads = info->max_threads,
			.regs = registers_of(info),
			.line = info->line,
		};
		module->n_kernels = i + 1;
		if (!module->kernels[i].params)
			return -ENOMEM;
	}
	return 0;
}

/* Reads the .target line, such as sm_75 or sm_90a. Each text that compiled has one. */
static unsigned target_of(const char *text)
{
	const char *at = strstr(text, ".target");

	/* A comment may also contain the word. */
	for (; at; at = strstr(at + 1, ".target")) {
		const char *digits = strstr(at, "sm_");

		if (digits && digits == at + 7 + strspn(at + 7, " \t"))
			return (unsigned)strtoul(digits + 3, NULL, 10);
	}
	return 0;
}

static int list_variables(struct ts_vgpu_module *module)
{
	size_t n = ts_ptx_image_n_variables(module->image);

	module->variables = calloc(n + 1, sizeof(*module->variables));
	if (!module->variables)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct ts_ptx_variable v;

		ts_ptx_image_variable(module->image, i, &v);
		module->variables[i] = (struct ts_vgpu_variable){
			.name = v.name,
			.bytes = v.bytes,
			.align = v.align,
			.constant = v.constant,
			.managed = v.managed,
		};
		if (v.constant)
			module->constant_bytes += v.bytes;
	}
	module->n_variables = n;
	return 0;
}

static int module_new(const void *image, unsigned cc, bool named,
		      struct ts_vgpu_module **ret_module, char *message, size_t message_bytes)
{
	struct ts_vgpu_module *module = calloc(1, sizeof(*module));
	int r;

	if (!module)
		return -ENOMEM;
	message[0] = 0;
	r = ts_vgpu_image_texts(image, cc, &module->texts, &module->n_texts, message,
				message_bytes);
	if (!r)
		r = compile(module, named, message, message_bytes);
	if (!r)
		r = list_kernels(module);
	if (!r)
		r = list_variables(module);
	for (size_t i = 0; !r && i < module->n_texts; i++) {
		unsigned target = target_of(module->texts[i]);

		module->target = target > module->target ? target : module->target;
	}
	if (r) {
		ts_vgpu_module_free(module);
		return r;
	}
	*ret_module = module;
	return 0;
}

static int list_amd_kernels(struct ts_vgpu_module *module)
{
	const struct ts_amd_image *amd = module->amd;

	module->kernels = calloc(amd->n_kernels + 1, sizeof(*module->kernels));
	if (!module->kernels)
		return -ENOMEM;
	for (size_t i = 0; i < amd->n_kernels; i++) {
		const struct ts_amd_image_kernel *from = &amd->kernels[i];
		struct ts_vgpu_kernel *to = &module->kernels[i];

		*to = (struct ts_vgpu_kernel){
			.name = from->name,
			.params = calloc(from->n_parameters + 1, sizeof(*to->params)),
			.n_params = from->n_parameters,
			.params_bytes = from->parameter_bytes,
			.static_shared_bytes = from->lds_bytes,
			.local_bytes = from->private_bytes,
			.max_threads = from->max_workgroup_size,
			.regs = from->n_vgprs,
		};
		module->n_kernels = i + 1;
		if (!to->params)
			return -ENOMEM;
		for (size_t k = 0; k < from->n_parameters; k++)
			to->params[k] = (struct ts_vgpu_param){
				.offset = from->parameters[k].offset,
				.bytes = from->parameters[k].bytes,
				.align = 1,
			};
	}
	return 0;
}

static int list_amd_variables(struct ts_vgpu_module *module)
{
	const struct ts_amd_image *amd = module->amd;

	module->variables = calloc(amd->n_variables + 1, sizeof(*module->variables));
	if (!module->variables)
		return -ENOMEM;
	for (size_t i = 0; i < amd->n_variables; i++)
		module->variables[i] = (struct ts_vgpu_variable){
			.name = amd->variables[i].name,
			.bytes = amd->variables[i].bytes,
			.align = 1,
			.managed = amd->variables[i].is_managed,
		};
	module->n_variables = amd->n_variables;
	return 0;
}

int ts_vgpu_module_new_timed(const void *image, unsigned cc, struct ts_vgpu_module **ret_module,
			     char *message, size_t message_bytes)
{
	struct ts_vgpu_module *module;
	int r;

	if (!ts_amd_is_image(image))
		return module_new(image, cc, false, ret_module, message, message_bytes);
	module = calloc(1, sizeof(*module));
	if (!module)
		return -ENOMEM;
	r = ts_amd_image_new(image, SIZE_MAX, &module->amd);
	if (r > 0) {
		snprintf(message, message_bytes, "code of AMD: %s", ts_amd_code_why(r));
		r = TS_VGPU_MODULE_E_AMD;
	}
	if (!r)
		r = list_amd_kernels(module);
	if (!r)
		r = list_amd_variables(module);
	if (r) {
		ts_vgpu_module_free(module);
		return r;
	}
	*ret_module = module;
	return 0;
}

int ts_vgpu_module_new(const void *image, unsigned cc, struct ts_vgpu_module **ret_module,
		       char *message, size_t message_bytes)
{
	return module_new(image, cc, false, ret_module, message, message_bytes);
}

int ts_vgpu_module_new_named(const void *image, unsigned cc, struct ts_vgpu_module **ret_module,
			     char *message, size_t message_bytes)
{
	return module_new(image, cc, true, ret_module, message, message_bytes);
}

void ts_vgpu_module_free(struct ts_vgpu_module *module)
{
	if (!module)
		return;
	for (size_t i = 0; i < module->n_kernels; i++)
		free(module->kernels[i].params);
	free(module->kernels);
	free(module->variables);
	ts_ptx_image_free(module->image);
	ts_amd_image_free(module->amd);
	ts_vgpu_texts_free(module->texts, module->n_texts);
	free(module);
}

const struct ts_vgpu_kernel *ts_vgpu_module_kernel(const struct ts_vgpu_module *module,
						   const char *name)
{
	for (size_t i = 0; i < module->n_kernels; i++)
		if (!strcmp(module->kernels[i].name, name))
			return &module->kernels[i];
	return NULL;
}

const struct ts_vgpu_variable *ts_vgpu_module_variable(const struct ts_vgpu_module *module,
						       const char *name)
{
	for (size_t i = 0; i < module->n_variables; i++)
		if (!strcmp(module->variables[i].name, name))
			return &module->variables[i];
	return NULL;
}

int ts_vgpu_module_place(struct ts_vgpu_module *module, const uint64_t *addresses)
{
	/* Nothing computes AMD's code, so nothing needs the addresses. */
	if (module->amd)
		return 0;
	for (size_t i = 0; i < module->n_variables; i++)
		if (ts_ptx_image_place(module->image, i, addresses[i]))
			return TS_VGPU_MODULE_E_PLACE;
	return 0;
}

void ts_vgpu_module_initial(const struct ts_vgpu_module *module, size_t i, uint8_t *bytes)
{
	const uint8_t *content;

	if (!module->amd) {
		ts_ptx_image_initial(module->image, i, bytes);
		return;
	}
	content = module->amd->variables[i].content;
	if (content)
		memcpy(bytes, content, module->variables[i].bytes);
	else
		memset(bytes, 0, module->variables[i].bytes);
}
