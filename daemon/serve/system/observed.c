/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes rows of the events of probes. observer.c calls this module. The process's name comes from
 * /proc at its first call. If the process is gone by then, the name of the calling thread is used.
 */
#include "daemon/serve/system/observed.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/random.h>

#include "daemon/merge/loss.h"
#include "daemon/util/daemon-error.h"
#include "proto/abi/clock.h"
#include "proto/abi/utf8.h"

#define DEFINITION_BYTES 64u
/* At a write, a process with fewer pending rows than this frees its row buffers. */
#define BUSY_ROWS 4096u
/* ts_row_loss.context of lost events: the probes' buffer had no room for them. */
#define LOSS_CONTEXT 64u

/* ---- identity ---- */

static void program_of(const struct ts_call_event *event, char *name, size_t n_name)
{
	char link[32], path[PATH_MAX];
	const char *last;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%u/exe", event->pid);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	if (n > 10 && !strcmp(path + n - 10, " (deleted)"))
		path[n - 10] = '\0';
	last = strrchr(path, '/');
	if (last && last[1])
		snprintf(name, n_name, "%s", last + 1);
	else
		snprintf(name, n_name, "%.*s", (int)sizeof(event->name), event->name);
	ts_text_clean(name);
}

static int add_clock(struct ts_observed *observed)
{
	struct ts_clock_pair pair = ts_clock_pair_take(TS_CLOCK_REALTIME);
	struct ts_row_clock row = {
		.start_ns = pair.monotonic_ns,
		.ticks = pair.ticks,
		.error_ns = pair.error_ns,
		.clock = TS_CLOCK_REALTIME,
	};

	observed->counts[TS_ROW_CLOCK]++;
	return ts_sbt_session_writer_add_row(observed->writer, TS_ROW_CLOCK, &row);
}

/* Charges definitions to the process's user, because the recording serves all users. */
static bool charge(struct ts_observed *observed, const struct ts_recording *recording,
		   uint64_t n_bytes)
{
	if (observed->definition_bytes + n_bytes > recording->limits->max_definition_bytes ||
	    (observed->user &&
	     !ts_user_take(observed->user, TS_RESOURCE_DEFINITION_BYTES, n_bytes)))
		return false;
	observed->definition_bytes += n_bytes;
	return true;
}

int ts_observed_begin(struct ts_observed *observed, struct ts_recording *recording,
		      const struct ts_call_event *event, const char *command_line)
{
	struct ts_clock_pair pair = ts_clock_pair_take(TS_CLOCK_REALTIME);
	struct ts_row_session *row = &observed->row;
	char program[NAME_MAX + 1];
	size_t n;
	int r;

	*row = (struct ts_row_session){
		.pid = event->pid,
		.uid = event->uid,
		.start_ns = event->start_ns,
		.start_realtime_ns = pair.ticks - (pair.monotonic_ns - event->start_ns),
		.host_clock = TS_CLOCK_MONOTONIC,
		.state = TS_SESSION_RECORDING,
		.source = TS_SESSION_SOURCE_PROBES,
	};
	/* Without entropy at early boot, the id is at least unique to this process. */
	if (getrandom(row->uuid, sizeof(row->uuid), GRND_NONBLOCK) != (ssize_t)sizeof(row->uuid)) {
		uint64_t id[2] = {event->start_ns, event->pid};

		memcpy(row->uuid, id, sizeof(id));
	}
	program_of(event, program, sizeof(program));
	snprintf(observed->program, sizeof(observed->program), "%.*s",
		 (int)sizeof(observed->program) - 1, program);
	r = ts_sbt_writer_string(recording->writer, program, strlen(program), &row->program);
	n = strlen(command_line);
	if (!r && n && charge(observed, recording, n))
		r = ts_sbt_writer_string(recording->writer, command_line, n, &row->command_line);
	r = r ?: ts_sbt_session_writer_new(recording->writer, row, &observed->writer);
	return r ?: add_clock(observed);
}

/* ---- calls ---- */

static int thread_of(struct ts_observed *observed, struct ts_recording *recording,
		     const struct ts_call_event *event, uint32_t *ret_thread)
{
	struct ts_row_thread row = {.start_ns = event->start_ns, .tid = event->tid};
	size_t n = strnlen(event->name, sizeof(event->name));
	int r;

	*ret_thread = ts_map_get(&observed->threads, event->tid);
	if (*ret_thread || !charge(observed, recording, n + DEFINITION_BYTES))
		return 0;
	r = ts_sbt_writer_string(recording->writer, event->name, n, &row.name);
	r = r ?: ts_sbt_session_writer_add_thread(observed->writer, &row, ret_thread);
	return r ?: ts_map_set(&observed->threads, event->tid, *ret_thread);
}

static int add_row(struct ts_observed *observed, unsigned type, const void *row)
{
	int r = ts_sbt_session_writer_add_row(observed->writer, type, row);

	if (r == TS_SBT_E_FULL) {
		r = ts_observed_seal(observed);
		r = r ?: ts_sbt_session_writer_add_row(observed->writer, type, row);
	}
	observed->dirty = true;
	observed->counts[type] += !r;
	return r;
}

/*
 * Moves the session's start to start_ns if that is earlier. A probe reports a call when it returns.
 * So another thread's first call may have begun before the call that began the session.
 */
static int move_start(struct ts_observed *observed, uint64_t start_ns)
{
	struct ts_row_session *row = &observed->row;

	if (start_ns >= row->start_ns)
		return 0;
	row->start_realtime_ns -= row->start_ns - start_ns;
	row->start_ns = start_ns;
	return ts_sbt_session_writer_update(observed->writer, row);
}

int ts_observed_call(struct ts_observed *observed, struct ts_recording *recording,
		     const struct ts_call_event *event)
{
	const struct ts_call_function *function;
	struct ts_row_arguments arguments;
	struct ts_row_api row;
	size_t n;
	int r;

	function = &ts_call_functions(&n)[event->number];
	row = (struct ts_row_api){
		.start_ns = event->start_ns,
		.end_ns = event->end_ns,
		.op_id = ++observed->n_ops,
		.result = event->result,
		.domain = function->domain,
		.cbid = function->cbid,
	};
	r = move_start(observed, event->start_ns);
	r = r ?: thread_of(observed, recording, event, &row.thread);
	r = r ?: add_row(observed, TS_ROW_API, &row);
	if (r || (!event->bytes && !event->handle))
		return r;
	arguments = (struct ts_row_arguments){
		.start_ns = event->start_ns,
		.op_id = row.op_id,
		.bytes = event->bytes,
		.function = event->handle,
		.kernel = ts_map_get(&observed->kernels, event->handle),
		.thread = row.thread,
	};
	return add_row(observed, TS_ROW_ARGUMENTS, &arguments);
}

int ts_observed_name(struct ts_observed *observed, struct ts_recording *recording,
		     const struct ts_call_name *event)
{
	size_t n = strnlen(event->text, sizeof(event->text));
	uint32_t id;
	int r;

	/* A name that may be truncated is not used: it could be another kernel's name. */
	if (!event->event.handle || n + 1 >= sizeof(event->text) ||
	    !charge(observed, recording, n + DEFINITION_BYTES))
		return 0;
	r = ts_sbt_writer_string(recording->writer, event->text, n, &id);
	return r ?: ts_map_set(&observed->kernels, event->event.handle, id);
}

int ts_observed_alias(struct ts_observed *observed, struct ts_recording *recording, uint64_t handle,
		      uint64_t of)
{
	uint32_t id = ts_map_get(&observed->kernels, of);

	if (!id || !handle || ts_map_get(&observed->kernels, handle) == id ||
	    !charge(observed, recording, DEFINITION_BYTES))
		return 0;
	return ts_map_set(&observed->kernels, handle, id);
}

int ts_observed_pause(struct ts_observed *observed, bool paused)
{
	struct ts_row_pause row = {
		.start_ns = ts_clock_monotonic_ns(),
		.paused = paused,
		.cause = TS_PAUSE_BY_REQUEST,
	};

	return observed->writer ? add_row(observed, TS_ROW_PAUSE, &row) : 0;
}

int ts_observed_lose(struct ts_observed *observed, enum ts_loss_reason reason, uint64_t count)
{
	struct ts_row_loss row =
		ts_loss_row(reason, count, observed->row.start_ns, ts_clock_monotonic_ns());

	if (!count)
		return 0;
	if (reason == TS_LOSS_KERNEL_EVENTS)
		row.context = LOSS_CONTEXT;
	observed->lost[reason] += count;
	return add_row(observed, TS_ROW_LOSS, &row);
}

int ts_observed_seal(struct ts_observed *observed)
{
	bool is_busy = ts_sbt_session_writer_pending_rows(observed->writer) >= BUSY_ROWS;
	int r = observed->dirty ? ts_sbt_session_writer_seal(observed->writer, NULL, 0) : 0;

	/* Most processes make few rows at a time, so they keep no buffers between writes. */
	if (!is_busy)
		ts_sbt_session_writer_trim(observed->writer);
	observed->dirty = observed->dirty && r;
	return r;
}

/* ---- end ---- */

int ts_observed_end(struct ts_observed *observed, enum ts_session_end how)
{
	int r = add_clock(observed);

	observed->row.end_ns = ts_clock_monotonic_ns();
	observed->row.ended = how;
	observed->row.state = TS_SESSION_ENDED;
	observed->dirty = true;
	r = r ?: ts_sbt_session_writer_update(observed->writer, &observed->row);
	return r ?: ts_observed_seal(observed);
}

void ts_observed_drop(struct ts_observed *observed)
{
	uint64_t counts[TS_ROW_EVENT_END], n = 0;

	ts_sbt_session_writer_drop(observed->writer, counts);
	for (unsigned type = 0; type < TS_ROW_EVENT_END; type++) {
		observed->counts[type] -= counts[type];
		if (type != TS_ROW_LOSS && type != TS_ROW_CLOCK)
			n += counts[type];
	}
	/*
	 * Ignore the result: if the file has no room for these last rows, no other row can report
	 * this.
	 */
	(void)ts_observed_lose(observed, TS_LOSS_DISK, n ?: 1);
	observed->row.end_ns = ts_clock_monotonic_ns();
	observed->row.ended = TS_SESSION_END_DAEMON;
	(void)ts_sbt_session_writer_update(observed->writer, &observed->row);
	(void)ts_observed_seal(observed);
}

void ts_observed_free(struct ts_observed *observed)
{
	ts_sbt_session_writer_free(observed->writer);
	ts_map_deinit(&observed->kernels);
	ts_map_deinit(&observed->threads);
	ts_user_unref(observed->user);
	free(observed);
}
