/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of the control socket. control.c and connection.c call this module. Each answer is built
 * and packed in one call, so no data has to outlive the call.
 */
#include "daemon/serve/loop/answers.h"

#include "daemon/util/daemon-error.h"
#include "proto/rpc/json.h"
#include "proto/rpc/tracesmith.pb-c.h"

static int pack(const Ts__Rpc__Answer *answer, uint8_t **ret_packed, size_t *ret_n_bytes)
{
	size_t n_bytes = ts__rpc__answer__get_packed_size(answer);
	uint8_t *packed = malloc(n_bytes ? n_bytes : 1);

	if (!packed)
		return ts_error_origin(-ENOMEM);
	ts__rpc__answer__pack(answer, packed);
	*ret_packed = packed;
	*ret_n_bytes = n_bytes;
	return 0;
}

int ts_answer_error(int code, const char *message, uint8_t **ret_packed, size_t *ret_n_bytes)
{
	Ts__Rpc__Answer answer = TS__RPC__ANSWER__INIT;
	Ts__Rpc__Error error = TS__RPC__ERROR__INIT;

	answer.body_case = TS__RPC__ANSWER__BODY_ERROR;
	answer.error = &error;
	TS_RPC_SET(&error, code, code < 0 ? -code : code);
	error.message = (char *)(uintptr_t)message;
	return pack(&answer, ret_packed, ret_n_bytes);
}

/* A session as a message, with all the data that it points to. */
struct answer_session {
	Ts__Rpc__LiveSession message;
	Ts__Rpc__LiveCapture capture;
	Ts__Rpc__LiveSession__LostEntry lost[TS_LOSS_COUNT];
	Ts__Rpc__LiveSession__LostEntry *lost_pointers[TS_LOSS_COUNT];
	Ts__Rpc__LiveSession__CountsEntry counts[TS_ROW_EVENT_END];
	Ts__Rpc__LiveSession__CountsEntry *count_pointers[TS_ROW_EVENT_END];
	struct ts_session_status status;
};

static const char *state_name(const struct ts_session_status *status)
{
	switch (status->state) {
	case TS_SESSION_STARTING:
		return "starting";
	case TS_SESSION_RECORDING:
		return status->paused ? "paused" : "recording";
	case TS_SESSION_YIELDED:
		return "yielded";
	case TS_SESSION_REFUSED:
		return "refused";
	case TS_SESSION_ENDED:
		return "ending";
	default:
		return "unknown";
	}
}

static void fill_capture(struct answer_session *session)
{
	static const char *const states[] = {
		[TS_CAPTURE_STATE_WHOLE] = "whole",
		[TS_CAPTURE_STATE_CLOSED] = "closed",
		[TS_CAPTURE_STATE_OPEN] = "open",
	};
	const struct ts_session_status *status = &session->status;

	if (status->capture == TS_CAPTURE_STATE_NONE || status->capture >= TS_ARRAY_LEN(states))
		return;
	ts__rpc__live_capture__init(&session->capture);
	session->capture.state =
		(char *)(uintptr_t)(status->capture_ended ? "ended" : states[status->capture]);
	session->capture.ended = (char *)(uintptr_t)status->capture_ended;
	if (status->capture_max_bytes)
		TS_RPC_SET(&session->capture, max_bytes, status->capture_max_bytes);
	TS_RPC_SET(&session->capture, windows, status->capture_windows);
	TS_RPC_SET(&session->capture, bytes, status->captured_bytes);
	TS_RPC_SET(&session->capture, ns, status->captured_ns);
	session->message.capture = &session->capture;
}

/* Fills the message of a session from session->status, which the caller has filled. */
static void fill_session(struct answer_session *session, uint32_t number,
			 const struct ts_recording *recording)
{
	Ts__Rpc__LiveSession *message = &session->message;
	const char *reason;

	ts__rpc__live_session__init(message);
	TS_RPC_SET(message, session, number);
	TS_RPC_SET(message, number_in_file, session->status.number);
	TS_RPC_SET(message, pid, session->status.pid);
	TS_RPC_SET(message, uid, session->status.uid);
	message->program = (char *)(uintptr_t)session->status.program;
	message->state = (char *)(uintptr_t)state_name(&session->status);
	message->path = recording->path;
	if (__atomic_load_n(&recording->removed, __ATOMIC_RELAXED))
		TS_RPC_SET(message, removed, true);
	TS_RPC_SET(message, rows, session->status.rows);
	TS_RPC_SET(message, file_bytes,
		   recording->writer ? ts_sbt_writer_bytes(recording->writer) : 0);
	TS_RPC_SET(message, start_monotonic_ns, session->status.start_ns);
	TS_RPC_SET(message, unwritten_bytes, session->status.unwritten_bytes);
	reason = ts_empty_reason_name(session->status.reason);
	if (reason) {
		message->empty_reason = (char *)(uintptr_t)reason;
		message->empty_text = session->status.reason_text;
	}
	TS_RPC_SET(message, paused, session->status.paused);
	fill_capture(session);
	message->counts = session->count_pointers;
	for (unsigned i = TS_ROW_API; i; i = ts_row_next_event(i)) {
		Ts__Rpc__LiveSession__CountsEntry *entry = &session->counts[message->n_counts];

		if (!session->status.counts[i])
			continue;
		ts__rpc__live_session__counts_entry__init(entry);
		entry->key = (char *)(uintptr_t)ts_row_schema(i)->name;
		TS_RPC_SET(entry, value, session->status.counts[i]);
		session->count_pointers[message->n_counts++] = entry;
	}
	message->lost = session->lost_pointers;
	for (unsigned i = 1; i < TS_LOSS_COUNT; i++) {
		Ts__Rpc__LiveSession__LostEntry *entry = &session->lost[message->n_lost];

		if (!session->status.lost[i] || !ts_loss_reason_name(i))
			continue;
		ts__rpc__live_session__lost_entry__init(entry);
		entry->key = (char *)(uintptr_t)ts_loss_reason_name(i);
		TS_RPC_SET(entry, value, session->status.lost[i]);
		session->lost_pointers[message->n_lost++] = entry;
	}
}

struct answer_sessions {
	struct answer_session *sessions;
	Ts__Rpc__LiveSession **pointers;
	size_t n;
	struct ts_observer_list observed;
	uint64_t n_rows;
	uint64_t n_bytes;
};

static void free_sessions(struct answer_sessions *all)
{
	free(all->sessions);
	free(all->pointers);
	free(all->observed.sessions);
}

/* Adds sessions of the observer. */
static void fill_observed(struct answer_sessions *all, const struct ts_server *server,
			  const struct ts_identity *asker)
{
	const struct ts_recording *recording = server->observed ?: server->recording;

	for (size_t i = 0; i < all->observed.n; i++) {
		struct answer_session *session = &all->sessions[all->n];

		session->status = all->observed.sessions[i].status;
		all->n_rows += session->status.rows;
		if (!ts_identity_may_see(asker, session->status.uid))
			continue;
		fill_session(session, all->observed.sessions[i].number, recording);
		TS_RPC_SET(&session->message, host_half_only, true);
		all->pointers[all->n++] = &session->message;
	}
	all->n_rows += all->observed.n_rows;
	if (server->observed && server->observed->writer)
		all->n_bytes += ts_sbt_writer_bytes(server->observed->writer);
}

static int fill_sessions(struct answer_sessions *all, const struct ts_server *server,
			 const struct ts_identity *asker)
{
	size_t n;
	int r = server->observer ? ts_observer_list(server->observer, &all->observed) : 0;

	if (r)
		return r;
	n = server->n_peers + all->observed.n + 1;
	all->sessions = calloc(n, sizeof(*all->sessions));
	all->pointers = calloc(n, sizeof(*all->pointers));
	if (!all->sessions || !all->pointers)
		return ts_error_origin(-ENOMEM);
	for (const struct ts_peer *peer = server->peers; peer; peer = peer->next) {
		struct answer_session *session = &all->sessions[all->n];

		if (!peer->session)
			continue;
		ts_session_status(peer->session, &session->status);
		fill_session(session, peer->number, peer->recording);
		all->n_rows += session->status.rows;
		if (peer->recording != server->recording)
			all->n_bytes += session->message.file_bytes;
		if (!ts_identity_may_see(asker, peer->credentials.uid))
			continue;
		all->pointers[all->n++] = &session->message;
	}
	fill_observed(all, server, asker);
	return 0;
}

struct answer_capabilities {
	Ts__Rpc__Capability messages[TS_CAPABILITY_N];
	Ts__Rpc__Capability *pointers[TS_CAPABILITY_N];
};

static void fill_capabilities(struct answer_capabilities *all, uint32_t have)
{
	for (unsigned i = 0; i < TS_CAPABILITY_N; i++) {
		Ts__Rpc__Capability *message = &all->messages[i];

		ts__rpc__capability__init(message);
		message->name = (char *)(uintptr_t)ts_capability_name(i);
		TS_RPC_SET(message, present, have >> i & 1);
		message->cost = (char *)(uintptr_t)ts_capability_cost(i);
		all->pointers[i] = message;
	}
}

static const char *mode_name(enum ts_server_mode mode)
{
	return mode == TS_SERVER_SERVICE  ? "service"
	       : mode == TS_SERVER_RECORD ? "record"
					  : "private";
}

static void fill_disk(Ts__Rpc__Status *status, const struct ts_server *server,
		      const struct ts_identity *asker)
{
	struct ts_user *user = ts_users_ref(server->users, asker->uid);
	uint64_t most = ts_user_most(user, TS_RESOURCE_DISK_BYTES),
		 all_most = ts_users_most(server->users, TS_RESOURCE_DISK_BYTES);

	TS_RPC_SET(status, disk_bytes, ts_user_has(user, TS_RESOURCE_DISK_BYTES));
	if (most != UINT64_MAX)
		TS_RPC_SET(status, disk_bytes_most, most);
	TS_RPC_SET(status, disk_bytes_all, ts_users_have(server->users, TS_RESOURCE_DISK_BYTES));
	if (all_most != UINT64_MAX)
		TS_RPC_SET(status, disk_bytes_all_most, all_most);
	ts_user_unref(user);
}

int ts_answer_status(const struct ts_server *server, const struct ts_identity *asker,
		     uint8_t **ret_packed, size_t *ret_n_bytes)
{
	ts_cleanup(free_sessions) struct answer_sessions all = {0};
	const struct ts_server_options *options = &server->options;
	Ts__Rpc__Answer answer = TS__RPC__ANSWER__INIT;
	Ts__Rpc__Status status = TS__RPC__STATUS__INIT;
	struct answer_capabilities capabilities;
	uint64_t n_bytes = server->n_bytes;
	char full[] = "the daemon cannot write more to the file; the daemon's log has the reason";
	char kernel_events[64];
	int r;

	r = fill_sessions(&all, server, asker);
	if (r)
		return r;
	if (server->recording && server->recording->writer)
		n_bytes += ts_sbt_writer_bytes(server->recording->writer);
	answer.body_case = TS__RPC__ANSWER__BODY_STATUS;
	answer.status = &status;
	TS_RPC_SET(&status, running, 1);
	status.version = (char *)(uintptr_t)TS_VERSION;
	TS_RPC_SET(&status, pid, (uint32_t)getpid());
	status.mode = (char *)(uintptr_t)mode_name(options->mode);
	if (server->kernel) {
		ts_kernel_config_names(ts_kernel_hub_programs(server->kernel), kernel_events,
				       sizeof(kernel_events));
		status.kernel_events = kernel_events;
		status.kernel_events_missing =
			(char *)(uintptr_t)ts_kernel_hub_missing(server->kernel);
	}
	if (server->options.system) {
		bool failed = server->observer && ts_observer_failed(server->observer);

		TS_RPC_SET(&status, system, server->observer && !failed);
		if (failed)
			status.system_missing = full;
		else if (server->system_missing[0])
			status.system_missing = (char *)(uintptr_t)server->system_missing;
	}
	TS_RPC_SET(&status, uptime_ns, ts_clock_monotonic_ns() - server->start_ns);
	status.control_socket = (char *)(uintptr_t)options->control_socket;
	status.inject_socket = (char *)(uintptr_t)options->inject_socket;
	if (options->mode == TS_SERVER_SERVICE) {
		status.directory = (char *)(uintptr_t)options->directory;
		fill_capabilities(&capabilities, server->capabilities);
		status.capabilities = capabilities.pointers;
		status.n_capabilities = TS_CAPABILITY_N;
		fill_disk(&status, server, asker);
	}
	TS_RPC_SET(&status, sessions_live,
		   (uint32_t)ts_users_have(server->users, TS_RESOURCE_SESSIONS) +
			   (uint32_t)all.observed.n);
	TS_RPC_SET(&status, sessions_total, server->n_sessions + all.observed.n_ever);
	TS_RPC_SET(&status, sessions_refused, server->n_refused);
	TS_RPC_SET(&status, bytes_written, n_bytes + all.n_bytes);
	TS_RPC_SET(&status, rows_written, server->n_rows + all.n_rows);
	status.n_sessions = all.n;
	status.sessions = all.pointers;
	return pack(&answer, ret_packed, ret_n_bytes);
}

int ts_answer_sessions(const struct ts_server *server, const struct ts_identity *asker,
		       uint8_t **ret_packed, size_t *ret_n_bytes)
{
	ts_cleanup(free_sessions) struct answer_sessions all = {0};
	Ts__Rpc__Answer answer = TS__RPC__ANSWER__INIT;
	Ts__Rpc__SessionList list = TS__RPC__SESSION_LIST__INIT;
	int r;

	r = fill_sessions(&all, server, asker);
	if (r)
		return r;
	answer.body_case = TS__RPC__ANSWER__BODY_SESSION_LIST;
	answer.session_list = &list;
	list.n_sessions = all.n;
	list.sessions = all.pointers;
	return pack(&answer, ret_packed, ret_n_bytes);
}

int ts_answer_opened(uint32_t number, uint32_t number_in_file, const struct ts_recording *recording,
		     bool live, uint8_t **ret_packed, size_t *ret_n_bytes)
{
	Ts__Rpc__Answer answer = TS__RPC__ANSWER__INIT;
	Ts__Rpc__TraceOpened opened = TS__RPC__TRACE_OPENED__INIT;

	answer.body_case = TS__RPC__ANSWER__BODY_TRACE_OPENED;
	answer.trace_opened = &opened;
	opened.path = recording->path;
	TS_RPC_SET(&opened, live, live);
	if (number) {
		TS_RPC_SET(&opened, session, number);
		TS_RPC_SET(&opened, number_in_file, number_in_file);
	}
	return pack(&answer, ret_packed, ret_n_bytes);
}

int ts_answer_cancelled(bool found, uint8_t **ret_packed, size_t *ret_n_bytes)
{
	Ts__Rpc__Answer answer = TS__RPC__ANSWER__INIT;
	Ts__Rpc__Cancelled cancelled = TS__RPC__CANCELLED__INIT;

	answer.body_case = TS__RPC__ANSWER__BODY_CANCELLED;
	answer.cancelled = &cancelled;
	TS_RPC_SET(&cancelled, found, found);
	return pack(&answer, ret_packed, ret_n_bytes);
}

int ts_answer_flushed(uint32_t n_sessions, uint32_t n_timed_out, uint8_t **ret_packed,
		      size_t *ret_n_bytes)
{
	Ts__Rpc__Answer answer = TS__RPC__ANSWER__INIT;
	Ts__Rpc__Flushed flushed = TS__RPC__FLUSHED__INIT;

	answer.body_case = TS__RPC__ANSWER__BODY_FLUSHED;
	answer.flushed = &flushed;
	TS_RPC_SET(&flushed, sessions, n_sessions);
	TS_RPC_SET(&flushed, timed_out, n_timed_out);
	return pack(&answer, ret_packed, ret_n_bytes);
}

int ts_answer_switched(uint32_t n_sessions, uint32_t n_changed, uint32_t n_timed_out, bool system,
		       uint8_t **ret_packed, size_t *ret_n_bytes)
{
	Ts__Rpc__Answer answer = TS__RPC__ANSWER__INIT;
	Ts__Rpc__Switched switched = TS__RPC__SWITCHED__INIT;

	answer.body_case = TS__RPC__ANSWER__BODY_SWITCHED;
	answer.switched = &switched;
	TS_RPC_SET(&switched, sessions, n_sessions);
	TS_RPC_SET(&switched, changed, n_changed);
	TS_RPC_SET(&switched, timed_out, n_timed_out);
	if (system)
		TS_RPC_SET(&switched, system, true);
	return pack(&answer, ret_packed, ret_n_bytes);
}

/*
 * Returns the number of rows that the application wrote: marks, ranges, counters. Dropped rows
 * (full disk) may be in n_kernel_counters and n_own_rows but not in counts, so the difference can
 * be negative.
 */
static uint64_t annotations_of(const struct ts_recording *recording)
{
	uint64_t n = recording->counts[TS_ROW_MARK] + recording->counts[TS_ROW_RANGE_BEGIN] +
		     recording->counts[TS_ROW_COUNTER],
		 others = recording->n_kernel_counters + recording->n_own_rows;

	return n > others ? n - others : 0;
}

static void fill_summary(Ts__Rpc__RecordingSummary *summary, struct ts_recording *recording)
{
	const char *reason = ts_empty_reason_name(recording->empty_reason);

	summary->path = recording->path;
	TS_RPC_SET(summary, bytes, ts_recording_bytes(recording));
	TS_RPC_SET(summary, sessions, recording->n_sessions);
	TS_RPC_SET(summary, notes, recording->n_notes);
	TS_RPC_SET(summary, stopped, recording->n_stopped);
	TS_RPC_SET(summary, died, recording->n_died);
	TS_RPC_SET(summary, dropped, recording->n_dropped);
	TS_RPC_SET(summary, refused, recording->n_refused);
	TS_RPC_SET(summary, observed, recording->n_observed);
	TS_RPC_SET(summary, observed_calls, recording->n_observed_calls);
	summary->cut_short = (char *)(uintptr_t)recording->cut_short;
	TS_RPC_SET(summary, annotations, annotations_of(recording));
	if (recording->n_captured) {
		TS_RPC_SET(summary, captured, recording->n_captured);
		TS_RPC_SET(summary, captured_bytes, recording->captured_bytes);
		TS_RPC_SET(summary, captured_ns, recording->captured_ns);
		TS_RPC_SET(summary, unsupported, recording->n_unsupported);
		summary->capture_ended = (char *)(uintptr_t)recording->capture_ended;
	}
	if (*recording->names_missing)
		summary->names_missing = (char *)(uintptr_t)recording->names_missing;
	if (recording->error)
		summary->error = strerror(-recording->error);
	if (reason) {
		summary->empty_reason = (char *)(uintptr_t)reason;
		summary->empty_text = (char *)(uintptr_t)recording->empty_text;
		summary->empty_program = (char *)(uintptr_t)recording->empty_program;
	}
}

int ts_answer_summary(struct ts_recording *recording, uint8_t **ret_packed, size_t *ret_n_bytes)
{
	Ts__Rpc__RecordingSummary__CountsEntry counts[TS_ROW_EVENT_END],
		*count_pointers[TS_ROW_EVENT_END];
	Ts__Rpc__RecordingSummary__LostEntry lost[TS_LOSS_COUNT], *lost_pointers[TS_LOSS_COUNT];
	Ts__Rpc__Answer answer = TS__RPC__ANSWER__INIT;
	Ts__Rpc__RecordingSummary summary = TS__RPC__RECORDING_SUMMARY__INIT;

	answer.body_case = TS__RPC__ANSWER__BODY_SUMMARY;
	answer.summary = &summary;
	if (!recording)
		return pack(&answer, ret_packed, ret_n_bytes);
	fill_summary(&summary, recording);
	summary.counts = count_pointers;
	for (unsigned i = TS_ROW_API; i; i = ts_row_next_event(i)) {
		Ts__Rpc__RecordingSummary__CountsEntry *entry = &counts[summary.n_counts];

		if (!recording->counts[i])
			continue;
		ts__rpc__recording_summary__counts_entry__init(entry);
		entry->key = (char *)(uintptr_t)ts_row_schema(i)->name;
		TS_RPC_SET(entry, value, recording->counts[i]);
		count_pointers[summary.n_counts++] = entry;
	}
	summary.lost = lost_pointers;
	for (unsigned i = 1; i < TS_LOSS_COUNT; i++) {
		Ts__Rpc__RecordingSummary__LostEntry *entry = &lost[summary.n_lost];

		if (!recording->lost[i] || !ts_loss_reason_name(i))
			continue;
		ts__rpc__recording_summary__lost_entry__init(entry);
		entry->key = (char *)(uintptr_t)ts_loss_reason_name(i);
		TS_RPC_SET(entry, value, recording->lost[i]);
		lost_pointers[summary.n_lost++] = entry;
	}
	return pack(&answer, ret_packed, ret_n_bytes);
}
