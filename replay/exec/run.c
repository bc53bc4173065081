/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a captured program on an executor and compares its results. replay/report, explore.c and
 * tsctl call this file; this file calls the executors, exec-order.c, checked.c and results.c.
 *
 * A run compares all data that the program read back from the device with the capture. Two runs are
 * compared by the same data, by check points, and by all memory at the end.
 */
#include "proto/abi/clock.h"
#include "replay/exec/exec.h"

#include <stdio.h>

#include "proto/abi/grow.h"
#include "replay/exec/checked.h"
#include "replay/exec/exec-order.h"
#include "replay/exec/results.h"

/* Limit of a content that an operation reads or writes: a file may claim any size. */
#define MAX_CONTENT_BYTES (UINT64_C(16) << 30)

/* Output of an asynchronous copy, kept until the replay reaches the capture's result. */
struct kept {
	uint64_t sequence;
	uint8_t *bytes; /* NULL: over the limit */
	size_t n;
};

struct run {
	const struct ts_exec_program *program;
	const struct ts_executor *executor;
	const struct ts_exec_options *options;
	const struct ts_exec_results *before;
	struct ts_exec_results *results;
	struct ts_exec_report *report;
	struct ts_check *check; /* NULL: no checks */
	void *state;
	struct ts_exec_content content;
	struct kept *kept;	     /* unordered */
	struct ts_state_map kept_at; /* index by sequence number */
	size_t n_kept, kept_capacity;
	uint64_t kept_bytes;
	uint64_t n_written; /* operations so far that count towards the next check point */
	uint64_t until_ns;  /* 0: no limit */
	const volatile int *cancel;
	const struct ts_row_operation *operation; /* the current operation */
};

static int refuse(struct run *run, const char *why)
{
	snprintf(run->report->text, sizeof(run->report->text), "%s", why);
	return TS_EXEC_E_REFUSED;
}

static int note(struct run *run, enum ts_exec_result_kind kind,
		const struct ts_row_operation *operation, uint64_t address, const uint8_t *bytes,
		uint64_t n)
{
	const struct ts_exec_result result = {
		.kind = kind,
		.sequence = operation ? operation->sequence : 0,
		.op_id = operation ? operation->op_id : 0,
		.address = address,
		.n_bytes = n,
	};
	int r = ts_exec_results_note(run->results, run->before, &result, bytes, run->options,
				     &run->report->first);

	if (r == -E2BIG)
		return refuse(run, "the replay has more results than it can keep; use fewer check "
				   "points (--compare-every)");
	return r;
}

static void compare(struct run *run, const struct ts_row_operation *operation, const uint8_t *found,
		    size_t n)
{
	const struct ts_exec_content *expected = &run->content;
	struct ts_exec_difference *difference = &run->report->capture;

	run->report->n_checks++;
	if (difference->found || (expected->n == n && !memcmp(expected->bytes, found, n)))
		return;
	*difference = (struct ts_exec_difference){
		.found = true,
		.kind = TS_EXEC_RESULT_READ,
		.sequence = operation->sequence,
		.op_id = operation->op_id,
		.bytes = n,
	};
	ts_exec_difference_place(difference, expected->bytes, expected->n, found, n);
	difference->address = ts_exec_source_of(operation, difference->offset);
}

static int fetch(struct run *run, uint32_t number, size_t n_most)
{
	int r = ts_exec_program_content(run->program, number, n_most, &run->content);

	if (r != TS_EXEC_E_CONTENT)
		return r;
	snprintf(run->report->text, sizeof(run->report->text),
		 "the trace lacks the operation's data, or the data are damaged");
	return TS_EXEC_E_REFUSED;
}

static int keep(struct run *run, uint64_t sequence, uint8_t **bytes, size_t n)
{
	uint64_t most = run->options->kept_bytes ? run->options->kept_bytes : TS_EXEC_KEPT_BYTES;
	bool fits = n <= most && run->kept_bytes <= most - n;

	if (TS_GROW(run->kept, run->kept_capacity, run->n_kept + 1))
		return -ENOMEM;
	if (ts_state_map_set(&run->kept_at, 0, sequence, (uint32_t)run->n_kept))
		return -ENOMEM;
	run->kept_bytes += fits ? n : 0;
	run->kept[run->n_kept++] = (struct kept){sequence, fits ? ts_take_ptr(*bytes) : NULL, n};
	return 0;
}

static int forget(struct run *run, uint32_t at)
{
	struct kept *kept = &run->kept[at];

	run->kept_bytes -= kept->bytes ? kept->n : 0;
	free(kept->bytes);
	ts_state_map_remove(&run->kept_at, 0, kept->sequence);
	*kept = run->kept[--run->n_kept];
	return at == run->n_kept ? 0 : ts_state_map_set(&run->kept_at, 0, kept->sequence, at);
}

/* Compares the output of an earlier copy with the capture's result. */
static int do_result(struct run *run, const struct ts_row_operation *operation)
{
	uint32_t at = ts_state_map_find(&run->kept_at, 0, operation->parent);
	const struct kept *kept;
	int r = 0, forgot;

	if (at == TS_STATE_MAP_NONE)
		return refuse(run, "the result belongs to no copy");
	kept = &run->kept[at];
	if (kept->bytes)
		r = fetch(run, operation->content, MAX_CONTENT_BYTES);
	if (!r && kept->bytes)
		compare(run, &run->program->operations[kept->sequence - 1], kept->bytes, kept->n);
	run->report->n_unchecked += !kept->bytes;
	forgot = forget(run, at);
	return r ? r : forgot;
}

static bool copy_bytes(const struct ts_row_operation *operation, uint64_t *ret_bytes)
{
	return !__builtin_mul_overflow(operation->bytes, operation->height, ret_bytes) &&
	       !__builtin_mul_overflow(*ret_bytes, operation->depth, ret_bytes) &&
	       *ret_bytes <= MAX_CONTENT_BYTES;
}

static int operate(struct run *run, const struct ts_row_operation *operation, struct ts_exec_io *io)
{
	int (*with)(void *, const struct ts_row_operation *, const struct ts_exec_io *) =
		operation->kind < TS_OPERATION_COUNT ? run->executor->operations[operation->kind]
						     : NULL;

	if (operation->kind >= TS_OPERATION_COUNT)
		return refuse(run, "this version does not know the operation's kind");
	io->text = run->report->text;
	return with ? with(run->state, operation, io) : 0;
}

static int do_copy(struct run *run, const struct ts_row_operation *operation)
{
	ts_cleanup(ts_freep) uint8_t *out = NULL;
	struct ts_exec_io io = {0};
	uint64_t n;
	int r = 0;

	if (!copy_bytes(operation, &n))
		return refuse(run, "the size of the copy exceeds the limit");
	if (operation->flags & TS_OPERATION_SRC_HOST) {
		r = fetch(run, operation->content, n);
		if (!r && run->content.n != n)
			r = refuse(run, "the captured data have another size than the copy");
		io.content = &run->content;
	} else if (operation->flags & TS_OPERATION_DST_HOST) {
		out = malloc(n);
		if (!out)
			return -ENOMEM;
		io.out = out;
		io.out_bytes = n;
	}
	r = r ?: operate(run, operation, &io);
	if (r || !out)
		return r;
	r = note(run, TS_EXEC_RESULT_READ, operation, operation->src, out, n);
	if (r)
		return r;
	if (operation->content) {
		r = fetch(run, operation->content, n);
		if (!r)
			compare(run, operation, out, n);
	} else if (operation->flags & TS_OPERATION_ASYNC) {
		r = keep(run, operation->sequence, &out, n);
	} else {
		run->report->n_unchecked++;
	}
	return r;
}

static int do_operation(struct run *run, const struct ts_row_operation *operation)
{
	struct ts_exec_io io = {0};
	int r = 0;

	switch (operation->kind) {
	case TS_OPERATION_COPY:
		return do_copy(run, operation);
	case TS_OPERATION_RESULT:
		return do_result(run, operation);
	case TS_OPERATION_UNSUPPORTED:
		run->report->n_unsupported++;
		return 0;
	default:
		break;
	}
	if (operation->content) {
		r = fetch(run, operation->content, MAX_CONTENT_BYTES);
		io.content = &run->content;
	}
	return r ?: operate(run, operation, &io);
}

/*
 * Runs an operation under the checks, and waits until it completes. If the executor refuses the
 * operation, the findings so far are still recorded.
 */
static int do_checked(struct run *run, const struct ts_row_operation *operation)
{
	const struct ts_exec_io io = {.text = run->report->text, .fault = &run->report->fault};
	int r = ts_check_begin(run->check, operation), done;

	r = r ?: do_operation(run, operation);
	r = r ?: run->executor->finish(run->state, &io);
	r = r ?: ts_exec_checked_record(run->check, operation, &run->content);
	done = ts_check_done(run->check);
	return r ? r : done;
}

static int do_debugged(struct run *run, const struct ts_row_operation *operation)
{
	const struct ts_exec_io io = {.text = run->report->text, .fault = &run->report->fault};
	int r = do_operation(run, operation);

	return r ?: run->executor->finish(run->state, &io);
}

static int do_it(struct run *run, const struct ts_row_operation *operation)
{
	if (run->options->debugger)
		return do_debugged(run, operation);
	return run->check ? do_checked(run, operation) : do_operation(run, operation);
}

static int each_memory(void *userdata, uint64_t address, const uint8_t *bytes, uint64_t n_bytes)
{
	struct run *run = userdata;

	run->report->n_memory++;
	return note(run, TS_EXEC_RESULT_END, NULL, address, bytes, n_bytes);
}

struct point {
	struct run *run;
	const struct ts_row_operation *operation;
};

static int each_point(void *userdata, uint64_t address, const uint8_t *bytes, uint64_t n_bytes)
{
	const struct point *point = userdata;

	return note(point->run, TS_EXEC_RESULT_POINT, point->operation, address, bytes, n_bytes);
}

/*
 * Returns the number of bytes from the first to the last byte that a copy or a fill writes. The
 * operation ran, so its sizes are valid.
 */
static uint64_t extent_of(const struct ts_row_operation *operation)
{
	uint64_t width = operation->bytes, depth = operation->depth ? operation->depth : 1;

	if (operation->kind == TS_OPERATION_FILL)
		width *= operation->src;
	return (depth - 1) * operation->dst_slice + (operation->height - 1) * operation->dst_pitch +
	       width;
}

static bool may_write(const struct ts_row_operation *operation)
{
	switch (operation->kind) {
	case TS_OPERATION_LAUNCH:
	case TS_OPERATION_FILL:
	case TS_OPERATION_HOST_WRITE:
		return true;
	case TS_OPERATION_COPY:
		return !(operation->flags & TS_OPERATION_DST_HOST);
	default:
		return false;
	}
}

/*
 * Makes a check point if one is due. After a single copy, fill or host write, the result is the
 * memory that it wrote. A kernel may write anywhere, so after a kernel, or after several
 * operations, the results are all memory.
 */
static int check_point(struct run *run, const struct ts_row_operation *operation)
{
	struct point point = {run, operation};
	struct ts_exec_io io = {.text = run->report->text, .fault = &run->report->fault};
	const uint8_t *bytes;
	uint64_t n;
	int r;

	if (!run->options->points_every ||
	    !(run->options->schedule ? ts_exec_order_drains(operation) : may_write(operation)) ||
	    ++run->n_written < run->options->points_every)
		return 0;
	run->n_written = 0;
	run->report->n_points++;
	r = run->executor->finish(run->state, &io);
	if (r)
		return r;
	if (run->options->points_every > 1 || run->options->schedule ||
	    operation->kind == TS_OPERATION_LAUNCH)
		return run->executor->memory(run->state, each_point, &point);
	n = operation->kind == TS_OPERATION_HOST_WRITE ? run->content.n : extent_of(operation);
	bytes = run->executor->bytes(run->state, operation->dst, n);
	return bytes ? note(run, TS_EXEC_RESULT_POINT, operation, operation->dst, bytes, n) : 0;
}

static int finish(struct run *run)
{
	struct ts_exec_io io = {.text = run->report->text, .fault = &run->report->fault};
	int r = run->executor->finish(run->state, &io);

	run->report->n_unchecked += run->n_kept;
	if (r)
		return r;
	return run->executor->memory(run->state, each_memory, run);
}

static int do_counted(struct run *run, const struct ts_row_operation *operation)
{
	int r = do_it(run, operation);

	run->report->n_operations += !r;
	run->report->n_launches += operation->kind == TS_OPERATION_LAUNCH;
	run->report->n_copies += operation->kind == TS_OPERATION_COPY;
	run->report->n_fills += operation->kind == TS_OPERATION_FILL;
	return r ?: check_point(run, operation);
}

/* Runs an unselected operation to restore the state, but ignores its output to the host. */
static int do_before(struct run *run, const struct ts_row_operation *operation)
{
	int r = 0;

	if (operation->kind != TS_OPERATION_RESULT &&
	    !(operation->kind == TS_OPERATION_COPY && operation->flags & TS_OPERATION_DST_HOST))
		r = do_it(run, operation);
	run->report->n_before += !r;
	return r;
}

static bool is_over(const struct run *run)
{
	return run->options->wanted && run->results->n >= run->options->wanted;
}

static bool is_cancelled(const volatile int *cancel)
{
	return cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED);
}

static int do_next(void *userdata, const struct ts_row_operation *operation)
{
	struct run *run = userdata;
	const struct ts_exec_io io = {.text = run->report->text, .fault = &run->report->fault};
	bool counts = ts_exec_program_counts(run->program,
					     (size_t)(operation - run->program->operations));
	int r;

	run->operation = operation;
	if (is_cancelled(run->cancel))
		return -ECANCELED;
	if (operation->kind == TS_OPERATION_LAUNCH)
		run->report->launch_op_id = operation->op_id;
	if (run->options->next)
		run->options->next(run->options->next_userdata, operation, counts);
	if (run->until_ns && ts_clock_monotonic_ns() > run->until_ns)
		return refuse(run, TS_EXEC_TIME_IS_UP);
	r = counts ? do_counted(run, operation) : do_before(run, operation);
	return r || !run->options->schedule ? r : run->executor->finish(run->state, &io);
}

static int run_in_order(struct run *run, struct ts_exec_order *order)
{
	const struct ts_exec_program *program = run->program;
	const struct ts_exec_io io = {.text = run->report->text, .fault = &run->report->fault};
	int r = 0;

	for (size_t i = 0; !r && i < program->n && !is_over(run); i++) {
		const struct ts_row_operation *operation = &program->operations[i];

		/*
		 * After the last selected operation, only the captured results of selected copies
		 * are still needed.
		 */
		if (i >= program->end &&
		    !(ts_exec_program_counts(program, i) && operation->kind == TS_OPERATION_RESULT))
			continue;
		if (order && operation->kind == TS_OPERATION_LAUNCH &&
		    run->executor->prepare_launch)
			run->executor->prepare_launch(run->state, operation, &io);
		r = order ? ts_exec_order_next(order, operation) : do_next(run, operation);
	}
	return r || !order ? r : ts_exec_order_finish(order);
}

static int run_all(struct run *run)
{
	struct ts_exec_order order = {.schedule = run->options->schedule,
				      .each = do_next,
				      .userdata = run};
	int r;

	if (order.schedule)
		ts_exec_schedule_begin(order.schedule);
	r = run_in_order(run, order.schedule ? &order : NULL);
	ts_exec_order_deinit(&order);
	if (!r && !is_over(run))
		r = finish(run);
	if (order.schedule)
		ts_exec_results_sort(run->results);
	if (r == TS_EXEC_E_REFUSED && is_cancelled(run->cancel))
		return -ECANCELED;
	if (r == TS_EXEC_E_REFUSED && run->operation) {
		run->report->refused = run->operation->sequence;
		run->report->refused_op_id = run->operation->op_id;
		return 0;
	}
	return r;
}

bool ts_exec_is_unfinished(const struct ts_exec_report *report)
{
	return report->refused &&
	       (!strcmp(report->text, TS_EXEC_WAITS) ||
		!strncmp(report->text, TS_EXEC_TIME_IS_UP, sizeof(TS_EXEC_TIME_IS_UP) - 1));
}

int ts_exec_run(const struct ts_exec_program *program, const struct ts_executor *executor,
		const struct ts_exec_options *options, const struct ts_exec_results *before,
		const volatile int *cancel, struct ts_exec_results *results,
		struct ts_exec_report *ret_report)
{
	struct run run = {.program = program,
			  .executor = executor,
			  .options = options,
			  .before = before,
			  .results = results,
			  .report = ret_report,
			  .check = options->check,
			  .cancel = cancel};
	uint64_t begin_ns = ts_clock_monotonic_ns();
	int r;

	*ret_report = (struct ts_exec_report){0};
	results->n = 0;
	if (options->time_ns)
		run.until_ns = begin_ns + options->time_ns;
	if (options->next)
		options->next(options->next_userdata, NULL, false);
	r = executor->new_(program, options, cancel, ret_report->text, &run.state);
	if (r)
		return r;
	r = run_all(&run);
	if (executor->report_notes)
		executor->report_notes(run.state, &ret_report->notes);
	executor->free_(run.state);
	ret_report->elapsed_ns = ts_clock_monotonic_ns() - begin_ns;
	for (size_t i = 0; i < run.n_kept; i++)
		free(run.kept[i].bytes);
	free(run.kept);
	ts_state_map_deinit(&run.kept_at);
	ts_exec_content_deinit(&run.content);
	return r;
}

int ts_exec_values(const struct ts_exec_program *program, const struct ts_executor *executor,
		   const struct ts_exec_options *options, const struct ts_exec_results *before,
		   const struct ts_exec_results *now, const volatile int *cancel,
		   struct ts_exec_report *report)
{
	struct ts_exec_options again = *options;
	struct ts_exec_results results = {0};
	struct ts_exec_report other;
	int r;

	if (!report->first.found || !now->number || now->number > before->n ||
	    before->results[now->number - 1].address != report->first.address)
		return 0;
	again.wanted = now->number;
	r = ts_exec_run(program, executor, &again, NULL, cancel, &results, &other);
	if (!r && results.number == now->number &&
	    !memcmp(&results.results[results.number - 1], &before->results[results.number - 1],
		    sizeof(*results.results)))
		ts_exec_results_place(program, &results, now, &report->first);
	ts_exec_results_deinit(&results);
	return r;
}
