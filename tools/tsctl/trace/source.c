/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens traces, stored or live, and explains errors: see source.h. All reading commands call this
 * file.
 */
#include "tools/tsctl/trace/source.h"

#include "proto/abi/grow.h"
#include "replay/state/limit.h"

#include "tools/tsctl/options/values.h"
#include "tools/tsctl/tsctl.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

/* Limit on files of one recording: each is an open file. */
#define MAX_PARTS 900u

void ts_source_complain(const char *path, int r, const struct ts_sbt_error *error)
{
	char limit[TS_LIMIT_TEXT_BYTES];

	if (ts_limit_text(r, error, limit))
		ts_complain("%s %s", path, limit);
	else if (r == TS_SBT_E_NOT_SBT)
		ts_complain("%s is not a trace: %s", path, error->text);
	else if (r == TS_SBT_E_VERSION)
		ts_complain("%s is of a version that this tsctl cannot read: %s", path,
			    error->text);
	else if (r > 0 && r != TS_SBT_E_CORRUPT && !*error->text)
		ts_complain("%s cannot be read: unknown error %d", path, r);
	else if (r > 0)
		ts_complain("%s is damaged at byte %" PRIu64
			    ": %s; `tsctl verify` lists the damage",
			    path, error->off, error->text);
	else
		ts_complain("cannot read %s: %s", path, strerror(-r));
}

int ts_source_open_file(const char *path, int flags)
{
	/* Does not block on a FIFO, and does not acquire a terminal. */
	ts_cleanup(ts_closep) int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;

	if (fd < 0 || fstat(fd, &status)) {
		ts_complain("cannot open %s: %s", path, strerror(errno));
		return -1;
	}
	if (!S_ISREG(status.st_mode)) {
		ts_complain("%s is %s, not a trace file", path,
			    S_ISDIR(status.st_mode) ? "a directory" : "no regular file");
		return -1;
	}
	return ts_take_fd(&fd);
}

/* Opens the previous file of a recording, if it exists and is readable. */
static struct ts_sbt_reader *open_before(const char *path, const struct ts_sbt_reader *reader,
					 int *ret_fd)
{
	ts_cleanup(ts_freep) char *before = NULL;
	ts_cleanup(ts_closep) int fd = -1;
	struct ts_sbt_reader *found = NULL;
	struct ts_row_part part;
	struct stat status;

	if (ts_sbt_reader_part(reader, &part))
		return NULL;
	before = ts_sbt_part_path(path, part.before);
	fd = before ? open(before, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	if (fd < 0 || fstat(fd, &status) || !S_ISREG(status.st_mode))
		return NULL;
	/* An unreadable file ends the chain, as a missing file does. */
	if (ts_sbt_reader_open(fd, &found, NULL))
		return NULL;
	/* A file with the right name may belong to another recording. */
	if (!ts_sbt_reader_is_before(found, reader)) {
		ts_sbt_reader_free(found);
		return NULL;
	}
	if (ret_fd)
		*ret_fd = ts_take_fd(&fd);
	return found;
}

int ts_source_join(struct ts_sbt_reader *reader, const char *path)
{
	struct ts_sbt_reader **before = NULL, *next = reader;
	size_t n = 0, n_allocated = 0;
	int r = 0;

	while (!r && n < MAX_PARTS && (next = open_before(path, next, NULL))) {
		r = TS_GROW(before, n_allocated, n + 1);
		if (r) {
			ts_sbt_reader_free(next);
			break;
		}
		before[n++] = next;
	}
	r = r ?: ts_sbt_reader_join(reader, before, n);
	free(before);
	return r;
}

/* Returns NULL if there is no previous file. */
static char *path_before(const char *path, const struct ts_sbt_reader *reader)
{
	struct ts_row_part part;

	return ts_sbt_reader_part(reader, &part) ? NULL : ts_sbt_part_path(path, part.before);
}

int ts_source_unlink_before(const char *path)
{
	ts_cleanup(ts_sbt_reader_freep) struct ts_sbt_reader *reader = NULL;
	ts_cleanup(ts_closep) int fd =
		open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	char **paths = NULL;
	struct ts_sbt_reader *before;
	size_t n = 0, n_allocated = 0;
	int r = 0;

	/* A file that is no trace has no previous files. */
	if (fd < 0 || ts_sbt_reader_open(fd, &reader, NULL))
		return 0;
	while (!r && n < MAX_PARTS && (before = open_before(path, reader, NULL))) {
		char *part = path_before(path, reader);

		ts_sbt_reader_free(reader);
		reader = before;
		r = part ? TS_GROW(paths, n_allocated, n + 1) : -ENOMEM;
		if (r)
			free(part);
		else
			paths[n++] = part;
	}
	while (n) {
		n--;
		if (!r && unlink(paths[n]) && errno != ENOENT)
			r = -errno;
		free(paths[n]);
	}
	free(paths);
	return r;
}

int ts_source_open_files(const char *path, int *ret_fds, unsigned most, unsigned *ret_n)
{
	ts_cleanup(ts_sbt_reader_freep) struct ts_sbt_reader *reader = NULL;
	struct ts_sbt_reader *before;
	struct ts_row_part part;
	int fd = ts_source_open_file(path, O_RDONLY), next;

	if (fd < 0)
		return -1;
	ret_fds[0] = fd;
	*ret_n = 1;
	/* The caller reports a file that is no trace. */
	if (ts_sbt_reader_open(fd, &reader, NULL))
		return 0;
	while (*ret_n < most && (before = open_before(path, reader, &next))) {
		ts_sbt_reader_free(reader);
		reader = before;
		ret_fds[(*ret_n)++] = next;
	}
	if (*ret_n < most || ts_sbt_reader_part(reader, &part))
		return 0;
	while (*ret_n)
		close(ret_fds[--*ret_n]);
	ts_complain("%s: the recording has more than %u files, too many for the daemon at once; "
		    "without --served tsctl reads them all",
		    path, most);
	return -1;
}

static int open_reader(struct ts_source *source, int fd)
{
	struct ts_sbt_error error = {0};
	int r = ts_sbt_reader_open(fd, &source->reader, &error);

	if (!r) {
		r = ts_source_join(source->reader, source->path);
		if (r)
			error = *ts_sbt_reader_error(source->reader);
	}
	if (!r)
		return TS_EXIT_OK;
	ts_source_complain(source->path, r, &error);
	return TS_EXIT_BAD;
}

uint32_t ts_source_n_halves(const struct ts_source *source)
{
	uint32_t n = 0;

	for (size_t i = 0; i < ts_sbt_reader_n_sessions(source->reader); i++) {
		const struct ts_row_session *row = ts_sbt_reader_session_at(source->reader, i);

		n += row->source == TS_SESSION_SOURCE_PROBES &&
		     (!source->session || row->session == source->session);
	}
	return n;
}

void ts_source_print_halves(uint32_t n)
{
	if (n)
		printf("Host half only: of %" PRIu32
		       " session%s, only calls were recorded, from outside, and no GPU operation.\n",
		       n, n == 1 ? "" : "s");
}

/* Prints which daemons could be asked if no process with that number is recorded. */
void ts_source_complain_nobody(uint32_t number)
{
	ts_complain("no process %u is being recorded, and no daemon listens at %s; `tsctl "
		    "sessions` lists the recorded processes",
		    number, ts_client_default_path());
}

/*
 * Opens the trace of a live session, or of an ended session that the daemon still has: by pid, then
 * by number. Returns 0 or the last answer's error.
 */
static int open_trace(struct ts_client *client, uint32_t live, uint32_t number,
		      Ts__Rpc__Answer **ret_answer, int *ret_fd)
{
	int r;

	if (live)
		return ts_client_open_trace(client, live, 0, ret_answer, ret_fd);
	r = ts_client_open_trace(client, 0, number, ret_answer, ret_fd);
	return r ? ts_client_open_trace(client, number, 0, ret_answer, ret_fd) : 0;
}

const struct ts_live_daemon *ts_source_find_session(const struct ts_live *live, uint32_t number,
						    uint32_t *ret_session)
{
	const struct ts_live_daemon *service = NULL;

	*ret_session = 0;
	for (size_t i = 0; i < live->n_daemons; i++) {
		const Ts__Rpc__SessionList *list = live->daemons[i].answer->session_list;

		for (size_t j = 0; j < list->n_sessions; j++) {
			if (list->sessions[j]->pid == number) {
				*ret_session = list->sessions[j]->session;
				return &live->daemons[i];
			}
			if (!live->daemons[i].is_recording && list->sessions[j]->session == number)
				*ret_session = number;
		}
		if (!live->daemons[i].is_recording)
			service = &live->daemons[i];
	}
	return service;
}

static int open_session(struct ts_source *source, uint32_t number)
{
	ts_cleanup(ts_live_freep) struct ts_live *live = NULL;
	ts_cleanup(ts_closep) int fd = -1;
	const struct ts_live_daemon *daemon;
	Ts__Rpc__Answer *answer;
	uint32_t session;
	int r = ts_live_new(&live);

	r = r ? r : ts_live_list(live);
	if (r) {
		ts_complain("%s", strerror(-r));
		return TS_EXIT_BAD;
	}
	daemon = ts_source_find_session(live, number, &session);
	if (!daemon) {
		ts_source_complain_nobody(number);
		return TS_EXIT_BAD;
	}
	r = open_trace(daemon->client, session, number, &answer, &fd);
	if (r == -ENOENT && !session) {
		ts_complain("the daemon has no session of yours with number or pid %u; `tsctl "
			    "sessions` lists the live sessions",
			    number);
		return TS_EXIT_BAD;
	}
	if (r) {
		ts_complain("the daemon at %s: %s", daemon->path, ts_client_error(daemon->client));
		return TS_EXIT_BAD;
	}
	if (answer->body_case == TS__RPC__ANSWER__BODY_TRACE_OPENED && fd >= 0) {
		source->path = strdup(answer->trace_opened->path && *answer->trace_opened->path
					      ? answer->trace_opened->path
					      : "the session's trace");
		source->session = answer->trace_opened->number_in_file;
	}
	ts__rpc__answer__free_unpacked(answer, NULL);
	if (!source->path) {
		ts_complain("the daemon sent no file for session %u", number);
		return TS_EXIT_BAD;
	}
	source->fd = ts_take_fd(&fd);
	source->has_fd = true;
	return open_reader(source, source->fd);
}

int ts_source_reopen(struct ts_source *source, const struct ts_source *from)
{
	assert(from->has_fd);
	source->path = strdup(from->path);
	source->session = from->session;
	if (!source->path) {
		ts_complain("out of memory");
		return TS_EXIT_BAD;
	}
	return open_reader(source, from->fd);
}

int ts_source_open(struct ts_source *source, const char *file, const char *session)
{
	ts_cleanup(ts_closep) int fd = -1;
	unsigned long long number;

	if (!session && access(file, F_OK) && errno == ENOENT &&
	    !ts_parse_number(file, 1, UINT32_MAX, &number))
		session = file;
	if (session) {
		if (ts_parse_number(session, 1, UINT32_MAX, &number)) {
			ts_complain(
				"--session %s: expected a session's number or a pid; `tsctl sessions` lists both",
				session);
			return TS_EXIT_BAD;
		}
		return open_session(source, (uint32_t)number);
	}
	fd = ts_source_open_file(file, O_RDONLY);
	if (fd < 0)
		return TS_EXIT_BAD;
	source->path = strdup(file);
	if (!source->path) {
		ts_complain("out of memory");
		return TS_EXIT_BAD;
	}
	source->fd = ts_take_fd(&fd);
	source->has_fd = true;
	return open_reader(source, source->fd);
}

static void on_rows(uint32_t n_rows, void *data)
{
	ts_progress_add(data, n_rows);
}

void ts_source_watch_reader(struct ts_sbt_reader *reader, struct ts_progress *progress)
{
	ts_sbt_reader_watch(reader, progress ? on_rows : NULL, progress);
}

void ts_source_watch(struct ts_source *source)
{
	ts_progress_init(&source->progress, "reading rows:", 0);
	ts_source_watch_reader(source->reader, &source->progress);
}

void ts_source_unwatch(struct ts_source *source)
{
	ts_source_watch_reader(source->reader, NULL);
	ts_progress_deinit(&source->progress);
}

void ts_source_deinit(struct ts_source *source)
{
	ts_sbt_reader_free(source->reader);
	free(source->path);
	if (source->has_fd)
		close(source->fd);
}
