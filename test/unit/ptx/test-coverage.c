// SPDX-License-Identifier: Apache-2.0
/*
 * Runs the engine's tests, named as arguments. It fails if a decoded instruction, or a function of
 * the executor's table, occurs in none of them. Every addition needs a test of its result.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "replay/vgpu/ptx/decode/decode.h"

static bool covered[F_N][TY_N];
static char *names; /* one per line, each between newlines */
static size_t names_bytes;

static int run(const char *path)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		if (!freopen("/dev/null", "w", stdout))
			_exit(127);
		execl(path, path, (char *)NULL);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return status;
}

static bool is_named(const char *name)
{
	char line[64];

	(void)snprintf(line, sizeof(line), "\n%s\n", name);
	return strstr(names, line);
}

static void take(const char *path)
{
	FILE *f = fopen(path, "r"), *to = open_memstream(&names, &names_bytes);
	unsigned family, type;
	char line[128], name[64];

	if (!f || !to) {
		perror(path);
		exit(1);
	}
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "op %63s", name) == 1)
			fprintf(to, "\n%s\n", name);
		else if (sscanf(line, "fn %u %u", &family, &type) == 2 && family < F_N &&
			 type < TY_N)
			covered[family][type] = true;
	}
	fclose(f);
	fclose(to);
}

static int count_missing(void)
{
	const struct ts_ptx_optable *ops = ts_ptx_ops(NULL);
	int n = 0;

	for (size_t t = 0; ts_ptx_mnemonic_tables[t]; t++)
		for (const struct ts_ptx_mnemonic *m = ts_ptx_mnemonic_tables[t]; m->name; m++)
			if (!is_named(m->name)) {
				fprintf(stderr, "no test has %s\n", m->name);
				n++;
			}
	for (unsigned family = 0; family < F_N; family++)
		for (unsigned type = 0; type < TY_N; type++)
			if (ops->fn[family][type] && !covered[family][type]) {
				fprintf(stderr,
					"no test has function %u of the table for type %s\n",
					family, ts_ptx_types[type].name);
				n++;
			}
	return n;
}

int main(int argc, char **argv)
{
	char path[] = "/tmp/ts-ptx-coverage-XXXXXX";
	int fd = mkstemp(path), n_missing = 0, n_failed = 0;

	if (fd < 0 || setenv("TS_TEST_COVERAGE", path, 1)) {
		perror(path);
		return 1;
	}
	close(fd);
	for (int i = 1; i < argc; i++)
		if (run(argv[i])) {
			fprintf(stderr, "%s failed\n", argv[i]);
			n_failed++;
		}
	take(path);
	unlink(path);
	n_missing = count_missing();
	free(names);
	return n_missing || n_failed;
}
