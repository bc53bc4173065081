/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main loop: sockets, signals, timers, and the order in which a recording ends. main.c calls
 * ts_server_run(). Sessions run in their own threads and report through one eventfd. The loop runs
 * everything else: listen.c, peers.c, connection.c, question.c, and the checks of recording/ and
 * system/.
 *
 * The end: begin_finish() sets a deadline for each session and stops it. When the last peer is
 * gone, finish() completes the file, answers Finish requests and ends the loop. If a thread is
 * still stuck at abandon_deadline_ns, the process exits at once.
 */
#include "daemon/serve/loop/server.h"
#include "daemon/serve/loop/question.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "daemon/serve/loop/answers.h"
#include "daemon/serve/loop/listen.h"
#include "daemon/util/daemon-error.h"
#include "proto/abi/clock.h"

/*
 * The process waits this long after the sessions' deadline, because a thread on a busy machine may
 * only be slow.
 */
#define SERVER_ABANDON_NS      (UINT64_C(10) * 1000000000)
#define SERVER_TERM_ABANDON_NS (UINT64_C(1500) * 1000000)
#define SERVER_SPARE_FDS \
	128u /* descriptors for sockets and timers, and those being closed or sent to a worker */

/* ---- checks of peers and clients ---- */

static int describe(struct ts_server *server, const char *metadata)
{
	const char *value = strchr(metadata, '=');
	char key[64];
	int r;

	snprintf(key, sizeof(key), "%.*s", (int)(value - metadata), metadata);
	r = ts_sbt_writer_metadata(server->recording->writer, key, value + 1);
	return r > 0 ? ts_error_origin(-EIO) : r;
}

/* Adds empty_metadata only to a trace without GPU operations. */
static void describe_empty(struct ts_server *server)
{
	const uint64_t *counts = server->recording->counts;

	if (server->options.empty_metadata &&
	    !(counts[TS_ROW_KERNEL] + counts[TS_ROW_MEMCPY] + counts[TS_ROW_MEMSET]) &&
	    describe(server, server->options.empty_metadata))
		ts_log(TS_LOG_ERROR, "cannot write to %s why it has no GPU work",
		       server->recording->path);
}

static void finish(struct ts_server *server)
{
	struct ts_client_connection *client;
	int error = 0;

	ts_server_close_system(server);
	if (server->recording) {
		ts_server_dump_check(server, server->recording, true);
		describe_empty(server);
		/*
		 * No traced process waits for the names, only the client that asked for the
		 * recording.
		 */
		if (server->options.mode == TS_SERVER_RECORD && !server->options.no_symbols)
			ts_recording_symbolize(server->recording, server->options.worker,
					       TS_SERVER_SYMBOLS_MS, ts_end_signal_ns(server->end));
		error = ts_recording_finish(server->recording);
		if (error)
			ts_log(TS_LOG_ERROR, "%s is incomplete: %s", server->recording->path,
			       strerror(-error));
	}
	for (client = server->clients; client; client = ts_client_connection_next(client))
		ts_client_connection_finished(client);
	if (error)
		server->exit_status = 1;
	sd_event_exit(server->event, server->exit_status);
}

static void unlink_sockets(struct ts_server *server)
{
	if (server->unlink_inject)
		unlink(server->options.inject_socket);
	if (server->unlink_control)
		unlink(server->options.control_socket);
	if (server->directory[0])
		ts_places_remove(server->directory);
}

/*
 * Ends the process while sessions still run. Their files are complete up to the last written block.
 */
static _Noreturn void exit_at_once(struct ts_server *server)
{
	ts_log(TS_LOG_ERROR,
	       "the daemon took too long to finish and exits now: the files of %" PRIu32
	       " sessions lack their last rows; `tsctl repair` completes unfinished files",
	       __atomic_load_n(&server->n_peers, __ATOMIC_RELAXED));
	unlink_sockets(server);
	_exit(1);
}

/* Ends the process. The thread of end.c calls it, because the main loop is stuck. */
static void give_up(void *data)
{
	exit_at_once(data);
}

/*
 * Ends the process because a session's thread is stuck, for example in a file system that does not
 * answer. Sends an answer to each waiting client first.
 */
static void abandon(struct ts_server *server)
{
	if (server->recording)
		server->recording->error = -ETIMEDOUT;
	for (struct ts_client_connection *client = server->clients; client;
	     client = ts_client_connection_next(client))
		ts_client_connection_finished(client);
	exit_at_once(server);
}

static void check_all(struct ts_server *server)
{
	uint64_t now = ts_clock_monotonic_ns();
	struct ts_peer *peer, *next_peer;
	struct ts_client_connection *client, *next_client;

	for (peer = server->peers; peer; peer = next_peer) {
		next_peer = peer->next;
		ts_peer_check(peer, now);
	}
	for (client = server->clients; client; client = next_client) {
		next_client = ts_client_connection_next(client);
		ts_client_connection_check(client, now);
	}
	ts_questions_check(server, now);
	ts_server_dump_check_all(server);
	ts_server_expire_check(server);
	if (server->finishing && !server->peers)
		finish(server);
	else if (server->finishing && now > server->abandon_deadline_ns)
		abandon(server);
}

static int on_notify(sd_event_source *source, int fd, uint32_t events, void *data)
{
	uint64_t n;

	if (read(fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
		return ts_error_origin(-errno);
	check_all(data);
	return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *data)
{
	check_all(data);
	ts_server_watch(data);
	return 0;
}

/* ---- the end ---- */

/*
 * Receives the packets that processes sent before the end of the recording or service, and handles
 * them as before. A listening socket from systemd is left alone: the next daemon accepts its
 * connections.
 */
static void receive_pending(struct ts_server *server)
{
	uint32_t *numbers, n = 0;

	/*
	 * The number of turns is limited, because processes may connect as fast as the daemon
	 * accepts.
	 */
	if (server->inject_fd >= 0 &&
	    (server->options.mode == TS_SERVER_RECORD || server->unlink_inject))
		while (n < server->options.limits.max_connections && ts_listen_accept_peer(server))
			n++;
	n = 0;
	numbers = calloc(server->n_peers + 1, sizeof(*numbers));
	if (!numbers)
		return;
	for (struct ts_peer *peer = server->peers; peer; peer = peer->next)
		numbers[n++] = peer->number;
	for (uint32_t i = 0; i < n; i++)
		for (struct ts_peer *peer = server->peers; peer; peer = peer->next)
			if (peer->number == numbers[i]) {
				ts_peer_receive_pending(peer);
				break;
			}
	free(numbers);
}

/* See `finish` in server.h. */
static void begin_finish(struct ts_server *server, uint32_t timeout_ms)
{
	struct ts_peer *next;

	if (server->finishing)
		return;
	if (server->options.mode != TS_SERVER_PRIVATE)
		receive_pending(server);
	server->finishing = true;
	server->finish_deadline_ns =
		ts_clock_monotonic_ns() + (timeout_ms ?: TS_SERVER_FINISH_MS) * UINT64_C(1000000);
	server->abandon_deadline_ns = server->finish_deadline_ns + SERVER_ABANDON_NS;
	sd_notify(0, "STOPPING=1");
	for (struct ts_peer *peer = server->peers; peer; peer = next) {
		next = peer->next;
		if (peer->session) {
			ts_session_end_by(peer->session, server->finish_deadline_ns);
			if (server->hand_over)
				ts_session_hand_over(peer->session);
			else
				ts_session_end(peer->session, TS_SESSION_END_STOPPED);
		} else {
			ts_peer_free(peer);
		}
	}
	ts_server_watch(server);
	ts_server_look(server);
}

/*
 * Handles the end signals. SIGTERM and SIGINT stop the sessions, SIGHUP hands them over. If the
 * daemon is already ending, the signal shortens the deadlines.
 */
static void terminate(struct ts_server *server)
{
	uint64_t deadline_ns = ts_clock_monotonic_ns() + TS_SERVER_TERM_MS * UINT64_C(1000000);

	begin_finish(server, TS_SERVER_TERM_MS);
	if (server->finish_deadline_ns > deadline_ns) {
		server->finish_deadline_ns = deadline_ns;
		for (struct ts_peer *peer = server->peers; peer; peer = peer->next)
			if (peer->session)
				ts_session_end_by(peer->session, deadline_ns);
	}
	if (server->abandon_deadline_ns > deadline_ns + SERVER_TERM_ABANDON_NS)
		server->abandon_deadline_ns = deadline_ns + SERVER_TERM_ABANDON_NS;
}

static int on_end(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct ts_server *server = data;
	uint64_t n;

	if (read(fd, &n, sizeof(n)) == sizeof(n)) {
		server->hand_over = !server->finishing && ts_end_signal(server->end) == SIGHUP;
		terminate(server);
	}
	return 0;
}

/*
 * Called when the porter ends. The daemon ends too, because it cannot receive connections without
 * the porter.
 */
static int on_porter(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct ts_server *server = data;

	ts_log(TS_LOG_ERROR,
	       "the daemon ends, because its child process tracesmith-port, which receives file descriptors from clients, has ended; start the daemon again");
	sd_event_source_set_enabled(source, SD_EVENT_OFF);
	server->exit_status = 1;
	begin_finish(server, 0);
	return 0;
}

static int watch_signals(struct ts_server *server)
{
	bool service = server->options.mode == TS_SERVER_SERVICE;
	sigset_t set;
	int r;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/*
	 * Outside of a service, ignore the terminal's signals: they are for the traced command, and
	 * tsctl ends the recording.
	 */
	if (!service) {
		signal(SIGINT, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
	}
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	if (service) {
		sigaddset(&set, SIGINT);
		/* A service that starts anew, for example with a new version. */
		sigaddset(&set, SIGHUP);
	}
	server->end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (server->end_fd < 0)
		return ts_error_origin(-errno);
	r = sd_event_add_io(server->event, &server->end_source, server->end_fd, EPOLLIN, on_end,
			    server);
	/* Give the end signal priority, so that a stream of new connections does not delay it. */
	if (r >= 0)
		r = sd_event_source_set_priority(server->end_source, SD_EVENT_PRIORITY_IMPORTANT);
	if (r < 0)
		return ts_error_origin(r);
	r = ts_end_new(&set, server->end_fd, give_up, server, &server->end);
	return r ?: ts_server_dump_setup(server);
}

/* ---- start ---- */

/* Adds the metadata that the caller of the recording gave. */
static int describe_all(struct ts_server *server)
{
	const struct ts_server_options *options = &server->options;
	int r = 0;

	for (unsigned i = 0; !r && i < options->n_metadata; i++)
		r = describe(server, options->metadata[i]);
	r = r ?: ts_server_describe_kernel(server, server->recording);
	r = r ?: ts_sbt_writer_flush(server->recording->writer);
	return r > 0 ? ts_error_origin(-EIO) : r;
}

/*
 * Creates a control socket for start, stop and status. If this fails, the recording runs without a
 * control socket.
 */
static void listen_private(struct ts_server *server)
{
	int r = ts_places_new(server->directory);

	if (!r) {
		snprintf(server->control_path, sizeof(server->control_path),
			 "%s/" TS_PLACES_CONTROL, server->directory);
		server->options.control_socket = server->control_path;
		r = ts_listen_control(server, -1);
	}
	if (r)
		ts_log(TS_LOG_WARNING, "tsctl cannot ask for this recording: %s", strerror(-r));
}

static int open_sockets(struct ts_server *server)
{
	const struct ts_server_options *options = &server->options;
	int r;

	switch (options->mode) {
	case TS_SERVER_PRIVATE:
		r = ts_listen_nonblocking(options->inject_fd);
		if (!r)
			listen_private(server);
		return r ?: ts_listen_adopt_peer(server, options->inject_fd);
	case TS_SERVER_RECORD:
		/* The file comes first: a recording without a writable file does not start. */
		r = ts_recording_new(options->output, false, 0600, options->program, NULL, NULL,
				     &server->recording);
		if (r) {
			ts_log(TS_LOG_ERROR, "cannot create %s: %s", options->output, strerror(-r));
			return ts_error_trace(r);
		}
		ts_server_own_recording(server, server->recording);
		r = ts_recording_quantum(server->recording, options->quantum_ns);
		r = r ?: describe_all(server);
		r = r ?: ts_server_dump_prepare(server, server->recording);
		r = r ?: ts_server_open_system(server);
		r = r ?: ts_listen_inject(server);
		r = r ?: ts_listen_nonblocking(options->control_fd);
		r = r ?: ts_listen_adopt_owner(server, options->control_fd);
		/*
		 * tsctl's connection is open. Other clients may also start, stop and watch the
		 * recording, so listen for them.
		 */
		return r || !options->control_socket ? r : ts_listen_control(server, -1);
	case TS_SERVER_SERVICE:
	default:
		r = ts_server_expire_open(server);
		r = r ?: ts_listen_inject(server);
		r = r ?: ts_listen_control(server, options->control_fd);
		r = r ?: ts_server_open_system(server);
		if (!r)
			ts_log(TS_LOG_INFO,
			       "version " TS_VERSION
			       " listens at %s for processes, at %s for tsctl; traces go to %s",
			       options->inject_socket, options->control_socket, options->directory);
		return r;
	}
}

/* ---- process ---- */

/*
 * Raises RLIMIT_NOFILE. The soft limit protects programs that use select(), so the daemon raises it
 * to the hard limit. To raise the hard limit too, it needs CAP_SYS_RESOURCE.
 */
static void raise_limit(const struct ts_server *server, struct rlimit *limit, uint64_t wanted)
{
	const struct rlimit more = {wanted, wanted};

	if (server->capabilities & 1u << TS_CAPABILITY_SYS_RESOURCE && limit->rlim_max < wanted &&
	    !setrlimit(RLIMIT_NOFILE, &more))
		*limit = more;
	limit->rlim_cur = limit->rlim_max;
	setrlimit(RLIMIT_NOFILE, limit);
}

/*
 * Makes a service undumpable, so that other processes of its own user, its workers included, cannot
 * trace it. Then drops CAP_SYS_RESOURCE, because with it the service would ignore quotas and
 * reserved blocks. The service no longer needs the capability: it has raised its limits.
 */
static void confine(const struct ts_server *server)
{
	const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};

	if (server->options.mode != TS_SERVER_SERVICE)
		return;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		ts_log(TS_LOG_WARNING,
		       "cannot protect the service's memory from other processes of its user: %s",
		       strerror(errno));
	if (!(server->capabilities & 1u << TS_CAPABILITY_SYS_RESOURCE))
		return;
	/* Before Linux 5.11, BPF maps count as locked memory. */
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	if (ts_capability_drop(TS_CAPABILITY_SYS_RESOURCE))
		ts_log(TS_LOG_WARNING, "cannot drop CAP_SYS_RESOURCE");
}

/*
 * Lowers max_sessions to the available descriptors: a session needs four (connection, memory, its
 * file twice). So sessions are refused with this reason before descriptors run out for all users.
 */
static void count_descriptors(struct ts_server *server)
{
	struct ts_limits *limits = &server->options.limits;
	/*
	 * An answer may have a descriptor, and a question has a process. The porter holds the files
	 * that clients sent.
	 */
	uint64_t others = limits->max_connections + 2 * limits->max_clients +
			  3 * limits->max_queries + limits->max_traces + SERVER_SPARE_FDS;
	struct rlimit limit;
	uint64_t most;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	raise_limit(server, &limit, others + 4 * limits->max_sessions);
	most = limit.rlim_cur > others ? (limit.rlim_cur - others) / 4 : 1;
	if (server->options.mode != TS_SERVER_SERVICE || most >= limits->max_sessions)
		return;
	ts_log(TS_LOG_WARNING,
	       "the limit of %" PRIu64 " open files allows %" PRIu64
	       " sessions at once instead of %" PRIu64
	       ", and one user at most a quarter of these; raise the limit (LimitNOFILE=) or lower "
	       "--max-traces",
	       (uint64_t)limit.rlim_cur, most, limits->max_sessions);
	limits->max_sessions = most;
	if (limits->max_sessions_user > ts_users_quarter(most))
		limits->max_sessions_user = ts_users_quarter(most);
}

static int init(struct ts_server *server)
{
	const bool is_service = server->options.mode == TS_SERVER_SERVICE;
	int r;

	server->capabilities = ts_capabilities_have();
	count_descriptors(server);
	confine(server);
	server->all_group = (gid_t)-1;
	server->overflow_uid = (uid_t)-1;
	if (is_service) {
		server->all_group = ts_identity_group();
		server->overflow_uid = ts_identity_overflow_uid();
	}
	/* The porter is forked before any thread exists and while the process is small. */
	r = ts_porter_new(&server->porter);
	r = r ?: ts_users_new(&server->options.limits, is_service, &server->users);
	if (r)
		return ts_error_trace(r);
	r = sd_event_new(&server->event);
	if (r < 0)
		return ts_error_origin(r);
	server->notify_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (server->notify_fd < 0)
		return ts_error_origin(-errno);
	r = sd_event_add_io(server->event, &server->notify_source, server->notify_fd, EPOLLIN,
			    on_notify, server);
	if (r >= 0)
		r = sd_event_add_io(server->event, &server->porter_source,
				    ts_porter_fd(server->porter), EPOLLIN, on_porter, server);
	if (r >= 0)
		r = sd_event_add_time_relative(server->event, &server->timer, CLOCK_MONOTONIC,
					       TS_SERVER_LOOK_US, 0, on_timer, server);
	if (r < 0)
		return ts_error_origin(r);
	r = ts_listen_init(server);
	if (r)
		return r;
	sd_event_set_watchdog(server->event, true);
	return watch_signals(server);
}

static void deinit(struct ts_server *server)
{
	const struct ts_server_options *options = &server->options;

	while (server->peers)
		ts_peer_free(server->peers);
	while (server->clients)
		ts_client_connection_free(server->clients);
	ts_questions_end(server);
	ts_server_forget_all(server);
	ts_server_close_system(server);
	ts_recording_free(server->observed);
	ts_kernel_hub_free(server->kernel);
	ts_recording_free(server->recording);
	ts_server_expire_close(server);
	unlink_sockets(server);
	sd_event_source_disable_unref(server->inject_source);
	sd_event_source_disable_unref(server->control_source);
	sd_event_source_disable_unref(server->notify_source);
	sd_event_source_disable_unref(server->timer);
	sd_event_source_disable_unref(server->resume_timer);
	ts_closep(&server->notify_fd);
	sd_event_source_disable_unref(server->end_source);
	sd_event_source_disable_unref(server->porter_source);
	if (options->mode != TS_SERVER_PRIVATE)
		ts_listen_close(server, &server->inject_fd, server->unlink_inject);
	ts_listen_close(server, &server->control_fd, server->unlink_control);
	sd_event_unref(server->event);
	ts_porter_free(server->porter);
	ts_users_free(server->users);
	ts_end_free(server->end);
	ts_closep(&server->end_fd);
}

int ts_server_run(const struct ts_server_options *options)
{
	struct ts_server server = {
		.options = *options,
		.notify_fd = -1,
		.end_fd = -1,
		.inject_fd = -1,
		.control_fd = -1,
		.start_ns = ts_clock_monotonic_ns(),
		.finish = begin_finish,
	};
	int r;

	r = init(&server);
	r = r ?: ts_server_open_kernel(&server);
	r = r ?: open_sockets(&server);
	if (!r) {
		sd_notify(0, "READY=1");
		r = sd_event_loop(server.event);
		if (r >= 0)
			r = server.exit_status;
	}
	deinit(&server);
	return r;
}
