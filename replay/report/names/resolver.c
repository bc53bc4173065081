/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolves ids of a trace to names, threads, stacks and symbols. All modules of replay/report and
 * tsctl's readers call this file; this file calls labels.c, demangler.c and sbt's tables of modules
 * and symbols.
 *
 * Most answers are look-ups. The thread of a device row is not: a thread of the vendor's library
 * delivered the row, and only the row's operation id leads to the call. A second cursor reads the
 * API rows ahead of the pass and keeps their threads in a table of fixed size (launchers.c).
 */
#include "replay/report/names/resolver.h"

#include "replay/report/names/labels.h"
#include "replay/report/names/names.h"
#include "sbt/modules.h"
#include "sbt/reader-threads.h"
#include "sbt/symbols.h"

#include <inttypes.h>
#include <stdio.h>

#define N_KERNELS   256u
#define MAX_STRINGS 8u /* columns of a row */

/* The columns of a type that are ids of strings. */
struct strings {
	const struct ts_column *columns[MAX_STRINGS];
	unsigned n;
};

struct ts_resolver {
	struct ts_sbt_reader *reader;
	bool is_shared; /* `reader` is shared, and `labels` belongs to another resolver */
	struct ts_demangler *demangler; /* NULL: names stay mangled */
	struct ts_sbt_cursor *calls;	/* NULL: not requested, or at the end */
	struct ts_sbt_row call;		/* the next call of the cursor; not in the table yet */
	bool has_launchers;
	struct ts_launchers launchers;
	struct ts_labels *labels;   /* NULL: the application gave no names */
	struct ts_modules *modules; /* NULL: not read yet */
	struct ts_symbols *symbols; /* NULL: not read yet */
	struct {
		uint32_t id; /* 0: none */
		const char *name;
	} kernels[N_KERNELS]; /* cache, indexed by the ids' low bits */
	const struct ts_column *thread_columns[TS_ROW_EVENT_END];
	const struct ts_column *op_columns[TS_ROW_EVENT_END];
	const struct ts_column *stream_columns[TS_ROW_EVENT_END];
	const struct ts_column *context_columns[TS_ROW_EVENT_END];
	struct strings strings[TS_ROW_EVENT_END];
	/* For ts_resolver_prepare(): most rows have strings and a thread of recent rows. */
	uint32_t prepared[N_KERNELS]; /* strings that were read, indexed by the ids' low bits */
	uint32_t prepared_session, prepared_thread;
};

static const struct ts_column *column_of_role(const struct ts_row_schema *schema, enum ts_role role)
{
	for (unsigned int i = 0; schema && i < schema->n_columns; i++)
		if (schema->columns[i].role == role)
			return &schema->columns[i];
	return NULL;
}

static void find_strings(struct strings *strings, const struct ts_row_schema *schema)
{
	for (unsigned int i = 0; schema && i < schema->n_columns; i++)
		if (schema->columns[i].role == TS_ROLE_STRING && strings->n < MAX_STRINGS)
			strings->columns[strings->n++] = &schema->columns[i];
}

/* Reads the next call. A damaged block has no calls for the table: the cursor goes on after it. */
static void next_call(struct ts_resolver *resolver)
{
	int r;

	do
		r = ts_sbt_cursor_next(resolver->calls, &resolver->call);
	while (r == TS_SBT_E_CORRUPT);
	if (!r)
		return;
	ts_sbt_cursor_free(resolver->calls);
	resolver->calls = NULL;
}

static int start_calls(struct ts_resolver *resolver, const struct ts_resolver_options *options)
{
	struct ts_sbt_cursor_options calls = {
		.types = TS_ROW_BIT(TS_ROW_API),
		.session = options->session,
		.from_ns = options->from_ns > TS_LAUNCHERS_BEFORE_NS
				   ? options->from_ns - TS_LAUNCHERS_BEFORE_NS
				   : 0,
	};
	int r = ts_launchers_init(&resolver->launchers);

	if (r)
		return r;
	resolver->has_launchers = true;
	r = ts_sbt_cursor_new(resolver->reader, &calls, &resolver->calls);
	if (r)
		return r;
	next_call(resolver);
	return 0;
}

int ts_resolver_new(struct ts_sbt_reader *reader, const struct ts_resolver_options *options,
		    struct ts_resolver **ret_resolver)
{
	ts_cleanup(ts_resolver_freep) struct ts_resolver *resolver = calloc(1, sizeof(*resolver));
	int r;

	if (!resolver)
		return -ENOMEM;
	resolver->reader = reader;
	for (unsigned int type = TS_ROW_API; type; type = ts_row_next_event(type)) {
		const struct ts_row_schema *schema = ts_row_schema(type);

		resolver->thread_columns[type] = column_of_role(schema, TS_ROLE_THREAD);
		resolver->op_columns[type] = column_of_role(schema, TS_ROLE_OP);
		resolver->stream_columns[type] = column_of_role(schema, TS_ROLE_STREAM);
		resolver->context_columns[type] = column_of_role(schema, TS_ROLE_CONTEXT);
		find_strings(&resolver->strings[type], schema);
	}
	r = options->mangled ? 0 : ts_demangler_new(&resolver->demangler);
	if (!r && ts_sbt_reader_n_names(reader))
		r = ts_labels_new(reader, &resolver->labels);
	if (!r && options->launchers)
		r = start_calls(resolver, options);
	if (r)
		return r;
	*ret_resolver = ts_take_ptr(resolver);
	return 0;
}

int ts_resolver_share(const struct ts_resolver *resolver, struct ts_resolver **ret_shared)
{
	ts_cleanup(ts_resolver_freep) struct ts_resolver *shared = malloc(sizeof(*shared));
	int r;

	if (!shared)
		return -ENOMEM;
	*shared = *resolver;
	shared->reader = NULL;
	shared->is_shared = true;
	shared->demangler = NULL;
	shared->calls = NULL;
	shared->has_launchers = false;
	shared->launchers = (struct ts_launchers){0};
	shared->modules = NULL;
	shared->symbols = NULL;
	r = ts_sbt_reader_twin(resolver->reader, &shared->reader);
	if (!r && resolver->demangler)
		r = ts_demangler_new(&shared->demangler);
	if (r)
		return r;
	*ret_shared = ts_take_ptr(shared);
	return 0;
}

void ts_resolver_free(struct ts_resolver *resolver)
{
	if (!resolver)
		return;
	ts_sbt_cursor_free(resolver->calls);
	ts_demangler_free(resolver->demangler);
	if (resolver->is_shared)
		ts_sbt_reader_twin_free(resolver->reader);
	else
		ts_labels_free(resolver->labels);
	ts_modules_free(resolver->modules);
	ts_symbols_free(resolver->symbols);
	ts_launchers_deinit(&resolver->launchers);
	free(resolver);
}

void ts_resolver_freep(struct ts_resolver **resolver)
{
	ts_resolver_free(*resolver);
}

struct ts_sbt_reader *ts_resolver_reader(struct ts_resolver *resolver)
{
	return resolver->reader;
}

const char *ts_resolver_string(struct ts_resolver *resolver, uint32_t id)
{
	return id ? ts_sbt_reader_string(resolver->reader, id, NULL) : NULL;
}

const char *ts_resolver_kernel_name(struct ts_resolver *resolver, uint32_t id)
{
	const char *name;

	/*
	 * Tries the cache first: few names cover most rows, and demangling a long name takes long.
	 */
	if (id && resolver->kernels[id % N_KERNELS].id == id)
		return resolver->kernels[id % N_KERNELS].name;
	name = ts_resolver_string(resolver, id);
	if (!name)
		return NULL;
	name = ts_demangle(resolver->demangler, name);
	resolver->kernels[id % N_KERNELS].id = id;
	resolver->kernels[id % N_KERNELS].name = name;
	return name;
}

const char *ts_resolver_demangle(struct ts_resolver *resolver, const char *name)
{
	return ts_demangle(resolver->demangler, name);
}

static void take_calls(struct ts_resolver *resolver, uint64_t until_ns)
{
	while (resolver->calls && resolver->call.api->start_ns <= until_ns) {
		const struct ts_row_api *api = resolver->call.api;
		const struct ts_launcher launcher = {api->op_id, resolver->call.session,
						     api->thread, api->stack};

		ts_launchers_add(&resolver->launchers, &launcher);
		next_call(resolver);
	}
}

bool ts_resolver_launcher(struct ts_resolver *resolver, const struct ts_sbt_row *row,
			  struct ts_launcher *ret_launcher)
{
	const struct ts_column *column = resolver->op_columns[row->type];

	if (!column || !resolver->has_launchers)
		return false;
	take_calls(resolver, ts_row_start_ns(row->any));
	return ts_launchers_find(&resolver->launchers, row->session,
				 ts_column_get(column, row->any), ret_launcher);
}

void ts_resolver_recall(struct ts_resolver *resolver, const struct ts_launcher *launcher)
{
	if (resolver->has_launchers)
		ts_launchers_add(&resolver->launchers, launcher);
}

const struct ts_row_thread *ts_resolver_thread(struct ts_resolver *resolver,
					       const struct ts_sbt_row *row)
{
	const struct ts_column *column = resolver->thread_columns[row->type];
	struct ts_launcher launcher;

	if (column)
		return ts_sbt_reader_thread(resolver->reader, row->session,
					    (uint32_t)ts_column_get(column, row->any));
	if (!ts_resolver_launcher(resolver, row, &launcher))
		return NULL;
	return ts_sbt_reader_thread(resolver->reader, row->session, launcher.thread);
}

const char *ts_resolver_thread_name(struct ts_resolver *resolver, uint32_t session,
				    const struct ts_row_thread *thread)
{
	uint32_t given = ts_labels_find(resolver->labels, session, TS_NAME_THREAD, 0, thread->tid);

	return ts_resolver_string(resolver, given ? given : thread->name);
}

const char *ts_resolver_stream_name(struct ts_resolver *resolver, const struct ts_sbt_row *row)
{
	const struct ts_column *stream = resolver->stream_columns[row->type];
	const struct ts_column *context = resolver->context_columns[row->type];

	if (!resolver->labels || !stream)
		return NULL;
	return ts_resolver_string(
		resolver, ts_labels_stream(resolver->labels, row->session,
					   context ? (uint32_t)ts_column_get(context, row->any) : 0,
					   (uint32_t)ts_column_get(stream, row->any)));
}

const char *ts_resolver_category_name(struct ts_resolver *resolver, const struct ts_sbt_row *row)
{
	uint32_t domain, category;

	switch (row->type) {
	case TS_ROW_MARK:
		domain = row->mark->domain;
		category = row->mark->category;
		break;
	case TS_ROW_RANGE:
		domain = row->range->domain;
		category = row->range->category;
		break;
	case TS_ROW_RANGE_BEGIN:
		domain = row->range_begin->domain;
		category = row->range_begin->category;
		break;
	default:
		return NULL;
	}
	return ts_resolver_string(resolver, ts_labels_find(resolver->labels, row->session,
							   TS_NAME_CATEGORY, domain, category));
}

/* Most rows follow a row of the same thread. */
void ts_resolver_prepare_thread(struct ts_resolver *resolver, uint32_t session, uint32_t thread)
{
	const struct ts_row_thread *row;

	if (session == resolver->prepared_session && thread == resolver->prepared_thread)
		return;
	row = ts_sbt_reader_thread(resolver->reader, session, thread);
	if (row)
		ts_resolver_thread_name(resolver, session, row);
	resolver->prepared_session = session;
	resolver->prepared_thread = thread;
}

void ts_resolver_prepare_string(struct ts_resolver *resolver, uint32_t id)
{
	if (resolver->prepared[id % N_KERNELS] == id)
		return;
	ts_resolver_string(resolver, id);
	resolver->prepared[id % N_KERNELS] = id;
}

void ts_resolver_prepare(struct ts_resolver *resolver, const struct ts_sbt_row *row)
{
	const struct strings *strings = &resolver->strings[row->type];
	const struct ts_column *thread = resolver->thread_columns[row->type];

	for (unsigned int i = 0; i < strings->n; i++)
		ts_resolver_prepare_string(resolver,
					   (uint32_t)ts_column_get(strings->columns[i], row->any));
	if (thread)
		ts_resolver_prepare_thread(resolver, row->session,
					   (uint32_t)ts_column_get(thread, row->any));
	if (!resolver->labels)
		return;
	ts_resolver_stream_name(resolver, row);
	ts_resolver_category_name(resolver, row);
}

uint32_t ts_resolver_stack(struct ts_resolver *resolver, const struct ts_sbt_row *row)
{
	struct ts_launcher launcher;

	switch (row->type) {
	case TS_ROW_API:
		return row->api->stack;
	case TS_ROW_MARK:
		return row->mark->stack;
	case TS_ROW_RANGE:
		return row->range->stack;
	case TS_ROW_RANGE_BEGIN:
		return row->range_begin->stack;
	case TS_ROW_OFF_CPU:
		return row->off_cpu->stack;
	case TS_ROW_SAMPLE:
		return row->sample->stack;
	default:
		return ts_resolver_launcher(resolver, row, &launcher) ? launcher.stack : 0;
	}
}

bool ts_resolver_module(struct ts_resolver *resolver, uint32_t session, uint64_t time_ns,
			uint64_t address, const char **ret_path, uint64_t *ret_file_address)
{
	const struct ts_row_module *found;

	/*
	 * The modules are read at the first request, so a pass without stacks does not read them.
	 */
	if (!resolver->modules && ts_modules_new(resolver->reader, &resolver->modules))
		return false;
	found = ts_modules_find(resolver->modules, session, address, time_ns);
	if (!found)
		return false;
	*ret_path = ts_resolver_string(resolver, found->path);
	*ret_file_address = address - found->bias;
	return *ret_path != NULL;
}

void ts_resolver_python(struct ts_resolver *resolver, uint64_t frame,
			char ret_text[TS_RESOLVER_FRAME_BYTES])
{
	const char *function = ts_resolver_string(resolver, TS_FRAME_STRING(frame));
	const char *file = function ? strchr(function, '\n') : NULL;

	if (file)
		snprintf(ret_text, TS_RESOLVER_FRAME_BYTES, "%.*s (%s:%u)", (int)(file - function),
			 function, file + 1, TS_FRAME_LINE(frame));
	else
		snprintf(ret_text, TS_RESOLVER_FRAME_BYTES, "unknown Python function");
}

const struct ts_row_symbol *ts_resolver_symbols(struct ts_resolver *resolver, uint32_t session,
						uint64_t time_ns, uint64_t address, uint32_t i,
						size_t *ret_n)
{
	const struct ts_row_module *module;

	*ret_n = 0;
	if ((!resolver->modules && ts_modules_new(resolver->reader, &resolver->modules)) ||
	    (!resolver->symbols && ts_symbols_new(resolver->reader, &resolver->symbols)))
		return NULL;
	address = ts_symbols_call(address, i);
	module = ts_modules_find(resolver->modules, session, address, time_ns);
	return ts_symbols_find(resolver->symbols, session, module, address, ret_n, NULL);
}
