/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of libraries like CUPTI, once for all files of the shim: its strings and pointers take
 * 9 KB. cupti-library.c, family-library.c and process/preload.c use it.
 */
#undef TS_PTI_VENDORS_ELSEWHERE
#define TS_PTI_LINKAGE
#include "proto/abi/vendor/cupti_family.h"
