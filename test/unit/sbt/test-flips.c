/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files with one flipped bit: verify finds it, with corrected checksums or without, and nothing
 * crashes.
 */

#include "test/unit/harness.h"

#include "sbt/verify.h"
#include "sbt/write/writer-internal.h"
#include "test/fuzz/fuzz-sbt.h"
#include "test/unit/sbt/sbt-test.h"

static void flip_bits(int fd)
{
	struct ts_sbt_verify_report report;
	uint64_t state = 11;
	size_t n;
	uint8_t *bytes = test_contents(fd, &n);

	for (unsigned i = 0; i < ts_cases(4500); i++) {
		size_t at = i < 1000 ? i % n : test_random(&state) % n;
		uint8_t bit = (uint8_t)(1u << test_random(&state) % 8);
		struct ts_sbt_reader *reader;
		int r;

		alarm(TS_TEST_SECONDS); /* each test may hang, together they may take longer */
		bytes[at] ^= bit;
		ts_check(pwrite(fd, bytes + at, 1, (off_t)at) == 1);
		r = ts_sbt_verify(fd, NULL, &report);
		ts_check(r >= 0);
		if (!report.n_findings) {
			fprintf(stderr, "bit %u of byte %zu: not found\n", bit, at);
			exit(1);
		}
		/* The report names the part that contains the bit, and nothing before it. */
		ts_check(report.first.off <= at && at - report.first.off < 100000);
		if (i % 4 == 0 && !ts_sbt_reader_open(fd, &reader, NULL)) {
			test_read_all(reader);
			ts_sbt_reader_free(reader);
		}
		bytes[at] ^= bit;
		ts_check(pwrite(fd, bytes + at, 1, (off_t)at) == 1);
	}
	ts_check_int(ts_sbt_verify(fd, NULL, &report), 0);
	ts_check_int(report.n_findings, 0);
	free(bytes);
	close(fd);
}

TS_TEST(bit_flips)
{
	flip_bits(test_small_trace(1, 5, true));
	flip_bits(test_small_trace_by(ts_sbt_writer_new_plain, 1, 5, true));
}

/*
 * A flipped bit in a block whose checksums are correct, as in a hostile writer's file, does no harm
 * to the reader.
 */
static void flip_bits_with_right_checksums(int fd)
{
	struct ts_sbt_verify_report report;
	struct ts_sbt_reader *whole;
	uint64_t state = 5;
	size_t n, n_blocks;
	uint8_t *bytes = test_contents(fd, &n), *copy = malloc(n);

	ts_check(copy);
	ts_check_int(ts_sbt_reader_open(fd, &whole, NULL), 0);
	n_blocks = ts_sbt_reader_n_blocks(whole);
	for (int i = 0; i < 2500; i++) {
		const struct ts_sbt_block *block =
			ts_sbt_reader_block(whole, test_random(&state) % n_blocks);
		struct ts_sbt_reader *reader;
		uint64_t head;
		uint8_t *at;
		int damaged;

		alarm(TS_TEST_SECONDS);
		memcpy(copy, bytes, n);
		at = copy + block->off;
		head = *at == 'T' && at[1] == 'b' ? at[2] : 88;
		at[test_random(&state) % (i % 2 ? block->bytes : head)] ^=
			(uint8_t)(1u << test_random(&state) % 8);
		ts_fuzz_sbt_fix_block(at, n - block->off);
		damaged = test_file_of(copy, n);
		ts_check(ts_sbt_verify(damaged, NULL, &report) >= 0);
		if (!ts_sbt_reader_open(damaged, &reader, NULL)) {
			test_read_all(reader);
			ts_sbt_reader_free(reader);
		}
		close(damaged);
	}
	ts_sbt_reader_free(whole);
	free(copy);
	free(bytes);
	close(fd);
}

TS_TEST(bit_flips_with_right_checksums)
{
	flip_bits_with_right_checksums(test_small_trace(1, 5, true));
	flip_bits_with_right_checksums(test_small_trace_by(ts_sbt_writer_new_plain, 1, 5, true));
}
