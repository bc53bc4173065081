/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A daemon for the shim's tests: accepts one session, drains it and counts records. It runs in the
 * calling process; the application under test is a child.
 */
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "proto/abi/handshake.h"
#include "proto/abi/ring.h"
#include "test/unit/harness.h"

struct fake_daemon {
	char path[108];
	int listener;
	int socket;
	struct ts_control *control;
	uint64_t n_bytes;
	uint64_t n_records[TS_RECORD_COUNT];
	uint64_t n_definitions[TS_DEF_COUNT];
	uint64_t lost[TS_LOSS_COUNT];
	/* sums of the operation ids of API rows and of device rows, to compare them */
	uint64_t op_ids_of_api;
	uint64_t op_ids_of_kernel;
	uint64_t n_with_stack;
	uint32_t noted; /* the reason in the NOTE, if the process sent a NOTE instead of a HELLO */
	char note[256];
	bool got_bye;
	void (*on_record)(const struct ts_record *record);
	uint64_t position[TS_SESSION_MAX_SHARDS];
};

static inline void fake_daemon_listen(struct fake_daemon *daemon)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	memset(daemon, 0, sizeof(*daemon));
	snprintf(daemon->path, sizeof(daemon->path), "fake-daemon-%d.sock", (int)getpid());
	unlink(daemon->path);
	memcpy(address.sun_path, daemon->path, sizeof(address.sun_path));
	daemon->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	ts_check(daemon->listener >= 0);
	ts_check_int(bind(daemon->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ts_check_int(listen(daemon->listener, 4), 0);
	daemon->socket = -1;
}

static inline void fake_daemon_map(struct fake_daemon *daemon, int fd)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	struct stat status;

	ts_check(fd >= 0);
	ts_check_int(fcntl(fd, F_GET_SEALS) & seals, seals);
	ts_check_int(fstat(fd, &status), 0);
	daemon->n_bytes = (uint64_t)status.st_size;
	daemon->control = mmap(NULL, daemon->n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ts_check(daemon->control != MAP_FAILED);
	close(fd);
	ts_check(daemon->control->magic == TS_SESSION_MAGIC);
	ts_check(daemon->control->total_bytes == daemon->n_bytes);
}

/* Accepts a peer, and receives its HELLO or NOTE. */
static inline void fake_daemon_accept(struct fake_daemon *daemon)
{
	struct ts_handshake_welcome welcome = {
		.header = {TS_HANDSHAKE_MAGIC, TS_HANDSHAKE_WELCOME, sizeof(welcome)}};
	union {
		struct ts_handshake_hello hello;
		struct ts_handshake_reason note;
	} packet;
	struct iovec data = {&packet, sizeof(packet)};
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr alignment;
	} control;
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = control.space,
				 .msg_controllen = sizeof(control.space)};
	ssize_t n;
	int fd = -1;

	daemon->socket = accept(daemon->listener, NULL, NULL);
	ts_check(daemon->socket >= 0);
	n = recvmsg(daemon->socket, &message, MSG_CMSG_CLOEXEC);
	ts_check(n >= (ssize_t)sizeof(packet.hello));
	ts_check_int(packet.hello.header.magic, TS_HANDSHAKE_MAGIC);
	ts_check_int(packet.hello.header.n_bytes, n);
	if (packet.hello.header.type == TS_HANDSHAKE_NOTE) {
		daemon->noted = packet.note.reason;
		snprintf(daemon->note, sizeof(daemon->note), "%s", packet.note.text);
		return;
	}
	ts_check_int(packet.hello.header.type, TS_HANDSHAKE_HELLO);
	ts_check_int(packet.hello.major, TS_ABI_MAJOR);
	if (CMSG_FIRSTHDR(&message))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	if (daemon->control) {
		ts_check_int(packet.hello.resumed, 1);
		close(fd);
	} else {
		fake_daemon_map(daemon, fd);
	}
	/* The application may have sent BYE and ended already; its memory still has its records. */
	(void)!send(daemon->socket, &welcome, sizeof(welcome), MSG_NOSIGNAL);
}

static inline struct ts_shard *fake_daemon_shard(const struct fake_daemon *daemon, uint32_t i)
{
	return (struct ts_shard *)((uint8_t *)daemon->control + daemon->control->shards_off +
				   i * daemon->control->shard_stride);
}

static inline void fake_daemon_take(struct fake_daemon *daemon, const struct ts_record *record)
{
	const struct ts_record_api *api = (const struct ts_record_api *)record;
	const struct ts_record_kernel *kernel = (const struct ts_record_kernel *)record;

	ts_check(record->type < TS_RECORD_COUNT);
	daemon->n_records[record->type]++;
	if (record->type == TS_RECORD_API && record->flags & TS_API_EXPECTS_DEVICE)
		daemon->op_ids_of_api += api->op_id;
	if (record->type == TS_RECORD_API && api->stack)
		daemon->n_with_stack++;
	if (record->type == TS_RECORD_KERNEL)
		daemon->op_ids_of_kernel += kernel->op_id;
	if (daemon->on_record)
		daemon->on_record(record);
}

/* Drains all shards. */
static inline void fake_daemon_drain(struct fake_daemon *daemon)
{
	const uint64_t ring_bytes = daemon->control->ring_bytes;
	uint32_t n = __atomic_load_n(&daemon->control->n_claimed, __ATOMIC_ACQUIRE), i;

	for (i = 0; i < n; i++) {
		struct ts_shard *shard = fake_daemon_shard(daemon, i);
		uint64_t head = ts_ring_consumer_head(shard);

		while (daemon->position[i] < head) {
			const struct ts_record *record =
				(const struct ts_record *)((const uint8_t *)shard + sizeof(*shard) +
							   (daemon->position[i] &
							    (ring_bytes - 1)));

			ts_check(record->n_words > 0);
			if (record->type != TS_RECORD_PAD)
				fake_daemon_take(daemon, record);
			daemon->position[i] += record->n_words * 8u;
		}
		ts_check_int(daemon->position[i], head);
		ts_ring_consumer_release(shard, head);
	}
}

/* True if the application sent BYE, or its connection ended. */
static inline bool fake_daemon_is_over(struct fake_daemon *daemon, int timeout_ms)
{
	struct pollfd poll_socket = {daemon->socket, POLLIN, 0};
	struct ts_handshake header;
	ssize_t n;

	if (poll(&poll_socket, 1, timeout_ms) <= 0)
		return false;
	n = recv(daemon->socket, &header, sizeof(header), 0);
	daemon->got_bye |= n == sizeof(header) && header.type == TS_HANDSHAKE_BYE;
	return n <= 0 || daemon->got_bye;
}

static inline void fake_daemon_say(struct fake_daemon *daemon, enum ts_handshake_type type)
{
	struct ts_handshake packet = {TS_HANDSHAKE_MAGIC, (uint16_t)type, sizeof(packet)};

	send(daemon->socket, &packet, sizeof(packet), MSG_NOSIGNAL);
}

/* Counts definitions and losses at the end. */
static inline void fake_daemon_sum_up(struct fake_daemon *daemon)
{
	const struct ts_arena *arena =
		(const struct ts_arena *)((uint8_t *)daemon->control + daemon->control->arena_off);
	uint64_t published = __atomic_load_n(&arena->published, __ATOMIC_ACQUIRE), off = 0;
	uint32_t i, reason;

	while (off < published) {
		const struct ts_definition *definition =
			(const struct ts_definition *)((const uint8_t *)(arena + 1) + off);

		ts_check(definition->type < TS_DEF_COUNT && definition->n_words >= 2);
		ts_check_int(definition->id, ++daemon->n_definitions[definition->type]);
		off += definition->n_words * UINT64_C(8);
	}
	ts_check_int(off, published);
	for (reason = 0; reason < TS_LOSS_COUNT; reason++) {
		daemon->lost[reason] = daemon->control->lost[reason];
		for (i = 0; i < daemon->control->n_claimed; i++)
			daemon->lost[reason] += fake_daemon_shard(daemon, i)->lost[reason];
	}
}

/* Serves one application to its end. */
static inline void fake_daemon_serve(struct fake_daemon *daemon)
{
	while (!fake_daemon_is_over(daemon, 1))
		fake_daemon_drain(daemon);
	fake_daemon_drain(daemon);
	if (daemon->got_bye)
		fake_daemon_say(daemon, TS_HANDSHAKE_DONE);
	fake_daemon_sum_up(daemon);
}

static inline void fake_daemon_close(struct fake_daemon *daemon)
{
	if (daemon->control)
		munmap(daemon->control, daemon->n_bytes);
	if (daemon->socket >= 0)
		close(daemon->socket);
	close(daemon->listener);
	unlink(daemon->path);
}
