/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creates the trace's file in the traced process; the link thread calls this. The daemon runs as
 * another user: it could neither create a file in this user's directory nor make this user the
 * file's owner. No call here follows a symbolic link.
 */
#include "inject/process/process-output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/abi/handshake.h"

static int create(const char *path, struct ts_output *output)
{
	int r = 0;

	for (unsigned number = 0; number <= TS_OUTPUT_MAX_NUMBER; number++) {
		r = ts_output_number(path, number, output->path, sizeof(output->path));
		if (r)
			return r;
		output->fd =
			open(output->path,
			     O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0600);
		output->number = number;
		if (output->fd >= 0)
			return 0;
		r = -errno;
		if (r != -EEXIST)
			return r;
	}
	return r;
}

/* Returns whether the path still refers to the created file. */
static bool is_ours(const struct ts_output *output, const struct stat *status)
{
	return status->st_dev == output->device && status->st_ino == output->inode;
}

static int open_to_read(struct ts_output *output)
{
	struct stat status;

	if (fstat(output->fd, &status) < 0)
		return -errno;
	output->device = status.st_dev;
	output->inode = status.st_ino;
	output->read_fd = open(output->path, O_RDONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	if (output->read_fd < 0 || fstat(output->read_fd, &status) < 0)
		return -errno;
	return is_ours(output, &status) ? 0 : -ESTALE;
}

int ts_output_open(const char *path, struct ts_output *ret_output)
{
	int r;

	*ret_output = TS_OUTPUT_NONE;
	r = create(path, ret_output);
	if (r) {
		*ret_output = TS_OUTPUT_NONE;
		return r;
	}
	r = open_to_read(ret_output);
	if (r) {
		ts_output_close(ret_output);
		ts_output_discard(ret_output);
	}
	return r;
}

void ts_output_close(struct ts_output *output)
{
	ts_closep(&output->fd);
	ts_closep(&output->read_fd);
	output->fd = output->read_fd = -1;
}

void ts_output_discard(struct ts_output *output)
{
	struct stat status;

	if (*output->path && !lstat(output->path, &status) && is_ours(output, &status) &&
	    !status.st_size)
		unlink(output->path);
	output->path[0] = '\0';
}
