/* SPDX-License-Identifier: Apache-2.0 */
/* The shim's one context, which all files of inject/ share. See context.h. */
#include "inject/context.h"

#include "inject/process/at-load.h"

struct ts_shim ts_shim;
TS_WRITTEN_AT_LOAD struct ts_library ts_library = {.path = ""};
struct ts_loaded ts_loaded;
