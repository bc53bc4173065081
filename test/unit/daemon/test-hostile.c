/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon among strangers: whatever one of them sends, holds or keeps open, the others are
 * served, and what was not recorded is told.
 */
#include "test/unit/harness.h"

#include <netinet/in.h>

#include "proto/rpc/frame.h"
#include "test/unit/daemon/daemon.h"

/* A status asked for now is answered within the client's time. */
static void check_answers(const struct service *s)
{
	uint64_t begin = ts_clock_monotonic_ns();
	struct ts_client *client;
	Ts__Rpc__Answer *answer;

	ts_check_int(ts_client_connect(s->control, &client), 0);
	ts_check_int(ts_client_status(client, &answer), 0);
	ts__rpc__answer__free_unpacked(answer, NULL);
	ts_client_free(client);
	ts_check(ts_clock_monotonic_ns() - begin < UINT64_C(2000000000));
}

/* ---- descriptors that take long to close ---- */

/* A connection with full queues and a long linger: to close its last descriptor takes `seconds`. */
static int lingering_socket(int seconds, int *ret_other)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	struct linger linger = {1, seconds};
	socklen_t n_bytes = sizeof(address);
	static const char bytes[65536];
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0)
		ts_skip("no loopback interface");
	ts_check_int(listen(listener, 1), 0);
	ts_check_int(getsockname(listener, (struct sockaddr *)&address, &n_bytes), 0);
	ts_check_int(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	*ret_other = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	close(listener);
	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	ts_check_int(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	return fd;
}

static void check_lingering(const struct service *s, const char *packet, size_t n_bytes)
{
	int other, fd = lingering_socket(20, &other);
	int peer = socket_connect(s->inject, SOCK_SEQPACKET);

	producer_send(peer, packet, n_bytes, fd);
	/* The one in flight is not ours: ours is not the last, and does not linger. */
	close(fd);
	check_answers(s);
	check_answers(s);
	close(peer);
	check_answers(s);
	close(other);
}

TS_TEST(lingering_descriptor)
{
	struct ts_handshake_hello hello = {
		.header = {TS_HANDSHAKE_MAGIC, TS_HANDSHAKE_HELLO, sizeof(hello)},
		.major = TS_ABI_MAJOR,
	};
	struct service s;

	service_begin(&s);
	check_lingering(&s, "garbage", 7);
	check_lingering(&s, (const char *)&hello, sizeof(hello));
	service_end(&s);
}

/* Nobody has a descriptor for the control socket. */
TS_TEST(descriptor_for_the_control_socket)
{
	int other, fd = lingering_socket(20, &other), client;
	struct msghdr message;
	struct service s;
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec iov = {(char *)(uintptr_t) "hello", 5};

	service_begin(&s);
	client = socket_connect(s.control, SOCK_STREAM);
	message = (struct msghdr){.msg_iov = &iov,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = sizeof(control.bytes)};
	control.align.cmsg_level = SOL_SOCKET;
	control.align.cmsg_type = SCM_RIGHTS;
	control.align.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.align), &fd, sizeof(int));
	/* Refused at once (Linux 6.16), or taken and closed where nobody waits. */
	ts_check(sendmsg(client, &message, MSG_NOSIGNAL) == 5 || errno == EPERM);
	close(fd);
	check_answers(&s);
	close(client);
	check_answers(&s);
	close(other);
	service_end(&s);
}
