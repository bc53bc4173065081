/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a captured program and its contents from a trace. replay/report, tsctl and run.c call this
 * file. The file has operations in order of time. A replay needs them by sequence number, up to the
 * first missing one.
 */
#include "replay/exec/exec-program.h"

#include "proto/abi/grow.h"
#include "proto/abi/hash.h"
#include "sbt/error.h"

static int compare(const void *a, const void *b)
{
	const struct ts_row_operation *x = a, *y = b;

	return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

static int add(struct ts_exec_program *program, size_t *capacity,
	       const struct ts_row_operation *row)
{
	if (program->n == TS_EXEC_MAX_OPERATIONS)
		return TS_EXEC_E_TOO_MANY;
	if (TS_GROW(program->operations, *capacity, program->n + 1))
		return -ENOMEM;
	program->operations[program->n++] = *row;
	return 0;
}

static int gather(struct ts_exec_program *program)
{
	struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_OPERATION),
						.session = program->session};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	size_t capacity = 0;
	struct ts_sbt_row row;
	int r = ts_sbt_cursor_new(program->reader, &options, &cursor);

	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		/* A damaged block is a gap; the operations before the gap are replayable. */
		if (r == TS_SBT_E_CORRUPT)
			r = 0;
		else if (!r)
			r = add(program, &capacity, row.operation);
	}
	return r == TS_SBT_E_END ? 0 : r;
}

int ts_exec_program_new(struct ts_sbt_reader *reader, uint32_t session,
			struct ts_exec_program **ret_program)
{
	ts_cleanup(ts_exec_program_freep) struct ts_exec_program *program =
		calloc(1, sizeof(*program));
	size_t n = 0;
	int r;

	if (!program)
		return -ENOMEM;
	program->reader = reader;
	program->session = session;
	r = gather(program);
	if (r)
		return r;
	if (!program->n)
		return TS_EXEC_E_NOT_CAPTURED;
	qsort(program->operations, program->n, sizeof(*program->operations), compare);
	while (n < program->n && program->operations[n].sequence == n + 1) {
		program->n_unsupported += program->operations[n].kind == TS_OPERATION_UNSUPPORTED;
		program->ended |= program->operations[n].kind == TS_OPERATION_END;
		n++;
	}
	program->cut = n < program->n;
	program->n = program->n_selected = program->end = n;
	*ret_program = ts_take_ptr(program);
	return 0;
}

void ts_exec_program_free(struct ts_exec_program *program)
{
	if (!program)
		return;
	free(program->operations);
	free(program->selected);
	free(program);
}

void ts_exec_content_deinit(struct ts_exec_content *content)
{
	free(content->bytes);
	*content = (struct ts_exec_content){0};
}

/* Appends the bytes of a blob that is not a list of blobs. */
static int append(const struct ts_exec_program *program, uint32_t number, size_t max_bytes,
		  struct ts_exec_content *content)
{
	struct ts_sbt_blob blob;
	struct ts_hash128 hash;
	int r = ts_sbt_reader_blob(program->reader, program->session, number, &blob);

	if (r)
		return r < 0 ? r : TS_EXEC_E_CONTENT;
	hash = ts_hash128(blob.bytes, blob.n_bytes);
	if (hash.a != blob.hash[0] || hash.b != blob.hash[1] || (blob.flags & TS_BLOB_LIST) ||
	    blob.n_bytes > max_bytes - content->n)
		return TS_EXEC_E_CONTENT;
	if (TS_GROW(content->bytes, content->capacity, content->n + blob.n_bytes + 1))
		return -ENOMEM;
	memcpy(content->bytes + content->n, blob.bytes, blob.n_bytes);
	content->n += blob.n_bytes;
	content->bytes[content->n] = 0;
	return 0;
}

int ts_exec_program_content(const struct ts_exec_program *program, uint32_t number,
			    size_t max_bytes, struct ts_exec_content *content)
{
	ts_cleanup(ts_freep) uint32_t *list = NULL;
	struct ts_sbt_blob blob;
	size_t n;
	int r = ts_sbt_reader_blob(program->reader, program->session, number, &blob);

	content->n = 0;
	if (r)
		return r < 0 ? r : TS_EXEC_E_CONTENT;
	if (!(blob.flags & TS_BLOB_LIST))
		return append(program, number, max_bytes, content);
	n = blob.n_bytes / sizeof(*list);
	list = malloc(blob.n_bytes + 1);
	if (!list)
		return -ENOMEM;
	/* The reader's buffer is valid only until the next blob. */
	memcpy(list, blob.bytes, blob.n_bytes);
	for (size_t i = 0; i < n; i++) {
		r = append(program, list[i], max_bytes, content);
		if (r)
			return r;
	}
	return n ? 0 : TS_EXEC_E_CONTENT;
}
