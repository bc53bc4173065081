/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl info: prints the contents of a trace on one page. main.c runs it; replay/report answers.
 */
#include "proto/rpc/json.h"
#include "replay/report/names/names.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/screen/message-texts.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/table.h"
#include "tools/tsctl/screen/term.h"
#include "tools/tsctl/trace/ask.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>
#include <time.h>

#define TOP_KERNELS 10u
/* More sessions than this are folded by program. */
#define MAX_SESSIONS 20u

struct info {
	const char *session;
	bool json, mangled, wide, columns;
};

/* The columns of one type: `n` from `first` on. */
struct type_size {
	size_t first, n;
	uint64_t stored_bytes;
};

static void heading(const char *text)
{
	printf("\n%s%s%s\n", ts_term_style(stdout, TS_STYLE_BOLD), text,
	       ts_term_style(stdout, TS_STYLE_PLAIN));
}

static void print_file(const Ts__Rpc__TraceInfo *info)
{
	char duration[TS_OUT_FIGURE_BYTES], bytes[TS_OUT_FIGURE_BYTES], error[TS_OUT_FIGURE_BYTES];
	char started[64] = "";
	time_t seconds = (time_t)(info->start_realtime_ns / UINT64_C(1000000000));
	struct tm tm;

	fputs(ts_term_style(stdout, TS_STYLE_BOLD), stdout);
	ts_out_text(stdout, info->path);
	printf("%s: %s, %s, %s", ts_term_style(stdout, TS_STYLE_PLAIN), info->format,
	       ts_out_bytes(bytes, info->bytes),
	       info->finished ? "finished"
	       : info->live   ? "still being written"
			      : "cut off: it was never finished (`tsctl repair` finishes it)");
	if (info->has_damaged_at)
		printf(", damaged at byte %" PRIu64, info->damaged_at);
	if (info->has_bytes_per_launch)
		printf(", %.1f bytes per launch", info->bytes_per_launch);
	putchar('\n');
	if (info->has_start_realtime_ns && localtime_r(&seconds, &tm))
		strftime(started, sizeof(started), ", begun %F %T %z", &tm);
	printf("duration %s%s%s", ts_out_duration(duration, info->duration_ns),
	       info->at_no_time ? " (uncertain: a row has an impossible time)" : "", started);
	if (info->has_clock_error_ns)
		printf(", host clock error <= %s", ts_out_duration(error, info->clock_error_ns));
	if (info->clocks && info->clocks->has_between_sessions_ns)
		printf(", between processes <= %s",
		       ts_out_duration(error, info->clocks->between_sessions_ns));
	putchar('\n');
}

static void print_metadata(const Ts__Rpc__TraceInfo *info, bool wide)
{
	static const struct {
		const char *key, *title;
	} shown[] = {
		{TS_METADATA_COMMAND, "command"},
		{TS_METADATA_COMMAND_END, "command was"},
		{TS_METADATA_CONTINUES, "continues"},
		{TS_METADATA_HOSTNAME, "host"},
		{TS_METADATA_CUT_FROM, "cut from"},
		{TS_METADATA_KERNEL, "kernel"},
		{TS_METADATA_CUT_SHORT, "cut short:"},
		{TS_METADATA_UNREAD_CODE, "registers of kernels are missing:"},
		{TS_METADATA_SYSTEM_MISSING, "calls of other processes are missing:"},
		{TS_METADATA_KERNEL_EVENTS_MISSING, "kernel events are missing:"},
		{TS_METADATA_SAMPLES_MISSING, "missing:"},
		{TS_METADATA_SAMPLES_RATE, "samples:"},
		{TS_METADATA_QUANTUM, "quantum of host times, ns:"},
	};
	const size_t columns = wide ? 0 : ts_term_width(stdout);
	const size_t width = columns && columns < 40 ? 40 : columns;

	for (size_t i = 0; i < TS_ARRAY_LEN(shown); i++)
		for (size_t j = 0; j < info->n_metadata; j++) {
			if (strcmp(info->metadata[j]->key, shown[i].key))
				continue;
			printf("%s ", shown[i].title);
			ts_out_text_cut(stdout, info->metadata[j]->value,
					width ? width - strlen(shown[i].title) - 1 : 0);
			putchar('\n');
		}
}

static const char *state_text(const Ts__Rpc__SessionInfo *session)
{
	switch (session->state) {
	case TS__RPC__SESSION_STATE__SESSION_STATE_RUNNING:
		return "running";
	case TS__RPC__SESSION_STATE__SESSION_STATE_ENDED:
		return "ended";
	case TS__RPC__SESSION_STATE__SESSION_STATE_DIED:
		return session->end_reason ? session->end_reason : "killed or crashed";
	case TS__RPC__SESSION_STATE__SESSION_STATE_DROPPED:
		return "dropped: bad data";
	case TS__RPC__SESSION_STATE__SESSION_STATE_STOPPED:
		return "ran on";
	case TS__RPC__SESSION_STATE__SESSION_STATE_CUT:
		return "cut off";
	case TS__RPC__SESSION_STATE__SESSION_STATE_EMPTY:
		return "not recorded";
	default:
		return "unknown";
	}
}

static uint64_t session_count(const Ts__Rpc__SessionInfo *session, const char *type)
{
	for (size_t i = 0; i < session->n_counts; i++)
		if (!strcmp(session->counts[i]->key, type))
			return session->counts[i]->value;
	return 0;
}

static void add_program(struct ts_table *table, const Ts__Rpc__SessionInfo *session)
{
	ts_table_add(table, state_text(session));
	ts_table_addf(table, "%s%s%s%s", session->program ? session->program : "",
		      session->host_half_only ? " (host half only)" : "",
		      session->empty_text ? ": " : "",
		      session->empty_text ? session->empty_text : "");
}

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* Orders sessions by the fields that folded sessions share. */
static int compare_sessions(const void *a, const void *b)
{
	const Ts__Rpc__SessionInfo *x = *(Ts__Rpc__SessionInfo *const *)a;
	const Ts__Rpc__SessionInfo *y = *(Ts__Rpc__SessionInfo *const *)b;
	int order = compare_text(x->program, y->program);

	order = order ? order : strcmp(state_text(x), state_text(y));
	order = order ? order : (int)x->host_half_only - (int)y->host_half_only;
	return order ? order : compare_text(x->empty_text, y->empty_text);
}

static void print_folded(const Ts__Rpc__TraceInfo *info)
{
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	ts_cleanup(ts_freep) Ts__Rpc__SessionInfo **sorted = NULL;
	char count[TS_OUT_FIGURE_BYTES];

	sorted = calloc(info->n_sessions, sizeof(*sorted));
	if (!sorted || ts_table_new("rrrrll", &table))
		return;
	memcpy(sorted, info->sessions, info->n_sessions * sizeof(*sorted));
	qsort(sorted, info->n_sessions, sizeof(*sorted), compare_sessions);
	ts_table_add(table, "SESSIONS");
	ts_table_add(table, "THREADS");
	ts_table_add(table, "CALLS");
	ts_table_add(table, "KERNELS");
	ts_table_add(table, "END");
	ts_table_add(table, "PROGRAM");
	for (size_t i = 0, next; i < info->n_sessions; i = next) {
		uint64_t threads = 0, calls = 0, kernels = 0;

		for (next = i;
		     next < info->n_sessions && !compare_sessions(&sorted[i], &sorted[next]);
		     next++) {
			threads += sorted[next]->threads;
			calls += session_count(sorted[next], "api");
			kernels += session_count(sorted[next], "kernel");
		}
		ts_table_add(table, ts_out_count(count, next - i));
		ts_table_add(table, ts_out_count(count, threads));
		ts_table_add(table, ts_out_count(count, calls));
		ts_table_add(table, ts_out_count(count, kernels));
		add_program(table, sorted[i]);
	}
	ts_table_print(table, stdout, 2, false);
	printf("  %zu sessions, by program; `tsctl info --wide` lists each\n", info->n_sessions);
}

/*
 * Prints, for each session with HIP, the version of HIP's runtime and the interfaces that the shim
 * used.
 */
static void print_interfaces(const Ts__Rpc__TraceInfo *info)
{
	for (size_t i = 0; i < info->n_sessions; i++) {
		const Ts__Rpc__SessionInfo *session = info->sessions[i];
		bool has_times = false, has_samples = false, by_symbols = false, by_sdk = false;

		if (!session->hip_version)
			continue;
		for (size_t k = 0; k < session->n_interfaces; k++) {
			has_times |= !strcmp(session->interfaces[k], "hip_tracer") ||
				     !strcmp(session->interfaces[k], "hip_activity");
			has_samples |= !strcmp(session->interfaces[k], "hip_events");
			by_symbols |= !strcmp(session->interfaces[k], "hip_symbols");
			by_sdk |= !strcmp(session->interfaces[k], "rocprofiler_sdk");
		}
		printf("  session %u: HIP %u.%u.%u by its %s", session->session,
		       session->hip_version / 10000000, session->hip_version / 100000 % 100,
		       session->hip_version % 100000,
		       by_symbols ? "exported functions" : "dispatch tables");
		if (has_samples)
			printf("; a sample of the GPU's work has times, by events, correct to %.1f us",
			       (double)session->hip_time_error_ns / 1e3);
		else if (by_sdk)
			fputs(", with times of rocprofiler-sdk", stdout);
		else if (!has_times)
			fputs("; this version reports no times of the GPU's work", stdout);
		putchar('\n');
	}
}

static bool has_job(const Ts__Rpc__SessionInfo *session)
{
	return session->job || session->has_rank;
}

/* Prints the job and the rank of each session that has one. */
static void print_jobs(const Ts__Rpc__TraceInfo *info)
{
	for (size_t i = 0; i < info->n_sessions; i++) {
		const Ts__Rpc__SessionInfo *session = info->sessions[i];

		if (!has_job(session))
			continue;
		printf("  session %u:", session->session);
		if (session->job) {
			fputs(" job ", stdout);
			ts_out_text(stdout, session->job);
		}
		if (session->has_rank)
			printf("%s rank %u", session->job ? "," : "", session->rank);
		if (session->has_rank && session->has_ranks)
			printf(" of %u", session->ranks);
		if (session->has_local_rank)
			printf(", local rank %u", session->local_rank);
		putchar('\n');
	}
}

static void print_sessions(const Ts__Rpc__TraceInfo *info, bool wide)
{
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	char count[TS_OUT_FIGURE_BYTES];

	if (!info->n_sessions)
		return;
	heading("Sessions");
	if (info->n_sessions > MAX_SESSIONS && !wide) {
		print_folded(info);
		return;
	}
	if (ts_table_new("rrrrrll", &table))
		return;
	ts_table_addf(table, "SESSION");
	ts_table_addf(table, "PID");
	ts_table_addf(table, "THREADS");
	ts_table_addf(table, "CALLS");
	ts_table_addf(table, "KERNELS");
	ts_table_addf(table, "END");
	ts_table_addf(table, "PROGRAM");
	for (size_t i = 0; i < info->n_sessions; i++) {
		const Ts__Rpc__SessionInfo *session = info->sessions[i];

		ts_table_addf(table, "%u", session->session);
		ts_table_addf(table, "%u", session->pid);
		ts_table_addf(table, "%u", session->threads);
		ts_table_addf(table, "%s", ts_out_count(count, session_count(session, "api")));
		ts_table_addf(table, "%s", ts_out_count(count, session_count(session, "kernel")));
		add_program(table, session);
	}
	ts_table_print(table, stdout, 2, wide);
	print_interfaces(info);
	print_jobs(info);
}

/* Periods without recording that the user requested. */
static void print_stops(const Ts__Rpc__TraceInfo *info, bool wide)
{
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	char time[TS_OUT_FIGURE_BYTES];
	bool any = false;

	if (ts_table_new("rrrl", &table))
		return;
	ts_table_addf(table, "SESSION");
	ts_table_addf(table, "TIMES");
	ts_table_addf(table, "FOR");
	ts_table_addf(table, "PROGRAM");
	for (size_t i = 0; i < info->n_sessions; i++) {
		const Ts__Rpc__SessionInfo *session = info->sessions[i];

		if (!session->stops)
			continue;
		any = true;
		ts_table_addf(table, "%u", session->session);
		ts_table_addf(table, "%u", session->stops);
		ts_table_addf(table, "%s", ts_out_duration(time, session->stopped_ns));
		ts_table_addf(table, "%s", session->program ? session->program : "");
	}
	if (!any)
		return;
	heading("Stopped");
	ts_table_print(table, stdout, 2, wide);
}

static void print_overhead(const Ts__Rpc__SessionInfo *session)
{
	uint64_t ns = session->end_ns > session->start_ns ? session->end_ns - session->start_ns : 0;
	char figure[TS_OUT_FIGURE_BYTES];

	printf("\n    capture for replay took %s in the program's threads",
	       ts_out_duration(figure, session->capture->ns));
	if (ns)
		printf(",\n    %.2f %% of the session's length",
		       100.0 * (double)session->capture->ns / (double)ns);
}

/* Prints the captures that can be replayed, and what they lack. */
static void print_captures(const Ts__Rpc__TraceInfo *info)
{
	char figure[TS_OUT_COUNTED_BYTES];
	bool any = false;

	for (size_t i = 0; i < info->n_sessions; i++) {
		const Ts__Rpc__SessionInfo *session = info->sessions[i];
		const Ts__Rpc__CaptureInfo *capture = session->capture;

		if (!capture)
			continue;
		if (!any)
			heading("Captured");
		any = true;
		printf("  session %u: %s", session->session,
		       ts_out_counted(figure, capture->operations, "operation"));
		if (capture->has_windows)
			printf(", %u window%s", capture->windows, capture->windows == 1 ? "" : "s");
		if (capture->has_bytes)
			printf(", %s of contents", ts_out_bytes(figure, capture->bytes));
		if (capture->ns)
			print_overhead(session);
		putchar('\n');
		for (size_t n = 0; n < capture->n_unsupported; n++) {
			printf("    cannot be replayed: ");
			ts_out_text(stdout, capture->unsupported[n]);
			putchar('\n');
		}
		if (capture->ended) {
			printf("    ended early: ");
			ts_out_text(stdout, capture->ended);
			putchar('\n');
		}
	}
}

static int compare_devices(const void *a, const void *b)
{
	const Ts__Rpc__DeviceInfo *x = *(Ts__Rpc__DeviceInfo *const *)a;
	const Ts__Rpc__DeviceInfo *y = *(Ts__Rpc__DeviceInfo *const *)b;
	int order;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	order = strcmp(x->uuid, y->uuid);
	if (order)
		return order;
	return x->session < y->session ? -1 : x->session > y->session;
}

static void print_devices(const Ts__Rpc__TraceInfo *info, bool wide)
{
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	ts_cleanup(ts_freep) Ts__Rpc__DeviceInfo **sorted = NULL;
	char bytes[TS_OUT_FIGURE_BYTES];

	if (!info->n_devices || ts_table_new("rlrrl", &table))
		return;
	sorted = calloc(info->n_devices, sizeof(*sorted));
	if (!sorted)
		return;
	memcpy(sorted, info->devices, info->n_devices * sizeof(*sorted));
	qsort(sorted, info->n_devices, sizeof(*sorted), compare_devices);
	heading("Devices");
	ts_table_addf(table, "DEVICE");
	ts_table_addf(table, "CC");
	ts_table_addf(table, "SMS");
	ts_table_addf(table, "MEMORY");
	ts_table_addf(table, "NAME");
	for (size_t i = 0; i < info->n_devices; i++) {
		const Ts__Rpc__DeviceInfo *device = sorted[i];

		/* Each session records its devices; print each device once. */
		if (i && device->device == sorted[i - 1]->device &&
		    !strcmp(device->uuid, sorted[i - 1]->uuid))
			continue;
		ts_table_addf(table, "%u", device->device);
		ts_table_addf(table, "%s", device->compute_capability);
		ts_table_addf(table, "%u", device->multiprocessors);
		ts_table_addf(table, "%s", ts_out_bytes(bytes, device->memory_bytes));
		ts_table_addf(table, "%s%s", device->name ? device->name : "unknown",
			      device->virtual_ && !(device->name && strstr(device->name, "Virtual"))
				      ? " (virtual)"
				      : "");
	}
	ts_table_print(table, stdout, 2, wide);
	for (size_t i = 0; i < info->n_devices; i++)
		if (info->devices[i]->timed_kernels) {
			ts_text_timed_kernels(stdout);
			break;
		}
}

static void print_counts(const Ts__Rpc__TraceInfo *info, bool wide)
{
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	char count[TS_OUT_FIGURE_BYTES];
	bool any = false;

	if (ts_table_new("lr", &table))
		return;
	ts_table_addf(table, "TYPE");
	ts_table_addf(table, "ROWS");
	for (size_t i = 0; i < info->n_counts; i++) {
		if (!info->counts[i]->value)
			continue;
		any = true;
		ts_table_addf(table, "%s", info->counts[i]->key);
		ts_table_addf(table, "%s", ts_out_count(count, info->counts[i]->value));
	}
	if (!any)
		return;
	heading("Rows");
	ts_table_print(table, stdout, 2, wide);
}

static void print_samples(const Ts__Rpc__SampleInfo *samples)
{
	char count[TS_OUT_FIGURE_BYTES], took[TS_OUT_FIGURE_BYTES];

	if (samples)
		printf("\n%s sample%s of %" PRIu64
		       " thread%s, %s on a CPU: see `tsctl view --stats`.\n",
		       ts_out_count(count, samples->count), samples->count == 1 ? "" : "s",
		       samples->threads, samples->threads == 1 ? "" : "s",
		       ts_out_duration(took, samples->ns));
}

static void print_aggregates(const char *title, const char *what, size_t n,
			     Ts__Rpc__Aggregate *const *aggregates, bool bytes, bool wide,
			     size_t max)
{
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	char text[TS_OUT_FIGURE_BYTES];

	if (!n || ts_table_new(bytes ? "rrrrl" : "rrrl", &table))
		return;
	heading(title);
	ts_table_addf(table, "COUNT");
	ts_table_addf(table, "TOTAL");
	ts_table_addf(table, "MEAN");
	if (bytes)
		ts_table_addf(table, "BYTES");
	ts_table_addf(table, "%s", what);
	for (size_t i = 0; i < n && i < max; i++) {
		const Ts__Rpc__Aggregate *aggregate = aggregates[i];

		ts_table_addf(table, "%s", ts_out_count(text, aggregate->count));
		ts_table_addf(table, "%s", ts_out_duration(text, aggregate->total_ns));
		ts_table_addf(table, "%s", ts_out_duration(text, aggregate->mean_ns));
		if (bytes)
			ts_table_addf(table, "%s", ts_out_bytes(text, aggregate->bytes));
		ts_table_add(table, aggregate->name);
	}
	ts_table_print(table, stdout, 2, wide);
	if (n > max)
		printf("  and %zu more: `tsctl view --stats` lists all\n", n - max);
}

static void print_lost(const Ts__Rpc__TraceInfo *info, bool wide)
{
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	char count[TS_OUT_FIGURE_BYTES];

	/* Only a complete file proves that nothing is missing. */
	if (info->has_damaged_at || !(info->finished || info->live))
		printf("\nThis file is %s: rows in the lost part are not counted.\n",
		       info->has_damaged_at ? "damaged" : "cut off");
	else if (!info->n_lost)
		printf("\nNothing was lost%s.\n", info->finished ? "" : " so far");
	if (!info->n_lost || ts_table_new("rll", &table))
		return;
	heading("Lost");
	ts_table_addf(table, "COUNT");
	ts_table_addf(table, "REASON");
	ts_table_addf(table, "MEANING");
	for (size_t i = 0; i < info->n_lost; i++) {
		ts_table_addf(table, "%s", ts_out_count(count, info->lost[i]->value));
		ts_table_addf(table, "%s", info->lost[i]->key);
		ts_table_addf(table, "%s", ts_name_loss_text(info->lost[i]->key));
	}
	ts_table_print(table, stdout, 2, wide);
}

/* Types with the most bytes come first; columns of a type stay in file order. */
static int compare_type_sizes(const void *a, const void *b)
{
	const struct type_size *x = a, *y = b;

	if (x->stored_bytes != y->stored_bytes)
		return x->stored_bytes < y->stored_bytes ? 1 : -1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void add_size(struct ts_table *table, const char *type, const char *column,
		     const Ts__Rpc__ColumnSize *size, uint64_t file_bytes)
{
	char text[TS_OUT_FIGURE_BYTES];

	ts_table_add(table, ts_out_bytes(text, size->stored_bytes));
	ts_table_addf(table, "%.1f %%",
		      file_bytes ? 100 * (double)size->stored_bytes / (double)file_bytes : 0.0);
	ts_table_add(table, ts_out_bytes(text, size->encoded_bytes));
	ts_table_addf(table, "%.3f", size->bytes_per_row);
	ts_table_add(table, ts_out_count(text, size->rows));
	ts_table_add(table, type);
	ts_table_add(table, column);
}

/* Adds a type with the sum of its columns, then the columns. */
static void add_type(struct ts_table *table, Ts__Rpc__ColumnSize *const *columns,
		     const struct type_size *type, uint64_t file_bytes)
{
	Ts__Rpc__ColumnSize sum = TS__RPC__COLUMN_SIZE__INIT;

	for (size_t i = type->first; i < type->first + type->n; i++) {
		sum.stored_bytes += columns[i]->stored_bytes;
		sum.encoded_bytes += columns[i]->encoded_bytes;
		/*
		 * The columns of a type have the same rows, so take the largest number and not the
		 * sum.
		 */
		sum.rows = columns[i]->rows > sum.rows ? columns[i]->rows : sum.rows;
	}
	if (sum.rows)
		sum.bytes_per_row = (double)sum.stored_bytes / (double)sum.rows;
	add_size(table, columns[type->first]->type, "", &sum, file_bytes);
	for (size_t i = type->first; i < type->first + type->n; i++)
		add_size(table, "", columns[i]->column ? columns[i]->column : "(headers)",
			 columns[i], file_bytes);
}

static void print_columns(const Ts__Rpc__TraceInfo *info, bool wide)
{
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	ts_cleanup(ts_freep) struct type_size *types = NULL;
	static const char *const titles[] = {"STORED", "OF FILE", "ENCODED", "A ROW",
					     "ROWS",   "TYPE",	  "COLUMN"};
	size_t n = 0;

	types = calloc(info->n_columns + 1, sizeof(*types));
	if (!types || ts_table_new("rrrrrll", &table))
		return;
	for (size_t i = 0; i < info->n_columns; i++) {
		if (!i || strcmp(info->columns[i]->type, info->columns[i - 1]->type))
			types[n++].first = i;
		types[n - 1].n++;
		types[n - 1].stored_bytes += info->columns[i]->stored_bytes;
	}
	qsort(types, n, sizeof(*types), compare_type_sizes);
	heading("Columns");
	for (size_t i = 0; i < TS_ARRAY_LEN(titles); i++)
		ts_table_add(table, titles[i]);
	for (size_t i = 0; i < n; i++)
		add_type(table, info->columns, &types[i], info->bytes);
	ts_table_print(table, stdout, 2, wide);
}

static void print_info(const Ts__Rpc__TraceInfo *info, bool wide)
{
	print_file(info);
	print_metadata(info, wide);
	if (info->empty_reason) {
		printf("\n%sNo GPU operation was recorded:%s ",
		       ts_term_style(stdout, TS_STYLE_YELLOW),
		       ts_term_style(stdout, TS_STYLE_PLAIN));
		ts_out_text(stdout, info->empty_reason);
		putchar('\n');
	}
	ts_text_errors(info->n_errors, info->errors, info->failed_calls, info->start_ns);
	print_lost(info, wide);
	print_sessions(info, wide);
	print_stops(info, wide);
	print_captures(info);
	print_aggregates("Kernels", "KERNEL", info->n_kernels, info->kernels, false, wide,
			 TOP_KERNELS);
	print_aggregates("Copies", "KIND", info->n_copies, info->copies, true, wide, SIZE_MAX);
	print_samples(info->samples);
	print_devices(info, wide);
	print_counts(info, wide);
}

static void print(const void *data, const struct ts_about *about, const ProtobufCMessage *body)
{
	const Ts__Rpc__TraceInfo *message = (const Ts__Rpc__TraceInfo *)body;
	const struct info *info = data;

	print_info(message, info->wide);
	if (info->columns)
		print_columns(message, info->wide);
}

static const struct ts_option command_options[] = {
	{"session", 's', TS_OPTION_SESSION(struct info, session), .metavar = "N",
	 .help = "read a session of the daemon: its number or pid", .rank = 1},
	{"mangled", 'm', TS_OPTION_FLAG(struct info, mangled), .is_letter_unmentioned = true,
	 .help = "print mangled kernel names"},
	{"wide", TS_OPTION_LONG, TS_OPTION_FLAG(struct info, wide),
	 .help = "list every session; print full names", .rank = 1},
	{"columns", TS_OPTION_LONG, TS_OPTION_FLAG(struct info, columns),
	 .help = "print the bytes of each column in the file; a compressed\n"
		 "block's bytes are divided by the sizes before compression"},
	{"json", 'j', TS_OPTION_FLAG(struct info, json), .is_letter_unmentioned = true,
	 .help = "print one JSON object: format, sessions, devices, counts,\n"
		 "duration_ns, lost, bytes, ..."},
	{0},
};

static int run_info(int argc, char **argv)
{
	Ts__Rpc__Query__Info body = TS__RPC__QUERY__INFO__INIT;
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;
	struct info info = {0};
	struct ts_asking asking = {.is_one = true, .print = print, .data = &info};
	struct ts_operands operands;

	if (ts_options_parse(&ts_command_info, argc, argv, &info, &operands))
		return TS_EXIT_BAD;
	if (ts_one_trace(&operands, info.session, "info", ""))
		return TS_EXIT_BAD;
	asking.file = operands.words[0];
	asking.session = info.session;
	asking.json = info.json;
	TS_RPC_SET(&body, columns, info.columns);
	TS_RPC_SET(&body, mangled, info.mangled);
	query.body_case = TS__RPC__QUERY__BODY_INFO;
	query.info = &body;
	return ts_ask(&asking, &query);
}

const struct ts_command ts_command_info = {
	.name = "info",
	.summary = "print the content of a trace, failed calls and losses",
	.text = "usage: tsctl info [OPTION ...] FILE | --session N\n"
		"\n"
		"Print a trace on one page: failed calls, losses, processes, the kernels and\n"
		"copies that took the longest, devices, rows by type. If the trace holds no GPU\n"
		"operation, print the reason. A file that is still being written, or was cut off,\n"
		"is read up to its last whole block. `tsctl verify` checks every byte.\n"
		"\n",
	.example = "info run.sbt",
	.help_column = 19,
	.options = command_options,
	.operands = TS_OPERANDS_FILES,
	.run = run_info,
};
