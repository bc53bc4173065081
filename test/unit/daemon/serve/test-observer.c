/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests probes (`--system`) with hostile users. Mappings of one user do not keep other users'
 * libraries from their probes, and the daemon ends on SIGTERM. Needs root and eBPF; files that do
 * not answer need /dev/fuse.
 */
#include "test/unit/harness.h"

#include <dlfcn.h>
#include <grp.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "test/unit/daemon/daemon.h"
#include "test/unit/fuse.h"

#define ATTACKER 61001u
#define VICTIM	 61011u
#define SECONDS	 40u
/*
 * Number of files that one attacker maps. A few attackers with so many files could use up all
 * places.
 */
#define N_FAKES 300u

/* ---- a service with its log ---- */

struct seeing {
	char directory[128], log[160], inject[160], control[160];
	pid_t pid;
};

static bool has_line(const struct seeing *s, const char *text)
{
	char line[8192];
	bool found = false;
	FILE *log = fopen(s->log, "re");

	while (log && !found && fgets(line, sizeof(line), log))
		found = strstr(line, text) != NULL;
	if (log)
		fclose(log);
	return found;
}

static bool waits_for(const struct seeing *s, const char *text, unsigned seconds)
{
	for (unsigned i = 0; i < 20 * seconds && !has_line(s, text); i++)
		usleep(50000);
	return has_line(s, text);
}

/* Starts the service with these further options. */
static void begin_with(struct seeing *s, const char *option, const char *value, const char *option2,
		       const char *value2)
{
	const char *daemon = getenv("TRACESMITHD");

	if (geteuid())
		ts_skip("needs root");
	if (!daemon || !getenv("TS_VGPU_LIBCUDA"))
		ts_skip("TRACESMITHD and TS_VGPU_LIBCUDA do not name what is tested");
	directory_make(s->directory, sizeof(s->directory));
	ts_check_int(chmod(s->directory, 0755), 0);
	snprintf(s->log, sizeof(s->log), "%s/log", s->directory);
	snprintf(s->inject, sizeof(s->inject), "%s/i", s->directory);
	snprintf(s->control, sizeof(s->control), "%s/c", s->directory);
	fflush(NULL);
	s->pid = fork();
	ts_check(s->pid >= 0);
	if (!s->pid) {
		int fd = open(s->log, O_WRONLY | O_CREAT | O_APPEND, 0600);

		/* A test that fails leaves no service running. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);

		dup2(fd, STDERR_FILENO);
		execl(daemon, "tracesmithd", "--system", "--log", "debug", "--inject-socket",
		      s->inject, "--control-socket", s->control, "--directory", s->directory,
		      option, value, option2, value2, (char *)NULL);
		_exit(127);
	}
	close(socket_connect(s->control, SOCK_STREAM));
	if (has_line(s, "calls of processes without a preloaded libtsinject.so are not recorded")) {
		kill(s->pid, SIGTERM);
		daemon_wait(s->pid);
		directory_remove(s->directory);
		ts_skip("no probes on this machine");
	}
}

static void begin(struct seeing *s)
{
	begin_with(s, NULL, NULL, NULL, NULL);
}

/* Ends the service by SIGTERM. This works even if files or processes are stuck. */
static void stop(const struct seeing *s)
{
	int status;

	ts_check_int(kill(s->pid, SIGTERM), 0);
	/* The end is bounded, but takes long on a busy machine under a sanitizer. */
	for (unsigned i = 0; i < 400 && !waitpid(s->pid, &status, WNOHANG); i++) {
		usleep(50000);
		ts_check(i < 399);
	}
}

static void end(const struct seeing *s)
{
	stop(s);
	directory_remove(s->directory);
}

/* ---- processes that map and call ---- */

struct mapper {
	pid_t pid;
	int fds[2]; /* pipes from the process (work is done) and to it (next work) */
};

static void become(uid_t uid)
{
	if (setgroups(0, NULL) || setgid(uid) || setuid(uid))
		_exit(1);
	/* After setuid(), which clears it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void say(int fd)
{
	if (write(fd, "!", 1) != 1)
		_exit(1);
}

static void hear(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		_exit(0);
}

/*
 * Maps the files at these paths executable when the test lets the process continue. Then waits
 * until the test ends it.
 */
static void map_files(const struct mapper *mapper, uid_t uid, const char *format, unsigned n)
{
	int *fds = calloc(n, sizeof(*fds));
	char path[256];

	become(uid);
	for (unsigned i = 0; i < n; i++) {
		snprintf(path, sizeof(path), format, i);
		fds[i] = open(path, O_RDONLY | O_CLOEXEC);
		if (fds[i] < 0)
			_exit(2);
	}
	say(mapper->fds[1]);
	hear(mapper->fds[1]);
	for (unsigned i = 0; i < n; i++)
		if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fds[i], 0) == MAP_FAILED)
			_exit(3);
	say(mapper->fds[1]);
	hear(mapper->fds[1]);
	_exit(0);
}

static void mapper_wait(const struct mapper *mapper)
{
	char c;

	ts_check_int(read(mapper->fds[0], &c, 1), 1);
}

static void mapper_go(const struct mapper *mapper)
{
	ts_check_int(write(mapper->fds[0], "!", 1), 1);
}

static pid_t mapper_fork(struct mapper *mapper)
{
	ts_check_int(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, mapper->fds), 0);
	fflush(NULL);
	mapper->pid = fork();
	ts_check(mapper->pid >= 0);
	if (mapper->pid)
		close(mapper->fds[1]);
	else
		close(mapper->fds[0]);
	return mapper->pid;
}

/* Starts a process of `uid` that maps n files; `format` makes a file's name from its number. */
static void mapper_begin(struct mapper *mapper, uid_t uid, const char *format, unsigned n)
{
	if (!mapper_fork(mapper))
		map_files(mapper, uid, format, n);
	mapper_wait(mapper);
}

static void mapper_map(const struct mapper *mapper)
{
	mapper_go(mapper);
	mapper_wait(mapper);
}

static void mapper_end(struct mapper *mapper)
{
	close(mapper->fds[0]);
	kill(mapper->pid, SIGKILL);
	while (waitpid(mapper->pid, NULL, 0) < 0)
		ts_check_int(errno, EINTR);
}

/* ---- files ---- */

static void read_library(uint8_t **ret_bytes, size_t *ret_n)
{
	int fd = open(getenv("TS_VGPU_LIBCUDA"), O_RDONLY | O_CLOEXEC);
	struct stat status;

	ts_check(fd >= 0);
	ts_check_int(fstat(fd, &status), 0);
	*ret_n = (size_t)status.st_size;
	*ret_bytes = malloc(*ret_n);
	ts_check(*ret_bytes != NULL);
	ts_check_int(read(fd, *ret_bytes, *ret_n), status.st_size);
	close(fd);
}

static void make_file(const char *path, const void *bytes, size_t n, uid_t uid)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);

	ts_check(fd >= 0);
	ts_check_int(write(fd, bytes, n), (ssize_t)n);
	ts_check_int(fchown(fd, uid, uid), 0);
	close(fd);
}

/* A library of `uid`: its path, and the log line that reports its probes. */
struct library {
	char path[256], seen[300];
};

static void library_make(struct library *library, const struct seeing *s, const char *name,
			 uid_t uid)
{
	uint8_t *bytes;
	size_t n;

	read_library(&bytes, &n);
	snprintf(library->path, sizeof(library->path), "%s/libcuda.so.%s", s->directory, name);
	snprintf(library->seen, sizeof(library->seen), "calls of %s are recorded", library->path);
	make_file(library->path, bytes, n, uid);
	free(bytes);
}

/* ---- places ---- */

static void fakes_begin(struct mapper *mapper, const struct seeing *s, uid_t uid)
{
	static const uint8_t nothing[4096];
	char format[256], path[256];

	snprintf(format, sizeof(format), "%s/libcuda.so.%u-%%u", s->directory, uid);
	for (unsigned i = 0; i < N_FAKES; i++) {
		snprintf(path, sizeof(path), "%s/libcuda.so.%u-%u", s->directory, uid, i);
		make_file(path, nothing, sizeof(nothing), uid);
	}
	mapper_begin(mapper, uid, format, N_FAKES);
	mapper_map(mapper);
}

TS_TEST(one_users_fakes_push_out_nobody)
{
	struct mapper attacker, victim;
	struct library library;
	struct seeing s;

	begin(&s);
	library_make(&library, &s, "victim", VICTIM);
	fakes_begin(&attacker, &s, ATTACKER);
	ts_check(waits_for(&s, "user 61001 maps ", SECONDS));
	mapper_begin(&victim, VICTIM, library.path, 1);
	mapper_map(&victim);
	ts_check(waits_for(&s, library.seen, SECONDS));
	mapper_end(&victim);
	mapper_end(&attacker);
	end(&s);
}

TS_TEST(many_users_fakes_leave_the_systems_libraries)
{
	struct mapper attackers[4], victim;
	struct library library;
	struct seeing s;

	begin(&s);
	library_make(&library, &s, "system", 0);
	for (unsigned i = 0; i < TS_ARRAY_LEN(attackers); i++)
		fakes_begin(&attackers[i], &s, ATTACKER + i);
	ts_check(waits_for(&s, "user 61001 maps ", SECONDS));
	mapper_begin(&victim, VICTIM, library.path, 1);
	mapper_map(&victim);
	/*
	 * The attackers have used up their places for files. A library of root still gets its
	 * probes.
	 */
	ts_check(waits_for(&s, library.seen, 2 * SECONDS));
	mapper_end(&victim);
	for (unsigned i = 0; i < TS_ARRAY_LEN(attackers); i++)
		mapper_end(&attackers[i]);
	end(&s);
}

/* ---- files that do not answer ---- */

/*
 * The attacker maps a file of a FUSE file system that answers no `blocked` operation. The service
 * waits in `opcode`. The library of another user still gets its probes.
 */
static void check_blocked(uint64_t blocked, unsigned opcode)
{
	struct mapper attacker, victim;
	struct library library;
	struct seeing s;
	struct fuse fuse;
	char path[128];
	uint8_t *bytes;
	size_t n;

	read_library(&bytes, &n);
	fuse_mount(&fuse, bytes, n);
	free(bytes);
	fuse.shared->uid = fuse.shared->gid = ATTACKER;
	begin(&s);
	library_make(&library, &s, "victim", VICTIM);
	snprintf(path, sizeof(path), "%s/libcuda.so.1", fuse.path);
	mapper_begin(&attacker, ATTACKER, path, 1);
	mapper_begin(&victim, VICTIM, library.path, 1);
	fuse_block(&fuse, blocked);
	mapper_map(&attacker);
	ts_check(fuse_wait(&fuse, opcode, 1, SECONDS));
	mapper_map(&victim);
	ts_check(waits_for(&s, library.seen, SECONDS));
	end(&s);
	fuse_unmount(&fuse);
	mapper_end(&victim);
	mapper_end(&attacker);
}

TS_TEST(a_file_that_is_not_opened)
{
	check_blocked(FUSE_BIT(FUSE_OPEN), FUSE_OPEN);
}

TS_TEST(a_file_that_is_not_read)
{
	check_blocked(FUSE_BIT(FUSE_READ), FUSE_READ);
}

TS_TEST(a_file_that_is_not_closed)
{
	check_blocked(FUSE_BIT(FUSE_FLUSH), FUSE_FLUSH);
}

TS_TEST(a_name_that_is_not_found)
{
	check_blocked(FUSE_BIT(FUSE_LOOKUP) | FUSE_BIT(FUSE_GETATTR), FUSE_LOOKUP);
}

/* ---- sessions and definitions ---- */

typedef int copy_function(void *to, const void *from, size_t n);

static void *call_once(void *data)
{
	copy_function *call;

	memcpy(&call, data, sizeof(call));
	/* The test does not depend on the result of the call. */
	call(NULL, "", 1);
	return NULL;
}

/* Calls the library from n threads, one after the other. */
static void call_library(const struct mapper *mapper, uid_t uid, const char *library, unsigned n)
{
	copy_function *call;
	void *handle, *found;
	pthread_t thread;

	become(uid);
	handle = dlopen(library, RTLD_NOW);
	found = handle ? dlsym(handle, "cuMemcpyHtoD_v2") : NULL;
	if (!found)
		_exit(4);
	memcpy(&call, &found, sizeof(call));
	say(mapper->fds[1]);
	hear(mapper->fds[1]);
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&thread, NULL, call_once, &call) || pthread_join(thread, NULL))
			_exit(5);
	say(mapper->fds[1]);
	hear(mapper->fds[1]);
	_exit(0);
}

static void caller_begin(struct mapper *mapper, uid_t uid, const char *library, unsigned n)
{
	if (!mapper_fork(mapper))
		call_library(mapper, uid, library, n);
	mapper_wait(mapper);
}

static bool is_observed(const struct seeing *s, pid_t pid, unsigned seconds)
{
	char text[64];

	snprintf(text, sizeof(text), "pid %d, ", (int)pid);
	return waits_for(s, text, seconds);
}

/*
 * Makes a library, and waits until it has its probes. `holder` maps the library and calls no
 * function of it, so no call precedes the probes.
 */
static void library_probe(const struct seeing *s, struct library *library, struct mapper *holder)
{
	library_make(library, s, "system", 0);
	mapper_begin(holder, VICTIM, library->path, 1);
	mapper_map(holder);
	ts_check(waits_for(s, library->seen, SECONDS));
}

TS_TEST(one_users_sessions_leave_room)
{
	struct mapper attackers[8], victim, holder;
	struct library library;
	struct seeing s;

	begin_with(&s, "--max-sessions", "8", "--max-sessions-user", "2");
	library_probe(&s, &library, &holder);
	for (unsigned i = 0; i < TS_ARRAY_LEN(attackers); i++) {
		caller_begin(&attackers[i], ATTACKER, library.path, 1);
		mapper_map(&attackers[i]);
	}
	ts_check(is_observed(&s, attackers[0].pid, SECONDS));
	caller_begin(&victim, VICTIM, library.path, 1);
	mapper_map(&victim);
	ts_check(is_observed(&s, victim.pid, SECONDS));
	mapper_end(&victim);
	mapper_end(&holder);
	for (unsigned i = 0; i < TS_ARRAY_LEN(attackers); i++)
		mapper_end(&attackers[i]);
	end(&s);
}

/* ---- processes whose mmap lock is held ---- */

/*
 * The file lies in a FUSE file system with writeback, and has a dirty page. mmap() of the file
 * waits for FUSE_WRITE and holds the mmap lock.
 */
static void *map_for_ever(void *data)
{
	const int *fd = data;

	mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, *fd, 0);
	return NULL;
}

static void call_and_hold_lock(const struct mapper *mapper, const struct fuse *fuse,
			       const char *library)
{
	char path[128], page[4096] = "";
	int dirty, mapped;
	pthread_t thread;

	snprintf(path, sizeof(path), "%s/%d", fuse->path, getpid());
	dirty = open(path, O_RDWR | O_CLOEXEC);
	fuse->shared->open_flags = FOPEN_DIRECT_IO;
	mapped = open(path, O_RDONLY | O_CLOEXEC);
	fuse->shared->open_flags = 0;
	if (dirty < 0 || mapped < 0 || pwrite(dirty, page, sizeof(page), 0) != sizeof(page))
		_exit(6);
	become(ATTACKER);
	{
		void *handle = dlopen(library, RTLD_NOW), *call;

		call = handle ? dlsym(handle, "cuMemcpyHtoD_v2") : NULL;
		if (!call)
			_exit(4);
		say(mapper->fds[1]);
		hear(mapper->fds[1]);
		call_once(&call);
	}
	if (pthread_create(&thread, NULL, map_for_ever, &mapped))
		_exit(5);
	pthread_join(thread, NULL);
	_exit(0);
}

TS_TEST(a_process_that_holds_its_mmap_lock)
{
	struct mapper attackers[8], victim, holder;
	static const uint8_t page[4096];
	struct library library;
	struct seeing s;
	struct fuse fuse;

	fuse_mount_writeback(&fuse, page, sizeof(page));
	begin(&s);
	library_probe(&s, &library, &holder);
	fuse_block(&fuse, FUSE_BIT(FUSE_WRITE));
	for (unsigned i = 0; i < TS_ARRAY_LEN(attackers); i++) {
		if (!mapper_fork(&attackers[i]))
			call_and_hold_lock(&attackers[i], &fuse, library.path);
		mapper_wait(&attackers[i]);
	}
	/*
	 * Stops the service, so that it reads the calls only when the attackers hold all mmap
	 * locks.
	 */
	kill(s.pid, SIGSTOP);
	for (unsigned i = 0; i < TS_ARRAY_LEN(attackers); i++)
		mapper_go(&attackers[i]);
	ts_check(fuse_wait(&fuse, FUSE_WRITE, TS_ARRAY_LEN(attackers), SECONDS));
	kill(s.pid, SIGCONT);
	caller_begin(&victim, VICTIM, library.path, 1);
	mapper_map(&victim);
	ts_check(is_observed(&s, victim.pid, SECONDS));
	ts_check(is_observed(&s, attackers[0].pid, SECONDS));
	end(&s);
	fuse_unmount(&fuse);
	for (unsigned i = 0; i < TS_ARRAY_LEN(attackers); i++)
		mapper_end(&attackers[i]);
	mapper_end(&victim);
	mapper_end(&holder);
}

/* Counts the calls of a process, and the calls whose thread is known. */
static void count_calls(struct ts_sbt_reader *reader, pid_t pid, unsigned *ret_n,
			unsigned *ret_n_known)
{
	struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_API)};
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_row row;

	*ret_n = *ret_n_known = 0;
	ts_check_int(ts_sbt_cursor_new(reader, &options, &cursor), 0);
	while (!ts_sbt_cursor_next(cursor, &row)) {
		if (ts_sbt_reader_session(reader, row.session)->pid != (uint32_t)pid)
			continue;
		++*ret_n;
		*ret_n_known += row.api->thread != 0;
	}
	ts_sbt_cursor_free(cursor);
}

#define N_THREADS 20000u

TS_TEST(one_users_definitions_are_his)
{
	struct mapper attacker, victim, holder;
	struct ts_sbt_reader *reader;
	struct library library;
	unsigned n, n_known;
	struct seeing s;
	char path[256];
	int fd;

	begin_with(&s, "--max-definition-bytes-all", "1M", "--seal-age", "100");
	library_probe(&s, &library, &holder);
	caller_begin(&attacker, ATTACKER, library.path, N_THREADS);
	mapper_map(&attacker);
	caller_begin(&victim, VICTIM, library.path, 1);
	mapper_map(&victim);
	ts_check(is_observed(&s, victim.pid, SECONDS));
	stop(&s);
	snprintf(path, sizeof(path), "%s/tracesmith-system.sbt", s.directory);
	reader_open(path, &fd, &reader);
	count_calls(reader, attacker.pid, &n, &n_known);
	/* The user's share, a quarter of 1 MiB, has no room for the definitions of all threads. */
	ts_check(n > N_THREADS / 2 && n_known < n);
	count_calls(reader, victim.pid, &n, &n_known);
	ts_check_int(n, 1);
	ts_check_int(n_known, 1);
	ts_sbt_reader_free(reader);
	close(fd);
	mapper_end(&victim);
	mapper_end(&attacker);
	mapper_end(&holder);
	directory_remove(s.directory);
}
