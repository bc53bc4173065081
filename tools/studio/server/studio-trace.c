/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An open trace of Studio, and its readers: see studio.h. main.c opens the traces; requests borrow
 * readers. A reader serves one thread at a time, so each request has its own.
 */
#include "tools/studio/server/studio.h"
#include "tools/tsctl/tsctl.h"

#include <time.h>

/* Time between two looks at whether the client is still there. */
#define WAIT_NS 50000000L

static void free_reader(struct ts_studio_reader *reader)
{
	if (!reader)
		return;
	ts_resolver_free(reader->resolver);
	ts_source_deinit(&reader->source);
	free(reader);
}

static struct ts_studio_reader *open_reader(const struct ts_studio_trace *trace)
{
	struct ts_studio_reader *reader = calloc(1, sizeof(*reader));
	struct ts_resolver_options options = {0};

	if (!reader)
		return NULL;
	if (ts_source_open(&reader->source, trace->file, trace->session) ||
	    ts_resolver_new(reader->source.reader, &options, &reader->resolver)) {
		free_reader(reader);
		return NULL;
	}
	return reader;
}

int ts_studio_trace_open(struct ts_studio_trace *trace, const char *file, const char *session)
{
	struct ts_studio_reader *reader;
	int r;

	*trace = (struct ts_studio_trace){.file = file, .session = session};
	if (pthread_mutex_init(&trace->lock, NULL) || pthread_cond_init(&trace->is_free, NULL))
		ts_no_memory();
	reader = open_reader(trace);
	if (!reader)
		return TS_EXIT_BAD;
	trace->free_readers = reader;
	trace->n_readers = 1;
	trace->path = strdup(reader->source.path);
	if (!trace->path)
		ts_no_memory();
	r = ts_tiles_new(reader->source.reader, &trace->tiles);
	if (!r)
		return TS_EXIT_OK;
	ts_source_complain(trace->path, r, ts_sbt_reader_error(reader->source.reader));
	return TS_EXIT_BAD;
}

static bool is_closing(void *data)
{
	struct ts_studio_trace *trace = data;

	return atomic_load_explicit(&trace->is_closing, memory_order_relaxed);
}

static void *build(void *data)
{
	struct ts_studio_trace *trace = data;
	struct ts_studio_reader *reader;

	/* Opening prints errors, and tsctl's messages are not for several threads at once. */
	pthread_mutex_lock(&trace->lock);
	reader = open_reader(trace);
	pthread_mutex_unlock(&trace->lock);
	if (reader)
		ts_tiles_build(trace->tiles, reader->source.reader, is_closing, trace);
	free_reader(reader);
	return NULL;
}

void ts_studio_trace_build(struct ts_studio_trace *trace)
{
	while (trace->n_builders < TS_STUDIO_BUILDERS &&
	       !pthread_create(&trace->builders[trace->n_builders], NULL, build, trace))
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
	ts_tiles_free(trace->tiles);
	free(trace->path);
	pthread_mutex_destroy(&trace->lock);
	pthread_cond_destroy(&trace->is_free);
}

struct ts_studio_reader *ts_studio_reader_get(struct ts_studio_trace *trace,
					      bool (*is_cancelled)(void *data), void *data)
{
	struct ts_studio_reader *reader = NULL;
	bool is_given_up = false;

	pthread_mutex_lock(&trace->lock);
	while (!reader && !is_given_up) {
		reader = trace->free_readers;
		if (reader) {
			trace->free_readers = reader->next;
		} else if (trace->n_readers < TS_STUDIO_MAX_READERS) {
			reader = open_reader(trace);
			trace->n_readers += reader != NULL;
			is_given_up = !reader;
		} else {
			struct timespec until;

			clock_gettime(CLOCK_REALTIME, &until);
			until.tv_nsec += WAIT_NS;
			until.tv_sec += until.tv_nsec / 1000000000L;
			until.tv_nsec %= 1000000000L;
			pthread_cond_timedwait(&trace->is_free, &trace->lock, &until);
			is_given_up = is_cancelled(data);
		}
	}
	pthread_mutex_unlock(&trace->lock);
	return reader;
}

void ts_studio_reader_put(struct ts_studio_trace *trace, struct ts_studio_reader *reader)
{
	pthread_mutex_lock(&trace->lock);
	reader->next = trace->free_readers;
	trace->free_readers = reader;
	pthread_cond_signal(&trace->is_free);
	pthread_mutex_unlock(&trace->lock);
}
