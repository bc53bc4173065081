/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libbaddisk.so, preloaded into a daemon: a disk that fails under the daemon's session threads
 * ("session-N"). Replaces writev(). While the file $TS_BAD_DISK exists, writev() of a session
 * thread waits. test/integration/test-disk.py preloads it.
 *
 * If TS_BAD_DISK_ERROR is an errno, writev() fails with it instead of waiting. If
 * TS_BAD_DISK_WRITES is set too, only one call fails: the call that follows TS_BAD_DISK_WRITES
 * successful ones. All other threads write normally.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int is_session(void)
{
	char name[16] = "";

	return !prctl(PR_GET_NAME, name) && !strncmp(name, "session-", 8);
}

__attribute__((visibility("default"))) ssize_t writev(int fd, const struct iovec *iov, int n_iov)
{
	const char *path = getenv("TS_BAD_DISK"), *error = getenv("TS_BAD_DISK_ERROR");
	const char *writes = getenv("TS_BAD_DISK_WRITES");
	const struct timespec moment = {0, 10000000};
	static unsigned n;

	while (path && is_session() && !access(path, F_OK)) {
		if (error && writes &&
		    __atomic_fetch_add(&n, 1, __ATOMIC_RELAXED) != (unsigned)atoi(writes))
			break;
		if (error) {
			errno = atoi(error);
			return -1;
		}
		nanosleep(&moment, NULL);
	}
	return syscall(SYS_writev, fd, iov, n_iov);
}
