/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker that a hostile file controls. It confines itself like tracesmith-worker, makes the call
 * that the file `attack` in its folder names, and sends the errno over the socket `result` in that
 * folder. A service starts it (--worker) for a question, and reports its exit status. The attacks
 * "memory" and "signal" aim at the service, its parent.
 */
#undef NDEBUG
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/worker/confine.h"

/*
 * With the system-call filter these calls kill the process. Without the filter, the other
 * restrictions of the worker must refuse each call.
 */
static int attack(const char *name, pid_t parent)
{
	char path[64], bytes[16];
	struct iovec here = {bytes, sizeof(bytes)}, there = {bytes, sizeof(bytes)};
	int r = -1;

	snprintf(path, sizeof(path), "/proc/%d/mem", parent);
	errno = 0;
	if (!strcmp(name, "open"))
		r = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	else if (!strcmp(name, "create"))
		r = open("/tmp/tracesmith-hostile", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	else if (!strcmp(name, "traces"))
		r = open("/var/lib", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	else if (!strcmp(name, "memory"))
		r = open(path, O_RDWR | O_CLOEXEC);
	else if (!strcmp(name, "socket"))
		r = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	else if (!strcmp(name, "internet"))
		r = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	else if (!strcmp(name, "ptrace"))
		r = (int)ptrace(PTRACE_ATTACH, parent, NULL, NULL);
	else if (!strcmp(name, "signal"))
		r = kill(parent, SIGTERM);
	else if (!strcmp(name, "readv"))
		r = (int)process_vm_readv(parent, &here, 1, &there, 1, 0);
	else if (!strcmp(name, "descriptors"))
		r = (int)syscall(SYS_pidfd_open, parent, 0);
	else if (!strcmp(name, "fork"))
		r = (int)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	else if (!strcmp(name, "user"))
		r = (int)syscall(SYS_setresuid, 0, 0, 0);
	else if (!strcmp(name, "wait"))
		r = poll(NULL, 0, -1);
	else if (!strcmp(name, "namespace"))
		r = (int)syscall(SYS_unshare, 0x10000000);
	return r < 0 ? errno : 0;
}

static int beside(const char *program, const char *name, char *path, size_t n)
{
	const char *slash = strrchr(program, '/');

	return slash && snprintf(path, n, "%.*s/%s", (int)(slash - program), program, name) < (int)n
		       ? 0
		       : -1;
}

/* A worker may call sendmsg(). */
static void report(int socket, int number)
{
	char text[16];
	struct iovec data = {text, 0};
	const struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};

	data.iov_len = (size_t)snprintf(text, sizeof(text), "%d", number);
	if (sendmsg(socket, &message, MSG_NOSIGNAL) < 0)
		_exit(2);
}

int main(int argc, char **argv)
{
	const struct ts_confine_options options = {.memory_bytes = 64u << 20, .cpu_seconds = 5};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct ts_confined confined = {0};
	const pid_t parent = getppid(); /* a confined worker cannot learn this */
	char path[108], name[32] = "";
	const char *what;
	int fd, result, r;

	if (beside(argv[0], "attack", path, sizeof(path)))
		return 2;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, name, sizeof(name) - 1) <= 0)
		return 2;
	close(fd);
	if (beside(argv[0], "result", address.sun_path, sizeof(address.sun_path)))
		return 2;
	result = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (connect(result, (struct sockaddr *)&address, sizeof(address)) < 0)
		return 2;
	/*
	 * If the name begins with "+", only Landlock is on, as if the attacker had overcome the
	 * filter.
	 */
	if (*name == '+')
		r = ts_confine_landlock();
	else
		r = ts_confine(&options, &confined, &what);
	/*
	 * The first result of a name with "+" is Landlock's version, which ts_confine_landlock()
	 * returned. The first result of another name is the error of ts_confine(), or `no_files`.
	 */
	report(result, r ?: confined.no_files);
	report(result, attack(name + (*name == '+'), parent));
	return 0;
}
