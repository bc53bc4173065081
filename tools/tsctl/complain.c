/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints messages: each error of a command is one line on stderr that names the command. All
 * commands call this file. This file also checks standard output at the end, and ends the program
 * if memory is short.
 */
#include "tools/tsctl/tsctl.h"

#include "proto/abi/base.h"
#include "tools/tsctl/screen/out.h"

#include <stdarg.h>
#include <stdio.h>

static const char *complain_command;

void ts_complain_as(const char *command)
{
	complain_command = command;
}

void ts_complain(const char *format, ...)
{
	char text[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* Keep the order if stdout and stderr are the same terminal or file. */
	fflush(stdout);
	fputs("tsctl", stderr);
	if (complain_command)
		fprintf(stderr, " %s", complain_command);
	fputs(": ", stderr);
	ts_out_text(stderr, text);
	fputc('\n', stderr);
}

void ts_no_memory(void)
{
	ts_complain("out of memory");
	exit(TS_EXIT_BAD);
}

int ts_finish_output(int status)
{
	bool failed = ferror(stdout);

	/* stdio does not keep the errno of an earlier write. The next write sets it again. */
	if (failed) {
		clearerr(stdout);
		errno = EIO;
		putchar('\n');
	}
	failed |= fflush(stdout) != 0;
	/* The reader of the pipe stopped early (`| head`). This is not an error. */
	if (failed && errno != EPIPE) {
		ts_complain("could not write to standard output: %s", strerror(errno));
		return TS_EXIT_BAD;
	}
	return status;
}
