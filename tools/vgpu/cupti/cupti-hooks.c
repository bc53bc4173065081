// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the hooks of the virtual GPU's libcuda once; a forked child has none. All files of the
 * facade call this file.
 */
#include "tools/vgpu/cupti/cupti-internal.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct ts_vgpu_hooks *the_hooks;

/*
 * A forked child cannot attach, and a thread that it lacks may hold any lock here. Without hooks,
 * each function that takes a lock returns before it does.
 */
static void forget_in_child(void)
{
	the_hooks = NULL;
}

static void find(void)
{
	const struct ts_vgpu_hooks *hooks = ts_cupti_find_hooks();

	if (hooks && hooks->size >= sizeof(*hooks) && hooks->version == TS_VGPU_HOOKS_VERSION)
		the_hooks = hooks;
	pthread_atfork(NULL, NULL, forget_in_child);
}

const struct ts_vgpu_hooks *ts_cupti_hooks(void)
{
	pthread_once(&once, find);
	return the_hooks;
}
