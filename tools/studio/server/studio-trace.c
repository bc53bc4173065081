/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An open trace of Studio, and its readers: see studio.h. main.c opens the traces; requests borrow
 * readers. A reader serves one thread at a time, so each request has its own.
 */
#include "proto/abi/clock.h"
#include "sbt/reader-threads.h"
#include "tools/studio/server/studio-daemon.h"
#include "tools/tsctl/tsctl.h"

#include <malloc.h>
#include <time.h>
#include <unistd.h>

/* Time between two looks at whether the client is still there. */
#define WAIT_NS 50000000L
/* Time between two looks at a growing trace. */
#define FOLLOW_NS UINT64_C(400000000)
/*
 * Processor time for exact coarse cells of a growing trace, at each look: a quarter of FOLLOW_NS.
 * If a trace needs more, its coarse cells are estimates until it ends.
 */
#define BUILD_NS UINT64_C(100000000)
/* A page that has not asked for so long is gone. */
#define WATCHED_NS UINT64_C(3000000000)
/* A question of the page about what it has just drawn is short, and does not rest. */
#define SHORT_NS UINT64_C(150000000)

static void free_reader(struct ts_studio_reader *reader)
{
	if (!reader)
		return;
	ts_resolver_free(reader->resolver);
	ts_source_deinit(&reader->source);
	free(reader);
}

/* Returns a hash of the first n blocks, which the reader has. */
static struct ts_hash128 hash_blocks(const struct ts_sbt_reader *reader, size_t n)
{
	struct ts_hash128 hash = {0};

	for (size_t i = 0; i < n; i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(reader, i);
		struct ts_hash128 own = ts_hash128(block, sizeof(*block));

		ts_hash_step(&hash, own.a, own.b);
	}
	return hash;
}

/*
 * Returns true if a reader has the blocks of the trace. It has not if the file was written anew in
 * its place, or if an earlier file of the recording was deleted. Tiles refer to blocks by number.
 */
static bool has_blocks(const struct ts_studio_trace *trace, const struct ts_sbt_reader *reader)
{
	struct ts_hash128 hash;

	if (ts_sbt_reader_n_blocks(reader) < trace->n_blocks)
		return false;
	hash = hash_blocks(reader, trace->n_blocks);
	return hash.a == trace->blocks.a && hash.b == trace->blocks.b;
}

/* Opens a reader of the file that is open. A file that has its name now may be another one. */
static struct ts_studio_reader *open_reader(const struct ts_studio_trace *trace)
{
	struct ts_studio_reader *reader = calloc(1, sizeof(*reader));
	struct ts_resolver_options options = {0};
	int r;

	if (!reader)
		return NULL;
	/* A session may be over, and another file may have the name of this one. */
	r = trace->first ? ts_source_reopen(&reader->source, &trace->first->source)
			 : ts_source_open(&reader->source, trace->file, trace->session);
	if (!r && trace->first && !has_blocks(trace, reader->source.reader)) {
		ts_complain("%s has changed; start studio again to see the new trace", trace->path);
		r = TS_EXIT_BAD;
	}
	if (r || ts_resolver_new(reader->source.reader, &options, &reader->resolver)) {
		free_reader(reader);
		return NULL;
	}
	return reader;
}

int ts_studio_trace_open(struct ts_studio_trace *trace, const char *file, const char *session)
{
	struct ts_studio_reader *reader;
	struct ts_studio_tiles *tiles = calloc(1, sizeof(*tiles));
	int r;

	if (!tiles)
		ts_no_memory();
	tiles->refs = 1;
	*trace = (struct ts_studio_trace){.file = file, .session = session};
	if (pthread_mutex_init(&trace->lock, NULL) || pthread_mutex_init(&trace->opening, NULL) ||
	    ts_studio_wait_init(&trace->is_free))
		ts_no_memory();
	reader = open_reader(trace);
	if (!reader) {
		free(tiles);
		return TS_EXIT_BAD;
	}
	trace->first = reader;
	trace->n_blocks = ts_sbt_reader_n_blocks(reader->source.reader);
	trace->blocks = hash_blocks(reader->source.reader, trace->n_blocks);
	trace->free_readers = reader;
	trace->n_readers = 1;
	if (fstat(reader->source.fd, &trace->opened))
		trace->opened = (struct stat){0};
	trace->path = strdup(reader->source.path);
	if (!trace->path)
		ts_no_memory();
	trace->tiles = tiles;
	trace->is_live = ts_sbt_reader_state(reader->source.reader) == TS_SBT_GROWING;
	r = ts_tiles_new(reader->source.reader, NULL, &tiles->tiles);
	if (!r)
		return TS_EXIT_OK;
	ts_source_complain(trace->path, r, ts_sbt_reader_error(reader->source.reader));
	return TS_EXIT_BAD;
}

bool ts_studio_trace_is_changed(const struct ts_studio_trace *trace)
{
	const struct stat *was = &trace->opened;
	struct stat now;

	/* A file without the name has no newer contents. */
	if (!trace->file || !was->st_ino || stat(trace->path, &now))
		return false;
	if (now.st_dev != was->st_dev || now.st_ino != was->st_ino)
		return true;
	/* A live trace grows, and its end is written when it ends. */
	return !trace->is_live &&
	       (now.st_size != was->st_size || now.st_mtim.tv_sec != was->st_mtim.tv_sec ||
		now.st_mtim.tv_nsec != was->st_mtim.tv_nsec);
}

static bool is_closing(void *data)
{
	struct ts_studio_trace *trace = data;

	return atomic_load_explicit(&trace->is_closing, memory_order_relaxed);
}

/* As is_closing(), after a rest while pages ask. */
static bool rest(void *data)
{
	struct ts_studio_trace *trace = data;

	ts_studio_pace_rest(trace->pace, is_closing, trace);
	return is_closing(trace);
}

/*
 * Opens a reader for a thread of the trace. tsctl's messages are not for several threads at once.
 */
static struct ts_studio_reader *open_own(struct ts_studio_trace *trace)
{
	struct ts_studio_reader *reader;

	pthread_mutex_lock(&trace->opening);
	reader = open_reader(trace);
	pthread_mutex_unlock(&trace->opening);
	return reader;
}

static void *build(void *data)
{
	struct ts_studio_trace *trace = data;
	struct ts_studio_reader *reader = open_own(trace);
	struct ts_studio_tiles *tiles = ts_studio_tiles_get(trace);

	/*
	 * The browser draws its first picture meanwhile, and comes first. In Linux, a thread has
	 * its own niceness.
	 */
	(void)!nice(TS_STUDIO_NICE);
	if (reader)
		ts_tiles_build(tiles->tiles, reader->source.reader, rest, trace);
	ts_studio_tiles_put(trace, tiles);
	free_reader(reader);
	malloc_trim(0);
	return NULL;
}

/* ---- growing traces -------------------------------------------------------------------------- */

struct ts_studio_tiles *ts_studio_tiles_get(struct ts_studio_trace *trace)
{
	struct ts_studio_tiles *tiles;

	pthread_mutex_lock(&trace->lock);
	tiles = trace->tiles;
	tiles->refs++;
	pthread_mutex_unlock(&trace->lock);
	return tiles;
}

void ts_studio_tiles_put(struct ts_studio_trace *trace, struct ts_studio_tiles *tiles)
{
	bool is_last;

	pthread_mutex_lock(&trace->lock);
	is_last = !--tiles->refs;
	pthread_mutex_unlock(&trace->lock);
	if (!is_last)
		return;
	ts_tiles_free(tiles->tiles);
	free(tiles);
}

static void replace_tiles(struct ts_studio_trace *trace, struct ts_studio_tiles *tiles)
{
	struct ts_studio_tiles *before;

	pthread_mutex_lock(&trace->lock);
	before = trace->tiles;
	trace->tiles = tiles;
	pthread_mutex_unlock(&trace->lock);
	ts_studio_tiles_put(trace, before);
}

static uint64_t count_rows(struct ts_sbt_reader *reader)
{
	uint64_t n = 0;

	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++)
		if (ts_row_is_event(ts_sbt_reader_block(reader, i)->type))
			n += ts_sbt_reader_block(reader, i)->n_rows;
	return n;
}

/*
 * Makes tiles of the blocks that the reader has, and reads them all if `build`; without, coarse
 * cells are estimates. Returns 0 or an error.
 */
static int make_tiles(struct ts_studio_trace *trace, struct ts_studio_reader *reader, bool build)
{
	struct ts_studio_tiles *made = calloc(1, sizeof(*made));
	struct ts_studio_tiles *before = ts_studio_tiles_get(trace);
	int r = made ? ts_tiles_new(reader->source.reader, before->tiles, &made->tiles) : -ENOMEM;

	if (!r && build)
		r = ts_tiles_build(made->tiles, reader->source.reader, is_closing, trace);
	ts_studio_tiles_put(trace, before);
	if (r) {
		if (made)
			ts_tiles_free(made->tiles);
		free(made);
		return r;
	}
	made->refs = 1;
	replace_tiles(trace, made);
	atomic_store(&trace->n_rows, count_rows(reader->source.reader));
	return 0;
}

static uint64_t thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Sleeps, in steps that notice the end. */
static void sleep_for(struct ts_studio_trace *trace, uint64_t ns)
{
	const struct timespec step = {.tv_nsec = WAIT_NS};

	for (uint64_t slept_ns = 0; slept_ns < ns && !is_closing(trace); slept_ns += WAIT_NS)
		nanosleep(&step, NULL);
}

/* Returns true if a page has lately asked how far the trace has grown. */
static bool is_watched(struct ts_studio_trace *trace)
{
	uint64_t asked_ns = atomic_load(&trace->asked_ns);

	return asked_ns && ts_clock_monotonic_ns() - asked_ns < WATCHED_NS;
}

/* The state of following a trace. */
struct following {
	struct ts_studio_trace *trace;
	struct ts_studio_reader *reader;
	struct ts_studio_daemon daemon;
	size_t n_blocks;   /* of the present tiles */
	uint64_t build_ns; /* processor time of the last tiles with exact coarse cells */
};

/* Reads the new part of the trace, and makes new tiles of it. */
static void look(struct following *following)
{
	struct ts_studio_trace *trace = following->trace;
	struct ts_sbt_reader *reader = following->reader->source.reader;
	uint64_t until_ns =
		is_watched(trace) ? ts_studio_daemon_flush(&following->daemon, trace) : 0;
	uint64_t start_ns = thread_ns();
	int r = ts_sbt_reader_refresh(reader);
	bool is_ended = ts_sbt_reader_state(reader) != TS_SBT_GROWING;
	bool build = is_ended || following->build_ns < BUILD_NS;

	if (!r && (is_ended || ts_sbt_reader_n_blocks(reader) != following->n_blocks)) {
		r = make_tiles(trace, following->reader, build);
		if (build)
			following->build_ns = thread_ns() - start_ns;
	}
	if (!r)
		following->n_blocks = ts_sbt_reader_n_blocks(reader);
	if (!r && until_ns)
		atomic_store(&trace->until_ns, until_ns);
	if (is_ended)
		atomic_store(&trace->is_ended, 1);
}

/* Follows a growing trace until its end. */
static void *follow(void *data)
{
	struct ts_studio_trace *trace = data;
	struct following following = {.trace = trace, .reader = open_own(trace)};

	while (following.reader && !is_closing(trace) && !atomic_load(&trace->is_ended)) {
		look(&following);
		sleep_for(trace, FOLLOW_NS);
	}
	ts_studio_daemon_deinit(&following.daemon);
	free_reader(following.reader);
	return NULL;
}

void ts_studio_trace_build(struct ts_studio_trace *trace, struct ts_studio_pace *pace)
{
	unsigned n = trace->is_live ? 1 : TS_STUDIO_BUILDERS;

	trace->pace = pace;
	while (trace->n_builders < n && !pthread_create(&trace->builders[trace->n_builders], NULL,
							trace->is_live ? follow : build, trace))
		trace->n_builders++;
}

void ts_studio_trace_close(struct ts_studio_trace *trace)
{
	atomic_store(&trace->is_closing, 1);
	while (trace->n_builders)
		pthread_join(trace->builders[--trace->n_builders], NULL);
	while (trace->free_readers) {
		struct ts_studio_reader *reader = trace->free_readers;

		trace->free_readers = reader->next;
		free_reader(reader);
	}
	if (trace->tiles)
		ts_studio_tiles_put(trace, trace->tiles);
	free(trace->path);
	pthread_mutex_destroy(&trace->lock);
	pthread_mutex_destroy(&trace->opening);
	pthread_cond_destroy(&trace->is_free);
}

/* Lists the new blocks of a growing trace. The resolver holds definitions, so it is made anew. */
static int refresh(struct ts_studio_reader *reader)
{
	size_t n_blocks = ts_sbt_reader_n_blocks(reader->source.reader);
	struct ts_resolver_options options = {0};
	struct ts_resolver *resolver;
	int r = ts_sbt_reader_refresh(reader->source.reader);

	if (r || n_blocks == ts_sbt_reader_n_blocks(reader->source.reader))
		return r;
	r = ts_resolver_new(reader->source.reader, &options, &resolver);
	if (r)
		return r;
	ts_resolver_free(reader->resolver);
	reader->resolver = resolver;
	return 0;
}

/* Before each block of a question. */
static void rest_question(void *data)
{
	const struct ts_studio_reader *reader = data;

	if (ts_clock_monotonic_ns() - reader->asked_ns > SHORT_NS)
		ts_studio_pace_rest(reader->trace->pace, is_closing, reader->trace);
}

/* Takes a reader that no thread has, or opens one. NULL: there is none now. */
static struct ts_studio_reader *take_reader(struct ts_studio_trace *trace)
{
	struct ts_studio_reader *reader = trace->free_readers;

	if (reader) {
		trace->free_readers = reader->next;
	} else if (trace->n_readers < TS_STUDIO_MAX_READERS && !trace->has_failed) {
		/* Other threads may get a reader, or tiles, meanwhile. */
		trace->n_readers++;
		pthread_mutex_unlock(&trace->lock);
		reader = open_own(trace);
		pthread_mutex_lock(&trace->lock);
		trace->n_readers -= !reader;
		/* The first one is there, so requests wait for it. */
		trace->has_failed |= !reader;
	}
	return reader;
}

struct ts_studio_reader *ts_studio_reader_get(struct ts_studio_trace *trace, bool is_question,
					      bool (*is_cancelled)(void *data), void *data)
{
	struct ts_studio_reader *reader = NULL;
	bool is_given_up = false;

	pthread_mutex_lock(&trace->lock);
	while (!is_given_up) {
		if (!is_question || trace->n_asked < TS_STUDIO_MAX_QUESTIONS) {
			trace->n_asked += is_question;
			reader = take_reader(trace);
			if (reader)
				break;
			trace->n_asked -= is_question;
		}
		ts_studio_wait(&trace->is_free, &trace->lock, WAIT_NS);
		is_given_up = is_cancelled(data);
	}
	pthread_mutex_unlock(&trace->lock);
	if (reader) {
		reader->is_asked = is_question;
		reader->trace = trace;
		reader->asked_ns = ts_clock_monotonic_ns();
		ts_sbt_reader_rest(reader->source.reader,
				   is_question && trace->pace ? rest_question : NULL, reader);
	}
	if (reader && trace->is_live && refresh(reader)) {
		ts_studio_reader_put(trace, reader);
		return NULL;
	}
	return reader;
}

void ts_studio_reader_put(struct ts_studio_trace *trace, struct ts_studio_reader *reader)
{
	pthread_mutex_lock(&trace->lock);
	trace->n_asked -= reader->is_asked;
	reader->next = trace->free_readers;
	trace->free_readers = reader;
	/* A question and a request of the timeline may both wait. */
	pthread_cond_broadcast(&trace->is_free);
	pthread_mutex_unlock(&trace->lock);
}
