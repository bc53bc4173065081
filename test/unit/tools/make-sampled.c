/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the trace of samples (sampled.h) to a file: make-sampled FILE [few]. */
#include "test/unit/tools/sampled.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int fd, r;

	if (argc < 2) {
		fprintf(stderr, "usage: %s FILE [few]\n", argv[0]);
		return 2;
	}
	fd = open(argv[1], O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	r = fd < 0 ? -errno : sampled_write(fd, argc > 2);
	if (r) {
		fprintf(stderr, "%s: error %d\n", argv[1], r);
		return 1;
	}
	return 0;
}
