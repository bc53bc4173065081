/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbolises all stacks of a trace. command.c and serve/recording/recording.c call this module.
 * This module calls symbolizer.c for each file. A stack has addresses but no times. So an address
 * is looked up in every file that was ever mapped there, and readers of the trace choose by time.
 * Modules, stacks and their numbers are untrusted; the memory for them is bounded.
 */
#include "daemon/symbol/trace.h"

#include <stdio.h>
#include <sys/random.h>

#include "proto/abi/clock.h"
#include "proto/abi/grow.h"
#include "sbt/intern.h"
#include "sbt/modules.h"
#include "sbt/symbols.h"

#define MAX_MODULES_OF_ADDRESS 8u
#define COMPACT_ADDRESSES      (1u << 20)

/* An address in a file. */
struct place {
	uint32_t file; /* index + 1 */
	uint64_t address;
};

/* The identity of a file. */
struct key {
	uint32_t kind;
	uint32_t path;
	uint32_t session;
	uint32_t n_build_id;
	uint8_t build_id[32];
};

struct file {
	struct key key;
	const struct ts_row_session *session; /* one session that mapped it */
	const char *path;
};

struct work {
	struct ts_sbt_reader *reader;
	const struct ts_symbol_sink *sink;
	const struct ts_symbol_trace_options *options;
	struct ts_symbol_report *report; /* NULL: no report is wanted */
	struct ts_modules *modules;
	struct ts_symbols *before;
	struct ts_symbolizer *symbolizer; /* NULL until it is needed */
	struct ts_intern keys;
	struct ts_buffer files;	    /* of struct file, ordered by the keys' ids */
	struct ts_buffer places;    /* of struct place */
	struct ts_buffer addresses; /* u64: of the current session */
	uint32_t last_image;
	uint64_t n_frames, n_left_out;
	char path[64];
};

static void work_deinit(struct work *work)
{
	ts_modules_free(work->modules);
	ts_symbols_free(work->before);
	ts_symbolizer_free(work->symbolizer);
	ts_intern_deinit(&work->keys);
	ts_buffer_deinit(&work->files);
	ts_buffer_deinit(&work->places);
	ts_buffer_deinit(&work->addresses);
}

void ts_symbol_report_deinit(struct ts_symbol_report *report)
{
	for (size_t i = 0; i < report->n_images; i++)
		free(report->images[i].path);
	free(report->images);
	*report = (struct ts_symbol_report){0};
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

/* ---- addresses ---- */

static void compact(struct ts_buffer *addresses)
{
	uint64_t *list = (void *)addresses->bytes;
	size_t n = addresses->n / sizeof(*list), kept = 0;

	if (!n)
		return;
	qsort(list, n, sizeof(*list), compare_u64);
	for (size_t i = 0; i < n; i++)
		if (!i || list[i] != list[kept - 1])
			list[kept++] = list[i];
	addresses->n = kept * sizeof(*list);
}

static int take_stack(struct work *work, const struct ts_sbt_stack *stack, size_t *compacted)
{
	for (uint32_t i = 0; i < stack->n_frames; i++) {
		uint64_t address = ts_symbols_call(TS_FRAME_VALUE(stack->frames[i]), i);
		int r;

		if (TS_FRAME_KIND(stack->frames[i]) != TS_FRAME_NATIVE)
			continue;
		work->n_frames++;
		if (*compacted >= TS_SYMBOL_MAX_ADDRESSES) {
			work->n_left_out++;
			continue;
		}
		r = ts_buffer_append(&work->addresses, &address, sizeof(address));
		if (r)
			return r;
	}
	if (work->addresses.n / sizeof(uint64_t) - *compacted > COMPACT_ADDRESSES) {
		compact(&work->addresses);
		*compacted = work->addresses.n / sizeof(uint64_t);
	}
	return 0;
}

/*
 * Collects all addresses in the stacks of a session, each once. A damaged block of stacks loses
 * only its own stacks.
 */
static int take_stacks(struct work *work, uint32_t session)
{
	size_t n = ts_sbt_reader_n_blocks(work->reader), compacted = 0;

	work->addresses.n = 0;
	for (size_t i = 0; i < n; i++) {
		const struct ts_sbt_block block = *ts_sbt_reader_block(work->reader, i);

		if (block.type != TS_ROW_STACK || block.session != session)
			continue;
		for (uint32_t row = 0; row < block.n_rows; row++) {
			struct ts_sbt_stack stack;
			int r = ts_sbt_reader_stack(work->reader, session, block.first_id + row,
						    &stack);

			r = r > 0 ? 0 : r ?: take_stack(work, &stack, &compacted);
			if (r)
				return r;
		}
	}
	compact(&work->addresses);
	return 0;
}

static int find_file(struct work *work, const struct key *key, const struct ts_row_session *session,
		     uint32_t *ret_file)
{
	struct file file = {.key = *key, .session = session};
	bool is_new;
	int r = ts_intern(&work->keys, key, sizeof(*key), ret_file, &is_new);

	return r || !is_new ? r : ts_buffer_append(&work->files, &file, sizeof(file));
}

static int add_place(struct work *work, const struct key *key, const struct ts_row_session *session,
		     uint64_t address)
{
	struct place place = {.address = address};
	int r = find_file(work, key, session, &place.file);

	return r ?: ts_buffer_append(&work->places, &place, sizeof(place));
}

static int add_places(struct work *work, const struct ts_row_session *session, uint64_t address)
{
	const struct ts_row_module *modules[MAX_MODULES_OF_ADDRESS];
	size_t n = ts_modules_all(work->modules, session->session, address, TS_ARRAY_LEN(modules),
				  modules);
	int r = 0;

	for (size_t i = 0; !r && i < n; i++) {
		struct key key = {.kind = TS_IMAGE_ELF,
				  .path = modules[i]->path,
				  .n_build_id = modules[i]->n_build_id_bytes};

		memcpy(key.build_id, modules[i]->build_id, sizeof(key.build_id));
		if (key.n_build_id <= sizeof(key.build_id))
			r = add_place(work, &key, session, address - modules[i]->bias);
	}
	for (uint32_t kind = TS_IMAGE_PERF_MAP; !r && !n && kind <= TS_IMAGE_JIT_DUMP; kind++) {
		struct key key = {.kind = kind, .session = session->session};

		r = add_place(work, &key, session, address);
	}
	return r;
}

static int take_session(struct work *work, const struct ts_row_session *session)
{
	int r = take_stacks(work, session->session);

	for (size_t i = 0; !r && i < work->addresses.n / sizeof(uint64_t); i++)
		r = add_places(work, session, ((uint64_t *)(void *)work->addresses.bytes)[i]);
	return r;
}

/* ---- rows ---- */

static int put_string(struct work *work, const char *text, uint32_t *ret_id)
{
	*ret_id = 0;
	return *text ? work->sink->string(work->sink->data, text, strlen(text), ret_id) : 0;
}

static int put_symbols(struct work *work, uint32_t image, uint64_t address,
		       const struct ts_symbol_set *set, bool *ret_named)
{
	const struct ts_symbol_entry *entry = ts_symbol_set_find(set, address);
	int r = 0;

	*ret_named = entry && entry->n_frames;
	for (uint32_t i = 0; !r && entry && i < entry->n_frames; i++) {
		const struct ts_symbol_frame *frame = &set->frames[entry->first_frame + i];
		struct ts_row_symbol row = {.address = address,
					    .image = image,
					    .depth = i,
					    .line = frame->line};

		r = put_string(work, set->text + frame->function, &row.function);
		r = r ?: put_string(work, set->text + frame->file, &row.file);
		r = r ?: work->sink->row(work->sink->data, TS_ROW_SYMBOL, &row);
	}
	return r;
}

static int report_image(struct work *work, const struct file *file, enum ts_image_result result,
			const char *why, uint64_t n, uint64_t n_named)
{
	struct ts_symbol_report *report = work->report;
	struct ts_symbol_report_image *image;

	if (!report)
		return 0;
	if (TS_GROW(report->images, report->n_images_allocated, report->n_images + 1))
		return -ENOMEM;
	image = &report->images[report->n_images];
	*image = (struct ts_symbol_report_image){.path = strdup(file->path),
						 .kind = file->key.kind,
						 .result = result,
						 .n_addresses = n,
						 .n_named = n_named};
	if (!image->path)
		return -ENOMEM;
	snprintf(image->why, sizeof(image->why), "%s", why);
	report->n_images++;
	report->n_addresses += n;
	report->n_named += n_named;
	return 0;
}

static int put_image(struct work *work, const struct file *file, const uint64_t *addresses,
		     size_t n, const struct ts_symbol_set *set, enum ts_image_result result,
		     const char *why)
{
	struct ts_row_image row = {
		.image = ++work->last_image,
		.path = file->key.path,
		.session = file->key.session,
		.kind = file->key.kind,
		.result = result,
		.n_build_id_bytes = file->key.n_build_id,
	};
	uint64_t n_named = 0;
	bool named;
	int r = put_string(work, why, &row.why);

	memcpy(row.build_id, file->key.build_id, sizeof(row.build_id));
	if (!row.path)
		r = r ?: put_string(work, file->path, &row.path);
	r = r ?: work->sink->row(work->sink->data, TS_ROW_IMAGE, &row);
	for (size_t i = 0; !r && i < n; i++) {
		r = put_symbols(work, row.image, addresses[i], set, &named);
		n_named += named;
	}
	return r ?: report_image(work, file, result, why, n, n_named);
}

/* ---- files ---- */

/* True if an earlier run resolved the file. */
static bool is_known(struct work *work, const struct file *file)
{
	struct ts_row_module module = {.path = file->key.path,
				       .n_build_id_bytes = file->key.n_build_id};
	const struct ts_row_image *image;

	if (work->options->again || file->key.kind != TS_IMAGE_ELF)
		return false;
	memcpy(module.build_id, file->key.build_id, sizeof(module.build_id));
	image = ts_symbols_image(work->before, &module);
	return image && image->result == TS_IMAGE_RESOLVED;
}

static const char *path_of(struct work *work, const struct file *file)
{
	const char *path;

	switch (file->key.kind) {
	case TS_IMAGE_PERF_MAP:
		snprintf(work->path, sizeof(work->path), "/tmp/perf-%u.map", file->session->pid);
		return work->path;
	case TS_IMAGE_JIT_DUMP:
		snprintf(work->path, sizeof(work->path), "/tmp/jit-%u.dump", file->session->pid);
		return work->path;
	default:
		path = ts_sbt_reader_string(work->reader, file->key.path, NULL);
		return path ? path : "";
	}
}

static int ask(struct work *work, struct file *file, const uint64_t *addresses, size_t n,
	       struct ts_symbol_set *set, enum ts_image_result *result, char *why)
{
	bool is_elf = file->key.kind == TS_IMAGE_ELF;
	struct ts_symbol_image image = {
		.kind = file->key.kind,
		.path = file->path,
		.build_id = file->key.build_id,
		.n_build_id = file->key.n_build_id,
		.view = {.root_fd = ts_symbol_root_open((pid_t)file->session->pid),
			 .uid = work->options->for_others ? file->session->uid : 0,
			 .by_own_path = true,
			 .of_owner = !is_elf,
			 .owner = file->session->uid},
	};
	int r;

	r = work->symbolizer ? 0 : ts_symbolizer_new(&work->options->symbolizer, &work->symbolizer);
	r = r ?: ts_symbolize(work->symbolizer, &image, addresses, n, set, result, why);
	ts_closep(&image.view.root_fd);
	return r;
}

static bool time_is_up(const struct ts_symbol_trace_options *options)
{
	return (options->deadline_ns && ts_clock_monotonic_ns() >= options->deadline_ns) ||
	       (options->stop_ns && __atomic_load_n(options->stop_ns, __ATOMIC_RELAXED));
}

static int do_file(struct work *work, struct file *file, const uint64_t *addresses, size_t n)
{
	ts_cleanup(ts_symbol_set_deinit) struct ts_symbol_set set = {0};
	enum ts_image_result result = TS_IMAGE_NO_FILE;
	char why[TS_SYMBOL_WHY_BYTES] = "the mapping has no file";
	int r = 0;

	if (is_known(work, file)) {
		if (work->report)
			work->report->n_kept++;
		return 0;
	}
	file->path = path_of(work, file);
	if (time_is_up(work->options)) {
		result = TS_IMAGE_NOT_TRIED;
		snprintf(why, sizeof(why), "the time limit was reached");
	} else if (*file->path == '/') {
		r = ask(work, file, addresses, n, &set, &result, why);
	}
	if (r)
		return r;
	/* Most programs write neither a perf map nor a JIT dump; a missing one is not reported. */
	if (file->key.kind != TS_IMAGE_ELF && result != TS_IMAGE_RESOLVED &&
	    result != TS_IMAGE_BAD_FILE)
		return 0;
	return put_image(work, file, addresses, n, &set, result, why);
}

static int do_files(struct work *work)
{
	struct place *places = (void *)work->places.bytes;
	size_t n = work->places.n / sizeof(*places);
	int r = 0;

	if (n)
		qsort(places, n, sizeof(*places), compare_places);
	for (size_t i = 0, j; !r && i < n; i = j) {
		struct file *files = (void *)work->files.bytes;

		work->addresses.n = 0;
		for (j = i; !r && j < n && places[j].file == places[i].file; j++)
			if (j == i || places[j].address != places[j - 1].address)
				r = ts_buffer_append(&work->addresses, &places[j].address,
						     sizeof(places[j].address));
		r = r
			    ?: do_file(work, &files[places[i].file - 1],
				       (const void *)work->addresses.bytes,
				       work->addresses.n / sizeof(uint64_t));
	}
	return r;
}

int ts_symbolize_trace(struct ts_sbt_reader *reader, const struct ts_symbol_sink *sink,
		       const struct ts_symbol_trace_options *options,
		       struct ts_symbol_report *report)
{
	ts_cleanup(work_deinit) struct work work = {.reader = reader,
						    .sink = sink,
						    .options = options,
						    .report = report};
	uint64_t seed = 0;
	int r;

	if (getrandom(&seed, sizeof(seed), 0) < 0)
		seed = (uintptr_t)&work;
	ts_intern_init(&work.keys, seed);
	r = ts_modules_new(reader, &work.modules);
	r = r ?: ts_symbols_new(reader, &work.before);
	for (size_t i = 0; !r && i < ts_symbols_n_images(work.before); i++)
		if (ts_symbols_image_at(work.before, i)->image > work.last_image)
			work.last_image = ts_symbols_image_at(work.before, i)->image;
	for (size_t i = 0; !r && i < ts_sbt_reader_n_sessions(reader); i++)
		r = take_session(&work, ts_sbt_reader_session_at(reader, i));
	r = r ?: do_files(&work);
	if (report) {
		report->n_frames = work.n_frames;
		report->n_left_out = work.n_left_out;
	}
	return r;
}
