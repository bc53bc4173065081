/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-ingest DAEMON OUTPUT [LAUNCHES]: the rate from ring to file. Starts `DAEMON --private`
 * pinned to one core. On another core it plays a shim that produces API and kernel records as fast
 * as the ring accepts them, without drops. The time ends when the daemon has finished the file and
 * exited. Prints the daemon's CPU time too; the rate uses the larger of the two times.
 */
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "inject/ring/producer.h"
#include "inject/ring/ring-session.h"
#include "proto/abi/handshake.h"
#include "test/bench/bench.h"

#define LAUNCHES_A_STEP 692 /* the kernels repeat after this many launches, as in a training step */
#define KERNELS		24

static struct ts_control *control;
static struct ts_producer producer;
static struct ts_thread *thread;
static uint32_t names[KERNELS], stacks[KERNELS];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static pid_t start_daemon(const char *path, const char *output, int fd)
{
	pid_t pid = fork();
	char number[16];

	if (pid)
		return pid;
	ts_bench_pin(0);
	if (dup2(fd, 3) < 0)
		_exit(126);
	snprintf(number, sizeof(number), "%d", (int)getppid());
	execl(path, path, "--private", "--session-fd", "3", "--output", output, "--program",
	      "bench-ingest", "--pid", number, (char *)NULL);
	_exit(127);
}

static void say_hello(int socket, int memfd)
{
	struct ts_handshake_hello hello = {
		.header = {TS_HANDSHAKE_MAGIC, TS_HANDSHAKE_HELLO, sizeof(hello)},
		.major = TS_ABI_MAJOR,
		.minor = TS_ABI_MINOR,
	};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} room = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
			     .cmsg_level = SOL_SOCKET,
			     .cmsg_type = SCM_RIGHTS}};
	struct iovec io = {&hello, sizeof(hello)};
	struct msghdr message = {.msg_iov = &io,
				 .msg_iovlen = 1,
				 .msg_control = &room,
				 .msg_controllen = sizeof(room)};
	struct ts_handshake answer[64];

	memcpy(hello.session_id, control->session_id, sizeof(hello.session_id));
	memcpy(CMSG_DATA(&room.header), &memfd, sizeof(memfd));
	if (sendmsg(socket, &message, 0) < 0)
		die("hello");
	if (recv(socket, answer, sizeof(answer), 0) < (ssize_t)sizeof(answer[0]) ||
	    answer[0].type != TS_HANDSHAKE_WELCOME) {
		fprintf(stderr, "the daemon refused\n");
		exit(1);
	}
}

static void define(struct ts_definitions *definitions)
{
	uint64_t frames[18];
	char name[64];

	for (unsigned i = 0; i < KERNELS; i++) {
		int n = snprintf(name, sizeof(name), "_Z9bench_%02uPKfPfj", i);

		names[i] = ts_definitions_string(definitions, name, (size_t)n);
		for (unsigned j = 0; j < TS_ARRAY_LEN(frames); j++)
			frames[j] = 0x7f0000000000u + j * 0x1000 + i * (j < 3);
		stacks[i] = ts_definitions_stack(definitions, frames, TS_ARRAY_LEN(frames), false);
	}
}

static void *reserve(uint32_t n_bytes)
{
	void *room;

	while (!(room = ts_ring_reserve(&thread->ring, n_bytes))) {
		ts_thread_ring_doorbell(thread);
		sched_yield();
	}
	return room;
}

static void launch(uint64_t i, uint64_t *gpu_ns)
{
	uint32_t which = (uint32_t)(i % LAUNCHES_A_STEP) * 7 % KERNELS;
	uint64_t now_ns = ts_clock_monotonic_ns();
	struct ts_record_kernel *kernel;
	struct ts_record_api *api = reserve(sizeof(*api));

	*api = (struct ts_record_api){
		.record = {sizeof(*api) / 8, sizeof(*api) / 8, (uint8_t)producer.clock,
			   TS_RECORD_API, TS_API_EXPECTS_DEVICE, ts_producer_ticks(&producer)},
		.op_id = i + 1,
		.stack = stacks[which],
		.domain = TS_API_CUDA_RUNTIME,
		.cbid = 211,
		.context = 1,
	};
	api->end = ts_producer_ticks(&producer);
	ts_thread_commit(thread, sizeof(*api));
	*gpu_ns = (*gpu_ns > now_ns ? *gpu_ns : now_ns) + 64;
	kernel = reserve(sizeof(*kernel));
	*kernel = (struct ts_record_kernel){
		.record = {sizeof(*kernel) / 8, sizeof(*kernel) / 8, TS_CLOCK_MONOTONIC,
			   TS_RECORD_KERNEL, 0, *gpu_ns},
		.end = *gpu_ns + 96 + which * 32 + i * 31 % 96,
		.op_id = i + 1,
		.place = {.device = 0, .context = 1, .stream = 7},
		.name = names[which],
		.grid = {132 + which, 1, 1},
		.block = {256, 1, 1},
		.registers_per_thread = 32,
	};
	*gpu_ns = kernel->end;
	ts_thread_commit(thread, sizeof(*kernel));
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 3 ? strtoull(argv[3], NULL, 10) : 2000000, gpu_ns = 0;
	struct ts_session_options options = {
		.n_shards = 2,
		.ring_bytes = TS_RING_BYTES_DEFAULT,
		.arena_bytes = 1024 * 1024,
		.command = TS_COMMAND_RECORD,
		.program = "bench-ingest",
	};
	struct ts_handshake bye = {TS_HANDSHAKE_MAGIC, TS_HANDSHAKE_BYE, sizeof(bye)};
	struct ts_gate gate = {.alive = 1, .mode = TS_GATE_OPEN};
	static struct ts_definitions definitions;
	struct ts_session_memory memory;
	struct ts_handshake_reason answer;
	int pair[2], memfd = -1, status;
	uint64_t start_ns, end_ns;
	struct rusage usage;
	double seconds, cpu;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "bench-ingest DAEMON OUTPUT [LAUNCHES]\n");
		return 2;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) ||
	    ts_session_new(&options, &memfd, &memory) ||
	    ts_definitions_init(&definitions, &memory) ||
	    ts_producer_init(&producer, &gate, control = memory.control, &definitions, 1) ||
	    !(thread = ts_producer_thread(&producer)))
		die("session");
	define(&definitions);
	__atomic_store_n(&control->state, TS_SESSION_RECORDING, __ATOMIC_RELEASE);
	pid = start_daemon(argv[1], argv[2], pair[1]);
	close(pair[1]);
	say_hello(pair[0], memfd);
	ts_bench_pin(1);
	start_ns = ts_clock_monotonic_ns();
	for (uint64_t i = 0; i < n; i++)
		launch(i, &gpu_ns);
	__atomic_store_n(&control->state, TS_SESSION_ENDED, __ATOMIC_RELEASE);
	if (send(pair[0], &bye, sizeof(bye), 0) < 0 ||
	    recv(pair[0], &answer, sizeof(answer), 0) < 0)
		die("bye");
	close(pair[0]);
	if (wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status) || WEXITSTATUS(status)) {
		fprintf(stderr, "the daemon ended with status %#x\n", status);
		return 1;
	}
	end_ns = ts_clock_monotonic_ns();
	seconds = (double)(end_ns - start_ns) * 1e-9;
	cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	      (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
	printf("{\"name\": \"ring_to_file\", \"launches\": %" PRIu64
	       ", \"seconds\": %.4f, \"daemon_cpu_seconds\": %.4f, "
	       "\"launches_per_s\": %.0f, \"daemon_max_rss_kib\": %ld}\n",
	       n, seconds, cpu, (double)n / (seconds > cpu ? seconds : cpu), usage.ru_maxrss);
	return 0;
}
