/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl record: runs a command with the shim preloaded, and a daemon that writes one file for all
 * its processes. main.c runs it; recording-daemon.c runs the daemon, record-launch.c the command.
 * The command keeps its terminal, its signals and its exit status. It runs to its end even if the
 * recording fails.
 */
#include "proto/abi/capture-config.h"
#include "proto/abi/handshake.h"
#include "proto/client/places.h"
#include "replay/vgpu/vgpu.h"
#include "sbt/reader.h"
#include "sbt/writer.h"
#include "tools/tsctl/machine/paths.h"
#include "tools/tsctl/machine/vgpuspec.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/options/values.h"
#include "tools/tsctl/record/environ.h"
#include "tools/tsctl/record/preload-link.h"
#include "tools/tsctl/record/record-launch.h"
#include "tools/tsctl/record/record-program.h"
#include "tools/tsctl/record/recording-daemon.h"
#include "tools/tsctl/record/recordsummary.h"
#include "tools/tsctl/record/rotation-options.h"
#include "tools/tsctl/record/why.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/times.h"
#include "tools/tsctl/trace/source.h"
#include "tools/tsctl/tsctl.h"

#include <ctype.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#define INJECTION_ENVIRONMENT "CUDA_INJECTION64_PATH"
#define RING_SIZE_ENVIRONMENT "TRACESMITH_RING_SIZE"
#define MAX_COMMAND_BYTES     4096

enum {
	STACKS_PYTHON,
	STACKS_NATIVE,
	STACKS_NONE
};

enum {
	SYMBOLS_END,
	SYMBOLS_NONE
};

static const char *const stacks_names[] = {
	[STACKS_PYTHON] = "python", [STACKS_NATIVE] = "native", [STACKS_NONE] = "none", NULL};
static const char *const symbols_names[] = {[SYMBOLS_END] = "end", [SYMBOLS_NONE] = "none", NULL};

struct record {
	/* Options. */
	const char *output;	   /* NULL: by program and pid */
	const char *vgpu;	   /* NULL: none; else the spec */
	uint64_t ring_bytes;	   /* 0: the shim's default */
	uint64_t limit_ns;	   /* 0: until the command ends */
	uint64_t quantum_ns;	   /* 0: none */
	const char *kernel_events; /* NULL: none */
	const char *capture;	   /* NULL: timing; else the shim's value */
	struct ts_rotation rotation;
	unsigned int stacks;  /* index in stacks_names */
	unsigned int symbols; /* index in symbols_names */
	bool lossless, start_later, quiet, force;
	bool system;	/* other processes too */
	char **command; /* ends with NULL; empty: other processes only */

	/* State. */
	struct ts_program program;
	char path[PATH_MAX];
	char inject[PATH_MAX], daemon[PATH_MAX], vgpu_directory[PATH_MAX];
	/* Path of another tool, from CUDA_INJECTION64_PATH in tsctl's environment; NULL: none. */
	char *injection_held;
	struct ts_environ *environment;
	struct ts_recorder *recorder;
	struct ts_launch launch;
	/* pid of the command; the launch clears its own copy when the command ends */
	pid_t pid;
	sigset_t mask; /* the caller's */
	struct sigaction child_action;
	int signal_fd, timer_fd;
	bool recording;
	char empty_hint[TS_WHY_BYTES];
	int status; /* exit status of the command, after its end */
};

static void record_deinit(struct record *record)
{
	ts_launch_deinit(&record->launch);
	ts_recorder_free(record->recorder);
	ts_environ_free(record->environment);
	free(record->injection_held);
	ts_closep(&record->signal_fd);
	ts_closep(&record->timer_fd);
}

static int parse_capture(void *to, const struct ts_option *option, const char *text)
{
	struct record *record = to;
	struct ts_capture_config config;

	record->capture = NULL;
	if (!ts_capture_config_parse(text, TS_CAPTURE_BYTES, &config)) {
		record->capture = config.max_bytes ? text : NULL;
		return 0;
	}
	return ts_option_complain(option, text);
}

/* Rejects options that conflict with a capture: a replay needs every call from the first one on. */
static int check_capture(const struct record *record)
{
	const char *other = record->start_later	    ? "--start-later"
			    : record->rotation.size ? "--rotate-size"
			    : record->rotation.age  ? "--rotate-age"
			    : record->rotation.keep_last_size || record->rotation.keep_last_age
				    ? "--keep-last"
				    : NULL;

	if (!record->capture || !other)
		return 0;
	ts_complain(
		"--capture replay and --capture window cannot be used with %s: a replay needs "
		"the objects that the process made from its start on, in one file; omit %s, and "
		"use `--capture window,launches=A..B` to capture only a part",
		other, other);
	return -EINVAL;
}

static int parse_ring_size(void *to, const struct ts_option *option, const char *text)
{
	struct record *record = to;
	unsigned long long bytes;

	if (ts_parse_bytes(text, TS_RING_MIN_BYTES, TS_RING_MAX_BYTES, &bytes) ||
	    !ts_is_power_of_two(bytes))
		return ts_option_complain(option, text);
	record->ring_bytes = bytes;
	return 0;
}

static int parse_output(void *to, const struct ts_option *option, const char *text)
{
	const char **output = to;

	*output = text;
	if (*text && strcmp(text, "-"))
		return 0;
	ts_complain("-o %s: a trace cannot be written to a stream; name a file, like run.sbt",
		    *text ? text : "''");
	return -EINVAL;
}

/*
 * Rejects malformed settings in the environment. The shim would use its default instead, and could
 * not report the error.
 */
static int check_environment(const struct record *record)
{
	const char *text = secure_getenv(RING_SIZE_ENVIRONMENT);
	unsigned long long bytes;

	if (record->ring_bytes || !text || !ts_parse_bytes(text, 0, UINT64_MAX, &bytes))
		return 0;
	ts_complain(RING_SIZE_ENVIRONMENT
		    "=%s: expected a number of bytes, like 1M; or use --ring-size",
		    text);
	return -EINVAL;
}

static int parse_limit(void *to, const struct ts_option *option, const char *text)
{
	struct record *record = to;

	if (ts_parse_seconds(text, &record->limit_ns) || !record->limit_ns ||
	    record->limit_ns > UINT64_C(1000000000) * UINT32_MAX)
		return ts_option_complain(option, text);
	return 0;
}

/* The daemon's limit for the list. */
#define KERNEL_EVENTS_BYTES 160u

static const char *const kernel_events_names[] = {"all",   "sched",  "faults", "syscalls", "stacks",
						  "block", "memory", "driver", "samples",  NULL};

/* Checks the syntax here; the daemon checks what the machine supports. */
static int parse_kernel_events(void *to, const struct ts_option *option, const char *text)
{
	const char *const *const names = kernel_events_names;
	struct record *record = to;
	size_t n, n_name, i;

	record->kernel_events = text ? text : "all";
	for (const char *at = record->kernel_events;; at += n + 1) {
		char threshold[32];
		uint64_t ns;

		n = strcspn(at, ",");
		n_name = strcspn(at, ":,");
		for (i = 0; names[i]; i++)
			if (strlen(names[i]) == n_name && !strncmp(names[i], at, n_name))
				break;
		snprintf(threshold, sizeof(threshold), "%.*s",
			 n > n_name ? (int)(n - n_name - 1) : 0, at + n_name + (n > n_name));
		if (!names[i] || n - n_name >= sizeof(threshold) || strchr(threshold, '.') ||
		    (n > n_name && (i < 1 || i > 3 || strcmp(threshold, "count")) &&
		     ts_time_parse(threshold, &ns))) {
			ts_complain(
				"--kernel-events=%s: expected `all` or some of `sched`, `faults`, "
				"`syscalls`, `stacks`, `block`, `memory`, `driver` and `samples`, each with an "
				"optional threshold, like sched:10us; the first three can be counted instead, "
				"like sched:count",
				record->kernel_events);
			return -EINVAL;
		}
		if (!at[n])
			break;
	}
	if (strlen(record->kernel_events) < KERNEL_EVENTS_BYTES)
		return 0;
	ts_complain("--kernel-events: the list has more than %u bytes", KERNEL_EVENTS_BYTES - 1);
	return -EINVAL;
}

static const char *const capture_names[] = {"timing", "replay", "window", NULL};

static const struct ts_option command_options[] = {
	{"output", 'o', TS_OPTION_FILE(struct record, output), .parse = parse_output,
	 .metavar = "FILE", .help = "write to FILE (default: tracesmith-COMMAND-PID.sbt)"},
	{"force", 'f', TS_OPTION_FLAG(struct record, force), .joint = "; "},
	{"quiet", 'q', TS_OPTION_FLAG(struct record, quiet),
	 .help = "replace an existing FILE; print no summary", .rank = 1},
	{"duration", 'd', TS_OPTION_PARSED(parse_limit), .metavar = "TIME", .label = "-d",
	 .expects = "expected a time in seconds, like 10 or 0.5, or with a unit, like 500ms",
	 .help = "stop recording after TIME (10, 500ms); COMMAND runs on", .rank = 1},
	{"vgpu", TS_OPTION_LONG, TS_OPTION_PARSED_TO(struct record, vgpu, ts_vgpuspec_parse),
	 .is_for_vgpu = true, .is_optional = true, .word_at = ts_vgpuspec_shape_at,
	 .metavar = "SPEC", .help = "run on the virtual GPU: h200:2, ... (`tsctl devices`)"},
	{"stacks", TS_OPTION_LONG, TS_OPTION_CHOICE(struct record, stacks), .words = stacks_names,
	 .metavar = "KIND", .help = "record host stacks: python (default), native or none"},
	{"symbols", TS_OPTION_LONG, TS_OPTION_CHOICE(struct record, symbols),
	 .words = symbols_names, .metavar = "WHEN",
	 .help = "name stacks at the end (default) or not: end, none"},
	{"kernel-events", TS_OPTION_LONG, TS_OPTION_PARSED(parse_kernel_events),
	 .is_optional = true, .words = kernel_events_names, .is_list = true, .metavar = "L",
	 .help = "record all or sched,faults,syscalls,stacks,block,\n"
		 "memory,driver,samples; sched:10us, :count, samples:1ms"},
	{"system", TS_OPTION_LONG, TS_OPTION_FLAG(struct record, system),
	 .help = "record calls of all other processes; COMMAND is optional"},
	{"capture", TS_OPTION_LONG, TS_OPTION_PARSED(parse_capture), .words = capture_names,
	 .metavar = "LEVEL",
	 .expects = "expected `timing`, `replay` or `window`; with a limit, "
		    "`replay:SIZE` (512M); a window opens by `,launches=A..B`, `,signal=usr1`, "
		    "`,range=NAME` and `tsctl start --capture replay`",
	 .help = "capture timing, replay[:1G], window[:1G][,launches=A..B]"},
	{"lossless", TS_OPTION_LONG, TS_OPTION_FLAG(struct record, lossless),
	 .help = "if a ring is full, wait for space instead of dropping"},
	{"start-later", TS_OPTION_LONG, TS_OPTION_FLAG(struct record, start_later),
	 .help = "record nothing before `tsctl start`"},
	{"ring-size", TS_OPTION_LONG, TS_OPTION_PARSED(parse_ring_size), .metavar = "SIZE",
	 .expects = "expected a power of two from 64K to 256M",
	 .help = "set each thread's ring size: a power of two, 64K to 256M"},
	{"quantum", TS_OPTION_LONG, TS_OPTION_TIME(struct record, quantum_ns), .min = 1,
	 .max = TS_SBT_MAX_QUANTUM_NS, .metavar = "TIME",
	 .expects = "expected a time like 100ns, from 1ns to 1ms",
	 .help = "round host times to TIME (1ns to 1ms): smaller trace"},
	{"rotate-size", TS_OPTION_LONG, TS_OPTION_BYTES(struct record, rotation.size),
	 .min = TS_ROTATION_MIN_BYTES, .max = INT64_MAX, .metavar = "S",
	 .expects = "expected a size of at least 16K, like 1G", .joint = ", "},
	{"rotate-age", TS_OPTION_LONG,
	 TS_OPTION_PARSED_TO(struct record, rotation, ts_rotation_parse_age), .metavar = "T",
	 .expects = "expected a time of at least 100ms, with a unit, like 10m", .joint = ", "},
	{"keep", TS_OPTION_LONG, TS_OPTION_NUMBER(struct record, rotation.keep), .min = 1,
	 .max = UINT32_MAX, .metavar = "N", .expects = "expected a number of files, at least 1",
	 .help = "new file each 1G, 10m; keep N"},
	{"keep-last", TS_OPTION_LONG,
	 TS_OPTION_PARSED_TO(struct record, rotation, ts_rotation_parse_keep_last),
	 .metavar = "S|T",
	 .expects = "expected a size of at least 16K, like 64M, or a time with a unit, like 30s",
	 .help = "keep only the last rows: a size (64M) or a time (30s)"},
	{"dump-on", TS_OPTION_LONG,
	 TS_OPTION_PARSED_TO(struct record, rotation, ts_rotation_parse_dump_on),
	 .words = ts_rotation_dump_words, .metavar = "WHAT",
	 .expects = "expected mark:NAME, SIGUSR1, SIGUSR2 or SIGHUP",
	 .help = "keep rows so far: mark:NAME, SIGUSR1, SIGUSR2, SIGHUP"},
	{0},
};

static int parse(struct record *record, int argc, char **argv)
{
	struct ts_operands operands;

	if (ts_options_parse(&ts_command_record, argc, argv, record, &operands))
		return -EINVAL;
	record->command = operands.words;
	if (!operands.n && !record->system) {
		ts_complain("no command to record; `tsctl record -- ./app` records ./app");
		return -EINVAL;
	}
	return check_environment(record)
		       ?: check_capture(record)
				  ?: ts_rotation_check(&record->rotation, record->output);
}

static void complain_command(const struct record *record, int r)
{
	const char *word = record->command[0];
	struct ts_vgpu_spec spec;
	char message[256];

	/*
	 * In `--vgpu small ./app`, tsctl takes `small` for the command, because an optional value
	 * must be joined with `=`.
	 */
	if (r == -ENOENT && record->vgpu && !strcmp(record->vgpu, TS_VGPU_SPEC_DEFAULT) &&
	    !ts_vgpu_spec_parse(word, &spec, message, sizeof(message)))
		ts_complain("cannot run `%s`: there is no such command; did you mean --vgpu=%s?",
			    word, word);
	else
		ts_complain("cannot run `%s`: %s", word,
			    r == -ENOENT ? "there is no such command" : strerror(-r));
}

/* Gives the loader's lists paths that they can contain. */
static int link_parts(struct record *record)
{
	int r = ts_preload_link_file(record->inject, TS_PRELOAD_SEPARATORS);

	if (!r && record->vgpu)
		r = ts_preload_link(record->vgpu_directory, TS_LIBRARY_PATH_SEPARATORS);
	if (r)
		ts_complain("cannot preload %s: the loader takes no path with a blank or a colon, "
			    "and a link to it in ~/.cache/tracesmith failed: %s; move it",
			    record->inject, strerror(-r));
	return r;
}

/* Finds the parts that recording needs. If one is missing, prints the reason and returns -errno. */
static int find_parts(struct record *record)
{
	int r = *record->command ? ts_program_find(record->command[0], &record->program) : 0;

	if (r) {
		complain_command(record, r);
		return r;
	}
	if (!ts_places_has_proc()) {
		ts_complain("recording needs /proc, which is not mounted here: `mount -t proc proc "
			    "/proc`");
		return -ENOENT;
	}
	r = ts_path_daemon(record->daemon);
	if (r) {
		ts_complain(
			"there is no tracesmithd at %s; build or install it, or name it in " TS_DAEMON_ENVIRONMENT,
			record->daemon);
		return r;
	}
	r = ts_path_inject(record->inject);
	if (r) {
		ts_complain(
			"there is no libtsinject.so at %s; build or install it, or name it in " TS_INJECT_ENVIRONMENT,
			record->inject);
		return r;
	}
	r = record->vgpu ? ts_path_vgpu(record->vgpu_directory) : 0;
	if (r)
		ts_complain(
			"the virtual GPU's libcuda.so.1 is not in %s; build or install it, or name its "
			"directory in " TS_VGPU_DIR_ENVIRONMENT,
			record->vgpu_directory);
	return r ?: link_parts(record);
}

static int build_environment(struct record *record)
{
	char number[32];
	struct ts_environ *env;
	const char *injection;
	int r = ts_environ_new(environ, &record->environment);

	if (r)
		return r;
	env = record->environment;
	injection = ts_environ_get(env, INJECTION_ENVIRONMENT);
	if (injection && *injection && strcmp(injection, record->inject)) {
		record->injection_held = strdup(injection);
		if (!record->injection_held)
			return -ENOMEM;
	}
	r = ts_environ_preload(env, record->inject);
	if (!r)
		r = ts_environ_preload_old(env, gnu_get_libc_version());
	if (!r)
		r = ts_environ_allow_asan(env);
	if (!r)
		r = ts_environ_set(env, TS_SOCKET_ENVIRONMENT,
				   ts_recorder_socket(record->recorder));
	/* All processes write into the recording's file. */
	ts_environ_unset(env, TS_OUTPUT_ENVIRONMENT);
	if (!r)
		r = ts_environ_set(env, "TRACESMITH_STACKS", stacks_names[record->stacks]);
	if (!r && record->capture)
		r = ts_environ_set(env, TS_CAPTURE_ENVIRONMENT, record->capture);
	/*
	 * The shim gets these settings from the environment, because a ring may fill up before the
	 * daemon attaches.
	 */
	if (!r && record->lossless)
		r = ts_environ_set(env, TS_LOSSLESS_ENVIRONMENT, "1");
	if (!r && record->start_later)
		r = ts_environ_set(env, TS_LATER_ENVIRONMENT, "1");
	snprintf(number, sizeof(number), "%" PRIu64, record->ring_bytes);
	if (!r && record->ring_bytes)
		r = ts_environ_set(env, RING_SIZE_ENVIRONMENT, number);
	if (!r && record->vgpu)
		r = ts_environ_prepend(env, "LD_LIBRARY_PATH", record->vgpu_directory, ":");
	if (!r && record->vgpu)
		r = ts_environ_set(env, "TRACESMITH_VGPU", record->vgpu);
	return r;
}

/* Chooses the trace's absolute path, because the daemon has another working directory. */
static int choose_path(struct record *record)
{
	const char *slash = strrchr(record->program.path, '/');
	const char *name = slash ? slash + 1 : record->program.path;
	char directory[PATH_MAX] = "", base[NAME_MAX + 1];
	int n;

	snprintf(base, sizeof(base), "%.*s", NAME_MAX, *name ? name : "system");
	ts_output_clean(base);
	if ((!record->output || record->output[0] != '/') && !getcwd(directory, sizeof(directory)))
		return -errno;
	if (record->output)
		n = snprintf(record->path, sizeof(record->path), "%s%s%s", directory,
			     *directory ? "/" : "", record->output);
	else
		n = snprintf(record->path, sizeof(record->path), "%s/tracesmith-%s-%d.sbt",
			     directory, base, record->launch.pid ? record->launch.pid : getpid());
	return n < (int)sizeof(record->path) ? 0 : -ENAMETOOLONG;
}

/*
 * True if a writer holds the lock on the first byte. A file that cannot be opened is not this
 * recording's file.
 */
static bool is_being_written(const char *path)
{
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1};
	ts_cleanup(ts_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);

	return fd >= 0 && !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

/*
 * Deletes a file that a daemon created before it failed to start; otherwise the next run would
 * refuse to overwrite it. The path was free before, but another recording may have taken it since.
 * A file with a session, or a file that is being written, stays.
 */
static void remove_failed(const struct record *record)
{
	ts_cleanup(ts_sbt_reader_freep) struct ts_sbt_reader *reader = NULL;
	ts_cleanup(ts_closep) int fd =
		open(record->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) || !S_ISREG(status.st_mode) ||
	    is_being_written(record->path))
		return;
	if (ts_sbt_reader_open(fd, &reader, NULL) || !ts_sbt_reader_n_sessions(reader))
		unlink(record->path);
}

/* Removes an earlier trace from the path: only with --force, and only a regular file. */
static int clear_path(const struct record *record)
{
	const char *shown = record->output ? record->output : record->path;
	struct stat status;
	int r;

	if (lstat(record->path, &status)) {
		r = -errno;
		if (r != -ENOENT)
			ts_complain("cannot write %s: %s", shown, strerror(-r));
		return r == -ENOENT ? 0 : r;
	}
	if (!S_ISREG(status.st_mode)) {
		ts_complain("%s exists and is not a regular file; name another with -o", shown);
		return -EEXIST;
	}
	if (!record->force) {
		ts_complain("%s exists; name another file with -o, or replace it with --force",
			    shown);
		return -EEXIST;
	}
	if (is_being_written(record->path)) {
		ts_complain("%s is still being written by another recording; name another with -o",
			    shown);
		return -EBUSY;
	}
	/* Older files of the earlier recording would look like parts of the new one. */
	r = ts_source_unlink_before(record->path);
	if (!r && unlink(record->path))
		r = -errno;
	if (r) {
		ts_complain("cannot replace %s: %s", shown, strerror(-r));
		return r;
	}
	return 0;
}

/*
 * Blocks the signals and reads them from a descriptor. There are no handlers, so the command
 * inherits exactly the caller's dispositions.
 */
static int watch_signals(struct record *record)
{
	static const int numbers[] = {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
	struct sigaction usual = {.sa_handler = SIG_DFL};
	sigset_t watched;

	sigemptyset(&watched);
	for (size_t i = 0; i < TS_ARRAY_LEN(numbers); i++)
		sigaddset(&watched, numbers[i]);
	/* If the caller ignored SIGCHLD, the kernel would reap the command. */
	sigaction(SIGCHLD, &usual, &record->child_action);
	sigprocmask(SIG_BLOCK, &watched, &record->mask);
	record->signal_fd = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
	return record->signal_fd < 0 ? -errno : 0;
}

static int start_timer(struct record *record)
{
	struct itimerspec limit = {
		.it_value = {.tv_sec = (time_t)(record->limit_ns / 1000000000u),
			     .tv_nsec = (long)(record->limit_ns % 1000000000u)},
	};

	if (!record->limit_ns)
		return 0;
	record->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (record->timer_fd < 0 || timerfd_settime(record->timer_fd, 0, &limit, NULL))
		return -errno;
	return 0;
}

/* Joins the words for the trace's metadata; no shell reads it. */
static void join_command(const struct record *record, char *text, size_t n_text)
{
	size_t at = 0;

	snprintf(text, n_text, "%s", *record->command ? "" : "tsctl record --system");
	for (char **word = record->command; *word && at < n_text; word++)
		at += (size_t)snprintf(text + at, n_text - at, "%s%s",
				       word == record->command ? "" : " ", *word);
}

/* Runs all steps up to the command's first instruction. */
static int start(struct record *record)
{
	char command[MAX_COMMAND_BYTES];
	struct ts_recorder_options options = {.daemon = record->daemon,
					      .output = record->path,
					      .command = command,
					      .empty_hint = record->empty_hint,
					      .stacks = record->stacks != STACKS_NONE,
					      .symbols = record->symbols != SYMBOLS_NONE,
					      .lossless = record->lossless,
					      .start_later = record->start_later,
					      .quantum_ns = record->quantum_ns,
					      .rotate_size = record->rotation.size,
					      .rotate_age = record->rotation.age,
					      .keep = record->rotation.keep,
					      .keep_last_size = record->rotation.keep_last_size,
					      .keep_last_age = record->rotation.keep_last_age,
					      .dump_on_mark = record->rotation.dump_mark,
					      .kernel_events = record->kernel_events,
					      .system = record->system};
	int r = find_parts(record);

	if (r)
		return r;
	r = ts_recorder_new(&record->recorder);
	if (!r)
		r = build_environment(record);
	if (!r)
		r = watch_signals(record);
	if (!r && *record->command)
		r = ts_launch_prepare(&record->launch, record->command,
				      ts_environ_strings(record->environment), &record->mask,
				      &record->child_action);
	record->pid = record->launch.pid;
	if (!r)
		r = choose_path(record);
	if (r) {
		ts_complain("could not prepare the recording: %s", strerror(-r));
		return r;
	}
	r = clear_path(record);
	if (r)
		return r;
	join_command(record, command, sizeof(command));
	if (*record->command)
		ts_why_hint(&record->program, record->vgpu, record->injection_held,
			    record->empty_hint);
	else
		snprintf(record->empty_hint, sizeof(record->empty_hint),
			 "no process called the libraries of a GPU");
	r = ts_recorder_start(record->recorder, &options);
	if (r) {
		ts_complain("could not start recording: %s", ts_recorder_error(record->recorder));
		/* Ends the daemon, which may still write. */
		ts_recorder_free(record->recorder);
		record->recorder = NULL;
		remove_failed(record);
		return r;
	}
	record->recording = true;
	if (ts_recorder_kernel_missing(record->recorder))
		ts_complain("kernel events are missing: %s; the rest is recorded",
			    ts_recorder_kernel_missing(record->recorder));
	if (ts_recorder_system_missing(record->recorder)) {
		ts_complain("calls of other processes are not recorded: %s%s",
			    ts_recorder_system_missing(record->recorder),
			    *record->command ? "; the command is recorded" : "");
		if (!*record->command) {
			unlink(record->path);
			return -ENOTSUP;
		}
	}
	r = start_timer(record);
	if (!r && *record->command)
		r = ts_launch_go(&record->launch);
	if (r) {
		ts_complain("cannot run `%s`: %s", record->command[0], strerror(-r));
		unlink(record->path);
	}
	return r;
}

/* Returns how the command ended if a signal ended it, else NULL. */
static const char *end_text(const struct record *record, char *text, size_t n_text)
{
	const char *name;
	int number;

	if (record->launch.pid || !WIFSIGNALED(record->status))
		return NULL;
	number = WTERMSIG(record->status);
	name = sigabbrev_np(number);
	if (name)
		snprintf(text, n_text, "killed by SIG%s", name);
	else
		snprintf(text, n_text, "killed by signal %d", number);
	return text;
}

/* Ends the recording once. The command may run on. */
static void finish(struct record *record)
{
	Ts__Rpc__Answer *answer;
	char end[64];
	struct ts_record_summary summary = {.path = record->path,
					    .output = record->output,
					    .rotation = &record->rotation,
					    .end = end_text(record, end, sizeof(end)),
					    .empty_hint = record->empty_hint,
					    .quiet = record->quiet};

	if (!record->recording)
		return;
	record->recording = false;
	if (ts_recorder_finish(record->recorder, record->pid, summary.end, &answer)) {
		ts_complain("the recording failed: %s; `tsctl repair %s` finishes the trace",
			    ts_recorder_error(record->recorder), record->path);
		return;
	}
	summary.summary = answer->summary;
	ts_record_summary_print(&summary);
	ts__rpc__answer__free_unpacked(answer, NULL);
}

/*
 * Forwards signals to the command. A signal of the terminal (SI_KERNEL) has reached the whole group
 * already.
 */
static void take_signal(struct record *record)
{
	struct signalfd_siginfo info;

	while (read(record->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if ((int)info.ssi_signo == record->rotation.dump_signal && record->recording)
			ts_recorder_dump(record->recorder);
		else if (info.ssi_signo != SIGCHLD && info.ssi_code <= 0 && record->launch.pid)
			kill(record->launch.pid, (int)info.ssi_signo);
}

/* Returns true when the command has ended. */
static bool command_ended(struct record *record)
{
	pid_t pid = waitpid(record->launch.pid, &record->status, WNOHANG);

	if (pid != record->launch.pid && !(pid < 0 && errno == ECHILD))
		return false;
	record->launch.pid = 0;
	return true;
}

static void wait_for_command(struct record *record)
{
	while (!command_ended(record)) {
		struct pollfd fds[] = {
			{.fd = record->signal_fd, .events = POLLIN},
			{.fd = record->recording ? record->timer_fd : -1, .events = POLLIN},
			{.fd = record->recording ? ts_recorder_fd(record->recorder) : -1,
			 .events = POLLIN},
		};

		if (poll(fds, TS_ARRAY_LEN(fds), -1) < 0)
			continue;
		if (fds[0].revents)
			take_signal(record);
		/* The time limit, or the daemon's end, ends the recording and not the command. */
		if (fds[1].revents || fds[2].revents)
			finish(record);
	}
}

/* Waits for the time limit or a signal. Called if there is no command to run. */
static void wait_for_end(struct record *record)
{
	struct signalfd_siginfo info;

	while (record->recording) {
		struct pollfd fds[] = {
			{.fd = record->signal_fd, .events = POLLIN},
			{.fd = record->timer_fd, .events = POLLIN},
			{.fd = ts_recorder_fd(record->recorder), .events = POLLIN},
		};

		if (poll(fds, TS_ARRAY_LEN(fds), -1) < 0)
			continue;
		while (read(record->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
			if ((int)info.ssi_signo == record->rotation.dump_signal)
				ts_recorder_dump(record->recorder);
			else if (info.ssi_signo != SIGCHLD && info.ssi_signo != SIGUSR1 &&
				 info.ssi_signo != SIGUSR2)
				fds[1].revents = POLLIN;
		if (fds[1].revents || fds[2].revents)
			finish(record);
	}
}

static int run_record(int argc, char **argv)
{
	ts_cleanup(record_deinit) struct record record = {.launch = TS_LAUNCH_INIT,
							  .signal_fd = -1,
							  .timer_fd = -1};

	if (parse(&record, argc, argv))
		return TS_EXIT_BAD;
	if (start(&record))
		return TS_EXIT_NOT_STARTED;
	if (!*record.command) {
		wait_for_end(&record);
		return 0;
	}
	wait_for_command(&record);
	finish(&record);
	if (WIFSIGNALED(record.status))
		return TS_EXIT_SIGNAL + WTERMSIG(record.status);
	return WEXITSTATUS(record.status);
}

const struct ts_command ts_command_record = {
	.name = "record",
	.alias = "profile",
	.summary = "run a command and record its work on the GPU",
	.text = "usage: tsctl record [OPTION ...] [--] COMMAND [ARG ...]\n"
		"\n"
		"Run COMMAND and record all its processes that use a GPU in one trace file. Exit\n"
		"as COMMAND does (128 plus the signal that ended it), or with 125: not started.\n"
		"\n",
	.example = "record -o train.sbt -- python3 train.py --epochs 1",
	.help_column = 24,
	.options = command_options,
	.operands = TS_OPERANDS_PROGRAM,
	.run = run_record,
};
