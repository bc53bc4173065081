/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts answers into words: see words.h. tsctl's commands and tools/export call this file; it calls
 * figures.c, codes.c and short-function.c.
 */
#include "replay/report/answers/words.h"

#include "proto/abi/base.h"
#include "replay/report/pictures/figures.h"
#include "replay/report/stacks/codes.h"
#include "replay/report/stacks/short-function.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* With fewer samples, the number of samples is printed. */
#define FEW_SAMPLES  3u
#define THREAD_BYTES 64u

/* ---- the analysis ---------------------------------------------------------------------------- */

const char *ts_words_verdict(const char *verdict)
{
	static const struct {
		const char *verdict, *text;
	} verdicts[] = {
		{"compute_bound",
		 "Compute-bound: kernels keep the GPU busy. Look at the kernels below."},
		{"copy_bound",
		 "Copy-bound: copies keep the GPU busy. Copy less, use pinned memory, and copy in\n"
		 "separate streams beside kernels."},
		{"launch_bound",
		 "Launch-bound: the GPU ends each operation before the next launch. Launch\n"
		 "fewer and larger kernels, or graphs (cudaGraphLaunch)."},
		{"host_bound",
		 "Host-bound: the GPU is idle while the host does other work. `tsctl gaps` lists\n"
		 "that work. Launch the next operations before the host waits."},
		{"waiting",
		 "Waiting: the GPU is idle and waits for operations elsewhere. `tsctl graph\n"
		 "--critical-path` lists them."},
		{"model_clock",
		 "No verdict: idle times and waits come from a model, not from a real GPU."},
		{"unknown", "No verdict: the trace has too little data about the time of the GPU."},
	};

	for (size_t i = 0; verdict && i < TS_ARRAY_LEN(verdicts); i++)
		if (!strcmp(verdicts[i].verdict, verdict))
			return verdicts[i].text;
	return "";
}

const char *ts_words_finding(const char *finding)
{
	static const char *const texts[][2] = {
		{"tiny_copy", "copies of less than 4 KiB between host and device"},
		{"pageable_copy", "copies from or to pageable memory"},
		{"redundant_sync", "waits for a GPU without work"},
		{"legacy_stream", "operations that waited by the legacy default stream's rule"},
		{"serialised_streams", "streams that never ran at once"},
	};

	for (size_t i = 0; finding && i < TS_ARRAY_LEN(texts); i++)
		if (!strcmp(texts[i][0], finding))
			return texts[i][1];
	return "";
}

const char *ts_words_model_clock(void)
{
	return "Virtual GPU: times of operations come from a cost model, times of calls from the\n"
	       "CPU that computed them. Times of host and GPU are not comparable.\n";
}

const char *ts_words_timed_kernels(void)
{
	return "Virtual GPU with kernels=timed: kernels were timed, not computed. The program's\n"
	       "results are not a GPU's.\n";
}

const char *ts_words_launchers(struct ts_pool *pool, size_t n_sites,
			       Ts__Rpc__LaunchSite *const *sites, uint64_t n_places)
{
	char name[TS_SHORT_FUNCTION_BYTES];
	char *text;

	if (!n_sites)
		return "";
	text = ts_pool_copy(pool, ts_short_function(sites[0]->frame, name, sizeof(name)));
	if (n_places > 1)
		text = ts_pool_printf(pool, "%" PRIu64 " places, mostly %s", n_places, text);
	for (size_t i = 0; i < sites[0]->n_callers; i++)
		text = ts_pool_printf(pool, "%s < %s", text,
				      ts_short_function(sites[0]->callers[i], name, sizeof(name)));
	return text;
}

/* ---- gaps ------------------------------------------------------------------------------------ */

static const char *thread_text(char text[THREAD_BYTES], const char *name, uint32_t tid)
{
	if (tid)
		snprintf(text, THREAD_BYTES, "%.48s/%" PRIu32, name ? name : "?", tid);
	else
		snprintf(text, THREAD_BYTES, "%.48s", name ? name : "");
	return text;
}

static size_t add_text(char *text, size_t n, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static size_t add_text(char *text, size_t n, const char *format, ...)
{
	va_list arguments;
	int r;

	va_start(arguments, format);
	r = vsnprintf(text + n, TS_WORDS_PART_BYTES - n, format, arguments);
	va_end(arguments);
	return r < 0				     ? n
	       : n + (size_t)r < TS_WORDS_PART_BYTES ? n + (size_t)r
						     : TS_WORDS_PART_BYTES - 1;
}

/* Names the thread that got the CPU, or the waker. */
static size_t off_cpu_text(const Ts__Rpc__GapPart *part, char *text, size_t n)
{
	const char *reason = part->reason ? part->reason : "unknown";
	char waker[THREAD_BYTES];

	n = add_text(text, n, "off CPU: %s", reason);
	if (part->syscall && strcmp(part->syscall, reason))
		n = add_text(text, n, " in %s", part->syscall);
	if (part->file)
		n = add_text(text, n, " %s", part->file);
	thread_text(waker, part->waker, part->waker_tid);
	if (*waker && !part->waker_context)
		n = add_text(text, n, ", CPU given to %s", waker);
	else if (*waker)
		n = add_text(text, n, ", woken by %s", waker);
	else if (part->waker_context)
		n = add_text(text, n, ", woken by an interrupt");
	return n;
}

/*
 * Writes that the thread ran its own code. If there are few samples, the text also has their
 * number.
 */
static size_t own_code_text(const Ts__Rpc__GapPart *part, uint64_t n_samples, char *text, size_t n)
{
	n = add_text(text, n, "running ");
	n += ts_code_text(part->function, part->file, part->line, text + n,
			  TS_WORDS_PART_BYTES - n);
	if (n_samples == 1)
		n = add_text(text, n, " (from 1 sample)");
	else if (n_samples < FEW_SAMPLES)
		n = add_text(text, n, " (from %" PRIu64 " of %" PRIu64 " samples)", part->samples,
			     n_samples);
	return n;
}

/* Counts the samples of the same cause and thread. */
static uint64_t samples_beside(const Ts__Rpc__GapPart *part, Ts__Rpc__GapPart *const *parts,
			       size_t n)
{
	uint64_t n_samples = 0;

	for (size_t i = 0; i < n; i++)
		if (parts[i]->samples && parts[i]->tid == part->tid &&
		    parts[i]->session == part->session && !strcmp(parts[i]->cause, part->cause))
			n_samples += parts[i]->samples;
	return n_samples;
}

/* Returns the text for a part that sums up many small parts of a cause. */
static const char *merged_text(const char *cause)
{
	static const struct {
		const char *cause, *text;
	} texts[] = {
		{"off_cpu", "off CPU for other reasons"},
		{"page_fault", "other page faults"},
		{"syscall", "in other system calls"},
		{"call", "in other calls"},
		{"running", "running other code"},
		{"host", "in other code, on or off CPU"},
		{"dependency", "waiting for other streams"},
		{"device", "device busy with other streams"},
		{"block_io", "waiting for disks, other requests"},
		{"reclaim", "reclaiming memory in other ways"},
		{"dispatch", "other operations on the way to the device"},
	};

	for (size_t i = 0; i < TS_ARRAY_LEN(texts); i++)
		if (!strcmp(texts[i].cause, cause))
			return texts[i].text;
	return cause;
}

void ts_words_gap_part(Ts__Rpc__GapPart *const *parts, size_t n_parts, size_t i, uint32_t of_tid,
		       char text[TS_WORDS_PART_BYTES])
{
	const Ts__Rpc__GapPart *part = parts[i];
	uint64_t n_samples = part->function ? samples_beside(part, parts, n_parts) : 0;
	const char *cause = part->cause ? part->cause : "unknown";
	char figure[TS_FIGURE_BYTES], thread[THREAD_BYTES];
	bool in_call = part->call && strcmp(cause, "call");
	size_t n = 0;

	text[0] = '\0';
	if (!part->has_session) {
		add_text(text, n, "%s", merged_text(cause));
		return;
	}
	if (part->tid && part->tid != of_tid)
		n = add_text(text, n, "%s: ", thread_text(thread, part->thread_name, part->tid));
	if (!strcmp(cause, "off_cpu"))
		n = off_cpu_text(part, text, n);
	else if (!strcmp(cause, "page_fault"))
		n = add_text(text, n, "page faults: %s, %s memory", part->fault, part->memory);
	else if (!strcmp(cause, "syscall"))
		n = add_text(text, n, "in the system call %s%s%s",
			     part->syscall ? part->syscall : "?", part->file ? " " : "",
			     part->file ? part->file : "");
	else if (!strcmp(cause, "call"))
		n = add_text(text, n, "in %s", part->call ? part->call : "a call");
	else if (part->function)
		n = own_code_text(part, n_samples, text, n);
	else if (!strcmp(cause, "running"))
		n = add_text(text, n, "running its own code");
	else if (!strcmp(cause, "host"))
		n = add_text(text, n, "in its own code, on or off CPU");
	else if (!strcmp(cause, "dependency"))
		n = add_text(text, n, "waiting for stream %" PRIu32, part->stream);
	else if (!strcmp(cause, "device"))
		n = add_text(text, n, "device busy with stream %" PRIu32, part->stream);
	else if (!strcmp(cause, "block_io"))
		n = add_text(text, n, "waiting for disk: %s %s", part->operation,
			     part->disk ? part->disk : "?");
	else if (!strcmp(cause, "reclaim"))
		n = add_text(text, n, "reclaiming memory: %s", part->reason);
	else if (!strcmp(cause, "dispatch"))
		n = add_text(text, n, "operation on the way to the device");
	else
		n = add_text(text, n, "%s", cause);
	if (part->has_event)
		n = add_text(text, n, ", event 0x%" PRIx64, part->event);
	if (part->has_op_id)
		n = add_text(text, n, ", op %" PRIu64, part->op_id);
	if (in_call)
		n = add_text(text, n, ", in %s", part->call);
	if (part->runnable_ns && part->waker_context)
		add_text(text, n, " (then %s waiting for a CPU)",
			 ts_figure_duration(figure, part->runnable_ns));
	if (part->queued_ns)
		add_text(text, n, " (%s of it queued)",
			 ts_figure_duration(figure, part->queued_ns));
}

/* ---- doubts ---------------------------------------------------------------------------------- */

const char *ts_words_doubts(struct ts_pool *pool, const char *of, const Ts__Rpc__Doubts *doubts)
{
	const struct {
		uint64_t n;
		const char *what;
	} lines[] = {
		{doubts ? doubts->without_call : 0, "without a recorded call"},
		{doubts ? doubts->overlapping : 0, "began before the end of a dependency"},
		{doubts ? doubts->backwards : 0, "with an end before the start"},
		{doubts ? doubts->at_no_time : 0, "with an impossible end time"},
		{doubts ? doubts->not_all_known : 0, "with unknown dependencies"},
		{doubts ? doubts->unanswered : 0, "calls without a recorded operation"},
		{doubts ? doubts->ids_twice : 0, "calls with the id of another call"},
	};
	char count[TS_FIGURE_BYTES];
	const char *between = "";
	char *text;

	if (!doubts)
		return "";
	text = ts_pool_printf(pool, "Uncertain%s, of %s operation%s: ", of,
			      ts_figure_count(count, doubts->operations),
			      doubts->operations == 1 ? "" : "s");
	for (size_t i = 0; i < TS_ARRAY_LEN(lines); i++) {
		if (!lines[i].n)
			continue;
		text = ts_pool_printf(pool, "%s%s%s %s", text, between,
				      ts_figure_count(count, lines[i].n), lines[i].what);
		between = "; ";
	}
	return ts_pool_printf(pool, "%s.", text);
}
