/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests settings: sizes, output names, jobs and ranks, the environment of a private daemon, and the
 * settings that a privileged program obeys.
 */
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

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
	/*
	 * A default name replaces unusual characters of a program's name; a name that the user gave
	 * stays as it is.
	 */
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

/* Sets the variables "NAME=VALUE" alone, and reads the job. */
static struct ts_job job_of(const char *const *variables)
{
	struct ts_job job;

	clearenv();
	for (; *variables; variables++)
		ts_check_int(putenv((char *)(uintptr_t)*variables), 0);
	ts_job_read(&job);
	return job;
}

#define JOB_OF(...) job_of((const char *const[]){__VA_ARGS__, NULL})

TS_TEST(jobs_and_ranks)
{
	struct ts_job job = JOB_OF("HOME=/");

	ts_check(!*job.id && !job.flags && !job.rank && !job.n_ranks && !job.local_rank);
	job = JOB_OF("SLURM_JOB_ID=4711", "SLURM_PROCID=3", "SLURM_NTASKS=8", "SLURM_LOCALID=1");
	ts_check_str(job.id, "4711");
	ts_check_int(job.flags, TS_JOB_RANK | TS_JOB_LOCAL_RANK);
	ts_check(job.rank == 3 && job.n_ranks == 8 && job.local_rank == 1);
	/* Workers of torchrun inside a task of Slurm; one launcher's variables belong together. */
	job = JOB_OF("SLURM_JOB_ID=4711", "SLURM_PROCID=1", "SLURM_NTASKS=2", "SLURM_LOCALID=0",
		     "RANK=11", "WORLD_SIZE=16");
	ts_check_int(job.flags, TS_JOB_RANK);
	ts_check(job.rank == 11 && job.n_ranks == 16 && job.local_rank == 0);
	job = JOB_OF("SLURM_PROCID=0", "OMPI_COMM_WORLD_RANK=5", "OMPI_COMM_WORLD_SIZE=6",
		     "OMPI_COMM_WORLD_LOCAL_RANK=2");
	ts_check(job.rank == 5 && job.n_ranks == 6 && job.local_rank == 2 && !*job.id);
	job = JOB_OF("PMI_RANK=0", "PMI_SIZE=2");
	ts_check(job.flags == TS_JOB_RANK && job.rank == 0 && job.n_ranks == 2);
	/* Malformed ones count as missing. */
	job = JOB_OF("RANK=", "PMI_RANK=-1", "OMPI_COMM_WORLD_RANK=4294967295", "SLURM_PROCID=2x",
		     "SLURM_JOB_ID=");
	ts_check(!job.flags && !job.rank && !*job.id);
	job = JOB_OF(
		"RANK=1", "WORLD_SIZE=many", "LOCAL_RANK=99999999999999999999",
		"SLURM_JOB_ID=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
	ts_check(job.flags == TS_JOB_RANK && job.rank == 1 && !job.n_ranks && !*job.id);
}

static bool daemon_has(const struct ts_config *config, const char *name)
{
	char *const *variable;

	for (variable = config->daemon_environment; *variable; variable++)
		if (!strncmp(*variable, name, strlen(name)) && (*variable)[strlen(name)] == '=')
			return true;
	return false;
}

static uint32_t timed_of(const char *text)
{
	struct ts_config *config = calloc(1, sizeof(*config));
	uint32_t n;

	if (text)
		setenv("TRACESMITH_TIMED_LAUNCHES", text, 1);
	ts_config_read(config, "/none/libtsinject.so", 0);
	n = config->timed_per_second;
	free(config);
	return n;
}

/* A malformed number counts as missing. */
TS_TEST(number_of_timed_launches)
{
	unsetenv("TRACESMITH_TIMED_LAUNCHES");
	ts_check_int(timed_of(NULL), TS_CONFIG_TIMED);
	ts_check_int(timed_of("0"), 0);
	ts_check_int(timed_of("1000000"), TS_CONFIG_TIMED_MAX);
	ts_check_int(timed_of("1000001"), TS_CONFIG_TIMED);
	ts_check_int(timed_of("99999999999999999999"), TS_CONFIG_TIMED);
	ts_check_int(timed_of("-1"), TS_CONFIG_TIMED);
	ts_check_int(timed_of("5x"), TS_CONFIG_TIMED);
	ts_check_int(timed_of(""), TS_CONFIG_TIMED);
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
	ts_config_read(config, "/nowhere/libtsinject.so", 0);
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
	ts_config_read(config, "/nowhere/libtsinject.so", 0);
	ts_check_int(config->ring_bytes, TS_RING_BYTES_DEFAULT);
	ts_check(config->stacks);
	ts_check(!config->lossless);
	ts_check(!config->start_later);
	ts_check_str(config->daemon, "");
	ts_check(!config->socket_given);
	free(config);
}

/* Runs the checks. Called in the copy of this program that runs with another user's rights. */
static void check_privileged_settings(void)
{
	static struct ts_config config;

	ts_check(getauxval(AT_SECURE));
	ts_config_read(&config, "/nowhere/libtsinject.so", 0);
	ts_check(!config.debug);
	ts_check(!config.socket_given);
	ts_check_str(config.socket, TS_INJECT_SOCKET);
	ts_check_str(config.cupti, "");
	ts_check_str(config.cuda_home, "");
	ts_check_str(config.daemon, "");
	ts_check(!config.daemon_environment[0]);
	ts_check(!strstr(config.output, "victim"));
}

/* Makes a copy of this program that belongs to another user and runs with that user's rights. */
static void make_privileged_copy(char *ret_path)
{
	char bytes[65536];
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to;
	ssize_t n;

	to = mkostemp(ret_path, O_CLOEXEC);
	ts_check(from >= 0 && to >= 0);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		ts_check_int(write(to, bytes, (size_t)n), n);
	ts_check_int(fchown(to, 65534, 65534), 0);
	ts_check_int(fchmod(to, 04755), 0);
	close(to);
	close(from);
}

TS_TEST(privileged_program_obeys_no_variable)
{
	char path[] = "/tmp/ts-test-config-XXXXXX";
	struct statvfs place;
	int status;
	pid_t pid;

	if (getenv("TS_TEST_PRIVILEGED")) {
		check_privileged_settings();
		return;
	}
#ifdef __SANITIZE_ADDRESS__
	ts_skip("LeakSanitizer cannot look at a privileged process, nor be asked not to");
#endif
	ts_skip_emulated("second user in its namespace");
	if (geteuid())
		ts_skip("only root can make a program of another user's");
	ts_check_int(statvfs("/tmp", &place), 0);
	if (place.f_flag & ST_NOSUID)
		ts_skip("/tmp is mounted nosuid");
	make_privileged_copy(path);
	setenv("TS_TEST_PRIVILEGED", "1", 1);
	setenv("TRACESMITH_DEBUG", "1", 1);
	setenv("TRACESMITH_SOCKET", "/tmp/evil.sock", 1);
	setenv("TRACESMITH_DAEMON", "/bin/true", 1);
	setenv("TRACESMITH_OUTPUT", "/tmp/victim", 1);
	setenv("TRACESMITH_CUPTI", "/tmp/evil.so", 1);
	setenv("CUDA_HOME", "/tmp/evil", 1);
	pid = fork();
	ts_check(pid >= 0);
	if (!pid) {
		execl(path, path, "privileged_program_obeys_no_variable", NULL);
		_exit(127);
	}
	ts_check_int(waitpid(pid, &status, 0), pid);
	unlink(path);
	ts_check_int(status, 0);
}
