/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's side of the CPU sampler. It starts a sampler (daemon/sample) for the session, checks
 * the sampler's messages and makes rows. session-kernel.c calls this module in each round. The
 * session's thread waits for the sampler only at the session's end, at most LAST_MS.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>

#include "daemon/sample/sampler.h"
#include "daemon/serve/session/session-internal.h"
#include "daemon/util/daemon-error.h"
#include "proto/abi/map.h"
#include "proto/abi/tablehash.h"

#define LAST_MS	      500
#define MESSAGES_MAX  64u /* per round */
#define PERIOD_MIN_NS UINT64_C(100000)
#define WHY_BYTES     256u
#define STACKS_MAX    65536u
#define COST_SAMPLES  64u /* the daemon's cost is reported for so many samples together */

struct ts_session_samples {
	struct ts_sampler *sampler; /* NULL: the sampler ended */
	bool on, done, has_program, has_why;
	uint64_t lost_since_ns;
	/* Processor time since the last report of the cost, and the number of samples. */
	uint64_t spent_ns, n_spent;
	/*
	 * Stack ids by a 64-bit hash of the frames. Two stacks of a session do not collide
	 * in practice.
	 */
	struct ts_map stacks;
	/* The file's string for each text of the sampler, or TS_ID_UNKNOWN. */
	uint32_t texts[TS_REMOTE_PYTHON_TEXTS + 1];
};

int ts_session_samples_new(const struct ts_kernel_process *process, uint64_t period_ns,
			   struct ts_session_samples **ret_samples)
{
	const struct ts_sampler_process sampled = {process->pid, process->uid, process->gid,
						   process->start_ticks};
	struct ts_session_samples *samples = calloc(1, sizeof(*samples));
	int r;

	if (!samples)
		return ts_error_origin(-ENOMEM);
	if (!period_ns)
		period_ns = TS_SAMPLER_PERIOD_NS;
	r = ts_sampler_new(&sampled, period_ns < PERIOD_MIN_NS ? PERIOD_MIN_NS : period_ns,
			   &samples->sampler);
	if (r) {
		free(samples);
		return r;
	}
	samples->on = true;
	samples->lost_since_ns = ts_clock_monotonic_ns();
	*ret_samples = samples;
	return 0;
}

void ts_session_samples_free(struct ts_session_samples *samples)
{
	if (!samples)
		return;
	ts_sampler_free(samples->sampler);
	ts_map_deinit(&samples->stacks);
	free(samples);
}

void ts_session_samples_enable(struct ts_session_samples *samples, bool on)
{
	if (!samples || !samples->sampler || samples->on == on)
		return;
	samples->on = on;
	ts_sampler_enable(samples->sampler, on);
}

uint64_t ts_session_samples_memory(const struct ts_session_samples *samples)
{
	return samples ? sizeof(*samples) + ts_map_bytes(&samples->stacks) : 0;
}

/* ---- items ---- */

static int take_text(struct ts_session *s, struct ts_session_samples *samples, const uint8_t *bytes)
{
	struct ts_sampler_text head;
	uint32_t id = TS_ID_UNKNOWN;
	int r = 0;

	memcpy(&head, bytes, sizeof(head));
	if (ts_session_charge(s, head.n_text)) {
		r = ts_sbt_writer_string(s->recording->writer, (const char *)bytes + sizeof(head),
					 head.n_text, &id);
		if (r)
			return r < 0 ? ts_session_write_failed(s, r) : r;
	}
	samples->texts[head.id] = id;
	return 0;
}

/*
 * Replaces the sampler's numbers of texts by the file's string ids. If a frame's text is unknown,
 * it gets TS_ID_UNKNOWN.
 */
static void map_frames(const struct ts_session_samples *samples, uint64_t *frames, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t text = TS_FRAME_STRING(frames[i]);

		if (TS_FRAME_KIND(frames[i]) == TS_FRAME_NATIVE)
			continue;
		if (TS_FRAME_KIND(frames[i]) != TS_FRAME_PYTHON || text > TS_REMOTE_PYTHON_TEXTS)
			text = 0;
		frames[i] = TS_FRAME_PYTHON_AT(samples->texts[text], TS_FRAME_LINE(frames[i]));
	}
}

static int stack_id(struct ts_session *s, struct ts_session_samples *samples,
		    const uint64_t *frames, uint32_t n, bool truncated, uint32_t *ret_id)
{
	uint64_t hash = n;
	int r;

	*ret_id = TS_ID_UNKNOWN;
	if (!n)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		hash = ts_hash_add(hash, frames[i]);
		hash ^= hash >> 32;
	}
	*ret_id = ts_map_get(&samples->stacks, hash);
	if (*ret_id)
		return 0;
	if (ts_map_count(&samples->stacks) == STACKS_MAX)
		ts_map_deinit(&samples->stacks);
	if (!ts_session_charge(s, 0))
		return 0;
	r = ts_sbt_session_writer_add_stack(s->writer, frames, n,
					    truncated ? TS_STACK_TRUNCATED : 0, ret_id);
	if (r)
		return r < 0 ? ts_session_write_failed(s, r) : r;
	/* If the map cannot grow, the only effect is that the same stack is written again later. */
	(void)ts_map_set(&samples->stacks, hash, *ret_id);
	return 0;
}

static int take_sample(struct ts_session *s, struct ts_session_samples *samples,
		       const uint8_t *bytes)
{
	uint64_t frames[TS_SAMPLER_FRAMES_MAX];
	struct ts_sampler_sample head;
	struct ts_row_sample row = {0};
	struct ts_bpf_event event;
	int r;

	memcpy(&head, bytes, sizeof(head));
	if (head.time_ns > ts_clock_monotonic_ns() || head.time_ns < s->start_ns)
		return 0;
	memcpy(frames, bytes + sizeof(head), head.n_frames * sizeof(*frames));
	map_frames(samples, frames, head.n_frames);
	event = (struct ts_bpf_event){.tid = head.tid, .pid = s->row.pid, .start_ns = head.time_ns};
	memcpy(event.name, head.name, sizeof(event.name));
	row.start_ns = head.time_ns;
	row.period_ns = head.period_ns;
	row.cpu = head.cpu;
	row.flags = head.flags & TS_SAMPLER_IN_KERNEL ? TS_SAMPLE_KERNEL : 0;
	samples->n_spent++;
	ts_session_dirty(s);
	ts_session_count_row(s, TS_ROW_SAMPLE);
	r = ts_session_kernel_thread_of(s, &event, &row.thread);
	r = r
		    ?: stack_id(s, samples, frames, head.n_frames,
				head.flags & TS_SAMPLER_TRUNCATED, &row.stack);
	return r ?: ts_session_add_row(s, TS_ROW_SAMPLE, &row);
}

static int take_lost(struct ts_session *s, struct ts_session_samples *samples, const uint8_t *bytes)
{
	struct ts_sampler_lost lost;
	struct ts_row_loss row;

	memcpy(&lost, bytes, sizeof(lost));
	row = ts_loss_row(TS_LOSS_KERNEL_EVENTS, lost.count, samples->lost_since_ns,
			  ts_clock_monotonic_ns());
	row.context = TS_BPF_SAMPLES + 1;
	samples->lost_since_ns = row.end_ns;
	return ts_session_add_loss(s, &row);
}

static int describe(struct ts_session *s, const char *key, const char *value)
{
	int r = ts_sbt_writer_metadata(s->recording->writer, key, value);

	return r < 0 ? ts_session_write_failed(s, r) : r;
}

static int take_why(struct ts_session *s, struct ts_session_samples *samples, const uint8_t *bytes,
		    size_t n)
{
	char why[WHY_BYTES];

	snprintf(why, sizeof(why), "%.*s", (int)(n < WHY_BYTES ? n : WHY_BYTES),
		 (const char *)bytes);
	samples->has_why = true;
	ts_log(TS_LOG_INFO, "pid %" PRIu32 ": %s", s->row.pid, why);
	return describe(s, TS_METADATA_SAMPLES_MISSING, why);
}

static int take_rate(struct ts_session *s, const uint8_t *bytes)
{
	struct ts_sampler_rate rate;
	char text[128];

	memcpy(&rate, bytes, sizeof(rate));
	snprintf(
		text, sizeof(text),
		"%.0f a second of processor time, because one costs %.0f us (at most 0.3 %% of a core)",
		1e9 / (double)rate.period_ns, (double)rate.cost_ns / 1e3);
	return describe(s, TS_METADATA_SAMPLES_RATE, text);
}

static int take_done(struct ts_session *s, struct ts_session_samples *samples, const uint8_t *bytes)
{
	struct ts_sampler_done done;
	char text[64];
	uint64_t n_samples, ns;

	samples->done = true;
	memcpy(&done, bytes, sizeof(done));
	n_samples = __atomic_add_fetch(&s->recording->n_samples, done.n_samples, __ATOMIC_RELAXED);
	ns = __atomic_add_fetch(&s->recording->samples_ns, done.processor_ns, __ATOMIC_RELAXED);
	snprintf(text, sizeof(text), "%" PRIu64 " samples, %" PRIu64 " ns", n_samples, ns);
	return describe(s, TS_METADATA_SAMPLES_COST, text);
}

/*
 * Loads the BPF program only for a process with Python: the kernel needs about 30 ms to verify it.
 */
static void give_program(struct ts_session_samples *samples)
{
	struct ts_bpf_sample *program = NULL;
	int fds[TS_BPF_SAMPLE_FDS];

	if (samples->has_program)
		return;
	samples->has_program = true;
	ts_sampler_give_program(samples->sampler, ts_bpf_sample_new(&program, fds) ? NULL : fds);
	ts_bpf_sample_free(program);
}

static int take_item(struct ts_session *s, struct ts_session_samples *samples, uint32_t kind,
		     const uint8_t *bytes, size_t n)
{
	switch (kind) {
	case TS_SAMPLER_TEXT:
		return take_text(s, samples, bytes);
	case TS_SAMPLER_SAMPLE:
		return take_sample(s, samples, bytes);
	case TS_SAMPLER_LOST:
		return take_lost(s, samples, bytes);
	case TS_SAMPLER_WHY:
		return take_why(s, samples, bytes, n);
	case TS_SAMPLER_PYTHON:
		give_program(samples);
		return 0;
	case TS_SAMPLER_RATE:
		return take_rate(s, bytes);
	case TS_SAMPLER_DONE:
		return take_done(s, samples, bytes);
	default:
		return 0;
	}
}

static int take_message(struct ts_session *s, struct ts_session_samples *samples,
			const uint8_t *bytes, size_t n_bytes)
{
	struct ts_sampler_item item;
	const uint8_t *at;
	size_t off = 0;
	int r = 0;

	while (!r && ts_sampler_next(bytes, n_bytes, &off, &item, &at))
		r = take_item(s, samples, item.kind, at, item.n_bytes);
	return r;
}

/* ---- rounds ---- */

static uint64_t thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Adds a round's processor time, and reports the cost of a sample when enough samples came. */
static void report_cost(struct ts_session_samples *samples, uint64_t ns)
{
	samples->spent_ns += ns;
	if (samples->n_spent < COST_SAMPLES || !samples->sampler)
		return;
	ts_sampler_report_cost(samples->sampler, samples->spent_ns / samples->n_spent);
	samples->spent_ns = samples->n_spent = 0;
}

int ts_session_samples_round(struct ts_session *s, struct ts_session_samples *samples)
{
	const void *bytes;
	size_t n_bytes;
	uint64_t begun_ns;
	int r = 0, received = 0;

	if (!samples || !samples->sampler)
		return 0;
	begun_ns = thread_ns();
	for (unsigned i = 0; i < MESSAGES_MAX && !r; i++) {
		received = ts_sampler_receive(samples->sampler, &bytes, &n_bytes);
		if (received)
			break;
		r = take_message(s, samples, bytes, n_bytes);
	}
	if (!r && received == -ECONNRESET) {
		/* Do not replace an earlier reason that the sampler sent. */
		if (!samples->done && !samples->has_why)
			r = describe(s, TS_METADATA_SAMPLES_MISSING,
				     "samples: the sampler ended early");
		ts_sampler_free(samples->sampler);
		samples->sampler = NULL;
	}
	report_cost(samples, thread_ns() - begun_ns);
	return r;
}

int ts_session_samples_end(struct ts_session *s, struct ts_session_samples *samples)
{
	uint64_t until_ns = ts_clock_monotonic_ns() + LAST_MS * MS_NS;
	int r = 0;

	if (!samples || !samples->sampler)
		return 0;
	ts_sampler_finish(samples->sampler);
	while (!r && samples->sampler && !samples->done && ts_clock_monotonic_ns() < until_ns) {
		struct pollfd polled = {.fd = ts_sampler_fd(samples->sampler), .events = POLLIN};

		(void)poll(&polled, 1, LAST_MS / 10);
		r = ts_session_samples_round(s, samples);
	}
	ts_sampler_free(samples->sampler);
	samples->sampler = NULL;
	return r;
}
