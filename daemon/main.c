/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracesmithd: takes records out of the memory of processes that have libtsinject.so and writes
 * them as traces. Options in, a server run, an exit status out.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include "daemon/serve/server.h"
#include "daemon/util/log.h"
#include "proto/abi/handshake.h"
#include "proto/client/client.h"

#define DIRECTORY_DEFAULT "/var/lib/tracesmith"
#define EXIT_USAGE	  2
#define LIMIT_UNSET	  UINT64_MAX
/* Of each file of a service, and of its disk. */
#define SERVICE_MAX_FILE_BYTES (UINT64_C(64) << 30)
#define SERVICE_KEEP_FREE      (UINT64_C(256) << 20)

static const char help_text[] =
	"Usage: tracesmithd [--directory DIR] [OPTION ...]\n"
	"       tracesmithd --record --control-fd N --inject-socket PATH --output FILE ...\n"
	"       tracesmithd --private --session-fd N --output FILE ...\n"
	"\n"
	"Records the GPU work of processes that preload libtsinject.so. Without --record (which\n"
	"`tsctl record` uses) or --private (which libtsinject.so uses) it is a service and\n"
	"writes one file for each process.\n"
	"\n"
	"      --directory DIR          service: where traces go (" DIRECTORY_DEFAULT ")\n"
	"      --inject-socket PATH     where processes report (" TS_INJECT_SOCKET ")\n"
	"      --control-socket PATH    where tsctl asks (" TS_CONTROL_SOCKET ")\n"
	"      --output FILE            --record, --private: the trace\n"
	"      --program NAME, --pid P  whom it is about, for the trace's metadata\n"
	"      --metadata KEY=VALUE     --record: a further fact for the metadata\n"
	"      --stacks native|none     host call stacks (native)\n"
	"      --lossless               processes wait for space, with a bound\n"
	"      --seal-age MS            rows are written at the latest after this long (500)\n"
	"      --max-sessions N         processes at once (512)\n"
	"      --max-sessions-user N    service: processes of one user at once (128)\n"
	"      --max-session-bytes N    shared memory of one process (8589934592)\n"
	"      --max-file-bytes N       a file ends there (service: 68719476736, else no limit)\n"
	"      --keep-free N            bytes of the disk left free (service: 268435456, else 0)\n"
	"      --log LEVEL              none, error, warning, info, debug\n"
	"      --help, --version\n"
	"\n"
	"Example: tracesmithd --directory /var/tmp --inject-socket /tmp/i --control-socket /tmp/c\n";

enum option_key {
	OPTION_RECORD = 256,
	OPTION_PRIVATE,
	OPTION_DIRECTORY,
	OPTION_INJECT_SOCKET,
	OPTION_CONTROL_SOCKET,
	OPTION_SESSION_FD,
	OPTION_CONTROL_FD,
	OPTION_OUTPUT,
	OPTION_PROGRAM,
	OPTION_PID,
	OPTION_METADATA,
	OPTION_STACKS,
	OPTION_LOSSLESS,
	OPTION_SEAL_AGE,
	OPTION_MAX_SESSIONS,
	OPTION_MAX_SESSIONS_USER,
	OPTION_MAX_SESSION_BYTES,
	OPTION_MAX_FILE_BYTES,
	OPTION_KEEP_FREE,
	OPTION_LOG,
	OPTION_HELP,
	OPTION_VERSION,
};

static const struct option long_options[] = {
	{"record", no_argument, NULL, OPTION_RECORD},
	{"private", no_argument, NULL, OPTION_PRIVATE},
	{"directory", required_argument, NULL, OPTION_DIRECTORY},
	{"inject-socket", required_argument, NULL, OPTION_INJECT_SOCKET},
	{"control-socket", required_argument, NULL, OPTION_CONTROL_SOCKET},
	{"session-fd", required_argument, NULL, OPTION_SESSION_FD},
	{"control-fd", required_argument, NULL, OPTION_CONTROL_FD},
	{"output", required_argument, NULL, OPTION_OUTPUT},
	{"program", required_argument, NULL, OPTION_PROGRAM},
	{"pid", required_argument, NULL, OPTION_PID},
	{"metadata", required_argument, NULL, OPTION_METADATA},
	{"stacks", required_argument, NULL, OPTION_STACKS},
	{"lossless", no_argument, NULL, OPTION_LOSSLESS},
	{"seal-age", required_argument, NULL, OPTION_SEAL_AGE},
	{"max-sessions", required_argument, NULL, OPTION_MAX_SESSIONS},
	{"max-sessions-user", required_argument, NULL, OPTION_MAX_SESSIONS_USER},
	{"max-session-bytes", required_argument, NULL, OPTION_MAX_SESSION_BYTES},
	{"max-file-bytes", required_argument, NULL, OPTION_MAX_FILE_BYTES},
	{"keep-free", required_argument, NULL, OPTION_KEEP_FREE},
	{"log", required_argument, NULL, OPTION_LOG},
	{"help", no_argument, NULL, OPTION_HELP},
	{"version", no_argument, NULL, OPTION_VERSION},
	{NULL, 0, NULL, 0},
};

static int usage_error(const char *what, const char *value)
{
	fprintf(stderr, "tracesmithd: %s%s%s; see tracesmithd --help\n", what, value ? ": " : "",
		value ? value : "");
	return -EINVAL;
}

static int parse_number(const char *option, const char *text, uint64_t most, uint64_t *ret_number)
{
	char *end;
	uint64_t number;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || number > most) {
		fprintf(stderr,
			"tracesmithd: %s takes a number up to %" PRIu64 ", not '%s'; see "
			"tracesmithd --help\n",
			option, most, text);
		return -EINVAL;
	}
	*ret_number = number;
	return 0;
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
		return usage_error("--stacks is native or none, not", text);
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

static int parse_metadata(struct ts_server_options *server, const char *text)
{
	if (!strchr(text, '=') || *text == '=')
		return usage_error("--metadata takes KEY=VALUE, not", text);
	if (server->n_metadata == TS_SERVER_MAX_METADATA)
		return usage_error("too many of --metadata", NULL);
	server->metadata[server->n_metadata++] = text;
	return 0;
}

static int parse_option(struct arguments *arguments, int key, const char *value)
{
	struct ts_server_options *server = &arguments->server;
	uint64_t number = 0;
	int r;

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
	case OPTION_STACKS:
		return parse_stacks(value, &server->command);
	case OPTION_LOSSLESS:
		server->command |= TS_COMMAND_LOSSLESS;
		return 0;
	case OPTION_SEAL_AGE:
		r = parse_number("--seal-age", value, 60000, &number);
		server->seal_age_ms = (uint32_t)number;
		return r;
	case OPTION_MAX_SESSIONS:
		r = parse_number("--max-sessions", value, 65536, &number);
		server->limits.max_sessions = (uint32_t)number;
		return r;
	case OPTION_MAX_SESSIONS_USER:
		r = parse_number("--max-sessions-user", value, 65536, &number);
		server->limits.max_sessions_user = (uint32_t)number;
		return r;
	case OPTION_MAX_SESSION_BYTES:
		return parse_number("--max-session-bytes", value, TS_SESSION_MAX_BYTES,
				    &server->limits.max_session_bytes);
	case OPTION_MAX_FILE_BYTES:
		return parse_number("--max-file-bytes", value, INT64_MAX,
				    &server->limits.max_file_bytes);
	case OPTION_KEEP_FREE:
		return parse_number("--keep-free", value, INT64_MAX, &server->limits.keep_free);
	case OPTION_LOG:
		arguments->log_set = true;
		return parse_log(value, &arguments->log);
	case OPTION_HELP:
		fputs(help_text, stdout);
		arguments->exit = true;
		return 0;
	case OPTION_VERSION:
		printf("tracesmithd %s (session ABI %u.%u)\n", TS_VERSION, TS_ABI_MAJOR,
		       TS_ABI_MINOR);
		arguments->exit = true;
		return 0;
	default:
		/* getopt_long() has said what is wrong. */
		return -EINVAL;
	}
}

/* What the mode needs. */
static int check_arguments(struct arguments *arguments)
{
	struct ts_server_options *server = &arguments->server;

	if (server->mode != TS_SERVER_SERVICE) {
		/* The file is the user's own, and so is the disk. */
		if (server->limits.max_file_bytes == LIMIT_UNSET)
			server->limits.max_file_bytes = 0;
		if (server->limits.keep_free == LIMIT_UNSET)
			server->limits.keep_free = 0;
	}

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
		if (server->limits.max_file_bytes == LIMIT_UNSET)
			server->limits.max_file_bytes = SERVICE_MAX_FILE_BYTES;
		if (server->limits.keep_free == LIMIT_UNSET)
			server->limits.keep_free = SERVICE_KEEP_FREE;
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

/* Sockets that systemd listens at already (sd_listen_fds(3)), told apart by their type. */
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
			return usage_error("systemd passed a socket that is not expected", NULL);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct arguments arguments = {
		.server =
			{
				.mode = TS_SERVER_SERVICE,
				.limits = TS_SERVER_LIMITS_DEFAULT,
				.command = TS_COMMAND_RECORD | TS_COMMAND_STACKS,
				.seal_age_ms = TS_SESSION_SEAL_AGE_MS,
				.inject_fd = -1,
				.control_fd = -1,
				.directory = DIRECTORY_DEFAULT,
			},
		.log = TS_LOG_INFO,
	};
	int key, r;

	arguments.server.limits.max_file_bytes = LIMIT_UNSET;
	arguments.server.limits.keep_free = LIMIT_UNSET;
	while ((key = getopt_long(argc, argv, "", long_options, NULL)) >= 0) {
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
	if (check_arguments(&arguments))
		return EXIT_USAGE;
	if (!arguments.log_set && arguments.server.mode != TS_SERVER_SERVICE)
		arguments.log =
			arguments.server.mode == TS_SERVER_PRIVATE ? TS_LOG_NONE : TS_LOG_ERROR;
	ts_log_setup(arguments.log);
	if (arguments.server.mode == TS_SERVER_SERVICE && take_activation(&arguments.server))
		return EXIT_USAGE;
	r = ts_server_run(&arguments.server);
	if (r < 0) {
		ts_log(TS_LOG_ERROR, "cannot go on: %s", strerror(-r));
		return 1;
	}
	return r;
}
