/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's main loop: processes that come to be recorded (peers.c), clients of the control
 * socket (connection.c), recordings that end. One thread; sd-event.
 */
#pragma once

#include <sys/types.h>
#include <systemd/sd-event.h>

#include "daemon/bpf/hub.h"
#include "daemon/serve/limits.h"
#include "daemon/serve/loop/end.h"
#include "daemon/serve/recording/recording.h"
#include "daemon/serve/session/session-main.h"
#include "daemon/serve/system/observer.h"
#include "daemon/serve/users.h"
#include "daemon/util/capabilities.h"
#include "daemon/util/identity.h"
#include "daemon/util/porter/porter.h"
#include "proto/client/places.h"

enum ts_server_mode {
	TS_SERVER_SERVICE = 1, /* a file for each process, for as long as the system runs */
	TS_SERVER_PRIVATE = 2, /* one process over one socket, then the end */
	TS_SERVER_RECORD = 3,  /* one file for all processes, until told to finish */
};

#define TS_SERVER_MAX_METADATA 8

/* The time of an end; where a signal asks for it, files have the rest of TS_END_MS to be finished. */
#define TS_SERVER_FINISH_MS 30000u
#define TS_SERVER_TERM_MS   2500u
/* For the names of stacks, when a recording ends. */
#define TS_SERVER_SYMBOLS_MS 10000u

struct ts_server_options {
	enum ts_server_mode mode;
	struct ts_limits limits;
	uint32_t command; /* TS_COMMAND_* for new sessions */
	uint32_t seal_age_ms;
	uint64_t quantum_ns;	    /* service, record: of the host's times; 0: as they are */
	const char *inject_socket;  /* service, record: path to listen at; NULL: inject_fd */
	const char *control_socket; /* path to listen at; NULL: service: control_fd, others: none */
	int inject_fd;		    /* from systemd, listening; private: the connection. -1: none */
	int control_fd;		    /* from systemd, listening; record: tsctl's connection. -1 */
	const char *output;	    /* private, record: the file */
	const char *directory;	    /* service: where files go */
	const char *program;	    /* private: for the trace's metadata */
	pid_t pid;		    /* private: of the process */
	/* record: further "key=value" for the trace's metadata */
	const char *metadata[TS_SERVER_MAX_METADATA];
	unsigned n_metadata;
	const char *
		empty_metadata; /* record: another, for a trace without a GPU operation; NULL: none */
	struct ts_kernel_config kernel_events;
	bool system; /* service, record: calls of processes that nobody preloaded, too */
	const char *dump_on_mark; /* its name asks for a dump; NULL: none does */
	bool no_symbols;	  /* record: stacks are left without names */
	const char
		*worker; /* that reads strangers' files; NULL: the one that belongs to the daemon */
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
	gid_t all_group;       /* whose members see all; (gid_t)-1: none */
	uid_t overflow_uid;    /* ts_identity_overflow_uid() of a service; (uid_t)-1: none */
	uint32_t capabilities; /* that it was started with: 1 << TS_CAPABILITY_* */
	struct ts_disk *disk;  /* a service's; NULL: files do not count */
	struct ts_retention *retention;	  /* the same */
	sd_event_source *retention_timer; /* the next look at traces */
	struct ts_porter *porter;	  /* receives what strangers pass, and closes it */
	sd_event_source *porter_source;
	bool porter_full; /* and the log has a line about it */
	struct ts_end *end;
	int end_fd; /* readable: a signal asks for the end */
	sd_event_source *end_source;
	int notify_fd;
	sd_event_source *notify_source;
	sd_event_source *inject_source;
	sd_event_source *control_source;
	sd_event_source *timer;	       /* while there is something to watch */
	sd_event_source *resume_timer; /* accepts again */
	int inject_fd;
	int control_fd;
	uint64_t inject_kept,
		control_kept; /* the porter's numbers of sockets of the daemon's making */
	bool unlink_inject;
	bool unlink_control;
	char directory[TS_PLACES_BYTES]; /* private: of its control socket; empty: none */
	char control_path[TS_PLACES_BYTES + sizeof(TS_PLACES_CONTROL)];
	struct ts_peer *peers;
	uint32_t n_peers;
	struct ts_client_connection *clients;
	struct ts_question *questions;	/* of clients, and those whose process is not dead yet */
	struct ts_recording *recording; /* private, record */
	struct ts_kernel_hub *kernel;	/* NULL: no kernel events are wanted */
	struct ts_observer *observer;	/* NULL: no calls of others are wanted, or can be had */
	struct ts_recording *observed;	/* a service's, of those */
	char system_missing[TS_SYSTEM_WHY_BYTES]; /* why they cannot be had; empty: they can */
	struct ts_ended *ended;			  /* a service's: the newest first */
	uint32_t last_number;			  /* atomically: the observer counts, too */
	uint64_t start_ns;
	uint64_t n_sessions;
	uint64_t n_refused;
	uint64_t n_rows;      /* of sessions that ended */
	uint64_t n_bytes;     /* of recordings that ended */
	bool no_acl_reported; /* that traces' disk has no access control lists */
	bool dumping;	      /* a dump waits for sessions */
	/*
	 * Ends the recording (record, private) or the service: sessions are stopped, files finished, within
	 * timeout_ms, 0 for TS_SERVER_FINISH_MS. What cannot be drained by then is counted as lost. server.c's, for the
	 * files below it.
	 */
	void (*finish)(struct ts_server *server, uint32_t timeout_ms);
	bool finishing;
	uint64_t finish_deadline_ns;  /* of sessions */
	uint64_t abandon_deadline_ns; /* of the process, whatever is stuck */
	int exit_status;
};

/*
 * Runs until the end. Returns the process's exit status, or a negative errno where it could not
 * start.
 */
int ts_server_run(const struct ts_server_options *options);

/* ---- between the server's files ---- */

/* A session that is over, whose trace its user can still ask for. */
struct ts_ended {
	struct ts_ended *next;
	struct ts_recording *recording;
	uint32_t number;
	pid_t pid;
};

/* Kernel events: kernel-events.c. Begins them, where they are wanted. */
int ts_server_open_kernel(struct ts_server *server);
/* As a request names them: all of them must be there. -EINVAL, -ENOTSUP: `why` says in one line what is wrong. */
#define TS_SERVER_WHY_BYTES 384
int ts_server_kernel_config(const struct ts_server *server, const char *text,
			    struct ts_kernel_config *ret_config, char why[TS_SERVER_WHY_BYTES]);
/* Says in a recording's metadata which kernel events it has, and why not others. 0, or what the writer gave. */
int ts_server_describe_kernel(const struct ts_server *server, struct ts_recording *recording);

/*
 * Finds a session of a process that nobody preloaded and that `asker` may see, by the daemon's number, or by pid. Returns its
 * recording; NULL: there is none.
 */
struct ts_recording *ts_server_find_observed(const struct ts_server *server,
					     const struct ts_identity *asker, uint32_t number,
					     uint32_t pid, uint32_t *ret_number,
					     uint32_t *ret_in_file);

/* recording/account.c: the server's list of recordings. Makes a new one the daemon's own, with the bounds of the options. */
void ts_server_own_recording(struct ts_server *server, struct ts_recording *recording);
/* A session of the server's one recording ended: take its counts. */
void ts_server_account(struct ts_server *server, struct ts_recording *recording,
		       const struct ts_session *session, enum ts_session_end how);
/* A session is over: takes its recording over. */
void ts_server_remember(struct ts_server *server, struct ts_recording *recording, uint32_t number,
			pid_t pid);
/* The trace of a session that is over, by the daemon's number or, where that is 0, by pid; NULL: none to be seen. */
struct ts_recording *ts_server_find_ended(const struct ts_server *server,
					  const struct ts_identity *asker, uint32_t number,
					  uint32_t pid);
/* A trace that is over was removed: it is handed out no more. */
void ts_server_forget_file(struct ts_server *server, dev_t device, ino_t inode);
/* The daemon ends. */
void ts_server_forget_all(struct ts_server *server);

/* Calls of processes that nobody preloaded: server-system.c. Begins, where that is wanted; what is missing is no error. */
int ts_server_open_system(struct ts_server *server);
/* The last rows. Idempotent. */
void ts_server_close_system(struct ts_server *server);

/* A connection that was accepted. */
struct ts_incoming {
	int fd;
	uint64_t connection; /* the porter's number of it */
	struct ts_identity identity;
	struct ts_user *user;
};

/* One process's connection to the inject socket. */
struct ts_peer {
	struct ts_server *server;
	struct ts_peer *next;
	uint32_t number;     /* the daemon's, from 1; what clients ask for */
	int fd;		     /* -1 once the process is gone */
	uint64_t connection; /* the porter's number of it */
	sd_event_source *source;
	uint64_t since_ns;
	struct ts_identity credentials;
	struct ts_user *user;
	struct ts_session *session;	/* NULL until HELLO */
	uint64_t dump_ticket;		/* a dump waits for it; 0: not */
	bool began;			/* had a HELLO that was welcomed */
	struct ts_recording *recording; /* its own in a service, else the server's */
};

/*
 * Begins to serve a connection. Takes over the descriptor, and the reference of `user` with the place and the connection that were
 * taken from it.
 */
int ts_peer_new(struct ts_server *server, const struct ts_incoming *incoming);
/* Reports to a connection why it is not served, and closes it. The user's reference stays the caller's. */
void ts_peer_reject(struct ts_server *server, const struct ts_incoming *incoming, int error,
		    const char *why);
/* Ends it: the session, where there is one, has ended. */
void ts_peer_free(struct ts_peer *peer);
/* What its session's thread reported; frees it when the session is over. */
void ts_peer_check(struct ts_peer *peer, uint64_t now_ns);
/* Takes what came before a recording ends. */
void ts_peer_receive_pending(struct ts_peer *peer);

/*
 * `owner`: the recording is the client's, who alone may end it, and does by going away. Takes over the descriptor, and the
 * reference of `user` with the client that was taken from it. `handlers`: connection.h.
 */
int ts_client_connection_new(struct ts_server *server, const struct ts_incoming *incoming,
			     bool owner, const struct ts_client_handlers *handlers);
/* As ts_peer_reject(). */
void ts_client_connection_reject(struct ts_server *server, const struct ts_incoming *incoming,
				 const char *why);
uid_t ts_client_connection_uid(const struct ts_client_connection *client);
struct ts_user *ts_client_connection_user(const struct ts_client_connection *client);
void ts_client_connection_free(struct ts_client_connection *client);
/* Answers what waited for sessions; drops clients that do not read. */
void ts_client_connection_check(struct ts_client_connection *client, uint64_t now_ns);
struct ts_client_connection *ts_client_connection_next(struct ts_client_connection *client);
/* For those who answer a client: `packed` stays theirs; `more`: another answer to the same request follows. */
struct ts_server *ts_client_connection_server(const struct ts_client_connection *client);
void ts_client_connection_answer(struct ts_client_connection *client, uint32_t request_id,
				 const uint8_t *packed, size_t n_bytes, bool more);
void ts_client_connection_error(struct ts_client_connection *client, uint32_t request_id, int error,
				const char *why);
/* Sends bytes to a worker, with the first files of those that the client sent: ts_porter_send_files(). */
ssize_t ts_client_connection_send_files(const struct ts_client_connection *client, unsigned n_fds,
					int socket_fd, const void *data, size_t n_bytes,
					struct ts_porter_file ret_files[TS_PORTER_MAX_HELD]);
/* Whether it reads what it is sent: else what is not urgent waits. */
bool ts_client_connection_has_capacity(const struct ts_client_connection *client);
/* Answers those who asked for the recording's end. */
void ts_client_connection_finished(struct ts_client_connection *client);

/* Dumps of recordings: dump.c. The signal, before there are threads. */
int ts_server_dump_setup(struct ts_server *server);
/* What asks for one of this recording, before its first session. */
int ts_server_dump_prepare(const struct ts_server *server, struct ts_recording *recording);
/* Begins one that is wanted, completes one whose sessions are ready; at the end, whatever they are. */
void ts_server_dump_check(struct ts_server *server, struct ts_recording *recording, bool is_end);
void ts_server_dump_check_all(struct ts_server *server);

/*
 * Traces that a service keeps: expire.c. Opening finds those of earlier runs. A recording that has ended is kept, and so are a
 * dump's files, which are taken over: from then on they count in their user's account and go in their time.
 */
int ts_server_expire_open(struct ts_server *server);
void ts_server_expire_close(struct ts_server *server);
/* Removes what has to go; ts_server_expire_check(): where a recording asks for room. */
void ts_server_expire(struct ts_server *server);
void ts_server_expire_check(struct ts_server *server);
void ts_server_keep(struct ts_server *server, struct ts_recording *recording);
void ts_server_keep_files(struct ts_server *server, struct ts_user *user,
			  struct ts_recording_files *files);
/* Why no recording of the user's may begin; NULL: one may. */
const char *ts_server_may_keep(struct ts_server *server, struct ts_user *user);

/* The loop is woken: wake.c. Somebody may have a deadline now: it will be looked at, at the latest so long after the first such call. */
#define TS_SERVER_LOOK_US 500000u
void ts_server_watch(struct ts_server *server);

/* Has every peer and client looked at soon, by the loop: they may be freed then. */
void ts_server_look(struct ts_server *server);
