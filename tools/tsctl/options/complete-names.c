/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds names in a trace for complete.c: kernels, ranges and calls by the trace's summaries,
 * streams by its rows, devices and threads by its definitions. Alarms bound the time. The first
 * alarm ends the look at the summaries, the second one the look at the rows, and the third one the
 * process.
 */
#include "tools/tsctl/options/complete-names.h"

#include "proto/abi/base.h"
#include "proto/abi/map.h"
#include "replay/report/names/names.h"
#include "sbt/reader.h"
#include "tools/tsctl/tsctl.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define FIRST_ALARM_US 80000
#define ALARM_US       50000
#define MAX_ALARMS     3
/* More names are no help. */
#define MAX_NAMES 4096u

struct search {
	struct ts_sbt_reader *reader;
	struct ts_demangler *demangler;
	enum ts_option_names kind;
	ts_complete_name_fn on_name;
	void *data;
	/* the names so far, and the index that finds them */
	struct {
		uint32_t type;
		uint64_t key;
	} seen[MAX_NAMES];
	uint32_t n_seen;
	struct ts_hashindex index;
};

static volatile int is_late;
static volatile int n_alarms;

static void on_alarm(int number)
{
	is_late = 1;
	if (++n_alarms == MAX_ALARMS)
		_exit(TS_EXIT_OK);
}

static void set_alarms(suseconds_t first_us, suseconds_t us)
{
	const struct itimerval timer = {.it_value = {.tv_usec = first_us},
					.it_interval = {.tv_usec = us}};

	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Returns true if the name is new and there is room. */
static bool add(struct search *search, uint32_t type, uint64_t key)
{
	uint64_t hash = ts_hash_add(ts_hash_key(key), type);

	TS_HASHINDEX_EACH (&search->index, hash, at)
		if (search->seen[at.number].type == type && search->seen[at.number].key == key)
			return false;
	if (search->n_seen == MAX_NAMES || ts_hashindex_add(&search->index, hash, search->n_seen))
		return false;
	search->seen[search->n_seen].type = type;
	search->seen[search->n_seen].key = key;
	search->n_seen++;
	return true;
}

/* ---- names of work --------------------------------------------------------------------------- */

/* Passes on the name of a total's key. */
static void pass_name(struct search *search, uint32_t type, uint64_t key)
{
	static const char result[] = "void ";
	const char *name, *shown;

	if (type == TS_ROW_API) {
		name = ts_name_api((uint32_t)(key >> 32), (uint32_t)key);
		if (name)
			search->on_name(name, search->data);
		return;
	}
	name = ts_sbt_reader_string(search->reader, (uint32_t)key, NULL);
	if (!name || !*name)
		return;
	shown = type == TS_ROW_KERNEL ? ts_demangle(search->demangler, name) : name;
	/* A part of the name suffices for --name, so the name begins where a user begins it. */
	if (search->kind == TS_NAMES_WORK && shown != name &&
	    !strncmp(shown, result, strlen(result)))
		shown += strlen(result);
	search->on_name(shown, search->data);
}

static uint64_t types_of(enum ts_option_names kind)
{
	switch (kind) {
	case TS_NAMES_WORK:
		return TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_RANGE) |
		       TS_ROW_BIT(TS_ROW_API);
	case TS_NAMES_KERNELS:
		return TS_ROW_BIT(TS_ROW_KERNEL);
	case TS_NAMES_RANGES:
		return TS_ROW_BIT(TS_ROW_RANGE);
	case TS_NAMES_CALLS:
		return TS_ROW_BIT(TS_ROW_API);
	default:
		return TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_MEMCPY) |
		       TS_ROW_BIT(TS_ROW_MEMSET);
	}
}

static int longest_first(const void *a, const void *b)
{
	const struct ts_sbt_total *const *x = a, *const *y = b;

	return (*x)->duration_ns < (*y)->duration_ns   ? 1
	       : (*x)->duration_ns > (*y)->duration_ns ? -1
						       : 0;
}

static int search_totals(struct search *search)
{
	const struct ts_sbt_cursor_options options = {.types = types_of(search->kind)};
	ts_cleanup(ts_sbt_totals_freep) struct ts_sbt_totals *totals = NULL;
	ts_cleanup(ts_freep) const struct ts_sbt_total **sorted = NULL;
	int r = ts_sbt_totals_new(search->reader, &options, &totals);
	size_t n = r ? 0 : ts_sbt_totals_count(totals);

	if (r)
		return r;
	sorted = calloc(n + 1, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		sorted[i] = ts_sbt_totals_at(totals, i);
	qsort(sorted, n, sizeof(*sorted), longest_first);
	is_late = 0;
	for (size_t i = 0; i < n && !is_late; i++) {
		/* The key of a range also has its domain. */
		uint64_t key =
			sorted[i]->type == TS_ROW_API ? sorted[i]->key : (uint32_t)sorted[i]->key;

		if (add(search, sorted[i]->type, key))
			pass_name(search, sorted[i]->type, key);
	}
	return 0;
}

static uint64_t key_of(const struct ts_sbt_row *row)
{
	switch (row->type) {
	case TS_ROW_API:
		return (uint64_t)row->api->domain << 32 | row->api->cbid;
	case TS_ROW_KERNEL:
		return row->kernel->name;
	default:
		return row->range->name;
	}
}

static uint32_t stream_of(const struct ts_sbt_row *row)
{
	switch (row->type) {
	case TS_ROW_KERNEL:
		return row->kernel->stream;
	case TS_ROW_MEMCPY:
		return row->memcpy_->stream;
	default:
		return row->memset_->stream;
	}
}

static void pass_number(const struct search *search, uint32_t number)
{
	char text[16];

	snprintf(text, sizeof(text), "%" PRIu32, number);
	search->on_name(text, search->data);
}

/* Looks at rows until the next alarm. */
static void search_rows(struct search *search)
{
	const struct ts_sbt_cursor_options options = {.types = types_of(search->kind)};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_row row;
	int r;

	is_late = 0;
	r = ts_sbt_cursor_new(search->reader, &options, &cursor);
	while (!r && !is_late) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (r == TS_SBT_E_CORRUPT)
			r = 0;
		else if (!r && search->kind == TS_NAMES_STREAMS) {
			if (add(search, TS_ROW_STREAM, stream_of(&row)) &&
			    stream_of(&row) != UINT32_MAX)
				pass_number(search, stream_of(&row));
		} else if (!r && add(search, row.type, key_of(&row))) {
			pass_name(search, row.type, key_of(&row));
		}
	}
}

/* ---- definitions ----------------------------------------------------------------------------- */

static void search_devices(struct search *search)
{
	for (size_t i = 0; i < ts_sbt_reader_n_devices(search->reader); i++) {
		uint32_t device = ts_sbt_reader_device_at(search->reader, i)->row.device;

		if (add(search, TS_ROW_DEVICE, device))
			pass_number(search, device);
	}
}

static void search_threads(struct search *search)
{
	for (size_t i = 0; i < ts_sbt_reader_n_threads(search->reader); i++) {
		const struct ts_row_thread *thread =
			&ts_sbt_reader_thread_at(search->reader, i)->row;
		const char *name = ts_sbt_reader_string(search->reader, thread->name, NULL);

		if (add(search, TS_ROW_THREAD, thread->tid))
			pass_number(search, thread->tid);
		if (name && *name && add(search, TS_ROW_NAME, thread->name))
			search->on_name(name, search->data);
	}
}

void ts_complete_names(const char *path, enum ts_option_names kind, ts_complete_name_fn on_name,
		       void *data)
{
	ts_cleanup(ts_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ts_cleanup(ts_sbt_reader_freep) struct ts_sbt_reader *reader = NULL;
	ts_cleanup(ts_demangler_freep) struct ts_demangler *demangler = NULL;
	ts_cleanup(ts_freep) struct search *search = calloc(1, sizeof(*search));
	struct stat status;

	if (fd < 0 || !search || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return;
	signal(SIGALRM, on_alarm);
	set_alarms(FIRST_ALARM_US, ALARM_US);
	if (!ts_sbt_reader_open(fd, &reader, NULL) && !ts_demangler_new(&demangler)) {
		ts_sbt_reader_cancel(reader, &is_late);
		*search = (struct search){.reader = reader,
					  .demangler = demangler,
					  .kind = kind,
					  .on_name = on_name,
					  .data = data};
		if (kind == TS_NAMES_DEVICES)
			search_devices(search);
		else if (kind == TS_NAMES_THREADS)
			search_threads(search);
		else if (kind == TS_NAMES_STREAMS || search_totals(search))
			search_rows(search);
		ts_hashindex_deinit(&search->index);
	}
	set_alarms(0, 0);
}
