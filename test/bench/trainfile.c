/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a generated training job into a trace by sbt/writer.h. The bench programs call this file.
 * See trainfile.h.
 */

#include "test/bench/trainfile.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define SEAL_ROWS 65536u /* the daemon's threshold */

int ts_training_define(struct ts_sbt_writer *writer, struct ts_sbt_session_writer *session)
{
	struct ts_row_thread thread = {.tid = 1000};
	uint64_t frames[64];
	char name[256];
	uint32_t id;
	int r = 0;

	for (unsigned i = 1; !r && i <= TS_TRAINING_NAMES; i++) {
		ts_training_name(i, name, sizeof(name));
		r = ts_sbt_writer_string(writer, name, strlen(name), &id);
	}
	for (unsigned i = 1; !r && i <= TS_TRAINING_STACKS; i++)
		r = ts_sbt_session_writer_add_stack(session, frames, ts_training_stack(i, frames),
						    0, &id);
	for (unsigned i = 0; !r && i < TS_TRAINING_THREADS; i++, thread.tid++)
		r = ts_sbt_session_writer_add_thread(session, &thread, &id);
	return r;
}

int ts_training_write(const struct ts_training *training, struct ts_sbt_session_writer *session)
{
	size_t n;
	int r = ts_sbt_session_writer_add_rows(session, TS_ROW_API, training->api, training->n_api,
					       &n);

	r = r
		    ?: ts_sbt_session_writer_add_rows(session, TS_ROW_KERNEL, training->kernels,
						      training->n_kernels, &n);
	r = r
		    ?: ts_sbt_session_writer_add_rows(session, TS_ROW_MEMCPY, training->copies,
						      training->n_copies, &n);
	r = r
		    ?: ts_sbt_session_writer_add_rows(session, TS_ROW_MEMSET, training->sets,
						      training->n_sets, &n);
	if (!r && ts_sbt_session_writer_pending_rows(session) >= SEAL_ROWS)
		r = ts_sbt_session_writer_seal(session, NULL, 0);
	return r;
}

static int write_steps(struct ts_training *training, struct ts_sbt_writer *writer,
		       uint64_t n_wanted, uint64_t *ret_n)
{
	struct ts_row_session row = {.pid = 1};
	struct ts_sbt_session_writer *session;
	int r;

	ts_training_init(training, 1, 32);
	/* The trace begins where the job does. */
	row.start_ns = training->origin_ns;
	r = ts_sbt_session_writer_new(writer, &row, &session);

	if (r)
		return r;
	r = ts_training_define(writer, session);
	for (*ret_n = 0; !r && *ret_n < n_wanted;) {
		ts_training_step(training);
		r = ts_training_write(training, session);
		*ret_n += training->n_kernels + training->n_copies + training->n_sets;
	}
	r = r ?: ts_sbt_session_writer_seal(session, NULL, 0);
	ts_sbt_session_writer_free(session);
	return r;
}

int ts_training_file(int fd, uint64_t n_wanted, uint64_t *ret_n, uint64_t *ret_bytes)
{
	ts_cleanup(ts_freep) struct ts_training *training = malloc(sizeof(*training));
	struct ts_sbt_writer *writer;
	int r = training ? ts_sbt_writer_new(fd, &writer) : -ENOMEM;

	if (r) {
		close(fd);
		return r;
	}
	r = write_steps(training, writer, n_wanted, ret_n);
	r = r ?: ts_sbt_writer_finish(writer);
	*ret_bytes = ts_sbt_writer_bytes(writer);
	ts_sbt_writer_free(writer);
	return r;
}
