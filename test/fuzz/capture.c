/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs the capture of a trace's session into plain bytes, and writes such bytes back as a trace.
 * fuzz-replay.c and hurt-capture.c call this file. Texts get new ids, because a trace numbers the
 * texts of the whole file.
 */
#include "test/fuzz/capture.h"

#include "proto/abi/hash.h"
#include "proto/abi/record.h"
#include "sbt/error.h"

#define MAX_OPERATIONS 4096u
#define MAX_ITEMS      4096u

static int append_item(const void *bytes, uint32_t n, uint32_t flags, struct ts_buffer *out)
{
	uint32_t length = n | flags;

	return ts_buffer_append(out, &length, sizeof(length)) ?: ts_buffer_append(out, bytes, n);
}

/* Appends the operations to `out` and their names to `texts`. */
static int pack_operations(struct ts_sbt_reader *reader, uint32_t session,
			   struct ts_fuzz_capture_header *header, struct ts_buffer *out,
			   struct ts_buffer *texts)
{
	struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_OPERATION),
						.session = session};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_row row;
	int r = ts_sbt_cursor_new(reader, &options, &cursor);

	while (!r && header->n_operations < MAX_OPERATIONS) {
		struct ts_row_operation operation;
		const char *name;
		size_t n = 0;

		r = ts_sbt_cursor_next(cursor, &row);
		if (r)
			break;
		operation = *row.operation;
		name = ts_sbt_reader_string(reader, operation.name, &n);
		operation.name = name ? ++header->n_texts : 0;
		if (name)
			r = append_item(name, (uint32_t)n, 0, texts);
		r = r ?: ts_buffer_append(out, &operation, sizeof(operation));
		header->n_operations++;
	}
	return r == TS_SBT_E_END ? 0 : r;
}

static int pack_blobs(struct ts_sbt_reader *reader, uint32_t session, uint32_t n,
		      struct ts_buffer *out)
{
	int r = 0;

	for (uint32_t i = 1; !r && i <= n; i++) {
		struct ts_sbt_blob blob = {0};

		r = ts_sbt_reader_blob(reader, session, i, &blob);
		r = r
			    ?: append_item(blob.bytes, blob.n_bytes,
					   blob.flags & TS_BLOB_LIST ? TS_FUZZ_BLOB_LIST : 0, out);
	}
	return r;
}

int ts_fuzz_capture_pack(struct ts_sbt_reader *reader, struct ts_buffer *out)
{
	for (size_t i = 0; i < ts_sbt_reader_n_sessions(reader); i++) {
		uint32_t session = ts_sbt_reader_session_at(reader, i)->session;
		ts_cleanup(ts_buffer_deinit) struct ts_buffer operations = {0}, texts = {0},
							      blobs = {0};
		struct ts_fuzz_capture_header header = {.magic = TS_FUZZ_CAPTURE_MAGIC};
		int r = pack_operations(reader, session, &header, &operations, &texts);

		header.n_blobs = ts_sbt_reader_n_blobs(reader, session);
		r = r ?: pack_blobs(reader, session, header.n_blobs, &blobs);
		if (!r && !header.n_operations)
			continue;
		r = r ?: ts_buffer_append(out, &header, sizeof(header));
		r = r ?: ts_buffer_append(out, operations.bytes, operations.n);
		r = r ?: ts_buffer_append(out, texts.bytes, texts.n);
		return r ?: ts_buffer_append(out, blobs.bytes, blobs.n);
	}
	return TS_SBT_E_NOT_FOUND;
}

/* ---- bytes to trace ------------------------------------------------------------------------ */

struct input {
	const uint8_t *at;
	size_t left;
};

static bool take(struct input *input, void *to, size_t n)
{
	if (input->left < n)
		return false;
	memcpy(to, input->at, n);
	input->at += n;
	input->left -= n;
	return true;
}

/*
 * Returns the bytes of the next item. If the item claims more bytes than are left, it ends at the
 * input's end. Returns NULL at the end.
 */
static const uint8_t *take_item(struct input *input, uint32_t *ret_n, bool *ret_is_list)
{
	const uint8_t *at;
	uint32_t length;

	if (!take(input, &length, sizeof(length)))
		return NULL;
	*ret_is_list = length & TS_FUZZ_BLOB_LIST;
	length &= ~TS_FUZZ_BLOB_LIST;
	*ret_n = length < input->left ? length : (uint32_t)input->left;
	at = input->at;
	input->at += *ret_n;
	input->left -= *ret_n;
	return at;
}

static int write_blobs(struct ts_sbt_session_writer *session, struct input *input, uint32_t n)
{
	int r = 0;

	for (uint32_t i = 0, blob; !r && i < n; i++) {
		bool is_list = false;
		uint32_t length = 0;
		const uint8_t *bytes = take_item(input, &length, &is_list);
		struct ts_hash128 hash;

		if (!bytes)
			return 0;
		hash = ts_hash128(bytes, length);
		r = ts_sbt_session_writer_add_blob(session, bytes, length,
						   is_list ? TS_BLOB_LIST : 0,
						   (uint64_t[]){hash.a, hash.b}, &blob);
		r = r > 0 ? 0 : r;
	}
	return r;
}

static int write_texts(struct ts_sbt_writer *writer, struct input *input, uint32_t n, uint32_t *ids)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < n; i++) {
		bool is_list;
		uint32_t length = 0;
		const uint8_t *bytes = take_item(input, &length, &is_list);

		if (bytes)
			r = ts_sbt_writer_string(writer, (const char *)bytes, length, &ids[i]);
		r = r > 0 ? 0 : r;
	}
	return r;
}

static int write_operations(struct ts_sbt_session_writer *session, struct input operations,
			    uint32_t n, const uint32_t *ids, uint32_t n_texts)
{
	struct ts_row_operation operation;
	int r = 0;

	for (uint32_t i = 0; !r && i < n && take(&operations, &operation, sizeof(operation)); i++) {
		operation.name = operation.name && operation.name <= n_texts
					 ? ids[operation.name - 1]
					 : operation.name;
		r = ts_sbt_session_writer_add_row(session, TS_ROW_OPERATION, &operation);
		r = r > 0 ? 0 : r;
	}
	return r;
}

int ts_fuzz_capture_write(const uint8_t *bytes, size_t n, int fd,
			  int (*more)(void *userdata, struct ts_sbt_writer *writer,
				      struct ts_sbt_session_writer *session),
			  void *userdata)
{
	ts_cleanup(ts_sbt_writer_freep) struct ts_sbt_writer *writer = NULL;
	ts_cleanup(ts_sbt_session_writer_freep) struct ts_sbt_session_writer *session = NULL;
	const struct ts_row_session row = {.pid = 42,
					   .start_ns = 1000,
					   .end_ns = 9000,
					   .ended = TS_SESSION_END_BYE};
	struct input input = {bytes, n}, operations;
	struct ts_fuzz_capture_header header;
	uint32_t ids[MAX_ITEMS] = {0};
	size_t n_bytes;
	int r = ts_sbt_writer_new(fd, &writer);

	if (r) {
		close(fd);
		return r;
	}
	if (!take(&input, &header, sizeof(header)) || header.magic != TS_FUZZ_CAPTURE_MAGIC ||
	    header.n_operations > MAX_OPERATIONS || header.n_texts > MAX_ITEMS ||
	    header.n_blobs > MAX_ITEMS)
		return -EINVAL;
	operations = input;
	n_bytes = header.n_operations * sizeof(struct ts_row_operation);
	if (n_bytes > input.left)
		n_bytes = input.left;
	input.at += n_bytes;
	input.left -= n_bytes;
	operations.left = n_bytes;
	r = ts_sbt_session_writer_new(writer, &row, &session);
	if (!r && more)
		r = more(userdata, writer, session);
	r = r ?: write_texts(writer, &input, header.n_texts, ids);
	r = r ?: write_blobs(session, &input, header.n_blobs);
	r = r ?: write_operations(session, operations, header.n_operations, ids, header.n_texts);
	r = r ?: ts_sbt_session_writer_seal(session, "", 0);
	return r ?: ts_sbt_writer_finish(writer);
}
