/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's side of retention.c. It runs a removal pass at the start, at the end of each
 * session, when a user has nearly used up a share, and by a timer. It also keeps the files that
 * open questions need. peers.c, dump.c and server.c call this module.
 */
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/serve/loop/question.h"
#include "daemon/serve/loop/server.h"
#include "daemon/serve/recording/retention.h"
#include "daemon/util/daemon-error.h"
#include "proto/abi/clock.h"

/* Interval of the timer, plus a time per file, so that many files are checked less often. */
#define EXPIRE_US	   UINT64_C(60000000)
#define EXPIRE_US_PER_FILE 10000u
/* One pass removes at most EXPIRE_PASS traces; the loop runs between passes. */
#define EXPIRE_PASS	    64u
#define EXPIRE_NEXT_PASS_US 100000u
/* A session may begin only if its user's share has at least this much room. */
#define EXPIRE_BEGIN_BYTES (UINT64_C(512) << 10)
/*
 * If a file is larger than this, a separate thread frees its blocks, because the kernel needs long
 * for that.
 */
#define EXPIRE_LARGE_BYTES (INT64_C(64) << 20)

static bool is_busy(void *data, const struct stat *status)
{
	return ts_questions_hold(data, status->st_dev, status->st_ino);
}

/*
 * Frees the blocks of a removed file. A process that has the file open then reads an empty file. If
 * the file has another name (in a dump), keeps the blocks.
 */
static void *wipe(void *data)
{
	int fd = (int)(intptr_t)data;
	struct stat status;

	if (!fstat(fd, &status) && !status.st_nlink && ftruncate(fd, 0) < 0)
		ts_log(TS_LOG_DEBUG, "cannot free the blocks of a removed trace: %s",
		       strerror(errno));
	close(fd);
	return NULL;
}

static void wipe_aside(int fd)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int r;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	r = pthread_create(&thread, &attributes, wipe, (void *)(intptr_t)fd);
	pthread_attr_destroy(&attributes);
	if (r)
		wipe((void *)(intptr_t)fd);
}

static void on_removed(void *data, const struct stat *status, int fd)
{
	ts_server_forget_file(data, status->st_dev, status->st_ino);
	if (fd >= 0 && status->st_size >= EXPIRE_LARGE_BYTES)
		wipe_aside(fd);
	else if (fd >= 0)
		wipe((void *)(intptr_t)fd);
}

static void set_timer(struct ts_server *server, uint64_t us)
{
	sd_event_source_set_time_relative(server->retention_timer, us);
	sd_event_source_set_enabled(server->retention_timer, SD_EVENT_ONESHOT);
}

static size_t expire_traces(struct ts_server *server)
{
	return ts_retention_expire(server->retention, ts_clock_realtime_ns(), EXPIRE_PASS);
}

/* Runs one pass. If the pass was full, the next one follows soon. */
void ts_server_expire(struct ts_server *server)
{
	if (server->retention && expire_traces(server) == EXPIRE_PASS)
		set_timer(server, EXPIRE_NEXT_PASS_US);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *data)
{
	struct ts_server *server = data;
	size_t n_files;

	if (expire_traces(server) == EXPIRE_PASS) {
		set_timer(server, EXPIRE_NEXT_PASS_US);
		return 0;
	}
	ts_retention_refresh(server->retention);
	n_files = ts_retention_n_files(server->retention);
	set_timer(server, EXPIRE_US + n_files * EXPIRE_US_PER_FILE);
	return 0;
}

int ts_server_expire_open(struct ts_server *server)
{
	const struct ts_retention_options options = {
		.directory = server->options.directory,
		.limits = &server->options.limits,
		.users = server->users,
		.data = server,
		.is_busy = is_busy,
		.removed = on_removed,
	};
	int r;

	if (server->options.mode != TS_SERVER_SERVICE)
		return 0;
	r = ts_disk_new(&server->options.limits, server->notify_fd, &server->disk);
	r = r ?: ts_retention_new(&options, &server->retention);
	if (r)
		return r;
	r = ts_retention_scan(server->retention);
	if (r)
		ts_log(TS_LOG_WARNING, "cannot count all earlier traces in %s: %s",
		       server->options.directory, strerror(-r));
	r = sd_event_add_time_relative(server->event, &server->retention_timer, CLOCK_MONOTONIC, 0,
				       0, on_timer, server);
	return r < 0 ? ts_error_origin(r) : 0;
}

void ts_server_expire_close(struct ts_server *server)
{
	sd_event_source_disable_unref(server->retention_timer);
	ts_retention_free(server->retention);
	ts_disk_free(server->disk);
}

void ts_server_expire_check(struct ts_server *server)
{
	if (server->retention && ts_disk_is_pressed(server->disk))
		ts_server_expire(server);
}

/* Takes ownership of *files. */
void ts_server_keep_files(struct ts_server *server, struct ts_user *user,
			  struct ts_recording_files *files)
{
	if (server->retention && ts_retention_add(server->retention, user, files->paths, files->n))
		ts_log(TS_LOG_WARNING,
		       "%s is no longer counted in the limits of the disk: out of memory",
		       files->paths[0]);
	ts_recording_files_deinit(files);
}

void ts_server_keep(struct ts_server *server, struct ts_recording *recording)
{
	struct ts_recording_files files = {0};

	if (!recording->disk)
		return;
	ts_recording_uncount(recording);
	if (ts_recording_files(recording, &files)) {
		ts_log(TS_LOG_WARNING,
		       "%s is no longer counted in the limits of the disk: out of memory",
		       recording->path);
		return;
	}
	ts_server_keep_files(server, recording->user, &files);
}

static bool reserve_trace(struct ts_user *user)
{
	if (!ts_user_take(user, TS_RESOURCE_DISK_FILES, 1))
		return false;
	if (ts_user_take(user, TS_RESOURCE_DISK_BYTES, EXPIRE_BEGIN_BYTES))
		return true;
	ts_user_give(user, TS_RESOURCE_DISK_FILES, 1);
	return false;
}

static void release_trace(struct ts_user *user)
{
	ts_user_give(user, TS_RESOURCE_DISK_FILES, 1);
	ts_user_give(user, TS_RESOURCE_DISK_BYTES, EXPIRE_BEGIN_BYTES);
}

/*
 * During one pass, charges the user for the room that a new recording needs, so that the pass
 * removes enough of the user's finished traces.
 */
static void expire_for(struct ts_server *server, struct ts_user *user)
{
	ts_user_put(user, TS_RESOURCE_DISK_FILES, 1);
	ts_user_put(user, TS_RESOURCE_DISK_BYTES, EXPIRE_BEGIN_BYTES);
	ts_server_expire(server);
	release_trace(user);
}

const char *ts_server_may_keep(struct ts_server *server, struct ts_user *user)
{
	if (!server->retention)
		return NULL;
	if (!reserve_trace(user)) {
		expire_for(server, user);
		if (!reserve_trace(user))
			return "the traces' share of the disk is used up (see --max-disk-bytes, --max-disk-bytes-user, --max-disk-files)";
	}
	release_trace(user);
	return NULL;
}
