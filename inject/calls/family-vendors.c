/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of libraries like CUPTI, once for all files of the shim: its strings and pointers take
 * 9 KB. cupti-library.c, family-library.c and process/preload.c use it.
 */
#include "inject/process/at-load.h"

#undef TS_PTI_VENDORS_ELSEWHERE
/*
 * The table has addresses of data only, so it need not be read-only, and the part of the library
 * that is fits into one page.
 */
#define TS_PTI_LINKAGE TS_WRITTEN_AT_LOAD
#include "proto/abi/vendor/cupti_family.h"
