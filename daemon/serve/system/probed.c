/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files with probes. Device and inode identify a file; it is probed once, whatever process maps it
 * under whatever path. observer.c calls this module. This module calls prober.c, with one prober
 * per user.
 *
 * A mapping of an unknown file becomes a job in the lane of the user that maps it. A lane runs its
 * jobs one after another:
 *   ASKED     the prober opens the file and answers with its identity
 *   PROBING   the user has a place for the file: the prober attaches the probes
 * A trusted file goes to root's prober as an open file, so probes on the system's libraries depend
 * on no user's prober.
 *
 * If a step takes longer than STEP_NS, the prober is killed, and with it its probes end. The file
 * of that step is marked as bad. The user's other files are queued again for a new prober.
 */
#include "daemon/serve/system/probed.h"

#include <glob.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <time.h>

#include "daemon/serve/system/prober.h"
#include "daemon/util/capabilities.h"
#include "daemon/util/daemon-error.h"
#include "daemon/worker/worker-client.h"
#include "proto/abi/clock.h"
#include "proto/abi/utf8.h"

#define SECOND_NS	  UINT64_C(1000000000)
#define STEP_NS		  (15 * SECOND_NS) /* the worker has 10 s */
#define TIDY_NS		  (10 * SECOND_NS)
#define IDLE_NS		  (10 * SECOND_NS) /* a prober without probes is ended after this time */
#define RETRY_NS	  (10 * SECOND_NS)
#define END_MS		  1000u
#define MAX_JOBS	  64u  /* per lane */
#define MAX_LANES	  256u /* maximum number of users with a lane at the same time */
#define PATHS_ENVIRONMENT "TRACESMITH_GPU_LIBRARIES"
#define SHIM		  "/libtsinject.so"

enum step {
	STEP_NONE,
	STEP_ASKED,
	STEP_PROBING,
};

struct job {
	struct job *next;
	uint32_t kind; /* enum ts_prober_kind */
	pid_t pid;
	uid_t uid;
	uint64_t mapped_device, mapped_inode; /* both 0: no process maps it */
	uint64_t device, inode;		      /* identity of the file, once known */
	int fd;				      /* an open file, or -1 */
	char path[];
};

/* The jobs of a user, and the prober that runs them. */
struct lane {
	struct lane *next;
	struct ts_user *user;
	struct ts_prober *prober; /* NULL: none */
	/* the prober was killed, but its process still exists: a wait for a file may hold it */
	bool is_stuck;
	struct job *jobs, **jobs_end;
	unsigned n_jobs;
	enum step step;
	uint32_t number; /* number of the probes of the current step */
	uint64_t deadline_ns, idle_ns, retry_ns;
	/* The probes are gone: the user's mapped files must be queued again. */
	bool is_lost;
	unsigned n_files;
	uint8_t numbers[TS_PROBER_MAX_FILES];		/* 1: in use */
	bool was_full, was_late, was_busy, was_refused; /* this condition was logged */
};

struct file {
	uint64_t device, inode;		      /* both 0: unknown, because the prober was late */
	uint64_t mapped_device, mapped_inode; /* both 0: no process mapped it so far */
	struct lane *lane;		      /* NULL: no probes */
	struct ts_user *user;		      /* the user in whose account the file counts */
	uint32_t number;
	bool is_kept;	/* an installed library: stays in the list even if no process maps it */
	bool is_mapped; /* a process mapped the file at the last scan */
};

struct ts_probed {
	struct ts_probed_options options;
	struct ts_mappings *mappings;
	struct lane *lanes;
	unsigned n_lanes;
	struct file files[TS_USERS_PROBED_FILES];
	size_t n_files;
	int epoll_fd;
	uint64_t tidied_ns;
};

/* ---- files ---- */

static struct file *find(struct ts_probed *probed, uint64_t device, uint64_t inode)
{
	for (size_t i = 0; i < probed->n_files; i++)
		if (inode && probed->files[i].inode == inode && probed->files[i].device == device)
			return &probed->files[i];
	return NULL;
}

static struct file *find_mapped(struct ts_probed *probed, uint64_t device, uint64_t inode)
{
	for (size_t i = 0; i < probed->n_files; i++)
		if (inode && probed->files[i].mapped_inode == inode &&
		    probed->files[i].mapped_device == device)
			return &probed->files[i];
	return NULL;
}

static void forget(struct ts_probed *probed, struct file *file)
{
	struct ts_prober_request request = {.kind = TS_PROBER_REMOVE, .number = file->number};
	struct lane *lane = file->lane;

	if (lane) {
		/* If the send fails, the prober is gone, and its probes with it. */
		if (lane->prober && !lane->is_stuck)
			(void)ts_prober_send(lane->prober, &request, -1);
		lane->numbers[file->number] = 0;
		lane->n_files--;
	}
	ts_user_give(file->user, TS_RESOURCE_PROBED_FILES, 1);
	ts_user_unref(file->user);
	*file = probed->files[--probed->n_files];
}

static void mark(void *data, const struct ts_mapping *mapping)
{
	struct file *file = find_mapped(data, mapping->device, mapping->inode);

	if (file)
		file->is_mapped = true;
}

/* Drops the entries of files that no process maps any more. */
static void tidy(struct ts_probed *probed)
{
	uint64_t now = ts_clock_monotonic_ns();

	if (probed->tidied_ns && now - probed->tidied_ns < TIDY_NS)
		return;
	probed->tidied_ns = now;
	for (size_t i = 0; i < probed->n_files; i++)
		probed->files[i].is_mapped = probed->files[i].is_kept;
	ts_inspector_scan(probed->options.inspector, mark, probed);
	for (size_t i = probed->n_files; i-- > 0;)
		if (!probed->files[i].is_mapped)
			forget(probed, &probed->files[i]);
}

/* Adds a file. NULL: the user has no place left. */
static struct file *add_file(struct ts_probed *probed, struct ts_user *user, const struct job *job)
{
	struct file *file;

	if (!ts_user_take(user, TS_RESOURCE_PROBED_FILES, 1)) {
		tidy(probed);
		if (!ts_user_take(user, TS_RESOURCE_PROBED_FILES, 1))
			return NULL;
	}
	if (probed->n_files == TS_ARRAY_LEN(probed->files)) {
		ts_user_give(user, TS_RESOURCE_PROBED_FILES, 1);
		return NULL;
	}
	file = &probed->files[probed->n_files++];
	*file = (struct file){.device = job->device,
			      .inode = job->inode,
			      .mapped_device = job->mapped_device,
			      .mapped_inode = job->mapped_inode,
			      .user = ts_user_ref(user),
			      .is_kept = job->kind == TS_PROBER_OWN_FILE};
	return file;
}

/* ---- lanes ---- */

static struct lane *find_lane(struct ts_probed *probed, uid_t uid)
{
	struct ts_user *user = ts_users_ref(probed->options.users, uid);
	struct lane *lane = probed->lanes;

	while (lane && lane->user != user)
		lane = lane->next;
	if (lane || probed->n_lanes == MAX_LANES) {
		ts_user_unref(user);
		return lane;
	}
	lane = calloc(1, sizeof(*lane));
	if (!lane) {
		ts_user_unref(user);
		return NULL;
	}
	lane->user = user;
	lane->jobs_end = &lane->jobs;
	lane->next = probed->lanes;
	probed->lanes = lane;
	probed->n_lanes++;
	return lane;
}

static void free_job(struct job *job)
{
	ts_closep(&job->fd);
	free(job);
}

/* Ends the lane's current job. */
static void drop_job(struct lane *lane)
{
	struct job *job = lane->jobs;

	lane->jobs = job->next;
	if (!lane->jobs)
		lane->jobs_end = &lane->jobs;
	lane->n_jobs--;
	lane->step = STEP_NONE;
	free_job(job);
}

/* Called when the prober is killed or dead: drops its probes and the lane's jobs. */
static void lose_lane(struct ts_probed *probed, struct lane *lane)
{
	lane->is_lost = lane->n_files != 0;
	lane->is_stuck = true;
	lane->step = STEP_NONE;
	for (size_t i = probed->n_files; i-- > 0;)
		if (probed->files[i].lane == lane)
			forget(probed, &probed->files[i]);
	while (lane->jobs)
		drop_job(lane);
	lane->retry_ns = ts_clock_monotonic_ns() + RETRY_NS;
}

/* Frees a killed prober once the kernel has released it, so that the lane can start a new one. */
static void try_end(struct lane *lane)
{
	if (!lane->is_stuck || (lane->prober && !ts_prober_end(lane->prober)))
		return;
	ts_prober_free(ts_take_ptr(lane->prober));
	lane->is_stuck = false;
}

static void free_lane(struct ts_probed *probed, struct lane **p)
{
	struct lane *lane = *p;

	*p = lane->next;
	probed->n_lanes--;
	while (lane->jobs)
		drop_job(lane);
	ts_prober_free(lane->prober);
	ts_user_unref(lane->user);
	free(lane);
}

static int start_prober(struct ts_probed *probed, struct lane *lane)
{
	const struct ts_system_programs programs = ts_system_programs(probed->options.system);
	struct epoll_event event = {.events = EPOLLIN};
	int r = ts_prober_new(&programs, probed->options.worker, &lane->prober);

	if (r)
		return r;
	/* Closing the socket removes it from the epoll set. */
	return epoll_ctl(probed->epoll_fd, EPOLL_CTL_ADD, ts_prober_fd(lane->prober), &event) < 0
		       ? -errno
		       : 0;
}

/* ---- steps of a job ---- */

/* Returns the job's path for the log, cleaned, because the path is untrusted text. */
static const char *shown(const struct job *job, char text[256])
{
	snprintf(text, 256, "%.255s", job->path);
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	ts_text_clean(text);
	return text;
}

static void wait_for(struct lane *lane, enum step step)
{
	lane->step = step;
	lane->deadline_ns = ts_clock_monotonic_ns() + STEP_NS;
}

/* Sends the request for the current job, or for its next step. */
static void request(struct ts_probed *probed, struct lane *lane, uint32_t kind, enum step step)
{
	struct job *job = lane->jobs;
	struct ts_prober_request message = {.kind = kind,
					    .pid = job->pid,
					    .uid = job->uid,
					    .number = lane->number};
	int r;

	snprintf(message.path, sizeof(message.path), "%s", job->path);
	r = ts_prober_send(lane->prober, &message, kind == TS_PROBER_OPEN_FILE ? job->fd : -1);
	if (r)
		lose_lane(probed, lane);
	else if (step == STEP_NONE)
		drop_job(lane);
	else
		wait_for(lane, step);
}

static int take_number(struct lane *lane)
{
	for (uint32_t i = 0; i < TS_PROBER_MAX_FILES; i++)
		if (!lane->numbers[i]) {
			lane->numbers[i] = 1;
			lane->number = i;
			return 0;
		}
	return -ENOSPC;
}

/* Gives the job's file a place and a number for probes. False: none is left. */
static bool give_place(struct ts_probed *probed, struct lane *lane)
{
	struct job *job = lane->jobs;
	struct file *file = add_file(probed, lane->user, job);
	char path[256];

	if (file && take_number(lane)) {
		forget(probed, file);
		file = NULL;
	}
	if (!file) {
		if (!lane->was_full)
			ts_log(TS_LOG_WARNING,
			       "user %u maps too many GPU libraries: calls of %s and of later libraries are not recorded",
			       ts_user_uid(lane->user), shown(job, path));
		lane->was_full = true;
		return false;
	}
	file->lane = lane;
	file->number = lane->number;
	lane->n_files++;
	return true;
}

static void begin_job(struct ts_probed *probed, struct lane *lane)
{
	const struct job *job = lane->jobs;

	if (job->kind == TS_PROBER_OPEN_FILE) {
		if (find(probed, job->device, job->inode) || !give_place(probed, lane))
			drop_job(lane);
		else
			request(probed, lane, job->kind, STEP_PROBING);
		return;
	}
	request(probed, lane, job->kind, STEP_ASKED);
}

/* Starts the lane's jobs one after the other, until one has to wait for the prober's answer. */
static void pump(struct ts_probed *probed, struct lane *lane)
{
	try_end(lane);
	while (lane->jobs && lane->step == STEP_NONE && !lane->is_stuck) {
		if (!lane->prober && start_prober(probed, lane)) {
			lose_lane(probed, lane);
			return;
		}
		begin_job(probed, lane);
	}
}

static bool is_queued(const struct lane *lane, const struct job *job)
{
	for (const struct job *other = lane->jobs; other; other = other->next)
		if (job->mapped_inode && other->mapped_inode == job->mapped_inode &&
		    other->mapped_device == job->mapped_device)
			return true;
	return false;
}

/* Queues a job. Takes ownership of the descriptor. */
static void queue(struct ts_probed *probed, const struct job *what, const char *path, int fd)
{
	struct lane *lane = find_lane(probed, what->uid);
	size_t n = strlen(path) + 1;
	struct job *job = lane && lane->n_jobs < MAX_JOBS && !is_queued(lane, what)
				  ? malloc(sizeof(*job) + n)
				  : NULL;

	if (!job) {
		if (lane && lane->n_jobs >= MAX_JOBS && !lane->was_busy)
			ts_log(TS_LOG_WARNING,
			       "user %u maps libraries faster than the daemon inspects them: calls of some libraries are not recorded",
			       ts_user_uid(lane->user));
		if (lane && lane->n_jobs >= MAX_JOBS)
			lane->was_busy = true;
		ts_closep(&fd);
		return;
	}
	*job = *what;
	job->next = NULL;
	job->fd = fd;
	memcpy(job->path, path, n);
	*lane->jobs_end = job;
	lane->jobs_end = &job->next;
	lane->n_jobs++;
	pump(probed, lane);
}

/* ---- answers ---- */

static void complain(struct lane *lane, const struct job *job, int error)
{
	char path[256];

	/* A process that just exited causes other errors, which are not logged. */
	if ((error != -EACCES && error != -EPERM) || lane->was_refused)
		return;
	ts_log(TS_LOG_WARNING,
	       "calls of pid %d are not recorded: %s cannot be opened in the process's root directory: %s; %s",
	       (int)job->pid, shown(job, path), strerror(-error),
	       ts_capabilities_have() & 1u << TS_CAPABILITY_SYS_PTRACE
		       ? "make the library readable for the service's user, or run `sudo tsctl record --system`"
		       : "give tracesmithd CAP_SYS_PTRACE");
	lane->was_refused = true;
}

/* Passes the descriptor `fd` to root's lane. Only root can have written the descriptor's file. */
static void hand_over(struct ts_probed *probed, const struct job *job, int fd)
{
	struct job handed = *job;

	handed.kind = TS_PROBER_OPEN_FILE;
	handed.uid = 0;
	queue(probed, &handed, job->path, fd);
}

static void take_identity(struct ts_probed *probed, struct lane *lane,
			  const struct ts_prober_answer *answer, int *fd)
{
	struct job *job = lane->jobs;
	struct file *known;

	if (answer->error) {
		complain(lane, job, answer->error);
		drop_job(lane);
		return;
	}
	job->device = answer->device;
	job->inode = answer->inode;
	known = find(probed, job->device, job->inode);
	if (known) {
		known->mapped_device = job->mapped_device ?: known->mapped_device;
		known->mapped_inode = job->mapped_inode ?: known->mapped_inode;
	} else if (answer->trusted && *fd >= 0 && ts_user_uid(lane->user)) {
		hand_over(probed, job, ts_take_fd(fd));
	} else if (give_place(probed, lane)) {
		request(probed, lane, TS_PROBER_GO_ON, STEP_PROBING);
		return;
	}
	request(probed, lane, TS_PROBER_STOP, STEP_NONE);
}

static void take_probes(struct lane *lane, const struct ts_prober_answer *answer)
{
	char path[256];

	/* If the file got no probes, keep its entry, so that it is not queued again. */
	if (answer->error)
		ts_log(TS_LOG_WARNING, "calls of %s are not recorded: %s", shown(lane->jobs, path),
		       answer->error == -ENOENT
			       ? "it has none of the functions whose calls the daemon records"
			       : strerror(-answer->error));
	else
		ts_log(TS_LOG_DEBUG, "calls of %s are recorded", shown(lane->jobs, path));
	drop_job(lane);
}

static void take_answer(struct ts_probed *probed, struct lane *lane,
			const struct ts_prober_answer *answer, int *fd)
{
	if (lane->step == STEP_ASKED && answer->kind == TS_PROBER_IDENTITY)
		take_identity(probed, lane, answer, fd);
	else if (lane->step == STEP_PROBING && answer->kind == TS_PROBER_PROBES)
		take_probes(lane, answer);
	else
		lose_lane(probed, lane);
}

/*
 * Adds the file for which a prober took too long to the known files, so that the file is not queued
 * again.
 */
static void mark_bad(struct ts_probed *probed, struct lane *lane)
{
	const struct job job = lane->jobs ? *lane->jobs : (struct job){0};
	char path[256];

	if (!lane->was_late && lane->jobs)
		ts_log(TS_LOG_WARNING,
		       "reading %s of user %u took too long: its calls are not recorded",
		       shown(lane->jobs, path), ts_user_uid(lane->user));
	lane->was_late = true;
	lose_lane(probed, lane);
	if (job.mapped_inode && !find_mapped(probed, job.mapped_device, job.mapped_inode))
		(void)add_file(probed, lane->user, &job);
}

static void take_lane(struct ts_probed *probed, struct lane *lane)
{
	struct ts_prober_answer answer;
	int fd = -1, r = 0;

	while (lane->prober && !lane->is_stuck && !r) {
		r = ts_prober_receive(lane->prober, &answer, &fd);
		if (!r)
			take_answer(probed, lane, &answer, &fd);
		else if (r != -EAGAIN)
			lose_lane(probed, lane);
		ts_closep(&fd);
	}
	if (lane->step != STEP_NONE && ts_clock_monotonic_ns() > lane->deadline_ns)
		mark_bad(probed, lane);
	pump(probed, lane);
}

/* ---- mappings ---- */

static void found(void *data, const struct ts_mapping *mapping)
{
	struct ts_probed *probed = data;
	struct job job = {.kind = TS_PROBER_FILE,
			  .pid = mapping->pid,
			  .mapped_device = mapping->device,
			  .mapped_inode = mapping->inode};

	bool is_shim = !strncmp(strrchr(mapping->path, '/'), SHIM, strlen(SHIM));
	bool is_known = find_mapped(probed, mapping->device, mapping->inode) ||
			strlen(mapping->path) >= TS_PROBER_PATH_BYTES;

	if ((is_known && !is_shim) || ts_inspector_uid(mapping->pid, &job.uid))
		return;
	if (is_shim)
		probed->options.preloaded(probed->options.data, mapping->pid, job.uid);
	if (is_known)
		return;
	queue(probed, &job, mapping->path, -1);
}

/*
 * Probes installed libraries before any process maps them, so that the first call of a new process
 * is recorded.
 */
static void add_place(struct ts_probed *probed, const char *pattern)
{
	const struct job job = {.kind = TS_PROBER_OWN_FILE};
	glob_t paths;

	if (glob(pattern, 0, NULL, &paths))
		return;
	for (size_t i = 0; i < paths.gl_pathc; i++)
		queue(probed, &job, paths.gl_pathv[i], -1);
	globfree(&paths);
}

/* Folders of libraries have the machine in their names, NVIDIA's also as that of a server. */
#if defined(__aarch64__)
#define MULTIARCH "aarch64-linux-gnu"
#define TARGET	  "sbsa-linux"
#else
#define MULTIARCH "x86_64-linux-gnu"
#define TARGET	  "x86_64-linux"
#endif

static void add_places(struct ts_probed *probed)
{
	static const char *const patterns[] = {
		"/usr/lib/" MULTIARCH "/libcuda.so.1",
		"/usr/lib64/libcuda.so.1",
		"/usr/lib/libcuda.so.1",
		"/usr/lib/wsl/lib/libcuda.so.1",
		"/usr/local/cuda/targets/" TARGET "/lib/libcudart.so.*",
		"/usr/local/cuda-*/targets/" TARGET "/lib/libcudart.so.*",
		"/usr/lib/" MULTIARCH "/libcudart.so.*",
		"/opt/rocm*/lib/libamdhip64.so.*",
		"/usr/lib/" MULTIARCH "/libamdhip64.so.*",
	};
	const char *more = secure_getenv(PATHS_ENVIRONMENT);
	char path[4096];

	for (size_t i = 0; i < TS_ARRAY_LEN(patterns); i++)
		add_place(probed, patterns[i]);
	while (more && *more) {
		size_t n = strcspn(more, ":");

		if (n < sizeof(path)) {
			snprintf(path, sizeof(path), "%.*s", (int)n, more);
			add_place(probed, path);
		}
		more += n + (more[n] == ':');
	}
}

/* ---- start and end ---- */

static int start(struct ts_probed *probed, char why[TS_SYSTEM_WHY_BYTES])
{
	struct epoll_event event = {.events = EPOLLIN};
	char worker[PATH_MAX];
	int r = probed->options.worker ? 0 : ts_worker_find(worker);

	if (r) {
		snprintf(why, TS_SYSTEM_WHY_BYTES,
			 "tracesmith-worker, which reads the libraries, is not installed");
		return r;
	}
	probed->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (probed->epoll_fd < 0)
		return -errno;
	r = ts_mappings_new(&probed->mappings);
	if (r) {
		snprintf(why, TS_SYSTEM_WHY_BYTES,
			 "the kernel does not report the files that programs map: %s",
			 strerror(-r));
		return r;
	}
	return epoll_ctl(probed->epoll_fd, EPOLL_CTL_ADD, ts_mappings_fd(probed->mappings),
			 &event) < 0
		       ? -errno
		       : 0;
}

int ts_probed_new(const struct ts_probed_options *options, struct ts_probed **ret_probed,
		  char why[TS_SYSTEM_WHY_BYTES])
{
	struct ts_probed *probed = calloc(1, sizeof(*probed));
	int r;

	if (!probed)
		return ts_error_origin(-ENOMEM);
	probed->options = *options;
	probed->epoll_fd = -1;
	r = start(probed, why);
	if (r) {
		ts_probed_free(probed);
		return ts_error_trace(r);
	}
	*ret_probed = probed;
	return 0;
}

void ts_probed_free(struct ts_probed *probed)
{
	if (!probed)
		return;
	ts_probed_remove(probed);
	while (probed->lanes)
		free_lane(probed, &probed->lanes);
	ts_mappings_free(probed->mappings);
	ts_closep(&probed->epoll_fd);
	free(probed);
}

void ts_probed_scan(struct ts_probed *probed)
{
	add_places(probed);
	ts_inspector_scan(probed->options.inspector, found, probed);
}

bool ts_probed_is_busy(const struct ts_probed *probed)
{
	for (const struct lane *lane = probed->lanes; lane; lane = lane->next)
		if (lane->jobs)
			return true;
	return false;
}

int ts_probed_fd(const struct ts_probed *probed)
{
	return probed->epoll_fd;
}

/*
 * Scans the mappings again if a lane's prober died and its probes are gone. Frees lanes that were
 * idle for IDLE_NS.
 */
static void look_after_lanes(struct ts_probed *probed)
{
	uint64_t now = ts_clock_monotonic_ns();
	bool again = false;

	for (struct lane **p = &probed->lanes; *p;) {
		struct lane *lane = *p;

		if (lane->is_lost && !lane->is_stuck && now > lane->retry_ns) {
			lane->is_lost = false;
			again = true;
		}
		if (lane->jobs || lane->n_files || lane->is_lost)
			lane->idle_ns = now;
		if (now - lane->idle_ns > IDLE_NS)
			lane->is_stuck = lane->prober != NULL;
		try_end(lane);
		if (now - lane->idle_ns > IDLE_NS && !lane->prober)
			free_lane(probed, p);
		else
			p = &lane->next;
	}
	if (again)
		ts_probed_scan(probed);
}

void ts_probed_take(struct ts_probed *probed)
{
	if (!ts_mappings_take(probed->mappings, found, probed))
		ts_inspector_scan(probed->options.inspector, found, probed);
	for (struct lane *lane = probed->lanes; lane; lane = lane->next)
		take_lane(probed, lane);
	look_after_lanes(probed);
}

/* True if all probers, and so their probes, are gone. */
static bool is_over(struct ts_probed *probed)
{
	bool over = true;

	for (struct lane *lane = probed->lanes; lane; lane = lane->next) {
		try_end(lane);
		over = over && !lane->prober;
	}
	return over;
}

void ts_probed_remove(struct ts_probed *probed)
{
	const struct timespec moment = {0, 1000000};

	/* The remaining files have no lane: they are bad, or have no functions to probe. */
	while (probed->n_files)
		forget(probed, &probed->files[0]);
	for (struct lane *lane = probed->lanes; lane; lane = lane->next) {
		lose_lane(probed, lane);
		lane->is_lost = false;
	}
	for (unsigned i = 0; i < END_MS && !is_over(probed); i++)
		nanosleep(&moment, NULL);
	if (probed->options.system)
		ts_system_forget_calls(probed->options.system);
}
