/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the places of a service's traces: files that processes open and pass, and directories of
 * users. Descriptors, names and directories of hostile users lead to no file of another user, cause
 * no delay, and leave the service alive.
 */
#include "test/unit/harness.h"

#include <grp.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/xattr.h>

#include "daemon/serve/recording/folder.h"
#include "daemon/serve/recording/output-check.h"
#include "daemon/util/identity.h"
#include "test/unit/daemon/daemon.h"
#include "test/unit/fuse.h"

#define STRANGER 65001u
#define OTHER	 65002u
#define GROUP	 65003u

static void need_root(void)
{
	if (getuid())
		ts_skip("needs several uids");
}

/* Executes `run` as another user, with no group but `group` (0: none). */
static void as_user(uid_t uid, gid_t group, void (*run)(void *), void *data)
{
	int status;
	pid_t pid = fork();

	ts_check(pid >= 0);
	if (!pid) {
		ts_check_int(setgroups(group != 0, &group), 0);
		ts_check_int(setresgid(uid, uid, uid), 0);
		ts_check_int(setresuid(uid, uid, uid), 0);
		run(data);
		_exit(0);
	}
	ts_check_int(waitpid(pid, &status, 0), pid);
	ts_check_int(status, 0);
}

/* ---- packets ---- */

static void send_fds(int socket, const void *packet, size_t n_bytes, const int *fds, size_t n_fds)
{
	struct iovec iov = {(void *)(uintptr_t)packet, n_bytes};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * 16)];
	} control = {0};
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = CMSG_SPACE(sizeof(int) * n_fds)};

	control.align.cmsg_level = SOL_SOCKET;
	control.align.cmsg_type = SCM_RIGHTS;
	control.align.cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
	memcpy(CMSG_DATA(&control.align), fds, sizeof(int) * n_fds);
	ts_check_int(sendmsg(socket, &message, MSG_NOSIGNAL), n_bytes);
}

/* Sends a HELLO; returns the flags of the WELCOME. */
static uint32_t hello(int socket, const struct producer *p, int fd, int read_fd)
{
	struct ts_handshake_hello packet = {
		.header = {TS_HANDSHAKE_MAGIC, TS_HANDSHAKE_HELLO, sizeof(packet)},
		.major = TS_ABI_MAJOR,
		.minor = TS_ABI_MINOR,
		.has_output = 1,
	};
	const int fds[] = {p->memfd, fd, read_fd};
	struct ts_handshake_reason answer;

	send_fds(socket, &packet, sizeof(packet), fds, fd < 0 ? 1 : read_fd < 0 ? 2 : 3);
	ts_check_int(producer_hear(socket, &answer), TS_HANDSHAKE_WELCOME);
	return ((const struct ts_handshake_welcome *)(const void *)&answer)->flags;
}

static void say_bye(int socket)
{
	producer_say(socket, TS_HANDSHAKE_BYE);
	ts_check_int(producer_hear(socket, NULL), TS_HANDSHAKE_DONE);
}

static void check_trace(const char *path, uint64_t n)
{
	struct ts_sbt_summary summary;
	struct ts_sbt_reader *reader;
	int fd;

	reader_open(path, &fd, &reader);
	ts_check_int(ts_sbt_reader_state(reader), TS_SBT_FINISHED);
	ts_check_int(ts_sbt_reader_summary(reader, 0, &summary), 0);
	ts_check_int(summary.counts[TS_ROW_KERNEL], n);
	ts_sbt_reader_free(reader);
	close(fd);
}

static void check_served(const char *inject)
{
	int fd = socket_connect(inject, SOCK_SEQPACKET);
	struct producer p;

	producer_init(&p, 2, true);
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_WELCOME);
	produce(&p, 10);
	say_bye(fd);
	close(fd);
	producer_deinit(&p);
}

/* ---- a file that the process passes ---- */

struct world {
	struct service service;
	char home[128]; /* the stranger's directory, 0700 */
	char path[200]; /* a file in `home` */
	char trace[256];
};

static void world_begin(struct world *w)
{
	need_root();
	service_begin(&w->service);
	close(socket_connect(w->service.inject, SOCK_SEQPACKET));
	ts_check_int(chmod(w->service.directory, 0711), 0);
	directory_make(w->home, sizeof(w->home));
	ts_check_int(chown(w->home, STRANGER, STRANGER), 0);
	snprintf(w->path, sizeof(w->path), "%s/x.sbt", w->home);
	snprintf(w->trace, sizeof(w->trace), "%s/%u", w->service.directory, STRANGER);
}

static void world_end(struct world *w)
{
	directory_remove(w->home);
	service_end(&w->service);
}

static int create(const char *path, int flags)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | flags, 0600);

	ts_check(fd >= 0);
	return fd;
}

static void record_into_own(void *data)
{
	const struct world *w = data;
	int socket = socket_connect(w->service.inject, SOCK_SEQPACKET);
	int fd = create(w->path, 0), read_fd = open(w->path, O_RDONLY | O_CLOEXEC);
	struct producer p;

	producer_init(&p, 2, true);
	ts_check_int(hello(socket, &p, fd, read_fd), TS_WELCOME_OUTPUT);
	close(fd);
	close(read_fd);
	produce(&p, 1000);
	say_bye(socket);
	check_trace(w->path, 1000);
}

/*
 * A process passes a file in a directory that the service cannot enter. The service writes the
 * trace to this file, and the file keeps its owner.
 */
TS_TEST(output_of_a_process)
{
	struct stat status;
	struct world w;

	world_begin(&w);
	as_user(STRANGER, 0, record_into_own, &w);
	ts_check_int(stat(w.path, &status), 0);
	ts_check_int(status.st_uid, STRANGER);
	ts_check_int(status.st_mode & 07777, 0600);
	ts_check(access(w.trace, F_OK) < 0);
	world_end(&w);
}

/* ---- descriptors that are not accepted as output ---- */

struct offer {
	const char *name;
	int fd, read_fd;
};

#define MAX_OFFERS 24u

static void add_offer(struct offer *offers, size_t *n, const char *name, int fd, int read_fd)
{
	ts_check(*n < MAX_OFFERS);
	offers[(*n)++] = (struct offer){name, fd, read_fd};
}

static int open_in(const char *folder, const char *name, int flags)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, flags | O_CLOEXEC, 0600);
	ts_check(fd >= 0);
	return fd;
}

static void add_files(const struct world *w, struct offer *offers, size_t *n)
{
	char path[256], other[256];
	int fd;

	fd = open_in(w->home, "full", O_RDWR | O_CREAT);
	ts_check_int(write(fd, "mine", 4), 4);
	add_offer(offers, n, "not empty", fd, open_in(w->home, "full", O_RDONLY));
	fd = open_in(w->home, "linked", O_RDWR | O_CREAT);
	snprintf(path, sizeof(path), "%s/linked", w->home);
	snprintf(other, sizeof(other), "%s/hard-link", w->home);
	ts_check_int(link(path, other), 0);
	add_offer(offers, n, "two names", fd, open_in(w->home, "linked", O_RDONLY));
	fd = open_in(w->home, "gone", O_RDWR | O_CREAT);
	add_offer(offers, n, "no name", fd, open_in(w->home, "gone", O_RDONLY));
	snprintf(path, sizeof(path), "%s/gone", w->home);
	ts_check_int(unlink(path), 0);
	fd = open_in(w->home, "plain", O_RDWR | O_CREAT);
	add_offer(offers, n, "two to write", fd, open_in(w->home, "plain", O_RDWR));
	add_offer(offers, n, "none to write", open_in(w->home, "plain", O_RDONLY),
		  open_in(w->home, "plain", O_RDONLY));
	add_offer(offers, n, "write alone", open_in(w->home, "plain", O_WRONLY),
		  open_in(w->home, "plain", O_RDONLY));
	add_offer(offers, n, "appending", open_in(w->home, "plain", O_RDWR | O_APPEND),
		  open_in(w->home, "plain", O_RDONLY));
	add_offer(offers, n, "synchronous", open_in(w->home, "plain", O_RDWR | O_SYNC),
		  open_in(w->home, "plain", O_RDONLY));
	add_offer(offers, n, "a path", open_in(w->home, "plain", O_PATH),
		  open_in(w->home, "plain", O_RDONLY));
	add_offer(offers, n, "two files", fd, open_in(w->home, "other", O_RDONLY | O_CREAT));
	add_offer(offers, n, "one alone", fd, -1);
	add_offer(offers, n, "none", -1, -1);
	fd = open_in(w->home, "locked", O_RDWR | O_CREAT);
	ts_check_int(fcntl(open_in(w->home, "locked", O_RDWR), F_OFD_SETLK,
			   &(struct flock){.l_type = F_WRLCK}),
		     0);
	add_offer(offers, n, "locked", fd, open_in(w->home, "locked", O_RDONLY));
}

static void add_others(const struct world *w, struct offer *offers, size_t *n)
{
	int fds[2], fd;

	add_offer(offers, n, "a directory", open_in(w->home, ".", O_RDONLY),
		  open_in(w->home, ".", O_RDONLY));
	add_offer(offers, n, "a device", open("/dev/null", O_RDWR | O_CLOEXEC),
		  open("/dev/null", O_RDONLY | O_CLOEXEC));
	ts_check_int(pipe2(fds, O_CLOEXEC), 0);
	add_offer(offers, n, "a pipe", fds[1], fds[0]);
	ts_check_int(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	add_offer(offers, n, "a socket", fds[0], fds[1]);
	fd = eventfd(0, EFD_CLOEXEC);
	add_offer(offers, n, "an eventfd", fd, fd);
	fd = memfd_create("memory", MFD_CLOEXEC);
	add_offer(offers, n, "a memfd", fd, fd);
	fd = open("/dev/shm", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	if (fd >= 0)
		add_offer(offers, n, "memory's file", fd, fd);
}

static void offer_each(void *data)
{
	const struct world *w = data;
	struct offer offers[MAX_OFFERS];
	struct producer p;
	size_t n = 0;

	/* A file of another user whose descriptor this process inherited. */
	offers[n++] = (struct offer){"another's", open_in("/proc/self/fd", "100", O_RDWR),
				     open_in("/proc/self/fd", "100", O_RDONLY)};
	add_files(w, offers, &n);
	add_others(w, offers, &n);
	for (size_t i = 0; i < n; i++) {
		int socket = socket_connect(w->service.inject, SOCK_SEQPACKET);
		uint32_t flags;

		producer_init(&p, 2, true);
		flags = hello(socket, &p, offers[i].fd, offers[i].read_fd);
		if (flags)
			fprintf(stderr, "taken: %s\n", offers[i].name);
		ts_check(!flags);
		produce(&p, 3);
		say_bye(socket);
		close(socket);
		producer_deinit(&p);
	}
	_exit(0);
}

/*
 * A process offers files that are no valid outputs. The service writes to none of them, and writes
 * the trace of each session to its own directory.
 */
TS_TEST(outputs_that_are_none)
{
	struct stat status;
	struct world w;
	unsigned n = 0;
	char full[256];
	struct dirent *entry;
	int fd;
	DIR *dir;

	world_begin(&w);
	/* A file of root that everybody may write. */
	snprintf(full, sizeof(full), "%s/roots", w.service.directory);
	fd = create(full, 0);
	ts_check(fchmod(fd, 0666) == 0 && dup2(fd, 100) == 100);
	as_user(STRANGER, 0, offer_each, &w);
	ts_check_int(fstat(fd, &status), 0);
	ts_check_int(status.st_size, 0);
	close(fd);
	close(100);
	snprintf(full, sizeof(full), "%s/full", w.home);
	ts_check_int(stat(full, &status), 0);
	ts_check_int(status.st_size, 4);
	dir = opendir(w.trace);
	ts_check(dir != NULL);
	while ((entry = readdir(dir)))
		n += strstr(entry->d_name, ".sbt") != NULL;
	closedir(dir);
	ts_check(n >= 20);
	world_end(&w);
}

/* A file system that does not answer delays only its own user. */
TS_TEST(output_that_never_answers)
{
	uint8_t bytes[1] = {0};
	int fd, read_fd, socket;
	struct producer p;
	struct world w;
	struct fuse fuse;
	char path[128];

	need_root();
	fuse_mount(&fuse, bytes, 0);
	world_begin(&w);
	snprintf(path, sizeof(path), "%s/any", fuse.path);
	fd = open(path, O_RDWR | O_CLOEXEC);
	read_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	ts_check(fd >= 0 && read_fd >= 0);
	fuse_block(&fuse, ~UINT64_C(0));
	socket = socket_connect(w.service.inject, SOCK_SEQPACKET);
	producer_init(&p, 2, true);
	ts_check_int(hello(socket, &p, fd, read_fd), 0);
	produce(&p, 10);
	check_served(w.service.inject);
	say_bye(socket);
	fuse_block(&fuse, 0);
	close(fd);
	close(read_fd);
	close(socket);
	producer_deinit(&p);
	fuse_unmount(&fuse);
	world_end(&w);
}

/* The service accepts a HELLO of ABI minor 6, in which processes passed no files. */
TS_TEST(hello_of_before)
{
	struct ts_handshake_hello packet = {
		.header = {TS_HANDSHAKE_MAGIC, TS_HANDSHAKE_HELLO, TS_HANDSHAKE_HELLO_MIN_BYTES},
		.major = TS_ABI_MAJOR,
		.minor = 6,
		.has_output = 1,
	};
	struct producer p;
	struct service s;
	int socket;

	service_begin(&s);
	socket = socket_connect(s.inject, SOCK_SEQPACKET);
	producer_init(&p, 2, true);
	send_fds(socket, &packet, TS_HANDSHAKE_HELLO_MIN_BYTES, &p.memfd, 1);
	ts_check_int(producer_hear(socket, NULL), TS_HANDSHAKE_WELCOME);
	produce(&p, 10);
	say_bye(socket);
	close(socket);
	producer_deinit(&p);
	service_end(&s);
}

/* ---- an owner's changes to a file that is being written ---- */

static void truncate_it(const struct world *w, int fd)
{
	ts_check_int(ftruncate(fd, 0), 0);
}

static void overwrite_it(const struct world *w, int fd)
{
	char bytes[4096];

	memset(bytes, 0xff, sizeof(bytes));
	ts_check_int(pwrite(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
}

static void remove_it(const struct world *w, int fd)
{
	ts_check_int(unlink(w->path), 0);
}

static void replace_it(const struct world *w, int fd)
{
	ts_check_int(unlink(w->path), 0);
	ts_check_int(symlink("/etc/passwd", w->path), 0);
}

/* Changes the open file description, which the daemon shares with the process. */
static void misuse_it(const struct world *w, int fd)
{
	ts_check_int(fcntl(fd, F_SETFL, O_APPEND | O_DIRECT), 0);
	ts_check(lseek(fd, INT64_C(1) << 40, SEEK_SET) > 0);
}

static void lock_it(const struct world *w, int fd)
{
	ts_check_int(flock(fd, LOCK_EX), 0);
	ts_check_int(fcntl(fd, F_OFD_SETLK, &(struct flock){.l_type = F_UNLCK}), 0);
}

static void (*const attacks[])(const struct world *, int) = {
	truncate_it, overwrite_it, remove_it, replace_it, misuse_it, lock_it,
};

static void attack_own(void *data)
{
	struct world *w = data;

	for (size_t i = 0; i < TS_ARRAY_LEN(attacks); i++) {
		int socket = socket_connect(w->service.inject, SOCK_SEQPACKET), fd, read_fd;
		struct ts_client *client;
		Ts__Rpc__Answer *answer;
		struct producer p;

		snprintf(w->path, sizeof(w->path), "%s/%zu.sbt", w->home, i);
		fd = create(w->path, 0);
		read_fd = open(w->path, O_RDONLY | O_CLOEXEC);
		producer_init(&p, 2, true);
		ts_check_int(hello(socket, &p, fd, read_fd), TS_WELCOME_OUTPUT);
		produce(&p, 100);
		ts_check_int(ts_client_connect(w->service.control, &client), 0);
		ts_check_int(ts_client_flush(client, 0, 1000, &answer), 0);
		ts__rpc__answer__free_unpacked(answer, NULL);
		attacks[i](w, fd);
		produce(&p, 100);
		ts_client_free(client);
		producer_say(socket, TS_HANDSHAKE_BYE);
		producer_hear(socket, NULL);
		check_served(w->service.inject);
		close(socket);
		close(fd);
		close(read_fd);
		producer_deinit(&p);
	}
}

TS_TEST(owner_of_the_output)
{
	struct world w;

	world_begin(&w);
	as_user(STRANGER, 0, attack_own, &w);
	check_served(w.service.inject);
	world_end(&w);
}

static void ask_for_trace(void *data)
{
	const struct world *w = data;
	struct ts_client *client;
	Ts__Rpc__Answer *answer;
	int trace = -1;

	ts_check_int(ts_client_connect(w->service.control, &client), 0);
	ts_check_int(ts_client_open_trace(client, 1, 0, &answer, &trace), -ENOENT);
	ts_client_free(client);
}

/*
 * Root reads the trace through the service, on a descriptor that cannot write; another user gets
 * nothing.
 */
TS_TEST(output_is_handed_out)
{
	struct ts_client *client;
	Ts__Rpc__Answer *answer;
	uint32_t session = 0;
	int trace = -1;
	struct world w;

	world_begin(&w);
	as_user(STRANGER, 0, record_into_own, &w);
	ts_check_int(ts_client_connect(w.service.control, &client), 0);
	/* The first connection came from world_begin(). */
	for (session = 1; session < 5; session++)
		if (!ts_client_open_trace(client, session, 0, &answer, &trace))
			break;
	ts_check(session < 5);
	ts_check_str(answer->trace_opened->path, w.path);
	ts__rpc__answer__free_unpacked(answer, NULL);
	ts_check(write(trace, "x", 1) < 0 && errno == EBADF);
	close(trace);
	ts_client_free(client);
	as_user(OTHER, 0, ask_for_trace, &w);
	world_end(&w);
}

/* ---- users' directories ---- */

static void record(void *data)
{
	check_served(((struct world *)data)->service.inject);
}

static void read_own(void *data)
{
	const struct world *w = data;
	struct dirent *entry;
	DIR *dir = opendir(w->trace);
	unsigned n = 0;

	ts_check(dir != NULL);
	while ((entry = readdir(dir))) {
		char path[600];

		if (!strstr(entry->d_name, ".sbt"))
			continue;
		n++;
		snprintf(path, sizeof(path), "%s/%s", w->trace, entry->d_name);
		check_trace(path, 10);
		ts_check(open(path, O_WRONLY | O_CLOEXEC) < 0 && errno == EACCES);
		ts_check(truncate(path, 0) < 0 && errno == EACCES);
		ts_check(unlink(path) < 0 && errno == EACCES);
		ts_check(chmod(path, 0666) < 0 && errno == EPERM);
		snprintf(path, sizeof(path), "%s/link.sbt", w->trace);
		ts_check(symlink("/etc/passwd", path) < 0 && errno == EACCES);
	}
	closedir(dir);
	ts_check_int(n, 1);
}

static void read_others(void *data)
{
	const struct world *w = data;

	ts_check(opendir(w->trace) == NULL && errno == EACCES);
	ts_check(opendir(w->service.directory) == NULL && errno == EACCES);
}

/*
 * In its directory a user can read complete traces and change nothing. Other users cannot enter the
 * directory.
 */
TS_TEST(directory_of_a_user)
{
	struct stat status;
	struct world w;

	world_begin(&w);
	as_user(STRANGER, 0, record, &w);
	ts_check_int(stat(w.trace, &status), 0);
	ts_check_int(status.st_uid, daemon_in_unit() ? DAEMON_UNIT_UID : 0);
	if (getxattr(w.trace, "system.posix_acl_access", NULL, 0) < 0)
		ts_skip("the file system has no access control lists");
	as_user(STRANGER, 0, read_own, &w);
	as_user(OTHER, 0, read_others, &w);
	world_end(&w);
}

static void refused(void *data)
{
	const struct world *w = data;
	int socket = socket_connect(w->service.inject, SOCK_SEQPACKET);
	struct producer p;

	producer_init(&p, 2, true);
	producer_hello(socket, p.memfd);
	ts_check_int(producer_hear(socket, NULL), TS_HANDSHAKE_REFUSED);
}

/*
 * If the name of a user's directory belongs to a file, a link or a directory that the service did
 * not make, the service refuses the user's sessions.
 */
TS_TEST(directory_of_anothers_making)
{
	char outside[200];
	struct world w;

	world_begin(&w);
	snprintf(outside, sizeof(outside), "%s/outside", w.home);
	ts_check_int(mkdir(outside, 0777), 0);
	ts_check_int(symlink(outside, w.trace), 0);
	as_user(STRANGER, 0, refused, &w);
	ts_check_int(unlink(w.trace), 0);
	ts_check_int(rmdir(outside), 0);
	/*
	 * First the directory belongs to another user. Then it belongs to the service, but other
	 * users may write to it.
	 */
	ts_check_int(mkdir(w.trace, 0755), 0);
	ts_check_int(chown(w.trace, OTHER, OTHER), 0);
	as_user(STRANGER, 0, refused, &w);
	ts_check_int(chown(w.trace, daemon_in_unit() ? DAEMON_UNIT_UID : 0, 0), 0);
	ts_check_int(chmod(w.trace, 0777), 0);
	as_user(STRANGER, 0, refused, &w);
	ts_check_int(rmdir(w.trace), 0);
	close(create(w.trace, 0));
	as_user(STRANGER, 0, refused, &w);
	ts_check_int(unlink(w.trace), 0);
	as_user(STRANGER, 0, record, &w);
	world_end(&w);
}

static void read_by_group(void *data)
{
	ts_check(access(data, R_OK) == 0);
	ts_check(access(data, W_OK) < 0);
}

/*
 * Access lists let one user and the members of a group read a file; the group need not exist on
 * this machine.
 */
TS_TEST(lists)
{
	const struct ts_acl_readers readers = {.uid = STRANGER, .group = GROUP};
	char directory[128], folder[160], path[256];
	bool shared;
	int fd;

	need_root();
	directory_make(directory, sizeof(directory));
	ts_check_int(chmod(directory, 0711), 0);
	ts_check_int(ts_folder_check(directory), 0);
	ts_check_int(ts_folder_open(directory, &readers, folder, sizeof(folder), &shared), 0);
	if (!shared)
		ts_skip("the file system has no access control lists");
	/* A second call gives the same result. */
	ts_check_int(ts_folder_open(directory, &readers, folder, sizeof(folder), &shared), 0);
	snprintf(path, sizeof(path), "%s/x.sbt", folder);
	fd = create(path, 0);
	ts_check_int(ts_acl_grant(fd, &readers), 0);
	close(fd);
	as_user(STRANGER, 0, read_by_group, path);
	as_user(OTHER, GROUP, read_by_group, path);
	ts_folder_close(path);
	ts_check_int(access(folder, F_OK), 0);
	ts_check_int(unlink(path), 0);
	ts_folder_close(path);
	ts_check(access(folder, F_OK) < 0);
	ts_check_int(chmod(directory, 0777), 0);
	ts_check_int(ts_folder_check(directory), -EPERM);
	ts_check_int(chmod(directory, 0711), 0);
	ts_check_int(chown(directory, OTHER, OTHER), 0);
	ts_check_int(ts_folder_check(directory), -EPERM);
	directory_remove(directory);
}

/* ---- clients that see all sessions ---- */

struct asker {
	int listener;
	char path[160];
};

static void connect_and_wait(void *data)
{
	const struct asker *asker = data;
	int fd = socket_connect(asker->path, SOCK_SEQPACKET);
	char byte;

	ts_check_int(read(fd, &byte, 1), 0);
}

/*
 * True if a client of that uid and group sees all sessions. The group is one of many supplementary
 * groups.
 */
static bool sees_all(struct asker *asker, uid_t uid, gid_t group)
{
	struct ts_identity identity;
	int fd, status;
	pid_t pid = fork();

	if (!pid)
		as_user(uid, group, connect_and_wait, asker), _exit(0);
	fd = accept4(asker->listener, NULL, NULL, SOCK_CLOEXEC);
	ts_check_int(ts_identity_read(fd, GROUP, ts_identity_overflow_uid(), &identity), 0);
	ts_check_int(identity.uid, uid);
	close(fd);
	ts_check_int(waitpid(pid, &status, 0), pid);
	ts_check_int(status, 0);
	return identity.sees_all;
}

static void asker_init(struct asker *asker, char *directory, size_t n_bytes)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	need_root();
	directory_make(directory, n_bytes);
	ts_check_int(chmod(directory, 0711), 0);
	snprintf(asker->path, sizeof(asker->path), "%s/s", directory);
	strcpy(address.sun_path, asker->path);
	asker->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	ts_check_int(bind(asker->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ts_check_int(chmod(asker->path, 0666), 0);
	ts_check_int(listen(asker->listener, 4), 0);
}

TS_TEST(group_that_sees_all)
{
	struct asker asker;
	char directory[128];

	asker_init(&asker, directory, sizeof(directory));
	ts_check_int(ts_identity_overflow_uid(), (uid_t)-1);
	ts_check(!sees_all(&asker, STRANGER, 0));
	ts_check(!sees_all(&asker, STRANGER, OTHER));
	ts_check(sees_all(&asker, STRANGER, GROUP));
	ts_check(sees_all(&asker, GROUP, 0));
	ts_check(sees_all(&asker, 0, 0));
	close(asker.listener);
	directory_remove(directory);
}

/*
 * In a user namespace that maps root alone, all other users have one uid. So a client with this uid
 * may see no session.
 */
TS_TEST(users_that_the_namespace_does_not_map)
{
	struct ts_identity identity;
	struct asker asker;
	char directory[128];
	int fd, map;
	pid_t pid;

	asker_init(&asker, directory, sizeof(directory));
	pid = fork();
	if (!pid)
		as_user(STRANGER, 0, connect_and_wait, &asker), _exit(0);
	fd = accept4(asker.listener, NULL, NULL, SOCK_CLOEXEC);
	if (unshare(CLONE_NEWUSER) < 0)
		ts_skip("no user namespace");
	map = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
	ts_check_int(write(map, "0 0 1", 5), 5);
	close(map);
	ts_check_int(ts_identity_read(fd, (gid_t)-1, ts_identity_overflow_uid(), &identity), 0);
	ts_check_int(identity.uid, ts_identity_overflow_uid());
	ts_check(!ts_identity_may_see(&identity, identity.uid));
	identity.is_anonymous = false;
	ts_check(ts_identity_may_see(&identity, identity.uid));
	close(fd);
	ts_check_int(waitpid(pid, NULL, 0), pid);
	close(asker.listener);
	directory_remove(directory);
}
