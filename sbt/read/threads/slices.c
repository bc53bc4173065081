/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides the rows of a trace by time and reads the slices in threads: see slices.h. replay/ calls
 * this module; this module uses jobs.c, and cursors that resume in the middle of blocks.
 *
 *     blocks --divide()--> slices --ts_jobs_add()--> part, read in a thread --merge()--> result
 *
 * A slice begins at the earliest row of a block. Of the blocks near an even division, it is the one
 * at which the fewest other blocks are open, because the slices on both sides decode those.
 */

#include "sbt/slices.h"

#include "sbt/read/filter.h"
#include "sbt/read/threads/jobs.h"
#include "sbt/read/threads/twin.h"

/*
 * Slices for each thread, so that threads end at about the same time. A slice has at most
 * SLICE_ROWS rows, so that the caller learns of progress.
 */
#define THREAD_SLICES 2u
#define MIN_SLICES    8u
#define SLICE_ROWS    (4u * 1024 * 1024)
/*
 * Memory for the open blocks of all threads; there are fewer threads if the rows of their blocks
 * need more. Mostly the columns of a block take half of its rows.
 */
#define MAX_OPEN_BYTES (128ull * 1024 * 1024)

/* A block in order of its earliest row, or only of its latest one. */
struct point {
	uint64_t ns;
	uint64_t n_rows;
	uint64_t n_bytes; /* of the rows in memory */
};

struct ts_slices {
	struct ts_sbt_reader *reader;
	struct ts_sbt_reader snapshot; /* threads copy it while the caller uses `reader` */
	const uint8_t *among;	       /* by block: 0 if it is left out; NULL: none is */
	unsigned n_threads;
	size_t n, n_allocated;
	uint64_t *from_ns; /* by slice; the first is 0 */
	uint64_t *n_rows;  /* by slice: of the blocks that begin in it */
	/* While the slices are read: */
	const struct ts_slices_work *work;
	void **parts; /* by slice; NULL: not begun, or merged */
};

struct ts_slice {
	const struct ts_slices *slices;
	struct ts_sbt_reader *reader;
	uint64_t to_ns; /* latest start */
	struct ts_sbt_resume resume;
	uint64_t *begun;
};

struct job {
	const struct ts_slices *slices;
	size_t slice;
	int result;
	struct ts_sbt_error error; /* if `result` is an error of the reader */
};

/* ---- division -------------------------------------------------------------------------------- */

static int compare_points(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* Lists the chosen blocks by their earliest and by their latest rows. */
static size_t list_points(const struct ts_sbt_reader *reader, const uint8_t *chosen,
			  struct point *starts, struct point *ends)
{
	size_t n = 0;

	for (size_t i = 0; i < reader->n_blocks; i++) {
		const struct ts_sbt_block *block = &reader->blocks[i];
		uint64_t n_bytes;

		if (!chosen[i])
			continue;
		n_bytes = (uint64_t)block->n_rows * ts_row_schema(block->type)->row_bytes;
		starts[n] = (struct point){block->earliest_ns, block->n_rows, n_bytes};
		ends[n++] = (struct point){block->latest_ns, block->n_rows, n_bytes};
	}
	qsort(starts, n, sizeof(*starts), compare_points);
	qsort(ends, n, sizeof(*ends), compare_points);
	return n;
}

/* Adds a slice that begins at `ns`. */
static int add_slice(struct ts_slices *slices, uint64_t ns, uint64_t n_rows)
{
	size_t n_allocated = slices->n_allocated;

	if (TS_GROW(slices->from_ns, slices->n_allocated, slices->n + 1) ||
	    TS_GROW(slices->n_rows, n_allocated, slices->n + 1))
		return -ENOMEM;
	slices->from_ns[slices->n] = ns;
	slices->n_rows[slices->n++] = n_rows;
	return 0;
}

/*
 * Places the beginnings of slices of about `slice_rows` rows. Each is at the block with the fewest
 * open blocks, at most a quarter of a slice from an even division.
 */
static int divide(struct ts_slices *slices, const struct point *starts, const struct point *ends,
		  size_t n, uint64_t slice_rows)
{
	uint64_t n_rows = 0, best_rows = 0, best_ns = 0, begun_rows = 0;
	size_t n_ended = 0, least = SIZE_MAX;
	int r = add_slice(slices, 0, 0);

	for (size_t i = 0; !r && i < n; n_rows += starts[i++].n_rows) {
		while (n_ended < n && ends[n_ended].ns < starts[i].ns)
			n_ended++;
		if (least != SIZE_MAX && n_rows - begun_rows > slice_rows * 5 / 4) {
			slices->n_rows[slices->n - 1] = best_rows - begun_rows;
			r = add_slice(slices, best_ns, 0);
			begun_rows = best_rows;
			least = SIZE_MAX;
		}
		/* The slice before must end at 1 at the earliest: a cursor's end 0 is no end. */
		if (!i || starts[i].ns < 2 || starts[i - 1].ns == starts[i].ns ||
		    i - n_ended >= least || n_rows - begun_rows < slice_rows * 3 / 4)
			continue;
		least = i - n_ended;
		best_rows = n_rows;
		best_ns = starts[i].ns;
	}
	if (!r)
		slices->n_rows[slices->n - 1] = n_rows - begun_rows;
	return r;
}

/* Returns the largest number of bytes of the blocks that are open at one time. */
static uint64_t most_open_bytes(const struct point *starts, const struct point *ends, size_t n)
{
	uint64_t n_bytes = 0, most = 0;
	size_t n_ended = 0;

	for (size_t i = 0; i < n; i++) {
		for (; n_ended < n && ends[n_ended].ns < starts[i].ns; n_ended++)
			n_bytes -= ends[n_ended].n_bytes;
		n_bytes += starts[i].n_bytes;
		most = n_bytes > most ? n_bytes : most;
	}
	return most;
}

/* Chooses the number of threads and divides the rows. Fewer than two threads: no slices. */
static int plan(struct ts_slices *slices, const struct point *starts, const struct point *ends,
		size_t n)
{
	uint64_t n_rows = 0, n_slices, open_bytes = most_open_bytes(starts, ends, n);

	for (size_t i = 0; i < n; i++)
		n_rows += starts[i].n_rows;
	slices->n_threads = ts_sbt_reader_max_threads(slices->reader);
	if (open_bytes && slices->n_threads > MAX_OPEN_BYTES / open_bytes)
		slices->n_threads = (unsigned)(MAX_OPEN_BYTES / open_bytes);
	if (slices->n_threads < 2 || n_rows < TS_SBT_THREADS_ROWS)
		return 0;
	n_slices = THREAD_SLICES * slices->n_threads;
	n_slices = n_slices > MIN_SLICES ? n_slices : MIN_SLICES;
	if (n_slices < n_rows / SLICE_ROWS)
		n_slices = n_rows / SLICE_ROWS;
	return divide(slices, starts, ends, n, n_rows / n_slices);
}

int ts_slices_new(struct ts_sbt_reader *reader, const struct ts_sbt_cursor_options *options,
		  struct ts_slices **ret_slices)
{
	return ts_slices_new_among(reader, options, NULL, ret_slices);
}

int ts_slices_new_among(struct ts_sbt_reader *reader, const struct ts_sbt_cursor_options *options,
			const uint8_t *among, struct ts_slices **ret_slices)
{
	ts_cleanup(ts_slices_freep) struct ts_slices *slices = calloc(1, sizeof(*slices));
	ts_cleanup(ts_freep) struct point *starts = calloc(reader->n_blocks + 1, sizeof(*starts));
	ts_cleanup(ts_freep) struct point *ends = calloc(reader->n_blocks + 1, sizeof(*ends));
	ts_cleanup(ts_freep) uint8_t *chosen = NULL;
	struct ts_sbt_cursor_options asked = *options;
	int r;

	if (!slices || !starts || !ends)
		return ts_sbt_reader_fail(reader, -ENOMEM, 0, "no memory for threads");
	slices->reader = reader;
	asked.types = asked.types ? asked.types : TS_ROW_EVENTS;
	asked.to_ns = asked.to_ns ? asked.to_ns : UINT64_MAX;
	r = ts_sbt_reader_choose(reader, &asked, &chosen);
	if (r)
		return r;
	slices->among = among;
	for (size_t i = 0; among && i < reader->n_blocks; i++)
		chosen[i] &= among[i];
	r = plan(slices, starts, ends, list_points(reader, chosen, starts, ends));
	if (r)
		return ts_sbt_reader_fail(reader, r, 0, "no memory for threads");
	*ret_slices = slices->n > 1 ? ts_take_ptr(slices) : NULL;
	return 0;
}

void ts_slices_free(struct ts_slices *slices)
{
	if (!slices)
		return;
	free(slices->from_ns);
	free(slices->n_rows);
	free(slices->parts);
	free(slices);
}

/* ---- a thread -------------------------------------------------------------------------------- */

/* Lists the blocks that begin before the slice and may have rows in it. */
static int list_begun(struct ts_slice *slice, uint64_t from_ns)
{
	const struct ts_sbt_reader *reader = slice->reader;
	size_t n_allocated = 0, n = 0;

	for (size_t i = 0; i < reader->n_blocks; i++) {
		const struct ts_sbt_block *block = &reader->blocks[i];

		if (!ts_row_is_event(block->type) || block->earliest_ns >= from_ns ||
		    block->latest_ns < from_ns)
			continue;
		if (TS_GROW(slice->begun, n_allocated, n + 1))
			return ts_sbt_reader_fail(slice->reader, -ENOMEM, 0,
						  "no memory for a list of blocks");
		slice->begun[n++] = i;
	}
	slice->resume =
		(struct ts_sbt_resume){.start_ns = from_ns, .begun = slice->begun, .n_begun = n};
	return 0;
}

static int read_slice(const struct job *job, struct ts_sbt_reader *own)
{
	const struct ts_slices *slices = job->slices;
	struct ts_slice slice = {.slices = slices, .reader = own, .to_ns = UINT64_MAX};
	int r = list_begun(&slice, slices->from_ns[job->slice]);

	if (job->slice + 1 < slices->n)
		slice.to_ns = slices->from_ns[job->slice + 1] - 1;
	r = r ?: slices->work->run(slices->parts[job->slice], &slice, slices->work->data);
	free(slice.begun);
	return r;
}

static void run_job(void *state, void *data)
{
	struct ts_sbt_reader *own = state;
	struct job *job = data;

	job->result = own->zstd ? 0 : ts_reader_twin_init(own, &job->slices->snapshot);
	job->result = job->result ?: read_slice(job, own);
	job->error = own->error;
}

static void deinit_state(void *state)
{
	ts_reader_twin_deinit(state);
}

bool ts_slice_is_first(const struct ts_slice *slice)
{
	return !slice->resume.start_ns;
}

struct ts_sbt_reader *ts_slice_reader(const struct ts_slice *slice)
{
	return slice->reader;
}

int ts_slice_cursor(const struct ts_slice *slice, const struct ts_sbt_cursor_options *options,
		    struct ts_sbt_cursor **ret_cursor)
{
	struct ts_sbt_cursor_options asked = *options;
	int r;

	if (!asked.to_ns || asked.to_ns > slice->to_ns)
		asked.to_ns = slice->to_ns;
	asked.resume = ts_slice_is_first(slice) ? NULL : &slice->resume;
	r = ts_sbt_cursor_new_among(slice->reader, &asked, slice->slices->among, ret_cursor);
	if (!r)
		ts_sbt_cursor_limit(*ret_cursor, MAX_OPEN_BYTES / slice->slices->n_threads);
	return r;
}

/* ---- the caller ------------------------------------------------------------------------------ */

static void free_part(struct ts_slices *slices, size_t i)
{
	void *part = ts_take_ptr(slices->parts[i]);

	if (!part)
		return;
	slices->work->part_deinit(part);
	free(part);
}

/* Adds slices from *next on until the queue is full. */
static int add_jobs(struct ts_slices *slices, struct ts_jobs *jobs, size_t *next)
{
	for (struct job *job; *next < slices->n && (job = ts_jobs_slot(jobs)); ++*next) {
		slices->parts[*next] = calloc(1, slices->work->part_bytes);
		if (!slices->parts[*next])
			return ts_sbt_reader_fail(slices->reader, -ENOMEM, 0,
						  "no memory for a part of the rows");
		*job = (struct job){.slices = slices, .slice = *next};
		ts_jobs_add(jobs);
	}
	return 0;
}

/* Waits for the oldest slice and merges its part. */
static int take_job(struct ts_slices *slices, struct ts_jobs *jobs)
{
	const struct job *job = ts_jobs_take(jobs);
	struct ts_sbt_reader *reader = slices->reader;
	int r = job->result;

	if (r)
		reader->error = job->error;
	else
		r = slices->work->merge(slices->parts[job->slice], slices->work->data);
	if (!r)
		ts_sbt_reader_report(reader, slices->n_rows[job->slice]);
	free_part(slices, job->slice);
	return r;
}

int ts_slices_run(struct ts_slices *slices, const struct ts_slices_work *work)
{
	static const struct ts_jobs_kind kind = {.job_bytes = sizeof(struct job),
						 .state_bytes = sizeof(struct ts_sbt_reader),
						 .run = run_job,
						 .state_deinit = deinit_state};
	/* A thread has a slice to read while others wait to be merged after an earlier one. */
	const unsigned n_jobs = slices->n_threads + slices->n_threads / 2;
	struct ts_jobs *jobs;
	size_t next = 0;
	int r;

	slices->work = work;
	slices->snapshot = *slices->reader;
	free(slices->parts);
	slices->parts = calloc(slices->n, sizeof(*slices->parts));
	if (!slices->parts)
		return ts_sbt_reader_fail(slices->reader, -ENOMEM, 0, "no memory for threads");
	r = ts_jobs_new(slices->n_threads, n_jobs, &kind, &jobs);
	if (r)
		return r;
	for (size_t taken = 0; !r && taken < slices->n; taken++) {
		r = add_jobs(slices, jobs, &next);
		r = r ?: take_job(slices, jobs);
	}
	ts_jobs_free(jobs);
	for (size_t i = 0; i < slices->n; i++)
		free_part(slices, i);
	return r;
}
