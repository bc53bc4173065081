/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the user's browser: see browser.h. main.c calls this module. All users can read the words
 * of a process, so xdg-open gets the path of a file that only this user can read. The file leads
 * the browser to the address with its token.
 */
#include "tools/studio/server/browser.h"

#include "proto/abi/base.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

extern char **environ;

static int write_page(const char *address, char ret_path[PATH_MAX])
{
	const char *folder = secure_getenv("XDG_RUNTIME_DIR");
	ts_cleanup(ts_closep) int fd = -1;
	int n = snprintf(ret_path, PATH_MAX, "%s/tracesmith-studio-XXXXXX.html",
			 folder && *folder == '/' ? folder : "/tmp");
	char text[512];

	/* mkostemps() makes the file with mode 0600. */
	fd = n < PATH_MAX ? mkostemps(ret_path, 5, O_CLOEXEC) : -1;
	if (fd < 0) {
		ret_path[0] = '\0';
		return n < PATH_MAX ? -errno : -ENAMETOOLONG;
	}
	n = snprintf(text, sizeof(text),
		     "<!doctype html><meta charset=\"utf-8\"><title>TraceSmith Studio</title>"
		     "<meta http-equiv=\"refresh\" content=\"0; url=%s\">"
		     "<p><a href=\"%s\">TraceSmith Studio</a>\n",
		     address, address);
	if (n >= (int)sizeof(text) || write(fd, text, (size_t)n) != n) {
		ts_browser_forget(ret_path);
		ret_path[0] = '\0';
		return -EIO;
	}
	return 0;
}

/* The browser's own messages are no output of tsctl. */
static int silence(posix_spawn_file_actions_t *actions)
{
	int r = -posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);

	return r ? r
		 : -posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY,
						     0);
}

/*
 * The browser gets none of the signals that this program blocks and ignores. It has a session of
 * its own, so Ctrl-C ends the server and not the browser.
 */
static int detach(posix_spawnattr_t *attributes)
{
	sigset_t blocked, defaults;
	int r;

	sigemptyset(&blocked);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	r = -posix_spawnattr_setsigmask(attributes, &blocked);
	r = r ? r : -posix_spawnattr_setsigdefault(attributes, &defaults);
	return r ? r
		 : -posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK |
								 POSIX_SPAWN_SETSIGDEF |
								 POSIX_SPAWN_SETSID);
}

int ts_browser_open(const char *address, char ret_path[PATH_MAX])
{
	char *words[] = {(char *)"xdg-open", ret_path, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	pid_t pid;
	int r = write_page(address, ret_path);

	r = r ? r : -posix_spawn_file_actions_init(&actions);
	if (r)
		return r;
	r = -posix_spawnattr_init(&attributes);
	if (!r) {
		r = silence(&actions);
		r = r ? r : detach(&attributes);
		r = r ? r : -posix_spawnp(&pid, words[0], &actions, &attributes, words, environ);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return r;
}

void ts_browser_forget(const char *path)
{
	if (*path)
		unlink(path);
}
