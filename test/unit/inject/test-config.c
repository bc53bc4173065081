/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings: sizes, output names, what a private daemon inherits.
 */
#include "inject/config.h"
#include "test/unit/harness.h"

static uint64_t size_of(const char *text)
{
	uint64_t bytes = 12345;

	ts_check_int(ts_config_parse_size(text, &bytes), 0);
	return bytes;
}

TS_TEST(sizes)
{
	uint64_t untouched = 7;

	ts_check_int(size_of("65536"), 65536);
	ts_check_int(size_of("512K"), 512 * 1024);
	ts_check_int(size_of("4m"), 4 * 1024 * 1024);
	ts_check_int(size_of("1G"), 1024 * 1024 * 1024);
	ts_check_int(ts_config_parse_size("", &untouched), -EINVAL);
	ts_check_int(ts_config_parse_size("-1", &untouched), -EINVAL);
	ts_check_int(ts_config_parse_size("4MB", &untouched), -EINVAL);
	ts_check_int(ts_config_parse_size("x", &untouched), -EINVAL);
	ts_check_int(ts_config_parse_size("99999999999999999999", &untouched), -EINVAL);
	ts_check_int(ts_config_parse_size("99999999999999999M", &untouched), -EINVAL);
	ts_check_int(untouched, 7);
}

static const char *output_of(const char *pattern)
{
	static char path[64];

	ts_check_int(ts_config_output(pattern, "train", 42, path, sizeof(path)), 0);
	return path;
}

TS_TEST(output_names)
{
	char small[8], path[64];

	ts_check_str(output_of(NULL), "tracesmith-train-42.sbt");
	ts_check_str(output_of(""), "tracesmith-train-42.sbt");
	ts_check_str(output_of("x.sbt"), "x.sbt");
	ts_check_str(output_of("d/%p-%p.sbt"), "d/42-42.sbt");
	ts_check_str(output_of("100%%.sbt"), "100%.sbt");
	ts_check_str(output_of("50%"), "50%");
	/* A default name keeps little of a program's; what was asked for is kept as it is. */
	ts_check_int(ts_config_output(NULL, "my app\xc3\xbc", 42, path, sizeof(path)), 0);
	ts_check_str(path, "tracesmith-my_app__-42.sbt");
	ts_check_int(ts_config_output("my app.sbt", "train", 42, path, sizeof(path)), 0);
	ts_check_str(path, "my app.sbt");
	ts_check_int(ts_config_output("12345678", "train", 42, small, sizeof(small)),
		     -ENAMETOOLONG);
	ts_check_int(ts_config_output("12345%p", "train", 424242, small, sizeof(small)),
		     -ENAMETOOLONG);
}

TS_TEST(debugging_is_asked_for)
{
	unsetenv("TRACESMITH_DEBUG");
	ts_check(!ts_config_debug());
	setenv("TRACESMITH_DEBUG", "", 1);
	ts_check(!ts_config_debug());
	setenv("TRACESMITH_DEBUG", "0", 1);
	ts_check(!ts_config_debug());
	setenv("TRACESMITH_DEBUG", "1", 1);
	ts_check(ts_config_debug());
	setenv("TRACESMITH_DEBUG", "yes", 1);
	ts_check(ts_config_debug());
}

static bool daemon_has(const struct ts_config *config, const char *name)
{
	char *const *variable;

	for (variable = config->daemon_environment; *variable; variable++)
		if (!strncmp(*variable, name, strlen(name)) && (*variable)[strlen(name)] == '=')
			return true;
	return false;
}

TS_TEST(what_a_daemon_inherits)
{
	struct ts_config *config = calloc(1, sizeof(*config));

	clearenv();
	setenv("PATH", "/bin", 1);
	setenv("LD_PRELOAD", "/lib/x.so", 1);
	setenv("LD_LIBRARY_PATH", "/lib", 1);
	setenv("SECRET", "1", 1);
	setenv("PATHOLOGY", "1", 1);
	setenv("TRACESMITH_OUTPUT", "o-%p.sbt", 1);
	setenv("TRACESMITH_STACKS", "none", 1);
	setenv("TRACESMITH_LOSSLESS", "1", 1);
	setenv("TRACESMITH_START_LATER", "1", 1);
	setenv("TRACESMITH_RING_SIZE", "1000000", 1);
	setenv("TRACESMITH_DAEMON", "/bin/sh", 1);
	ts_config_read(config, "/nowhere/libtsinject.so");
	ts_check(daemon_has(config, "PATH") && daemon_has(config, "TRACESMITH_OUTPUT"));
	ts_check(!daemon_has(config, "LD_PRELOAD") && !daemon_has(config, "LD_LIBRARY_PATH"));
	ts_check(!daemon_has(config, "SECRET") && !daemon_has(config, "PATHOLOGY"));
	ts_check(!config->stacks);
	ts_check(config->lossless);
	ts_check(config->start_later);
	ts_check_int(config->ring_bytes, 1024 * 1024);
	ts_check_str(config->daemon, "/bin/sh");
	ts_check_str(config->daemon_argv[0], "/bin/sh");
	ts_check(!config->socket_given);
	ts_check_str(config->socket, TS_INJECT_SOCKET);
	ts_check(strstr(config->output, "o-") && !strchr(config->output, '%'));
	free(config);
}

TS_TEST(malformed_settings_are_as_if_not_given)
{
	struct ts_config *config = calloc(1, sizeof(*config));

	clearenv();
	setenv("TRACESMITH_RING_SIZE", "much", 1);
	setenv("TRACESMITH_STACKS", "", 1);
	setenv("TRACESMITH_LOSSLESS", "yes", 1);
	setenv("TRACESMITH_START_LATER", "no", 1);
	setenv("TRACESMITH_DAEMON", "/nowhere/tracesmithd", 1);
	setenv(TS_SOCKET_ENVIRONMENT, "", 1);
	ts_config_read(config, "/nowhere/libtsinject.so");
	ts_check_int(config->ring_bytes, TS_RING_BYTES_DEFAULT);
	ts_check(config->stacks);
	ts_check(!config->lossless);
	ts_check(!config->start_later);
	ts_check_str(config->daemon, "");
	ts_check(!config->socket_given);
	free(config);
}
