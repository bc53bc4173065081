/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text in pieces is the same with any number of threads; the first error in the order of the
 * items is the result, and the text before it is written; pieces that need the ones before them get
 * them; memory stays bounded; pieces that are freed early leave no thread.
 */
#include "test/unit/threads.h"

#include "proto/abi/base.h"
#include "replay/report/pieces.h"
#include "sbt/reader-threads.h"

#define N_ITEMS	    60000u /* of 24 bytes and more: many pieces */
#define NO_ITEM	    UINT64_MAX
#define LONG_ITEM   31000u /* its bytes are more than those of a piece */
#define LONG_BYTES  (3u * TS_PIECES_BYTES)
#define MAX_THREADS 16u

struct item {
	uint64_t number, n_bytes;
	uint8_t rest[];
};

struct writer {
	uint64_t fails_at; /* item whose text cannot be made */
	uint64_t stops_at; /* item after whose text `write` fails */
	uint64_t in_order; /* multiples of this item need the pieces before them; 0: none do */
	uint64_t n_in_order;
	uint64_t n_written; /* items */
	unsigned n_states, n_running, n_writing;
	bool is_slow, writes_anywhere;
};

struct state {
	struct writer *writer;
	uint64_t n;
};

static int state_init(void *data, void *at)
{
	struct state *state = at;

	ts_check(!state->writer && !state->n);
	state->writer = data;
	state->writer->n_states++;
	return 0;
}

static void state_deinit(void *at)
{
	struct state *state = at;

	state->writer->n_states--;
}

static int put_items(const struct writer *writer, bool in_order, const uint8_t *items,
		     size_t n_bytes, struct ts_json *text)
{
	int r = 0;

	for (size_t i = 0; !r && i < n_bytes;) {
		const struct item *item = (const void *)(items + i);

		if (!in_order && writer->in_order && item->number % writer->in_order == 0)
			r = TS_PIECES_IN_ORDER;
		else if (item->number == writer->fails_at)
			r = -EINVAL;
		else
			ts_json_bytes(text, &item->number, sizeof(item->number));
		i += item->n_bytes;
	}
	return r;
}

/* Formats the first piece that is not written. */
static int format_in_order(void *data, void *at, const uint8_t *items, size_t n_bytes,
			   struct ts_json *text)
{
	const struct item *first = (const void *)items;
	const struct state *state = at;
	struct writer *writer = data;

	ts_check(state->writer == writer);
	ts_check_int(text->n_bytes, 0);
	ts_check_int(first->number, writer->n_written);
	writer->n_in_order++;
	return put_items(writer, true, items, n_bytes, text);
}

static int format(void *data, void *at, const uint8_t *items, size_t n_bytes, struct ts_json *text)
{
	struct writer *writer = data;
	struct state *state = at;
	int r;

	ts_check(state->writer == writer);
	ts_check_int(text->n_bytes, 0);
	__atomic_add_fetch(&writer->n_running, 1, __ATOMIC_RELAXED);
	ts_check(__atomic_load_n(&writer->n_running, __ATOMIC_RELAXED) <= MAX_THREADS);
	if (writer->is_slow && state->n % 3 == 0)
		usleep(200);
	state->n++;
	r = put_items(writer, false, items, n_bytes, text);
	__atomic_sub_fetch(&writer->n_running, 1, __ATOMIC_RELAXED);
	return r;
}

static int write_text(void *data, const char *text, size_t n_bytes)
{
	struct writer *writer = data;

	ts_check(n_bytes % 8 == 0);
	ts_check_int(__atomic_fetch_add(&writer->n_writing, 1, __ATOMIC_RELAXED), 0);
	for (size_t i = 0; i < n_bytes; i += 8) {
		uint64_t number;

		memcpy(&number, text + i, sizeof(number));
		ts_check_int(number, writer->n_written++);
		if (number == writer->stops_at)
			return -EPIPE;
	}
	__atomic_fetch_sub(&writer->n_writing, 1, __ATOMIC_RELAXED);
	return 0;
}

static struct ts_pieces *new_pieces(struct writer *writer, const char *threads)
{
	const struct ts_pieces_kind kind = {.format = format,
					    .format_in_order =
						    writer->in_order ? format_in_order : NULL,
					    .write = write_text,
					    .writes_anywhere = writer->writes_anywhere,
					    .data = writer,
					    .state_bytes = sizeof(struct state),
					    .state_init = state_init,
					    .state_deinit = state_deinit};
	struct ts_pieces *pieces;

	ts_check_int(setenv("TRACESMITH_THREADS", threads, 1), 0);
	ts_check_int(ts_pieces_new(&kind, &pieces), 0);
	return pieces;
}

static int add(struct ts_pieces *pieces, uint64_t number)
{
	const size_t n_rest = number == LONG_ITEM ? LONG_BYTES : number % 5 * 8;
	void *at;
	int r = ts_pieces_add(pieces, sizeof(struct item) + n_rest, &at);
	struct item *item = at;

	if (r)
		return r;
	ts_check(!((uintptr_t)item % 8));
	item->number = number;
	item->n_bytes = sizeof(struct item) + n_rest;
	memset(item->rest, 0xff, n_rest);
	return 0;
}

/* Returns the result; *ret_states is the number of threads with a state at the end. */
static int run(struct writer *writer, const char *threads, unsigned *ret_states)
{
	struct ts_pieces *pieces = new_pieces(writer, threads);
	int r = 0;

	for (uint64_t i = 0; !r && i < N_ITEMS; i++)
		r = add(pieces, i);
	ts_check(!r || r == ts_pieces_end(pieces));
	r = ts_pieces_end(pieces);
	ts_check_int(ts_pieces_end(pieces), r);
	*ret_states = writer->n_states;
	ts_pieces_free(pieces);
	ts_check_int(writer->n_states, 0);
	return r;
}

static const char *const threads[] = {"1", "2", "4", "16"};
static const unsigned counts[] = {1, 2, 4, 16};

TS_TEST(all_items_are_written_in_order)
{
	for (unsigned i = 0; i < TS_ARRAY_LEN(threads); i++) {
		for (int way = 0; way < 4; way++) {
			struct writer writer = {.fails_at = NO_ITEM,
						.stops_at = NO_ITEM,
						.is_slow = way & 1,
						.writes_anywhere = way & 2};
			unsigned n_states;

			ts_check_int(run(&writer, threads[i], &n_states), 0);
			ts_check_int(writer.n_written, N_ITEMS);
			ts_check_int(n_states, counts[i]);
		}
	}
}

TS_TEST(the_first_error_is_the_result)
{
	static const uint64_t items[] = {0, 77, LONG_ITEM, 50000, N_ITEMS - 1};

	for (unsigned i = 0; i < TS_ARRAY_LEN(threads); i++) {
		for (unsigned j = 0; j < TS_ARRAY_LEN(items); j++) {
			struct writer fails = {.fails_at = items[j], .stops_at = NO_ITEM};
			struct writer stops = {.fails_at = N_ITEMS - 1,
					       .stops_at = items[j],
					       .writes_anywhere = i & 1};
			unsigned n_states;

			ts_check_int(run(&fails, threads[i], &n_states), -EINVAL);
			ts_check_int(fails.n_written, items[j]);
			if (items[j] == N_ITEMS - 1)
				continue;
			ts_check_int(run(&stops, threads[i], &n_states), -EPIPE);
			ts_check_int(stops.n_written, items[j] + 1);
		}
	}
}

TS_TEST(pieces_that_need_the_ones_before_get_them)
{
	static const uint64_t items[] = {1, 700, 30000};

	for (unsigned i = 0; i < TS_ARRAY_LEN(threads); i++) {
		for (unsigned j = 0; j < TS_ARRAY_LEN(items); j++) {
			struct writer writer = {.fails_at = NO_ITEM,
						.stops_at = NO_ITEM,
						.in_order = items[j],
						.is_slow = j > 0,
						.writes_anywhere = i > 0};
			struct writer fails = {.fails_at = 42000,
					       .stops_at = NO_ITEM,
					       .in_order = items[j],
					       .writes_anywhere = i & 1};
			unsigned n_states;

			ts_check_int(run(&writer, threads[i], &n_states), 0);
			ts_check_int(writer.n_written, N_ITEMS);
			/* Each multiple is in a piece; at most 1000 of them share one. */
			ts_check(writer.n_in_order >= N_ITEMS / items[j] / 1000 &&
				 writer.n_in_order >= 2);
			ts_check_int(run(&fails, threads[i], &n_states), -EINVAL);
			ts_check_int(fails.n_written, 42000);
		}
	}
}

/* Few items are not worth a thread. */
TS_TEST(few_items_start_no_thread)
{
	struct writer writer = {.fails_at = NO_ITEM, .stops_at = NO_ITEM};
	struct ts_pieces *pieces = new_pieces(&writer, "16");

	for (uint64_t i = 0; i < 3000 / TS_SBT_THREADS_SHARE; i++)
		ts_check_int(add(pieces, i), 0);
	ts_check_int(ts_pieces_end(pieces), 0);
	ts_check_int(writer.n_written, 3000 / TS_SBT_THREADS_SHARE);
	ts_check_int(writer.n_states, 1);
	ts_pieces_free(pieces);
}

TS_TEST(pieces_without_an_item)
{
	struct writer writer = {.fails_at = NO_ITEM, .stops_at = NO_ITEM};
	struct ts_pieces *pieces = new_pieces(&writer, "2");

	ts_check_int(ts_pieces_end(pieces), 0);
	ts_check_int(writer.n_written, 0);
	ts_pieces_free(pieces);
	ts_pieces_free(NULL);
}

TS_TEST(pieces_that_are_freed_early_end_their_threads)
{
	struct writer writer = {.fails_at = NO_ITEM, .stops_at = NO_ITEM, .is_slow = true};
	unsigned before = count_first_threads();
	struct ts_pieces *pieces = new_pieces(&writer, "16");

	for (uint64_t i = 0; i < N_ITEMS; i++)
		ts_check_int(add(pieces, i), 0);
	ts_check_int(n_threads(), before + 15);
	ts_pieces_free(pieces);
	check_threads(before);
	ts_check(writer.n_written < N_ITEMS);
}
