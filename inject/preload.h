/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the preloaded library does in every process, GPU or not: next to nothing.
 */
#pragma once

/* The path that this library was loaded from. */
const char *ts_preload_library(void);
