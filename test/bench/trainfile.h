/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a generated training job (training.h) into a trace. */
#pragma once

#include "sbt/writer.h"
#include "test/bench/training.h"

/* Adds the names, stacks and threads that the rows refer to. Returns 0 or the writer's error. */
int ts_training_define(struct ts_sbt_writer *writer, struct ts_sbt_session_writer *session);

/*
 * Adds the rows of the current step. Seals a block at the daemon's threshold. Returns 0 or the
 * writer's error.
 */
int ts_training_write(const struct ts_training *training, struct ts_sbt_session_writer *session);

/*
 * Writes a whole trace of at least `n_wanted` operations to `fd`, and takes ownership of `fd`.
 * *ret_n: number of operations; *ret_bytes: size of the file. Returns 0, -ENOMEM or the writer's
 * error.
 */
int ts_training_file(int fd, uint64_t n_wanted, uint64_t *ret_n, uint64_t *ret_bytes);
