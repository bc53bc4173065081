/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampler process; daemon/main.c calls ts_sampler_main() for TS_SAMPLER_ARGUMENT. The process
 * takes the rights of the session's user and samples the threads of the session (threads.h).
 *
 * The process handles the samples of 160 ms together. It walks the copied native stack
 * (remote-unwind.h), finds the functions of the Python stack (remote-python.h), and sends both
 * stacks, merged, to the daemon. The kernel has read the frames of the Python stack (pyring.h). If
 * it cannot, each sample wakes the process, which copies these frames at once (pyframes.h) and does
 * nothing else: a process that wakes has a cold cache.
 */
#include "daemon/sample/sampling.h"

#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#include "daemon/sample/pyframes.h"
#include "daemon/sample/pyring.h"
#include "daemon/sample/rate.h"
#include "daemon/sample/sampler.h"
#include "daemon/sample/threads.h"
#include "daemon/util/daemon-error.h"
#include "daemon/util/identity.h"
#include "daemon/util/spawn.h"
#include "proto/abi/clock.h"

/*
 * Samples of this time are handled together. The ring of a thread that runs all the time is half
 * full a moment before, if the copies of its stack are short.
 */
#define WAIT_MS 160
/*
 * Time between small messages: a message costs the sampler as much as a sample, and the daemon
 * more, because its caches are cold.
 */
#define SEND_NS	   UINT64_C(250000000)
#define SEND_BYTES (TS_SAMPLER_MESSAGE_BYTES / 2)
/* The cost of a sample is measured over this time, and this number of samples. */
#define COST_NS	     UINT64_C(1000000000)
#define COST_SAMPLES 32u
/* The cost in a sampled thread is measured with so many samples of this period for each trial. */
#define TRIAL_PERIOD_NS UINT64_C(50000)
#define TRIAL_SAMPLES	8u
#define TRIALS_PER_CALL 3u
#define TRIAL_CALLS	TS_RATE_WINDOWS /* the rate changes after the last of them */
#define THREAD_NS	UINT64_C(9000)	/* if no trial succeeds */

/* Measured costs of a sample in the sampled thread. */
struct trials {
	bool prompt; /* each sample woke a process */
	unsigned n_calls, n;
	uint64_t costs[TRIAL_CALLS * TRIALS_PER_CALL];
};

struct sampling {
	struct ts_sampler_process process;
	struct ts_images *images;
	struct ts_unwinder *unwinder;
	struct ts_remote_python *python;
	struct ts_sampled_threads *threads;
	/* Python stacks of samples that are not handled yet. NULL: the process runs no Python. */
	struct ts_python_ring *ring;
	struct ts_remote_frames *frames; /* NULL: the kernel reads the frames */
	struct ts_sampled_options options;
	struct ts_bpf_python config;
	bool off;
	struct ts_unwound_frames native;
	struct ts_bpf_python_stack stack; /* frames that this process copied last */
	bool why_reported;
	uint64_t n_samples, n_lost, n_dropped, lost_reported, sent_ns;
	struct ts_sample_rate rate;
	bool is_rate_fixed; /* the options set it */
	/* The present window of `rate`. */
	uint64_t window_ns, window_samples, window_processor_ns;
	struct trials trials;
	uint64_t daemon_ns; /* processor time of a sample in the daemon; 0: not known yet */
	size_t stack_bytes; /* copied with the last sample */
	size_t n_message;
	uint64_t message[TS_SAMPLER_MESSAGE_BYTES / 8];
};

/* ---- messages ---- */

/*
 * Sends the collected items. If the daemon's queue is full, this function waits. During the wait,
 * perf's rings store new samples, and count the samples for which they have no room.
 */
static int flush(struct sampling *sampling)
{
	ssize_t n = (ssize_t)sampling->n_message;

	if (!n)
		return 0;
	while (send(TS_SPAWN_FD, sampling->message, sampling->n_message, MSG_NOSIGNAL) != n)
		if (errno != EINTR)
			return -ECONNRESET;
	sampling->n_message = 0;
	sampling->sent_ns = ts_clock_monotonic_ns();
	return 0;
}

/* Appends an item that consists of two parts; both are copied. */
static int put(struct sampling *sampling, enum ts_sampler_kind kind, const void *head,
	       size_t n_head, const void *rest, size_t n_rest)
{
	struct ts_sampler_item item = {kind, (uint32_t)(n_head + n_rest)};
	size_t n = (sizeof(item) + n_head + n_rest + 7) & ~(size_t)7;
	uint8_t *to;
	int r = 0;

	if (sampling->n_message + n > sizeof(sampling->message))
		r = flush(sampling);
	if (r)
		return r;
	to = (uint8_t *)sampling->message + sampling->n_message;
	memcpy(to, &item, sizeof(item));
	if (n_head)
		memcpy(to + sizeof(item), head, n_head);
	if (n_rest)
		memcpy(to + sizeof(item) + n_head, rest, n_rest);
	memset(to + sizeof(item) + n_head + n_rest, 0, n - sizeof(item) - n_head - n_rest);
	sampling->n_message += n;
	return 0;
}

static int put_text(void *data, uint32_t id, const char *text, size_t n_text)
{
	struct ts_sampler_text head = {id, (uint32_t)n_text};

	return put(data, TS_SAMPLER_TEXT, &head, sizeof(head), text, n_text);
}

static int put_why(struct sampling *sampling, const char *why)
{
	if (sampling->why_reported)
		return 0;
	sampling->why_reported = true;
	return put(sampling, TS_SAMPLER_WHY, why, strlen(why), NULL, 0);
}

static int put_losses(struct sampling *sampling)
{
	uint64_t n = ts_sampled_threads_lost(sampling->threads);
	struct ts_sampler_lost lost = {n - sampling->lost_reported};

	if (!lost.count)
		return 0;
	sampling->lost_reported = n;
	return put(sampling, TS_SAMPLER_LOST, &lost, sizeof(lost), NULL, 0);
}

/* Returns the processor time of this process. */
static uint64_t processor_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int put_done(struct sampling *sampling)
{
	struct ts_sampler_done done = {.n_samples = sampling->n_samples,
				       .processor_ns = processor_ns()};
	int r;

	r = put(sampling, TS_SAMPLER_DONE, &done, sizeof(done), NULL, 0);
	return r ?: flush(sampling);
}

/* ---- samples ---- */

/* Copies the Python frames of a thread, right after its sample. */
static void copy_python(void *data, uint32_t tid, uint32_t inner_tid, uint64_t time_ns)
{
	struct sampling *sampling = data;

	if (!sampling->frames ||
	    !ts_remote_frames_read(sampling->frames, inner_tid, &sampling->stack))
		return;
	sampling->stack.tid = tid;
	sampling->stack.time_ns = time_ns;
	ts_python_ring_put(sampling->ring, &sampling->stack);
}

/* Finds the Python functions of a sample for the merge. */
static int read_python(struct sampling *sampling, const struct ts_thread_sample *sample,
		       bool *ret_has_frames)
{
	const struct ts_bpf_python_stack *stack;

	*ret_has_frames = false;
	if (!sampling->ring)
		return 0;
	stack = ts_python_ring_find(sampling->ring, sample->tid, sample->time_ns);
	return stack ? ts_remote_python_take(sampling->python, stack, ret_has_frames) : 0;
}

/* Returns the bytes from the stack pointer to the end of the outermost return address. */
static size_t depth_of(const struct ts_unwound_frames *native, uint64_t sp)
{
	return native->n > 1 ? native->at[native->n - 1] + 8 - sp : 0;
}

static int take_sample(void *data, const struct ts_thread_sample *sample, size_t *ret_depth_bytes)
{
	struct sampling *sampling = data;
	struct ts_sampler_sample head = {.time_ns = sample->time_ns,
					 .period_ns = sample->period_ns,
					 .tid = sample->tid,
					 .cpu = sample->cpu,
					 .flags = sample->in_kernel ? TS_SAMPLER_IN_KERNEL : 0};
	uint64_t merged[TS_SAMPLER_FRAMES_MAX];
	const uint64_t *frames = sampling->native.frames;
	bool has_python;
	int r = read_python(sampling, sample, &has_python);

	*ret_depth_bytes = SIZE_MAX;
	sampling->stack_bytes = sample->n_stack_bytes;
	if (r)
		return r;
	ts_unwinder_walk(sampling->unwinder, &sample->registers, sample->stack,
			 sample->n_stack_bytes, &sampling->native);
	head.n_frames = sampling->native.n;
	if (sampling->native.is_complete)
		*ret_depth_bytes = depth_of(&sampling->native, sample->registers.sp);
	else
		head.flags |= TS_SAMPLER_TRUNCATED;
	if (has_python) {
		head.n_frames = ts_remote_python_merge(sampling->python, &sampling->native, merged);
		frames = merged;
	}
	memcpy(head.name, sample->name, sizeof(head.name));
	sampling->n_samples++;
	return put(sampling, TS_SAMPLER_SAMPLE, &head, sizeof(head), frames,
		   head.n_frames * sizeof(*frames));
}

static int open_threads(struct sampling *sampling)
{
	/* Report the losses of the old rings before they are closed. */
	int r = sampling->threads ? put_losses(sampling) : 0;

	if (r)
		return r;
	ts_sampled_threads_free(sampling->threads);
	sampling->threads = NULL;
	sampling->lost_reported = 0;
	r = ts_sampled_threads_new(sampling->process.pid, &sampling->options, &sampling->threads);
	if (!r && sampling->off)
		ts_sampled_threads_enable(sampling->threads, false);
	return r;
}

/*
 * Handles a new interpreter. After that, each sample wakes this process, which copies the Python
 * frames at once. When the daemon sends the BPF program that reads them in the kernel
 * (take_program()), samples no longer wake this process.
 */
static int take_interpreter(struct sampling *sampling)
{
	int r;

	if (!ts_remote_python_config(sampling->python, &sampling->config))
		return 0;
	r = ts_python_ring_new(&sampling->ring);
	r = r ?: ts_remote_frames_new(sampling->process.pid, &sampling->config, &sampling->frames);
	sampling->options.prompt = true;
	r = r ?: open_threads(sampling);
	r = r ?: put(sampling, TS_SAMPLER_PYTHON, NULL, 0, NULL, 0);
	return r ?: flush(sampling);
}

/* Handles changed mappings: an interpreter or a library may be new. */
static int look_around(struct sampling *sampling)
{
	const char *why;
	int r = 0;

	if (ts_sampled_threads_mapped(sampling->threads))
		ts_images_refresh(sampling->images);
	ts_remote_python_look(sampling->python);
	if (!sampling->ring)
		r = take_interpreter(sampling);
	why = ts_remote_python_why(sampling->python);
	if (!r && !why && ts_sampled_threads_left_out(sampling->threads))
		why = "samples: some threads are not sampled (RLIMIT_MEMLOCK, RLIMIT_NOFILE, or more than 1024 threads)";
	return r ?: why ? put_why(sampling, why) : 0;
}

/* ---- the process ---- */

/*
 * Takes the rights of the session's user. A daemon that cannot change its user samples only
 * processes of its own user.
 */
static int take_rights(const struct ts_sampler_process *process)
{
	if (geteuid() == process->uid)
		return 0;
	if (geteuid())
		return -EPERM;
	if (setgroups(0, NULL) < 0 || setresgid(process->gid, process->gid, process->gid) < 0 ||
	    setresuid(process->uid, process->uid, process->uid) < 0)
		return -errno;
	return 0;
}

static int read_arguments(struct sampling *sampling, int argc, char **argv)
{
	uint64_t numbers[5];

	if (argc != 7)
		return -EINVAL;
	for (int i = 0; i < 5; i++) {
		char *end;

		errno = 0;
		numbers[i] = strtoull(argv[2 + i], &end, 10);
		if (errno || *end || end == argv[2 + i])
			return -EINVAL;
	}
	sampling->process = (struct ts_sampler_process){(pid_t)numbers[0], (uid_t)numbers[1],
							(gid_t)numbers[2], numbers[3]};
	sampling->options.period_ns = numbers[4];
	sampling->is_rate_fixed = numbers[4] != TS_SAMPLER_PERIOD_NS;
	ts_sample_rate_init(&sampling->rate, numbers[4]);
	return numbers[4] ? 0 : -EINVAL;
}

#define E_RIGHTS 1 /* the rights of the user cannot be taken */

static int begin(struct sampling *sampling)
{
	const struct ts_sampler_process *process = &sampling->process;
	struct rlimit files;
	uint64_t ticks;
	int r = take_rights(process) ? E_RIGHTS : 0;

	sampling->options.program_fd = -1;
	sampling->options.wait_ms = WAIT_MS;
	sampling->options.wake_fd = TS_SPAWN_FD;

	/* This is set after the change of rights, because that change clears it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "ts-sampler");
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	r = r ?: ts_images_new(process->pid, &sampling->images);
	r = r ?: ts_unwinder_new(sampling->images, &sampling->unwinder);
	r = r
		    ?: ts_remote_python_new(process->pid, sampling->images, put_text, sampling,
					    &sampling->python);
	r = r ?: open_threads(sampling);
	/*
	 * If the process number still belongs to the same process, all opened events belong to it
	 * too.
	 */
	r = r ?: ts_identity_start_ticks(process->pid, &ticks);
	return r ?: ticks == process->start_ticks ? 0 : -ESRCH;
}

/* Reports why the process cannot be sampled, in words for users. */
static void explain(struct sampling *sampling, int r)
{
	char why[160], level[16] = "";
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");

	if (file && fgets(level, sizeof(level), file))
		level[strcspn(level, "\n")] = '\0';
	if (file)
		fclose(file);
	if (r == -EACCES || r == -EPERM)
		snprintf(
			why, sizeof(why),
			"samples: not permitted: kernel.perf_event_paranoid is %s; set it to 2 or less",
			*level ? level : "unknown");
	else if (r == -EOPNOTSUPP)
		snprintf(why, sizeof(why), "samples: not on this processor, only on x86-64");
	else if (r == -ENOENT || r == -ENOSYS)
		snprintf(why, sizeof(why), "samples: the kernel has no perf events");
	else
		snprintf(why, sizeof(why), "samples: %s", strerror(-r));
	if (r != -ESRCH)
		(void)put_why(sampling, why);
}

static void begin_window(struct sampling *sampling)
{
	sampling->window_ns = ts_clock_monotonic_ns();
	sampling->window_samples = sampling->n_samples;
	sampling->window_processor_ns = processor_ns();
}

static void switch_to(struct sampling *sampling, bool on)
{
	sampling->off = !on;
	ts_sampled_threads_enable(sampling->threads, on);
	begin_window(sampling);
}

/* Lets the program read Python stacks. Samples then need not be handled one by one. */
static int take_program(struct sampling *sampling, const int *fds)
{
	if (!sampling->frames ||
	    ts_python_ring_map(sampling->ring, fds[TS_BPF_SAMPLE_CONFIG], fds[TS_BPF_SAMPLE_RING]))
		return 0;
	ts_python_ring_configure(sampling->ring, &sampling->config);
	sampling->options.program_fd = fds[TS_BPF_SAMPLE_PROGRAM];
	sampling->options.prompt = false;
	if (!open_threads(sampling) && ts_sampled_threads_runs_program(sampling->threads)) {
		ts_remote_frames_free(sampling->frames);
		sampling->frames = NULL;
		return 0;
	}
	/* The kernel refuses the program. */
	ts_python_ring_unmap(sampling->ring);
	sampling->options.program_fd = -1;
	sampling->options.prompt = true;
	return open_threads(sampling);
}

/*
 * Receives a word; *ret_fds has the descriptors that came with it. Returns the word, 0 if there is
 * none, or a negative errno if the daemon has closed the socket.
 */
static int receive_word(int ret_fds[TS_BPF_SAMPLE_FDS], bool *ret_has_fds)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(TS_BPF_SAMPLE_FDS * sizeof(int))];
	} control = {.bytes = {0}};
	uint32_t word;
	struct iovec iov = {&word, sizeof(word)};
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	ssize_t n = recvmsg(TS_SPAWN_FD, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	*ret_has_fds = false;
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (n != sizeof(word))
		return -ECONNRESET;
	if (message.msg_controllen >= sizeof(control.header) &&
	    control.header.cmsg_type == SCM_RIGHTS &&
	    control.header.cmsg_len == CMSG_LEN(TS_BPF_SAMPLE_FDS * sizeof(int))) {
		memcpy(ret_fds, CMSG_DATA(&control.header), TS_BPF_SAMPLE_FDS * sizeof(int));
		*ret_has_fds = true;
	}
	return (int)word;
}

/* Closes all received descriptors but that of the program that runs. */
static void close_received(const struct sampling *sampling, int fds[TS_BPF_SAMPLE_FDS])
{
	for (int i = 0; i < TS_BPF_SAMPLE_FDS; i++)
		if (fds[i] != sampling->options.program_fd)
			ts_closep(&fds[i]);
}

/*
 * Handles all words. *ret_finish is set if the daemon requests the end, or has closed the socket.
 */
static int take_words(struct sampling *sampling, bool *ret_finish)
{
	int fds[TS_BPF_SAMPLE_FDS] = {0}, word, r = 0;
	bool has_fds;

	while (!r && (word = receive_word(fds, &has_fds)) > 0) {
		if (word == TS_SAMPLING_FINISH)
			*ret_finish = true;
		else if (word == TS_SAMPLING_PROGRAM)
			r = has_fds ? take_program(sampling, fds) : 0;
		else if (word >= TS_SAMPLING_COST)
			sampling->daemon_ns = (uint64_t)word - TS_SAMPLING_COST;
		else
			switch_to(sampling, word == TS_SAMPLING_ON);
		if (has_fds)
			close_received(sampling, fds);
	}
	*ret_finish |= word < 0;
	return r;
}

static void drain_python(void *data)
{
	const struct sampling *sampling = data;

	if (sampling->ring)
		ts_python_ring_drain(sampling->ring);
}

static struct ts_sampled_calls calls_of(struct sampling *sampling)
{
	return (struct ts_sampled_calls){take_sample, copy_python, drain_python, sampling};
}

static int take_all(struct sampling *sampling)
{
	const struct ts_sampled_calls calls = calls_of(sampling);
	int r = ts_sampled_threads_take(sampling->threads, &calls);

	r = r ?: put_losses(sampling);
	return r ?: look_around(sampling);
}

/* ---- the cost ---- */

static int count_sample(void *data, const struct ts_thread_sample *sample, size_t *ret_depth_bytes)
{
	(void)sample;
	*ret_depth_bytes = 0;
	++*(unsigned *)data;
	return 0;
}

static uint64_t thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/*
 * Computes n numbers. Returns the processor time. The function's frame is as large as a copied
 * stack, and in memory.
 */
static __attribute__((noinline)) uint64_t compute(uint64_t n)
{
	volatile uint8_t stack[TS_SAMPLE_STACK_BYTES];
	volatile uint64_t result = 1;
	uint64_t begun_ns;

	for (size_t i = 0; i < sizeof(stack); i++)
		stack[i] = 0;
	begun_ns = thread_ns();
	for (uint64_t i = 0; i < n; i++)
		result = result * UINT64_C(6364136223846793005) + stack[0];
	return thread_ns() - begun_ns;
}

static int compare_numbers(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return (a > b) - (a < b);
}

struct trial {
	struct ts_sampled_threads *threads;
	struct ts_sampled_calls calls;
	int end_fd;
	unsigned n_samples;
};

/* Waits for samples as this process does, until end_fd is readable. */
static void *wait_for_samples(void *data)
{
	struct trial *trial = data;
	bool ends = false;

	while (!ends && !ts_sampled_threads_wait(trial->threads, &trial->calls, &ends))
		;
	return NULL;
}

/* Returns the processor time with samples. With `prompt`, each sample wakes another thread. */
static uint64_t compute_with_samples(struct trial *trial, bool prompt, uint64_t n_numbers)
{
	bool waits = false;
	uint64_t ns, one = 1;
	pthread_t waiter;

	if (prompt)
		waits = !pthread_create(&waiter, NULL, wait_for_samples, trial);
	ts_sampled_threads_enable(trial->threads, true);
	ns = compute(n_numbers);
	ts_sampled_threads_enable(trial->threads, false);
	if (waits) {
		while (write(trial->end_fd, &one, sizeof(one)) < 0 && errno == EINTR)
			;
		pthread_join(waiter, NULL);
		while (read(trial->end_fd, &one, sizeof(one)) < 0 && errno == EINTR)
			;
	}
	return ns;
}

/*
 * Measures the processor time that a sample takes from the sampled thread, on this process: the
 * same computation with samples and without. Each call makes some trials, because real samples
 * wait meanwhile.
 */
static void add_trials(struct trials *trials, bool prompt, uint32_t stack_bytes)
{
	ts_cleanup(ts_closep) int end_fd = eventfd(0, EFD_CLOEXEC);
	struct trial trial = {.end_fd = end_fd};
	const struct ts_sampled_options options = {.period_ns = TRIAL_PERIOD_NS,
						   .prompt = prompt,
						   .program_fd = -1,
						   .wake_fd = end_fd,
						   .stack_bytes = stack_bytes};
	uint64_t n_numbers = 1000;

	if (trials->prompt != prompt)
		*trials = (struct trials){.prompt = prompt};
	if (trials->n_calls == TRIAL_CALLS || end_fd < 0)
		return;
	trials->n_calls++;
	trial.calls = (struct ts_sampled_calls){count_sample, NULL, NULL, &trial.n_samples};
	while (compute(n_numbers) < TRIAL_SAMPLES * TRIAL_PERIOD_NS)
		n_numbers *= 2;
	if (ts_sampled_threads_new(getpid(), &options, &trial.threads))
		return;
	ts_sampled_threads_enable(trial.threads, false);
	for (unsigned i = 0; i < TRIALS_PER_CALL; i++) {
		uint64_t without_ns = compute(n_numbers);
		uint64_t with_ns = compute_with_samples(&trial, prompt, n_numbers);

		trial.n_samples = 0;
		if (!ts_sampled_threads_take(trial.threads, &trial.calls) && trial.n_samples)
			trials->costs[trials->n++] =
				with_ns > without_ns ? (with_ns - without_ns) / trial.n_samples : 0;
	}
	ts_sampled_threads_free(trial.threads);
}

/*
 * Returns the median of the trials. It is exact to some microseconds although other programs run.
 */
static uint64_t median_of(const struct trials *trials)
{
	uint64_t costs[TS_ARRAY_LEN(trials->costs)];

	if (!trials->n)
		return THREAD_NS;
	memcpy(costs, trials->costs, trials->n * sizeof(*costs));
	qsort(costs, trials->n, sizeof(*costs), compare_numbers);
	return costs[trials->n / 2];
}

/* Changes the rate if samples cost too much, or less than before; the trace has the reason. */
static int adapt_rate(struct sampling *sampling)
{
	const struct ts_sampled_calls calls = calls_of(sampling);
	uint64_t window_ns = ts_clock_monotonic_ns() - sampling->window_ns;
	uint64_t n_samples = sampling->n_samples - sampling->window_samples, cost_ns;
	struct ts_sampler_rate changed;
	int r;

	if (sampling->is_rate_fixed || sampling->off || window_ns < COST_NS ||
	    n_samples < COST_SAMPLES)
		return 0;
	cost_ns = processor_ns() - sampling->window_processor_ns;
	add_trials(&sampling->trials, sampling->options.prompt,
		   (uint32_t)sampling->stack_bytes & ~7u);
	cost_ns += n_samples * (median_of(&sampling->trials) + sampling->daemon_ns);
	changed.period_ns = ts_sample_rate_add(&sampling->rate, window_ns, n_samples, cost_ns);
	changed.cost_ns = sampling->rate.cost_ns;
	begin_window(sampling);
	if (changed.period_ns == sampling->options.period_ns)
		return 0;
	sampling->options.period_ns = changed.period_ns;
	r = ts_sampled_threads_set_period(sampling->threads, changed.period_ns, &calls);
	return r ?: put(sampling, TS_SAMPLER_RATE, &changed, sizeof(changed), NULL, 0);
}

static int run(struct sampling *sampling)
{
	bool finish = false;
	int r = look_around(sampling);

	begin_window(sampling);

	if (!r && ts_sampled_threads_is_user_only(sampling->threads))
		r = put_why(
			sampling,
			"samples: time in the kernel is not sampled, because it requires CAP_PERFMON or kernel.perf_event_paranoid of at most 1");
	while (!r && !finish) {
		const struct ts_sampled_calls calls = calls_of(sampling);
		bool is_woken;

		r = ts_sampled_threads_wait(sampling->threads, &calls, &is_woken);
		/* Drain the rings first, because a word may replace them. */
		r = r ?: take_all(sampling);
		if (!r && is_woken)
			r = take_words(sampling, &finish);
		r = r ?: adapt_rate(sampling);
		if (!r && finish)
			r = take_all(sampling);
		if (!r && (sampling->n_message > SEND_BYTES ||
			   ts_clock_monotonic_ns() - sampling->sent_ns > SEND_NS))
			r = flush(sampling);
	}
	return r == -ESRCH ? 0 : r;
}

int ts_sampler_main(int argc, char **argv)
{
	struct sampling *sampling = calloc(1, sizeof(*sampling));
	int r;

	if (!sampling || read_arguments(sampling, argc, argv))
		return 2;
	r = begin(sampling);
	if (r)
		explain(sampling, r);
	else
		r = run(sampling);
	(void)put_done(sampling);
	ts_sampled_threads_free(sampling->threads);
	ts_python_ring_free(sampling->ring);
	ts_remote_frames_free(sampling->frames);
	ts_remote_python_free(sampling->python);
	ts_unwinder_free(sampling->unwinder);
	ts_images_free(sampling->images);
	free(sampling);
	return r ? 1 : 0;
}
