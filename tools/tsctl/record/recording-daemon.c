/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts and ends the daemon of one recording: see recording-daemon.h. cmd-record.c calls this
 * file. The terminal belongs to the application, so the daemon's stderr goes to a memory file. If
 * the daemon fails, one line of it becomes the error message.
 */
#include "tools/tsctl/record/recording-daemon.h"

#include "proto/abi/base.h"
#include "proto/client/client.h"
#include "proto/client/places.h"
#include "proto/rpc/json.h"
#include "replay/report/info/why-empty.h"
#include "sbt/schema.h"
#include "tools/tsctl/tsctl.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

/* The daemon's end of the connection: the first descriptor behind the standard ones. */
#define CONTROL_FD	 3

#define EXIT_EXEC_FAILED 127
#define MAX_ARGUMENTS	 40

/* Loading the kernel's programs takes a second, and many times as long on a busy machine. */
#define START_TIMEOUT_MS 60000u
/*
 * Maximum time for sessions to flush and drain. The daemon enforces it; tsctl waits FINISH_GRACE_MS
 * longer.
 */
#define FINISH_TIMEOUT_MS 30000u
#define FINISH_GRACE_MS	  5000u
/* Maximum wait for the daemon's exit; after that, init reaps the daemon. */
#define REAP_TIMEOUT_MS 5000

struct ts_recorder {
	char directory[TS_PLACES_BYTES];
	char socket[TS_PLACES_BYTES + sizeof(TS_PLACES_INJECT)];
	char control[TS_PLACES_BYTES + sizeof(TS_PLACES_CONTROL)];
	struct ts_client *client;
	pid_t daemon; /* 0: none */
	int daemon_status;
	bool daemon_ended;
	bool started; /* it has listened */
	int log_fd;
	char *kernel_missing, *system_missing;
	char error[512];
};

int ts_recorder_new(struct ts_recorder **ret_recorder)
{
	ts_cleanup(ts_recorder_freep) struct ts_recorder *recorder = calloc(1, sizeof(*recorder));
	int r;

	if (!recorder)
		return -ENOMEM;
	recorder->log_fd = memfd_create("tracesmithd-log", MFD_CLOEXEC);
	if (recorder->log_fd < 0)
		return -errno;
	r = ts_places_new(recorder->directory);
	if (r)
		return r;
	snprintf(recorder->socket, sizeof(recorder->socket), "%s/" TS_PLACES_INJECT,
		 recorder->directory);
	snprintf(recorder->control, sizeof(recorder->control), "%s/" TS_PLACES_CONTROL,
		 recorder->directory);
	*ret_recorder = ts_take_ptr(recorder);
	return 0;
}

/*
 * Waits for the daemon's exit, for a limited time. The daemon may hang (an unresponsive disk), and
 * the caller of tsctl waits for tsctl to end.
 */
static bool wait_for_exit(pid_t pid)
{
	struct pollfd process = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	int n;

	if (process.fd < 0)
		return errno == ENOSYS || errno == ESRCH;
	do
		n = poll(&process, 1, REAP_TIMEOUT_MS);
	while (n < 0 && errno == EINTR);
	close(process.fd);
	return n != 0;
}

static void reap(struct ts_recorder *recorder)
{
	if (!recorder->daemon)
		return;
	if (!wait_for_exit(recorder->daemon)) {
		ts_complain("tracesmithd (pid %d) does not end; it continues in the background",
			    recorder->daemon);
		recorder->daemon = 0;
		return;
	}
	while (waitpid(recorder->daemon, &recorder->daemon_status, 0) < 0 && errno == EINTR)
		;
	recorder->daemon = 0;
	recorder->daemon_ended = true;
}

void ts_recorder_free(struct ts_recorder *recorder)
{
	if (!recorder)
		return;
	/* Closing the connection ends the daemon, which has its own time limit for that. */
	ts_client_free(recorder->client);
	reap(recorder);
	if (recorder->directory[0]) {
		ts_places_remove(recorder->directory);
	}
	if (recorder->log_fd >= 0)
		close(recorder->log_fd);
	free(recorder->kernel_missing);
	free(recorder->system_missing);
	free(recorder);
}

void ts_recorder_freep(struct ts_recorder **recorder)
{
	ts_recorder_free(*recorder);
}

const char *ts_recorder_socket(const struct ts_recorder *recorder)
{
	return recorder->socket;
}

/* Runs in the child between fork and exec: only async-signal-safe calls. */
static void __attribute__((noreturn))
become_daemon(const char *const *argv, int control_fd, int log_fd)
{
	sigset_t none;
	int null_fd;

	/*
	 * Leaves the terminal's foreground group: an interrupt for the command must not end the
	 * daemon.
	 */
	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	null_fd = open("/dev/null", O_RDWR);
	/* Move both descriptors up first, so that dup2() overwrites neither. */
	log_fd = fcntl(log_fd, F_DUPFD, CONTROL_FD + 1);
	control_fd = fcntl(control_fd, F_DUPFD, CONTROL_FD + 1);
	if (null_fd < 0 || log_fd < 0 || control_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0 ||
	    dup2(null_fd, STDOUT_FILENO) < 0 || dup2(log_fd, STDERR_FILENO) < 0 ||
	    dup2(control_fd, CONTROL_FD) < 0)
		_exit(EXIT_EXEC_FAILED);
	/* All other descriptors of tsctl's caller belong to the command only. */
	if (close_range(CONTROL_FD + 1, ~0u, 0))
		for (int fd = CONTROL_FD + 1; fd < 1024; fd++)
			close(fd);
	execv(argv[0], (char *const *)argv);
	dprintf(STDERR_FILENO, "cannot be run: %s\n", strerrorname_np(errno));
	_exit(EXIT_EXEC_FAILED);
}

static int start_daemon(struct ts_recorder *recorder, const struct ts_recorder_options *options,
			int control_fd)
{
	char control[16], hint[TS_WHY_BYTES + sizeof(TS_METADATA_EMPTY_HINT) + 1];
	char kernel_events[192], quantum[40];
	const char *argv[] = {options->daemon,
			      "--program",
			      options->command,
			      "--metadata-if-empty",
			      hint,
			      "--record",
			      "--control-fd",
			      control,
			      "--inject-socket",
			      recorder->socket,
			      "--control-socket",
			      recorder->control,
			      "--output",
			      options->output,
			      "--stacks",
			      options->stacks ? "native" : "none",
			      "--symbols",
			      options->symbols ? "end" : "none",
			      [MAX_ARGUMENTS] = NULL};
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {{"rotate-size", options->rotate_size},
		       {"rotate-age", options->rotate_age},
		       {"keep", options->keep},
		       {"keep-last-size", options->keep_last_size},
		       {"keep-last-age", options->keep_last_age}};
	char texts[TS_ARRAY_LEN(numbers)][48];
	size_t n = 0;

	while (argv[n])
		n++;
	if (options->lossless)
		argv[n++] = "--lossless";
	if (options->start_later)
		argv[n++] = "--start-later";
	if (options->system)
		argv[n++] = "--system";
	if (options->quantum_ns)
		argv[n++] = quantum;
	snprintf(quantum, sizeof(quantum), "--quantum=%" PRIu64, options->quantum_ns);
	if (options->kernel_events)
		argv[n++] = kernel_events;
	for (size_t i = 0; i < TS_ARRAY_LEN(numbers); i++) {
		snprintf(texts[i], sizeof(texts[i]), "--%s=%" PRIu64, numbers[i].name,
			 numbers[i].value);
		if (numbers[i].value)
			argv[n++] = texts[i];
	}
	if (options->dump_on_mark) {
		argv[n++] = "--dump-on-mark";
		argv[n++] = options->dump_on_mark;
	}
	snprintf(kernel_events, sizeof(kernel_events), "--kernel-events=%s",
		 options->kernel_events ? options->kernel_events : "");
	snprintf(control, sizeof(control), "%d", CONTROL_FD);
	snprintf(hint, sizeof(hint), TS_METADATA_EMPTY_HINT "=%s", options->empty_hint);
	recorder->daemon = fork();
	if (recorder->daemon < 0) {
		recorder->daemon = 0;
		return -errno;
	}
	if (!recorder->daemon)
		become_daemon(argv, control_fd, recorder->log_fd);
	return 0;
}

int ts_recorder_start(struct ts_recorder *recorder, const struct ts_recorder_options *options)
{
	Ts__Rpc__Request__Status status = TS__RPC__REQUEST__STATUS__INIT;
	Ts__Rpc__Request request = TS__RPC__REQUEST__INIT;
	Ts__Rpc__Answer *answer;
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	r = ts_client_new_from_fd(pair[0], &recorder->client);
	if (r) {
		close(pair[0]);
		close(pair[1]);
		return r;
	}
	r = start_daemon(recorder, options, pair[1]);
	close(pair[1]);
	if (r)
		return r;
	/* The daemon answers when it listens and has created its file. */
	request.body_case = TS__RPC__REQUEST__BODY_STATUS;
	request.status = &status;
	r = ts_client_call(recorder->client, &request, START_TIMEOUT_MS, &answer, NULL);
	if (r)
		return r;
	if (answer->body_case == TS__RPC__ANSWER__BODY_STATUS &&
	    answer->status->kernel_events_missing)
		recorder->kernel_missing = strdup(answer->status->kernel_events_missing);
	if (answer->body_case == TS__RPC__ANSWER__BODY_STATUS && answer->status->system_missing)
		recorder->system_missing = strdup(answer->status->system_missing);
	ts__rpc__answer__free_unpacked(answer, NULL);
	recorder->started = true;
	return 0;
}

const char *ts_recorder_kernel_missing(const struct ts_recorder *recorder)
{
	return recorder->kernel_missing;
}

const char *ts_recorder_system_missing(const struct ts_recorder *recorder)
{
	return recorder->system_missing;
}

int ts_recorder_fd(const struct ts_recorder *recorder)
{
	return recorder->client ? ts_client_fd(recorder->client) : -1;
}

int ts_recorder_dump(const struct ts_recorder *recorder)
{
	return recorder->daemon && !kill(recorder->daemon, SIGUSR1) ? 0 : -ESRCH;
}

int ts_recorder_finish(struct ts_recorder *recorder, pid_t pid, const char *end,
		       Ts__Rpc__Answer **ret_answer)
{
	Ts__Rpc__Request__Finish finish = TS__RPC__REQUEST__FINISH__INIT;
	Ts__Rpc__Request__Finish__MetadataEntry entries[2], *metadata[2];
	Ts__Rpc__Request request = TS__RPC__REQUEST__INIT;
	Ts__Rpc__Answer *answer;
	char number[16];
	int r;

	snprintf(number, sizeof(number), "%d", pid);
	for (size_t i = 0; i < TS_ARRAY_LEN(entries); i++) {
		ts__rpc__request__finish__metadata_entry__init(&entries[i]);
		metadata[i] = &entries[i];
	}
	entries[0].key = (char *)TS_METADATA_COMMAND_PID;
	entries[0].value = number;
	entries[1].key = (char *)TS_METADATA_COMMAND_END;
	entries[1].value = (char *)(uintptr_t)end;
	finish.metadata = metadata;
	finish.n_metadata = end ? 2 : 0;
	TS_RPC_SET(&finish, timeout_ms, FINISH_TIMEOUT_MS);
	request.body_case = TS__RPC__REQUEST__BODY_FINISH;
	request.finish = &finish;
	r = ts_client_call(recorder->client, &request, FINISH_TIMEOUT_MS + FINISH_GRACE_MS, &answer,
			   NULL);
	if (r)
		return r;
	if (answer->body_case != TS__RPC__ANSWER__BODY_SUMMARY) {
		ts__rpc__answer__free_unpacked(answer, NULL);
		return -EPROTO;
	}
	*ret_answer = answer;
	return 0;
}

/*
 * Reads a line of the daemon's stderr: the first line if the daemon did not start, because this
 * line has the cause; otherwise the last line. Strips the daemon's name and the journal's priority
 * ("<3>").
 */
static bool log_line(struct ts_recorder *recorder, char *line, size_t n_line)
{
	char text[1024], *end, *start;
	struct stat status;
	off_t off = 0;
	ssize_t n;

	if (fstat(recorder->log_fd, &status))
		return false;
	if (recorder->started && status.st_size >= (off_t)sizeof(text))
		off = status.st_size - (off_t)sizeof(text) + 1;
	n = pread(recorder->log_fd, text, sizeof(text) - 1, off);
	if (n <= 0)
		return false;
	text[n] = 0;
	for (end = text + n; end > text && end[-1] == '\n'; end--)
		end[-1] = 0;
	start = recorder->started ? strrchr(text, '\n') : NULL;
	start = start ? start + 1 : text;
	start[strcspn(start, "\n")] = 0;
	if (start[0] == '<' && start[1] >= '0' && start[1] <= '7' && start[2] == '>')
		start += 3;
	if (!strncmp(start, "tracesmithd: ", 13))
		start += 13;
	snprintf(line, n_line, "%.*s", (int)n_line - 1, start);
	return *start != 0;
}

const char *ts_recorder_error(struct ts_recorder *recorder)
{
	char line[400], ended[64] = "";

	if (ts_recorder_fd(recorder) < 0)
		reap(recorder);
	if (recorder->daemon_ended && WIFSIGNALED(recorder->daemon_status))
		snprintf(ended, sizeof(ended), "tracesmithd was ended by signal %d",
			 WTERMSIG(recorder->daemon_status));
	else if (recorder->daemon_ended && WEXITSTATUS(recorder->daemon_status))
		/* Status 0: the daemon ended because tsctl had given up the connection. */
		snprintf(ended, sizeof(ended), "tracesmithd exited with status %d",
			 WEXITSTATUS(recorder->daemon_status));
	if (log_line(recorder, line, sizeof(line)))
		snprintf(recorder->error, sizeof(recorder->error), "%s: %s",
			 ended[0] ? ended : "tracesmithd", line);
	else if (ended[0])
		snprintf(recorder->error, sizeof(recorder->error), "%s", ended);
	else
		snprintf(recorder->error, sizeof(recorder->error), "%s",
			 recorder->client ? ts_client_error(recorder->client)
					  : "tracesmithd was not started");
	return recorder->error;
}
