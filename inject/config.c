/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the shim's settings. shim.c calls this file, once, on the application's own thread. Reading
 * the environment elsewhere would race with an application that changes it. A malformed setting
 * counts as missing, and is named under TRACESMITH_DEBUG: the application must run on, and the shim
 * prints nowhere else.
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/auxv.h>

#include "inject/config.h"
#include "inject/process/at-load.h"
#include "inject/shim-debug.h"

/* Relative to the directory of libtsinject.so. The second entry is for a build tree. */
static const char *const daemon_places[] = {TS_DAEMON_RELATIVE_PATH, "../daemon/tracesmithd"};

/*
 * Variables that a private daemon inherits. LD_PRELOAD is never inherited. Variables that the user
 * set for the application are not inherited either.
 */
static const char *const daemon_variables[] = {"PATH", "TMPDIR", "TZ", "LANG", "XDG_RUNTIME_DIR"};
static const char own_prefix[] = "TRACESMITH_";

int ts_config_parse_size(const char *text, uint64_t *ret_bytes)
{
	uint64_t bytes, unit = 1;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	bytes = strtoull(text, &end, 10);
	if (errno)
		return -EINVAL;
	if (*end == 'K' || *end == 'k')
		unit = 1024;
	else if (*end == 'M' || *end == 'm')
		unit = 1024 * 1024;
	else if (*end == 'G' || *end == 'g')
		unit = 1024 * 1024 * 1024;
	end += unit > 1;
	if (*end || bytes > UINT64_MAX / unit)
		return -EINVAL;
	*ret_bytes = bytes * unit;
	return 0;
}

void ts_config_program(char *ret_program, size_t n_bytes)
{
	char path[PATH_MAX];
	const char *name;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = '\0';
	name = strrchr(path, '/');
	snprintf(ret_program, n_bytes, "%.*s", (int)n_bytes - 1, name ? name + 1 : path);
}

int ts_config_output(const char *pattern, const char *program, int pid, char *ret_path,
		     size_t n_bytes)
{
	size_t used = 0;
	int n;

	if (!pattern || !*pattern) {
		n = snprintf(ret_path, n_bytes, "tracesmith-%s-%d.sbt", program, pid);
		if (n < 0 || (size_t)n >= n_bytes)
			return -ENAMETOOLONG;
		ts_output_clean(ret_path);
		return 0;
	}
	for (; *pattern; pattern++) {
		if (pattern[0] == '%' && pattern[1] == 'p') {
			n = snprintf(ret_path + used, n_bytes - used, "%d", pid);
			pattern++;
		} else {
			/* %% means one %. */
			if (pattern[0] == '%' && pattern[1] == '%')
				pattern++;
			n = snprintf(ret_path + used, n_bytes - used, "%c", *pattern);
		}
		if (n < 0 || (size_t)n >= n_bytes - used)
			return -ENAMETOOLONG;
		used += (size_t)n;
	}
	return 0;
}

static void find_daemon(struct ts_config *config, const char *library)
{
	const char *given = secure_getenv("TRACESMITH_DAEMON");
	const char *slash = strrchr(library, '/');
	int directory = slash ? (int)(slash - library) : 0;
	size_t i;
	int n;

	if (config->socket_given)
		return;
	if (config->sandbox == TS_SANDBOX_OWN) {
		ts_debug(config, "the program installed a seccomp filter, so no private daemon is "
				 "started; use `tsctl record` or the service");
		return;
	}
	/*
	 * A private daemon would write a file with the rights of the privileged program, at a path
	 * that the user who starts the program chooses.
	 */
	if (ts_config_is_privileged()) {
		ts_debug(config, "a privileged program starts no private daemon; use the service");
		return;
	}
	if (given && *given) {
		n = snprintf(config->daemon, sizeof(config->daemon), "%s", given);
		if (n >= (int)sizeof(config->daemon) || access(config->daemon, X_OK)) {
			ts_debug(config, "TRACESMITH_DAEMON=%s is not an executable file", given);
			config->daemon[0] = '\0';
		}
		return;
	}
	for (i = 0; i < TS_ARRAY_LEN(daemon_places); i++) {
		n = snprintf(config->daemon, sizeof(config->daemon), "%.*s/%s", directory, library,
			     daemon_places[i]);
		if (slash && n < (int)sizeof(config->daemon) && !access(config->daemon, X_OK))
			return;
	}
	config->daemon[0] = '\0';
}

static bool is_for_daemon(const char *variable)
{
	size_t i;

	if (!strncmp(variable, own_prefix, sizeof(own_prefix) - 1))
		return true;
	for (i = 0; i < TS_ARRAY_LEN(daemon_variables); i++) {
		size_t n = strlen(daemon_variables[i]);

		if (!strncmp(variable, daemon_variables[i], n) && variable[n] == '=')
			return true;
	}
	return false;
}

static void plan_daemon(struct ts_config *config)
{
	const char *const argv[] = {config->daemon,
				    "--private",
				    "--session-fd",
				    "3",
				    "--output",
				    config->output,
				    "--program",
				    config->program,
				    "--pid",
				    config->pid,
				    config->debug ? "--log" : NULL,
				    "debug",
				    NULL};
	size_t n = 0, used = 0;
	char **variable;

	TS_STATIC_ASSERT(sizeof(argv) <= sizeof(config->daemon_argv), "argv has its place");
	memcpy(config->daemon_argv, argv, sizeof(argv));
	/* A privileged program starts no private daemon, so it needs no settings for one. */
	variable = ts_config_is_privileged() ? NULL : environ;
	for (; variable && *variable; variable++) {
		size_t n_bytes = strlen(*variable) + 1;

		if (n == TS_CONFIG_MAX_DAEMON_VARIABLES || !is_for_daemon(*variable) ||
		    n_bytes > sizeof(config->daemon_environment_text) - used)
			continue;
		config->daemon_environment[n] = config->daemon_environment_text + used;
		memcpy(config->daemon_environment[n++], *variable, n_bytes);
		used += n_bytes;
	}
}

TS_CALLED_AT_LOAD bool ts_config_is_privileged(void)
{
	return getauxval(AT_SECURE) != 0;
}

TS_CALLED_AT_LOAD bool ts_config_debug(void)
{
	const char *text = secure_getenv(TS_TEXT_AT_LOAD("TRACESMITH_DEBUG"));

	return text && *text && strcmp(text, "0");
}

static void read_stacks(struct ts_config *config)
{
	const char *text = secure_getenv("TRACESMITH_STACKS");

	config->stacks = !(text && !strcmp(text, "none"));
	config->python_stacks = config->stacks && !(text && !strcmp(text, "native"));
	if (text && *text && config->python_stacks && strcmp(text, "python"))
		ts_debug(
			config,
			"TRACESMITH_STACKS=%s is not python, native or none; the library uses python",
			text);
	text = secure_getenv("TRACESMITH_STACKS_CHECK");
	config->check_stacks = text && !strcmp(text, "1");
}

static void read_ring_size(struct ts_config *config)
{
	const char *text = secure_getenv("TRACESMITH_RING_SIZE");
	uint64_t bytes;

	config->ring_bytes = TS_RING_BYTES_DEFAULT;
	if (!text || !*text)
		return;
	if (ts_config_parse_size(text, &bytes)) {
		ts_debug(
			config,
			"TRACESMITH_RING_SIZE=%s is not a number of bytes, like 1M; the library uses the default",
			text);
		return;
	}
	config->ring_bytes = TS_RING_MIN_BYTES;
	while (config->ring_bytes < bytes && config->ring_bytes < TS_RING_MAX_BYTES)
		config->ring_bytes *= 2;
	if (config->ring_bytes != bytes)
		ts_debug(config, "TRACESMITH_RING_SIZE=%s: the library uses %" PRIu64 " bytes",
			 text, config->ring_bytes);
}

static void read_timed(struct ts_config *config)
{
	const char *text = secure_getenv(TS_TIMED_ENVIRONMENT);
	char *end;
	unsigned long n;

	config->timed_per_second = TS_CONFIG_TIMED;
	if (!text || !*text)
		return;
	n = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || n > TS_CONFIG_TIMED_MAX)
		ts_debug(config,
			 TS_TIMED_ENVIRONMENT
			 "=%s is not a number from 0 to %u; the library uses %u",
			 text, TS_CONFIG_TIMED_MAX, TS_CONFIG_TIMED);
	else
		config->timed_per_second = (uint32_t)n;
}

static bool read_switch(const struct ts_config *config, const char *name)
{
	const char *text = secure_getenv(name);
	bool on = text && !strcmp(text, "1");

	if (text && *text && !on && strcmp(text, "0"))
		ts_debug(config, "%s=%s is not 1 or 0; the library uses 0", name, text);
	return on;
}

static void read_capture(struct ts_config *config)
{
	const char *text = secure_getenv(TS_CAPTURE_ENVIRONMENT);

	if (text && *text && ts_capture_config_parse(text, TS_CAPTURE_BYTES, &config->capture))
		ts_debug(
			config,
			TS_CAPTURE_ENVIRONMENT
			"=%s is not timing, replay[:SIZE] or window[:SIZE][,PART ...]; the library uses timing",
			text);
}

void ts_config_read(struct ts_config *config, const char *library, int filters)
{
	const char *text;

	memset(config, 0, sizeof(*config));
	snprintf(config->pid, sizeof(config->pid), "%d", (int)getpid());
	config->debug = ts_config_debug();
	config->sandbox = ts_sandbox_find(filters);
	read_stacks(config);
	read_ring_size(config);
	read_capture(config);
	read_timed(config);
	config->lossless = read_switch(config, TS_LOSSLESS_ENVIRONMENT);
	config->start_later = read_switch(config, TS_LATER_ENVIRONMENT);
	text = secure_getenv(TS_SOCKET_ENVIRONMENT);
	config->socket_given = text && *text;
	snprintf(config->socket, sizeof(config->socket), "%s",
		 config->socket_given ? text : TS_INJECT_SOCKET);
	text = secure_getenv("TRACESMITH_CUPTI");
	snprintf(config->cupti, sizeof(config->cupti), "%s", text ? text : "");
	text = secure_getenv("CUDA_HOME");
	if (!text || !*text)
		text = secure_getenv("CUDA_PATH");
	snprintf(config->cuda_home, sizeof(config->cuda_home), "%s", text ? text : "");
	ts_config_program(config->program, sizeof(config->program));
	ts_job_read(&config->job);
	text = secure_getenv(TS_OUTPUT_ENVIRONMENT);
	config->output_given = text && *text;
	if (ts_config_output(text, config->program, (int)getpid(), config->output,
			     sizeof(config->output))) {
		ts_debug(config,
			 TS_OUTPUT_ENVIRONMENT " is too long; the library uses the default");
		(void)ts_config_output(NULL, config->program, (int)getpid(), config->output,
				       sizeof(config->output));
	}
	find_daemon(config, library);
	plan_daemon(config);
}
