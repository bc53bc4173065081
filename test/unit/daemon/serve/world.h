/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A service in a mount namespace with its own accounts and subordinate uids; a test that runs as
 * root acts as several users. alice is 70001 and has the subordinate uids 200000 to 265535. bob is
 * 70002 and has 300000 to 365535. carol is 70003 and has none.
 */
#pragma once

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "proto/rpc/frame.h"
#include "test/unit/daemon/daemon.h"

static inline void file_write(const char *path, const char *text)
{
	char next[256];
	FILE *file;

	/*
	 * Makes a new file each time, as an editor does: the new inode distinguishes it from the
	 * file before.
	 */
	snprintf(next, sizeof(next), "%s.new", path);
	file = fopen(next, "we");
	ts_check(file != NULL);
	ts_check(fputs(text, file) >= 0);
	ts_check_int(fclose(file), 0);
	ts_check_int(rename(next, path), 0);
}

#define PASSWD                                    \
	"root:x:0:0::/root:/bin/sh\n"             \
	"alice:x:70001:70001::/nowhere:/bin/sh\n" \
	"bob:x:70002:70002::/nowhere:/bin/sh\n"   \
	"carol:x:70003:70003::/nowhere:/bin/sh\n"

struct world {
	struct service service;
	char subuid[176], passwd[176], worker[176];
	bool has_disk; /* the service's directory is a separate file system */
};

static inline void mount_over(const char *path, const char *target)
{
	ts_check_int(mount(path, target, NULL, MS_BIND, NULL), 0);
}

/* Makes the directory and the files. `disk`: options of a tmpfs, NULL: none. */
static inline void world_make(struct world *w, const char *disk)
{
	struct service *s = &w->service;

	if (getuid())
		ts_skip("this test connects as several users and has to be root");
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		ts_skip("no mount namespace can be made here");
	if (access("/etc/subuid", F_OK))
		ts_skip("this machine has no /etc/subuid to mount another one over");
	directory_make(s->directory, sizeof(s->directory));
	w->has_disk = disk;
	if (disk)
		ts_check_int(mount("none", s->directory, "tmpfs", 0, disk), 0);
	ts_check_int(chmod(s->directory, 0755), 0);
	snprintf(s->inject, sizeof(s->inject), "%s/i", s->directory);
	snprintf(s->control, sizeof(s->control), "%s/c", s->directory);
	snprintf(w->subuid, sizeof(w->subuid), "%s/subuid", s->directory);
	snprintf(w->passwd, sizeof(w->passwd), "%s/passwd", s->directory);
	snprintf(w->worker, sizeof(w->worker), "%s/worker", s->directory);
	file_write(w->subuid, "alice:200000:65536\nbob:300000:65536\n");
	file_write(w->passwd, PASSWD);
	/* This worker never answers, so a query lasts as long as its client. */
	file_write(w->worker, "#!/bin/sh\nexec sleep 300\n");
	ts_check_int(chmod(w->worker, 0755), 0);
	mount_over(w->subuid, "/etc/subuid");
	mount_over(w->passwd, "/etc/passwd");
}

#define WORLD_MAX_OPTIONS 6u

/* `options`: pairs of an option and its value, NULL at the end; NULL: no options. */
static inline void world_start(struct world *w, const char *const (*options)[2])
{
	struct service *s = &w->service;
	const char *arguments[11 + 2 * WORLD_MAX_OPTIONS + 1] = {
		"tracesmithd", "--inject-socket", s->inject,	"--control-socket",
		s->control,    "--directory",	  s->directory, "--log",
		"none",	       "--worker",	  w->worker,
	};
	unsigned n = 11;

	for (unsigned i = 0; options && options[i][0]; i++) {
		ts_check(i < WORLD_MAX_OPTIONS);
		arguments[n++] = options[i][0];
		arguments[n++] = options[i][1];
	}
	s->pid = daemon_spawn((char *const *)(uintptr_t)arguments, -1);
	close(socket_connect(s->control, SOCK_STREAM));
}

static inline void world_begin(struct world *w, const char *const (*options)[2])
{
	world_make(w, NULL);
	world_start(w, options);
}

static inline void world_stop(struct world *w)
{
	kill(w->service.pid, SIGTERM);
	ts_check_int(daemon_wait(w->service.pid), 0);
}

static inline void world_end(struct world *w)
{
	service_end(&w->service);
	if (!w->has_disk)
		return;
	umount2(w->service.directory, MNT_DETACH);
	rmdir(w->service.directory);
}

/* Connects with the effective uid `uid`, which the kernel reports to the daemon. */
static inline int connect_as(uid_t uid, const char *path, int type)
{
	int fd;

	ts_check_int(seteuid(uid), 0);
	fd = socket_connect(path, type);
	ts_check_int(seteuid(0), 0);
	return fd;
}

/* Begins a session; false: the daemon refuses it. The caller closes the descriptor. */
static inline bool session_as(uid_t uid, const struct world *w, struct producer *p, int *ret_fd)
{
	*ret_fd = connect_as(uid, w->service.inject, SOCK_SEQPACKET);
	producer_hello(*ret_fd, p->memfd);
	return producer_hear(*ret_fd, NULL) == TS_HANDSHAKE_WELCOME;
}

static inline struct ts_client *client_as(uid_t uid, const struct world *w)
{
	struct ts_client *client;

	ts_check_int(ts_client_new_from_fd(connect_as(uid, w->service.control, SOCK_STREAM),
					   &client),
		     0);
	return client;
}

/* Sends a question about a file whose answer never comes. The client stays connected. */
static inline void ask_about(struct ts_client *client, int file)
{
	Ts__Rpc__Request request = TS__RPC__REQUEST__INIT;
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;
	Ts__Rpc__Query__State state = TS__RPC__QUERY__STATE__INIT;
	struct ts_frame_header header;
	uint8_t packed[256];
	size_t n_bytes;

	request.body_case = TS__RPC__REQUEST__BODY_QUERY;
	request.query = &query;
	query.body_case = TS__RPC__QUERY__BODY_STATE;
	query.state = &state;
	n_bytes = ts__rpc__request__get_packed_size(&request);
	ts_check(n_bytes <= sizeof(packed) - sizeof(header));
	header = ts_frame_header_make(TS_FRAME_REQUEST, 1, (uint32_t)n_bytes);
	header.n_fds = 1;
	memcpy(packed, &header, sizeof(header));
	ts__rpc__request__pack(&request, packed + sizeof(header));
	ts_check_int(ts_frame_send_all(ts_client_fd(client), packed, sizeof(header) + n_bytes,
				       &file, 1, 0),
		     0);
}
