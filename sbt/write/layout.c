/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lays encoded blocks out for the file. The encoder makes blocks that a buffer can hold and that
 * can be numbered later; here they get their numbers, and short blocks their short headers. Large
 * blocks are not copied. Writes bytes to files. writer.c, writer-part.c, index.c, append.c and
 * repair.c call this module; it calls short.c.
 */

#include "sbt/write/layout.h"

#include <poll.h>
#include <sys/uio.h>

#include "sbt/crc32c.h"
#include "sbt/format/short.h"

/* More memory of short blocks is freed after a write. */
#define KEPT_BYTES (256u * 1024)
/* Pieces of one writev(). */
#define MAX_PIECES 64

/* Successive bytes of the file. */
struct ts_layout_piece {
	const uint8_t *at; /* NULL: bytes of the layout */
	size_t off;	   /* in these bytes */
	size_t n;
};

/* Waits until a non-blocking descriptor accepts more bytes. */
static int wait_writable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	return poll(&p, 1, -1) < 0 && errno != EINTR ? -errno : 0;
}

int ts_sbt_write_all(int fd, struct iovec *iov, int n_iov)
{
	while (n_iov > 0) {
		ssize_t n = writev(fd, iov, n_iov);

		if (n < 0 && errno == EAGAIN) {
			int r = wait_writable(fd);

			if (r)
				return r;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		while (n_iov > 0 && (size_t)n >= iov->iov_len) {
			n -= (ssize_t)iov->iov_len;
			iov++;
			n_iov--;
		}
		if (n_iov > 0) {
			iov->iov_base = (uint8_t *)iov->iov_base + n;
			iov->iov_len -= (size_t)n;
		}
	}
	return 0;
}

int ts_sbt_write_at(int fd, const uint8_t *bytes, size_t n, uint64_t off)
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

void ts_layout_deinit(struct ts_layout *layout)
{
	ts_buffer_deinit(&layout->bytes);
	ts_buffer_deinit(&layout->pieces);
}

void ts_layout_clear(struct ts_layout *layout)
{
	layout->bytes.n = layout->pieces.n = 0;
	if (layout->bytes.capacity > KEPT_BYTES)
		ts_buffer_deinit(&layout->bytes);
}

/* Adds bytes to the last piece, or as a piece of their own. */
static int add_piece(struct ts_layout *layout, const uint8_t *at, size_t off, size_t n)
{
	struct ts_layout_piece piece = {.at = at, .off = off, .n = n};
	struct ts_layout_piece *last = NULL;

	if (layout->pieces.n)
		last = (void *)(layout->pieces.bytes + layout->pieces.n - sizeof(*last));
	if (last && at ? last->at && last->at + last->n == at
		       : last && !last->at && last->off + last->n == off) {
		last->n += n;
		return 0;
	}
	return ts_buffer_append(&layout->pieces, &piece, sizeof(piece));
}

static int add_short(struct ts_layout *layout, struct ts_sbt_block_header *header,
		     const uint8_t *payload)
{
	uint8_t head[TS_SHORT_MAX_HEADER];
	size_t off = layout->bytes.n;
	int r = ts_buffer_append(&layout->bytes, head, ts_short_header_put(header, head));

	r = r ?: ts_buffer_append(&layout->bytes, payload, header->stored_bytes);
	return r ?: add_piece(layout, NULL, off, ts_block_bytes(header));
}

static int add_block(struct ts_layout *layout, struct ts_sbt_block_header *header, uint8_t *block)
{
	if (header->short_bytes)
		return add_short(layout, header, block + sizeof(*header));
	header->checksum = ts_crc32c(header, offsetof(struct ts_sbt_block_header, checksum));
	memcpy(block, header, sizeof(*header));
	return add_piece(layout, block, 0, ts_block_bytes(header));
}

int ts_layout_add(struct ts_layout *layout, uint8_t *blocks, size_t n_bytes, uint64_t *off,
		  uint64_t *sequence, ts_layout_fn list, void *data)
{
	struct ts_sbt_block_header header;
	struct ts_sbt_block block;
	int r = 0;

	for (size_t at = 0; !r && at < n_bytes; at += ts_block_held_bytes(&header)) {
		memcpy(&header, blocks + at, sizeof(header));
		header.sequence = (*sequence)++;
		r = add_block(layout, &header, blocks + at);
		ts_block_describe(&header, *off, &block);
		*off += block.bytes;
		if (!r && list)
			r = list(data, &block);
	}
	return r;
}

static struct ts_layout_piece piece_at(const struct ts_layout *layout, size_t i)
{
	struct ts_layout_piece piece;

	memcpy(&piece, layout->pieces.bytes + i * sizeof(piece), sizeof(piece));
	if (!piece.at)
		piece.at = layout->bytes.bytes + piece.off;
	return piece;
}

int ts_layout_write(const struct ts_layout *layout, int fd)
{
	size_t n_pieces = layout->pieces.n / sizeof(struct ts_layout_piece);
	struct iovec iov[MAX_PIECES];
	int n = 0, r = 0;

	for (size_t i = 0; !r && i < n_pieces; i++) {
		struct ts_layout_piece piece = piece_at(layout, i);

		iov[n].iov_base = (void *)(uintptr_t)piece.at;
		iov[n++].iov_len = piece.n;
		if (n < MAX_PIECES && i + 1 < n_pieces)
			continue;
		r = ts_sbt_write_all(fd, iov, n);
		n = 0;
	}
	return r;
}

int ts_layout_append(const struct ts_layout *layout, struct ts_buffer *out)
{
	int r = 0;

	for (size_t i = 0; !r && i < layout->pieces.n / sizeof(struct ts_layout_piece); i++) {
		struct ts_layout_piece piece = piece_at(layout, i);

		r = ts_buffer_append(out, piece.at, piece.n);
	}
	return r;
}

uint64_t ts_layout_memory(const struct ts_layout *layout)
{
	return layout->bytes.capacity + layout->pieces.capacity;
}
