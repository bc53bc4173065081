/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace file of a process under a service. peers.c calls this module. output-check.c checks a
 * file that came with HELLO, folder.c creates directories, recording.c creates the file. The
 * service never changes a file's owner: a file belongs to the user from the start, or to the
 * service forever.
 */
#include "daemon/serve/recording/peer-file.h"

#include <stdio.h>

#include "daemon/serve/recording/folder.h"
#include "daemon/serve/recording/output-check.h"
#include "daemon/util/daemon-error.h"
#include "proto/abi/handshake.h"

/*
 * Finds the file that a previous daemon began for this process: its name is `path` with "-N" for N
 * = `number` - 1. False: `path` has no such name.
 */
static bool continues(const char *path, unsigned number, char *ret_name, size_t n_name)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *ends[] = {".sbt", ""};
	char suffix[32], wanted[4096];
	size_t n = strlen(name), n_suffix;

	for (size_t i = 0; number && i < TS_ARRAY_LEN(ends); i++) {
		snprintf(suffix, sizeof(suffix), "-%u%s", number, ends[i]);
		n_suffix = strlen(suffix);
		if (n < n_suffix || strcmp(name + n - n_suffix, suffix))
			continue;
		snprintf(wanted, sizeof(wanted), "%.*s%s", (int)(n - n_suffix), name, ends[i]);
		return !ts_output_number(wanted, number - 1, ret_name, n_name);
	}
	return false;
}

/* Returns the N of "-N" in the new file's name; 0 if the name has no "-N". */
static unsigned number_of(const char *wanted, const char *path)
{
	unsigned number;

	return strcmp(wanted, path) && sscanf(path + strlen(wanted) - 4, "-%u", &number) == 1
		       ? number
		       : 0;
}

/* Uses the file that the process passed, if the daemon may write to it. */
static bool adopt(struct ts_peer *peer, const struct ts_peer_file *file)
{
	int *fd = &file->fds[1], *read_fd = &file->fds[2], r;
	const char *why;
	char path[4096];

	if (!file->has_output)
		return false;
	r = ts_output_check(*fd, *read_fd, peer->credentials.uid, &why);
	if (!r) {
		ts_output_path(*fd, path, sizeof(path));
		r = ts_recording_adopt(ts_take_fd(fd), ts_take_fd(read_fd), path, &peer->recording);
		why = strerror(-r);
	}
	if (r)
		ts_log(TS_LOG_WARNING,
		       "pid %d, uid %u: the daemon does not use the file that the process opened for its trace: %s; the trace goes to %s/%u",
		       peer->credentials.pid, peer->credentials.uid, why,
		       peer->server->options.directory, peer->credentials.uid);
	return !r;
}

/* Opens the directory of the process's user. */
static int open_folder(struct ts_peer *peer, char *ret_path, size_t n_bytes)
{
	struct ts_server *server = peer->server;
	const struct ts_acl_readers readers = {
		.uid = peer->credentials.uid,
		.group = server->all_group,
	};
	bool shared;
	int r = ts_folder_open(server->options.directory, &readers, ret_path, n_bytes, &shared);

	if (r)
		ts_log(TS_LOG_ERROR, "cannot write traces to %s: %s%s", ret_path, strerror(-r),
		       r == -EPERM ? "; the directory does not belong to the service: remove it"
				   : "");
	else if (!shared && !server->no_acl_reported)
		ts_log(TS_LOG_WARNING,
		       "%s does not support access control lists: only the service can read the traces; users read them with `tsctl info --session PID`",
		       server->options.directory);
	server->no_acl_reported |= !r && !shared;
	return r;
}

/* Creates a file of the service in the user's directory. */
static int create(struct ts_peer *peer, const char *program, unsigned *ret_number,
		  const char **ret_why)
{
	struct ts_server *server = peer->server;
	const struct ts_recording_account account = {&server->options.limits, peer->user,
						     server->disk};
	char path[4096], clean[64];
	size_t n;
	int r = open_folder(peer, path, sizeof(path));

	if (r)
		return ts_error_trace(r);
	snprintf(clean, sizeof(clean), "%s", program);
	ts_output_clean(clean);
	n = strlen(path);
	if (snprintf(path + n, sizeof(path) - n, "/tracesmith-%s-%d.sbt", clean,
		     peer->credentials.pid) >= (int)(sizeof(path) - n))
		return ts_error_origin(-ENAMETOOLONG);
	r = ts_recording_new(path, true, 0600, NULL, &account, ret_why, &peer->recording);
	if (r) {
		ts_log(TS_LOG_ERROR, "cannot create %s: %s", path, *ret_why ?: strerror(-r));
		ts_folder_close(path);
	} else {
		*ret_number = number_of(path, peer->recording->path);
	}
	return r;
}

int ts_peer_file_new(struct ts_peer *peer, const struct ts_peer_file *file, const char **ret_why)
{
	struct ts_server *server = peer->server;
	unsigned number = file->output_number;
	char before[4096];
	int r = 0;

	/*
	 * The daemon does not charge a file that the peer opened, because the kernel counts it in
	 * the peer's disk quota.
	 */
	if (adopt(peer, file))
		ts_recording_limit(peer->recording, &server->options.limits, peer->user);
	else
		r = create(peer, file->program, &number, ret_why);
	if (!r && file->resumed && continues(peer->recording->path, number, before, sizeof(before)))
		r = ts_sbt_writer_metadata(peer->recording->writer, TS_METADATA_CONTINUES, before);
	if (!r)
		r = ts_recording_quantum(peer->recording, server->options.quantum_ns);
	if (!r)
		r = ts_server_describe_kernel(server, peer->recording);
	if (!r)
		r = ts_server_dump_prepare(server, peer->recording);
	return r > 0 ? ts_error_origin(-EIO) : r;
}

void ts_peer_file_discard(struct ts_recording *recording)
{
	ts_recording_discard(recording);
	if (!recording->is_theirs)
		ts_folder_close(recording->path);
}
