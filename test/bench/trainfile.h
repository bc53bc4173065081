/* SPDX-License-Identifier: Apache-2.0 */
/* A generated training job (training.h) into a trace. */
#pragma once

#include "sbt/writer.h"
#include "test/bench/training.h"

/* Names, stacks and threads that its rows refer to. 0, or what the writer returned. */
int ts_training_define(struct ts_sbt_writer *writer, struct ts_sbt_session_writer *session);

/* The rows of the step that was made last; sealed when there are as many as the daemon seals at. */
int ts_training_write(const struct ts_training *training, struct ts_sbt_session_writer *session);

/* The file of such a job of so many operations at least; `fd` is taken over. 0, or what the writer returned. */
int ts_training_file(int fd, uint64_t n_wanted, uint64_t *ret_n, uint64_t *ret_bytes);
