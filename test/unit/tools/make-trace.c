/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the synthetic trace (synthetic.h) to a file, to look at tsctl's output by hand: make-trace
 * FILE [LAUNCHES [unfinished]].
 */
#include "test/unit/tools/synthetic.h"

#include <fcntl.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct synthetic what = {.n_launches = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 10,
				 .unfinished = argc > 3};
	int fd, r;

	if (argc < 2) {
		fprintf(stderr, "usage: %s FILE [LAUNCHES [unfinished]]\n", argv[0]);
		return 2;
	}
	fd = open(argv[1], O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	r = fd < 0 ? -errno : synthetic_write(fd, &what);
	if (r) {
		fprintf(stderr, "%s: error %d\n", argv[1], r);
		return 1;
	}
	return 0;
}
