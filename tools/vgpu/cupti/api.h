/* SPDX-License-Identifier: Apache-2.0 */
/* The supported functions of libcupti.so.13, with CUPTI's names and TraceSmith's types. */
#pragma once

#include "proto/abi/vendor/cupti_functions.h"

#define TS_CUPTI_EXPORT			   __attribute__((visibility("default")))

#define TS_CUPTI_DECLARE_(name, arguments) TS_CUPTI_EXPORT uint32_t name arguments;
TS_CUPTI_FUNCTIONS(TS_CUPTI_DECLARE_)
#undef TS_CUPTI_DECLARE_
