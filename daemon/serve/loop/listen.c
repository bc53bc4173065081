/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listening sockets and accepted connections. Sockets are created here or inherited from systemd.
 * Each connection is counted in its user's account and passed to peers.c or connection.c. If a
 * connection cannot be accepted, accepting pauses. server.c calls this module.
 */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "daemon/serve/loop/control.h"
#include "daemon/serve/loop/listen.h"
#include "daemon/util/daemon-error.h"

#define LISTEN_PAUSE_US 100000u /* pause until descriptors or memory may be free again */

/* ---- connections ---- */

static int on_resume(sd_event_source *source, uint64_t usec, void *data)
{
	struct ts_server *server = data;

	if (server->inject_source)
		sd_event_source_set_enabled(server->inject_source, SD_EVENT_ON);
	if (server->control_source)
		sd_event_source_set_enabled(server->control_source, SD_EVENT_ON);
	return 0;
}

/*
 * Pauses accept(). The listening socket stays readable, so the loop would spin without a pause. A
 * pause of one socket does not extend the pause of the other.
 */
static void pause_listening(struct ts_server *server, sd_event_source *source)
{
	sd_event_source_set_enabled(source, SD_EVENT_OFF);
	if (sd_event_source_get_enabled(server->resume_timer, NULL) > 0)
		return;
	sd_event_source_set_time_relative(server->resume_timer, LISTEN_PAUSE_US);
	sd_event_source_set_enabled(server->resume_timer, SD_EVENT_ONESHOT);
}

/* True if the porter (the process that receives descriptors) can take one more connection. */
static bool has_capacity(struct ts_server *server)
{
	bool is_full = ts_porter_is_full(server->porter);

	if (is_full && !server->porter_full)
		ts_log(TS_LOG_WARNING, "no connection is accepted: %s",
		       "the descriptors that users passed and that are still open reach LimitNOFILE=");
	server->porter_full = is_full;
	return !is_full;
}

/*
 * Reads the peer's identity and registers the descriptor with the porter. Takes ownership of `fd`.
 */
static int identify(struct ts_server *server, int fd, struct ts_incoming *ret_incoming)
{
	struct ts_incoming incoming = {.fd = fd};
	int r = ts_identity_read(fd, server->all_group, server->overflow_uid, &incoming.identity);

	if (r) {
		ts_porter_close(server->porter, ts_porter_keep(server->porter, (uid_t)-1, fd), fd);
		return r;
	}
	incoming.user = ts_users_ref(server->users, incoming.identity.uid);
	incoming.connection = ts_porter_keep(server->porter, ts_user_uid(incoming.user), fd);
	*ret_incoming = incoming;
	return 0;
}

/*
 * Accepts a waiting connection. The user is known only after accept(). False: no connection waits,
 * or the daemon cannot accept one now. The porter can take connections again when it has closed
 * descriptors.
 */
static bool take_connection(struct ts_server *server, int listening_fd, sd_event_source *source,
			    struct ts_incoming *ret_incoming)
{
	int fd;

	if (!has_capacity(server)) {
		pause_listening(server, source);
		return false;
	}
	fd = accept4(listening_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			pause_listening(server, source);
		return false;
	}
	return !identify(server, fd, ret_incoming);
}

/* Serves a process. Takes ownership of the descriptor and of the user reference. */
static int serve_peer(struct ts_server *server, const struct ts_incoming *incoming)
{
	struct ts_user *user = incoming->user;
	const char *why = NULL;

	if (server->finishing)
		why = "the recording has ended";
	else if (!ts_user_take(user, TS_RESOURCE_CONNECTIONS, 1))
		why = "busy: too many connections without a session (see --max-connections)";
	else if (!ts_user_take(user, TS_RESOURCE_PLACES, 1)) {
		ts_user_give(user, TS_RESOURCE_CONNECTIONS, 1);
		why = "busy: too many processes of this user at once (see --max-sessions-user)";
	}
	if (!why)
		return ts_peer_new(server, incoming);
	ts_peer_reject(server, incoming, -EBUSY, why);
	ts_user_unref(user);
	return -EBUSY;
}

/* Serves a client. Takes ownership of the descriptor and of the user reference. */
static int serve_client(struct ts_server *server, const struct ts_incoming *incoming, bool owner)
{
	if (ts_user_take(incoming->user, TS_RESOURCE_CLIENTS, 1))
		return ts_client_connection_new(server, incoming, owner, &ts_control_handlers);
	ts_client_connection_reject(server, incoming,
				    "busy: too many clients at once (see --max-clients)");
	ts_user_unref(incoming->user);
	return -EBUSY;
}

int ts_listen_adopt_peer(struct ts_server *server, int fd)
{
	struct ts_incoming incoming;
	int r = identify(server, fd, &incoming);

	return r ?: serve_peer(server, &incoming);
}

int ts_listen_adopt_owner(struct ts_server *server, int fd)
{
	struct ts_incoming incoming;
	int r = identify(server, fd, &incoming);

	return r ?: serve_client(server, &incoming, true);
}

bool ts_listen_accept_peer(struct ts_server *server)
{
	struct ts_incoming incoming;

	if (!take_connection(server, server->inject_fd, server->inject_source, &incoming))
		return false;
	(void)serve_peer(server, &incoming);
	ts_server_watch(server);
	return true;
}

static int on_inject(sd_event_source *source, int fd, uint32_t events, void *data)
{
	ts_listen_accept_peer(data);
	return 0;
}

static int on_control(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct ts_server *server = data;
	struct ts_incoming incoming;

	if (!take_connection(server, server->control_fd, server->control_source, &incoming))
		return 0;
	(void)serve_client(server, &incoming, false);
	ts_server_watch(server);
	return 0;
}

/* ---- sockets ---- */

/*
 * True if the socket at the path belongs to a daemon that is dead. After SIGKILL of the daemon, its
 * porter holds the listening socket for some milliseconds: connect() succeeds, but no process
 * accepts.
 */
static bool socket_is_stale(int type, const struct sockaddr_un *address)
{
	/*
	 * The socket is non-blocking: if the listening socket's queue is full, a blocking connect()
	 * would wait for accept().
	 */
	ts_cleanup(ts_closep) int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return false;
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
		return errno == ECONNREFUSED;
	return ts_identity_is_over(fd);
}

static int listen_at(const char *path, int type, mode_t mode, int *ret_fd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	ts_cleanup(ts_closep) int fd = -1;
	char *slash;

	if (!path)
		return ts_error_origin(-EINVAL);
	if (strlen(path) >= sizeof(address.sun_path)) {
		ts_log(TS_LOG_ERROR, "cannot listen at %s: a socket's path has at most %zu bytes",
		       path, sizeof(address.sun_path) - 1);
		return ts_error_origin(-ENAMETOOLONG);
	}
	strcpy(address.sun_path, path);
	/*
	 * Creates the last directory of the path if it is missing. The default directory in /run is
	 * missing after boot.
	 */
	slash = strrchr(address.sun_path, '/');
	if (slash && slash != address.sun_path) {
		*slash = '\0';
		mkdir(address.sun_path, 0755);
		*slash = '/';
	}
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return ts_error_origin(-errno);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		if (errno != EADDRINUSE || !socket_is_stale(type, &address) || unlink(path) < 0 ||
		    bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
			int error = errno;

			ts_log(TS_LOG_ERROR, "cannot listen at %s: %s", path, strerror(error));
			return ts_error_origin(-error);
		}
	}
	if (chmod(path, mode) < 0 || listen(fd, SOMAXCONN) < 0) {
		int error = errno;

		ts_log(TS_LOG_ERROR, "cannot listen at %s: %s", path, strerror(error));
		unlink(path);
		return ts_error_origin(-error);
	}
	*ret_fd = ts_take_fd(&fd);
	return 0;
}

/*
 * Passes a second descriptor of the socket to the porter. The socket's queue may hold connections
 * with descriptors that nobody received, and closing them may block. Because the porter keeps its
 * descriptor, closing the socket in the daemon does not close them.
 */
static uint64_t keep_socket(struct ts_server *server, int fd)
{
	return ts_porter_keep(server->porter, getuid(), fd);
}

void ts_listen_close(struct ts_server *server, int *fd, bool is_own)
{
	uint64_t kept = fd == &server->inject_fd ? server->inject_kept : server->control_kept;

	if (is_own)
		ts_porter_close(server->porter, kept, ts_take_fd(fd));
	else
		ts_closep(fd);
}

int ts_listen_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return ts_error_origin(-errno);
	return 0;
}

int ts_listen_inject(struct ts_server *server)
{
	const struct ts_server_options *options = &server->options;
	/* Any process may connect to a service. The socket of a recording is for its user only. */
	mode_t mode = options->mode == TS_SERVER_SERVICE ? 0666 : 0600;
	int r = 0;

	server->inject_fd = options->inject_fd;
	if (server->inject_fd >= 0) {
		r = ts_listen_nonblocking(server->inject_fd);
	} else {
		r = listen_at(options->inject_socket, SOCK_SEQPACKET, mode, &server->inject_fd);
		server->unlink_inject = !r;
		if (!r)
			server->inject_kept = keep_socket(server, server->inject_fd);
	}
	if (r)
		return ts_error_trace(r);
	r = sd_event_add_io(server->event, &server->inject_source, server->inject_fd, EPOLLIN,
			    on_inject, server);
	return r < 0 ? ts_error_origin(r) : 0;
}

int ts_listen_control(struct ts_server *server, int fd)
{
	const struct ts_server_options *options = &server->options;
	/* Any client may connect to a service. The socket of a recording is for its user only. */
	mode_t mode = options->mode == TS_SERVER_SERVICE ? 0666 : 0600;
	int r;

	server->control_fd = fd;
	if (fd >= 0) {
		r = ts_listen_nonblocking(fd);
	} else {
		r = listen_at(options->control_socket, SOCK_STREAM, mode, &server->control_fd);
		server->unlink_control = !r;
		if (!r)
			server->control_kept = keep_socket(server, server->control_fd);
	}
	if (r)
		return ts_error_trace(r);
	r = sd_event_add_io(server->event, &server->control_source, server->control_fd, EPOLLIN,
			    on_control, server);
	return r < 0 ? ts_error_origin(r) : 0;
}

int ts_listen_init(struct ts_server *server)
{
	int r = sd_event_add_time_relative(server->event, &server->resume_timer, CLOCK_MONOTONIC,
					   LISTEN_PAUSE_US, 0, on_resume, server);

	return r < 0 ? ts_error_origin(r) : 0;
}
