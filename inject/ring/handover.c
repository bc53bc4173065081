/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends and receives the packets of the handshake (proto/abi/handshake.h). The link thread calls
 * these functions. preload.c and shim.c call ts_handover_note() to report to the daemon why a
 * process has no records. The sockets never block and never raise SIGPIPE, so a slow or dead daemon
 * does not disturb the application.
 */
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "inject/ring/handover.h"

int ts_handover_connect(const char *path, int *ret_fd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	ts_cleanup(ts_closep) int fd = -1;
	size_t n = strlen(path);

	if (n >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, n + 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	*ret_fd = ts_take_fd(&fd);
	return 0;
}

static int send_packet(int socket, const void *packet, size_t n_bytes, const int *fds, size_t n_fds)
{
	struct iovec data = {(void *)(uintptr_t)packet, n_bytes};
	union {
		char space[CMSG_SPACE(sizeof(int) * TS_HANDSHAKE_HELLO_FDS)];
		struct cmsghdr alignment;
	} control = {{0}};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
	ssize_t n;

	if (n_fds) {
		struct cmsghdr *rights;

		message.msg_control = control.space;
		message.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
		rights = CMSG_FIRSTHDR(&message);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
		memcpy(CMSG_DATA(rights), fds, sizeof(int) * n_fds);
	}
	do
		n = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int ts_handover_hello(int socket, int memfd, const struct ts_control *control, bool resumed,
		      const struct ts_output *output)
{
	const bool has_output = output->fd >= 0;
	const int fds[TS_HANDSHAKE_HELLO_FDS] = {memfd, output->fd, output->read_fd};
	struct ts_handshake_hello hello = {
		.header = {TS_HANDSHAKE_MAGIC, TS_HANDSHAKE_HELLO, sizeof(hello)},
		.major = TS_ABI_MAJOR,
		.minor = TS_ABI_MINOR,
		.resumed = resumed,
		.has_output = has_output,
		.output_number = has_output ? output->number : 0,
	};

	memcpy(hello.session_id, control->session_id, sizeof(hello.session_id));
	return send_packet(socket, &hello, sizeof(hello), fds, has_output ? TS_ARRAY_LEN(fds) : 1);
}

int ts_handover_send(int socket, enum ts_handshake_type type)
{
	struct ts_handshake packet = {TS_HANDSHAKE_MAGIC, (uint16_t)type, sizeof(packet)};

	return send_packet(socket, &packet, sizeof(packet), NULL, 0);
}

int ts_handover_note(int socket, enum ts_empty_reason reason, const char *program, const char *text)
{
	struct ts_handshake_reason note = {
		.header = {TS_HANDSHAKE_MAGIC, TS_HANDSHAKE_NOTE, sizeof(note)},
		.reason = (uint32_t)reason,
		.pid = (uint32_t)getpid(),
	};

	snprintf(note.program, sizeof(note.program), "%s", program);
	snprintf(note.text, sizeof(note.text), "%s", text);
	return send_packet(socket, &note, sizeof(note), NULL, 0);
}

int ts_handover_receive(int socket, enum ts_handshake_type *ret_type, uint32_t *ret_flags)
{
	union {
		struct ts_handshake header;
		struct ts_handshake_welcome welcome;
		uint8_t bytes[TS_HANDSHAKE_MAX_BYTES];
	} packet;
	ssize_t n;

	do
		n = recv(socket, &packet, sizeof(packet), MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (!n)
		return -EPIPE;
	if ((size_t)n < sizeof(packet.header) || packet.header.magic != TS_HANDSHAKE_MAGIC ||
	    packet.header.n_bytes != (size_t)n)
		return -EPROTO;
	*ret_type = (enum ts_handshake_type)packet.header.type;
	*ret_flags = *ret_type == TS_HANDSHAKE_WELCOME && (size_t)n >= sizeof(packet.welcome)
			     ? packet.welcome.flags
			     : 0;
	return 0;
}
