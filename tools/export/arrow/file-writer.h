/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes tables as Arrow files (message.h), one at a time, in a thread of its own. Meanwhile the
 * caller fills the next table. Functions are called by one thread.
 */
#pragma once

#include <pthread.h>
#include <signal.h>

#include "tools/export/arrow/message.h"

#define TS_ARROW_MAX_FACTS 8u

/* A zeroed struct writes nothing. */
struct ts_arrow_file_writer {
	struct ts_arrow_table table;
	struct ts_arrow_fact facts[TS_ARROW_MAX_FACTS];
	size_t n_facts;
	FILE *file;
	bool is_busy, has_thread;
	pthread_t thread;
	sigset_t signals; /* that the caller's thread blocks */
	int r, write_errno;
};

/*
 * Starts to write the table, and gives the caller an empty one with the same columns. The writer
 * writes nothing else at that time. The texts of the facts stay valid until
 * ts_arrow_file_writer_wait(). A short table is written before the function returns, and so is any
 * table if the process may use one thread only. Returns 0 or -ENOMEM.
 */
int ts_arrow_file_writer_start(struct ts_arrow_file_writer *writer, struct ts_arrow_table *table,
			       const struct ts_arrow_fact *facts, size_t n_facts, FILE *file);
/*
 * Waits until the file is written; errno is then that of the writing. Returns 0 or -ENOMEM; the
 * caller checks the errors of the file.
 */
int ts_arrow_file_writer_wait(struct ts_arrow_file_writer *writer);
void ts_arrow_file_writer_deinit(struct ts_arrow_file_writer *writer);
