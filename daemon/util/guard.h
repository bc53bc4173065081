/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protects the daemon from faults in a stranger's shared memory. If a page of a shared mapping
 * cannot be allocated (out of memory), an access raises SIGBUS. The handler maps an empty page
 * there and marks the guard. The session's thread checks the mark in each round and ends that
 * session.
 *
 * Thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct ts_guard;

/*
 * Guards [base, base + n_bytes) until ts_guard_free(). The first guard installs the signal handler.
 * Returns 0 or -ENOMEM.
 */
int ts_guard_new(void *base, size_t n_bytes, struct ts_guard **ret_guard);
void ts_guard_free(struct ts_guard *guard); /* call before munmap(); NULL is accepted */
/* True if a page could not be allocated. */
bool ts_guard_hit(const struct ts_guard *guard);
