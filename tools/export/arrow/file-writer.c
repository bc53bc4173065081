/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes files in a thread: see file-writer.h. dataset.c calls this file. A file of 36 MiB takes as
 * long as some ten thousand rows, in which the other threads would soon have nothing to do.
 */
#include "tools/export/arrow/file-writer.h"

#include <errno.h>

#include "proto/abi/base.h"
#include "replay/report/pieces.h"
#include "sbt/reader-threads.h"

static void write_table(struct ts_arrow_file_writer *writer, const struct ts_arrow_table *table)
{
	writer->r = ts_arrow_write(table, writer->facts, writer->n_facts, writer->file);
	writer->write_errno = errno;
}

static void *run(void *data)
{
	struct ts_arrow_file_writer *writer = data;

	ts_pieces_accept_signals(&writer->signals);
	write_table(writer, &writer->table);
	return NULL;
}

/* Exchanges the tables. The empty one gets the columns of the other. */
static int swap(struct ts_arrow_file_writer *writer, struct ts_arrow_table *table)
{
	struct ts_arrow_table full = *table;

	*table = writer->table;
	writer->table = full;
	return ts_arrow_table_init(table, full.descriptor);
}

int ts_arrow_file_writer_start(struct ts_arrow_file_writer *writer, struct ts_arrow_table *table,
			       const struct ts_arrow_fact *facts, size_t n_facts, FILE *file)
{
	int r;

	memcpy(writer->facts, facts, n_facts * sizeof(*facts));
	writer->n_facts = n_facts;
	writer->file = file;
	writer->is_busy = true;
	writer->has_thread = false;
	/* A second table would need as much memory again. */
	if (table->n_rows < TS_ARROW_BATCH_ROWS || ts_sbt_max_threads() == 1) {
		write_table(writer, table);
		return ts_arrow_table_clear(table);
	}
	r = swap(writer, table);
	writer->is_busy = !r;
	pthread_sigmask(SIG_SETMASK, NULL, &writer->signals);
	writer->has_thread = !r && !ts_sbt_thread_start(&writer->thread, run, writer);
	if (!r && !writer->has_thread)
		write_table(writer, &writer->table);
	return r;
}

int ts_arrow_file_writer_wait(struct ts_arrow_file_writer *writer)
{
	if (!writer->is_busy)
		return 0;
	if (writer->has_thread)
		pthread_join(writer->thread, NULL);
	writer->is_busy = false;
	errno = writer->write_errno;
	return writer->r;
}

void ts_arrow_file_writer_deinit(struct ts_arrow_file_writer *writer)
{
	ts_arrow_file_writer_wait(writer);
	ts_arrow_table_deinit(&writer->table);
}
