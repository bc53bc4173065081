/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces the virtual GPU's engine if the engine is not built (-Dvgpu=disabled). Defines the
 * functions that replay/check and replay/exec call for code that the engine runs. No call reaches
 * them: without the engine exec/vgpu/exec-vgpu-none.c refuses the replay first.
 */
#include "replay/vgpu/ptx/observe.h"
#include "replay/vgpu/vgpu-module.h"

#include <string.h>

void ts_vgpu_module_free(struct ts_vgpu_module *module)
{
}

size_t ts_ptx_image_n_variables(const struct ts_ptx_image *image)
{
	return 0;
}

void ts_ptx_image_variable(const struct ts_ptx_image *image, size_t i,
			   struct ts_ptx_variable *ret_variable)
{
	memset(ret_variable, 0, sizeof(*ret_variable));
}

const struct ts_ptx_kernel_info *ts_ptx_kernel_info(const struct ts_ptx_kernel *kernel)
{
	static const struct ts_ptx_kernel_info none;

	return &none;
}

void ts_ptx_image_site(const struct ts_ptx_image *image, uint32_t place,
		       struct ts_ptx_site *ret_site)
{
	memset(ret_site, 0, sizeof(*ret_site));
}

const struct ts_ptx_image *ts_ptx_kernel_image(const struct ts_ptx_kernel *kernel)
{
	return NULL;
}
