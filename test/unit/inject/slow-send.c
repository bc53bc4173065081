/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded before the shim: delays each message to a daemon, as on a busy machine where the
 * sending thread waits for a processor.
 */
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((visibility("default"))) ssize_t sendmsg(int fd, const struct msghdr *message,
						       int flags)
{
	usleep(300000);
	return syscall(SYS_sendmsg, fd, message, flags);
}
