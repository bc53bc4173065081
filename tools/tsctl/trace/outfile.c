/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output files of commands: see outfile.h. cmd-export.c, cmd-graph.c and copyout.c call this file.
 * A file is written in the same directory, without a name or under a temporary one, and then
 * renamed. Readers never see half a file, and a failed command leaves the earlier file unchanged.
 */
#include "tools/tsctl/trace/outfile.h"

#include "proto/abi/base.h"
#include "proto/client/places.h"
#include "sbt/format.h"
#include "tools/tsctl/tsctl.h"

#include <fcntl.h>
#include <sys/stat.h>

/* Limit on tries for an unused name. */
#define MAX_NAMES    1000u
#define BUFFER_BYTES 65536u

static int complain(const struct ts_outfile *out, const char *what, int error)
{
	ts_complain("cannot %s %s: %s", what, out->shown, strerror(error));
	return TS_EXIT_BAD;
}

static bool is_trace(int fd)
{
	char magic[sizeof(TS_SBT_FILE_MAGIC) - 1];

	return pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       !memcmp(magic, TS_SBT_FILE_MAGIC, sizeof(magic));
}

/*
 * Checks the existing file at the path. *ret_stream is set if the command must write into that file
 * directly.
 */
static int check_present(struct ts_outfile *out, const char *path, bool *ret_stream)
{
	ts_cleanup(ts_closep) int fd = -1;
	struct stat present;

	*ret_stream = false;
	/*
	 * rename() replaces the directory entry. This is wrong for foreign entries such as
	 * /dev/stdout.
	 */
	if (!strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6)) {
		*ret_stream = true;
		return TS_EXIT_OK;
	}
	if (stat(path, &present)) {
		/* A dangling link is followed and not replaced. */
		*ret_stream = errno == ENOENT && !lstat(path, &present);
		return errno == ENOENT ? TS_EXIT_OK : complain(out, "write", errno);
	}
	if (S_ISDIR(present.st_mode))
		return complain(out, "write", EISDIR);
	/*
	 * Follow a symbolic link, which stays. A deleted file has no path, so nothing can be
	 * renamed into its place.
	 */
	if (S_ISREG(present.st_mode))
		out->path = realpath(path, NULL);
	if (!out->path) {
		*ret_stream = true;
		return TS_EXIT_OK;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && is_trace(fd)) {
		ts_complain("%s is a trace and is not overwritten; name another file with -o",
			    out->shown);
		return TS_EXIT_BAD;
	}
	return TS_EXIT_OK;
}

/*
 * Opens a file without a name, which disappears when the process ends in any way. Returns -1 if the
 * file system does not support this, or if /proc is missing: only /proc can give the file a name
 * later.
 */
static int open_nameless(const char *path)
{
	const char *slash = strrchr(path, '/');
	ts_cleanup(ts_freep) char *folder =
		slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");

	return folder && ts_places_has_proc() ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666)
					      : -1;
}

static ssize_t write_file(void *userdata, const char *bytes, size_t n_bytes)
{
	struct ts_outfile *out = userdata;
	size_t done = 0;

	while (done < n_bytes) {
		ssize_t n = write(out->fd, bytes + done, n_bytes - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			out->error = out->error ? out->error : errno;
			return done ? (ssize_t)done : 0;
		}
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static int close_file(void *userdata)
{
	struct ts_outfile *out = userdata;
	int fd = out->fd;

	out->fd = -1;
	if (!close(fd))
		return 0;
	out->error = out->error ? out->error : errno;
	return EOF;
}

/* Opens out->file over the descriptor, and passes the descriptor's ownership to it. */
static int open_file(struct ts_outfile *out, int *fd)
{
	static const cookie_io_functions_t functions = {.write = write_file, .close = close_file};

	out->file = fopencookie(out, "w", functions);
	if (!out->file)
		return complain(out, "write", errno);
	setvbuf(out->file, NULL, _IOFBF, BUFFER_BYTES);
	out->fd = ts_take_fd(fd);
	return TS_EXIT_OK;
}

static int open_temporary(struct ts_outfile *out, const char *path)
{
	ts_cleanup(ts_closep) int fd = -1;
	mode_t mask;

	if (!out->path)
		out->path = strdup(path);
	if (!out->path)
		return complain(out, "write", errno);
	if (asprintf(&out->temporary, "%s.XXXXXX", out->path) < 0) {
		out->temporary = NULL;
		return complain(out, "write", ENOMEM);
	}
	fd = open_nameless(out->path);
	out->is_nameless = fd >= 0;
	if (!out->is_nameless) {
		fd = mkostemp(out->temporary, O_CLOEXEC);
		if (fd < 0) {
			ts_freep(&out->temporary);
			out->temporary = NULL;
			return complain(out, "write", errno);
		}
		mask = umask(0);
		umask(mask);
		fchmod(fd, 0666 & ~mask);
	}
	return open_file(out, &fd);
}

int ts_outfile_open(struct ts_outfile *out, const char *path)
{
	ts_cleanup(ts_closep) int fd = -1;
	bool stream;

	*out = (struct ts_outfile){.fd = -1, .shown = path ? path : "standard output"};
	if (!path || !strcmp(path, "-")) {
		out->shown = "standard output";
		out->file = stdout;
		return TS_EXIT_OK;
	}
	if (!*path) {
		ts_complain("-o '': name a file, or - for standard output");
		return TS_EXIT_BAD;
	}
	if (check_present(out, path, &stream))
		return TS_EXIT_BAD;
	if (!stream)
		return open_temporary(out, path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return fd < 0 ? complain(out, "write", errno) : open_file(out, &fd);
}

/* Gives the file a temporary name first: rename() needs one. */
static int name_it(struct ts_outfile *out)
{
	char nameless[64];
	size_t n = strlen(out->temporary);

	snprintf(nameless, sizeof(nameless), "/proc/self/fd/%d", out->fd);
	for (unsigned int i = 0; i < MAX_NAMES; i++) {
		snprintf(out->temporary + n - 6, 7, "%06x",
			 ((unsigned int)getpid() + i * 7919u) & 0xffffffu);
		if (!linkat(AT_FDCWD, nameless, AT_FDCWD, out->temporary, AT_SYMLINK_FOLLOW)) {
			out->is_nameless = false;
			return 0;
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

int ts_outfile_finish(struct ts_outfile *out)
{
	FILE *file = out->file;
	bool failed;
	int r = 0;

	if (file == stdout)
		return ts_finish_output(TS_EXIT_OK);
	failed = ferror(file) || (out->is_nameless && fflush(file));
	if (!failed && out->is_nameless)
		r = name_it(out);
	out->file = NULL;
	if (r) {
		fclose(file);
		return complain(out, "write", -r);
	}
	/* A closed pipe is not an error: its reader stopped early. */
	failed |= fclose(file) != 0;
	if (failed && (out->error != EPIPE || out->temporary))
		return complain(out, "write", out->error ? out->error : EIO);
	if (out->temporary && rename(out->temporary, out->path))
		return complain(out, "write", errno);
	ts_freep(&out->temporary);
	out->temporary = NULL;
	return TS_EXIT_OK;
}

void ts_outfile_deinit(struct ts_outfile *out)
{
	if (out->file && out->file != stdout)
		fclose(out->file);
	if (out->temporary && !out->is_nameless)
		unlink(out->temporary);
	free(out->temporary);
	free(out->path);
}
