/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracesmithd: copies records out of the shared memory of processes with libtsinject.so and writes
 * them as traces. main() parses options, checks them for the mode, and calls ts_server_run(). The
 * first argument can select another role: sampler, prober or inspector. --symbolize names the
 * stacks of a trace instead.
 */
#include <getopt.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "daemon/bpf/system.h"
#include "daemon/sample/sampler.h"
#include "daemon/sample/threads.h"
#include "daemon/serve/loop/server.h"
#include "daemon/serve/recording/folder.h"
#include "daemon/serve/system/inspector.h"
#include "daemon/serve/system/prober.h"
#include "daemon/symbol/command.h"
#include "daemon/util/event/event.h"
#include "daemon/util/log.h"
#include "daemon/util/number.h"
#include "proto/abi/handshake.h"
#include "proto/client/client.h"
#include "proto/client/places.h"
#include "sbt/writer.h"

#define DIRECTORY_DEFAULT   "/var/lib/tracesmith"
#define EXIT_USAGE	    2

#define ALLOCATOR_MAP_BYTES (128 * 1024)
#define ALLOCATOR_ARENAS    8

static const char help_begin[] =
	"Usage: tracesmithd [--directory DIR] [OPTION ...]\n"
	"\n"
	"Record, as a service, the GPU work of processes that preload libtsinject.so. Each\n"
	"process gets a trace file.\n"
	"\n";

static const char help_of_limits[] =
	"\n"
	"These options limit the load by other users. SIZE is in bytes, or with K, M or G.\n"
	"One user gets at most a quarter of each limit with *. The files of `tsctl record`\n"
	"have no size limit. --max-disk-bytes and --retain-size also accept a percentage of\n"
	"the file system, like 20%.\n"
	"\n";

static const char help_end[] =
	"\n"
	"`tsctl record` uses --record, --control-fd, --output, --program, --metadata and\n"
	"--metadata-if-empty; libtsinject.so uses --private, --session-fd and --pid.\n"
	"\n"
	"Example: tracesmithd --directory /var/tmp/traces\n";

enum option_key {
	OPTION_RECORD = 256,
	OPTION_PRIVATE,
	OPTION_SYMBOLIZE,
	OPTION_TRACE_FD,
	OPTION_REPORT_FD,
	OPTION_AGAIN,
	OPTION_SYMBOLS,
	OPTION_WORKER,
	OPTION_DIRECTORY,
	OPTION_INJECT_SOCKET,
	OPTION_CONTROL_SOCKET,
	OPTION_SESSION_FD,
	OPTION_CONTROL_FD,
	OPTION_OUTPUT,
	OPTION_PROGRAM,
	OPTION_PID,
	OPTION_METADATA,
	OPTION_METADATA_IF_EMPTY,
	OPTION_DUMP_ON_MARK,
	OPTION_STACKS,
	OPTION_LOSSLESS,
	OPTION_START_LATER,
	OPTION_SEAL_AGE,
	OPTION_QUANTUM,
	OPTION_KERNEL_EVENTS,
	OPTION_KERNEL_EVENTS_CHECK,
	OPTION_SYSTEM,
	OPTION_LOG,
	OPTION_HELP,
	OPTION_VERSION,
	OPTION_LIMITS, /* the first of TS_LIMITS_N */
};

/* Options in the order of the help; the ones without help are for tsctl and libtsinject.so. */
static const struct {
	const char *name, *value; /* value: its name in the help; NULL: the option has none */
	bool is_optional;	  /* the value can be left out */
	enum option_key key;
	const char *help; /* its lines, without a newline at the end */
} option_table[] = {
	{"directory", "DIR", false, OPTION_DIRECTORY,
	 "Store traces in DIR. Make DIR if it does not exist\n"
	 "(default: " DIRECTORY_DEFAULT ")."},
	{"inject-socket", "PATH", false, OPTION_INJECT_SOCKET,
	 "Listen at PATH for processes\n"
	 "(default: " TS_INJECT_SOCKET ")."},
	{"control-socket", "PATH", false, OPTION_CONTROL_SOCKET,
	 "Listen at PATH for tsctl\n"
	 "(default: " TS_CONTROL_SOCKET ")."},
	{"stacks", "native|none", false, OPTION_STACKS, "Record host stacks (default: native)."},
	{"lossless", NULL, false, OPTION_LOSSLESS,
	 "If a ring is full, wait for space for a limited time\n"
	 "instead of dropping records."},
	{"start-later", NULL, false, OPTION_START_LATER, "Record nothing before `tsctl start`."},
	{"seal-age", "MS", false, OPTION_SEAL_AGE,
	 "Write rows after at most MS milliseconds (default: 500)."},
	{"quantum", "NS", false, OPTION_QUANTUM,
	 "Round host times down to multiples of NS. The file gets\n"
	 "smaller (default: 0, no rounding)."},
	{"kernel-events", "LIST", true, OPTION_KERNEL_EVENTS,
	 "Record kernel events of the processes' threads: all, or\n"
	 "sched, faults, syscalls, stacks, block, memory, driver,\n"
	 "samples. sched:10us sets a threshold. sched:count,\n"
	 "faults:count and syscalls:count only count events."},
	{"kernel-events-check", NULL, false, OPTION_KERNEL_EVENTS_CHECK,
	 "Print the kernel events that this machine supports, and\n"
	 "whether it supports --system. Then exit."},
	{"dump-on-mark", "NAME", false, OPTION_DUMP_ON_MARK,
	 "If a process calls tracesmith_mark(NAME), keep its trace\n"
	 "so far as FILE-dump1.sbt. SIGUSR1 keeps all traces."},
	{"system", NULL, false, OPTION_SYSTEM,
	 "Record the GPU library calls of all other processes from\n"
	 "outside (host half only), in tracesmith-system.sbt."},
	{"log", "LEVEL", false, OPTION_LOG,
	 "Log none, error, warning, info or debug (default: info)."},
	{"help", NULL, false, OPTION_HELP, ""},
	{"version", NULL, false, OPTION_VERSION, "Print this help, or the version. Then exit."},
	{"record", NULL, false, OPTION_RECORD, NULL},
	{"private", NULL, false, OPTION_PRIVATE, NULL},
	{"symbolize", NULL, false, OPTION_SYMBOLIZE, NULL},
	{"trace-fd", "FD", false, OPTION_TRACE_FD, NULL},
	{"report-fd", "FD", false, OPTION_REPORT_FD, NULL},
	{"again", NULL, false, OPTION_AGAIN, NULL},
	{"symbols", "WHEN", false, OPTION_SYMBOLS, NULL},
	{"worker", "PATH", false, OPTION_WORKER, NULL},
	{"session-fd", "FD", false, OPTION_SESSION_FD, NULL},
	{"control-fd", "FD", false, OPTION_CONTROL_FD, NULL},
	{"output", "FILE", false, OPTION_OUTPUT, NULL},
	{"program", "PATH", false, OPTION_PROGRAM, NULL},
	{"pid", "PID", false, OPTION_PID, NULL},
	{"metadata", "KEY=VALUE", false, OPTION_METADATA, NULL},
	{"metadata-if-empty", "KEY=VALUE", false, OPTION_METADATA_IF_EMPTY, NULL},
};

#define N_OPTIONS   TS_ARRAY_LEN(option_table)
#define HELP_COLUMN 28

/*
 * Prints the options that have help. An option whose help is empty shares the line of the next
 * one.
 */
static void print_help(void)
{
	int n = 0;

	fputs(help_begin, stdout);
	for (size_t i = 0; i < N_OPTIONS && option_table[i].help; i++) {
		const char *value = option_table[i].value, *at = option_table[i].help;

		n += printf("%s--%s%s%s%s", n ? ", " : "  ", option_table[i].name,
			    !value			  ? ""
			    : option_table[i].is_optional ? "[="
							  : " ",
			    value ? value : "", option_table[i].is_optional ? "]" : "");
		if (!*at)
			continue;
		for (; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL, n = 0)
			printf("%*s%.*s\n", HELP_COLUMN - n, "", (int)strcspn(at, "\n"), at);
	}
	fputs(help_of_limits, stdout);
	ts_limits_help(stdout);
	fputs(help_end, stdout);
}

static int usage_error(const char *what, const char *value)
{
	fprintf(stderr, "tracesmithd: %s%s%s; see tracesmithd --help\n", what, value ? ": " : "",
		value ? value : "");
	return -EINVAL;
}

static int parse_number(const char *option, const char *text, uint64_t most, uint64_t *ret_number)
{
	if (!ts_number_parse(text, most, ret_number))
		return 0;
	fprintf(stderr,
		"tracesmithd: %s takes a number up to %" PRIu64 ", not '%s'; see "
		"tracesmithd --help\n",
		option, most, text);
	return -EINVAL;
}

static int parse_fd(const char *option, const char *text, int *ret_fd)
{
	uint64_t number;
	socklen_t n_bytes = sizeof(int);
	int r = parse_number(option, text, INT32_MAX, &number), type;

	if (r)
		return r;
	if (getsockopt((int)number, SOL_SOCKET, SO_TYPE, &type, &n_bytes) < 0)
		return usage_error(option, "not a socket");
	*ret_fd = (int)number;
	return 0;
}

static int parse_stacks(const char *text, uint32_t *command)
{
	if (!strcmp(text, "native"))
		*command |= TS_COMMAND_STACKS;
	else if (!strcmp(text, "none"))
		*command &= ~TS_COMMAND_STACKS;
	else
		return usage_error("--stacks accepts only native or none", text);
	return 0;
}

static int parse_log(const char *text, enum ts_log_level *ret_level)
{
	static const struct {
		const char *name;
		enum ts_log_level level;
	} levels[] = {
		{"none", TS_LOG_NONE}, {"error", TS_LOG_ERROR}, {"warning", TS_LOG_WARNING},
		{"info", TS_LOG_INFO}, {"debug", TS_LOG_DEBUG},
	};

	for (size_t i = 0; i < TS_ARRAY_LEN(levels); i++)
		if (!strcmp(text, levels[i].name)) {
			*ret_level = levels[i].level;
			return 0;
		}
	return usage_error("unknown log level", text);
}

struct arguments {
	struct ts_server_options server;
	struct ts_symbolize_command symbolize;
	bool only_symbolize;
	bool only_check_kernel;
	enum ts_log_level log;
	bool log_set;
	bool exit;
};

static int parse_mode(struct arguments *arguments, enum ts_server_mode mode)
{
	if (arguments->server.mode != TS_SERVER_SERVICE)
		return usage_error("--record and --private exclude each other", NULL);
	arguments->server.mode = mode;
	return 0;
}

static bool is_pair(const char *text)
{
	return strchr(text, '=') && *text != '=';
}

static int parse_metadata(struct ts_server_options *server, const char *text)
{
	if (!is_pair(text))
		return usage_error("--metadata accepts only KEY=VALUE", text);
	if (server->n_metadata == TS_SERVER_MAX_METADATA)
		return usage_error("too many --metadata options", NULL);
	server->metadata[server->n_metadata++] = text;
	return 0;
}

/* Parses the options of --symbolize and other symbol options. E_NOT_MINE: another option. */
#define E_NOT_MINE 1
static int parse_symbols(struct arguments *arguments, int key, const char *value)
{
	uint64_t number;
	int r;

	switch (key) {
	case OPTION_SYMBOLIZE:
		arguments->only_symbolize = true;
		return 0;
	case OPTION_TRACE_FD:
		r = parse_number("--trace-fd", value, INT32_MAX, &number);
		arguments->symbolize.trace_fd = r ? -1 : (int)number;
		return r;
	case OPTION_REPORT_FD:
		r = parse_number("--report-fd", value, INT32_MAX, &number);
		arguments->symbolize.report_fd = r ? -1 : (int)number;
		return r;
	case OPTION_AGAIN:
		arguments->symbolize.again = true;
		return 0;
	case OPTION_WORKER:
		arguments->server.worker = arguments->symbolize.worker = value;
		return 0;
	case OPTION_SYMBOLS:
		if (strcmp(value, "end") && strcmp(value, "none"))
			return usage_error("--symbols accepts only end or none", value);
		arguments->server.no_symbols = !strcmp(value, "none");
		return 0;
	default:
		return E_NOT_MINE;
	}
}

static int parse_limit(struct ts_server_options *server, size_t i, const char *value)
{
	char why[192];
	int r = ts_limits_set(&server->limits, i, value, why, sizeof(why));

	return r ? usage_error(why, NULL) : 0;
}

static int parse_kernel_events(struct ts_server_options *server, const char *text)
{
	char why[320];

	return ts_kernel_config_parse(text ? text : "all", &server->kernel_events, why, sizeof(why))
		       ? usage_error("--kernel-events", why)
		       : 0;
}

static int parse_option(struct arguments *arguments, int key, const char *value)
{
	struct ts_server_options *server = &arguments->server;
	uint64_t number = 0;
	int r;

	if (key >= OPTION_LIMITS)
		return parse_limit(server, (size_t)(key - OPTION_LIMITS), value);
	switch (key) {
	case OPTION_RECORD:
		return parse_mode(arguments, TS_SERVER_RECORD);
	case OPTION_PRIVATE:
		return parse_mode(arguments, TS_SERVER_PRIVATE);
	case OPTION_DIRECTORY:
		server->directory = value;
		return 0;
	case OPTION_INJECT_SOCKET:
		server->inject_socket = value;
		return 0;
	case OPTION_CONTROL_SOCKET:
		server->control_socket = value;
		return 0;
	case OPTION_SESSION_FD:
		return parse_fd("--session-fd", value, &server->inject_fd);
	case OPTION_CONTROL_FD:
		return parse_fd("--control-fd", value, &server->control_fd);
	case OPTION_OUTPUT:
		server->output = value;
		return 0;
	case OPTION_PROGRAM:
		server->program = value;
		return 0;
	case OPTION_PID:
		r = parse_number("--pid", value, INT32_MAX, &number);
		server->pid = (pid_t)number;
		return r;
	case OPTION_METADATA:
		return parse_metadata(server, value);
	case OPTION_METADATA_IF_EMPTY:
		if (!is_pair(value))
			return usage_error("--metadata-if-empty accepts only KEY=VALUE", value);
		server->empty_metadata = value;
		return 0;
	case OPTION_DUMP_ON_MARK:
		server->dump_on_mark = value;
		return 0;
	case OPTION_STACKS:
		return parse_stacks(value, &server->command);
	case OPTION_LOSSLESS:
		server->command |= TS_COMMAND_LOSSLESS;
		return 0;
	case OPTION_START_LATER:
		server->command |= TS_COMMAND_PAUSED;
		return 0;
	case OPTION_SEAL_AGE:
		r = parse_number("--seal-age", value, 60000, &number);
		server->seal_age_ms = (uint32_t)number;
		return r;
	case OPTION_QUANTUM:
		r = parse_number("--quantum", value, TS_SBT_MAX_QUANTUM_NS, &number);
		server->quantum_ns = number;
		return r;
	case OPTION_KERNEL_EVENTS:
		return parse_kernel_events(server, value);
	case OPTION_KERNEL_EVENTS_CHECK:
		arguments->only_check_kernel = true;
		return 0;
	case OPTION_SYSTEM:
		server->system = true;
		return 0;
	case OPTION_LOG:
		arguments->log_set = true;
		return parse_log(value, &arguments->log);
	case OPTION_HELP:
		print_help();
		arguments->exit = true;
		return 0;
	case OPTION_VERSION:
		printf("tracesmithd %s (session ABI %u.%u)\n", TS_VERSION, TS_ABI_MAJOR,
		       TS_ABI_MINOR);
		arguments->exit = true;
		return 0;
	default:
		/* getopt_long() has printed the error. */
		return -EINVAL;
	}
}

/* Checks the options that the mode needs. */
static int check_arguments(struct arguments *arguments)
{
	struct ts_server_options *server = &arguments->server;

	ts_limits_complete(&server->limits, server->mode == TS_SERVER_SERVICE);
	switch (server->mode) {
	case TS_SERVER_PRIVATE:
		if (server->inject_fd < 0 || !server->output)
			return usage_error("--private needs --session-fd and --output", NULL);
		return 0;
	case TS_SERVER_RECORD:
		if (server->control_fd < 0 || !server->output || !server->inject_socket)
			return usage_error(
				"--record needs --control-fd, --inject-socket and --output", NULL);
		server->inject_fd = -1;
		return 0;
	case TS_SERVER_SERVICE:
	default:
		if (server->output)
			return usage_error(
				"--output is for --record and --private; a service has --directory",
				NULL);
		server->inject_socket = server->inject_socket ?: TS_INJECT_SOCKET;
		server->control_socket = server->control_socket ?: TS_CONTROL_SOCKET;
		server->inject_fd = server->control_fd = -1;
		return 0;
	}
}

/*
 * Prints a line per kind of kernel event, for tsctl devices: its name, and the reason if it is
 * missing ("NAME without PARTS: why" if parts are missing). A last line reports whether `--system`
 * is available.
 */
static int check_kernel(void)
{
	struct ts_system *system = NULL;
	char why[TS_SYSTEM_WHY_BYTES];
	int r;

	for (unsigned i = 0; ts_kernel_program_name(i); i++) {
		const struct ts_kernel_config config = {.programs = 1u << i};
		struct ts_kernel_hub *hub = NULL;
		const char *missing;

		r = i == TS_BPF_SAMPLES ? ts_sampled_threads_try()
					: ts_kernel_hub_new(&config, false, &hub);
		missing = r ? strerror(-r) : hub ? ts_kernel_hub_missing(hub) : NULL;
		printf("%s%s%s\n", missing && !r ? "" : ts_kernel_program_name(i),
		       missing && r ? ": " : "", missing ? missing : "");
		ts_kernel_hub_free(hub);
	}
	r = ts_system_new(false, &system, why);
	printf("system%s%s\n", r ? ": " : "", r ? why : "");
	ts_system_free(system);
	return fflush(stdout) ? 1 : 0;
}

/* Makes `path` absolute, because clients that ask for it run in other directories. */
static int make_absolute(const char **path)
{
	/* The paths are never freed, because the options use them as long as the process lives. */
	static char *kept[4];
	static size_t n_kept;
	char *directory, *absolute;
	int r;

	if (**path == '/')
		return 0;
	directory = get_current_dir_name();
	r = directory ? asprintf(&absolute, "%s/%s", directory, *path) : -1;
	free(directory);
	if (r < 0)
		return -ENOMEM;
	kept[n_kept++ % TS_ARRAY_LEN(kept)] = absolute;
	*path = absolute;
	return 0;
}

/*
 * Converts shares of the disk to bytes, from the size of the file system of the traces. If the file
 * system reports no size, there is no limit.
 */
static void resolve_shares(struct ts_server_options *server)
{
	struct statvfs disk = {0};

	if (statvfs(server->directory, &disk) < 0)
		disk = (struct statvfs){0};
	ts_limits_resolve(&server->limits, (uint64_t)disk.f_blocks * disk.f_frsize);
}

/*
 * Prepares the service's directory, so that a service that cannot write there fails at the start,
 * not at the first process.
 */
static int prepare_directory(struct ts_server_options *server)
{
	int r = 0;

	if (make_absolute(&server->directory) || make_absolute(&server->inject_socket) ||
	    make_absolute(&server->control_socket))
		return usage_error("out of memory", NULL);
	if (mkdir(server->directory, 0755) < 0 && errno != EEXIST)
		r = -errno;
	else
		r = ts_folder_check(server->directory);
	if (!r && access(server->directory, W_OK | X_OK) < 0)
		r = -errno;
	if (r)
		ts_log(TS_LOG_ERROR,
		       "cannot write traces to %s: %s%s; name another directory with --directory",
		       server->directory, strerror(-r),
		       r == -EPERM ? " (it belongs to another user, or other users can write to it)"
				   : "");
	else
		resolve_shares(server);
	return r;
}

/* Takes the listening sockets of systemd (sd_listen_fds(3)), which differ by type. */
static int take_activation(struct ts_server_options *server)
{
	int n = sd_listen_fds(1);

	for (int fd = SD_LISTEN_FDS_START; fd < SD_LISTEN_FDS_START + n; fd++) {
		if (sd_is_socket_unix(fd, SOCK_SEQPACKET, 1, NULL, 0) > 0 && server->inject_fd < 0)
			server->inject_fd = fd;
		else if (sd_is_socket_unix(fd, SOCK_STREAM, 1, NULL, 0) > 0 &&
			 server->control_fd < 0)
			server->control_fd = fd;
		else
			return usage_error("systemd passed an unexpected socket", NULL);
	}
	return 0;
}

/* Lists the options of the table, then those of the limits. */
static void list_options(struct option *ret_options)
{
	for (size_t i = 0; i < N_OPTIONS; i++)
		*ret_options++ = (struct option){option_table[i].name,
						 !option_table[i].value	       ? no_argument
						 : option_table[i].is_optional ? optional_argument
									       : required_argument,
						 NULL, (int)option_table[i].key};
	for (size_t i = 0; i < TS_LIMITS_N; i++)
		*ret_options++ = (struct option){ts_limits_name(i), required_argument, NULL,
						 OPTION_LIMITS + (int)i};
	*ret_options = (struct option){0};
}

/*
 * Returns freed memory of sessions to the system at once. By default the allocator raises its
 * mmap() threshold to the largest freed buffer, and keeps smaller ones per thread.
 */
static void configure_allocator(void)
{
	mallopt(M_MMAP_THRESHOLD, ALLOCATOR_MAP_BYTES);
	mallopt(M_TRIM_THRESHOLD, ALLOCATOR_MAP_BYTES);
	mallopt(M_ARENA_MAX, ALLOCATOR_ARENAS);
}

int main(int argc, char **argv)
{
	struct arguments arguments = {
		.server =
			{
				.mode = TS_SERVER_SERVICE,
				.command = TS_COMMAND_RECORD | TS_COMMAND_STACKS,
				.seal_age_ms = TS_SESSION_SEAL_AGE_MS,
				.inject_fd = -1,
				.control_fd = -1,
				.directory = DIRECTORY_DEFAULT,
			},
		.symbolize = {.trace_fd = -1, .report_fd = -1},
		.log = TS_LOG_INFO,
	};
	struct option options[N_OPTIONS + TS_LIMITS_N + 1];
	int key, r;

	configure_allocator();
	if (argc > 1 && !strcmp(argv[1], TS_PROBER_ARGUMENT))
		return ts_prober_main(argc, argv);
	if (argc > 1 && !strcmp(argv[1], TS_INSPECTOR_ARGUMENT))
		return ts_inspector_main();
	if (argc > 1 && !strcmp(argv[1], TS_SAMPLER_ARGUMENT))
		return ts_sampler_main(argc, argv);
	list_options(options);
	ts_limits_init(&arguments.server.limits);
	while ((key = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		r = parse_symbols(&arguments, key, optarg);
		if (r == E_NOT_MINE)
			r = parse_option(&arguments, key, optarg);
		if (r)
			return EXIT_USAGE;
		if (arguments.exit)
			return 0;
	}
	if (optind < argc) {
		usage_error("unexpected argument", argv[optind]);
		return EXIT_USAGE;
	}
	if (arguments.only_symbolize) {
		if (arguments.symbolize.trace_fd < 0 || arguments.symbolize.report_fd < 0) {
			usage_error("--symbolize needs --trace-fd and --report-fd", NULL);
			return EXIT_USAGE;
		}
		ts_log_setup(arguments.log_set ? arguments.log : TS_LOG_NONE);
		return ts_symbolize_command(&arguments.symbolize);
	}
	if (arguments.only_check_kernel) {
		ts_log_setup(arguments.log_set ? arguments.log : TS_LOG_NONE);
		return check_kernel();
	}
	if (check_arguments(&arguments))
		return EXIT_USAGE;
	if (!arguments.log_set && arguments.server.mode != TS_SERVER_SERVICE)
		arguments.log =
			arguments.server.mode == TS_SERVER_PRIVATE ? TS_LOG_NONE : TS_LOG_ERROR;
	ts_log_setup(arguments.log);
	if (!ts_places_has_proc()) {
		ts_log(TS_LOG_ERROR,
		       "tracesmithd needs /proc, which is not mounted here: `mount -t "
		       "proc proc /proc`");
		return EXIT_USAGE;
	}
	if (arguments.server.mode == TS_SERVER_SERVICE &&
	    (prepare_directory(&arguments.server) || take_activation(&arguments.server)))
		return EXIT_USAGE;
	r = ts_server_run(&arguments.server);
	if (r < 0) {
		ts_log(TS_LOG_ERROR, "the daemon ends because of an error: %s", strerror(-r));
		return 1;
	}
	return r;
}
