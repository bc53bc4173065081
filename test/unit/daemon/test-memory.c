/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's memory under each kind of hostile process stays within bounds, and is released once
 * the process is idle. Each test prints RssAnon of the daemon (/proc/PID/status): before the
 * session, the maximum, and of the idle session.
 */
#include "test/unit/harness.h"

#include <pthread.h>
#include <sys/stat.h>

#include "proto/abi/record.h"
#include "test/unit/daemon/daemon.h"

#define KIB		 UINT64_C(1024)
#define MIB		 (1024 * KIB)
#define SAMPLE_US	 2000
#define IDLE_MS		 8000 /* an idle daemon must release memory within this time */
#define BLOCK_ROWS	 65536u
#define RECORD_WORDS	 32u
#define MAX_SHARDS	 1024u
#define SMALL_RING_BYTES (64u * 1024)
#define LARGE_RING_BYTES (64 * MIB) /* half of it exceeds a block of records */

/* Bound for an idle session, not counting names, ids and incomplete operations. */
#define IDLE_BYTES (3 * MIB / 2)

/*
 * A sanitizer's allocator keeps freed memory and has shadow memory: under a sanitizer the tests
 * check only the function, not the bounds.
 */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_BOUNDS false
#else
#define HAS_BOUNDS true
#endif

/* ---- the daemon's memory ---- */

static uint64_t rss_anon(pid_t pid)
{
	char path[64], line[256];
	uint64_t kib = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	ts_check(file != NULL);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "RssAnon: %" SCNu64, &kib) == 1)
			break;
	fclose(file);
	return kib * KIB;
}

struct gauge {
	const char *kind;
	pid_t pid;
	pthread_t thread;
	uint64_t base, peak, idle;
	bool ends;
};

static void *gauge_thread(void *data)
{
	struct gauge *g = data;

	while (!__atomic_load_n(&g->ends, __ATOMIC_RELAXED)) {
		uint64_t now = rss_anon(g->pid);

		if (now > g->peak)
			g->peak = now;
		usleep(SAMPLE_US);
	}
	return NULL;
}

static void gauge_begin(struct gauge *g, const char *kind, pid_t pid)
{
	*g = (struct gauge){.kind = kind, .pid = pid, .base = rss_anon(pid)};
	ts_check_int(pthread_create(&g->thread, NULL, gauge_thread, g), 0);
}

/*
 * Ends the measurement. The process is idle for up to IDLE_MS, until the daemon's memory is at most
 * `most_idle` above the start.
 */
static void gauge_end(struct gauge *g, uint64_t most_idle)
{
	usleep(200 * 1000);
	__atomic_store_n(&g->ends, true, __ATOMIC_RELAXED);
	ts_check_int(pthread_join(g->thread, NULL), 0);
	for (unsigned ms = 0; ms < IDLE_MS; ms += 100) {
		g->idle = rss_anon(g->pid);
		if (g->idle <= g->base + most_idle)
			break;
		usleep(100 * 1000);
	}
	printf("memory: %-20s base %6" PRIu64 " KiB, peak +%6" PRIi64 " KiB, idle +%6" PRIi64
	       " KiB\n",
	       g->kind, g->base / KIB, (int64_t)(g->peak - g->base) / (int64_t)KIB,
	       (int64_t)(g->idle - g->base) / (int64_t)KIB);
	fflush(stdout);
}

static void gauge_check(const struct gauge *g, uint64_t most, uint64_t most_idle)
{
	if (!HAS_BOUNDS)
		return;
	ts_check(g->peak <= g->base + most);
	ts_check(g->idle <= g->base + most_idle);
}

/* ---- a service, and a process ---- */

#define MAX_OPTIONS 8u

static void memory_service_begin(struct service *s, const char *const *options)
{
	char *arguments[MAX_OPTIONS + 12];
	unsigned n = 0;

	directory_make(s->directory, sizeof(s->directory));
	snprintf(s->inject, sizeof(s->inject), "%s/i", s->directory);
	snprintf(s->control, sizeof(s->control), "%s/c", s->directory);
	arguments[n++] = (char *)"tracesmithd";
	arguments[n++] = (char *)"--inject-socket";
	arguments[n++] = s->inject;
	arguments[n++] = (char *)"--control-socket";
	arguments[n++] = s->control;
	arguments[n++] = (char *)"--directory";
	arguments[n++] = s->directory;
	arguments[n++] = (char *)"--log";
	arguments[n++] = (char *)"none";
	for (unsigned i = 0; options && options[i]; i++)
		arguments[n++] = (char *)(uintptr_t)options[i];
	arguments[n] = NULL;
	/* MALLOC_PERTURB_ fills allocated memory and so makes unused pages resident. */
	unsetenv("MALLOC_PERTURB_");
	s->pid = daemon_spawn(arguments, -1);
}

struct process {
	struct producer p;
	struct ts_ring_producer rings[MAX_SHARDS];
	int fd;
};

static void process_layout(struct process *process, uint32_t n_shards, uint64_t ring_bytes,
			   uint64_t arena_bytes, uint64_t lane_bytes)
{
	struct producer *p = &process->p;
	struct ts_control layout = {0};

	*p = (struct producer){.memfd = memfd_create("session", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
	ts_check(p->memfd >= 0);
	ts_check_int(ts_control_layout(&layout, n_shards, ring_bytes, arena_bytes), 0);
	if (lane_bytes)
		ts_check_int(ts_control_add_lane(&layout, lane_bytes), 0);
	layout.host_clock = TS_CLOCK_MONOTONIC;
	layout.pid = (uint32_t)getpid();
	layout.start_monotonic_ns = layout.start_ticks = ts_clock_monotonic_ns();
	layout.start_realtime_ns = ts_clock_realtime_ns();
	layout.state = TS_SESSION_RECORDING;
	strcpy(layout.program, "memory");
	p->n_bytes = layout.total_bytes;
	ts_check_int(ftruncate(p->memfd, (off_t)p->n_bytes), 0);
	p->base = mmap(NULL, p->n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->memfd, 0);
	ts_check(p->base != MAP_FAILED);
	memcpy(p->base, &layout, sizeof(layout));
	p->control = (struct ts_control *)p->base;
	ts_check_int(fcntl(p->memfd, F_ADD_SEALS, PRODUCER_SEALS), 0);
	for (uint32_t i = 0; i < n_shards; i++)
		ts_ring_producer_init(&process->rings[i], producer_shard(p, i), ring_bytes);
	__atomic_store_n(&p->control->n_claimed, n_shards, __ATOMIC_RELEASE);
}

static uint16_t process_connect(struct process *process, const char *socket)
{
	process->fd = socket_connect(socket, SOCK_SEQPACKET);
	producer_hello(process->fd, process->p.memfd);
	return producer_hear(process->fd, NULL);
}

static struct process *process_new(const struct service *s, uint32_t n_shards, uint64_t ring_bytes,
				   uint64_t arena_bytes)
{
	struct process *process = calloc(1, sizeof(*process));

	ts_check(process != NULL);
	process_layout(process, n_shards, ring_bytes, arena_bytes, 0);
	ts_check_int(process_connect(process, s->inject), TS_HANDSHAKE_WELCOME);
	return process;
}

static void process_free(struct process *process)
{
	close(process->fd);
	producer_deinit(&process->p);
	free(process);
}

static uint64_t random_word(void)
{
	static uint64_t state = 0x2545f4914f6cdd1d;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/*
 * Puts a record of any type without repeated words and with plausible times. Returns false if the
 * daemon has dropped the process.
 */
static bool process_put(struct process *process, uint32_t shard, uint16_t type, uint64_t op_id)
{
	uint64_t now = ts_clock_monotonic_ns(), words[RECORD_WORDS];
	struct ts_record header = {.n_words = RECORD_WORDS,
				   .n_fixed_words = RECORD_WORDS,
				   .clock = TS_CLOCK_MONOTONIC,
				   .type = type,
				   .time = now};
	struct pollfd hung_up = {.fd = process->fd, .events = POLLIN};
	void *to;

	for (unsigned i = 0; i < RECORD_WORDS; i++)
		words[i] = random_word();
	memcpy(words, &header, sizeof(header));
	words[2] = now + 100;
	words[3] = op_id;
	words[4] = 0;
	while (!(to = ts_ring_reserve(&process->rings[shard], sizeof(words)))) {
		if (poll(&hung_up, 1, 0))
			return false;
		usleep(100);
	}
	memcpy(to, words, sizeof(words));
	ts_ring_commit(&process->rings[shard], sizeof(words));
	return true;
}

static void process_wait_drained(struct process *process, uint32_t n_shards)
{
	for (uint32_t i = 0; i < n_shards; i++) {
		const struct ts_shard *shard = producer_shard(&process->p, i);

		while (__atomic_load_n(&shard->released, __ATOMIC_ACQUIRE) !=
		       __atomic_load_n(&shard->head, __ATOMIC_RELAXED))
			usleep(1000);
	}
}

static bool is_row(uint16_t type)
{
	return type && type < TS_RECORD_COUNT && (type < 23 || type > 25) &&
	       type != TS_RECORD_CLOCK && type != TS_RECORD_LOSS;
}

/*
 * Puts the rows of one type after those of another, `n_each` of each type. `n_each` fills a block,
 * so each type needs its own memory.
 */
static bool put_all_types(struct process *process, uint32_t n_each)
{
	for (uint16_t type = 1; type < TS_RECORD_COUNT; type++)
		for (uint32_t i = 0; is_row(type) && i < n_each; i++)
			if (!process_put(process, 0, type, i))
				return false;
	return true;
}

/*
 * Runs a well-behaved process before each measurement, so that the daemon has allocated all that it
 * needs for ordinary work.
 */
static void warm_up(const struct service *s)
{
	struct process *process = process_new(s, 1, MIB, MIB);

	for (uint32_t i = 1; i <= 1000; i++)
		process_put(process, 0, TS_RECORD_API, i);
	producer_say(process->fd, TS_HANDSHAKE_BYE);
	ts_check_int(producer_hear(process->fd, NULL), TS_HANDSHAKE_DONE);
	process_free(process);
}

struct memory_test {
	struct service service;
	struct gauge gauge;
	struct process *process;
};

static void memory_test_begin(struct memory_test *t, const char *kind, const char *const *options,
			      uint32_t n_shards, uint64_t ring_bytes, uint64_t arena_bytes)
{
	memory_service_begin(&t->service, options);
	warm_up(&t->service);
	usleep(200 * 1000);
	gauge_begin(&t->gauge, kind, t->service.pid);
	t->process = process_new(&t->service, n_shards, ring_bytes, arena_bytes);
}

static void memory_test_end(struct memory_test *t, uint64_t most, uint64_t most_idle)
{
	gauge_end(&t->gauge, most_idle);
	process_free(t->process);
	service_end(&t->service);
	gauge_check(&t->gauge, most, most_idle);
}

/* ---- well-behaved processes ---- */

TS_TEST(idle)
{
	struct memory_test t;

	memory_test_begin(&t, "idle", NULL, 8, MIB, MIB);
	memory_test_end(&t, IDLE_BYTES, IDLE_BYTES);
}

TS_TEST(busy_then_idle)
{
	struct memory_test t;

	memory_test_begin(&t, "busy, then idle", NULL, 1, LARGE_RING_BYTES, MIB);
	for (uint32_t i = 1; i <= 400000; i++) {
		process_put(t.process, 0, TS_RECORD_API, i);
		process_put(t.process, 0, TS_RECORD_KERNEL, i);
	}
	process_wait_drained(t.process, 1);
	memory_test_end(&t, 32 * MIB, IDLE_BYTES);
}

/* ---- definitions ---- */

static void define(struct process *process, uint16_t type, uint32_t id)
{
	struct producer *p = &process->p;
	struct ts_definition definition = {0};

	if (id)
		p->n_defs[type] = id - 1;
	producer_define(p, type, &definition, sizeof(definition), "", 0);
}

static void wait_defined(struct process *process)
{
	/*
	 * This row comes after the definitions, so a drained row means that the definitions are
	 * read.
	 */
	process_put(process, 0, TS_RECORD_API, 1);
	process_wait_drained(process, 1);
}

/* A process defines ids with large gaps. Such ids are unknown and cost the daemon no memory. */
TS_TEST(sparse_ids)
{
	static const uint16_t types[] = {TS_DEF_STRING, TS_DEF_STACK, TS_DEF_THREAD};
	struct memory_test t;

	memory_test_begin(&t, "sparse ids", NULL, 1, MIB, 32 * MIB);
	for (uint64_t id = 1; id <= UINT32_MAX; id += 10007)
		define(t.process, types[id % 3], (uint32_t)id);
	define(t.process, TS_DEF_STRING, UINT32_MAX);
	wait_defined(t.process);
	memory_test_end(&t, 4 * MIB, IDLE_BYTES);
}

#define N_REFUSED (4u * 1024 * 1024 - 1)

static void put_refused(struct process *process, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		define(process, TS_DEF_STACK, 0);
}

/*
 * A process defines millions of ids in order, and the daemon refuses the definitions: the ids cost
 * little memory.
 */
TS_TEST(refused_definitions)
{
	const char *const options[] = {"--max-definition-bytes", "64K", NULL};
	struct memory_test t;

	memory_test_begin(&t, "refused definitions", options, 1, MIB, 72 * MIB);
	put_refused(t.process, N_REFUSED);
	wait_defined(t.process);
	memory_test_end(&t, 8 * MIB, IDLE_BYTES);
}

/*
 * Passes the same memory on many connections: each connection is a session with its own tables of
 * ids.
 */
static void one_memfd(const char *kind, unsigned n, uint64_t most)
{
	const char *const options[] = {"--max-definition-bytes", "64K", NULL};
	struct memory_test t;
	struct process *others = calloc(n, sizeof(*others));

	ts_check(others != NULL);
	memory_test_begin(&t, kind, options, 1, MIB, 20 * MIB);
	put_refused(t.process, 1024 * 1024);
	for (unsigned i = 0; i < n; i++) {
		others[i].p.memfd = t.process->p.memfd;
		ts_check_int(process_connect(&others[i], t.service.inject), TS_HANDSHAKE_WELCOME);
	}
	sleep(2);
	gauge_end(&t.gauge, (n + 1) * IDLE_BYTES);
	for (unsigned i = 0; i < n; i++)
		close(others[i].fd);
	process_free(t.process);
	free(others);
	service_end(&t.service);
	gauge_check(&t.gauge, most, (n + 1) * IDLE_BYTES);
}

TS_TEST(one_memfd_8)
{
	one_memfd("one memfd, 8 times", 8, 16 * MIB);
}

TS_TEST(one_memfd_100)
{
	one_memfd("one memfd, 100 times", 100, 96 * MIB);
}

/*
 * A process defines different strings of maximum length. --max-definition-bytes bounds the memory
 * for their contents.
 */
TS_TEST(long_strings)
{
	const char *const options[] = {"--max-definition-bytes", "16M", NULL};
	static uint64_t text[TS_STRING_MAX_BYTES / sizeof(uint64_t)];
	struct ts_definition definition = {.n = TS_STRING_MAX_BYTES};
	struct memory_test t;

	memory_test_begin(&t, "strings of 64 KiB", options, 1, MIB, 64 * MIB);
	for (unsigned i = 0; i < 900; i++) {
		for (size_t j = 0; j < TS_ARRAY_LEN(text); j++)
			text[j] = random_word();
		producer_define(&t.process->p, TS_DEF_STRING, &definition, sizeof(definition), text,
				sizeof(text));
	}
	wait_defined(t.process);
	memory_test_end(&t, (16 + 24) * MIB, 16 * MIB + IDLE_BYTES);
}

/*
 * A process defines many short strings, so the table of strings needs more memory than the
 * contents. This memory is bounded, too.
 */
TS_TEST(short_strings)
{
	const char *const options[] = {"--max-definition-bytes", "16M", NULL};
	struct memory_test t;

	memory_test_begin(&t, "strings of 8 bytes", options, 1, MIB, 16 * MIB);
	for (unsigned i = 0; i < 600000; i++) {
		struct ts_definition definition = {.n = sizeof(uint64_t)};
		uint64_t text = random_word();

		producer_define(&t.process->p, TS_DEF_STRING, &definition, sizeof(definition),
				&text, sizeof(text));
	}
	wait_defined(t.process);
	memory_test_end(&t, (16 + 16) * MIB, 16 * MIB + IDLE_BYTES);
}

TS_TEST(deep_stacks)
{
	static uint64_t frames[TS_STACK_MAX_FRAMES];
	struct memory_test t;

	memory_test_begin(&t, "stacks of 4096", NULL, 1, MIB, 160 * MIB);
	for (unsigned i = 0; i < 4500; i++) {
		for (size_t j = 0; j < TS_ARRAY_LEN(frames); j++)
			frames[j] = random_word() >> 4;
		producer_stack(&t.process->p, frames, TS_STACK_MAX_FRAMES);
	}
	wait_defined(t.process);
	memory_test_end(&t, 40 * MIB, IDLE_BYTES);
}

/* ---- records ---- */

TS_TEST(every_type)
{
	struct memory_test t;

	memory_test_begin(&t, "a block of each type", NULL, 1, LARGE_RING_BYTES, MIB);
	ts_check(put_all_types(t.process, BLOCK_ROWS));
	process_wait_drained(t.process, 1);
	memory_test_end(&t, 48 * MIB, IDLE_BYTES);
}

/*
 * Each operation lies in another part of the join's window of operations, which has up to 12 MiB.
 */
TS_TEST(spread_operations)
{
	struct memory_test t;

	memory_test_begin(&t, "spread operations", NULL, 1, MIB, MIB);
	for (uint64_t i = 1; i < 4096; i++)
		process_put(t.process, 0, TS_RECORD_KERNEL, i * 65536);
	process_wait_drained(t.process, 1);
	memory_test_end(&t, 24 * MIB, 12 * MIB + IDLE_BYTES);
}

TS_TEST(shards)
{
	struct memory_test t;

	memory_test_begin(&t, "1024 shards", NULL, MAX_SHARDS, SMALL_RING_BYTES, MIB);
	for (uint32_t i = 0; i < MAX_SHARDS; i++)
		for (unsigned j = 0; j < 100; j++)
			process_put(t.process, i, TS_RECORD_API, i * 100 + j);
	process_wait_drained(t.process, MAX_SHARDS);
	memory_test_end(&t, 16 * MIB, IDLE_BYTES);
}

/*
 * Records name half a million streams and half a million contexts; the daemon's memory stays within
 * the limit.
 */
TS_TEST(streams)
{
	struct memory_test t;

	memory_test_begin(&t, "a million streams", NULL, 1, LARGE_RING_BYTES, MIB);
	for (uint32_t i = 0; i < 500000; i++) {
		process_put(t.process, 0, TS_RECORD_STREAM, i);
		process_put(t.process, 0, TS_RECORD_CONTEXT, i);
	}
	process_wait_drained(t.process, 1);
	memory_test_end(&t, 16 * MIB, IDLE_BYTES);
}

/*
 * Records of captured contents with the maximum size, which do not compress, stay within the memory
 * limit.
 */
TS_TEST(captured_contents)
{
	static uint64_t words[TS_RECORD_MAX_BYTES / 8];
	struct ts_record_blob header = {.record = {.n_words = TS_ARRAY_LEN(words),
						   .n_fixed_words = sizeof(header) / 8,
						   .type = TS_RECORD_BLOB},
					.n_bytes = TS_BLOB_MAX_BYTES};
	struct process *process = calloc(1, sizeof(*process));
	struct ts_ring_producer lane;
	struct service s;
	struct gauge g;

	ts_check(process != NULL);
	memory_service_begin(&s, NULL);
	warm_up(&s);
	gauge_begin(&g, "captured contents", s.pid);
	process_layout(process, 1, MIB, MIB, TS_LANE_MAX_BYTES);
	ts_check_int(process_connect(process, s.inject), TS_HANDSHAKE_WELCOME);
	ts_ring_producer_init(&lane,
			      (struct ts_shard *)(process->p.base + process->p.control->lane_off),
			      TS_LANE_MAX_BYTES);
	for (size_t i = 0; i < TS_ARRAY_LEN(words); i++)
		words[i] = random_word();
	for (header.blob = 1; header.blob <= 450; header.blob++) {
		void *to;

		memcpy(words, &header, sizeof(header));
		while (!(to = ts_ring_reserve(&lane, sizeof(words))))
			usleep(1000);
		memcpy(to, words, sizeof(words));
		ts_ring_commit(&lane, sizeof(words));
	}
	while (__atomic_load_n(&lane.shard->released, __ATOMIC_ACQUIRE) !=
	       __atomic_load_n(&lane.shard->head, __ATOMIC_RELAXED))
		usleep(1000);
	gauge_end(&g, IDLE_BYTES);
	process_free(process);
	service_end(&s);
	gauge_check(&g, 40 * MIB, IDLE_BYTES);
}

/*
 * Causes as many writes as possible: the ring is small, so it is soon half full, and a client of
 * the user requests one flush after the other.
 */
TS_TEST(many_blocks)
{
	uint64_t end_ns = ts_clock_monotonic_ns() + UINT64_C(1000000000) * (ts_soak() ? 120 : 3);
	struct ts_client *client;
	struct memory_test t;
	uint32_t n = 0;

	memory_test_begin(&t, "many small blocks", NULL, 1, SMALL_RING_BYTES, MIB);
	ts_check_int(ts_client_connect(t.service.control, &client), 0);
	while (ts_clock_monotonic_ns() < end_ns) {
		Ts__Rpc__Answer *answer;

		for (uint16_t type = 1; type < TS_RECORD_COUNT; type++)
			if (is_row(type))
				process_put(t.process, 0, type, ++n);
		if (n % 512 < 24 && !ts_client_flush(client, 0, 1, &answer))
			ts__rpc__answer__free_unpacked(answer, NULL);
	}
	ts_client_free(client);
	printf("memory: %u rows\n", n);
	memory_test_end(&t, 16 * MIB, IDLE_BYTES + 4 * MIB);
}

/* ---- shares ---- */

static uint64_t rows_of(const char *path, unsigned type, uint64_t *ret_n_lost)
{
	struct ts_sbt_reader *reader;
	uint64_t n = 0;
	int fd;

	reader_open(path, &fd, &reader);
	*ret_n_lost = 0;
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(reader, i);

		if (block->type == type)
			n += block->n_rows;
		if (block->type == TS_ROW_LOSS)
			*ret_n_lost += block->n_rows;
	}
	ts_sbt_reader_free(reader);
	close(fd);
	return n;
}

/* Finds the only trace in the folder that is larger than a warm-up's. */
static void largest_trace(const struct service *s, char *path, size_t n_path)
{
	off_t largest = -1;
	glob_t traces;

	service_traces(s->directory, &traces);
	for (size_t i = 0; i < traces.gl_pathc; i++) {
		struct stat status;

		if (!stat(traces.gl_pathv[i], &status) && status.st_size > largest) {
			largest = status.st_size;
			snprintf(path, n_path, "%s", traces.gl_pathv[i]);
		}
	}
	globfree(&traces);
	ts_check(largest >= 0);
}

/*
 * With a sixteenth of the usual share, a session is slower: the daemon writes its rows earlier, and
 * loses none.
 */
TS_TEST(small_share)
{
	const char *const options[] = {"--max-session-memory", "4M", NULL};
	const uint32_t n_rows = 200000;
	struct memory_test t;
	uint64_t n_lost;
	char path[320];

	memory_test_begin(&t, "a share of 4 MiB", options, 1, LARGE_RING_BYTES, MIB);
	for (uint32_t i = 1; i <= n_rows; i++) {
		ts_check(process_put(t.process, 0, TS_RECORD_API, i));
		ts_check(process_put(t.process, 0, TS_RECORD_KERNEL, i));
	}
	producer_say(t.process->fd, TS_HANDSHAKE_BYE);
	ts_check_int(producer_hear(t.process->fd, NULL), TS_HANDSHAKE_DONE);
	largest_trace(&t.service, path, sizeof(path));
	ts_check_int(rows_of(path, TS_ROW_API, &n_lost), n_rows);
	ts_check_int(rows_of(path, TS_ROW_KERNEL, &n_lost), n_rows);
	/* A chunk and its encoding may exceed the share while they exist. */
	memory_test_end(&t, 8 * MIB, IDLE_BYTES);
}

/* The end of a session releases its charges; otherwise the share would soon be used up. */
TS_TEST(given_back)
{
	const char *const options[] = {"--max-memory", "16M", NULL};
	struct process *process, *refused = calloc(1, sizeof(*refused));
	struct ts_handshake_reason packet;
	struct service s;

	ts_check(refused != NULL);
	memory_service_begin(&s, options);
	for (unsigned i = 0; i < (ts_soak() ? 1000 : 20); i++) {
		process = process_new(&s, MAX_SHARDS, SMALL_RING_BYTES, MIB);
		process_put(process, 0, TS_RECORD_API, 1);
		if (!i) {
			/*
			 * `process` and `refused` are sessions with MAX_SHARDS shards, and each
			 * shard needs more than a page. The share has room for one such session.
			 */
			process_layout(refused, MAX_SHARDS, SMALL_RING_BYTES, MIB, 0);
			refused->fd = socket_connect(s.inject, SOCK_SEQPACKET);
			producer_hello(refused->fd, refused->p.memfd);
			ts_check_int(producer_hear(refused->fd, &packet), TS_HANDSHAKE_REFUSED);
			ts_check_str(packet.text, "Cannot allocate memory");
			process_free(refused);
		}
		producer_say(process->fd, TS_HANDSHAKE_BYE);
		ts_check_int(producer_hear(process->fd, NULL), TS_HANDSHAKE_DONE);
		process_free(process);
	}
	service_end(&s);
}

/*
 * Runs hostile processes of one user at the same time. They share the user's share: the daemon
 * refuses or drops some of them, and still serves another user.
 */
static void hostile_child(const struct service *s, unsigned n_sessions)
{
	struct process **processes = calloc(n_sessions, sizeof(*processes));
	unsigned n = 0;

	ts_check(processes != NULL);
	ts_check_int(setgid(65001), 0);
	ts_check_int(setuid(65001), 0);
	for (unsigned i = 0; i < n_sessions; i++) {
		struct process *process = calloc(1, sizeof(*process));

		ts_check(process != NULL);
		process_layout(process, 1, 4 * MIB, MIB, 0);
		if (process_connect(process, s->inject) == TS_HANDSHAKE_WELCOME)
			processes[n++] = process;
		else
			process_free(process);
	}
	for (uint16_t type = 1; type < TS_RECORD_COUNT; type++)
		for (unsigned i = 0; is_row(type) && i < n; i++)
			for (unsigned j = 0; processes[i] && j < 6000; j++)
				if (!process_put(processes[i], 0, type, j * UINT64_C(65536))) {
					process_free(processes[i]);
					processes[i] = NULL;
				}
	sleep(1);
	exit(0);
}

static void many_sessions(unsigned n_sessions, uint64_t most)
{
	const char *const options[] = {
		"--max-memory", "256M", "--max-sessions-user", "128", "--max-session-memory",
		"32M",		NULL};
	struct service s;
	struct gauge g;
	pid_t child;

	if (getuid())
		ts_skip("root alone can be two users");
	memory_service_begin(&s, options);
	warm_up(&s);
	chmod(s.directory, 0755);
	chmod(s.inject, 0666);
	gauge_begin(&g, n_sessions == 128 ? "128 sessions" : "24 sessions", s.pid);
	child = fork();
	ts_check(child >= 0);
	if (!child)
		hostile_child(&s, n_sessions);
	sleep(1);
	warm_up(&s);
	ts_check_int(daemon_wait(child), 0);
	gauge_end(&g, 32 * MIB);
	warm_up(&s);
	service_end(&s);
	gauge_check(&g, most, 32 * MIB);
}

/* The share is 64 MiB; each session has at least 1 MiB of it. */
TS_TEST(sessions_24)
{
	many_sessions(24, 72 * MIB);
}

TS_TEST(sessions_128)
{
	many_sessions(128, 72 * MIB);
}
