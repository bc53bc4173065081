/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entry of tsctl. main() finds the command by its name (commands.c) and runs it. The only
 * options before a command are --help and --version. Shell completion uses `complete`, which help
 * and messages do not list.
 */
#include "tools/tsctl/tsctl.h"

#include "proto/abi/base.h"
#include "tools/tsctl/options/complete.h"
#include "tools/tsctl/options/help.h"

#include <fcntl.h>

/*
 * If a standard descriptor is closed, the system would reuse its number for a socket or a trace,
 * and messages for stderr would go there. The placeholders fail as closed descriptors do. They are
 * close-on-exec, so a recorded command still finds them closed.
 */
static void hold_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) != fd)
			exit(TS_EXIT_BAD);
}

int main(int argc, char **argv)
{
	const struct ts_command *command, *near;
	const char *name = argc > 1 ? argv[1] : NULL;

	hold_standard_descriptors();
	if (!name) {
		ts_command_overview(stderr);
		return TS_EXIT_BAD;
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		name = "help";
	else if (!strcmp(name, "--version") || !strcmp(name, "-V"))
		name = "version";
	else if (!strcmp(name, "complete"))
		return ts_complete(argc - 2, argv + 2);
	command = ts_command_find(name);
	if (!command) {
		near = ts_command_near(name);
		if (name[0] == '-')
			ts_complain(
				"options come after the command: `tsctl COMMAND %s`; `tsctl help` lists the commands",
				name);
		else if (near)
			ts_complain("unknown command `%s`; did you mean `%s`?", name, near->name);
		else
			ts_complain("unknown command `%s`; `tsctl help` lists the commands", name);
		return TS_EXIT_BAD;
	}
	ts_complain_as(command->name);
	for (int i = 2; i < argc && strcmp(argv[i], "--") && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			ts_help_print(command, stdout);
			return ts_finish_output(TS_EXIT_OK);
		}
	}
	return command->run(argc - 1, argv + 1);
}
