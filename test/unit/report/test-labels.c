/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that an application gave its threads, streams and categories are found by session; the last
 * name counts. A stream is found by its handle if the name's row lacks CUPTI's ids.
 */
#include "test/unit/harness.h"

#include "replay/report/names/labels.h"
#include "sbt/writer.h"

#include <sys/mman.h>

struct made {
	struct ts_sbt_writer *writer;
	struct ts_sbt_session_writer *sessions[2];
};

static uint32_t string(struct made *made, const char *text)
{
	uint32_t id;

	ts_check_int(ts_sbt_writer_string(made->writer, text, strlen(text), &id), 0);
	return id;
}

static void name(struct made *made, int session, enum ts_name_kind kind, const char *domain,
		 uint64_t object, uint32_t stream, const char *text)
{
	struct ts_row_name row = {
		.start_ns = 1,
		.object = object,
		.kind = kind,
		.domain = domain ? string(made, domain) : 0,
		.name = string(made, text),
		.context = stream != TS_NO_DEVICE ? 1 : 0,
		.stream = stream,
	};

	ts_check_int(ts_sbt_session_writer_add_row(made->sessions[session], TS_ROW_NAME, &row), 0);
}

static int make(void)
{
	struct made made = {0};
	int fd = memfd_create("trace", MFD_CLOEXEC);
	struct ts_row_stream stream = {.start_ns = 2, .handle = 0xdef, .context = 3, .stream = 9};

	ts_check_int(ts_sbt_writer_new(dup(fd), &made.writer), 0);
	for (unsigned i = 0; i < 2; i++) {
		struct ts_row_session row = {.pid = 10 + i, .start_ns = 1};

		ts_check_int(ts_sbt_session_writer_new(made.writer, &row, &made.sessions[i]), 0);
	}
	name(&made, 0, TS_NAME_THREAD, NULL, 77, TS_NO_DEVICE, "early");
	name(&made, 0, TS_NAME_THREAD, NULL, 77, TS_NO_DEVICE, "worker");
	name(&made, 1, TS_NAME_THREAD, NULL, 77, TS_NO_DEVICE, "other");
	name(&made, 0, TS_NAME_CATEGORY, NULL, 5, TS_NO_DEVICE, "default five");
	name(&made, 0, TS_NAME_CATEGORY, "lib", 5, TS_NO_DEVICE, "lib's five");
	name(&made, 0, TS_NAME_STREAM, NULL, 0xdef, TS_NO_DEVICE, "by handle");
	name(&made, 0, TS_NAME_STREAM, NULL, 0xabc, 14, "by id");
	ts_check_int(ts_sbt_session_writer_add_row(made.sessions[0], TS_ROW_STREAM, &stream), 0);
	for (unsigned i = 0; i < 2; i++)
		ts_check_int(ts_sbt_session_writer_seal(made.sessions[i], NULL, 0), 0);
	ts_check_int(ts_sbt_writer_finish(made.writer), 0);
	for (unsigned i = 0; i < 2; i++)
		ts_sbt_session_writer_free(made.sessions[i]);
	ts_sbt_writer_free(made.writer);
	return fd;
}

static void check(struct ts_sbt_reader *reader, uint32_t id, const char *want)
{
	if (want)
		ts_check_str(ts_sbt_reader_string(reader, id, NULL), want);
	else
		ts_check_int(id, 0);
}

TS_TEST(names_are_found)
{
	struct ts_labels *labels = NULL;
	struct ts_sbt_reader *reader = NULL;
	uint32_t lib = 0;
	int fd = make();

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_sbt_reader_n_names(reader), 7);
	ts_check_int(ts_labels_new(reader, &labels), 0);
	for (size_t i = 0; i < ts_sbt_reader_n_names(reader); i++)
		if (ts_sbt_reader_name_at(reader, i)->row.domain)
			lib = ts_sbt_reader_name_at(reader, i)->row.domain;
	check(reader, ts_labels_find(labels, 1, TS_NAME_THREAD, 0, 77), "worker");
	check(reader, ts_labels_find(labels, 2, TS_NAME_THREAD, 0, 77), "other");
	check(reader, ts_labels_find(labels, 1, TS_NAME_THREAD, 0, 78), NULL);
	check(reader, ts_labels_find(labels, 1, TS_NAME_CATEGORY, 0, 5), "default five");
	check(reader, ts_labels_find(labels, 1, TS_NAME_CATEGORY, lib, 5), "lib's five");
	check(reader, ts_labels_find(labels, 2, TS_NAME_CATEGORY, lib, 5), NULL);
	check(reader, ts_labels_stream(labels, 1, 3, 9), "by handle");
	check(reader, ts_labels_stream(labels, 1, 1, 14), "by id");
	check(reader, ts_labels_stream(labels, 1, 2, 14), NULL);
	check(reader, ts_labels_find(NULL, 1, TS_NAME_THREAD, 0, 77), NULL);
	ts_labels_free(labels);
	ts_sbt_reader_free(reader);
	close(fd);
}
