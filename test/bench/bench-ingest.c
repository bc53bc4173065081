/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-ingest DAEMON OUTPUT [LAUNCHES [SESSIONS]]: the rate from ring to file. Starts DAEMON
 * pinned to one core. On another core it plays shims that produce API and kernel records as fast
 * as the rings accept them, without drops. The time ends when the daemon has finished its files and
 * exited. Prints the daemon's CPU time too; the rate uses the larger of the two times.
 *
 * Without SESSIONS the daemon is a private one. With SESSIONS that many sessions share LAUNCHES,
 * one training step after the other. If OUTPUT is a folder, the daemon is a service with a file for
 * each session, else a recording of all sessions in one file. The daemon is stopped while the rings
 * fill, and then drains all of them, so that the rate does not depend on the producer's.
 * `steady_ns` is the daemon's processor time for a launch without the start and the end of the
 * sessions.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "inject/ring/producer.h"
#include "inject/ring/ring-session.h"
#include "proto/abi/handshake.h"
#include "test/bench/bench.h"

#define LAUNCHES_A_STEP 692 /* the kernels repeat after this many launches, as in a training step */
#define KERNELS		24
#define MAX_SESSIONS	256
#define MAX_PATH	96

/* One traced process, played. */
struct player {
	struct ts_session_memory memory;
	struct ts_definitions definitions;
	struct ts_producer producer;
	struct ts_thread *thread;
	int memfd, socket;
	uint32_t names[KERNELS], stacks[KERNELS];
	uint64_t n, n_wanted; /* launches */
	uint64_t gpu_ns;
};

/* The daemon, and the way to end it. */
struct daemon {
	pid_t pid;
	int control; /* of a recording: its closing ends the daemon; else -1 */
	bool is_service;
	char socket[MAX_PATH];
};

static const struct ts_gate gate = {.alive = 1, .mode = TS_GATE_OPEN};
static struct player *players;
static unsigned n_players;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* ---- the daemon ------------------------------------------------------------------------------ */

static void run_private(const char *path, const char *output, int fd)
{
	char number[16];

	if (dup2(fd, 3) < 0)
		_exit(126);
	snprintf(number, sizeof(number), "%d", (int)getppid());
	execl(path, path, "--private", "--session-fd", "3", "--output", output, "--program",
	      "bench-ingest", "--pid", number, (char *)NULL);
	_exit(127);
}

static void run_shared(const char *path, const char *output, const struct daemon *daemon, int fd)
{
	char control[MAX_PATH + 8];

	snprintf(control, sizeof(control), "%s-control", daemon->socket);
	if (daemon->is_service) {
		execl(path, path, "--directory", output, "--inject-socket", daemon->socket,
		      "--control-socket", control, "--log", "error", "--symbols", "none",
		      (char *)NULL);
		_exit(127);
	}
	if (dup2(fd, 3) < 0)
		_exit(126);
	execl(path, path, "--record", "--control-fd", "3", "--inject-socket", daemon->socket,
	      "--output", output, "--program", "bench-ingest", "--symbols", "none", (char *)NULL);
	_exit(127);
}

/* Starts the daemon on core 0. `session`: the daemon's end of a private daemon's session. */
static struct daemon start_daemon(const char *path, const char *output, int session)
{
	struct daemon daemon = {.control = -1};
	struct stat status;
	int pair[2] = {-1, -1};

	daemon.is_service = !stat(output, &status) && S_ISDIR(status.st_mode);
	snprintf(daemon.socket, sizeof(daemon.socket), "/tmp/bench-ingest-%d", (int)getpid());
	if (session < 0 && !daemon.is_service &&
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		die("control");
	daemon.pid = fork();
	if (daemon.pid < 0)
		die("fork");
	if (!daemon.pid) {
		ts_bench_pin(0);
		if (session >= 0)
			run_private(path, output, session);
		run_shared(path, output, &daemon, pair[1]);
	}
	daemon.control = pair[0];
	if (pair[1] >= 0)
		close(pair[1]);
	return daemon;
}

/* Waits until the daemon listens, and connects. */
static int connect_to(const struct daemon *daemon)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", daemon->socket);
	for (unsigned i = 0; connect(fd, (const struct sockaddr *)&address, sizeof(address)); i++) {
		if (i == 10000 || (errno != ENOENT && errno != ECONNREFUSED && errno != EAGAIN))
			die("connect");
		usleep(1000);
	}
	return fd;
}

/* Ends the daemon and returns its processor time and memory. */
static struct rusage end_daemon(const struct daemon *daemon)
{
	struct rusage usage;
	int status;

	if (daemon->control >= 0)
		close(daemon->control);
	if (daemon->is_service)
		kill(daemon->pid, SIGTERM);
	if (wait4(daemon->pid, &status, 0, &usage) != daemon->pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status)) {
		fprintf(stderr, "the daemon ended with status %#x\n", status);
		exit(1);
	}
	return usage;
}

/* ---- a session ------------------------------------------------------------------------------- */

static void say_hello(const struct player *player)
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

	memcpy(hello.session_id, player->memory.control->session_id, sizeof(hello.session_id));
	memcpy(CMSG_DATA(&room.header), &player->memfd, sizeof(player->memfd));
	if (sendmsg(player->socket, &message, 0) < 0)
		die("hello");
	if (recv(player->socket, answer, sizeof(answer), 0) < (ssize_t)sizeof(answer[0]) ||
	    answer[0].type != TS_HANDSHAKE_WELCOME) {
		fprintf(stderr, "the daemon refused\n");
		exit(1);
	}
}

static void define(struct player *player)
{
	uint64_t frames[18];
	char name[64];

	for (unsigned i = 0; i < KERNELS; i++) {
		int n = snprintf(name, sizeof(name), "_Z9bench_%02uPKfPfj", i);

		player->names[i] = ts_definitions_string(&player->definitions, name, (size_t)n);
		for (unsigned j = 0; j < TS_ARRAY_LEN(frames); j++)
			frames[j] = 0x7f0000000000u + j * 0x1000 + i * (j < 3);
		player->stacks[i] = ts_definitions_stack(&player->definitions, frames,
							 TS_ARRAY_LEN(frames), false);
	}
}

static void *reserve(const struct player *player, uint32_t n_bytes)
{
	void *room;

	while (!(room = ts_ring_reserve(&player->thread->ring, n_bytes))) {
		ts_thread_ring_doorbell(player->thread);
		sched_yield();
	}
	return room;
}

static void launch(struct player *player)
{
	const uint64_t i = player->n++;
	uint32_t which = (uint32_t)(i % LAUNCHES_A_STEP) * 7 % KERNELS;
	uint64_t now_ns = ts_clock_monotonic_ns();
	struct ts_record_kernel *kernel;
	struct ts_record_api *api = reserve(player, sizeof(*api));

	*api = (struct ts_record_api){
		.record = {sizeof(*api) / 8, sizeof(*api) / 8, (uint8_t)player->producer.clock,
			   TS_RECORD_API, TS_API_EXPECTS_DEVICE,
			   ts_producer_ticks(&player->producer)},
		.op_id = i + 1,
		.stack = player->stacks[which],
		.domain = TS_API_CUDA_RUNTIME,
		.cbid = 211,
		.context = 1,
	};
	api->end = ts_producer_ticks(&player->producer);
	ts_thread_commit(player->thread, sizeof(*api));
	player->gpu_ns = (player->gpu_ns > now_ns ? player->gpu_ns : now_ns) + 64;
	kernel = reserve(player, sizeof(*kernel));
	*kernel = (struct ts_record_kernel){
		.record = {sizeof(*kernel) / 8, sizeof(*kernel) / 8, TS_CLOCK_MONOTONIC,
			   TS_RECORD_KERNEL, 0, player->gpu_ns},
		.end = player->gpu_ns + 96 + which * 32 + i * 31 % 96,
		.op_id = i + 1,
		.place = {.device = 0, .context = 1, .stream = 7},
		.name = player->names[which],
		.grid = {132 + which, 1, 1},
		.block = {256, 1, 1},
		.registers_per_thread = 32,
	};
	player->gpu_ns = kernel->end;
	ts_thread_commit(player->thread, sizeof(*kernel));
}

/* True if the ring has room for a step. */
static bool has_room(const struct player *player)
{
	const uint64_t n_bytes =
		LAUNCHES_A_STEP * (sizeof(struct ts_record_api) + sizeof(struct ts_record_kernel));
	const struct ts_ring_producer *ring = &player->thread->ring;
	uint64_t released = __atomic_load_n(&ring->shard->released, __ATOMIC_ACQUIRE);

	return ring->head - released + 2 * n_bytes < TS_RING_BYTES_DEFAULT;
}

/* The daemon's processor time, and the launches that it has written. */
struct progress {
	double cpu_s, n_written;
};

static struct progress progress_of(const struct daemon *daemon)
{
	struct progress progress = {0};
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(daemon->pid, &clock) || clock_gettime(clock, &time))
		die("clock");
	progress.cpu_s = (double)time.tv_sec + (double)time.tv_nsec / 1e9;
	for (unsigned i = 0; i < n_players; i++)
		progress.n_written +=
			(double)__atomic_load_n(&players[i].thread->ring.shard->released,
						__ATOMIC_ACQUIRE);
	progress.n_written /= sizeof(struct ts_record_api) + sizeof(struct ts_record_kernel);
	return progress;
}

/* True if no ring is more than half full. */
static bool is_drained(void)
{
	for (unsigned i = 0; i < n_players; i++) {
		const struct ts_ring_producer *ring = &players[i].thread->ring;

		if (ring->head - __atomic_load_n(&ring->shard->released, __ATOMIC_ACQUIRE) >
		    TS_RING_BYTES_DEFAULT / 2)
			return false;
	}
	return true;
}

/* Lets the daemon drain the full rings, and stops it again. */
static void drain(const struct daemon *daemon)
{
	kill(daemon->pid, SIGCONT);
	while (!is_drained())
		usleep(500);
	kill(daemon->pid, SIGSTOP);
}

/*
 * Launches a step in each session; with `is_shared`, in each session with room. Returns the number
 * of launches.
 */
static uint64_t play_step(bool is_shared)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < n_players; i++) {
		struct player *player = &players[i];

		if (player->n == player->n_wanted || (is_shared && !has_room(player)))
			continue;
		n -= player->n;
		do
			launch(player);
		while (player->n % LAUNCHES_A_STEP && player->n < player->n_wanted);
		n += player->n;
	}
	return n;
}

/*
 * Makes all launches. With `is_shared` the daemon is stopped while the rings fill, so that it
 * always works at its peak rate. *ret_first is the progress after the start, when a quarter of the
 * launches were made.
 */
static void play(uint64_t n, const struct daemon *daemon, bool is_shared,
		 struct progress *ret_first)
{
	bool has_begun = false;
	uint64_t n_launched = 0;

	*ret_first = progress_of(daemon);
	if (is_shared)
		kill(daemon->pid, SIGSTOP);
	while (n_launched < n) {
		uint64_t n_more = play_step(is_shared);

		n_launched += n_more;
		if (!n_more && is_shared)
			drain(daemon);
		if (!has_begun && (!n_more || !is_shared) && n_launched >= n / 4) {
			*ret_first = progress_of(daemon);
			has_begun = true;
		}
	}
	if (is_shared)
		drain(daemon);
}

static void begin(struct player *player, uint32_t number)
{
	const struct ts_session_options options = {
		.n_shards = 2,
		.ring_bytes = TS_RING_BYTES_DEFAULT,
		.arena_bytes = 1024 * 1024,
		.command = TS_COMMAND_RECORD,
		.program = "bench-ingest",
	};

	if (ts_session_new(&options, &player->memfd, &player->memory) ||
	    ts_definitions_init(&player->definitions, &player->memory) ||
	    ts_producer_init(&player->producer, &gate, player->memory.control, &player->definitions,
			     number) ||
	    !(player->thread = ts_producer_thread(&player->producer)))
		die("session");
	define(player);
	__atomic_store_n(&player->memory.control->state, TS_SESSION_RECORDING, __ATOMIC_RELEASE);
}

/* Reports the end of all sessions, then waits until the daemon has written each. */
static void end_all(void)
{
	struct ts_handshake bye = {TS_HANDSHAKE_MAGIC, TS_HANDSHAKE_BYE, sizeof(bye)};
	struct ts_handshake_reason answer;

	for (unsigned i = 0; i < n_players; i++) {
		__atomic_store_n(&players[i].memory.control->state, TS_SESSION_ENDED,
				 __ATOMIC_RELEASE);
		if (send(players[i].socket, &bye, sizeof(bye), 0) < 0)
			die("bye");
	}
	for (unsigned i = 0; i < n_players; i++) {
		if (recv(players[i].socket, &answer, sizeof(answer), 0) < 0)
			die("bye");
		close(players[i].socket);
	}
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 3 ? strtoull(argv[3], NULL, 10) : 2000000, start_ns;
	const bool is_private = argc <= 4;
	struct progress first, last;
	struct daemon daemon;
	struct rusage usage;
	char steady[32] = "null";
	double seconds, cpu;
	int pair[2];

	n_players = is_private ? 1 : (unsigned)strtoul(argv[4], NULL, 10);
	if (argc < 3 || !n_players || n_players > MAX_SESSIONS) {
		fprintf(stderr, "bench-ingest DAEMON OUTPUT [LAUNCHES [SESSIONS]]\n");
		return 2;
	}
	players = calloc(n_players, sizeof(*players));
	if (!players || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		die("sessions");
	for (unsigned i = 0; i < n_players; i++) {
		begin(&players[i], i + 1);
		players[i].n_wanted = n / n_players + (i < n % n_players);
	}
	daemon = start_daemon(argv[1], argv[2], is_private ? pair[1] : -1);
	close(pair[1]);
	for (unsigned i = 0; i < n_players; i++) {
		players[i].socket = is_private ? pair[0] : connect_to(&daemon);
		say_hello(&players[i]);
	}
	ts_bench_pin(1);
	start_ns = ts_clock_monotonic_ns();
	play(n, &daemon, !is_private, &first);
	last = progress_of(&daemon);
	kill(daemon.pid, SIGCONT);
	end_all();
	usage = end_daemon(&daemon);
	seconds = (double)(ts_clock_monotonic_ns() - start_ns) * 1e-9;
	cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	      (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
	/* A short run may have nothing between the start and the end. */
	if (last.n_written > first.n_written)
		snprintf(steady, sizeof(steady), "%.1f",
			 (last.cpu_s - first.cpu_s) * 1e9 / (last.n_written - first.n_written));
	printf("{\"name\": \"ring_to_file\", \"launches\": %" PRIu64
	       ", \"sessions\": %u, \"seconds\": %.4f, \"daemon_cpu_seconds\": %.4f, "
	       "\"steady_ns\": %s, "
	       "\"launches_per_s\": %.0f, \"daemon_max_rss_kib\": %ld}\n",
	       n, n_players, seconds, cpu, steady, (double)n / (seconds > cpu ? seconds : cpu),
	       usage.ru_maxrss);
	free(players);
	return 0;
}
