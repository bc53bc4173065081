/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the message of `tsctl analyze`: where the time went, and findings with stacks. query.c
 * calls this file. It calls replay/state (overview.c, which reads the trace once) and the files of
 * replay/report that name and sum.
 */
#include "replay/report/answers/analysisjson.h"

#include "proto/rpc/json.h"
#include "replay/report/answers/clockjson.h"
#include "replay/report/answers/doubtsjson.h"
#include "replay/report/answers/errorsjson.h"
#include "replay/report/answers/timelinejson.h"
#include "replay/report/rows/aggregate.h"
#include "replay/report/stacks/hostcode.h"
#include "replay/report/stacks/launchsite.h"
#include "replay/report/stacks/stackjson.h"
#include "replay/state/overview/overview.h"
#include "replay/state/state-clocks.h"

/* A GPU that is busy for at least this share counts as busy; idle time is then no explanation. */
#define BUSY_SHARE 0.8
/*
 * Limit of the mean idle time per operation that a late host causes. Below it, the program is
 * launch-bound. Above it, the host does other work, and the program is host-bound.
 */
#define LAUNCH_GAP_NS UINT64_C(50000)

struct analyzer {
	size_t limit; /* of listed kernels, and of stacks per finding */
	struct ts_resolver *resolver;
	struct ts_sbt_reader *reader;
	uint32_t session;
	struct ts_overview overview;
	/* of the overview */
	const struct ts_timeline *timeline;
	const struct ts_analysis *analysis;
	const struct ts_occupancies *occupancies;
	Ts__Rpc__Aggregate **launched; /* kernels, with launching functions */
	size_t n_launched;
	struct ts_pool *pool;
	size_t next;	  /* next occupancy: both lists are ordered by time */
	bool is_modelled; /* as in ts_clocks_are_modelled() */
};

static void analyzer_deinit(struct analyzer *analyzer)
{
	ts_overview_deinit(&analyzer->overview);
}

/* ---- the verdict ----------------------------------------------------------------------------- */

/* Returns the device with the longest busy time. */
static const struct ts_timeline_device *busiest(const struct ts_timeline *timeline)
{
	const struct ts_timeline_device *found = NULL;

	for (size_t i = 0; i < timeline->n_devices; i++)
		if (!found || timeline->devices[i].busy_ns > found->busy_ns)
			found = &timeline->devices[i];
	return found;
}

static const char *find_verdict(const struct ts_timeline *timeline, bool is_modelled)
{
	const struct ts_timeline_device *device = busiest(timeline);
	uint64_t all_ns = timeline->to_ns - timeline->from_ns, late_ns;

	if (!device || !all_ns)
		return "unknown";
	if ((double)device->busy_ns >= BUSY_SHARE * (double)all_ns)
		return device->ns[TS_TIMELINE_COPY] > device->ns[TS_TIMELINE_COMPUTE]
			       ? "copy_bound"
			       : "compute_bound";
	late_ns = device->idle_ns[TS_TIMELINE_HOST] + device->idle_ns[TS_TIMELINE_CALL] +
		  device->idle_ns[TS_TIMELINE_DISPATCH];
	if (device->idle_ns[TS_TIMELINE_DEPENDENCY] > late_ns)
		return "waiting";
	if (device->idle_ns[TS_TIMELINE_UNKNOWN] > late_ns)
		return "unknown";
	if (is_modelled)
		return "model_clock";
	return late_ns / device->n_ops < LAUNCH_GAP_NS ? "launch_bound" : "host_bound";
}

/* ---- the message ----------------------------------------------------------------------------- */

static const char *const advices[TS_ANALYSIS_FINDINGS] = {
	[TS_ANALYSIS_TINY_COPY] = "combine the copies, or write the data in a kernel: each copy "
				  "costs a call, however small it is",
	[TS_ANALYSIS_PAGEABLE_COPY] =
		"allocate the host memory with cudaMallocHost, or register it with "
		"cudaHostRegister: pageable memory is copied twice, and the call waits",
	[TS_ANALYSIS_REDUNDANT_SYNC] = "remove the waits: all launched operations had ended",
	[TS_ANALYSIS_LEGACY_STREAM] =
		"use streams made with cudaStreamNonBlocking, or build with --default-stream "
		"per-thread: the default stream and all other streams wait for each other",
	[TS_ANALYSIS_SERIALISED] = "check the causes of waits between the streams: the default "
				   "stream, events, kernels that fill the device",
};

/* `of` NULL: all devices. */
static bool is_example(const struct ts_analysis_group *group, uint32_t finding,
		       const struct ts_timeline_device *of)
{
	return group->finding == finding && (!of || group->device == of->device);
}

static void add_examples(struct analyzer *analyzer, uint32_t finding,
			 const struct ts_timeline_device *of, Ts__Rpc__AnalysisFinding *message)
{
	const struct ts_analysis *analysis = analyzer->analysis;
	size_t max = analyzer->limit;

	message->examples = ts_pool_alloc(analyzer->pool, max, sizeof(*message->examples));
	for (size_t i = 0; i < analysis->n_groups && message->n_examples < max; i++) {
		const struct ts_analysis_group *group = &analysis->groups[i];
		Ts__Rpc__AnalysisExample *example;

		if (!is_example(group, finding, of))
			continue;
		example = ts_pool_alloc(analyzer->pool, 1, sizeof(*example));
		ts__rpc__analysis_example__init(example);
		TS_RPC_SET(example, count, group->sum.count);
		TS_RPC_SET(example, ns, group->sum.ns);
		TS_RPC_SET(example, bytes, group->sum.bytes);
		TS_RPC_SET(example, session, group->session);
		example->stack = ts_stackjson_make(analyzer->resolver, analyzer->pool,
						   group->session, group->stack, group->time_ns);
		message->examples[message->n_examples++] = example;
	}
}

static bool has_example(const struct ts_analysis *analysis, uint32_t finding,
			const struct ts_timeline_device *of)
{
	for (size_t i = 0; i < analysis->n_groups; i++)
		if (is_example(&analysis->groups[i], finding, of))
			return true;
	return false;
}

/* Returns an upper bound of the time that a finding can save. */
static uint64_t gain_of(const struct analyzer *analyzer, uint32_t finding,
			const struct ts_analysis_sum *sum)
{
	uint64_t all_ns = analyzer->timeline->to_ns - analyzer->timeline->from_ns, ns = sum->ns;

	if (finding == TS_ANALYSIS_PAGEABLE_COPY)
		ns /= 2;
	else if (finding == TS_ANALYSIS_SERIALISED)
		ns = analyzer->analysis->findings[TS_ANALYSIS_SERIALISED].ns;
	return ns < all_ns ? ns : all_ns;
}

static int compare_findings(const void *a, const void *b)
{
	const Ts__Rpc__AnalysisFinding *x = *(Ts__Rpc__AnalysisFinding *const *)a;
	const Ts__Rpc__AnalysisFinding *y = *(Ts__Rpc__AnalysisFinding *const *)b;

	if (x->gain_ns != y->gain_ns)
		return x->gain_ns < y->gain_ns ? 1 : -1;
	return strcmp(x->finding, y->finding);
}

static Ts__Rpc__AnalysisFinding *add_finding(struct analyzer *analyzer, const char *name,
					     uint32_t finding, const struct ts_timeline_device *of,
					     const struct ts_analysis_sum *sum)
{
	Ts__Rpc__AnalysisFinding *message = ts_pool_alloc(analyzer->pool, 1, sizeof(*message));

	ts__rpc__analysis_finding__init(message);
	message->finding = (char *)name;
	TS_RPC_SET(message, count, sum->count);
	TS_RPC_SET(message, ns, sum->ns);
	TS_RPC_SET(message, bytes, sum->bytes);
	TS_RPC_SET(message, gain_ns, gain_of(analyzer, finding, sum));
	message->advice = (char *)advices[finding];
	add_examples(analyzer, finding, of, message);
	return message;
}

static void add_findings(struct analyzer *analyzer, Ts__Rpc__AnalysisReport *report)
{
	report->findings =
		ts_pool_alloc(analyzer->pool, TS_ANALYSIS_FINDINGS + analyzer->timeline->n_devices,
			      sizeof(*report->findings));
	for (uint32_t i = 0; i < TS_ANALYSIS_FINDINGS; i++)
		if (i != TS_ANALYSIS_SERIALISED && analyzer->analysis->findings[i].count)
			report->findings[report->n_findings++] =
				add_finding(analyzer, ts_analysis_finding_name(i), i, NULL,
					    &analyzer->analysis->findings[i]);
	for (uint32_t in = 0; in < analyzer->timeline->n_devices; in++) {
		const struct ts_timeline_device *device = &analyzer->timeline->devices[in];
		struct ts_analysis_sum sum = {.ns = device->busy_ns};

		for (size_t i = 0; i < analyzer->timeline->n_streams; i++)
			sum.count += analyzer->timeline->streams[i].in == in;
		/* Streams that never had work at the same time do not delay each other. */
		if (sum.count > 1 && device->max_at_once == 1 &&
		    has_example(analyzer->analysis, TS_ANALYSIS_SERIALISED, device))
			report->findings[report->n_findings++] =
				add_finding(analyzer,
					    ts_analysis_finding_name(TS_ANALYSIS_SERIALISED),
					    TS_ANALYSIS_SERIALISED, device, &sum);
	}
	qsort(report->findings, report->n_findings, sizeof(*report->findings), compare_findings);
}

static Ts__Rpc__Occupancy *find_occupancy(struct analyzer *analyzer, uint32_t name)
{
	size_t n = analyzer->occupancies->n_kernels;

	for (size_t tried = 0; tried < n; tried++) {
		size_t i = (analyzer->next + tried) % n;

		if (analyzer->occupancies->kernels[i].name != name)
			continue;
		analyzer->next = i + 1;
		return ts_timelinejson_occupancy(analyzer->pool,
						 &analyzer->occupancies->kernels[i]);
	}
	return NULL;
}

static void add_launchers(const struct analyzer *analyzer, Ts__Rpc__AnalysisKernel *kernel)
{
	for (size_t i = 0; i < analyzer->n_launched; i++) {
		const Ts__Rpc__Aggregate *sum = analyzer->launched[i];

		if (strcmp(sum->name, kernel->name) != 0)
			continue;
		kernel->n_launched_by = sum->n_launched_by;
		kernel->launched_by = sum->launched_by;
		TS_RPC_SET(kernel, launch_sites, sum->launch_sites);
		return;
	}
}

static void add_kernels(struct analyzer *analyzer, Ts__Rpc__AnalysisReport *report)
{
	const struct ts_analysis *analysis = analyzer->analysis;
	size_t max = analyzer->limit;

	report->kernels = ts_pool_alloc(analyzer->pool, max, sizeof(*report->kernels));
	for (size_t i = 0; i < analysis->n_groups && report->n_kernels < max; i++) {
		const struct ts_analysis_group *group = &analysis->groups[i];
		Ts__Rpc__AnalysisKernel *kernel;
		const char *name;

		if (group->finding != TS_ANALYSIS_FINDINGS)
			continue;
		kernel = ts_pool_alloc(analyzer->pool, 1, sizeof(*kernel));
		ts__rpc__analysis_kernel__init(kernel);
		name = ts_resolver_kernel_name(analyzer->resolver, group->stack);
		kernel->name = ts_pool_copy(analyzer->pool, name ? name : "unknown kernel");
		TS_RPC_SET(kernel, count, group->sum.count);
		TS_RPC_SET(kernel, ns, group->sum.ns);
		kernel->occupancy = find_occupancy(analyzer, group->stack);
		add_launchers(analyzer, kernel);
		report->kernels[report->n_kernels++] = kernel;
	}
}

static void make_report(struct analyzer *analyzer, Ts__Rpc__AnalysisReport *report)
{
	const struct ts_timeline *timeline = analyzer->timeline;
	Ts__Rpc__TimelineDevice *devices =
		ts_pool_alloc(analyzer->pool, timeline->n_devices, sizeof(*devices));

	ts__rpc__analysis_report__init(report);
	report->verdict = (char *)find_verdict(timeline, analyzer->is_modelled);
	TS_RPC_SET(report, start_ns, timeline->from_ns);
	TS_RPC_SET(report, end_ns, timeline->to_ns);
	report->devices =
		ts_pool_alloc(analyzer->pool, timeline->n_devices, sizeof(*report->devices));
	for (uint32_t i = 0; i < timeline->n_devices; i++) {
		ts_timelinejson_device(analyzer->resolver, analyzer->pool, timeline, i, false,
				       &devices[i]);
		report->devices[report->n_devices++] = &devices[i];
	}
	ts_timelinejson_occupancies(analyzer->pool, analyzer->occupancies, report->devices,
				    report->n_devices);
	add_kernels(analyzer, report);
	TS_RPC_SET(report, kernels_ns, analyzer->analysis->kernels.ns);
	add_findings(analyzer, report);
	TS_RPC_SET(report, syncs, analyzer->analysis->syncs.count);
	TS_RPC_SET(report, syncs_ns, analyzer->analysis->syncs.ns);
	TS_RPC_SET(report, damaged, analyzer->analysis->is_damaged || timeline->is_damaged);
	report->doubts = ts_doubtsjson_make(analyzer->pool, &timeline->doubts);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Sums the launches by kernel and launching function. Kernels without a name are left out. */
static int sum_launches(struct analyzer *analyzer)
{
	ts_cleanup(ts_launch_sites_freep) struct ts_launch_sites *sites = NULL;
	ts_cleanup(ts_aggregates_freep) struct ts_aggregates *sums = NULL;
	int r = ts_launch_sites_new(analyzer->resolver, analyzer->pool->no_memory, &sites);

	r = r ? r : ts_aggregates_new(false, &sums);
	for (size_t i = 0; !r && i < analyzer->overview.n_launches; i++) {
		const struct ts_overview_launch *launch = &analyzer->overview.launches[i];
		const char *name = ts_resolver_kernel_name(analyzer->resolver, launch->name);

		if (name)
			r = ts_aggregates_add_launches(
				sums, name,
				ts_launch_sites_of_kernel(sites, launch->session, launch->stack,
							  launch->start_ns, name),
				launch->count);
	}
	if (!r)
		ts_aggregates_messages(sums, analyzer->pool, 0, &analyzer->n_launched,
				       &analyzer->launched);
	return r;
}

static int read_all(struct analyzer *analyzer)
{
	int r = ts_overview_read(analyzer->reader, analyzer->session, &analyzer->overview);

	if (r)
		return r;
	analyzer->timeline = analyzer->overview.timeline;
	analyzer->analysis = analyzer->overview.analysis;
	analyzer->occupancies = analyzer->overview.occupancies;
	analyzer->is_modelled = ts_clocks_are_modelled(analyzer->reader, analyzer->session);
	return sum_launches(analyzer);
}

/* Returns the number of selected sessions that have only the host's calls. */
static uint32_t count_halves(const struct analyzer *analyzer)
{
	uint32_t n = 0;

	for (size_t i = 0; i < ts_sbt_reader_n_sessions(analyzer->reader); i++) {
		const struct ts_row_session *row = ts_sbt_reader_session_at(analyzer->reader, i);

		n += row->source == TS_SESSION_SOURCE_PROBES &&
		     (!analyzer->session || row->session == analyzer->session);
	}
	return n;
}

int ts_analysisjson_make(struct ts_resolver *resolver, uint32_t session, size_t limit,
			 struct ts_pool *pool, Ts__Rpc__AnalysisReport *ret_report)
{
	ts_cleanup(
		analyzer_deinit) struct analyzer analyzer = {.limit = limit,
							     .resolver = resolver,
							     .reader = ts_resolver_reader(resolver),
							     .session = session,
							     .pool = pool};
	Ts__Rpc__ClockBounds *clocks = NULL;
	bool damaged = false;
	int r = read_all(&analyzer);

	r = r ? r : ts_clockjson_make(analyzer.reader, session, pool, &clocks);
	if (r)
		return r;
	make_report(&analyzer, ret_report);
	ret_report->clocks = clocks;
	if (!strcmp(ret_report->verdict, "host_bound"))
		r = ts_hostcode_make(resolver, pool, session, limit, ret_report);
	r = r ? r
	      : ts_errorsjson_make_of(resolver, pool, session, analyzer.overview.errors,
				      &ret_report->n_errors, &ret_report->errors,
				      &ret_report->failed_calls, &damaged);
	if (r)
		return r;
	ret_report->has_failed_calls = ret_report->failed_calls != 0;
	if (ts_kernels_are_timed(analyzer.reader, session))
		TS_RPC_SET(ret_report, timed_kernels, true);
	if (count_halves(&analyzer))
		TS_RPC_SET(ret_report, host_half_only, count_halves(&analyzer));
	return 0;
}
