/* SPDX-License-Identifier: Apache-2.0 */
/* An open trace with its tiles, for tests of replay/report/tiles. */
#pragma once

#include "test/unit/harness.h"

#include <fcntl.h>

#include "replay/report/tiles/tiles.h"

struct trace {
	int fd;
	struct ts_sbt_reader *reader;
	struct ts_tiles *tiles;
};

/* Opens the file of trace->fd. */
static inline void open_trace(struct trace *trace)
{
	ts_check_int(ts_sbt_reader_open(trace->fd, &trace->reader, NULL), 0);
	ts_check_int(ts_tiles_new(trace->reader, NULL, &trace->tiles), 0);
}

/* Opens a trace of test/integration/golden. */
static inline void open_golden(struct trace *trace, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s.sbt", TEST_GOLDEN, name);
	trace->fd = open(path, O_RDONLY | O_CLOEXEC);
	ts_check(trace->fd >= 0);
	open_trace(trace);
}

static inline void close_trace(struct trace *trace)
{
	ts_tiles_free(trace->tiles);
	ts_sbt_reader_free(trace->reader);
	close(trace->fd);
}
