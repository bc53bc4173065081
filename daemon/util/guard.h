/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a stranger's memory from killing the daemon. A page of a shared mapping that cannot be
 * had (the system is out of memory and may not promise more) raises SIGBUS in whoever touches it.
 * The handler puts an empty page of our own there and marks the guard; who works on the mapping
 * looks at the mark now and then and ends that one session.
 *
 * Thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct ts_guard;

/* Guards [base, base + n_bytes), until freed; the first one installs the handler. 0 or -ENOMEM. */
int ts_guard_new(void *base, size_t n_bytes, struct ts_guard **ret_guard);
void ts_guard_free(struct ts_guard *guard); /* before the mapping goes; NULL is fine */
/* Whether a page could not be had. */
bool ts_guard_hit(const struct ts_guard *guard);
