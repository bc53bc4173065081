/* SPDX-License-Identifier: Apache-2.0 */
/* Interposes the exec calls, by which a program replaces itself. */
#pragma once

/* Finds libc's functions. The caller calls it once, while the process has one thread. */
void ts_exec_resolve(void);
