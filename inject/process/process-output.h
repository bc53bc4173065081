/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace's file, if $TRACESMITH_OUTPUT names one and a service records this process: created here, with the rights of this
 * process, and written by the daemon through descriptors that go with HELLO. link-thread.c calls it, in the link thread.
 */
#pragma once

#include <limits.h>
#include <sys/types.h>

#include "proto/abi/base.h"

struct ts_output {
	int fd, read_fd; /* to read and write, to read only; -1: none */
	uint32_t number; /* N of the "-N" in its name; 0: the name has none */
	dev_t device;	 /* of the file, for ts_output_discard() */
	ino_t inode;
	char path[PATH_MAX]; /* empty: no file was created */
};

#define TS_OUTPUT_NONE ((struct ts_output){.fd = -1, .read_fd = -1})

/* Creates a file at `path`, or at the first numbered name after it that does not exist. Returns 0 or a negative errno. */
int ts_output_open(const char *path, struct ts_output *ret_output);

/* Closes both descriptors. The file keeps its name. */
void ts_output_close(struct ts_output *output);

/* Removes the file if it is empty and nothing else has its name by now: no daemon writes it. */
void ts_output_discard(struct ts_output *output);
