/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiles equal a brute-force sum over rows: for random views of generated traces and of golden ones,
 * before the index is read and after. The brute force reads all rows by a cursor and paints the
 * rows of a lane on a line, the last ones first, so that the owner of each instant remains.
 */
#include "test/unit/report/opened.h"

#include <math.h>
#include <pthread.h>
#include <sys/mman.h>

#include "replay/report/tiles/tiles.h"
#include "sbt/writer.h"

#define MOST_ROWS 20000u
#define VIEWS	  ts_cases(250)

static uint64_t random_number(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* ---- a trace --------------------------------------------------------------------------------- */

/* The value of a counter at a time: no float has it exactly, and some are no number. */
static double value_at(uint64_t ns)
{
	return ns % 11 ? (double)(ns % 997) / 7 - 50.1 : NAN;
}

/* Adds a row of a random type. Times collide often, and some rows are long. */
static void add_row(struct ts_sbt_session_writer *session, uint64_t *state, uint64_t base_ns,
		    uint64_t range_ns)
{
	uint64_t start_ns = base_ns + random_number(state) % range_ns;
	uint64_t long_ns = random_number(state) % 50 ? 200 : range_ns / 2;
	uint64_t end_ns =
		start_ns + (random_number(state) % 9 ? random_number(state) % long_ns : 0);
	uint32_t name = 1 + (uint32_t)(random_number(state) % 4), thread = 1 + name % 2;
	uint32_t device = (uint32_t)(random_number(state) % 2);
	int r;

	switch (random_number(state) % 8) {
	case 0:
		r = ts_sbt_session_writer_add_row(session, TS_ROW_API,
						  &(struct ts_row_api){.start_ns = start_ns,
								       .end_ns = end_ns,
								       .op_id = 7,
								       .thread = thread,
								       .domain = 2,
								       .cbid = (uint16_t)name});
		break;
	case 1:
		r = ts_sbt_session_writer_add_row(session, TS_ROW_RANGE,
						  &(struct ts_row_range){.start_ns = start_ns,
									 .end_ns = end_ns,
									 .name = name,
									 .thread = thread});
		break;
	case 2:
		r = ts_sbt_session_writer_add_row(session, TS_ROW_COUNTER,
						  &(struct ts_row_counter){.start_ns = start_ns,
									   .value = value_at(
										   start_ns),
									   .name = name});
		break;
	case 3:
		r = ts_sbt_session_writer_add_row(session, TS_ROW_MEMCPY,
						  &(struct ts_row_memcpy){.start_ns = start_ns,
									  .end_ns = end_ns,
									  .op_id = 8,
									  .device = device,
									  .context = 1,
									  .stream = name,
									  .copy_kind =
										  (uint8_t)name});
		break;
	case 4:
		r = ts_sbt_session_writer_add_row(session, TS_ROW_OFF_CPU,
						  &(struct ts_row_off_cpu){.start_ns = start_ns,
									   .end_ns = end_ns,
									   .thread = thread,
									   .reason = name});
		break;
	case 5:
		r = ts_sbt_session_writer_add_row(session, TS_ROW_MARK,
						  &(struct ts_row_mark){.start_ns = start_ns,
									.name = name,
									.thread = thread});
		break;
	default:
		r = ts_sbt_session_writer_add_row(session, TS_ROW_KERNEL,
						  &(struct ts_row_kernel){.start_ns = start_ns,
									  .end_ns = end_ns,
									  .op_id = 9,
									  .device = device,
									  .context = 1,
									  .stream = name,
									  .name = name});
	}
	ts_check_int(r, 0);
}

/* Writes a trace of two sessions with `n` rows, in blocks of some `n_block` rows. */
static int write_trace(uint64_t seed, unsigned n, unsigned n_block)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);
	struct ts_sbt_session_writer *sessions[2];
	struct ts_sbt_writer *writer;
	const uint64_t step_ns = 37 * n_block;
	uint64_t base_ns = 1000000;
	uint32_t id;

	ts_check(fd >= 0);
	ts_check_int(ts_sbt_writer_new(dup(fd), &writer), 0);
	for (char name = 'a'; name < 'e'; name++)
		ts_check_int(ts_sbt_writer_string(writer, &name, 1, &id), 0);
	for (int i = 0; i < 2; i++) {
		struct ts_row_session row = {.pid = (uint32_t)i + 1, .start_ns = 999000};
		struct ts_row_thread thread = {.tid = 5};

		ts_check_int(ts_sbt_session_writer_new(writer, &row, &sessions[i]), 0);
		for (int k = 0; k < 2; k++)
			ts_check_int(ts_sbt_session_writer_add_thread(sessions[i], &thread, &id),
				     0);
	}
	for (unsigned i = 0; i < n; i++) {
		add_row(sessions[seed % 3 ? 0 : i % 2], &seed, base_ns, 3 * step_ns);
		if (i % n_block == n_block - 1) {
			for (int k = 0; k < 2; k++)
				ts_check_int(ts_sbt_session_writer_seal(sessions[k], NULL, 0), 0);
			base_ns += step_ns;
		}
	}
	for (int k = 0; k < 2; k++) {
		ts_check_int(ts_sbt_session_writer_seal(sessions[k], NULL, 0), 0);
		ts_sbt_session_writer_free(sessions[k]);
	}
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	return fd;
}

/* ---- brute force ----------------------------------------------------------------------------- */

struct item {
	uint64_t start_ns, end_ns, op_id;
	uint32_t key;
	double value; /* of a counter */
};

struct line {
	struct item *items; /* in order of priority */
	size_t n;
	uint64_t *edges;  /* all starts and ends, ascending */
	uint32_t *owners; /* key of the time from edges[i] to edges[i + 1]; 0: none */
	size_t n_edges;
};

static bool is_copy_lane(const struct ts_lane *lane, uint32_t kind)
{
	static const uint32_t directions[] = {[1] = TS_LANE_TO_DEVICE,
					      [3] = TS_LANE_TO_DEVICE,
					      [2] = TS_LANE_TO_HOST,
					      [4] = TS_LANE_TO_HOST};

	return lane->direction == (kind >= 1 && kind <= 4 ? directions[kind] : TS_LANE_ON_DEVICE);
}

static bool is_place(const struct ts_lane *lane, uint32_t device, uint32_t context, uint32_t stream)
{
	if (lane->kind == TS_LANE_STREAM)
		return lane->device == device && lane->context == context && lane->stream == stream;
	return lane->device == device &&
	       (lane->kind == TS_LANE_DEVICE || lane->kind == TS_LANE_COMPUTE ||
		lane->kind == TS_LANE_COPY);
}

/* Returns the key of a row of a thread; *ret_kind is the kind of its lane. */
static uint32_t thread_key(const struct ts_sbt_row *row, uint32_t *ret_kind, uint32_t *ret_thread)
{
	*ret_kind = TS_LANE_KERNEL_EVENTS;
	switch (row->type) {
	case TS_ROW_API:
		*ret_kind = TS_LANE_THREAD;
		*ret_thread = row->api->thread;
		return ts_tile_key(row->type, (uint32_t)row->api->domain << 16 | row->api->cbid);
	case TS_ROW_RANGE:
		*ret_kind = TS_LANE_RANGES;
		*ret_thread = row->range->thread;
		return ts_tile_key(row->type, row->range->name);
	case TS_ROW_MARK:
		*ret_kind = TS_LANE_RANGES;
		*ret_thread = row->mark->thread;
		return ts_tile_key(row->type, row->mark->name);
	case TS_ROW_SAMPLE:
		*ret_kind = TS_LANE_HOST_SAMPLES;
		*ret_thread = row->sample->thread;
		return ts_tile_sample_key(row->session, row->sample->stack);
	case TS_ROW_OFF_CPU:
		*ret_thread = row->off_cpu->thread;
		return ts_tile_key(row->type, (uint64_t)row->off_cpu->reason << 16 |
						      (row->off_cpu->syscall & 0xffff));
	case TS_ROW_PAGE_FAULT:
		*ret_thread = row->page_fault->thread;
		return ts_tile_key(row->type,
				   row->page_fault->fault << 8 | row->page_fault->memory);
	case TS_ROW_SYSCALL:
		*ret_thread = row->syscall->thread;
		return ts_tile_key(row->type, row->syscall->syscall);
	case TS_ROW_BLOCK_IO:
		*ret_thread = row->block_io->thread;
		return ts_tile_key(row->type, row->block_io->operation);
	case TS_ROW_PRESSURE:
		*ret_thread = row->pressure->thread;
		return ts_tile_key(row->type, row->pressure->kind);
	case TS_ROW_DRIVER:
		*ret_thread = row->driver->thread;
		return ts_tile_key(row->type, row->driver->kind);
	default:
		return 0;
	}
}

/* Returns the key of an operation if it belongs to the lane, else 0. */
static uint32_t operation_key(const struct ts_lane *lane, const struct ts_sbt_row *row)
{
	const struct ts_row_kernel *kernel = row->kernel;
	const struct ts_row_memcpy *copy = row->memcpy_;

	switch (row->type) {
	case TS_ROW_KERNEL:
		return is_place(lane, kernel->device, kernel->context, kernel->stream) &&
				       lane->kind != TS_LANE_COPY
			       ? ts_tile_key(row->type, kernel->name)
			       : 0;
	case TS_ROW_MEMCPY:
		return is_place(lane, copy->device, copy->context, copy->stream) &&
				       lane->kind != TS_LANE_COMPUTE &&
				       (lane->kind != TS_LANE_COPY ||
					is_copy_lane(lane, copy->copy_kind))
			       ? ts_tile_key(row->type, copy->copy_kind)
			       : 0;
	case TS_ROW_MEMSET:
		return is_place(lane, row->memset_->device, row->memset_->context,
				row->memset_->stream) &&
				       lane->kind != TS_LANE_COMPUTE && lane->kind != TS_LANE_COPY
			       ? ts_tile_key(row->type, 0)
			       : 0;
	default:
		return 0;
	}
}

/* Returns the key of a row if it belongs to the lane, else 0. */
static uint32_t key_in(const struct ts_lane *lane, const struct ts_sbt_row *row)
{
	uint32_t kind, thread = 0, key;

	if (row->session != lane->session)
		return 0;
	if (lane->kind >= TS_LANE_DEVICE)
		return operation_key(lane, row);
	if (lane->kind == TS_LANE_COUNTER)
		return row->type == TS_ROW_COUNTER && row->counter->name == lane->name &&
				       row->counter->domain == lane->domain
			       ? ts_tile_key(row->type, row->counter->name)
			       : 0;
	key = thread_key(row, &kind, &thread);
	return key && kind == lane->kind && thread == lane->thread ? key : 0;
}

static int by_priority(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	return (a->key > b->key) - (a->key < b->key);
}

static int by_time(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static size_t edge_at(const struct line *line, uint64_t ns)
{
	const uint64_t *found =
		bsearch(&ns, line->edges, line->n_edges, sizeof(*line->edges), by_time);

	ts_check(found);
	return (size_t)(found - line->edges);
}

static void paint(struct line *line)
{
	line->edges = calloc(2 * line->n + 1, sizeof(*line->edges));
	line->owners = calloc(2 * line->n + 1, sizeof(*line->owners));
	for (size_t i = 0; i < line->n; i++) {
		line->edges[line->n_edges++] = line->items[i].start_ns;
		line->edges[line->n_edges++] = line->items[i].end_ns;
	}
	qsort(line->edges, line->n_edges, sizeof(*line->edges), by_time);
	for (size_t i = line->n; i > 0; i--) {
		const struct item *item = &line->items[i - 1];
		size_t from = edge_at(line, item->start_ns);

		while (from && line->edges[from - 1] == item->start_ns)
			from--;
		for (size_t k = from; line->edges[k] < item->end_ns; k++)
			line->owners[k] = item->key;
	}
}

static void read_line(const struct trace *trace, const struct ts_lane *lane, struct line *line)
{
	uint64_t origin_ns = ts_tiles_origin_ns(trace->tiles);
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_row row;

	*line = (struct line){.items = calloc(MOST_ROWS, sizeof(*line->items))};
	ts_check_int(ts_sbt_cursor_new(trace->reader, NULL, &cursor), 0);
	while (!ts_sbt_cursor_next(cursor, &row)) {
		uint32_t key = key_in(lane, &row);

		if (!key)
			continue;
		ts_check(line->n < MOST_ROWS);
		line->items[line->n++] =
			(struct item){.start_ns = ts_row_start_ns(row.any) - origin_ns,
				      .end_ns = ts_row_end_ns(row.schema, row.any) - origin_ns,
				      .key = key,
				      .value = row.type == TS_ROW_COUNTER ? row.counter->value
									  : NAN};
	}
	ts_sbt_cursor_free(cursor);
	qsort(line->items, line->n, sizeof(*line->items), by_priority);
	paint(line);
}

static void free_line(struct line *line)
{
	free(line->items);
	free(line->edges);
	free(line->owners);
}

/* Sums by key; keys are few. */
struct sums {
	uint32_t keys[512];
	uint64_t sums[512];
	size_t n;
};

static void add_to(struct sums *sums, uint32_t key, uint64_t amount)
{
	size_t i = 0;

	while (i < sums->n && sums->keys[i] != key)
		i++;
	ts_check(i < 512);
	if (i == sums->n) {
		sums->keys[sums->n] = key;
		sums->sums[sums->n++] = 0;
	}
	sums->sums[i] += amount;
}

static struct ts_tile_cell brute_cell(const struct line *line, bool has_instants, uint64_t from_ns,
				      uint32_t level)
{
	uint64_t to_ns = from_ns + (UINT64_C(1) << level), busy_ns = 0, best = 0;
	struct ts_tile_cell cell = {0};
	struct sums sums = {.n = 0};

	for (size_t i = 0; i < line->n && line->items[i].start_ns < to_ns; i++)
		if (line->items[i].start_ns >= from_ns) {
			cell.count++;
			if (has_instants)
				add_to(&sums, line->items[i].key, 1);
		}
	for (size_t i = 0; !has_instants && i + 1 < line->n_edges && line->edges[i] < to_ns; i++) {
		uint64_t begin_ns = line->edges[i], end_ns = line->edges[i + 1];

		begin_ns = begin_ns > from_ns ? begin_ns : from_ns;
		end_ns = end_ns < to_ns ? end_ns : to_ns;
		if (end_ns <= begin_ns || !line->owners[i])
			continue;
		busy_ns += end_ns - begin_ns;
		add_to(&sums, line->owners[i], end_ns - begin_ns);
	}
	for (size_t i = 0; i < sums.n; i++)
		if (sums.sums[i] > best || (sums.sums[i] == best && sums.keys[i] < cell.key)) {
			best = sums.sums[i];
			cell.key = sums.keys[i];
		}
	if (has_instants)
		return cell;
	cell.share = (uint32_t)((double)busy_ns * 1000000 / (double)(UINT64_C(1) << level));
	cell.key_share = (uint32_t)((double)best * 1000000 / (double)(UINT64_C(1) << level));
	return cell;
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* A float is the nearest one, or the one beside it on the side. */
static void check_rounded(float got, double want, float side)
{
	ts_check(isnan(want) ? isnan(got) : (side > 0 ? got >= want : got <= want));
	ts_check(isnan(want) || got == (float)want || nextafterf(got, -side) == (float)want);
}

/* Compares the values of a counter's cell, and clears them. */
static void compare_values(struct ts_tile_cell *got, const struct line *line, uint64_t from_ns,
			   uint32_t level)
{
	double least = NAN, largest = NAN;

	for (size_t i = 0; i < line->n; i++)
		if (line->items[i].start_ns >> level == from_ns >> level) {
			least = fmin(least, line->items[i].value);
			largest = fmax(largest, line->items[i].value);
		}
	if (got->count) {
		check_rounded(ts_tile_least(got), least, -INFINITY);
		check_rounded(ts_tile_largest(got), largest, INFINITY);
	}
	got->share = got->key_share = 0;
}

static void compare_cell(const struct ts_tile_cell *got, const struct ts_tile_cell *want)
{
	ts_check_int(got->count, want->count);
	ts_check_int(got->share, want->share);
	ts_check_int(got->key, want->key);
	ts_check_int(got->key_share, want->key_share);
}

static void compare_view(struct trace *trace, const struct ts_lane *lane, const struct line *line,
			 uint32_t level, uint64_t first)
{
	struct ts_tile_cell cells[TS_TILE_CELLS];
	struct ts_tiles_view view = {
		.level = level, .n_tiles = 1, .first = first, .lanes = &lane->id, .n_lanes = 1};
	bool has_instants = lane->kind == TS_LANE_COUNTER || lane->kind == TS_LANE_HOST_SAMPLES;
	uint32_t flags;

	ts_check_int(ts_tiles_view(trace->tiles, trace->reader, &view, cells, &flags), 0);
	ts_check_int(flags, 0);
	for (uint64_t i = 0; i < TS_TILE_CELLS; i++) {
		uint64_t from_ns = (first * TS_TILE_CELLS + i) << level;
		struct ts_tile_cell want = brute_cell(line, has_instants, from_ns, level);

		if (lane->kind == TS_LANE_COUNTER)
			compare_values(&cells[i], line, from_ns, level);
		compare_cell(&cells[i], &want);
	}
}

/* Compares random views of each lane, and one that has the whole trace in a cell. */
static void compare_views(struct trace *trace, uint64_t seed, size_t n_views)
{
	uint64_t duration_ns = ts_tiles_duration_ns(trace->tiles);
	size_t n_lanes = ts_tiles_n_lanes(trace->tiles);
	uint32_t most = 1;

	while (duration_ns >> most)
		most++;
	for (size_t i = 0; i < n_lanes; i++) {
		struct ts_lane lane;
		struct line line;

		ts_tiles_lane(trace->tiles, i, &lane);
		read_line(trace, &lane, &line);
		ts_check((lane.kind == TS_LANE_PROCESS) <= (line.n == 0));
		for (size_t k = 0; k < n_views / n_lanes + 1; k++) {
			uint32_t level = (uint32_t)(random_number(&seed) % most);
			uint64_t n_tiles = (duration_ns >> level) / TS_TILE_CELLS + 1;

			compare_view(trace, &lane, &line, level, random_number(&seed) % n_tiles);
		}
		compare_view(trace, &lane, &line, most + 3, 0);
		free_line(&line);
	}
}

static void compare_trace(int fd, uint64_t seed, size_t n_views)
{
	struct trace trace = {.fd = fd};

	open_trace(&trace);
	ts_check(ts_tiles_n_lanes(trace.tiles) > 0);
	compare_views(&trace, seed, n_views);
	ts_check_int(ts_tiles_build(trace.tiles, trace.reader, NULL, NULL), 0);
	compare_views(&trace, seed + 1, n_views);
	close_trace(&trace);
}

TS_TEST(cells_of_small_blocks_equal_brute_force)
{
	compare_trace(write_trace(11, 3000, 40), 5, VIEWS);
}

TS_TEST(cells_of_large_blocks_equal_brute_force)
{
	compare_trace(write_trace(12, 6000, 2500), 6, VIEWS);
}

TS_TEST(cells_of_two_processes_equal_brute_force)
{
	compare_trace(write_trace(15, 4000, 500), 7, VIEWS);
}

TS_TEST(cells_of_golden_traces_equal_brute_force)
{
	static const char *const names[] = {"pipeline", "delays", "train"};

	for (size_t i = 0; i < 3; i++) {
		char path[512];
		int fd;

		snprintf(path, sizeof(path), TEST_GOLDEN "/%s.sbt", names[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		ts_check(fd >= 0);
		compare_trace(fd, 8 + i, VIEWS);
	}
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void compare_rows(struct trace *trace, const struct ts_lane *lane, const struct line *line,
			 uint64_t from_ns, uint64_t to_ns)
{
	struct ts_tile_rows rows;
	size_t n = 0;
	uint64_t sum = 0, want_sum = 0, origin_ns = ts_tiles_origin_ns(trace->tiles);

	ts_check_int(ts_tiles_rows(trace->tiles, trace->reader, lane->id, from_ns, to_ns, MOST_ROWS,
				   NULL, NULL, &rows),
		     0);
	ts_check(!rows.more && !rows.is_damaged);
	for (size_t i = 0; i < line->n; i++) {
		const struct item *item = &line->items[i];

		if (item->start_ns >= to_ns ||
		    (item->start_ns < from_ns && item->end_ns <= from_ns))
			continue;
		n++;
		want_sum += item->start_ns * 3 + item->end_ns * 7 + item->key;
	}
	ts_check_int(rows.n, n);
	for (size_t i = 0; i < rows.n; i++) {
		ts_check(!i || rows.at[i].start_ns >= rows.at[i - 1].start_ns);
		sum += rows.at[i].start_ns * 3 + rows.at[i].end_ns * 7 + rows.at[i].key;
		ts_check_int(rows.at[i].op_id, rows.at[i].type == TS_ROW_KERNEL	  ? 9
					       : rows.at[i].type == TS_ROW_MEMCPY ? 8
					       : rows.at[i].type == TS_ROW_API	  ? 7
										  : 0);
		ts_check(rows.at[i].type != TS_ROW_COUNTER || isnan(rows.at[i].value) ||
			 rows.at[i].value == value_at(origin_ns + rows.at[i].start_ns));
	}
	ts_check(sum == want_sum);
	free(rows.at);
}

TS_TEST(rows_of_windows_equal_brute_force)
{
	struct trace trace = {.fd = write_trace(31, 3000, 200)};
	uint64_t seed = 3, duration_ns;

	open_trace(&trace);
	duration_ns = ts_tiles_duration_ns(trace.tiles);
	for (size_t i = 0; i < ts_tiles_n_lanes(trace.tiles); i++) {
		struct ts_lane lane;
		struct line line;

		ts_tiles_lane(trace.tiles, i, &lane);
		read_line(&trace, &lane, &line);
		compare_rows(&trace, &lane, &line, 0, duration_ns + 1);
		for (int k = 0; k < 20; k++) {
			uint64_t from_ns = random_number(&seed) % duration_ns;

			compare_rows(&trace, &lane, &line, from_ns,
				     from_ns + random_number(&seed) % 9000);
		}
		free_line(&line);
	}
	close_trace(&trace);
}

TS_TEST(limit_and_depth_of_rows)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);
	struct trace trace = {.fd = fd};
	struct ts_row_session row = {.pid = 1, .start_ns = 100};
	struct ts_row_thread thread = {.tid = 5};
	static const uint64_t spans[][3] = {
		{100, 900, 0}, {150, 400, 1}, {160, 170, 2}, {400, 500, 1}, {900, 950, 0}};
	struct ts_sbt_session_writer *session;
	struct ts_sbt_writer *writer;
	struct ts_tile_rows rows;
	struct ts_lane lane = {0};
	uint32_t id;

	ts_check_int(ts_sbt_writer_new(dup(fd), &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
	ts_check_int(ts_sbt_session_writer_add_thread(session, &thread, &id), 0);
	for (size_t i = 0; i < 5; i++)
		ts_check_int(ts_sbt_session_writer_add_row(
				     session, TS_ROW_RANGE,
				     &(struct ts_row_range){.start_ns = spans[i][0],
							    .end_ns = spans[i][1],
							    .thread = id}),
			     0);
	ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	open_trace(&trace);
	for (size_t i = 0; lane.kind != TS_LANE_RANGES; i++)
		ts_tiles_lane(trace.tiles, i, &lane);
	ts_check_int(ts_tiles_rows(trace.tiles, trace.reader, lane.id, 0, 10000, 5, NULL, NULL,
				   &rows),
		     0);
	ts_check_int(rows.n, 5);
	ts_check(!rows.more);
	for (size_t i = 0; i < 5; i++)
		ts_check_int(rows.at[i].depth, spans[i][2]);
	free(rows.at);
	ts_check_int(ts_tiles_rows(trace.tiles, trace.reader, lane.id, 55, 10000, 2, NULL, NULL,
				   &rows),
		     0);
	ts_check_int(rows.n, 2);
	ts_check(rows.more);
	ts_check_int(rows.at[1].depth, 1);
	free(rows.at);
	ts_check_int(ts_tiles_build(trace.tiles, trace.reader, NULL, NULL), 0);
	ts_tiles_lane(trace.tiles, lane.id - 1, &lane);
	ts_check_int(lane.depth, 3);
	ts_check_int(lane.n_rows, 5);
	close_trace(&trace);
}

/* ---- searches and layers --------------------------------------------------------------------- */

static bool is_wanted(void *data, uint32_t key)
{
	return key == *(const uint32_t *)data;
}

/* Returns the start of the nearest item of this key after `from_ns`, or before it; 0: none. */
static uint64_t brute_search(const struct line *line, uint32_t key, uint64_t from_ns,
			     bool is_backward)
{
	uint64_t found_ns = 0;

	for (size_t i = 0; i < line->n; i++) {
		uint64_t start_ns = line->items[i].start_ns;

		if (line->items[i].key != key)
			continue;
		if (is_backward && start_ns < from_ns && start_ns > found_ns)
			found_ns = start_ns;
		if (!is_backward && start_ns > from_ns && (!found_ns || start_ns < found_ns))
			found_ns = start_ns;
	}
	return found_ns;
}

TS_TEST(searches_equal_brute_force)
{
	struct trace trace = {.fd = write_trace(51, 3000, 100)};
	/* Copies of this kind are in one lane of each device. */
	uint32_t key = ts_tile_key(TS_ROW_MEMCPY, 2);
	struct ts_tiles_search search = {.is_wanted = is_wanted, .data = &key};
	struct ts_tile_match match;
	uint64_t seed = 9, n_matches = 0;
	struct line lines[4];
	size_t n_lines = 0;

	open_trace(&trace);
	for (size_t i = 0; i < ts_tiles_n_lanes(trace.tiles); i++) {
		struct ts_lane lane;

		ts_tiles_lane(trace.tiles, i, &lane);
		if (lane.kind != TS_LANE_COPY || lane.direction != TS_LANE_TO_HOST)
			continue;
		ts_check(n_lines < 4);
		read_line(&trace, &lane, &lines[n_lines]);
		for (size_t k = 0; k < lines[n_lines].n; k++)
			n_matches += lines[n_lines].items[k].key == key;
		n_lines++;
	}
	ts_check(n_lines > 1 && n_matches > 10);
	for (int i = 0; i < 200; i++) {
		uint64_t best_ns = 0;
		uint64_t from_ns = random_number(&seed) % ts_tiles_duration_ns(trace.tiles);

		search.is_backward = i % 2;
		search.from = search.is_backward ? (struct ts_tile_place){.start_ns = from_ns}
						 : ts_tile_place_after(from_ns);
		for (size_t k = 0; k < n_lines; k++) {
			uint64_t want_ns =
				brute_search(&lines[k], key, from_ns, search.is_backward);

			if (want_ns && (!best_ns || (want_ns > best_ns) == search.is_backward))
				best_ns = want_ns;
		}
		if (!best_ns)
			continue;
		ts_check_int(ts_tiles_search(trace.tiles, trace.reader, &search, &match), 0);
		ts_check_int(match.row.start_ns, best_ns);
		ts_check_int(match.n_matches, n_matches);
		ts_check_int(match.row.op_id, 8);
	}
	search.is_backward = false;
	search.from = ts_tile_place_after(ts_tiles_duration_ns(trace.tiles));
	ts_check_int(ts_tiles_search(trace.tiles, trace.reader, &search, &match),
		     TS_SBT_E_NOT_FOUND);
	for (size_t k = 0; k < n_lines; k++)
		free_line(&lines[k]);
	close_trace(&trace);
}

TS_TEST(a_layer_of_the_same_times_has_the_same_cells)
{
	struct trace trace = {.fd = write_trace(61, 3000, 300)};
	struct ts_tile_cell cells[TS_TILE_CELLS], layer_cells[TS_TILE_CELLS];
	struct ts_tiles_layer_row *rows = calloc(MOST_ROWS, sizeof(*rows));
	struct ts_tiles_layer *layer;
	struct ts_tile_rows listed;
	size_t n = 0, n_lanes;
	uint32_t flags;

	open_trace(&trace);
	n_lanes = ts_tiles_n_lanes(trace.tiles);
	for (size_t i = 0; i < n_lanes; i++) {
		struct ts_lane lane;
		struct line line;

		ts_tiles_lane(trace.tiles, i, &lane);
		if (lane.kind != TS_LANE_STREAM && lane.kind != TS_LANE_THREAD)
			continue;
		ts_check_int(ts_tiles_find_lane(trace.tiles, &lane), lane.id);
		read_line(&trace, &lane, &line);
		for (size_t k = 0; k < line.n; k++)
			rows[n++] = (struct ts_tiles_layer_row){.start_ns = line.items[k].start_ns,
								.end_ns = line.items[k].end_ns,
								.op_id = 77,
								.key = line.items[k].key,
								.lane = lane.id};
		free_line(&line);
	}
	ts_check_int(ts_tiles_layer_new(trace.tiles, rows, n, &layer), 0);
	free(rows);
	for (size_t i = 0; i < n_lanes; i++) {
		struct ts_lane lane;
		struct ts_tiles_view view = {.lanes = &lane.id, .n_lanes = 1, .n_tiles = 1};

		ts_tiles_lane(trace.tiles, i, &lane);
		if (lane.kind < TS_LANE_DEVICE)
			continue;
		for (view.level = 0; view.level < 14; view.level++) {
			view.first = (ts_tiles_duration_ns(trace.tiles) / 2 >> view.level) /
				     TS_TILE_CELLS;
			ts_check_int(ts_tiles_view(trace.tiles, trace.reader, &view, cells, &flags),
				     0);
			ts_check_int(ts_tiles_layer_view(layer, &view, layer_cells), 0);
			ts_check(!memcmp(cells, layer_cells, sizeof(cells)));
		}
		ts_check_int(ts_tiles_layer_rows(layer, lane.id, 0, UINT64_MAX, 3, &listed), 0);
		ts_check(listed.n == 3 && listed.more && listed.at[2].op_id == 77);
		free(listed.at);
	}
	ts_tiles_layer_free(layer);
	close_trace(&trace);
}

/* ---- threads --------------------------------------------------------------------------------- */

struct worker {
	pthread_t thread;
	struct ts_tiles *tiles;
	struct ts_sbt_reader *reader;
	bool is_builder;
};

static void *work(void *data)
{
	struct worker *worker = data;
	struct ts_tile_cell cells[TS_TILE_CELLS];
	struct ts_lane lane;
	uint32_t flags;

	if (worker->is_builder) {
		ts_check_int(ts_tiles_build(worker->tiles, worker->reader, NULL, NULL), 0);
		return NULL;
	}
	for (uint32_t i = 0; i < 200; i++) {
		uint32_t id = 1 + i % (uint32_t)ts_tiles_n_lanes(worker->tiles);
		struct ts_tiles_view view = {.level = i % 24,
					     .n_tiles = 1,
					     .lanes = &id,
					     .n_lanes = 1};

		ts_check_int(ts_tiles_view(worker->tiles, worker->reader, &view, cells, &flags), 0);
		ts_tiles_lane(worker->tiles, id - 1, &lane);
	}
	return NULL;
}

TS_TEST(threads_build_and_look_at_the_same_time)
{
	struct trace trace = {.fd = write_trace(71, 8000, 400)};
	struct worker workers[4];

	open_trace(&trace);
	for (int i = 0; i < 4; i++) {
		workers[i].tiles = trace.tiles;
		workers[i].is_builder = i % 2;
		ts_check_int(ts_sbt_reader_open(trace.fd, &workers[i].reader, NULL), 0);
	}
	for (int i = 0; i < 4; i++)
		ts_check_int(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(workers[i].thread, NULL);
		ts_sbt_reader_free(workers[i].reader);
	}
	compare_views(&trace, 3, 40);
	close_trace(&trace);
}

TS_TEST(lanes_of_a_growing_trace_keep_their_ids)
{
	struct trace trace = {.fd = write_trace(81, 300, 50)};
	struct ts_tiles *later;

	open_trace(&trace);
	ts_check_int(ts_tiles_new(trace.reader, trace.tiles, &later), 0);
	ts_check_int(ts_tiles_n_lanes(later), ts_tiles_n_lanes(trace.tiles));
	for (size_t i = 0; i < ts_tiles_n_lanes(later); i++) {
		struct ts_lane before, after;

		ts_tiles_lane(trace.tiles, i, &before);
		ts_tiles_lane(later, i, &after);
		ts_check(!memcmp(&before, &after, sizeof(before)));
	}
	ts_tiles_free(later);
	close_trace(&trace);
}

/* ---- threads with several definitions -------------------------------------------------------- */

static void add_call(struct ts_sbt_session_writer *session, uint32_t thread, uint64_t start_ns)
{
	const struct ts_row_api row = {.start_ns = start_ns,
				       .end_ns = start_ns + 10,
				       .op_id = start_ns,
				       .thread = thread,
				       .domain = 2,
				       .cbid = 1};

	ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_API, &row), 0);
}

static void add_off_cpu(struct ts_sbt_session_writer *session, uint32_t thread, uint64_t start_ns)
{
	const struct ts_row_off_cpu row = {.start_ns = start_ns,
					   .end_ns = start_ns + 5,
					   .thread = thread};

	ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_OFF_CPU, &row), 0);
}

/*
 * Numbers 1 and 3 are a thread that kernel events defined first. Numbers 2 and 4 both have calls:
 * the thread id was used again. Number 5 is another thread.
 */
static int write_threads(void)
{
	static const uint32_t tids[] = {71, 72, 71, 72, 73};
	const struct ts_row_session row = {.pid = 1, .start_ns = 1000};
	int fd = memfd_create("trace", MFD_CLOEXEC);
	struct ts_sbt_session_writer *session;
	struct ts_sbt_writer *writer;
	uint32_t id;

	ts_check_int(ts_sbt_writer_new(dup(fd), &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
	for (size_t i = 0; i < TS_ARRAY_LEN(tids); i++)
		ts_check_int(ts_sbt_session_writer_add_thread(
				     session, &(struct ts_row_thread){.tid = tids[i]}, &id),
			     0);
	add_off_cpu(session, 1, 1000);
	add_off_cpu(session, 1, 1010);
	add_call(session, 2, 1020);
	add_call(session, 3, 1030);
	add_off_cpu(session, 3, 1040);
	add_call(session, 3, 1050);
	add_call(session, 4, 1060);
	add_off_cpu(session, 5, 1070);
	ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	return fd;
}

static void check_thread(struct trace *trace, uint32_t kind, uint32_t number, uint32_t first,
			 uint32_t definition, size_t n_rows)
{
	struct ts_lane lane = {.kind = kind, .session = 1, .thread = number};
	struct ts_tile_rows rows;
	uint32_t id = ts_tiles_find_lane(trace->tiles, &lane);

	ts_check(id);
	ts_tiles_lane(trace->tiles, id - 1, &lane);
	ts_check_int(lane.thread, first);
	ts_check_int(lane.definition, definition);
	ts_check_int(ts_tiles_rows(trace->tiles, trace->reader, id, 0, 1000, 100, NULL, NULL,
				   &rows),
		     0);
	ts_check_int(rows.n, n_rows);
	free(rows.at);
}

TS_TEST(a_thread_that_is_defined_twice_has_one_lane)
{
	struct trace trace = {.fd = write_threads()};
	size_t n_threads = 0;

	open_trace(&trace);
	for (size_t i = 0; i < ts_tiles_n_lanes(trace.tiles); i++) {
		struct ts_lane lane;

		ts_tiles_lane(trace.tiles, i, &lane);
		n_threads += lane.kind == TS_LANE_THREAD;
	}
	ts_check_int(n_threads, 4);
	for (uint32_t number = 1; number <= 3; number += 2) {
		check_thread(&trace, TS_LANE_THREAD, number, 1, 3, 2);
		check_thread(&trace, TS_LANE_KERNEL_EVENTS, number, 1, 3, 3);
	}
	check_thread(&trace, TS_LANE_THREAD, 2, 2, 2, 1);
	check_thread(&trace, TS_LANE_THREAD, 4, 4, 4, 1);
	check_thread(&trace, TS_LANE_KERNEL_EVENTS, 5, 5, 5, 1);
	close_trace(&trace);
}

/* ---- mistakes of the caller ------------------------------------------------------------------ */

static bool is_over(void *data)
{
	return true;
}

TS_TEST(views_outside_and_cancelled)
{
	struct trace trace = {.fd = write_trace(41, 500, 50)};
	struct ts_tile_cell cells[TS_TILE_CELLS];
	struct ts_tile_rows rows;
	uint32_t lane = 1, flags;
	struct ts_tiles_view view = {.level = 10, .n_tiles = 1, .lanes = &lane, .n_lanes = 1};

	open_trace(&trace);
	view.first = UINT64_MAX;
	ts_check_int(ts_tiles_view(trace.tiles, trace.reader, &view, cells, &flags), -EINVAL);
	view.first = 0;
	view.level = TS_TILE_MAX_LEVEL + 1;
	ts_check_int(ts_tiles_view(trace.tiles, trace.reader, &view, cells, &flags), -EINVAL);
	view.level = TS_TILE_MAX_LEVEL;
	view.n_tiles = UINT32_MAX;
	ts_check_int(ts_tiles_view(trace.tiles, trace.reader, &view, cells, &flags), -EINVAL);
	view.n_tiles = 1;
	ts_check_int(ts_tiles_view(trace.tiles, trace.reader, &view, cells, &flags), 0);
	lane = (uint32_t)ts_tiles_n_lanes(trace.tiles) + 1;
	ts_check_int(ts_tiles_view(trace.tiles, trace.reader, &view, cells, &flags),
		     TS_TILES_E_LANE);
	ts_check_int(ts_tiles_rows(trace.tiles, trace.reader, lane, 0, 1, 1, NULL, NULL, &rows),
		     TS_TILES_E_LANE);
	lane = 0;
	ts_check_int(ts_tiles_view(trace.tiles, trace.reader, &view, cells, &flags),
		     TS_TILES_E_LANE);
	lane = 2;
	view.is_cancelled = is_over;
	ts_check_int(ts_tiles_view(trace.tiles, trace.reader, &view, cells, &flags), -ECANCELED);
	ts_check_int(ts_tiles_build(trace.tiles, trace.reader, is_over, NULL), -ECANCELED);
	close_trace(&trace);
}
