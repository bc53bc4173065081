/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace's file, if $TRACESMITH_OUTPUT names one and a service records this process. The process
 * creates the file with its own rights; the daemon writes it through descriptors that go with
 * HELLO. The link thread (link-thread.c) calls these functions.
 */
#pragma once

#include <limits.h>
#include <sys/types.h>

#include "proto/abi/base.h"

struct ts_output {
	/* `fd` is open for reading and writing, `read_fd` for reading only; -1: no file */
	int fd, read_fd;
	uint32_t number; /* N of the "-N" in the file's name; 0: no number */
	dev_t device;	 /* device and inode of the file, for ts_output_discard() */
	ino_t inode;
	char path[PATH_MAX]; /* empty: no file was created */
};

#define TS_OUTPUT_NONE ((struct ts_output){.fd = -1, .read_fd = -1})

/*
 * Creates a file at `path`, or at the first numbered name after it that does not exist. The caller
 * closes ret_output. Returns 0 or a negative errno.
 */
int ts_output_open(const char *path, struct ts_output *ret_output);

/* Closes both descriptors. The file keeps its name. */
void ts_output_close(struct ts_output *output);

/*
 * Removes the file if it is empty and `path` still refers to it. Call this function if no daemon
 * will write the file: HELLO was not sent, the daemon refused the session or the file, or the
 * connection to the daemon ended.
 */
void ts_output_discard(struct ts_output *output);
