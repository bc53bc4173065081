/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Studio's server: the parts that its requests share. A connection has its own thread. The traces
 * are open before the first request and constant, except for their tiles, which lock themselves,
 * and the pool of readers.
 */
#pragma once

#include "proto/abi/hash.h"
#include "proto/rpc/json.h"
#include "replay/report/names/resolver.h"
#include "replay/report/tiles/tiles.h"
#include "tools/studio/server/kept/studio-layers.h"
#include "tools/studio/server/kept/studio-slacks.h"
#include "tools/studio/server/studio-pace.h"
#include "tools/tsctl/trace/source.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

#define TS_STUDIO_MAX_TRACES  2u
#define TS_STUDIO_TOKEN_BYTES 33u /* 128 bits in hexadecimal, and an end */
/* Ids of the second trace's lanes begin here. */
#define TS_STUDIO_SECOND_LANES 1000000u
#define TS_STUDIO_MAX_READERS  4u
/* Questions may have all readers but one, which the timeline has for itself. */
#define TS_STUDIO_MAX_QUESTIONS (TS_STUDIO_MAX_READERS - 1)
#define TS_STUDIO_BUILDERS	2u
/* Niceness of threads that may read the whole trace, above that of the program. */
#define TS_STUDIO_NICE 5

/* A reader and its resolver. One thread has it at a time. */
struct ts_studio_reader {
	struct ts_source source;
	struct ts_resolver *resolver;
	bool is_asked; /* by a question */
	struct ts_studio_trace *trace;
	uint64_t asked_ns; /* of CLOCK_MONOTONIC: a question got it */
	struct ts_studio_reader *next;
};

/* The tiles of a trace, which those of a growing trace replace later. */
struct ts_studio_tiles {
	struct ts_tiles *tiles;
	unsigned refs; /* guarded by the trace's lock */
};

struct ts_studio_trace {
	const char *file;    /* as the user gave it; NULL: a session */
	const char *session; /* NULL: a file */
	char *path;
	struct stat opened;	 /* the file when it was opened */
	bool is_live;		 /* it was growing when it was opened */
	pthread_mutex_t opening; /* held while a reader is opened */
	/* Readers that no thread has. */
	pthread_mutex_t lock;
	pthread_cond_t is_free;
	struct ts_studio_reader *free_readers;
	const struct ts_studio_reader *first; /* its source has the open file */
	/*
	 * The identity of the trace: the number of blocks that the first reader had, and a hash of
	 * them. Constant after the trace was opened.
	 */
	size_t n_blocks;
	struct ts_hash128 blocks;
	bool has_failed; /* a reader could not be opened: no more are */
	struct ts_studio_tiles *tiles;
	atomic_int is_ended;	     /* a live trace has its last row */
	atomic_ulong n_rows;	     /* of a live trace */
	atomic_ulong asked_ns;	     /* the last GET live; of CLOCK_MONOTONIC */
	atomic_ulong until_ns;	     /* all rows before it are in the tiles; absolute; 0: unknown */
	unsigned n_readers, n_asked; /* open readers; those that questions have */
	/*
	 * Threads that make the index of the tiles, or one thread that follows a growing trace.
	 */
	pthread_t builders[TS_STUDIO_BUILDERS];
	unsigned n_builders;
	struct ts_studio_pace *pace; /* of the builders and of questions */
	atomic_int is_closing;
};

struct ts_studio {
	struct ts_studio_trace traces[TS_STUDIO_MAX_TRACES];
	unsigned n_traces;
	char token[TS_STUDIO_TOKEN_BYTES];
	unsigned port;	      /* 0: a Unix socket */
	atomic_int is_ending; /* all work ends */
	struct ts_studio_layers layers;
	struct ts_studio_slacks slacks;
	struct ts_studio_pace pace;
};

/* Opens a trace and lists its lanes. Returns TS_EXIT_OK, or TS_EXIT_BAD after an error message. */
int ts_studio_trace_open(struct ts_studio_trace *trace, const char *file, const char *session);
/*
 * Starts threads that read the trace for coarse tiles, and follow a growing trace. Without threads,
 * tiles are made as asked. `pace` outlives the threads.
 */
void ts_studio_trace_build(struct ts_studio_trace *trace, struct ts_studio_pace *pace);
void ts_studio_trace_close(struct ts_studio_trace *trace);
/* True if another file has the name of a file now, or if the file was written since. */
bool ts_studio_trace_is_changed(const struct ts_studio_trace *trace);

/* Returns the present tiles; ts_studio_tiles_put() gives them back. */
struct ts_studio_tiles *ts_studio_tiles_get(struct ts_studio_trace *trace);
void ts_studio_tiles_put(struct ts_studio_trace *trace, struct ts_studio_tiles *tiles);

/*
 * Waits for a reader, which has all blocks of tiles that were got before. `is_question`: for a
 * question, which may take long. Returns NULL if is_cancelled() returned true, or if no reader
 * could be opened. ts_studio_reader_put() gives it back.
 */
struct ts_studio_reader *ts_studio_reader_get(struct ts_studio_trace *trace, bool is_question,
					      bool (*is_cancelled)(void *data), void *data);
void ts_studio_reader_put(struct ts_studio_trace *trace, struct ts_studio_reader *reader);

/* As pthread_cond_init(), for CLOCK_MONOTONIC: a new date delays no wait. */
static inline int ts_studio_wait_init(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;
	int r = pthread_condattr_init(&attributes);

	if (r)
		return r;
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	r = pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
	return r;
}

/* Waits for the condition, at most for `ns`, which is less than a second. */
static inline void ts_studio_wait(pthread_cond_t *condition, pthread_mutex_t *lock, long ns)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += ns;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_cond_timedwait(condition, lock, &until);
}
