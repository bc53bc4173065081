/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums the sampled host functions over all gaps. `tsctl analyze` calls this file; this file calls
 * codes.c and ts_gaps_read(). Threads and their other activity are in `tsctl gaps`.
 */
#include "replay/report/stacks/hostcode.h"

#include <stdlib.h>
#include <string.h>

#include "proto/rpc/json.h"
#include "replay/report/stacks/codes.h"
#include "replay/state/gaps/gaps.h"

/*
 * Gaps shorter than this are ignored: the host does not cause them. `tsctl gaps` has the same
 * limit.
 */
#define LEAST_GAP_NS UINT64_C(10000)

struct maker {
	struct ts_pool *pool;
	const struct ts_codes *codes;
	Ts__Rpc__AnalysisCode **of_number; /* NULL: no message yet */
	Ts__Rpc__AnalysisReport *report;
};

static Ts__Rpc__AnalysisCode *make_code(struct maker *maker, const struct ts_code *code)
{
	Ts__Rpc__AnalysisCode *message = ts_pool_alloc(maker->pool, 1, sizeof(*message));

	ts__rpc__analysis_code__init(message);
	message->function = ts_pool_copy(maker->pool, code->function);
	message->file = ts_pool_copy(maker->pool, code->file);
	if (code->line)
		TS_RPC_SET(message, line, code->line);
	maker->report->host_code[maker->report->n_host_code++] = message;
	return message;
}

static void add_part(struct maker *maker, const struct ts_gap_part *part)
{
	Ts__Rpc__AnalysisCode **at = &maker->of_number[part->key.code];
	struct ts_code code;

	if (part->depth || !ts_codes_at(maker->codes, part->key.code, &code))
		return;
	if (!*at)
		*at = make_code(maker, &code);
	TS_RPC_SET(*at, ns, (*at)->ns + part->ns);
	TS_RPC_SET(*at, samples, (*at)->samples + part->samples);
}

static int compare(const void *a, const void *b)
{
	const Ts__Rpc__AnalysisCode *x = *(Ts__Rpc__AnalysisCode *const *)a;
	const Ts__Rpc__AnalysisCode *y = *(Ts__Rpc__AnalysisCode *const *)b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return strcmp(x->function, y->function);
}

static void make(struct maker *maker, const struct ts_gaps *gaps, size_t limit)
{
	Ts__Rpc__AnalysisReport *report = maker->report;
	uint32_t most = 0;

	for (size_t i = 0; i < gaps->parts.n; i++)
		if (gaps->parts.at[i].key.code > most)
			most = gaps->parts.at[i].key.code;
	maker->of_number = ts_pool_alloc(maker->pool, most + (size_t)1, sizeof(*maker->of_number));
	report->host_code =
		ts_pool_alloc(maker->pool, most + (size_t)1, sizeof(*report->host_code));
	for (size_t i = 0; i < gaps->parts.n; i++)
		add_part(maker, &gaps->parts.at[i]);
	if (report->n_host_code)
		TS_RPC_SET(report, host_ns, gaps->ns - gaps->left_ns);
	qsort(report->host_code, report->n_host_code, sizeof(*report->host_code), compare);
	if (report->n_host_code > limit)
		report->n_host_code = limit;
}

static bool has_samples(const struct ts_sbt_reader *reader, uint32_t session)
{
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(reader, i);

		if (block->type == TS_ROW_SAMPLE && (!session || block->session == session))
			return true;
	}
	return false;
}

int ts_hostcode_make(struct ts_resolver *resolver, struct ts_pool *pool, uint32_t session,
		     size_t limit, Ts__Rpc__AnalysisReport *report)
{
	struct ts_gaps_options options = {.session = session, .least_ns = LEAST_GAP_NS};
	struct ts_sbt_reader *reader = ts_resolver_reader(resolver);
	ts_cleanup(ts_codes_freep) struct ts_codes *codes = NULL;
	ts_cleanup(ts_gaps_freep) struct ts_gaps *gaps = NULL;
	struct maker maker = {.pool = pool, .report = report};
	int r;

	if (!has_samples(reader, session))
		return 0;
	r = ts_codes_new(resolver, &codes);
	if (r)
		return r;
	options.code = ts_codes_find(codes);
	maker.codes = codes;
	r = ts_gaps_read(reader, &options, &gaps);
	if (!r)
		make(&maker, gaps, limit);
	return r;
}
