/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a trace of one session, one thread and three kernels: an example for a tool that converts
 * its own records to a trace.
 *
 *     cc write.c $(pkg-config --cflags --libs tracesmith) -o write
 *     ./write FILE && tsctl view FILE
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <tracesmith.h>

#define START_NS UINT64_C(1000000)

static int add_launch(struct ts_sbt_session_writer *session, uint32_t thread, uint32_t name,
		      uint64_t op_id)
{
	uint64_t at = START_NS + op_id * 10000;
	struct ts_row_api call = {.start_ns = at,
				  .end_ns = at + 2000,
				  .op_id = op_id,
				  .thread = thread,
				  .domain = TS_API_CUDA_DRIVER,
				  .cbid = 307}; /* cuLaunchKernel */
	struct ts_row_kernel kernel = {.start_ns = at + 3000,
				       .end_ns = at + 3000 + op_id * 1000,
				       .op_id = op_id,
				       .context = 1,
				       .stream = 7,
				       .name = name,
				       .grid_x = 64,
				       .grid_y = 1,
				       .grid_z = 1,
				       .block_x = 256,
				       .block_y = 1,
				       .block_z = 1};
	int r = ts_sbt_session_writer_add_row(session, TS_ROW_API, &call);

	return r ? r : ts_sbt_session_writer_add_row(session, TS_ROW_KERNEL, &kernel);
}

static int fill(struct ts_sbt_writer *writer, struct ts_sbt_session_writer *session,
		struct ts_row_session *row)
{
	static const char name[] = "saxpy";
	struct ts_row_thread thread = {.start_ns = START_NS, .tid = row->pid};
	uint32_t thread_id, name_id;
	int r;

	if ((r = ts_sbt_session_writer_add_thread(session, &thread, &thread_id)) ||
	    (r = ts_sbt_writer_string(writer, name, strlen(name), &name_id)))
		return r;
	for (uint64_t op_id = 1; op_id <= 3; op_id++) {
		r = add_launch(session, thread_id, name_id, op_id);
		if (r)
			return r;
	}
	row->end_ns = START_NS + 50000;
	row->state = TS_SESSION_ENDED;
	row->ended = TS_SESSION_END_BYE;
	r = ts_sbt_session_writer_update(session, row);
	return r ? r : ts_sbt_session_writer_seal(session, NULL, 0);
}

static int write_trace(int *fd)
{
	struct ts_row_session row = {.pid = (uint32_t)getpid(), .start_ns = START_NS};
	struct ts_sbt_session_writer *session;
	struct ts_sbt_writer *writer;
	int r = ts_sbt_writer_new(*fd, &writer);

	if (r)
		return r;
	*fd = -1; /* the writer owns it now */
	if (!(r = ts_sbt_writer_string(writer, "example", 7, &row.program)) &&
	    !(r = ts_sbt_session_writer_new(writer, &row, &session))) {
		r = fill(writer, session, &row);
		ts_sbt_session_writer_free(session);
	}
	if (!r)
		r = ts_sbt_writer_finish(writer);
	ts_sbt_writer_free(writer);
	return r;
}

int main(int argc, char **argv)
{
	int fd, r;

	if (argc != 2) {
		fprintf(stderr, "usage: write FILE\n");
		return 2;
	}
	fd = open(argv[1], O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0) {
		perror(argv[1]);
		return 2;
	}
	r = write_trace(&fd);
	if (fd >= 0)
		close(fd);
	if (r) {
		fprintf(stderr, "%s: %s\n", argv[1], r < 0 ? strerror(-r) : "cannot be written");
		return 2;
	}
	return 0;
}
