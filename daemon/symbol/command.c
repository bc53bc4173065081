/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbolises a finished trace on request: opens the trace again and appends the symbols that it
 * finds. daemon/main.c calls this module for `tracesmithd --symbolize`. This module calls
 * ts_symbolize_trace(). The process has the rights of the command's user and handles one trace.
 */
#include "daemon/symbol/command.h"

#include <stdio.h>

#include "proto/rpc/frame.h"
#include "proto/rpc/json.h"
#include "proto/rpc/tracesmith.pb-c.h"
#include "sbt/append.h"

/* Longest time for one file. */
#define FILE_DEADLINE_MS 60000u

static int sink_string(void *data, const char *bytes, size_t n_bytes, uint32_t *ret_id)
{
	return ts_sbt_append_string(data, bytes, n_bytes, ret_id);
}

static int sink_row(void *data, unsigned type, const void *row)
{
	return ts_sbt_append_row(data, type, row);
}

static int symbolize(const struct ts_symbolize_command *command, struct ts_symbol_report *report,
		     struct ts_sbt_error *error)
{
	ts_cleanup(ts_sbt_append_freep) struct ts_sbt_append *append = NULL;
	struct ts_symbol_trace_options options = {
		.symbolizer = {.worker.path = command->worker, .deadline_ms = FILE_DEADLINE_MS},
		.again = command->again,
	};
	struct ts_symbol_sink sink = {sink_string, sink_row, NULL};
	int r = ts_sbt_append_new(command->trace_fd, &append, error);

	if (r)
		return r;
	sink.data = append;
	r = ts_symbolize_trace(ts_sbt_append_reader(append), &sink, &options, report);
	if (r > 0)
		*error = *ts_sbt_reader_error(ts_sbt_append_reader(append));
	else if (r == -ENOENT)
		snprintf(error->text, sizeof(error->text),
			 "tracesmith-worker, which reads the files, is not installed");
	else if (r)
		snprintf(error->text, sizeof(error->text), "%s", strerror(-r));
	return r ?: ts_sbt_append_commit(append, error);
}

static int send_message(int fd, const ProtobufCMessage *message)
{
	size_t n_bytes = protobuf_c_message_get_packed_size(message), at = 0;
	ts_cleanup(ts_freep) uint8_t *packed = malloc(sizeof(struct ts_frame_header) + n_bytes);
	struct ts_frame_header header;

	if (!packed)
		return -ENOMEM;
	header = ts_frame_header_make(TS_FRAME_ANSWER, 1, (uint32_t)n_bytes);
	memcpy(packed, &header, sizeof(header));
	protobuf_c_message_pack(message, packed + sizeof(header));
	n_bytes += sizeof(header);
	while (at < n_bytes) {
		ssize_t n = write(fd, packed + at, n_bytes - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += (size_t)n;
	}
	return 0;
}

static int send_error(int fd, int r, struct ts_sbt_error *error)
{
	Ts__Rpc__SymbolizeReport message = TS__RPC__SYMBOLIZE_REPORT__INIT;

	message.error = error->text;
	TS_RPC_SET(&message, error_code, r);
	TS_RPC_SET(&message, error_at, error->off);
	return send_message(fd, &message.base);
}

static const char *result_name(enum ts_image_result result)
{
	static const char *const names[] = {
		[TS_IMAGE_RESOLVED] = "resolved", [TS_IMAGE_NO_DEBUG] = "no_debug_info",
		[TS_IMAGE_NO_FILE] = "no_file",	  [TS_IMAGE_OTHER_FILE] = "other_file",
		[TS_IMAGE_BAD_FILE] = "bad_file", [TS_IMAGE_NOT_TRIED] = "not_tried",
	};

	return names[result];
}

static int send_report(int fd, const struct ts_symbol_report *report)
{
	Ts__Rpc__SymbolizeReport message = TS__RPC__SYMBOLIZE_REPORT__INIT;
	ts_cleanup(ts_freep) Ts__Rpc__SymbolizedImage *images =
		calloc(report->n_images + 1, sizeof(*images));
	ts_cleanup(ts_freep) Ts__Rpc__SymbolizedImage **list =
		calloc(report->n_images + 1, sizeof(Ts__Rpc__SymbolizedImage *));

	if (!images || !list)
		return -ENOMEM;
	TS_RPC_SET(&message, frames, report->n_frames);
	TS_RPC_SET(&message, addresses, report->n_addresses);
	TS_RPC_SET(&message, named, report->n_named);
	TS_RPC_SET(&message, kept, report->n_kept);
	TS_RPC_SET(&message, left_out, report->n_left_out);
	for (size_t i = 0; i < report->n_images; i++) {
		const struct ts_symbol_report_image *from = &report->images[i];

		ts__rpc__symbolized_image__init(&images[i]);
		images[i].path = from->path;
		/* protobuf-c lacks const; it does not write through the pointer. */
		images[i].result = (char *)(uintptr_t)result_name(from->result);
		images[i].why = *from->why ? (char *)(uintptr_t)from->why : NULL;
		TS_RPC_SET(&images[i], addresses, from->n_addresses);
		TS_RPC_SET(&images[i], named, from->n_named);
		list[i] = &images[i];
	}
	message.images = list;
	message.n_images = report->n_images;
	return send_message(fd, &message.base);
}

int ts_symbolize_command(const struct ts_symbolize_command *command)
{
	ts_cleanup(ts_symbol_report_deinit) struct ts_symbol_report report = {0};
	struct ts_sbt_error error = {0};
	int r = symbolize(command, &report, &error);

	r = r ? send_error(command->report_fd, r, &error) ?: 1
	      : send_report(command->report_fd, &report);
	return r ? 1 : 0;
}
