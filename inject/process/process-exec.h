/* SPDX-License-Identifier: Apache-2.0 */
/* The calls by which a program replaces itself, before libc's. */
#pragma once

/* Finds libc's own. Once, while there is one thread. */
void ts_exec_resolve(void);
