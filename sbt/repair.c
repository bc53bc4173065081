/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cut file made whole: the list of blocks that the reader found becomes the index, and what follows
 * them goes. Only ever at the end: where whole blocks lie behind the damage, cutting would lose them, so nothing
 * is done and the place is named.
 */

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "sbt/reader-internal.h"
#include "sbt/repair.h"

static int set_error(struct ts_sbt_error *error, int code, uint64_t off, const char *text)
{
	if (error) {
		*error = (struct ts_sbt_error){.code = code, .off = off};
		snprintf(error->text, sizeof(error->text), "%s", text);
	}
	return code;
}

static int set_lock(int fd, short type)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_len = 1};

	/* As in the writer: a file system without locks is no reason to refuse. */
	if (fcntl(fd, F_OFD_SETLK, &lock) < 0 && (errno == EAGAIN || errno == EACCES))
		return -EBUSY;
	return 0;
}

static int check_fd(int fd, struct ts_sbt_error *ret_error)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0 || fstat(fd, &st) < 0)
		return set_error(ret_error, -errno, 0, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return set_error(ret_error, -EINVAL, 0, "not a regular file");
	if ((flags & O_ACCMODE) != O_RDWR)
		return set_error(ret_error, -EBADF, 0, "not open for reading and writing");
	return 0;
}

static int write_at(int fd, const uint8_t *bytes, size_t n, uint64_t off)
{
	while (n) {
		ssize_t put = pwrite(fd, bytes, n, (off_t)off);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		bytes += put;
		off += (uint64_t)put;
		n -= (size_t)put;
	}
	return 0;
}

/* Blocks before a first index block: an index that did not get its end marker is made anew. */
static size_t blocks_to_keep(const struct ts_sbt_reader *reader)
{
	size_t n = 0;

	while (n < reader->n_blocks && reader->blocks[n].type != TS_ROW_INDEX)
		n++;
	return n;
}

static int rebuild(int fd, struct ts_sbt_reader *reader, struct ts_sbt_repair_report *report,
		   struct ts_sbt_error *ret_error)
{
	size_t n = blocks_to_keep(reader);
	const struct ts_sbt_block *last = n ? &reader->blocks[n - 1] : NULL;
	uint64_t end = last ? last->off + last->bytes : TS_SBT_HEADER_BYTES, found;
	struct ts_buffer index = {0};
	struct ts_sbt_search search;
	int r;

	/* Behind the blocks that were listed: whether anything whole follows what broke the list. */
	ts_sbt_search_init(&search, fd, reader->file_bytes);
	r = ts_sbt_search_block(&search, reader->whole_bytes, reader->n_blocks, &found);
	if (!r)
		return set_error(ret_error, TS_SBT_E_CORRUPT, reader->whole_bytes,
				 "damage in the middle, with whole blocks after it: not cut off");
	if (r == TS_SBT_E_LIMIT)
		return set_error(
			ret_error, r, reader->whole_bytes,
			"damage with too much behind it that looks like blocks: not cut off");
	if (r < 0)
		return set_error(ret_error, r, reader->whole_bytes, strerror(-r));
	r = ts_index_encode(reader->blocks, n, end, &index);
	if (!r && ftruncate(fd, (off_t)end) < 0)
		r = -errno;
	if (!r) {
		r = write_at(fd, index.bytes, index.n, end);
		if (r && ftruncate(fd, (off_t)end) < 0)
			r = -errno;
	}
	if (!r) {
		report->n_blocks = n;
		for (size_t i = 0; i < n; i++)
			if (reader->blocks[i].type < TS_ROW_EVENT_COUNT)
				report->n_rows += reader->blocks[i].n_rows;
		report->cut_bytes = reader->file_bytes - end;
		report->file_bytes = end + index.n;
	}
	ts_buffer_deinit(&index);
	return r ? set_error(ret_error, r, end, strerror(-r)) : 0;
}

int ts_sbt_repair(int fd, struct ts_sbt_repair_report *ret_report, struct ts_sbt_error *ret_error)
{
	ts_cleanup(ts_sbt_reader_freep) struct ts_sbt_reader *reader = NULL;
	struct ts_sbt_repair_report report = {0};
	int r = check_fd(fd, ret_error);

	if (r)
		return r;
	if (set_lock(fd, F_WRLCK))
		return set_error(ret_error, -EBUSY, 0, "it is still being written");
	r = ts_sbt_reader_open(fd, &reader, ret_error);
	if (!r && reader->state == TS_SBT_FINISHED && reader->has_index) {
		report.was_finished = true;
		report.n_blocks = blocks_to_keep(reader);
		report.file_bytes = reader->file_bytes;
		for (size_t i = 0; i < reader->n_blocks; i++)
			if (reader->blocks[i].type < TS_ROW_EVENT_COUNT)
				report.n_rows += reader->blocks[i].n_rows;
	} else if (!r) {
		r = rebuild(fd, reader, &report, ret_error);
	}
	set_lock(fd, F_UNLCK);
	if (!r)
		*ret_report = report;
	return r;
}
