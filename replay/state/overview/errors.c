/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects calls that failed: see errors.h. replay/report calls this file. This file reads calls in
 * order. Each session has a ring of its launches since the last wait.
 */
#include "replay/state/overview/errors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/abi/grow.h"
#include "proto/abi/tablehash.h"
#include "replay/state/overview/passes.h"
#include "replay/state/state-map.h"
#include "sbt/slices.h"

#define NONE TS_STATE_MAP_NONE

/* CUDA_ERROR_NOT_READY, cudaErrorNotReady, hipErrorNotReady: a query's answer. */
#define NOT_READY 600

/* Launches of one session since its last wait. */
struct since {
	struct ts_error_suspect at[TS_ERRORS_MAX_SUSPECTS];
	uint64_t n;
	/* the session's first error of a kernel was reported; later ones repeat it */
	bool is_reported;
};

struct ts_errors_pass {
	struct ts_call_errors *errors;
	/* index of the group, by the hash of session, function, result and stack */
	struct ts_state_map by_call;
	struct ts_state_map asked;    /* group by the operation that began it */
	struct ts_state_map sessions; /* index into `since` */
	struct since *since;
	size_t n_since, n_since_allocated;
};

bool ts_call_failed(int32_t result)
{
	return result && result != NOT_READY;
}

/*
 * True if the result reports a fault of a kernel. The driver, the runtime and HIP use the same
 * numbers for these errors.
 */
static bool is_of_kernel(int32_t result)
{
	static const int32_t results[] = {
		700, /* illegal address */
		702, /* timeout */
		710, /* assertion */
		714, /* hardware stack */
		715, /* illegal instruction */
		716, /* misaligned address */
		717, /* invalid address space */
		718, /* invalid program counter */
		719, /* launch failure */
	};

	for (size_t i = 0; i < TS_ARRAY_LEN(results); i++)
		if (results[i] == result)
			return true;
	return false;
}

void ts_call_errors_free(struct ts_call_errors *errors)
{
	if (!errors)
		return;
	for (size_t i = 0; i < errors->n; i++)
		free(errors->at[i].suspects);
	free(errors->at);
	free(errors);
}

void ts_errors_pass_free(struct ts_errors_pass *pass)
{
	if (!pass)
		return;
	ts_call_errors_free(pass->errors);
	ts_state_map_deinit(&pass->by_call);
	ts_state_map_deinit(&pass->asked);
	ts_state_map_deinit(&pass->sessions);
	free(pass->since);
	free(pass);
}

int ts_errors_pass_new(struct ts_errors_pass **ret_pass)
{
	ts_cleanup(ts_errors_pass_freep) struct ts_errors_pass *pass = calloc(1, sizeof(*pass));

	if (!pass)
		return -ENOMEM;
	pass->errors = calloc(1, sizeof(*pass->errors));
	if (!pass->errors)
		return -ENOMEM;
	pass->errors->at = calloc(TS_ERRORS_MAX, sizeof(*pass->errors->at));
	if (!pass->errors->at)
		return -ENOMEM;
	*ret_pass = ts_take_ptr(pass);
	return 0;
}

static struct since *since_of(struct ts_errors_pass *pass, uint32_t session)
{
	uint32_t at = ts_state_map_find(&pass->sessions, session, 0);

	if (at != NONE)
		return &pass->since[at];
	if (TS_GROW(pass->since, pass->n_since_allocated, pass->n_since + 1))
		return NULL;
	pass->since[pass->n_since] = (struct since){0};
	if (ts_state_map_set(&pass->sessions, session, 0, (uint32_t)pass->n_since))
		return NULL;
	return &pass->since[pass->n_since++];
}

static int set_suspects(struct since *since, struct ts_call_error *error)
{
	size_t n = since->n < TS_ERRORS_MAX_SUSPECTS ? (size_t)since->n : TS_ERRORS_MAX_SUSPECTS;

	since->is_reported = true;
	error->suspects = calloc(n + 1, sizeof(*error->suspects));
	if (!error->suspects)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		error->suspects[i] = since->at[(since->n - 1 - i) % TS_ERRORS_MAX_SUSPECTS];
	error->n_suspects = n;
	return 0;
}

static bool is_same(const struct ts_call_error *error, uint32_t session,
		    const struct ts_row_api *api)
{
	return error->session == session && error->domain == api->domain &&
	       error->cbid == api->cbid && error->result == api->result &&
	       error->stack == api->stack;
}

static int take_failed(struct ts_errors_pass *pass, uint32_t session, const struct ts_row_api *api)
{
	struct ts_call_errors *errors = pass->errors;
	uint64_t key = ts_hash_add(ts_hash_key((uint64_t)api->domain << 16 | api->cbid),
				   (uint64_t)(uint32_t)api->result << 32 | api->stack);
	struct since *since = since_of(pass, session);
	struct ts_call_error *error;
	uint32_t at;
	int r;

	if (!since)
		return -ENOMEM;
	errors->n_calls++;
	/*
	 * If two different calls have the same hash, only the first one gets a group. The other is
	 * only counted in n_calls.
	 */
	at = ts_state_map_find(&pass->by_call, session, key);
	if (at != NONE && is_same(&errors->at[at], session, api)) {
		errors->at[at].count++;
		return 0;
	}
	if (at != NONE || errors->n == TS_ERRORS_MAX)
		return 0;
	error = &errors->at[errors->n];
	*error = (struct ts_call_error){
		.session = session,
		.domain = api->domain,
		.cbid = api->cbid,
		.result = api->result,
		.stack = api->stack,
		.thread = api->thread,
		.count = 1,
		.start_ns = api->start_ns,
		.op_id = api->op_id,
	};
	r = ts_state_map_set(&pass->by_call, session, key, (uint32_t)errors->n);
	r = r ? r : ts_state_map_set(&pass->asked, session, api->op_id, (uint32_t)errors->n);
	errors->n++;
	if (!r && is_of_kernel(api->result) && !since->is_reported)
		r = set_suspects(since, error);
	return r;
}

static int take_call(struct ts_errors_pass *pass, uint32_t session, const struct ts_row_api *api)
{
	struct since *since;

	if (ts_call_failed(api->result))
		return take_failed(pass, session, api);
	if (!(api->flags & TS_API_EXPECTS_DEVICE))
		return 0;
	since = since_of(pass, session);
	if (!since)
		return -ENOMEM;
	since->at[since->n++ % TS_ERRORS_MAX_SUSPECTS] =
		(struct ts_error_suspect){.op_id = api->op_id, .stack = api->stack};
	return 0;
}

static void take_access(struct ts_errors_pass *pass, uint32_t session,
			const struct ts_row_access *row)
{
	uint32_t at;

	if (row->access != TS_ACCESS_ALLOC)
		return;
	at = ts_state_map_find(&pass->asked, session, row->op_id);
	if (at != NONE)
		pass->errors->at[at].bytes = row->dst_bytes;
}

int ts_errors_pass_take(struct ts_errors_pass *pass, const struct ts_sbt_row *row)
{
	uint32_t at;

	if (row->type == TS_ROW_API)
		return take_call(pass, row->session, row->api);
	if (row->type == TS_ROW_ACCESS) {
		take_access(pass, row->session, row->access);
		return 0;
	}
	/*
	 * Launches stay suspects after a failed wait: only a successful wait proves that they ran.
	 */
	at = ts_state_map_find(&pass->sessions, row->session, 0);
	if (at != NONE && ts_state_map_find(&pass->asked, row->session, row->sync->op_id) == NONE)
		pass->since[at].n = 0;
	return 0;
}

static int read_rows(struct ts_call_errors *errors, struct ts_sbt_reader *reader,
		     const struct ts_sbt_cursor_options *options,
		     int (*take)(const struct ts_sbt_row *row, void *data), void *data)
{
	const struct ts_row_search all = {.take = take, .data = data, .skips_versions = true};

	return ts_rows_search(reader, options, &all, &errors->is_damaged);
}

static int take_first(const struct ts_sbt_row *row, void *data)
{
	return ts_errors_pass_take(data, row);
}

/* Sets the kernel of each suspect that the device row belongs to. */
static int take_device_row(const struct ts_sbt_row *row, void *data)
{
	struct ts_call_errors *errors = data;
	/* The three row types share their first fields (sbt/schema.h). */
	uint64_t op_id = row->kernel->op_id;

	for (size_t i = 0; i < errors->n; i++)
		for (size_t j = 0; j < errors->at[i].n_suspects; j++) {
			struct ts_error_suspect *suspect = &errors->at[i].suspects[j];

			if (errors->at[i].session != row->session || suspect->op_id != op_id)
				continue;
			suspect->kernel = row->type == TS_ROW_KERNEL ? row->kernel->name : 0;
			suspect->is_other = row->type != TS_ROW_KERNEL;
		}
	return 0;
}

static int name_suspects(struct ts_call_errors *errors, struct ts_sbt_reader *reader,
			 uint32_t session)
{
	const struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_KERNEL) |
							       TS_ROW_BIT(TS_ROW_MEMCPY) |
							       TS_ROW_BIT(TS_ROW_MEMSET),
						      .session = session};
	bool any = false;
	int r;

	for (size_t i = 0; i < errors->n; i++)
		any = any || errors->at[i].n_suspects;
	r = any ? read_rows(errors, reader, &options, take_device_row, errors) : 0;
	for (size_t i = 0; i < errors->n; i++) {
		struct ts_call_error *error = &errors->at[i];
		size_t n = 0;

		for (size_t j = 0; j < error->n_suspects; j++)
			if (!error->suspects[j].is_other)
				error->suspects[n++] = error->suspects[j];
		error->n_suspects = n;
	}
	return r;
}

int ts_errors_pass_finish(struct ts_errors_pass *pass, struct ts_sbt_reader *reader,
			  uint32_t session, bool is_damaged, struct ts_call_errors **ret_errors)
{
	int r;

	pass->errors->is_damaged |= is_damaged;
	r = name_suspects(pass->errors, reader, session);
	if (!r)
		*ret_errors = ts_take_ptr(pass->errors);
	return r;
}

/* The search for failed calls, which are few. */
struct failing {
	struct ts_errors_pass *pass;
	bool has_kernels; /* a kernel failed, so launches and waits count */
};

static bool is_failed(const struct ts_sbt_row *row, const void *data)
{
	return row->type == TS_ROW_API
		       ? ts_call_failed(row->api->result)
		       : row->type == TS_ROW_ACCESS && row->access->access == TS_ACCESS_ALLOC;
}

static int take_found(const struct ts_sbt_row *row, void *data)
{
	struct failing *failing = data;

	failing->has_kernels |= row->type == TS_ROW_API && is_of_kernel(row->api->result);
	return ts_errors_pass_take(failing->pass, row);
}

/* Reads all rows in order: the suspects of a kernel's error are the launches before it. */
static int read_in_order(struct ts_sbt_reader *reader, const struct ts_sbt_cursor_options *options,
			 struct ts_errors_pass **ret_pass)
{
	ts_cleanup(ts_errors_pass_freep) struct ts_errors_pass *pass = NULL;
	int r = ts_errors_pass_new(&pass);

	r = r ? r : read_rows(pass->errors, reader, options, take_first, pass);
	if (!r)
		*ret_pass = ts_take_ptr(pass);
	return r;
}

int ts_call_errors_read(struct ts_sbt_reader *reader, uint32_t session,
			struct ts_call_errors **ret_errors)
{
	const struct ts_sbt_cursor_options options = {
		.types = TS_ERRORS_ROWS,
		.session = session,
	};
	ts_cleanup(ts_errors_pass_freep) struct ts_errors_pass *pass = NULL;
	struct failing failing = {0};
	const struct ts_row_search search = {.keeps = is_failed,
					     .take = take_found,
					     .data = &failing,
					     .skips_versions = true,
					     .nonzero_column = "result",
					     .nonzero_type = TS_ROW_API};
	int r = ts_errors_pass_new(&pass);

	failing.pass = pass;
	r = r ? r : ts_rows_search(reader, &options, &search, &pass->errors->is_damaged);
	if (!r && failing.has_kernels) {
		ts_errors_pass_freep(&pass);
		pass = NULL;
		r = read_in_order(reader, &options, &pass);
	}
	return r ? r : ts_errors_pass_finish(pass, reader, session, false, ret_errors);
}
