/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's end of the socket to a sampler. serve/session/session-samples.c calls this module.
 * This module starts the sampler by util/spawn.c. The sampler's end is sampling.c.
 */
#include "daemon/sample/sampler.h"

#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "daemon/sample/sampling.h"
#include "daemon/util/daemon-error.h"
#include "daemon/util/spawn.h"
#include "proto/client/places.h"

struct ts_sampler {
	pid_t pid;
	int fd;
	uint64_t message[TS_SAMPLER_MESSAGE_BYTES / 8];
};

int ts_sampler_new(const struct ts_sampler_process *process, uint64_t period_ns,
		   struct ts_sampler **ret_sampler)
{
	char self[PATH_MAX], argument[] = TS_SAMPLER_ARGUMENT, numbers[5][24];
	char *argv[] = {self,	    argument,	numbers[0], numbers[1],
			numbers[2], numbers[3], numbers[4], NULL};
	struct ts_sampler *sampler = calloc(1, sizeof(*sampler));
	int r;

	if (!sampler)
		return ts_error_origin(-ENOMEM);
	snprintf(numbers[0], sizeof(numbers[0]), "%d", process->pid);
	snprintf(numbers[1], sizeof(numbers[1]), "%u", process->uid);
	snprintf(numbers[2], sizeof(numbers[2]), "%u", process->gid);
	snprintf(numbers[3], sizeof(numbers[3]), "%" PRIu64, process->start_ticks);
	snprintf(numbers[4], sizeof(numbers[4]), "%" PRIu64, period_ns);
	r = ts_places_self(self);
	r = r ?: ts_spawn(argv, environ, SOCK_SEQPACKET, &sampler->fd, &sampler->pid);
	if (r) {
		free(sampler);
		return ts_error_origin(r);
	}
	*ret_sampler = sampler;
	return 0;
}

void ts_sampler_free(struct ts_sampler *sampler)
{
	if (!sampler)
		return;
	kill(sampler->pid, SIGKILL);
	/*
	 * If a file system blocks the sampler, this function stops waiting for it. The kernel ends
	 * the sampler later.
	 */
	for (unsigned i = 0; i < 50 && !waitpid(sampler->pid, NULL, WNOHANG); i++)
		usleep(1000);
	ts_closep(&sampler->fd);
	free(sampler);
}

static void send_word(const struct ts_sampler *sampler, uint32_t word)
{
	(void)send(sampler->fd, &word, sizeof(word), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void ts_sampler_enable(struct ts_sampler *sampler, bool on)
{
	send_word(sampler, on ? TS_SAMPLING_ON : TS_SAMPLING_OFF);
}

void ts_sampler_report_cost(struct ts_sampler *sampler, uint64_t ns)
{
	send_word(sampler,
		  TS_SAMPLING_COST + (uint32_t)(ns < TS_SAMPLING_COST ? ns : TS_SAMPLING_COST));
}

void ts_sampler_finish(struct ts_sampler *sampler)
{
	send_word(sampler, TS_SAMPLING_FINISH);
}

void ts_sampler_give_program(struct ts_sampler *sampler, const int *program_fds)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(TS_BPF_SAMPLE_FDS * sizeof(int))];
	} control = {.bytes = {0}};
	uint32_t word = TS_SAMPLING_PROGRAM;
	struct iovec iov = {&word, sizeof(word)};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};

	if (program_fds) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(TS_BPF_SAMPLE_FDS * sizeof(int));
		memcpy(CMSG_DATA(&control.header), program_fds, TS_BPF_SAMPLE_FDS * sizeof(int));
	}
	(void)sendmsg(sampler->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int ts_sampler_fd(const struct ts_sampler *sampler)
{
	return sampler->fd;
}

int ts_sampler_receive(struct ts_sampler *sampler, const void **ret_bytes, size_t *ret_n_bytes)
{
	ssize_t n;

	/*
	 * ECONNRESET comes once: the sampler ended with words unread, for example FINISH when its
	 * process had ended already. The sampler's last messages are still in the queue.
	 */
	do
		n = recv(sampler->fd, sampler->message, sizeof(sampler->message), MSG_DONTWAIT);
	while (n < 0 && (errno == EINTR || errno == ECONNRESET));
	if (n < 0)
		return errno == EAGAIN ? -EAGAIN : -ECONNRESET;
	if (!n)
		return -ECONNRESET;
	*ret_bytes = sampler->message;
	*ret_n_bytes = (size_t)n;
	return 0;
}
