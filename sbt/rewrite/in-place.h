/* SPDX-License-Identifier: Apache-2.0 */
/* The file that append.c and repair.c change in place: its checks, its lock, and their errors. */
#pragma once

#include "sbt/error.h"
#include "sbt/reader.h"

/* Fills the error unless it is NULL. Returns the code. */
int ts_in_place_fail(struct ts_sbt_error *error, int code, uint64_t off, const char *text);

/*
 * Locks a regular file that is open for reading and writing. Fails with -EBUSY while a writer has
 * it. On a file system without locks it succeeds, as the writer does.
 */
int ts_in_place_lock(int fd, struct ts_sbt_error *ret_error);
void ts_in_place_unlock(int fd);
