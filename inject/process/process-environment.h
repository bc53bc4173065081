/* SPDX-License-Identifier: Apache-2.0 */
/* Sets environment variables when the library is loaded. */
#pragma once

/*
 * Sets a variable of the environment, like setenv(), but without malloc() if there is room. The
 * caller is the constructor of the preloaded library: the process has one thread.
 */
void ts_environment_set(const char *name, const char *value);
