/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records in the trace how stacks were found; the flush thread calls this file. A counter of the
 * domain "tracesmith" for each method counts the stacks found by it. In check mode one more counter
 * counts the stacks that differ from a full unwinding.
 */
#include "inject/annotate/counters.h"
#include "inject/stacks/stack.h"

/* Records a mark that states why Python functions are not read, although they were requested. */
static void mark_why(struct ts_stack_walker *walker, struct ts_producer *producer)
{
	struct ts_thread *thread = ts_producer_thread(producer);
	struct ts_record_annotation *out;
	uint32_t name, domain;

	if (!thread)
		return;
	walker->marked_why = true;
	name = ts_counter_string(producer, walker->interpreter.why);
	domain = ts_counter_string(producer, TS_OWN_DOMAIN);
	out = ts_thread_reserve(thread, TS_RECORD_MARK, sizeof(*out), producer->clock,
				ts_producer_ticks(producer));
	if (!out)
		return;
	memset((uint8_t *)out + sizeof(out->record), 0, sizeof(*out) - sizeof(out->record));
	out->name = name;
	out->domain = domain;
	ts_thread_commit(thread, sizeof(*out));
}

void ts_stack_report(struct ts_stack_walker *walker, struct ts_producer *producer)
{
	const struct ts_stack_counts counts = ts_stack_counts(walker);
	struct ts_thread *thread;

	if (!walker->marked_why &&
	    __atomic_load_n(&walker->interpreter.state, __ATOMIC_ACQUIRE) == TS_PYTHON_OFF)
		mark_why(walker, producer);
	if (!memcmp(&counts, &walker->reported, sizeof(counts)))
		return;
	thread = ts_producer_thread(producer);
	if (!thread)
		return;
	walker->reported = counts;
	ts_counter_record(producer, thread, "stacks recognised", counts.n_cached);
	ts_counter_record(producer, thread, "stacks walked", counts.n_walked);
	ts_counter_record(producer, thread, "stacks unwound", counts.n_unwound);
	if (walker->python)
		ts_counter_record(producer, thread, "stacks with Python functions",
				  counts.n_python);
	if (walker->check)
		ts_counter_record(producer, thread, "stacks that differ", counts.n_differ);
}
