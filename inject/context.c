/* SPDX-License-Identifier: Apache-2.0 */
/* The shim's one context, which all files of inject/ share. See context.h. */
#include "inject/context.h"

struct ts_shim ts_shim;
struct ts_loaded ts_loaded;
