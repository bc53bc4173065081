/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples the threads of a process by perf events. sampling.c calls this module. Each thread has
 * its own event with its own ring. An event that new threads inherit has a ring only if it is bound
 * to one CPU, so a process would need an event for each thread and CPU. A thread's ring has a
 * record of each clone() of the thread, so most new threads are found at once.
 *
 * The copied stack is most of the cost of a sample, so its length adapts. Short copies also fill
 * the ring more slowly, so more samples are handled together.
 *
 *     longest copy -- `learning` samples --> the shortest power of two with a third to spare
 *     shorter copy -- a stack deeper than the copy --> longest copy; `learning` grows tenfold
 *
 * A change of the length needs a new event (replace_event()).
 */
#include "daemon/sample/threads.h"

#include <asm/perf_regs.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>

#include "daemon/util/daemon-error.h"
#include "proto/abi/clock.h"
#include "proto/abi/map.h"

#define RING_BYTES (256u * 1024)
/* size of the smallest ring, for systems where little memory may be locked */
#define SMALL_RING_BYTES (32u * 1024)
#define RESCAN_NS	 UINT64_C(1000000000)
#define RECORD_BYTES	 (64u * 1024)
#define LEARNING_SAMPLES 40u /* 0.2 s of processor time */
#define LEARNING_GROWTH	 10u
#define LINE_BYTES	 64u /* of the processor's cache */
#define FETCHED_BYTES	 4096u
/* Data of events that belong to no thread. */
#define EVENT_WAKE  0u
#define EVENT_TIMER UINT32_MAX
#if defined(__x86_64__)
#define REGISTERS                                                          \
	(UINT64_C(1) << PERF_REG_X86_BP | UINT64_C(1) << PERF_REG_X86_SP | \
	 UINT64_C(1) << PERF_REG_X86_IP)
#else
#define REGISTERS UINT64_C(0) /* remote-unwind.c has no rules for this machine */
#endif

struct sampled {
	uint32_t tid, inner_tid; /* tid 0: free */
	int fd;
	struct perf_event_mmap_page *page;
	uint8_t *ring;
	size_t ring_bytes;
	uint64_t seen; /* position in the ring up to which `prompted` was called */
	uint64_t period_ns;
	uint32_t stack_bytes; /* length of the copied stack */
	uint32_t n_samples;   /* since the longest copy began */
	uint32_t learning;    /* samples with the longest copy before a shorter one */
	size_t depth_bytes;   /* the deepest stack so far; SIZE_MAX: deeper than the longest copy */
	bool keeps_event;     /* no other event could be opened */
	char name[16];
};

struct ts_sampled_threads {
	pid_t pid;
	struct ts_sampled_options options;
	uint64_t scanned_ns;
	int epoll_fd, timer_fd;
	bool user_only, off;
	bool scan;	  /* a thread was created */
	bool mapped;	  /* code was mapped */
	uint32_t n_slots; /* slots of `threads` that are or were in use */
	uint32_t n, n_live;
	uint64_t n_lost, n_left_out;
	struct ts_map by_tid; /* all known threads by tid, including those that are not sampled */
	struct sampled threads[TS_SAMPLED_MAX];
	uint8_t record[RECORD_BYTES];
};

/* The fixed part of a sample, in the order of sample_type below. */
struct sample_head {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t registers_abi;
};

/* ---- one thread ---- */

static int open_event(const struct ts_sampled_threads *threads, uint32_t tid, bool user_only,
		      uint32_t stack_bytes)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = threads->options.period_ns,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.disabled = threads->off,
		.exclude_kernel = user_only,
		.exclude_hv = 1,
		.exclude_idle = 1,
		.task = 1,
		.mmap = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		/*
		 * The kernel wakes the reader when the ring is half full. With 1, it also wakes the
		 * reader at each sample.
		 */
		.wakeup_events = threads->options.prompt,
		.sample_regs_user = REGISTERS,
		.sample_stack_user = stack_bytes,
	};
	long fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int map_ring(struct sampled *sampled)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t n = RING_BYTES; n >= SMALL_RING_BYTES; n /= 2) {
		void *at = mmap(NULL, page + n, PROT_READ | PROT_WRITE, MAP_SHARED, sampled->fd, 0);

		if (at == MAP_FAILED)
			continue;
		sampled->page = at;
		sampled->ring = (uint8_t *)at + page;
		sampled->ring_bytes = n;
		return 0;
	}
	return -errno;
}

static void close_event(struct sampled *sampled)
{
	if (sampled->page)
		munmap(sampled->page, (size_t)sysconf(_SC_PAGESIZE) + sampled->ring_bytes);
	ts_closep(&sampled->fd);
	sampled->fd = -1;
	sampled->page = NULL;
}

static void close_thread(struct ts_sampled_threads *threads, struct sampled *sampled)
{
	close_event(sampled);
	threads->n_live -= sampled->tid != 0;
	sampled->tid = 0;
}

/* Reads a line of a file in the thread's /proc. `key` is the start of the line, or empty. */
static bool read_line(const struct ts_sampled_threads *threads, uint32_t tid, const char *name,
		      const char *key, char *line, size_t n_line)
{
	char path[64];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%" PRIu32 "/%s", threads->pid, tid, name);
	file = fopen(path, "re");
	while (file && !found && fgets(line, (int)n_line, file))
		found = !strncmp(line, key, strlen(key));
	if (file)
		fclose(file);
	line[found ? strcspn(line, "\n") : 0] = '\0';
	return found;
}

static void describe(const struct ts_sampled_threads *threads, struct sampled *sampled)
{
	char line[256], *at;

	sampled->inner_tid = sampled->tid;
	/* The last number is the one in the process's own pid namespace. */
	if (read_line(threads, sampled->tid, "status", "NSpid:", line, sizeof(line))) {
		at = strrchr(line, '\t');
		if (at)
			sampled->inner_tid = (uint32_t)strtoul(at + 1, NULL, 10);
	}
	read_line(threads, sampled->tid, "comm", "", line, sizeof(line));
	snprintf(sampled->name, sizeof(sampled->name), "%.15s", line);
}

/*
 * Opens an event. If the kernel refuses the event (EACCES or EPERM) and no other thread has an
 * event yet, this event and all later ones exclude time in the kernel.
 */
static int open_as_allowed(struct ts_sampled_threads *threads, uint32_t tid, uint32_t stack_bytes)
{
	int fd = open_event(threads, tid, threads->user_only, stack_bytes);

	if ((fd != -EACCES && fd != -EPERM) || threads->n_live || threads->user_only)
		return fd;
	threads->user_only = true;
	return open_event(threads, tid, true, stack_bytes);
}

/*
 * Opens the thread's event, sets the eBPF program on it, if there is one, and maps the event's
 * ring.
 */
static int begin_event(struct ts_sampled_threads *threads, struct sampled *sampled, uint32_t tid)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u32 = tid};
	int r;

	sampled->period_ns = threads->options.period_ns;
	sampled->fd = open_as_allowed(threads, tid, sampled->stack_bytes);
	if (sampled->fd < 0)
		return sampled->fd;
	if (threads->options.program_fd >= 0 &&
	    ioctl(sampled->fd, PERF_EVENT_IOC_SET_BPF, threads->options.program_fd) < 0 &&
	    !threads->n_live)
		threads->options.program_fd = -1;
	r = map_ring(sampled);
	if (!r && epoll_ctl(threads->epoll_fd, EPOLL_CTL_ADD, sampled->fd, &event) < 0)
		r = -errno;
	if (r)
		close_event(sampled);
	return r;
}

static int add_thread(struct ts_sampled_threads *threads, uint32_t tid)
{
	struct sampled *sampled = NULL;
	uint32_t i;
	int r;

	for (i = 0; i < TS_SAMPLED_MAX && !sampled; i++)
		if (!threads->threads[i].tid)
			sampled = &threads->threads[i];
	if (!sampled) {
		threads->n_left_out++;
		return ts_map_set(&threads->by_tid, tid, UINT32_MAX);
	}
	*sampled = (struct sampled){.fd = -1,
				    .stack_bytes = threads->options.stack_bytes
							   ? threads->options.stack_bytes
							   : TS_SAMPLE_STACK_BYTES,
				    .learning = LEARNING_SAMPLES};
	r = begin_event(threads, sampled, tid);
	if (r)
		return r;
	sampled->tid = tid;
	if (i > threads->n_slots)
		threads->n_slots = i;
	threads->n_live++;
	describe(threads, sampled);
	return ts_map_set(&threads->by_tid, tid, i);
}

/* ---- all threads ---- */

/* Adds the threads that are not known yet. Returns an error only if no thread can be sampled. */
static int scan(struct ts_sampled_threads *threads)
{
	char path[32];
	struct dirent *entry;
	int r = 0, first = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", threads->pid);
	folder = opendir(path);
	if (!folder)
		return errno == ENOENT ? -ESRCH : -errno;
	while (r != -ENOMEM && (entry = readdir(folder))) {
		unsigned long tid = strtoul(entry->d_name, NULL, 10);

		if (!tid || tid > UINT32_MAX || ts_map_get(&threads->by_tid, tid))
			continue;
		r = add_thread(threads, (uint32_t)tid);
		if (r && r != -ESRCH) {
			first = first ?: r;
			threads->n_left_out++;
			(void)ts_map_set(&threads->by_tid, tid, UINT32_MAX);
		}
	}
	closedir(folder);
	threads->scan = false;
	threads->scanned_ns = ts_clock_monotonic_ns();
	return threads->n_live ? 0 : first ?: -ESRCH;
}

/*
 * Watches wake_fd, and a timer. ts_sampled_threads_wait() sets the timer once: a time limit of each
 * epoll_wait() would set a timer for each sample.
 */
static int watch(struct ts_sampled_threads *threads)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = EVENT_WAKE};

	if (threads->options.wake_fd >= 0 &&
	    epoll_ctl(threads->epoll_fd, EPOLL_CTL_ADD, threads->options.wake_fd, &event) < 0)
		return -errno;
	event = (struct epoll_event){.events = EPOLLIN, .data.u32 = EVENT_TIMER};
	threads->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (threads->timer_fd < 0 ||
	    epoll_ctl(threads->epoll_fd, EPOLL_CTL_ADD, threads->timer_fd, &event) < 0)
		return -errno;
	return 0;
}

int ts_sampled_threads_new(pid_t pid, const struct ts_sampled_options *options,
			   struct ts_sampled_threads **ret_threads)
{
	struct ts_sampled_threads *threads;
	int r;

	if (!REGISTERS)
		return -EOPNOTSUPP;
	threads = calloc(1, sizeof(*threads));
	if (!threads)
		return ts_error_origin(-ENOMEM);
	threads->pid = pid;
	threads->options = *options;
	for (uint32_t i = 0; i < TS_SAMPLED_MAX; i++)
		threads->threads[i].fd = -1;
	threads->timer_fd = -1;
	threads->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	r = threads->epoll_fd < 0 ? -errno : watch(threads);
	r = r ?: scan(threads);
	if (r) {
		ts_sampled_threads_free(threads);
		return r;
	}
	*ret_threads = threads;
	return 0;
}

int ts_sampled_threads_try(void)
{
	const struct ts_sampled_options options = {.period_ns = 1000000000,
						   .program_fd = -1,
						   .wake_fd = -1};
	struct ts_sampled_threads *threads = NULL;
	int r = ts_sampled_threads_new(getpid(), &options, &threads);

	ts_sampled_threads_free(threads);
	return r;
}

void ts_sampled_threads_free(struct ts_sampled_threads *threads)
{
	if (!threads)
		return;
	for (uint32_t i = 0; i < TS_SAMPLED_MAX; i++)
		if (threads->threads[i].tid)
			close_thread(threads, &threads->threads[i]);
	ts_closep(&threads->timer_fd);
	ts_closep(&threads->epoll_fd);
	ts_map_deinit(&threads->by_tid);
	free(threads);
}

uint64_t ts_sampled_threads_lost(const struct ts_sampled_threads *threads)
{
	return threads->n_lost;
}

bool ts_sampled_threads_mapped(struct ts_sampled_threads *threads)
{
	bool mapped = threads->mapped;

	threads->mapped = false;
	return mapped;
}

uint64_t ts_sampled_threads_left_out(const struct ts_sampled_threads *threads)
{
	return threads->n_left_out;
}

bool ts_sampled_threads_runs_program(const struct ts_sampled_threads *threads)
{
	return threads->options.program_fd >= 0;
}

bool ts_sampled_threads_is_user_only(const struct ts_sampled_threads *threads)
{
	return threads->user_only;
}

void ts_sampled_threads_enable(struct ts_sampled_threads *threads, bool on)
{
	threads->off = !on;
	for (uint32_t i = 0; i < TS_SAMPLED_MAX; i++)
		if (threads->threads[i].tid)
			ioctl(threads->threads[i].fd,
			      on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

/* ---- records ---- */

/* Returns n bytes of the ring: in place, or copied to `space` if they wrap around its end. */
static const void *bytes_at(const struct sampled *sampled, uint64_t tail, void *space, size_t n)
{
	size_t off = tail & (sampled->ring_bytes - 1);
	size_t first = sampled->ring_bytes - off;

	if (n <= first)
		return sampled->ring + off;
	memcpy(space, sampled->ring + off, first);
	memcpy((uint8_t *)space + first, sampled->ring, n - first);
	return space;
}

/* Calls `prompted` for the samples that came since the last call. */
static void prompt(struct sampled *sampled, const struct ts_sampled_calls *calls)
{
	/* Pairs with the kernel's barrier, as in take_ring(). */
	uint64_t head = __atomic_load_n(&sampled->page->data_head, __ATOMIC_ACQUIRE);

	while (sampled->seen < head) {
		uint8_t space[sizeof(struct sample_head)];
		struct perf_event_header header;
		struct sample_head sample;

		memcpy(&header, bytes_at(sampled, sampled->seen, space, sizeof(header)),
		       sizeof(header));
		if (header.size < sizeof(header) || header.size > head - sampled->seen)
			break;
		if (header.type == PERF_RECORD_SAMPLE &&
		    header.size >= sizeof(header) + sizeof(sample)) {
			memcpy(&sample,
			       bytes_at(sampled, sampled->seen + sizeof(header), space,
					sizeof(sample)),
			       sizeof(sample));
			if (calls->prompted)
				calls->prompted(calls->data, sampled->tid, sampled->inner_tid,
						sample.time);
		}
		sampled->seen += header.size;
	}
}

/*
 * Begins to load the stack into the cache, as deep as the thread's stacks were so far. Another
 * processor wrote it, and the walk would wait for each of its words.
 */
static void fetch_stack(const struct ts_thread_sample *sample, size_t depth_bytes)
{
	size_t n = depth_bytes < sample->n_stack_bytes ? depth_bytes : sample->n_stack_bytes;

	n = n < FETCHED_BYTES ? n : FETCHED_BYTES;
	for (size_t i = 0; i < n; i += LINE_BYTES)
		__builtin_prefetch((const uint8_t *)sample->stack + i);
}

static int take_sample(struct sampled *sampled, const uint8_t *bytes, size_t n, bool in_kernel,
		       const struct ts_sampled_calls *calls)
{
	struct ts_thread_sample sample = {.tid = sampled->tid,
					  .inner_tid = sampled->inner_tid,
					  .period_ns = sampled->period_ns,
					  .in_kernel = in_kernel,
					  .name = sampled->name};
	struct sample_head head;
	uint64_t registers[3], n_stack, n_dumped;
	size_t depth_bytes;
	int r;

	if (n < sizeof(head))
		return 0;
	memcpy(&head, bytes, sizeof(head));
	sample.time_ns = head.time;
	sample.cpu = head.cpu;
	bytes += sizeof(head);
	n -= sizeof(head);
	/* A kernel thread, or 32-bit code. */
	if (head.registers_abi != PERF_SAMPLE_REGS_ABI_64 || n < sizeof(registers) + 8)
		return 0;
	memcpy(registers, bytes, sizeof(registers));
	memcpy(&n_stack, bytes + sizeof(registers), 8);
	bytes += sizeof(registers) + 8;
	n -= sizeof(registers) + 8;
	/* The registers come in the order of their numbers: BP, SP, IP. */
	sample.registers = (struct ts_unwind_registers){registers[2], registers[1], registers[0]};
	if (n_stack && n_stack <= n && n - n_stack >= 8) {
		memcpy(&n_dumped, bytes + n_stack, 8);
		sample.stack = bytes;
		sample.n_stack_bytes = n_dumped < n_stack ? n_dumped : n_stack;
	}
	fetch_stack(&sample, sampled->depth_bytes);
	r = calls->sampled(calls->data, &sample, &depth_bytes);
	sampled->n_samples++;
	if (depth_bytes > sampled->depth_bytes)
		sampled->depth_bytes = depth_bytes;
	return r;
}

/* True if a stack was deeper than the copy, which is shorter than the longest one. */
static bool is_cut(const struct sampled *sampled)
{
	return sampled->stack_bytes < TS_SAMPLE_STACK_BYTES &&
	       sampled->depth_bytes > sampled->stack_bytes;
}

/* Returns the length of the stack copy that suits the thread's stacks so far. */
static uint32_t suitable_bytes(const struct sampled *sampled)
{
	uint32_t n = TS_SAMPLE_LEAST_STACK_BYTES;

	if (sampled->keeps_event)
		return sampled->stack_bytes;
	if (is_cut(sampled))
		return TS_SAMPLE_STACK_BYTES;
	if (sampled->stack_bytes < TS_SAMPLE_STACK_BYTES)
		return sampled->stack_bytes;
	if (sampled->n_samples < sampled->learning)
		return sampled->stack_bytes;
	while (n < TS_SAMPLE_STACK_BYTES && n / 4 * 3 < sampled->depth_bytes)
		n *= 2;
	return n;
}

/*
 * Opens a new event with another length of the copy. The old event is disabled and its ring is
 * empty. If no equally good event can be opened, the old one continues. Reasons: this process may
 * have lost rights since, or memory for two rings may be short.
 */
static void replace_event(struct ts_sampled_threads *threads, struct sampled *sampled,
			  uint32_t stack_bytes)
{
	struct sampled next = *sampled;

	next.fd = -1;
	next.page = NULL;
	next.seen = 0;
	next.stack_bytes = stack_bytes;
	if (is_cut(sampled)) {
		/* The depth of the stack that was cut is not known. */
		next.depth_bytes = sampled->stack_bytes;
		next.n_samples = 0;
		if (next.learning < UINT32_MAX / LEARNING_GROWTH)
			next.learning *= LEARNING_GROWTH;
	}
	if (begin_event(threads, &next, sampled->tid) || next.ring_bytes < sampled->ring_bytes) {
		close_event(&next);
		sampled->keeps_event = true;
		if (!threads->off)
			ioctl(sampled->fd, PERF_EVENT_IOC_ENABLE, 0);
		return;
	}
	close_event(sampled);
	*sampled = next;
	/* A disabled event records neither mappings nor clones, so check both. */
	threads->mapped = threads->scan = true;
}

/* True if the record is the exit of this thread. Its numbers are pid, parent and thread. */
static bool exits(const struct sampled *sampled, const uint8_t *bytes, size_t n)
{
	uint32_t numbers[3];

	if (n < sizeof(numbers))
		return false;
	memcpy(numbers, bytes, sizeof(numbers));
	return numbers[2] == sampled->tid;
}

static int take_ring(struct ts_sampled_threads *threads, struct sampled *sampled,
		     const struct ts_sampled_calls *calls)
{
	uint64_t tail = sampled->page->data_tail, head;
	bool is_over = false;
	int r = 0;

	/*
	 * Pairs with the kernel's barrier before its store of data_head. The release of data_tail
	 * below pairs with the kernel's read of data_tail.
	 */
	head = __atomic_load_n(&sampled->page->data_head, __ATOMIC_ACQUIRE);
	if (calls->before)
		calls->before(calls->data);
	if (threads->options.prompt) {
		prompt(sampled, calls);
		head = sampled->seen;
	}
	while (tail < head && !r) {
		struct perf_event_header header;
		const uint8_t *record;
		uint64_t lost[2];
		size_t n;

		memcpy(&header, bytes_at(sampled, tail, threads->record, sizeof(header)),
		       sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail)
			break;
		n = header.size - sizeof(header);
		record = bytes_at(sampled, tail + sizeof(header), threads->record, n);
		if (header.type == PERF_RECORD_SAMPLE) {
			r = take_sample(sampled, record, n,
					(header.misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
						PERF_RECORD_MISC_KERNEL,
					calls);
		} else if (header.type == PERF_RECORD_LOST && n >= sizeof(lost)) {
			memcpy(lost, record, sizeof(lost));
			threads->n_lost += lost[1];
		} else if (header.type == PERF_RECORD_MMAP) {
			threads->mapped = true;
		} else if (header.type == PERF_RECORD_FORK) {
			threads->scan = true;
		} else if (header.type == PERF_RECORD_EXIT) {
			is_over |= exits(sampled, record, n);
		}
		tail += header.size;
		__atomic_store_n(&sampled->page->data_tail, tail, __ATOMIC_RELEASE);
	}
	/* The kernel may reuse the thread's number. */
	if (is_over) {
		(void)ts_map_set(&threads->by_tid, sampled->tid, 0);
		close_thread(threads, sampled);
	}
	return r;
}

/*
 * True if the kernel may have dropped records. The kernel reports a loss with the next record that
 * has room.
 */
static bool is_crowded(const struct sampled *sampled)
{
	uint64_t head = __atomic_load_n(&sampled->page->data_head, __ATOMIC_ACQUIRE);

	return head - sampled->page->data_tail > sampled->ring_bytes / 4 * 3;
}

static int take_thread(struct ts_sampled_threads *threads, struct sampled *sampled,
		       const struct ts_sampled_calls *calls)
{
	bool was_crowded = is_crowded(sampled);
	int r = take_ring(threads, sampled, calls);

	if (r || !sampled->tid || was_crowded || suitable_bytes(sampled) == sampled->stack_bytes)
		return r;
	/*
	 * Handle the samples that came meanwhile, because closing the event drops them. They may
	 * be deeper than the ones before, so only now the length is known.
	 */
	ioctl(sampled->fd, PERF_EVENT_IOC_DISABLE, 0);
	r = take_ring(threads, sampled, calls);
	if (!r && sampled->tid)
		replace_event(threads, sampled, suitable_bytes(sampled));
	return r;
}

/*
 * Handles the readiness of a thread's ring. True: its samples should be handled now. With `prompt`,
 * each sample makes the ring ready. Without it, each half of the ring that the kernel has written
 * does so, even if the samples were handled meanwhile. A ring that is a quarter full can wait: at
 * the next time it is three quarters full.
 */
static bool take_readiness(struct ts_sampled_threads *threads, uint32_t tid,
			   const struct ts_sampled_calls *calls)
{
	uint64_t slot = ts_map_get(&threads->by_tid, tid);
	struct sampled *sampled;
	uint64_t head;

	if (!slot || slot > TS_SAMPLED_MAX || threads->threads[slot - 1].tid != tid)
		return false;
	sampled = &threads->threads[slot - 1];
	if (!threads->options.prompt) {
		/* No record is read here. */
		head = __atomic_load_n(&sampled->page->data_head, __ATOMIC_RELAXED);
		return head - sampled->page->data_tail > sampled->ring_bytes / 4;
	}
	prompt(sampled, calls);
	return sampled->seen - sampled->page->data_tail > sampled->ring_bytes / 2;
}

int ts_sampled_threads_wait(struct ts_sampled_threads *threads,
			    const struct ts_sampled_calls *calls, bool *ret_woken)
{
	const long ms = threads->options.wait_ms;
	const struct itimerspec timer = {.it_value = {ms / 1000, ms % 1000 * 1000000}};
	bool is_over = false;

	*ret_woken = false;
	/* This also clears an expiry that came since. */
	if (timerfd_settime(threads->timer_fd, 0, &timer, NULL) < 0)
		return -errno;
	while (!is_over) {
		struct epoll_event events[64];
		int n = epoll_wait(threads->epoll_fd, events, TS_ARRAY_LEN(events), -1);

		if (n < 0 && errno != EINTR)
			return -errno;
		for (int i = 0; i < n; i++) {
			*ret_woken |= events[i].data.u32 == EVENT_WAKE;
			is_over |= events[i].data.u32 == EVENT_WAKE ||
				   events[i].data.u32 == EVENT_TIMER ||
				   take_readiness(threads, events[i].data.u32, calls);
		}
	}
	return 0;
}

int ts_sampled_threads_set_period(struct ts_sampled_threads *threads, uint64_t period_ns,
				  const struct ts_sampled_calls *calls)
{
	int r = 0;

	threads->options.period_ns = period_ns;
	for (uint32_t i = 0; i < threads->n_slots && !r; i++) {
		struct sampled *sampled = &threads->threads[i];

		if (!sampled->tid)
			continue;
		/* The samples in the ring have the period before. */
		ioctl(sampled->fd, PERF_EVENT_IOC_DISABLE, 0);
		r = take_ring(threads, sampled, calls);
		if (!sampled->tid)
			continue;
		if (!ioctl(sampled->fd, PERF_EVENT_IOC_PERIOD, &period_ns))
			sampled->period_ns = period_ns;
		if (!threads->off)
			ioctl(sampled->fd, PERF_EVENT_IOC_ENABLE, 0);
	}
	return r;
}

int ts_sampled_threads_take(struct ts_sampled_threads *threads,
			    const struct ts_sampled_calls *calls)
{
	int r = 0;

	for (uint32_t i = 0; i < threads->n_slots && !r; i++)
		if (threads->threads[i].tid)
			r = take_thread(threads, &threads->threads[i], calls);
	if (!r && (threads->scan || ts_clock_monotonic_ns() - threads->scanned_ns > RESCAN_NS))
		r = scan(threads);
	return r;
}
