/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file is known by its device and inode, and probed once, whoever maps it under whatever name. It is opened in the root
 * directory of the process that maps it, with the rights of that process's user. There is room for so many; when there is none
 * left, those go that nobody maps any more.
 */
#include "daemon/serve/probed.h"

#include <glob.h>
#include <stdio.h>
#include <sys/stat.h>

#include "daemon/symbol/files.h"
#include "daemon/util/error.h"
#include "daemon/worker/client.h"
#include "proto/abi/clock.h"

#define MAX_FILES	  64u
#define TIDY_NS		  UINT64_C(10000000000)
#define PATHS_ENVIRONMENT "TRACESMITH_GPU_LIBRARIES"
#define SHIM		  "/libtsinject.so"

struct file {
	dev_t device;
	ino_t inode;
	struct ts_system_probes probes;
	bool mapped; /* as of the last look */
};

struct ts_probed {
	struct ts_probed_options options;
	struct ts_mappings *mappings;
	struct ts_worker *worker;
	struct file files[MAX_FILES];
	size_t n_files;
	uint64_t tidied_ns;
	bool was_full, was_refused; /* and that was said */
};

static struct file *find(struct ts_probed *probed, const struct stat *status)
{
	for (size_t i = 0; i < probed->n_files; i++)
		if (probed->files[i].inode == status->st_ino &&
		    probed->files[i].device == status->st_dev)
			return &probed->files[i];
	return NULL;
}

/* ---- opening ---- */

static int open_own(const char *path, struct ts_symbol_file *ret_file)
{
	const struct ts_symbol_view view = {.root_fd = -1, .by_own_path = true};

	return ts_symbol_open(&view, path, 0, ret_file);
}

/* Its folder's owner is root where it is not dumpable, which anybody can choose to be. */
static int user_of(pid_t pid, uid_t *ret_uid)
{
	char path[32], line[128];
	unsigned uid;
	int r = -ESRCH;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (r && fgets(line, sizeof(line), file))
		if (sscanf(line, "Uid: %*u %u", &uid) == 1) {
			*ret_uid = uid;
			r = 0;
		}
	fclose(file);
	return r;
}

static int open_of(pid_t pid, const char *path, struct ts_symbol_file *ret_file)
{
	ts_cleanup(ts_closep) int root_fd = ts_symbol_root_open(pid);
	struct ts_symbol_view view = {.root_fd = root_fd};
	int r;

	if (root_fd < 0)
		return -ESRCH;
	r = user_of(pid, &view.uid);
	return r ?: ts_symbol_open(&view, path, 0, ret_file);
}

/* ---- probing ---- */

/* Where the file has what is to be probed. The worker's word: a number that is none is refused by the kernel. */
static int ask_places(struct ts_probed *probed, const struct ts_symbol_file *file,
		      uint64_t *ret_places, size_t n)
{
	ts_cleanup(ts_freep) char **names = calloc(n, sizeof(*names));
	Ts__Rpc__WorkerRequest__Places places = TS__RPC__WORKER_REQUEST__PLACES__INIT;
	Ts__Rpc__WorkerRequest request = TS__RPC__WORKER_REQUEST__INIT;
	const struct ts_call_function *functions = ts_call_functions(&n);
	Ts__Rpc__WorkerAnswer *answer;
	int r;

	if (!names)
		return -ENOMEM;
	/* protobuf-c has no const; nothing is written through it. */
	for (size_t i = 0; i < n; i++)
		names[i] = (char *)(uintptr_t)functions[i].symbol;
	places.names = names;
	places.n_names = n;
	request.body_case = TS__RPC__WORKER_REQUEST__BODY_PLACES;
	request.places = &places;
	r = ts_worker_call(probed->worker, &request, &file->fd, 1, 0, &answer);
	if (r)
		return r;
	if (answer->body_case != TS__RPC__WORKER_ANSWER__BODY_PLACES ||
	    answer->places->n_places != n)
		r = -EPROTO;
	else
		memcpy(ret_places, answer->places->places, n * sizeof(*ret_places));
	ts__rpc__worker_answer__free_unpacked(answer, NULL);
	/* What it has read may have taken it over. */
	if (!file->trusted)
		ts_worker_end(probed->worker);
	return r;
}

static int probe(struct ts_probed *probed, const struct ts_symbol_file *file,
		 struct ts_system_probes *ret_probes)
{
	size_t n, n_found = 0;
	ts_cleanup(ts_freep) uint64_t *places = NULL;
	int r;

	ts_call_functions(&n);
	places = calloc(n, sizeof(*places));
	if (!places)
		return -ENOMEM;
	r = ask_places(probed, file, places, n);
	for (size_t i = 0; i < n; i++)
		n_found += places[i] != 0;
	if (r || !n_found)
		return r ?: -ENOENT;
	return ts_system_probe(probed->options.system, file->fd, places, ret_probes);
}

static void mark(void *data, pid_t pid, const char *path)
{
	struct ts_symbol_file opened;
	struct file *file;
	struct stat status;

	if (open_of(pid, path, &opened))
		return;
	file = fstat(opened.fd, &status) < 0 ? NULL : find(data, &status);
	if (file)
		file->mapped = true;
	close(opened.fd);
}

/* Lets go of files that nobody maps. */
static void tidy(struct ts_probed *probed)
{
	uint64_t now = ts_clock_monotonic_ns();
	size_t n = 0;

	if (probed->tidied_ns && now - probed->tidied_ns < TIDY_NS)
		return;
	probed->tidied_ns = now;
	for (size_t i = 0; i < probed->n_files; i++)
		probed->files[i].mapped = false;
	ts_mappings_scan(mark, probed);
	for (size_t i = 0; i < probed->n_files; i++)
		if (probed->files[i].mapped)
			probed->files[n++] = probed->files[i];
		else
			ts_system_remove(&probed->files[i].probes);
	probed->n_files = n;
}

static void add(struct ts_probed *probed, const struct ts_symbol_file *opened, const char *path)
{
	struct file file = {.probes = TS_SYSTEM_NO_PROBES};
	struct stat status;
	int r;

	if (fstat(opened->fd, &status) < 0 || find(probed, &status))
		return;
	if (probed->n_files == MAX_FILES)
		tidy(probed);
	if (probed->n_files == MAX_FILES) {
		if (!probed->was_full)
			ts_log(TS_LOG_WARNING,
			       "more than %u libraries for GPUs are mapped: calls of %s and of further "
			       "ones are not seen",
			       MAX_FILES, path);
		probed->was_full = true;
		return;
	}
	file.device = status.st_dev;
	file.inode = status.st_ino;
	r = probe(probed, opened, &file.probes);
	/* Not asked again: it stays what it is. */
	probed->files[probed->n_files++] = file;
	if (r)
		ts_log(TS_LOG_WARNING, "calls of %s are not seen: %s", path,
		       r == -ENOENT ? "it has none of the functions" : strerror(-r));
	else
		ts_log(TS_LOG_DEBUG, "calls of %s are seen", path);
}

static void found(void *data, pid_t pid, const char *path)
{
	struct ts_probed *probed = data;
	struct ts_symbol_file file;
	int r;

	if (!strncmp(strrchr(path, '/'), SHIM, strlen(SHIM)))
		probed->options.preloaded(probed->options.data, pid);
	r = open_of(pid, path, &file);
	if (!r) {
		add(probed, &file, path);
		close(file.fd);
		return;
	}
	/* It may just be over. */
	if ((r == -EACCES || r == -EPERM) && !probed->was_refused) {
		ts_log(TS_LOG_WARNING,
		       "calls of pid %d are not seen: %s cannot be opened as it sees it: %s; it "
		       "takes CAP_SYS_PTRACE",
		       (int)pid, path, strerror(-r));
		probed->was_refused = true;
	}
}

/* Before anybody maps them: a process that comes is seen from its first call on. */
static void add_place(struct ts_probed *probed, const char *pattern)
{
	struct ts_symbol_file file;
	glob_t paths;

	if (glob(pattern, 0, NULL, &paths))
		return;
	for (size_t i = 0; i < paths.gl_pathc; i++)
		if (!open_own(paths.gl_pathv[i], &file)) {
			add(probed, &file, paths.gl_pathv[i]);
			close(file.fd);
		}
	globfree(&paths);
}

static void add_places(struct ts_probed *probed)
{
	static const char *const patterns[] = {
		"/usr/lib/x86_64-linux-gnu/libcuda.so.1",
		"/usr/lib64/libcuda.so.1",
		"/usr/lib/libcuda.so.1",
		"/usr/lib/wsl/lib/libcuda.so.1",
		"/usr/local/cuda/targets/x86_64-linux/lib/libcudart.so.*",
		"/usr/local/cuda-*/targets/x86_64-linux/lib/libcudart.so.*",
		"/usr/lib/x86_64-linux-gnu/libcudart.so.*",
		"/opt/rocm*/lib/libamdhip64.so.*",
		"/usr/lib/x86_64-linux-gnu/libamdhip64.so.*",
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

/* ---- */

int ts_probed_new(const struct ts_probed_options *options, struct ts_probed **ret_probed,
		  char why[TS_SYSTEM_WHY_BYTES])
{
	const struct ts_worker_options worker = {.path = options->worker};
	struct ts_probed *probed = calloc(1, sizeof(*probed));
	int r;

	if (!probed)
		return ts_error_origin(-ENOMEM);
	probed->options = *options;
	r = ts_worker_new(&worker, &probed->worker);
	if (r == -ENOENT)
		snprintf(why, TS_SYSTEM_WHY_BYTES,
			 "there is no tracesmith-worker, which reads the libraries");
	if (!r) {
		r = ts_mappings_new(&probed->mappings);
		if (r)
			snprintf(why, TS_SYSTEM_WHY_BYTES,
				 "the kernel does not tell what is mapped: %s", strerror(-r));
	}
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
	ts_mappings_free(probed->mappings);
	ts_worker_free(probed->worker);
	free(probed);
}

void ts_probed_scan(struct ts_probed *probed)
{
	add_places(probed);
	ts_mappings_scan(found, probed);
}

int ts_probed_fd(const struct ts_probed *probed)
{
	return ts_mappings_fd(probed->mappings);
}

void ts_probed_take(struct ts_probed *probed)
{
	if (!ts_mappings_take(probed->mappings, found, probed))
		ts_mappings_scan(found, probed);
}

void ts_probed_remove(struct ts_probed *probed)
{
	for (size_t i = 0; i < probed->n_files; i++)
		ts_system_remove(&probed->files[i].probes);
	probed->n_files = 0;
	ts_system_forget_calls(probed->options.system);
}
