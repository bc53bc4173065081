/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program's way through an executor, and what is checked on it: all that the program itself got back from the device, and, from
 * run to run, all memory that is there at the end.
 */
#include "replay/exec/exec.h"

#include <stdio.h>
#include <time.h>

#include "proto/abi/hash.h"
#include "replay/exec/checked.h"

/* No content that an operation reads or writes may be longer: what else a file claims. */
#define MAX_CONTENT_BYTES (UINT64_C(16) << 30)

struct ts_exec_result {
	uint64_t sequence; /* 0: memory at the end */
	uint64_t address;
	uint64_t n_bytes;
	struct ts_hash128 hash;
};

/* What an asynchronous copy wrote, until the capture's result comes. */
struct kept {
	uint64_t sequence;
	uint8_t *bytes;
	size_t n;
};

struct run {
	const struct ts_exec_program *program;
	const struct ts_executor *executor;
	const struct ts_exec_results *before;
	struct ts_exec_results *results;
	struct ts_exec_report *report;
	struct ts_check *check; /* NULL: nobody looks on */
	void *state;
	struct ts_exec_content content;
	struct kept *kept; /* in ascending order of sequence */
	size_t n_kept, kept_capacity;
};

void ts_exec_results_deinit(struct ts_exec_results *results)
{
	free(results->results);
	*results = (struct ts_exec_results){0};
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* An operation's result is the next of this run; that of the run before stands at the same place. */
static int note(struct run *run, uint64_t sequence, uint64_t op_id, uint64_t address,
		const uint8_t *bytes, uint64_t n)
{
	struct ts_exec_results *results = run->results;
	struct ts_exec_result result = {sequence, address, n, ts_hash128(bytes, n)};
	const struct ts_exec_results *before = run->before;
	struct ts_exec_difference *first = &run->report->first;

	if (before && !first->found) {
		const struct ts_exec_result *other =
			results->n < before->n ? &before->results[results->n] : NULL;

		if (!other || memcmp(other, &result, sizeof(result)))
			*first = (struct ts_exec_difference){.found = true,
							     .is_memory = !sequence,
							     .sequence = sequence,
							     .op_id = op_id,
							     .address = address,
							     .bytes = n};
	}
	if (results->n == results->capacity) {
		size_t capacity = results->capacity ? results->capacity * 2 : 256;
		void *grown = realloc(results->results, capacity * sizeof(result));

		if (!grown)
			return -ENOMEM;
		results->results = grown;
		results->capacity = capacity;
	}
	results->results[results->n++] = result;
	return 0;
}

/* Where a byte of an operation's result was read on the device. */
static uint64_t source_of(const struct ts_row_operation *operation, uint64_t offset)
{
	uint64_t row = operation->bytes ? offset / operation->bytes : 0;
	uint64_t height = operation->height ? operation->height : 1;

	return operation->src + row / height * operation->src_slice +
	       row % height * operation->src_pitch +
	       (operation->bytes ? offset % operation->bytes : 0);
}

static void compare(struct run *run, const struct ts_row_operation *operation, const uint8_t *found,
		    size_t n)
{
	const struct ts_exec_content *expected = &run->content;
	struct ts_exec_difference *difference = &run->report->capture;
	size_t at = 0;

	run->report->n_checks++;
	if (difference->found || (expected->n == n && !memcmp(expected->bytes, found, n)))
		return;
	while (at < n && at < expected->n && expected->bytes[at] == found[at])
		at++;
	*difference = (struct ts_exec_difference){
		.found = true,
		.sequence = operation->sequence,
		.op_id = operation->op_id,
		.address = source_of(operation, at),
		.offset = at,
		.bytes = n,
	};
	for (; difference->n < sizeof(difference->expected) && at < n && at < expected->n; at++) {
		difference->expected[difference->n] = expected->bytes[at];
		difference->found_bytes[difference->n++] = found[at];
	}
}

static int fetch(struct run *run, uint32_t number, size_t n_most)
{
	int r = ts_exec_program_content(run->program, number, n_most, &run->content);

	if (r != TS_EXEC_E_CONTENT)
		return r;
	snprintf(run->report->text, sizeof(run->report->text),
		 "its content is not in the trace, or not what it was");
	return TS_EXEC_E_REFUSED;
}

static int refuse(struct run *run, const char *why)
{
	snprintf(run->report->text, sizeof(run->report->text), "%s", why);
	return TS_EXEC_E_REFUSED;
}

static int keep(struct run *run, uint64_t sequence, uint8_t **bytes, size_t n)
{
	if (run->n_kept == run->kept_capacity) {
		size_t capacity = run->kept_capacity ? run->kept_capacity * 2 : 64;
		void *grown = realloc(run->kept, capacity * sizeof(*run->kept));

		if (!grown)
			return -ENOMEM;
		run->kept = grown;
		run->kept_capacity = capacity;
	}
	run->kept[run->n_kept++] = (struct kept){sequence, ts_take_ptr(*bytes), n};
	return 0;
}

/* The capture's result of a copy that was done before. */
static int do_result(struct run *run, const struct ts_row_operation *operation)
{
	for (size_t i = 0; i < run->n_kept; i++) {
		struct kept *kept = &run->kept[i];
		int r;

		if (kept->sequence != operation->parent)
			continue;
		r = fetch(run, operation->content, MAX_CONTENT_BYTES);
		if (!r)
			compare(run, &run->program->operations[kept->sequence - 1], kept->bytes,
				kept->n);
		free(kept->bytes);
		memmove(kept, kept + 1, (run->n_kept - i - 1) * sizeof(*kept));
		run->n_kept--;
		return r;
	}
	return refuse(run, "it is the result of no copy");
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
		return refuse(run, "it is of a kind that this version does not know");
	io->text = run->report->text;
	return with ? with(run->state, operation, io) : 0;
}

static int do_copy(struct run *run, const struct ts_row_operation *operation)
{
	ts_cleanup(ts_freep) uint8_t *out = NULL;
	struct ts_exec_io io = {0};
	uint64_t n;
	int r = 0;

	run->report->n_copies++;
	if (!copy_bytes(operation, &n))
		return refuse(run, "it is larger than any copy");
	if (operation->flags & TS_OPERATION_SRC_HOST) {
		r = fetch(run, operation->content, n);
		if (!r && run->content.n != n)
			r = refuse(run, "its content has another length");
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
	r = note(run, operation->sequence, operation->op_id, operation->src, out, n);
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
	case TS_OPERATION_LAUNCH:
		run->report->n_launches++;
		break;
	case TS_OPERATION_FILL:
		run->report->n_fills++;
		break;
	default:
		break;
	}
	if (operation->content) {
		r = fetch(run, operation->content, MAX_CONTENT_BYTES);
		io.content = &run->content;
	}
	return r ?: operate(run, operation, &io);
}

/* Each over before the next one; where it cannot be done what was found of it is told all the same. */
static int do_checked(struct run *run, const struct ts_row_operation *operation)
{
	const struct ts_exec_io io = {.text = run->report->text};
	int r = ts_check_begin(run->check, operation), done;

	r = r ?: do_operation(run, operation);
	r = r ?: run->executor->finish(run->state, &io);
	r = r ?: ts_exec_checked_tell(run->check, operation, &run->content);
	done = ts_check_done(run->check);
	return r ? r : done;
}

static int each_memory(void *userdata, uint64_t address, const uint8_t *bytes, uint64_t n_bytes)
{
	struct run *run = userdata;

	run->report->n_memory++;
	return note(run, 0, 0, address, bytes, n_bytes);
}

static int finish(struct run *run)
{
	struct ts_exec_io io = {.text = run->report->text};
	int r = run->executor->finish(run->state, &io);

	run->report->n_unchecked += run->n_kept;
	if (r)
		return r;
	return run->executor->memory(run->state, each_memory, run);
}

static int run_all(struct run *run, const volatile int *cancel)
{
	const struct ts_exec_program *program = run->program;
	const struct ts_row_operation *operation = NULL;
	int r = 0;

	for (size_t i = 0; !r && i < program->n; i++) {
		operation = &program->operations[i];
		if (cancel && *cancel)
			return -ECANCELED;
		r = run->check ? do_checked(run, operation) : do_operation(run, operation);
		run->report->n_operations += !r;
	}
	if (!r) {
		operation = program->n ? &program->operations[program->n - 1] : NULL;
		r = finish(run);
	}
	if (r == TS_EXEC_E_REFUSED && operation) {
		run->report->refused = operation->sequence;
		run->report->refused_op_id = operation->op_id;
		return 0;
	}
	return r;
}

int ts_exec_run(const struct ts_exec_program *program, const struct ts_executor *executor,
		const struct ts_exec_options *options, const struct ts_exec_results *before,
		const volatile int *cancel, struct ts_exec_results *results,
		struct ts_exec_report *ret_report)
{
	struct run run = {.program = program,
			  .executor = executor,
			  .before = before,
			  .results = results,
			  .report = ret_report,
			  .check = options->check};
	uint64_t begin_ns = now_ns();
	int r;

	*ret_report = (struct ts_exec_report){0};
	results->n = 0;
	r = executor->new_(program, options, ret_report->text, &run.state);
	if (r)
		return r;
	r = run_all(&run, cancel);
	executor->free_(run.state);
	ret_report->elapsed_ns = now_ns() - begin_ns;
	for (size_t i = 0; i < run.n_kept; i++)
		free(run.kept[i].bytes);
	free(run.kept);
	ts_exec_content_deinit(&run.content);
	return r;
}
