/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's main loop. It serves processes to be recorded (peers.c) and clients of the control
 * socket (connection.c), and it finishes recordings. It runs on one thread, as an sd-event loop.
 * main.c calls ts_server_run().
 */
#pragma once

#include <sys/types.h>

#include "daemon/bpf/hub.h"
#include "daemon/serve/limits.h"
#include "daemon/serve/loop/end.h"
#include "daemon/serve/recording/recording.h"
#include "daemon/serve/session/session-main.h"
#include "daemon/serve/system/observer.h"
#include "daemon/serve/users.h"
#include "daemon/util/capabilities.h"
#include "daemon/util/event/event.h"
#include "daemon/util/identity.h"
#include "daemon/util/porter/porter.h"
#include "proto/client/places.h"

enum ts_server_mode {
	TS_SERVER_SERVICE = 1, /* one file per process, for as long as the system runs */
	TS_SERVER_PRIVATE = 2, /* one process over one socket; the daemon ends with it */
	TS_SERVER_RECORD = 3,  /* one file for all processes, until tsctl sends Finish */
};

#define TS_SERVER_MAX_METADATA 8

/*
 * Time for sessions to flush and drain at the end: TERM after a signal, FINISH otherwise. After a
 * signal, the daemon finishes its files in the rest of TS_END_MS.
 */
#define TS_SERVER_FINISH_MS 30000u
#define TS_SERVER_TERM_MS   2500u
/* Time to look up stack names when a recording ends. */
#define TS_SERVER_SYMBOLS_MS 10000u

struct ts_server_options {
	enum ts_server_mode mode;
	struct ts_limits limits;
	uint32_t command; /* initial TS_COMMAND_* bits of sessions */
	uint32_t seal_age_ms;
	/* Service, record: the resolution of host times in the trace; 0: full resolution. */
	uint64_t quantum_ns;
	/* service, record: path of the inject socket; NULL: inject_fd is used */
	const char *inject_socket;
	/*
	 * Path of the control socket. NULL: a service uses control_fd, and other modes have no
	 * control socket.
	 */
	const char *control_socket;
	/*
	 * Service: a listening socket from systemd. Private: the socket to the one process. -1:
	 * none.
	 */
	int inject_fd;
	/* Service: a listening socket from systemd. Record: the connection to tsctl. -1: none. */
	int control_fd;
	const char *output;    /* private, record: the file */
	const char *directory; /* service: the directory of the files */
	const char *program;   /* private: the program's name, for metadata */
	pid_t pid;	       /* private: the process */
	/* record: additional metadata, each "key=value" */
	const char *metadata[TS_SERVER_MAX_METADATA];
	unsigned n_metadata;
	/*
	 * record: metadata "key=value" that is added only if the trace has no GPU operations; NULL:
	 * none
	 */
	const char *empty_metadata;
	struct ts_kernel_config kernel_events;
	/* Service, record: also record calls of processes that did not preload the shim. */
	bool system;
	const char *dump_on_mark; /* a mark of this name asks for a dump; NULL: none */
	bool no_symbols;	  /* record: stacks get no names */
	/* The worker, which reads untrusted files; NULL: the worker installed with the daemon. */
	const char *worker;
};

struct ts_peer;
struct ts_client_connection;
struct ts_client_handlers;
struct ts_question;
struct ts_retention;

struct ts_server {
	struct ts_server_options options;
	sd_event *event;
	struct ts_users *users;
	gid_t all_group; /* members see all sessions; (gid_t)-1: none */
	/* service: the result of ts_identity_overflow_uid(); (uid_t)-1: none */
	uid_t overflow_uid;
	/* bit mask of 1 << TS_CAPABILITY_* that the daemon had at its start */
	uint32_t capabilities;
	/* service: accounting of free disk; NULL: disk use is not counted */
	struct ts_disk *disk;
	struct ts_retention *retention;	  /* a service's */
	sd_event_source *retention_timer; /* next check of finished traces */
	/* process that receives and closes descriptors of other users */
	struct ts_porter *porter;
	sd_event_source *porter_source;
	bool porter_full; /* the porter is full, and this was logged */
	struct ts_end *end;
	int end_fd; /* readable after a signal that ends the daemon */
	sd_event_source *end_source;
	int notify_fd;
	sd_event_source *notify_source;
	sd_event_source *inject_source;
	sd_event_source *control_source;
	sd_event_source *timer;	       /* enabled while a deadline is pending */
	sd_event_source *resume_timer; /* ends a pause of accept() */
	int inject_fd;
	int control_fd;
	/* The porter's ids of listening sockets that the daemon created. */
	uint64_t inject_kept, control_kept;
	bool unlink_inject;
	bool unlink_control;
	/* private: the directory of the control socket; empty: none */
	char directory[TS_PLACES_BYTES];
	char control_path[TS_PLACES_BYTES + sizeof(TS_PLACES_CONTROL)];
	struct ts_peer *peers;
	uint32_t n_peers;
	uint32_t n_untrimmed; /* sessions that ended since the heap was trimmed */
	struct ts_client_connection *clients;
	/* Open questions of clients, and answered questions whose process has not ended yet. */
	struct ts_question *questions;
	struct ts_recording *recording; /* private, record */
	struct ts_kernel_hub *kernel;	/* NULL: no kernel events wanted */
	struct ts_observer *observer;	/* NULL: `--system` is off or unavailable */
	struct ts_recording *observed;	/* a service's recording of observed processes */
	/* why `--system` is unavailable; empty: it is available */
	char system_missing[TS_SYSTEM_WHY_BYTES];
	struct ts_ended *ended; /* a service's; newest first */
	/*
	 * last session number given out; atomic, because the observer's thread also increments it
	 */
	uint32_t last_number;
	uint64_t start_ns;
	uint64_t n_sessions;
	uint64_t n_refused;
	uint64_t n_rows;      /* of ended sessions */
	uint64_t n_bytes;     /* of ended recordings */
	bool no_acl_reported; /* missing access control lists were logged */
	bool dumping;	      /* a dump waits for sessions */
	/*
	 * Ends the recording (record, private) or the service. Sessions are stopped and files
	 * finished within timeout_ms (0: TS_SERVER_FINISH_MS). Records that are not drained when
	 * this time is over are counted as lost. server.c sets this pointer; files below server.c
	 * call it.
	 */
	void (*finish)(struct ts_server *server, uint32_t timeout_ms);
	bool finishing;
	bool hand_over;		     /* the sessions are for the next daemon */
	uint64_t finish_deadline_ns; /* for sessions */
	/* time at which the process exits, even if a thread is stuck */
	uint64_t abandon_deadline_ns;
	int exit_status;
};

/*
 * Runs the daemon until its end. Returns the exit status, or a negative errno if the daemon could
 * not start.
 */
int ts_server_run(const struct ts_server_options *options);

/* ---- shared by the server's files ---- */

/* An ended session. Its user can still open the trace. */
struct ts_ended {
	struct ts_ended *next;
	struct ts_recording *recording;
	uint32_t number;
	pid_t pid;
};

/* kernel-events.c: starts kernel events, if any are wanted. */
int ts_server_open_kernel(struct ts_server *server);
/*
 * Parses the kernel events of a request. All of them must be available. -EINVAL: the text is
 * malformed; -ENOTSUP: one event is unavailable. On either error, `why` has one line.
 */
#define TS_SERVER_WHY_BYTES 384
int ts_server_kernel_config(const struct ts_server *server, const char *text,
			    struct ts_kernel_config *ret_config, char why[TS_SERVER_WHY_BYTES]);
/*
 * Adds metadata to a recording: its kernel events, and the reason for missing ones. Returns 0 or
 * the writer's error.
 */
int ts_server_describe_kernel(const struct ts_server *server, struct ts_recording *recording);

/*
 * Finds an observed session, by the daemon's number or by pid, that `asker` may see. Returns its
 * recording; NULL: not found.
 */
struct ts_recording *ts_server_find_observed(const struct ts_server *server,
					     const struct ts_identity *asker, uint32_t number,
					     uint32_t pid, uint32_t *ret_number,
					     uint32_t *ret_in_file);

/*
 * recording/account.c: the server's list of recordings. ts_server_own_recording() makes the
 * daemon's user the owner of a new recording, and sets the limits of the options.
 */
void ts_server_own_recording(struct ts_server *server, struct ts_recording *recording);
/* Adds the counts of an ended session to its recording. */
void ts_server_account(struct ts_server *server, struct ts_recording *recording,
		       const struct ts_session *session, enum ts_session_end how);
/* Adds an ended session to the list; takes ownership of its recording. */
void ts_server_remember(struct ts_server *server, struct ts_recording *recording, uint32_t number,
			pid_t pid);
/*
 * Finds the trace of an ended session by the daemon's number, or by pid if number is 0. Only traces
 * that `asker` may see match. If none matches, returns the server's one recording (NULL in a
 * service); the caller checks access.
 */
struct ts_recording *ts_server_find_ended(const struct ts_server *server,
					  const struct ts_identity *asker, uint32_t number,
					  uint32_t pid);
/* Drops a removed trace from the list. */
void ts_server_forget_file(struct ts_server *server, dev_t device, ino_t inode);
/* Frees the whole list, at the daemon's end. */
void ts_server_forget_all(struct ts_server *server);

/*
 * system/server-system.c: starts to record the calls of processes without the shim, if `--system`
 * is set. A missing capability is not an error.
 */
int ts_server_open_system(struct ts_server *server);
/* Writes the last rows of observed processes. Idempotent. */
void ts_server_close_system(struct ts_server *server);

/* An accepted connection. */
struct ts_incoming {
	int fd;
	uint64_t connection; /* the porter's id of the connection */
	struct ts_identity identity;
	struct ts_user *user;
};

/* A process's connection to the inject socket. */
struct ts_peer {
	struct ts_server *server;
	struct ts_peer *next;
	uint32_t number;     /* the daemon's number, from 1; clients use it */
	int fd;		     /* connection to the process; -1: the process has closed it */
	uint64_t connection; /* the porter's id of the connection */
	sd_event_source *source;
	uint64_t since_ns;
	struct ts_identity credentials;
	struct ts_user *user;
	struct ts_session *session; /* NULL until HELLO */
	uint64_t dump_ticket;	    /* ticket of the seal that a dump waits for; 0: none */
	bool began;		    /* the process's HELLO was accepted */
	/*
	 * in a service, the recording of this process alone; otherwise the server's one recording
	 */
	struct ts_recording *recording;
};

/*
 * Serves a connection. Takes ownership of the descriptor, of the reference to `incoming->user`, and
 * of the one place and one connection that are counted against the user's limits.
 */
int ts_peer_new(struct ts_server *server, const struct ts_incoming *incoming);
/*
 * Sends the reason for a refusal and closes the connection. The caller keeps its reference to the
 * user.
 */
void ts_peer_reject(struct ts_server *server, const struct ts_incoming *incoming, int error,
		    const char *why);
/* Frees the peer. Its session, if any, must have ended. */
void ts_peer_free(struct ts_peer *peer);
/* Handles a report of the session's thread. Frees the peer if the session is over. */
void ts_peer_check(struct ts_peer *peer, uint64_t now_ns);
/* Receives the packets that were sent before the end of the recording. */
void ts_peer_receive_pending(struct ts_peer *peer);

/*
 * Serves a client. Takes ownership of the descriptor, of the reference to `incoming->user`, and of
 * the one client that is counted against the user's limit of clients. `owner`: the recording
 * belongs to this client. Only this client may end the recording, and the recording ends if the
 * client closes the connection. `handlers`: see connection.h.
 */
int ts_client_connection_new(struct ts_server *server, const struct ts_incoming *incoming,
			     bool owner, const struct ts_client_handlers *handlers);
/* Like ts_peer_reject(). */
void ts_client_connection_reject(struct ts_server *server, const struct ts_incoming *incoming,
				 const char *why);
uid_t ts_client_connection_uid(const struct ts_client_connection *client);
struct ts_user *ts_client_connection_user(const struct ts_client_connection *client);
void ts_client_connection_free(struct ts_client_connection *client);
/*
 * Answers requests whose sessions have finished or exceeded the deadline. Frees clients that do not
 * read their answers.
 */
void ts_client_connection_check(struct ts_client_connection *client, uint64_t now_ns);
struct ts_client_connection *ts_client_connection_next(struct ts_client_connection *client);
/*
 * The functions below are for code that answers a client. The caller keeps `packed`. `more`:
 * another answer to the same request follows.
 */
struct ts_server *ts_client_connection_server(const struct ts_client_connection *client);
void ts_client_connection_answer(struct ts_client_connection *client, uint32_t request_id,
				 const uint8_t *packed, size_t n_bytes, bool more);
void ts_client_connection_error(struct ts_client_connection *client, uint32_t request_id, int error,
				const char *why);
/*
 * Sends bytes to a worker, with the first files that the client sent: see ts_porter_send_files().
 */
ssize_t ts_client_connection_send_files(const struct ts_client_connection *client, unsigned n_fds,
					int socket_fd, const void *data, size_t n_bytes,
					struct ts_porter_file ret_files[TS_PORTER_MAX_HELD]);
/* True if the client's send queue has room. If not, the parts of an answer wait. */
bool ts_client_connection_has_capacity(const struct ts_client_connection *client);
/* Answers pending Finish requests. */
void ts_client_connection_finished(struct ts_client_connection *client);

/* recording/dump.c: makes SIGUSR1 request a dump. Call it before any thread exists. */
int ts_server_dump_setup(struct ts_server *server);
/*
 * Adds the name of the mark that requests a dump to a recording's strings. Call it before the first
 * session.
 */
int ts_server_dump_prepare(const struct ts_server *server, struct ts_recording *recording);
/*
 * Begins a requested dump. Completes a running dump if its sessions have written their rows. At the
 * end of the recording (is_end), completes it even if they have not.
 */
void ts_server_dump_check(struct ts_server *server, struct ts_recording *recording, bool is_end);
void ts_server_dump_check_all(struct ts_server *server);

/*
 * recording/expire.c: traces that a service keeps. _open() finds the traces of earlier runs.
 * ts_server_keep() keeps an ended recording. ts_server_keep_files() takes ownership of a dump's
 * files. The service charges kept traces to their user's account, and later removes them by the
 * rules of retention.h.
 */
int ts_server_expire_open(struct ts_server *server);
void ts_server_expire_close(struct ts_server *server);
/* Removes expired traces. ts_server_expire_check() does so when a recording needs space. */
void ts_server_expire(struct ts_server *server);
void ts_server_expire_check(struct ts_server *server);
void ts_server_keep(struct ts_server *server, struct ts_recording *recording);
void ts_server_keep_files(struct ts_server *server, struct ts_user *user,
			  struct ts_recording_files *files);
/* Returns the reason why this user may not begin a recording; NULL: the user may. */
const char *ts_server_may_keep(struct ts_server *server, struct ts_user *user);

/*
 * wake.c: wakes the loop. ts_server_watch() arms the timer if a deadline may be pending. The check
 * then follows within TS_SERVER_LOOK_US of the first call.
 */
#define TS_SERVER_LOOK_US 500000u
void ts_server_watch(struct ts_server *server);

/* Wakes the loop, which checks every peer and client. The check may free them. */
void ts_server_look(struct ts_server *server);
