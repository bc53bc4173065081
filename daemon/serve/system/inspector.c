/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both ends of the socket to the inspector. observer.c and probed.c call the daemon's end. The
 * other end is the inspector: a process of tracesmithd with TS_INSPECTOR_ARGUMENT. It reads /proc
 * with daemon/bpf/mappings.c and ends when the daemon closes the socket.
 *
 *   daemon -> inspector   request
 *   inspector -> daemon   MAPPING (any number), then one DONE
 */
#include "daemon/serve/system/inspector.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "daemon/util/daemon-error.h"
#include "daemon/util/log.h"
#include "daemon/util/spawn.h"
#include "proto/abi/clock.h"
#include "proto/client/places.h"

#define MS_NS	  UINT64_C(1000000)
#define MAX_SPENT 64u
#define MAX_FOUND 1024u /* mappings of one process */
#define END_MS	  10	/* maximum wait for a killed inspector to exit */

enum inspect_kind {
	INSPECT_LIBRARIES = 1,
	INSPECT_HAS, /* the text of DONE is the command line */
};

struct inspect_request {
	uint32_t kind; /* enum inspect_kind */
	int32_t pid;
	char name[64]; /* for INSPECT_HAS */
};

enum inspect_answer_kind {
	INSPECT_MAPPING = 1,
	INSPECT_DONE,
};

/* An answer. The text is last in the message, and only its bytes up to the null byte are sent. */
struct inspect_answer {
	uint32_t kind; /* enum inspect_answer_kind */
	int32_t r;
	uint64_t device, inode;
	char text[PATH_MAX];
};

/* The time that a user's inspections have used in the current window. */
struct spent {
	struct ts_user *user;
	uint64_t since_ns, ns;
};

struct ts_inspector {
	struct ts_users *users;
	pid_t pid; /* -1: none */
	int fd;
	struct spent spent[MAX_SPENT];
	size_t n_spent;
};

/* ---- the daemon's end ---- */

static int start(struct ts_inspector *inspector)
{
	char self[PATH_MAX], argument[] = TS_INSPECTOR_ARGUMENT;
	char *argv[] = {self, argument, NULL};
	int r = ts_places_self(self);

	return r ?: ts_spawn(argv, environ, SOCK_SEQPACKET, &inspector->fd, &inspector->pid);
}

static void stop(struct ts_inspector *inspector)
{
	ts_closep(&inspector->fd);
	if (inspector->pid < 0)
		return;
	/* SIGKILL also ends an inspector that waits for an mmap lock. */
	kill(inspector->pid, SIGKILL);
	for (int ms = 0; ms < END_MS && !waitpid(inspector->pid, NULL, WNOHANG); ms++)
		usleep(1000);
	inspector->pid = -1;
}

int ts_inspector_new(struct ts_users *users, struct ts_inspector **ret_inspector)
{
	struct ts_inspector *inspector = calloc(1, sizeof(*inspector));

	if (!inspector)
		return ts_error_origin(-ENOMEM);
	*inspector = (struct ts_inspector){.users = users, .pid = -1, .fd = -1};
	*ret_inspector = inspector;
	return 0;
}

void ts_inspector_free(struct ts_inspector *inspector)
{
	if (!inspector)
		return;
	stop(inspector);
	for (size_t i = 0; i < inspector->n_spent; i++)
		ts_user_unref(inspector->spent[i].user);
	free(inspector);
}

/* Returns the entry of a user. If the table is full, the oldest entry is replaced. */
static struct spent *spent_of(struct ts_inspector *inspector, uid_t uid, uint64_t now)
{
	struct ts_user *user = ts_users_ref(inspector->users, uid);
	struct spent *spent = inspector->spent, *oldest = inspector->spent;
	size_t i = 0;

	while (i < inspector->n_spent && spent[i].user != user)
		i++;
	if (i < inspector->n_spent) {
		ts_user_unref(user);
		if (now - spent[i].since_ns >= TS_INSPECTOR_WINDOW_NS)
			spent[i] = (struct spent){.user = user, .since_ns = now};
		return &spent[i];
	}
	if (i == MAX_SPENT) {
		for (i = 1; i < MAX_SPENT; i++)
			if (spent[i].since_ns < oldest->since_ns)
				oldest = &spent[i];
		ts_user_unref(oldest->user);
		i = (size_t)(oldest - spent);
	} else {
		inspector->n_spent++;
	}
	spent[i] = (struct spent){.user = user, .since_ns = now};
	return &spent[i];
}

/*
 * Receives an answer until until_ns. Returns 0, -ETIMEDOUT, or -ECONNRESET: the inspector is gone.
 */
static int receive(const struct ts_inspector *inspector, uint64_t until_ns,
		   struct inspect_answer *ret_answer)
{
	struct pollfd poll_fd = {.fd = inspector->fd, .events = POLLIN};
	uint64_t now = ts_clock_monotonic_ns();
	ssize_t n;
	int r = now < until_ns ? poll(&poll_fd, 1, (int)((until_ns - now) / MS_NS) + 1) : 0;

	if (r < 0 && errno == EINTR)
		return receive(inspector, until_ns, ret_answer);
	if (r != 1)
		return -ETIMEDOUT;
	n = recv(inspector->fd, ret_answer, sizeof(*ret_answer), MSG_DONTWAIT);
	if (n <= (ssize_t)offsetof(struct inspect_answer, text))
		return -ECONNRESET;
	((char *)ret_answer)[n - 1] = '\0';
	return 0;
}

/*
 * The mappings found in one process. If there are more than MAX_FOUND, or if memory is short, the
 * others are skipped.
 */
struct found {
	struct ts_mapping *mappings; /* paths are allocated */
	size_t n;
};

static void found_add(struct found *found, pid_t pid, const struct inspect_answer *answer)
{
	struct ts_mapping *mapping;

	if (!found->mappings)
		found->mappings = calloc(MAX_FOUND, sizeof(*found->mappings));
	if (!found->mappings || found->n == MAX_FOUND)
		return;
	mapping = &found->mappings[found->n];
	*mapping = (struct ts_mapping){.pid = pid,
				       .path = strdup(answer->text),
				       .device = answer->device,
				       .inode = answer->inode};
	found->n += mapping->path != NULL;
}

static void found_deinit(struct found *found)
{
	for (size_t i = 0; i < found->n; i++)
		free((char *)(uintptr_t)found->mappings[i].path);
	free(found->mappings);
}

static int inspect_until(struct ts_inspector *inspector, const struct inspect_request *request,
			 uint64_t until_ns, struct found *found, struct inspect_answer *ret_answer)
{
	int r = inspector->fd < 0 ? start(inspector) : 0;

	if (!r && send(inspector->fd, request, sizeof(*request), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		r = -errno;
	while (!r && !(r = receive(inspector, until_ns, ret_answer))) {
		if (ret_answer->kind == INSPECT_DONE)
			return 0;
		found_add(found, request->pid, ret_answer);
	}
	stop(inspector);
	return r;
}

/*
 * Runs one inspection and charges its time to the user's budget. Returns the inspector's result or
 * a negative errno. *ret_answer is the last answer.
 */
static int inspect(struct ts_inspector *inspector, const struct inspect_request *request, uid_t uid,
		   struct found *found, struct inspect_answer *ret_answer)
{
	uint64_t now = ts_clock_monotonic_ns();
	struct spent *spent = spent_of(inspector, uid, now);
	int r;

	if (spent->ns >= TS_INSPECTOR_USER_NS)
		return -EBUSY;
	r = inspect_until(inspector, request, now + TS_INSPECTOR_USER_NS - spent->ns, found,
			  ret_answer);
	spent->ns += ts_clock_monotonic_ns() - now;
	if (r == -ETIMEDOUT)
		ts_log(TS_LOG_WARNING,
		       "reading /proc of pid %d of user %u took too long: the daemon does not inspect the user's processes for %" PRIu64
		       " s",
		       (int)request->pid, ts_user_uid(spent->user),
		       TS_INSPECTOR_WINDOW_NS / (1000 * MS_NS));
	return r ?: ret_answer->r;
}

/*
 * Calls `call` for each mapping of a process. Collects all mappings before the first call, because
 * a callback may itself use the inspector.
 */
static void scan_process(struct ts_inspector *inspector, pid_t pid, ts_mapping_found *call,
			 void *data)
{
	const struct inspect_request request = {.kind = INSPECT_LIBRARIES, .pid = pid};
	struct inspect_answer answer;
	struct found found = {0};
	uid_t uid;

	if (!ts_inspector_uid(pid, &uid))
		(void)inspect(inspector, &request, uid, &found, &answer);
	for (size_t i = 0; i < found.n; i++)
		call(data, &found.mappings[i]);
	found_deinit(&found);
}

void ts_inspector_scan(struct ts_inspector *inspector, ts_mapping_found *found, void *data)
{
	DIR *directory = opendir("/proc");
	const struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		if (isdigit((unsigned char)entry->d_name[0]))
			scan_process(inspector, atoi(entry->d_name), found, data);
	if (directory)
		closedir(directory);
}

int ts_inspector_has(struct ts_inspector *inspector, pid_t pid, const char *name,
		     char ret_command_line[TS_INSPECTOR_COMMAND_LINE_BYTES])
{
	struct inspect_request request = {.kind = INSPECT_HAS, .pid = pid};
	struct inspect_answer answer = {0};
	struct found none = {0};
	uid_t uid;
	int r = ts_inspector_uid(pid, &uid);

	snprintf(request.name, sizeof(request.name), "%s", name);
	r = r ?: inspect(inspector, &request, uid, &none, &answer);
	found_deinit(&none);
	snprintf(ret_command_line, TS_INSPECTOR_COMMAND_LINE_BYTES, "%s",
		 answer.kind == INSPECT_DONE ? answer.text : "");
	return r;
}

int ts_inspector_uid(pid_t pid, uid_t *ret_uid)
{
	char path[32], line[128];
	unsigned real, effective;
	int r = -ESRCH;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (r && fgets(line, sizeof(line), file))
		if (sscanf(line, "Uid: %u %u", &real, &effective) == 2) {
			*ret_uid = effective ? effective : real;
			r = 0;
		}
	fclose(file);
	return r;
}

/* ---- the process ---- */

static void answer(struct inspect_answer *message)
{
	size_t n = offsetof(struct inspect_answer, text) + strlen(message->text) + 1;

	while (send(TS_SPAWN_FD, message, n, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			_exit(1);
}

/*
 * Sends a mapping to the daemon. If mappings of one library are adjacent, sends only the first of
 * them.
 */
static void answer_mapping(void *data, const struct ts_mapping *mapping)
{
	struct inspect_answer message = {.kind = INSPECT_MAPPING,
					 .device = mapping->device,
					 .inode = mapping->inode};
	uint64_t *last_inode = data;

	if (mapping->inode == *last_inode)
		return;
	*last_inode = mapping->inode;
	/* A path from the kernel always fits into the text. */
	snprintf(message.text, sizeof(message.text), "%.*s", (int)sizeof(message.text) - 1,
		 mapping->path);
	answer(&message);
}

static void read_command_line(pid_t pid, char text[PATH_MAX])
{
	ts_cleanup(ts_closep) int fd = -1;
	char path[32];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, PATH_MAX - 1);
	while (n > 0 && !text[n - 1])
		n--;
	for (ssize_t i = 0; i < n; i++)
		if (!text[i])
			text[i] = ' ';
	text[n > 0 ? n : 0] = '\0';
}

static void serve(const struct inspect_request *request)
{
	struct inspect_answer done = {.kind = INSPECT_DONE};
	uint64_t last_inode = 0;

	if (request->kind == INSPECT_LIBRARIES)
		ts_mappings_of(request->pid, answer_mapping, &last_inode);
	if (request->kind == INSPECT_HAS) {
		read_command_line(request->pid, done.text);
		done.r = ts_mappings_has(request->pid, request->name);
	}
	answer(&done);
}

int ts_inspector_main(void)
{
	struct inspect_request request;
	ssize_t n;

	/* The inspector ends with the daemon, even while it waits for a stranger's process. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/*
	 * The inspector has the daemon's capabilities. So it becomes undumpable: other processes of
	 * this user cannot trace it.
	 */
	prctl(PR_SET_DUMPABLE, 0);
	while ((n = recv(TS_SPAWN_FD, &request, sizeof(request), 0)) == sizeof(request))
		serve(&request);
	return n ? 1 : 0;
}
