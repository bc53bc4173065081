/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See process-sandbox.h. preload.c calls ts_sandbox_count() at load, and config.c calls
 * ts_sandbox_find() when a session begins.
 *
 * It reads /proc by openat(), read() and close(). prctl(PR_GET_SECCOMP) may itself be forbidden,
 * but the loader has just used these three calls, and the driver will use them. If the program shut
 * itself off from /proc in between, it counts as a program with its own filter.
 */
#include "inject/process/process-sandbox.h"

#include <fcntl.h>

#include "inject/process/at-load.h"
#include "proto/abi/base.h"

#define STATUS_BYTES 4096

/*
 * Returns the number behind `name`, which begins a line; -1: not found. atoi() would read the
 * locale's tables: two page faults in each process.
 */
TS_CALLED_AT_LOAD static int field(const char *status, const char *name)
{
	const char *at = strstr(status, name);
	int number = 0;

	if (!at)
		return -1;
	at += strlen(name);
	while (*at == ' ' || *at == '\t')
		at++;
	for (; *at >= '0' && *at <= '9' && number < 100000; at++)
		number = 10 * number + (*at - '0');
	return number;
}

TS_CALLED_AT_LOAD int ts_sandbox_count(void)
{
	char status[STATUS_BYTES];
	ssize_t n;
	int fd = open(TS_TEXT_AT_LOAD("/proc/self/status"), O_RDONLY | O_CLOEXEC), mode, filters;

	if (fd < 0)
		return -1;
	/* The kernel fills the buffer or gives all, so there is no second part. */
	n = read(fd, status, sizeof(status) - 1);
	close(fd);
	status[n > 0 ? n : 0] = '\0';
	mode = field(status, TS_TEXT_AT_LOAD("\nSeccomp:"));
	/* Exists since Linux 5.9. */
	filters = field(status, TS_TEXT_AT_LOAD("\nSeccomp_filters:"));
	return mode <= 0 ? mode : 1 + (filters > 0 ? filters : 0);
}

enum ts_sandbox ts_sandbox_find(int at_start)
{
	int now = ts_sandbox_count();

	if (!now)
		return TS_SANDBOX_NONE;
	return now == at_start ? TS_SANDBOX_INHERITED : TS_SANDBOX_OWN;
}
