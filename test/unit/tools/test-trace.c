/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a trace of known rows by names, as JSON and as sums. */
#include "replay/report/info/traceinfo.h"
#include "replay/report/rows/aggregate.h"
#include "replay/report/rows/rowjson.h"
#include "replay/report/rows/rowsums.h"
#include "test/unit/harness.h"
#include "test/unit/tools/synthetic.h"

#include <sys/mman.h>

struct opened {
	int fd;
	struct ts_sbt_reader *reader;
	struct ts_resolver *resolver;
};

static struct opened open_synthetic(uint32_t n_launches, bool unfinished, bool mangled)
{
	struct synthetic what = {.n_launches = n_launches, .unfinished = unfinished};
	struct ts_resolver_options options = {.mangled = mangled, .launchers = true};
	struct opened opened = {.fd = memfd_create("trace", MFD_CLOEXEC)};
	int fd = dup(opened.fd);

	ts_check(opened.fd >= 0 && fd >= 0);
	ts_check_int(synthetic_write(fd, &what), 0);
	ts_check_int(ts_sbt_reader_open(opened.fd, &opened.reader, NULL), 0);
	ts_check_int(ts_resolver_new(opened.reader, &options, &opened.resolver), 0);
	return opened;
}

static void close_synthetic(struct opened *opened)
{
	ts_resolver_free(opened->resolver);
	ts_sbt_reader_free(opened->reader);
	close(opened->fd);
}

/* Returns the JSON of the first row of this type. */
static char *row_json(struct opened *opened, unsigned int type, bool stacks)
{
	struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(type)};
	struct ts_sbt_cursor *cursor = NULL;
	struct ts_rowjson *rowjson = NULL;
	struct ts_pool pool = {.no_memory = abort};
	struct ts_json json = {0};
	struct ts_sbt_row row;

	ts_check_int(ts_sbt_cursor_new(opened->reader, &options, &cursor), 0);
	ts_check_int(ts_sbt_cursor_next(cursor, &row), 0);
	ts_check_int(ts_rowjson_new(opened->resolver, stacks ? &pool : NULL, &rowjson), 0);
	ts_check_int(ts_rowjson_append(rowjson, &row, &json), 0);
	ts_rowjson_free(rowjson);
	ts_pool_deinit(&pool);
	ts_sbt_cursor_free(cursor);
	return json.data;
}

static void check_json(struct opened *opened, unsigned int type, bool stacks, const char *want)
{
	char *got = row_json(opened, type, stacks);

	ts_check_str(got, want);
	free(got);
}

TS_TEST(every_type_of_row_prints)
{
	struct opened opened = open_synthetic(3, false, false);

	for (unsigned int type = TS_ROW_API; type; type = ts_row_next_event(type)) {
		char want[64], *got = row_json(&opened, type, true);

		snprintf(want, sizeof(want),
			 "{\"type\": \"%s\", \"start_ns\": ", ts_row_schema(type)->name);
		ts_check(!strncmp(got, want, strlen(want)));
		ts_check(got[strlen(got) - 1] == '}');
		free(got);
	}
	close_synthetic(&opened);
}

TS_TEST(rows_as_json)
{
	struct opened opened = open_synthetic(1, false, true);

	check_json(
		&opened, TS_ROW_API, false,
		"{\"type\": \"api\", \"start_ns\": 1000001000, \"end_ns\": 1000001300, \"session\": 1, "
		"\"tid\": 4711, \"thread_name\": \"main\", \"name\": \"cudaLaunchKernel\", \"op_id\": 1, "
		"\"domain\": \"runtime\", \"cbid\": 211, \"result\": 0, \"context\": 1, "
		"\"expects_device\": true}");
	/* The row has its call's thread; fields that are 0 for none are omitted. */
	check_json(
		&opened, TS_ROW_KERNEL, false,
		"{\"type\": \"kernel\", \"start_ns\": 1000001200, \"end_ns\": 1000001700, \"session\": 1, "
		"\"tid\": 4711, \"thread_name\": \"main\", \"name\": \"_Z5saxpyifPfS_\", \"op_id\": 1, "
		"\"device\": 0, \"context\": 1, \"stream\": 7, \"grid_x\": 16, \"grid_y\": 1, "
		"\"grid_z\": 1, \"block_x\": 256, \"block_y\": 1, \"block_z\": 1, \"cluster_x\": 0, "
		"\"cluster_y\": 0, \"cluster_z\": 0, \"static_shared_bytes\": 0, "
		"\"dynamic_shared_bytes\": 0, \"local_bytes_per_thread\": 0, "
		"\"registers_per_thread\": 0, \"launch_type\": 0, \"channel_type\": 0, \"channel\": 0}");
	/* Host memory has no device; a copy without a call has no thread. */
	check_json(
		&opened, TS_ROW_MEMCPY, false,
		"{\"type\": \"memcpy\", \"start_ns\": 1000000500, \"end_ns\": 1000000600, \"session\": 1, "
		"\"kind\": \"htod\", \"op_id\": 77000, \"device\": 0, \"context\": 1, \"stream\": 7, "
		"\"bytes\": 4096, \"copy_count\": 1, \"dst_device\": 0, \"copy_kind\": 1, "
		"\"src_kind\": 2, \"dst_kind\": 3, \"async\": true, \"channel\": 0}");
	/* An instant ends when it begins; a priority is signed. */
	check_json(
		&opened, TS_ROW_STREAM, false,
		"{\"type\": \"stream\", \"start_ns\": 1000000500, \"end_ns\": 1000000500, \"session\": 1, "
		"\"tid\": 4711, \"thread_name\": \"main\", \"device\": 0, \"context\": 1, \"stream\": 7, "
		"\"handle\": 3567, \"priority\": -1, \"stream_flags\": 0, \"action\": \"created\"}");
	check_json(
		&opened, TS_ROW_LOSS, false,
		"{\"type\": \"loss\", \"start_ns\": 1000000500, \"end_ns\": 1000000510, \"session\": 1, "
		"\"tid\": 4711, \"thread_name\": \"main\", \"reason\": \"ring_full\", \"count\": 3}");
	/* A sample is named by its innermost frame. */
	check_json(
		&opened, TS_ROW_SAMPLE, false,
		"{\"type\": \"sample\", \"start_ns\": 1000000450, \"end_ns\": 1000000450, \"session\": 1, "
		"\"tid\": 4711, \"thread_name\": \"main\", \"name\": \"libsynthetic.so+0x1234\", "
		"\"period_ns\": 5025125, \"cpu\": 2, \"kernel\": true}");
	close_synthetic(&opened);
}

TS_TEST(samples_are_summed_by_place)
{
	struct opened opened = open_synthetic(1, false, true);
	struct ts_sbt_cursor_options all = {0};
	struct ts_pool pool = {.no_memory = abort};
	struct ts_row_sums sums = {0};
	Ts__Rpc__TraceStats stats;

	ts_check_int(ts_row_sums_read(&sums, opened.resolver, &all, NULL, abort, NULL, NULL), 0);
	ts_row_sums_message(&sums, &pool, 0, &stats);
	ts_check_int(stats.n_on_cpu, 1);
	ts_check_str(stats.on_cpu[0]->name, "libsynthetic.so+0x1234");
	ts_check_int(stats.on_cpu[0]->count, 1);
	ts_check_int(stats.on_cpu[0]->total_ns, 5025125);
	ts_row_sums_deinit(&sums);
	ts_pool_deinit(&pool);
	close_synthetic(&opened);
}

TS_TEST(stacks_when_asked_for)
{
	struct opened opened = open_synthetic(1, false, true);
	char *with = row_json(&opened, TS_ROW_API, true);

	ts_check(
		strstr(with, "\"frames\": [\"0x7f0000001234\", \"0x7f0000005678\", \"0x400123\"]"));
	ts_check(strstr(with, "\"truncated\": true"));
	free(with);
	close_synthetic(&opened);
}

TS_TEST(frames_lie_in_modules)
{
	struct opened opened = open_synthetic(1, false, true);
	uint64_t in_file = 0;
	const char *path = NULL;

	ts_check(ts_resolver_module(opened.resolver, 1, SYNTHETIC_START_NS + 1, 0x7f0000001234,
				    &path, &in_file));
	ts_check_str(path, "/lib/libsynthetic.so");
	ts_check_int(in_file, 0x1234);
	ts_check(!ts_resolver_module(opened.resolver, 1, SYNTHETIC_START_NS + 1, 0x400123, &path,
				     &in_file));
	ts_check(!ts_resolver_module(opened.resolver, 2, SYNTHETIC_START_NS + 1, 0x7f0000001234,
				     &path, &in_file));
	close_synthetic(&opened);
}

static uint64_t count(const Ts__Rpc__TraceInfo *info, const char *type)
{
	for (size_t i = 0; i < info->n_counts; i++)
		if (!strcmp(info->counts[i]->key, type))
			return info->counts[i]->value;
	return UINT64_MAX;
}

TS_TEST(info_of_a_finished_trace)
{
	struct opened opened = open_synthetic(100, false, true);
	struct ts_pool pool = {.no_memory = abort};
	Ts__Rpc__TraceInfo info;
	bool damaged;

	ts_check_int(ts_traceinfo_make(opened.resolver, "x.sbt", 0, 0, false, &pool, &info,
				       &damaged),
		     0);
	ts_check_int(count(&info, "kernel"), 100);
	ts_check_int(count(&info, "api"), 100);
	ts_check_int(count(&info, "alloc"), 1);
	ts_check(info.finished && !info.truncated && !info.live);
	ts_check(!info.empty_reason);
	ts_check_int(info.start_ns, SYNTHETIC_START_NS);
	ts_check_int(info.duration_ns, 1000 + 99 * 1000 + 700);
	ts_check_int(info.clock_error_ns, 50);
	ts_check_int(info.n_lost, 2);
	ts_check_str(info.lost[0]->key, "ring_full");
	ts_check_int(info.lost[0]->value, 3);
	ts_check_str(info.lost[1]->key, "reason_31");
	ts_check_int(info.lost[1]->value, 5);
	ts_check_int(info.n_sessions, 1);
	ts_check_int(info.sessions[0]->n_lost, 2);
	ts_check_str(info.sessions[0]->lost[1]->key, "reason_31");
	ts_check_int(info.sessions[0]->lost[1]->value, 5);
	ts_check_str(info.sessions[0]->program, "synthetic");
	ts_check_int(info.sessions[0]->state, TS__RPC__SESSION_STATE__SESSION_STATE_ENDED);
	ts_check_int(info.sessions[0]->threads, 1);
	ts_check_int(info.n_devices, 1);
	ts_check(info.devices[0]->virtual_);
	ts_check_int(info.n_kernels, 1);
	ts_check_int(info.kernels[0]->count, 100);
	ts_check_int(info.kernels[0]->total_ns, 50000);
	ts_check_int(info.copies[0]->bytes, 4096);
	ts_pool_deinit(&pool);
	close_synthetic(&opened);
}

TS_TEST(info_of_a_trace_that_was_cut)
{
	struct opened opened = open_synthetic(100, true, true);
	struct ts_pool pool = {.no_memory = abort};
	Ts__Rpc__TraceInfo info;
	bool damaged;

	ts_check_int(ts_traceinfo_make(opened.resolver, "x.sbt", 0, 0, false, &pool, &info,
				       &damaged),
		     0);
	ts_check_int(count(&info, "kernel"), 100);
	ts_check(!info.finished && info.truncated);
	ts_pool_deinit(&pool);
	close_synthetic(&opened);
}

TS_TEST(sums_are_sorted_by_time)
{
	struct ts_aggregates *aggregates = NULL;
	struct ts_pool pool = {.no_memory = abort};
	Ts__Rpc__Aggregate **messages;
	size_t n;

	ts_check_int(ts_aggregates_new(false, &aggregates), 0);
	for (int i = 0; i < 2000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "k%d", i);
		ts_check_int(ts_aggregates_add(aggregates, name, (uint64_t)i, 0), 0);
	}
	ts_check_int(ts_aggregates_add(aggregates, "k0", 5000, 16), 0);
	ts_aggregates_messages(aggregates, &pool, 2, &n, &messages);
	ts_check_int(n, 2);
	ts_check_str(messages[0]->name, "k0");
	ts_check_int(messages[0]->count, 2);
	ts_check_int(messages[0]->min_ns, 0);
	ts_check_int(messages[0]->max_ns, 5000);
	ts_check_int(messages[0]->bytes, 16);
	ts_check_str(messages[1]->name, "k1999");
	ts_check(!messages[1]->has_bytes);
	ts_check_int(ts_aggregates_total_ns(aggregates), 1999 * 2000 / 2 + 5000);
	ts_pool_deinit(&pool);
	ts_aggregates_free(aggregates);
}

static void add_range(struct ts_aggregates *aggregates, const char *name, uint64_t ns)
{
	struct ts_row_sum one = {.count = 1, .total_ns = ns, .min_ns = ns, .max_ns = ns};

	ts_check_int(ts_durations_add(&one.durations, ns), 0);
	ts_check_int(ts_aggregates_add_numbered(aggregates, name, &one), 0);
	ts_durations_deinit(&one.durations);
}

TS_TEST(ranges_that_differ_in_numbers_are_one)
{
	static const char *const names[] = {"step 1",	      "step 22",	"conv2d",
					    "conv3d",	      "v1.5",		"step 3",
					    "epoch 7",	      "12: load",	"x_1",
					    "epoch 1/step 2", "epoch 4/step 30"};
	static const struct {
		const char *name;
		uint64_t count;
		bool numbered;
	} sums[] = {{"epoch N/step N", 2, true}, {"step N", 3, true},  {"12: load", 1, false},
		    {"conv2d", 1, false},	 {"conv3d", 1, false}, {"epoch 7", 1, false},
		    {"v1.5", 1, false},		 {"x_1", 1, false}};
	struct ts_aggregates *aggregates = NULL;
	struct ts_pool pool = {.no_memory = abort};
	Ts__Rpc__Aggregate **messages;
	size_t n;

	ts_check_int(ts_aggregates_new(true, &aggregates), 0);
	for (size_t i = 0; i < TS_ARRAY_LEN(names); i++)
		add_range(aggregates, names[i],
			  strchr(names[i], '/')		  ? 100
			  : !strncmp(names[i], "step", 4) ? 10
							  : 1);
	ts_aggregates_messages(aggregates, &pool, 0, &n, &messages);
	ts_check_int(n, TS_ARRAY_LEN(sums));
	for (size_t i = 0; i < n; i++) {
		ts_check_str(messages[i]->name, sums[i].name);
		ts_check_int(messages[i]->count, sums[i].count);
		ts_check_int(messages[i]->has_numbered, sums[i].numbered);
	}
	ts_check_int(messages[1]->median_ns, 10);
	ts_pool_deinit(&pool);
	ts_aggregates_free(aggregates);
}
