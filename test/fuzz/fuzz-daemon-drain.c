/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes a shard of a hostile producer. The input is the position where reading begins, the claimed
 * head, and the ring's bytes. Every drained record (daemon/ingest/drain.h) is converted to a row
 * (daemon/merge).
 */
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/ingest/drain.h"
#include "daemon/merge/convert-rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void fuzz_shard(struct ts_rows *rows, int fd, uint64_t position, uint64_t head)
{
	const struct ts_drain_ring ring = {fd, 0, TS_RING_MIN_BYTES};
	struct ts_drain drain = {0};

	while (position != head) {
		const struct ts_record *record;
		size_t n_bytes, off;

		if (ts_drain_copy(&drain, &ring, position, head, &n_bytes, &off) < 0)
			break;
		for (;;) {
			struct ts_row_api api[4];
			struct ts_row_kernel kernels[4];
			struct ts_rows_frequent frequent = {api, kernels, 0, 0, 4};
			union ts_row_any row;

			ts_rows_convert_frequent(rows, drain.buffer, n_bytes, n_bytes, &off,
						 &frequent);
			if (ts_record_next(drain.buffer, n_bytes, &off, &record))
				break;
			ts_rows_convert(rows, record, &row);
		}
		if (!off || off > head - position)
			abort();
		position += off;
	}
	ts_drain_deinit(&drain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct ts_arena_reader ids = {0};
	struct ts_clock_table tsc, cupti;
	struct ts_rows rows = {.ids = &ids, .thread = 1, .latest_ns = UINT64_MAX};
	uint64_t position, head;
	uint8_t *bytes;
	int fd;

	if (n_bytes < 2 * sizeof(uint64_t))
		return 0;
	memcpy(&position, data, sizeof(position));
	memcpy(&head, data + sizeof(position), sizeof(head));
	data += 2 * sizeof(uint64_t);
	n_bytes -= 2 * sizeof(uint64_t);
	/* session-round.c rejects an invalid position before it drains anything. */
	if (position % 8 || !ts_ring_consumer_check(head, position, position, TS_RING_MIN_BYTES))
		return 0;
	fd = memfd_create("ring", MFD_CLOEXEC);
	bytes = calloc(1, TS_RING_MIN_BYTES);
	for (size_t i = 0; bytes && i < n_bytes && i < TS_RING_MIN_BYTES; i++)
		bytes[(position + i) % TS_RING_MIN_BYTES] = data[i];
	if (fd < 0 || !bytes || pwrite(fd, bytes, TS_RING_MIN_BYTES, 0) != TS_RING_MIN_BYTES)
		abort();
	free(bytes);
	if (!ts_clock_table_init(&tsc) && !ts_clock_table_init(&cupti) &&
	    !ts_halves_new(&rows.halves)) {
		ts_clock_table_add(&tsc, &(struct ts_clock_pair){1000, 500, 1});
		ts_clock_table_add(&tsc, &(struct ts_clock_pair){3000, 1500, 1});
		rows.clocks[TS_CLOCK_TSC] = &tsc;
		rows.clocks[TS_CLOCK_CUPTI] = &cupti;
		fuzz_shard(&rows, fd, position, head);
		ts_halves_free(rows.halves);
		ts_clock_table_deinit(&tsc);
		ts_clock_table_deinit(&cupti);
	}
	ts_arena_reader_deinit(&ids);
	close(fd);
	return 0;
}
