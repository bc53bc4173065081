/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the files of one recording as one trace: their lists of blocks become one list. Blocks that
 * a file carries over from the file before are left out. Summaries refer to blocks by number in
 * their own file; `numbers` translates these. `tsctl` and the daemon join files; the files are
 * opened by reader.c.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "sbt/read/reader-internal.h"

int ts_sbt_reader_part(const struct ts_sbt_reader *reader, struct ts_row_part *ret_part)
{
	if (!reader->part_block)
		return TS_SBT_E_NOT_FOUND;
	*ret_part = reader->part;
	return 0;
}

char *ts_sbt_part_path(const char *path, uint32_t number)
{
	size_t n = strlen(path), n_stem = n, at;
	char *part;

	if (n > 4 && !strcmp(path + n - 4, ".sbt"))
		n_stem = n - 4;
	for (at = n_stem; at && isdigit((unsigned char)path[at - 1]); at--)
		;
	if (at < n_stem && at > 1 && path[at - 1] == '.' && path[at - 2] != '/')
		return NULL;
	return asprintf(&part, "%.*s.%" PRIu32 "%s", (int)n_stem, path, number, path + n_stem) < 0
		       ? NULL
		       : part;
}

bool ts_sbt_reader_is_before(const struct ts_sbt_reader *before, const struct ts_sbt_reader *after)
{
	uint32_t part = before->part_block ? before->part.part : 1;
	const uint8_t *recording = before->part_block ? before->part.recording : before->uuid;

	return after->part_block && !before->n_before && !after->n_before &&
	       after->part.part == part + 1 &&
	       !memcmp(after->part.recording, recording, sizeof(after->part.recording)) &&
	       before->file_bytes < UINT64_C(1) << TS_SBT_OFF_BITS;
}

static bool is_kept(const struct ts_sbt_reader *of, size_t i, bool is_oldest)
{
	unsigned type = of->blocks[i].type;

	if (type == TS_ROW_PART || type == TS_ROW_INDEX)
		return false;
	return is_oldest || !of->part_block || i > of->part_block;
}

/*
 * Appends the blocks of one file to the list, which has `n` entries. Returns the new number of
 * entries. If `to` is NULL, the blocks are only counted.
 */
static size_t append_list(struct ts_sbt_block *to, uint64_t *const *numbers, size_t n,
			  const struct ts_sbt_reader *of, size_t file, bool is_oldest)
{
	for (size_t i = 0; i < of->n_blocks; i++) {
		bool kept = is_kept(of, i, is_oldest);

		if (to)
			numbers[file][1 + i] = kept ? n : UINT64_MAX;
		if (!kept)
			continue;
		if (to) {
			to[n] = of->blocks[i];
			to[n].off |= (uint64_t)file << TS_SBT_OFF_BITS;
		}
		n++;
	}
	if (to)
		numbers[file][0] = of->n_blocks;
	return n;
}

/* Appends all files, the oldest first. If `to` is NULL, the blocks are only counted. */
static size_t list_all(struct ts_sbt_block *to, uint64_t *const *numbers,
		       const struct ts_sbt_reader *reader, struct ts_sbt_reader *const *before,
		       size_t n_before)
{
	size_t n = 0;

	for (size_t i = n_before; i-- > 0;)
		n = append_list(to, numbers, n, before[i], i + 1, i == n_before - 1);
	return append_list(to, numbers, n, reader, 0, false);
}

static void free_numbers(uint64_t **numbers, size_t n_before)
{
	for (size_t i = 0; numbers && i <= n_before; i++)
		free(numbers[i]);
	free(numbers);
}

/* Allocates the numbers of each file's blocks. Returns NULL without memory. */
static uint64_t **make_numbers(const struct ts_sbt_reader *reader,
			       struct ts_sbt_reader *const *before, size_t n_before)
{
	uint64_t **numbers = calloc(n_before + 1, sizeof(*numbers));

	for (size_t i = 0; numbers && i <= n_before; i++) {
		numbers[i] = calloc((i ? before[i - 1] : reader)->n_blocks + 1, sizeof(**numbers));
		if (!numbers[i]) {
			free_numbers(numbers, n_before);
			return NULL;
		}
	}
	return numbers;
}

static void take_over(struct ts_sbt_reader *reader, struct ts_sbt_reader **before, size_t n_before,
		      int *fds)
{
	for (size_t i = 0; i < n_before; i++) {
		fds[i] = ts_take_fd(&before[i]->fd);
		if (!reader->lost_block.code)
			reader->lost_block = before[i]->lost_block;
		reader->file_bytes += before[i]->file_bytes;
		reader->whole_bytes += before[i]->file_bytes;
	}
	reader->before = fds;
	reader->n_before = n_before;
	/*
	 * The index and the order by session refer to blocks by their numbers in one file, so they
	 * are invalid now.
	 */
	reader->has_index = false;
	free(ts_take_ptr(reader->by_session));
	reader->n_by_session = 0;
}

static int join(struct ts_sbt_reader *reader, struct ts_sbt_reader **before, size_t n_before)
{
	struct ts_sbt_block *blocks;
	uint64_t **numbers;
	size_t n;
	int *fds;

	for (size_t i = 0; i < n_before; i++)
		if (!ts_sbt_reader_is_before(before[i], i ? before[i - 1] : reader))
			return ts_sbt_reader_fail(reader, TS_SBT_E_NOT_FOUND, 0,
						  "a file is not the part before the next file");
	n = list_all(NULL, NULL, reader, before, n_before);
	if (n > TS_SBT_MAX_BLOCKS)
		return ts_sbt_reader_fail(reader, TS_SBT_E_LIMIT, 0, "more than %u blocks",
					  TS_SBT_MAX_BLOCKS);
	blocks = calloc(n + 1, sizeof(*blocks));
	fds = calloc(n_before, sizeof(*fds));
	numbers = make_numbers(reader, before, n_before);
	if (!blocks || !fds || !numbers) {
		free(blocks);
		free(fds);
		free_numbers(numbers, n_before);
		return -ENOMEM;
	}
	list_all(blocks, numbers, reader, before, n_before);
	reader->numbers = numbers;
	take_over(reader, before, n_before, fds);
	free(reader->blocks);
	reader->blocks = blocks;
	reader->n_blocks = reader->capacity = n;
	reader->n_loaded = 0;
	reader->list_bytes = 0;
	ts_sbt_reader_free_definitions(reader);
	ts_sbt_reader_init_definitions(reader);
	return ts_sbt_reader_load_definitions(reader);
}

int ts_sbt_reader_join(struct ts_sbt_reader *reader, struct ts_sbt_reader **before, size_t n_before)
{
	int r = n_before ? join(reader, before, n_before) : 0;

	for (size_t i = 0; i < n_before; i++)
		ts_sbt_reader_free(ts_take_ptr(before[i]));
	return r;
}
