/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the vendors' calls, made from proto/abi/vendor's tables. For any thread. */
#pragma once

#include <stdint.h>

/* Names without the prefix that all of them have, and without the version of their arguments. */
struct ts_call_names {
	const char *prefix;
	const char *names;   /* one behind the other; each ends with 0 */
	const uint16_t *ids; /* of the first n of them: the calls that the shim watches */
	uint32_t n;
};

/* Returns the names of an interface: TS_API_CUDA_DRIVER, _RUNTIME or TS_API_HIP. */
struct ts_call_names ts_call_names(uint32_t domain);
