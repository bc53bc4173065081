/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl symbolize: finds names for the stacks of a trace and stores them in it. main.c runs it. It
 * starts the daemon's program, whose worker finds the names, and passes it the open file. It prints
 * the report of that program.
 */
#include "proto/abi/clock.h"
#include "proto/client/places.h"
#include "proto/rpc/frame.h"
#include "tools/tsctl/machine/paths.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/screen/jsonout.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/term.h"
#include "tools/tsctl/trace/source.h"
#include "tools/tsctl/tsctl.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>

#define TRACE_FD  3
#define REPORT_FD 4
#define POLL_MS	  100

struct symbolize {
	const char *path;
	const char *worker;
	bool again, json;
};

static int start(const struct symbolize *symbolize, const char *program, int trace_fd,
		 int report_fd, pid_t *ret_pid)
{
	const char *words[12] = {program, "--symbolize", "--trace-fd", "3", "--report-fd", "4"};
	posix_spawn_file_actions_t actions;
	size_t n = 6;
	int r;

	if (symbolize->again)
		words[n++] = "--again";
	if (symbolize->worker) {
		words[n++] = "--worker";
		words[n++] = symbolize->worker;
	}
	r = posix_spawn_file_actions_init(&actions);
	if (r)
		return -r;
	/* Both descriptors are above their target numbers: see move_up(). */
	r = posix_spawn_file_actions_adddup2(&actions, trace_fd, TRACE_FD);
	r = r ?: posix_spawn_file_actions_adddup2(&actions, report_fd, REPORT_FD);
	/* posix_spawn() takes a pointer without const and does not write through it. */
	r = r ?: posix_spawn(ret_pid, program, &actions, NULL, (char **)(uintptr_t)words, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

static int move_up(int *fd)
{
	int moved = fcntl(*fd, F_DUPFD_CLOEXEC, REPORT_FD + 1);

	if (moved < 0)
		return -errno;
	close(*fd);
	*fd = moved;
	return 0;
}

/* Waits for the daemon's report. Meanwhile the progress line has the elapsed seconds. */
static void wait_for(int fd, struct ts_progress *progress)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	const uint64_t start_ns = ts_clock_monotonic_ns();

	while (!poll(&polled, 1, POLL_MS))
		ts_progress_step(progress, (ts_clock_monotonic_ns() - start_ns) / 1000000000);
}

/* Receives the only frame. NULL: none came. */
static Ts__Rpc__SymbolizeReport *receive(int fd)
{
	Ts__Rpc__SymbolizeReport *report = NULL;
	struct ts_frame_parser parser;
	struct ts_progress progress;
	uint8_t bytes[16 * 1024];
	struct ts_frame frame;
	ssize_t n;

	ts_frame_parser_init(&parser, TS_FRAME_ANSWER, TS_FRAME_ANSWER_MAX_BYTES);
	ts_progress_init(&progress, "looking for names, seconds:", 0);
	while (!report) {
		wait_for(fd, &progress);
		n = read(fd, bytes, sizeof(bytes));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || ts_frame_parser_feed(&parser, bytes, (size_t)n))
			break;
		if (!ts_frame_parser_next(&parser, &frame))
			report = ts__rpc__symbolize_report__unpack(NULL, frame.header.n_bytes,
								   frame.data);
	}
	ts_progress_deinit(&progress);
	ts_frame_parser_deinit(&parser);
	return report;
}

static Ts__Rpc__SymbolizeReport *run_daemon(const struct symbolize *symbolize, int *trace_fd)
{
	Ts__Rpc__SymbolizeReport *report = NULL;
	char program[PATH_MAX];
	int fds[2], r;
	pid_t pid;

	if (!ts_places_has_proc()) {
		ts_complain("looking up names needs /proc, which is not mounted here: `mount -t "
			    "proc proc /proc`");
		return NULL;
	}
	if (ts_path_daemon(program)) {
		ts_complain("tracesmithd, which looks up the names, is not at %s; install it, or "
			    "set " TS_DAEMON_ENVIRONMENT,
			    program);
		return NULL;
	}
	if (pipe2(fds, O_CLOEXEC) < 0) {
		ts_complain("%s", strerror(errno));
		return NULL;
	}
	r = move_up(trace_fd);
	r = r ?: move_up(&fds[1]);
	r = r ?: start(symbolize, program, *trace_fd, fds[1], &pid);
	close(fds[1]);
	if (!r) {
		report = receive(fds[0]);
		while (waitpid(pid, &r, 0) < 0 && errno == EINTR)
			;
		if (!report)
			ts_complain("%s ended without a report; %s is unchanged, or `tsctl "
				    "repair` finishes it",
				    program, symbolize->path);
	} else {
		ts_complain("could not run %s: %s", program, strerror(-r));
	}
	close(fds[0]);
	return report;
}

static void print_image(const Ts__Rpc__SymbolizedImage *image)
{
	if (!image->why)
		return;
	printf("  ");
	ts_out_text(stdout, image->path ? image->path : "?");
	printf(": ");
	ts_out_text(stdout, image->why);
	putchar('\n');
}

static int print_report(const struct symbolize *symbolize, Ts__Rpc__SymbolizeReport *report)
{
	char named[TS_OUT_FIGURE_BYTES], addresses[TS_OUT_FIGURE_BYTES];

	report->path = strdup(symbolize->path);
	if (symbolize->json)
		return ts_json_print(&report->base);
	if (!report->frames) {
		printf("this trace has no stacks\n");
	} else if (!report->n_images && report->kept) {
		printf("all addresses already have names\n");
	} else {
		printf("%s of %s addresses have names\n", ts_out_count(named, report->named),
		       ts_out_count(addresses, report->addresses));
		for (size_t i = 0; i < report->n_images; i++)
			print_image(report->images[i]);
	}
	return ts_finish_output(TS_EXIT_OK);
}

static const struct ts_option command_options[] = {
	{"again", TS_OPTION_LONG, TS_OPTION_FLAG(struct symbolize, again),
	 .help = "look up addresses that already have names, too"},
	{"worker", TS_OPTION_LONG, TS_OPTION_FILE(struct symbolize, worker), .metavar = "PATH",
	 .help = "use this tracesmith-worker (default: the installed one)"},
	{"json", 'j', TS_OPTION_FLAG(struct symbolize, json), .is_letter_unmentioned = true,
	 .help = "print one JSON object"},
	{0},
};

static int run_symbolize(int argc, char **argv)
{
	struct symbolize symbolize = {0};
	ts_cleanup(ts_closep) int fd = -1;
	Ts__Rpc__SymbolizeReport *report;
	struct ts_sbt_error error = {0};
	struct ts_operands operands;
	int status;

	if (ts_options_parse(&ts_command_symbolize, argc, argv, &symbolize, &operands))
		return TS_EXIT_BAD;
	if (operands.n != 1) {
		ts_complain("takes one trace file: `tsctl symbolize run.sbt`");
		return TS_EXIT_BAD;
	}
	symbolize.path = operands.words[0];
	fd = ts_source_open_file(symbolize.path, O_RDWR);
	if (fd < 0)
		return TS_EXIT_BAD;
	report = run_daemon(&symbolize, &fd);
	if (!report)
		return TS_EXIT_BAD;
	if (report->error) {
		error.off = report->error_at;
		snprintf(error.text, sizeof(error.text), "%s", report->error);
		if (report->error_code == -EBUSY)
			ts_complain("%s is still being written; symbolize it when it is finished",
				    symbolize.path);
		else
			ts_source_complain(symbolize.path, report->error_code, &error);
		status = TS_EXIT_BAD;
	} else {
		status = print_report(&symbolize, report);
	}
	ts__rpc__symbolize_report__free_unpacked(report, NULL);
	return status;
}

const struct ts_command ts_command_symbolize = {
	.name = "symbolize",
	.summary = "find names for the stacks of a trace and store them in it",
	.is_minor = true,
	.text = "usage: tsctl symbolize [OPTION ...] FILE\n"
		"\n"
		"Look up functions, files and lines of all stacks in FILE and store them in FILE,\n"
		"for `tsctl view --stacks`. `tsctl record` does this when it ends. Binaries are\n"
		"found by path and build id; debug files beside them, in /usr/lib/debug and in\n"
		"the cache of debuginfod. If TRACESMITH_DEBUGINFOD=1 is set, missing files are\n"
		"requested from debuginfod for the next run.\n"
		"\n",
	.example = "symbolize run.sbt && tsctl view --stacks run.sbt",
	.help_column = 21,
	.options = command_options,
	.operands = TS_OPERANDS_FILES,
	.run = run_symbolize,
};
