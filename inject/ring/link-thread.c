/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link thread; link-thread.h states its purpose. inject/shim.c starts it and waits on its
 * words. It calls ring-session.c, handover.c and inject/process (private daemon, output file). Its
 * life:
 *
 * 	own descriptor table -> session memory -> connect or start a daemon -> HELLO
 * 	  -> receive WELCOME, STOP, REFUSED, or lose the daemon -> BYE -> DONE
 *
 * A daemon that was found by its socket's name may die and be started again. The ring keeps
 * unwritten records, so recording continues for a while, and the new daemon continues where the old
 * one stopped. The death of a private daemon is final.
 */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/process/spawn-detached.h"
#include "inject/ring/futex.h"
#include "inject/ring/handover.h"
#include "inject/ring/link-thread.h"
#include "inject/ring/unlocked.h"
#include "inject/shim-debug.h"

/*
 * Far more stack than the thread needs: it calls only libc. Trap: ThreadSanitizer prints a line if
 * a given stack is smaller than its thread-local storage plus some reserve, nearly 1 MiB.
 */
#define STACK_BYTES (2u * 1024 * 1024)

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1u << 1)
#endif

/* Longest delay until the thread reads a packet of the daemon, if nothing else happens. */
#define LISTEN_NS    UINT64_C(100000000)
#define BUSY_NS	     UINT64_C(10000000)
#define RETRY_MIN_NS UINT64_C(500000000)
#define RETRY_MAX_NS UINT64_C(5000000000)
/*
 * After the loss of a daemon, records are kept this long for the next one; then they are only
 * counted.
 */
#define GRACE_NS UINT64_C(30000000000)
/*
 * If the link thread shares the application's table of descriptors, the thread moves its
 * descriptors to this number or above.
 */
#define SHARED_TABLE_FLOOR 512

struct connection {
	int socket;
	int memfd;
	struct ts_output output; /* the file that the last HELLO offered */
	bool shared_table;
	bool was_connected;
	bool bye_sent;
	uint64_t lost_at;  /* time of the daemon's loss; 0: connected */
	uint64_t retry_ns; /* until the next attempt */
	uint64_t retry_at;
};

/*
 * Makes a thread's stack. In a program that locks its memory, the C library's own stack of 8 MiB
 * would be populated and locked whole. Like that stack, this one has a guard page at its low end.
 * The stack is never unmapped, because the thread never ends.
 */
static void *make_stack(pthread_attr_t *attributes, size_t n_bytes)
{
	void *stack = ts_unlocked_map(n_bytes);

	if (stack && (mprotect(stack, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE) < 0 ||
		      pthread_attr_setstack(attributes, stack, n_bytes))) {
		munmap(stack, n_bytes);
		return NULL;
	}
	return stack;
}

static int start_thread(void *(*run)(void *), void *data, size_t stack_bytes, bool ordinary)
{
	pthread_attr_t attributes;
	pthread_t thread;
	void *stack;
	int r;

	r = pthread_attr_init(&attributes);
	if (r)
		return -r;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (!stack_bytes)
		pthread_attr_getstacksize(&attributes, &stack_bytes);
	if (stack_bytes < STACK_BYTES)
		stack_bytes = STACK_BYTES;
	stack = make_stack(&attributes, stack_bytes);
	/* A fresh attribute holds SCHED_OTHER. */
	if (ordinary)
		pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	r = stack ? pthread_create(&thread, &attributes, run, data) : ENOMEM;
	pthread_attr_destroy(&attributes);
	if (r && stack)
		munmap(stack, stack_bytes);
	return -r;
}

int ts_link_start_thread(const struct ts_config *config, void *(*run)(void *), void *data,
			 size_t stack_bytes)
{
	sigset_t all, before;
	int r;

	/* The new thread inherits this mask, so it never receives a signal for the process. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	/*
	 * The application may have a real-time priority, which the shim's threads must not inherit.
	 * Under a seccomp filter the shim does not request another scheduling, because the filter
	 * may forbid the request.
	 */
	r = start_thread(run, data, stack_bytes, !config->sandbox);
	/*
	 * Trap: thread-local storage lies on the stack, and some programs have more of it than a
	 * small stack holds.
	 */
	if (r == -EINVAL && stack_bytes)
		r = start_thread(run, data, 0, !config->sandbox);
	/* A sandbox may forbid every request for scheduling. */
	if (r == -EPERM)
		r = start_thread(run, data, 0, false);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

/*
 * Gives this thread its own descriptor table, empty except for /dev/null. In debug mode the table
 * keeps stderr.
 */
static void own_descriptors(const struct ts_config *config, struct connection *connection)
{
	unsigned first = config->debug ? STDERR_FILENO + 1 : 0, fd;
	int i;

	if (syscall(SYS_close_range, first, ~0u, CLOSE_RANGE_UNSHARE) < 0) {
		/* The list in proto/abi/sandbox.h does not contain unshare(). */
		if (config->sandbox || unshare(CLONE_FILES) < 0) {
			/*
			 * Neither close_range() nor unshare() works, so the thread shares the
			 * application's table and uses high numbers.
			 */
			connection->shared_table = true;
			return;
		}
		for (fd = first; fd < 65536; fd++)
			close((int)fd);
	}
	if (config->debug) {
		close(STDIN_FILENO);
		close(STDOUT_FILENO);
	}
	/*
	 * Fill the standard descriptors, so a mistaken write to one of them does not hit a socket.
	 */
	for (i = 0; i < 3; i++)
		if (fcntl(i, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
			return;
}

/* Moves a descriptor to a high number if the thread shares the application's table. */
static int settle(const struct connection *connection, int fd)
{
	int settled;

	if (!connection->shared_table || fd < 0)
		return fd;
	settled = fcntl(fd, F_DUPFD_CLOEXEC, SHARED_TABLE_FLOOR);
	if (settled < 0)
		return fd;
	close(fd);
	return settled;
}

/*
 * Sets the gate's word to `mode` if `wanted` is set. The accesses are sequentially consistent,
 * because each side writes its own word and then reads the other side's word.
 */
static void follow_mode(const uint32_t *wanted, uint32_t *word, enum ts_gate_mode mode)
{
	if (!__atomic_load_n(wanted, __ATOMIC_SEQ_CST))
		return;
	__atomic_store_n(word, (uint32_t)mode, __ATOMIC_SEQ_CST);
	/*
	 * The thread that stops recording clears `wanted` and then closes the gate. The store above
	 * may have opened the gate again, so close it.
	 */
	if (!__atomic_load_n(wanted, __ATOMIC_SEQ_CST))
		__atomic_store_n(word, (uint32_t)TS_GATE_CLOSED, __ATOMIC_SEQ_CST);
}

static void set_mode(struct ts_link *link, enum ts_gate_mode mode)
{
	__atomic_store_n(&link->mode, (uint32_t)mode, __ATOMIC_SEQ_CST);
	follow_mode(&link->gate->recording, &link->gate->mode, mode);
	follow_mode(&link->gate->annotating, &link->gate->annotations, mode);
}

static void open_word(struct ts_link *link, uint32_t *wanted, uint32_t *word)
{
	uint32_t mode;

	__atomic_store_n(wanted, 1, __ATOMIC_SEQ_CST);
	do {
		mode = __atomic_load_n(&link->mode, __ATOMIC_SEQ_CST);
		__atomic_store_n(word, mode, __ATOMIC_SEQ_CST);
	} while (mode != __atomic_load_n(&link->mode, __ATOMIC_SEQ_CST));
}

void ts_link_open_gate(struct ts_link *link)
{
	open_word(link, &link->gate->recording, &link->gate->mode);
}

void ts_link_open_annotations(struct ts_link *link)
{
	open_word(link, &link->gate->annotating, &link->gate->annotations);
}

/* Sets whether a daemon serves the rings. A thread that waits for room in a ring checks this. */
static void set_served(struct ts_link *link, bool served)
{
	__atomic_store_n(&link->gate->served, served, __ATOMIC_RELAXED);
}

static void drop_socket(struct connection *connection)
{
	if (connection->socket >= 0)
		close(connection->socket);
	connection->socket = -1;
}

static int start_private(struct ts_link *link, struct connection *connection)
{
	ts_cleanup(ts_closep) int ours = -1;
	ts_cleanup(ts_closep) int theirs = -1;
	int pair[2], r;

	if (!*link->config->daemon) {
		ts_debug(link->config, "no tracesmithd beside the library or in TRACESMITH_DAEMON");
		return -ENOENT;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		return -errno;
	ours = settle(connection, pair[0]);
	theirs = pair[1];
	r = ts_spawn_detached(link->config->daemon, link->config->daemon_argv,
			      link->config->daemon_environment, theirs, link->config->debug);
	ts_debug(link->config, "private daemon %s, which writes %s: %s", link->config->daemon,
		 link->config->output, strerror(-r));
	if (r)
		return r;
	link->is_private = true;
	connection->socket = ts_take_fd(&ours);
	return 0;
}

/* Connects to the daemon that the configuration names, or starts a private one. */
static int find_daemon(struct ts_link *link, struct connection *connection)
{
	int r = ts_handover_connect(link->config->socket, &connection->socket);

	if (!r) {
		connection->socket = settle(connection, connection->socket);
		return 0;
	}
	/* If the daemon was connected before, or the user named its socket, wait for it. */
	if (connection->was_connected || link->config->socket_given)
		return r;
	return start_private(link, connection);
}

/*
 * Opens the file that $TRACESMITH_OUTPUT names, for a service to write. A private daemon creates
 * the file itself.
 */
static void open_output(struct ts_link *link, struct connection *connection)
{
	int r;

	connection->output = TS_OUTPUT_NONE;
	/*
	 * Under a sandbox no file is created, because the list in proto/abi/sandbox.h does not
	 * contain unlink().
	 */
	if (!link->config->output_given || link->is_private || link->config->sandbox)
		return;
	r = ts_output_open(link->config->output, &connection->output);
	ts_debug(link->config, "output %s: %s", link->config->output, strerror(-r));
	/* Relaxed suffices: the reader also waits for `farewell`. */
	if (!r)
		__atomic_store_n(&link->waits_for_file, true, __ATOMIC_RELAXED);
}

static int say_hello(struct ts_link *link, struct connection *connection)
{
	int r;

	open_output(link, connection);
	r = ts_handover_hello(connection->socket, connection->memfd, link->memory.control,
			      connection->was_connected, &connection->output);
	ts_output_close(&connection->output);
	if (r)
		ts_output_discard(&connection->output);
	return r;
}

static void connect_daemon(struct ts_link *link, struct connection *connection)
{
	uint64_t now = ts_clock_monotonic_ns();
	int r = find_daemon(link, connection);

	r = r ?: say_hello(link, connection);
	ts_debug(link->config, "hand-over to %s: %s",
		 link->is_private ? "private daemon" : link->config->socket, strerror(-r));
	if (!r) {
		connection->was_connected = true;
		connection->lost_at = 0;
		connection->retry_ns = RETRY_MIN_NS;
		set_served(link, true);
		set_mode(link, TS_GATE_OPEN);
		ts_futex_set(&link->handed_over, 1);
		return;
	}
	drop_socket(connection);
	if (!connection->was_connected && !link->config->socket_given) {
		/* No daemon exists and none could be started, so no daemon will read the rings. */
		__atomic_store_n(&link->over, 1, __ATOMIC_RELEASE);
		return;
	}
	if (!connection->lost_at)
		connection->lost_at = now;
	/* -EAGAIN: the queue of connections is full, but only for a short time. */
	connection->retry_at = now + (r == -EAGAIN ? BUSY_NS : connection->retry_ns);
	connection->retry_ns *= 2;
	if (connection->retry_ns > RETRY_MAX_NS)
		connection->retry_ns = RETRY_MAX_NS;
}

/* Handles the loss of the daemon: the daemon closed the connection, or sent an invalid packet. */
static void lose_daemon(struct ts_link *link, struct connection *connection)
{
	drop_socket(connection);
	ts_output_discard(&connection->output);
	set_served(link, false);
	if (link->is_private || connection->bye_sent) {
		__atomic_store_n(&link->over, 1, __ATOMIC_RELEASE);
		return;
	}
	connection->lost_at = ts_clock_monotonic_ns();
	connection->retry_ns = RETRY_MIN_NS;
	connection->retry_at = connection->lost_at + RETRY_MIN_NS;
}

static void hear(struct ts_link *link, struct connection *connection)
{
	enum ts_handshake_type type;
	uint32_t flags;
	int r;

	while (connection->socket >= 0) {
		r = ts_handover_receive(connection->socket, &type, &flags);
		if (r == -EAGAIN)
			return;
		if (r) {
			ts_debug(link->config, "daemon: %s", strerror(-r));
			lose_daemon(link, connection);
			return;
		}
		ts_debug(link->config, "daemon sent message %d", (int)type);
		if (type == TS_HANDSHAKE_REFUSED ||
		    (type == TS_HANDSHAKE_WELCOME && !(flags & TS_WELCOME_OUTPUT)))
			ts_output_discard(&connection->output);
		if (type == TS_HANDSHAKE_STOP || type == TS_HANDSHAKE_REFUSED) {
			__atomic_store_n(&link->over, 1, __ATOMIC_RELEASE);
			/*
			 * After STOP the daemon still drains the rings. The socket stays open until
			 * the daemon closes it.
			 */
			if (type == TS_HANDSHAKE_REFUSED)
				drop_socket(connection);
		} else if (type == TS_HANDSHAKE_DONE) {
			drop_socket(connection);
			__atomic_store_n(&link->over, 1, __ATOMIC_RELEASE);
			ts_futex_set(&link->farewell, TS_LINK_HEARD_DONE);
		}
	}
}

static bool is_over(const struct ts_link *link)
{
	return __atomic_load_n(&link->over, __ATOMIC_ACQUIRE);
}

static void say_bye(struct ts_link *link, struct connection *connection)
{
	int r = -ENOTCONN;

	if (connection->bye_sent)
		return;
	/* Try once more: in a very short process the daemon may have been busy all the time. */
	if (connection->socket < 0 && !is_over(link))
		connect_daemon(link, connection);
	connection->bye_sent = true;
	if (connection->socket >= 0)
		r = ts_handover_send(connection->socket, TS_HANDSHAKE_BYE);
	ts_futex_set(&link->farewell, r ? TS_LINK_HEARD_DONE : TS_LINK_SAID_BYE);
}

static void wait_a_while(struct ts_link *link, const struct connection *connection)
{
	struct pollfd poll_socket = {connection->socket, POLLIN, 0};

	if (connection->bye_sent && connection->socket >= 0)
		poll(&poll_socket, 1, (int)(LISTEN_NS / 1000000));
	else
		ts_futex_wait(&link->request, connection->bye_sent ? TS_LINK_BYE : TS_LINK_RUN,
			      connection->bye_sent || is_over(link) ? RETRY_MAX_NS : LISTEN_NS,
			      false);
}

/*
 * Answers a flush request of the daemon. If CUPTI is not used, there is no flush thread and nothing
 * to flush, so the answer comes at once.
 */
static void answer_flush(struct ts_link *link)
{
	uint32_t asked = __atomic_load_n(&link->memory.control->flush_request, __ATOMIC_ACQUIRE);

	if (!__atomic_load_n(&link->flushes, __ATOMIC_ACQUIRE))
		__atomic_store_n(&link->memory.control->flushes_done, asked, __ATOMIC_RELEASE);
}

static void serve(struct ts_link *link, struct connection *connection)
{
	for (;;) {
		hear(link, connection);
		answer_flush(link);
		if (__atomic_load_n(&link->request, __ATOMIC_ACQUIRE) == TS_LINK_BYE) {
			say_bye(link, connection);
			if (connection->socket < 0)
				ts_futex_set(&link->farewell, TS_LINK_HEARD_DONE);
		} else if (connection->socket < 0 && !is_over(link)) {
			if (ts_clock_monotonic_ns() >= connection->retry_at)
				connect_daemon(link, connection);
			if (connection->lost_at &&
			    ts_clock_monotonic_ns() - connection->lost_at > GRACE_NS)
				set_mode(link, TS_GATE_COUNT);
		}
		if (is_over(link)) {
			set_served(link, false);
			set_mode(link, TS_GATE_CLOSED);
		}
		/* Connected or not, end the wait for the hand-over. */
		if (!__atomic_load_n(&link->handed_over, __ATOMIC_RELAXED))
			ts_futex_set(&link->handed_over, 1);
		wait_a_while(link, connection);
	}
}

/*
 * Returns a text for an error of mmap(). After mlockall(MCL_FUTURE), a mapping beyond the limit of
 * locked memory fails with EAGAIN.
 */
static const char *memory_text(int error)
{
	return error == -EAGAIN ? "RLIMIT_MEMLOCK is used up (mlockall)" : strerror(-error);
}

/* Called if there is no memory for the session. Reports this to a daemon, if one is reachable. */
static void give_note(struct ts_link *link, struct connection *connection)
{
	char text[128];

	snprintf(text, sizeof(text), "no memory for the rings: %s", memory_text(link->error));
	if (!find_daemon(link, connection))
		(void)ts_handover_note(connection->socket, TS_EMPTY_NO_MEMORY,
				       link->config->program, text);
	drop_socket(connection);
	ts_futex_set(&link->handed_over, 1);
	ts_futex_set(&link->farewell, TS_LINK_HEARD_DONE);
}

static void *thread_main(void *data)
{
	struct ts_link *link = data;
	struct connection connection = {
		.socket = -1,
		.memfd = -1,
		.output = TS_OUTPUT_NONE,
		.retry_ns = RETRY_MIN_NS,
	};

	prctl(PR_SET_NAME, "ts-link", 0, 0, 0);
	own_descriptors(link->config, &connection);
	link->error = ts_session_new(&link->options, &connection.memfd, &link->memory);
	ts_debug(link->config, "session memory: %s", memory_text(link->error));
	connection.memfd = settle(&connection, connection.memfd);
	ts_futex_set(&link->session_made, 1);
	if (link->error)
		give_note(link, &connection);
	else
		serve(link, &connection);
	return NULL;
}

int ts_link_start(struct ts_link *link, const struct ts_config *config, struct ts_gate *gate,
		  const struct ts_session_options *options)
{
	memset(link, 0, sizeof(*link));
	link->gate = gate;
	link->config = config;
	link->options = *options;
	link->mode = TS_GATE_OPEN;
	return ts_link_start_thread(config, thread_main, link, STACK_BYTES);
}
