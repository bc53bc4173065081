/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the vendors' calls. A row of a call has numbers, `domain` and `cbid`:
 *
 *	char buffer[TS_CALL_NAME_BYTES];
 *
 *	puts(ts_name_call(row->domain, row->cbid, buffer));	"cudaLaunchKernel"
 *
 * Any thread may call these functions. The first call of one makes tables; it is not safe in a
 * signal handler.
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * Returns the function's name, such as "cudaLaunchKernel", without the version suffix of the
 * vendor's runtime ids. `domain` is an enum ts_api_domain. The text is constant. NULL: this version
 * does not know the call; a trace may come from a newer version. Also NULL if there is no memory
 * for the names of MetaX, Moore Threads and Huawei.
 */
const char *ts_name_api(uint32_t domain, uint32_t cbid);

/* Returns the name of a domain: "driver", "runtime", "hip"; NULL: unknown. The text is constant. */
const char *ts_name_api_domain(uint32_t domain);

/* As TS_SBT_CALL_NAME_BYTES of sbt/arrow.h, whose streams call ts_name_call(). */
#define TS_CALL_NAME_BYTES 32
/*
 * Returns the name as tsctl prints it: that of ts_name_api(), or "runtime#999" for an unknown call.
 * Never NULL. The result is constant, or is `buffer`.
 */
const char *ts_name_call(uint32_t domain, uint32_t cbid, char buffer[TS_CALL_NAME_BYTES]);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
