/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds frames and their names; the exporters in profile/ and perfetto/ call this file. This file
 * calls sbt/modules.h and sbt/symbols.h.
 *
 * A few thousand addresses make up a hundred thousand stacks. A known frame costs one probe of a
 * hash table; a location's name is built once, when the location first occurs.
 */
#include "tools/export/export-frames.h"

#include "sbt/modules.h"
#include "sbt/symbols.h"

#include <inttypes.h>

/* A frame of a session in an epoch of its modules. */
struct seen {
	uint64_t frame;
	uint32_t session;
	uint32_t epoch;
	/* the innermost frame: its address is in the function, and is not a return address */
	uint32_t is_innermost;
	uint32_t reserved;
	/* end of key */
	uint32_t location;
	uint32_t reserved2;
};

static int note_damage(struct ts_frames *frames)
{
	if (!frames->damaged)
		frames->damage = *ts_sbt_reader_error(frames->reader);
	frames->damaged = true;
	return 0;
}

int ts_frames_init(struct ts_frames *frames, struct ts_sbt_reader *reader,
		   const struct ts_export_options *options)
{
	int r;

	*frames = (struct ts_frames){.reader = reader, .options = options};
	ts_texts_init(&frames->texts);
	ts_hashtable_init(&frames->mappings, sizeof(struct ts_frame_mapping),
			  offsetof(struct ts_frame_mapping, address));
	ts_hashtable_init(&frames->functions, sizeof(struct ts_frame_function),
			  sizeof(struct ts_frame_function));
	ts_hashtable_init(&frames->locations, sizeof(struct ts_frame_location),
			  offsetof(struct ts_frame_location, address));
	ts_hashtable_init(&frames->seen, sizeof(struct seen), offsetof(struct seen, location));
	r = ts_modules_new(reader, &frames->modules);
	if (!r)
		r = ts_symbols_new(reader, &frames->symbols);
	/* Missing names do not change the sums. */
	return r > 0 ? note_damage(frames) : r;
}

void ts_frames_deinit(struct ts_frames *frames)
{
	ts_modules_free(frames->modules);
	ts_symbols_free(frames->symbols);
	ts_texts_deinit(&frames->texts);
	ts_hashtable_deinit(&frames->mappings);
	ts_hashtable_deinit(&frames->functions);
	ts_hashtable_deinit(&frames->locations);
	ts_hashtable_deinit(&frames->seen);
	ts_buffer_deinit(&frames->lines);
	ts_buffer_deinit(&frames->path);
}

static const char *string(const struct ts_frames *frames, uint32_t id)
{
	return id ? ts_sbt_reader_string(frames->reader, id, NULL) : NULL;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* ---- functions and their lines --------------------------------------------------------------- */

static int add_function(struct ts_frames *frames, const char *name, const char *system_name,
			const char *file, uint32_t *ret_i)
{
	struct ts_frame_function key = {0};
	int r = ts_texts_add(&frames->texts, name, &key.name);

	if (!r)
		r = ts_texts_add(&frames->texts, system_name ? system_name : name,
				 &key.system_name);
	if (!r)
		r = ts_texts_add(&frames->texts, file, &key.file);
	return r ? r : ts_hashtable_get(&frames->functions, &key, ret_i, NULL);
}

static int add_line(struct ts_frames *frames, struct ts_frame_location *location,
		    const struct ts_frame_line *line)
{
	size_t n = frames->lines.n / sizeof(*line);
	int r = n < UINT32_MAX ? ts_buffer_append(&frames->lines, line, sizeof(*line)) : -E2BIG;

	if (r)
		return r;
	if (!location->n_lines)
		location->first_line = (uint32_t)n;
	location->n_lines++;
	return 0;
}

/* Adds a location that consists of a name only. */
static int named(struct ts_frames *frames, const char *name, const char *system_name,
		 uint32_t *ret_location)
{
	struct ts_frame_location key = {.kind = TS_FRAME_NAMED}, *location;
	struct ts_frame_line line = {0};
	bool is_new;
	int r = add_function(frames, name, system_name, NULL, &line.function);

	key.value = line.function;
	if (!r)
		r = ts_hashtable_get(&frames->locations, &key, ret_location, &is_new);
	if (r || !is_new)
		return r;
	location = ts_hashtable_at(&frames->locations, *ret_location);
	r = ts_texts_add(&frames->texts, name, &line.folded);
	return r ? r : add_line(frames, location, &line);
}

/* ---- native frames --------------------------------------------------------------------------- */

int ts_frames_mapping(struct ts_frames *frames, const struct ts_row_module *module,
		      uint32_t *ret_mapping)
{
	struct ts_frame_mapping key = {
		.path = module->path,
		.n_build_id_bytes = module->n_build_id_bytes <= sizeof(key.build_id)
					    ? module->n_build_id_bytes
					    : (uint32_t)sizeof(key.build_id),
		.file_address = module->address - module->bias,
		.bytes = module->address_end - module->address,
	};
	struct ts_frame_mapping *mapping;
	const struct ts_row_image *image;
	bool is_new;
	int r;

	memcpy(key.build_id, module->build_id, key.n_build_id_bytes);
	r = ts_hashtable_get(&frames->mappings, &key, ret_mapping, &is_new);
	if (r || !is_new)
		return r;
	image = frames->symbols ? ts_symbols_image(frames->symbols, module) : NULL;
	mapping = ts_hashtable_at(&frames->mappings, *ret_mapping);
	mapping->address = module->address;
	mapping->result = image ? image->result : UINT32_MAX;
	return 0;
}

/* Names an address without symbols: the file and the offset in it, or the bare address. */
static int name_address(struct ts_frames *frames, const struct ts_row_module *module,
			uint64_t address, uint32_t *ret_text)
{
	const char *path = module ? string(frames, module->path) : NULL;

	if (!path || !*path)
		return ts_texts_addf(&frames->texts, ret_text, "0x%" PRIx64, address);
	return ts_texts_addf(&frames->texts, ret_text, "%s+0x%" PRIx64, base_name(path),
			     address - module->bias);
}

static int add_symbols(struct ts_frames *frames, struct ts_frame_location *location,
		       const struct ts_row_symbol *symbols, size_t n)
{
	int r = 0;

	for (size_t i = 0; !r && i < n; i++) {
		const char *name = string(frames, symbols[i].function);
		const char *file = string(frames, symbols[i].file);
		struct ts_frame_line line = {.line = symbols[i].line};

		if (name && *name)
			frames->any_name = true;
		else if (n == 1)
			break;
		else
			name = "?";
		r = add_function(frames, name, NULL, file, &line.function);
		if (!r && file && frames->options->lines)
			r = ts_texts_addf(&frames->texts, &line.folded, "%s (%s:%" PRIu32 ")", name,
					  base_name(file), line.line);
		else if (!r)
			r = ts_texts_add(&frames->texts, name, &line.folded);
		if (!r)
			r = add_line(frames, location, &line);
	}
	return r;
}

static int native(struct ts_frames *frames, const struct ts_site *site, uint64_t address,
		  bool is_innermost, uint32_t *ret_location)
{
	uint64_t call = ts_symbols_call(address, !is_innermost);
	const struct ts_row_module *module =
		ts_modules_find(frames->modules, site->session, call, site->time_ns);
	struct ts_frame_location key = {.kind = TS_FRAME_OF_SESSION,
					.owner = site->session,
					.value = call,
					.is_innermost = is_innermost},
				 *location;
	const struct ts_row_symbol *symbols = NULL;
	bool is_new;
	size_t n = 0;
	int r = 0;

	if (module) {
		key.kind = TS_FRAME_OF_FILE;
		r = ts_frames_mapping(frames, module, &key.owner);
	}
	if (!r && module) {
		const struct ts_frame_mapping *mapping =
			ts_hashtable_at(&frames->mappings, key.owner);

		/* Addresses of a file in all processes map to those of the first process. */
		key.value = call - module->address + mapping->address;
	}
	if (!r)
		r = ts_hashtable_get(&frames->locations, &key, ret_location, &is_new);
	if (r || !is_new)
		return r;
	frames->any_native = true;
	location = ts_hashtable_at(&frames->locations, *ret_location);
	location->address = key.value;
	r = name_address(frames, module, address, &location->folded);
	if (frames->symbols)
		symbols = ts_symbols_find(frames->symbols, site->session, module, call, &n, NULL);
	return r ? r : add_symbols(frames, location, symbols, n);
}

static int python(struct ts_frames *frames, uint64_t frame, uint32_t *ret_location)
{
	struct ts_frame_location key = {.kind = TS_FRAME_OF_PYTHON, .value = frame}, *location;
	const char *text = string(frames, TS_FRAME_STRING(frame));
	const char *file = text ? strchr(text, '\n') : NULL;
	struct ts_frame_line line = {.line = TS_FRAME_LINE(frame)};
	ts_cleanup(ts_freep) char *name = NULL;
	bool is_new;
	int r = ts_hashtable_get(&frames->locations, &key, ret_location, &is_new);

	if (r || !is_new)
		return r;
	location = ts_hashtable_at(&frames->locations, *ret_location);
	if (file && asprintf(&name, "%.*s", (int)(file - text), text) < 0) {
		name = NULL;
		return -ENOMEM;
	}
	r = add_function(frames, name ? name : "unknown Python function", NULL,
			 file ? file + 1 : NULL, &line.function);
	if (!r && file)
		r = ts_texts_addf(&frames->texts, &line.folded, "%s (%s:%" PRIu32 ")", name,
				  file + 1, line.line);
	else if (!r)
		r = ts_texts_add(&frames->texts, "unknown Python function", &line.folded);
	return r ? r : add_line(frames, location, &line);
}

static int locate(struct ts_frames *frames, const struct ts_site *site, uint64_t frame,
		  bool is_innermost, uint32_t *ret_location)
{
	struct seen key = {.frame = frame,
			   .session = site->session,
			   .epoch = site->epoch,
			   .is_innermost = is_innermost};
	uint32_t i;
	bool is_new;
	int r = ts_hashtable_get(&frames->seen, &key, &i, &is_new);

	if (r)
		return r;
	if (!is_new) {
		*ret_location = ((struct seen *)ts_hashtable_at(&frames->seen, i))->location;
		return 0;
	}
	if (TS_FRAME_KIND(frame) == TS_FRAME_PYTHON)
		r = python(frames, frame, ret_location);
	else
		r = native(frames, site, TS_FRAME_VALUE(frame), is_innermost, ret_location);
	((struct seen *)ts_hashtable_at(&frames->seen, i))->location = r ? 0 : *ret_location;
	return r;
}

/* ---- whole stacks ---------------------------------------------------------------------------- */

static int push(struct ts_frames *frames, uint32_t location)
{
	return ts_buffer_append(&frames->path, &location, sizeof(location));
}

static int push_named(struct ts_frames *frames, const char *name, const char *system_name)
{
	uint32_t location;
	int r = named(frames, name, system_name, &location);

	return r ? r : push(frames, location);
}

void ts_frames_state(const struct ts_frames *frames, const struct ts_sample *sample,
		     char ret_text[TS_FRAME_STATE_BYTES])
{
	const struct ts_export_names *names = frames->options->names;
	const char *reason = sample->type == TS_ROW_OFF_CPU && names
				     ? names->off_cpu_reason(sample->name)
				     : NULL;

	if (sample->type == TS_ROW_SAMPLE)
		snprintf(ret_text, TS_FRAME_STATE_BYTES, "on cpu%s",
			 sample->name ? ", in the kernel" : "");
	else if (reason)
		snprintf(ret_text, TS_FRAME_STATE_BYTES, "off cpu: %.40s", reason);
	else
		snprintf(ret_text, TS_FRAME_STATE_BYTES, "off cpu: reason#%" PRIu32, sample->name);
}

/*
 * Appends the frame of a sample's state. With the weight `cpu`, on-CPU time needs no frame, because
 * the export has no other kind of time.
 */
static int push_state(struct ts_frames *frames, const struct ts_sample *sample)
{
	char state[TS_FRAME_STATE_BYTES], text[TS_FRAME_STATE_BYTES + 2];

	if (frames->options->weight == TS_EXPORT_CPU && !sample->name)
		return 0;
	ts_frames_state(frames, sample, state);
	snprintf(text, sizeof(text), "[%s]", state);
	return push_named(frames, text, NULL);
}

static int push_leaf(struct ts_frames *frames, const struct ts_sample *sample)
{
	const struct ts_export_options *options = frames->options;
	const char *name = NULL, *mangled;
	char text[64];

	switch (sample->type) {
	case TS_ROW_KERNEL:
		mangled = string(frames, sample->name);
		if (mangled)
			name = options->names && options->names->kernel
				       ? options->names->kernel(options->user, sample->name)
				       : mangled;
		return push_named(frames, name && *name ? name : "unknown kernel", mangled);
	case TS_ROW_MEMCPY:
		name = options->names ? options->names->copy_kind(sample->name) : NULL;
		if (name)
			snprintf(text, sizeof(text), "memcpy %.40s", name);
		else
			snprintf(text, sizeof(text), "memcpy kind#%" PRIu32, sample->name);
		return push_named(frames, text, NULL);
	case TS_ROW_MEMSET:
		return push_named(frames, "memset", NULL);
	case TS_ROW_SAMPLE:
	case TS_ROW_OFF_CPU:
		return push_state(frames, sample);
	default:
		return 0;
	}
}

static int push_stack(struct ts_frames *frames, const struct ts_site *site)
{
	struct ts_sbt_stack stack = {0};
	uint32_t location;
	int r = 0;

	if (!site->is_known)
		return push_named(frames, "[unknown]", NULL);
	if (site->stack)
		r = ts_sbt_reader_stack(frames->reader, site->session, site->stack, &stack);
	/* A stack that cannot be read counts as no stack. */
	if (r > 0) {
		stack = (struct ts_sbt_stack){0};
		r = r == TS_SBT_E_NOT_FOUND ? 0 : note_damage(frames);
	}
	if (!r && !stack.n_frames)
		return push_named(frames, "[no stack]", NULL);
	for (uint32_t i = 0; !r && i < stack.n_frames; i++) {
		r = locate(frames, site, stack.frames[i], !i, &location);
		if (!r)
			r = push(frames, location);
	}
	if (!r && stack.flags & TS_STACK_TRUNCATED)
		r = push_named(frames, "[truncated]", NULL);
	return r;
}

void ts_frames_report(const struct ts_frames *frames, struct ts_export_report *report)
{
	report->has_names = !frames->any_native || frames->any_name;
	if (frames->damaged && !report->damaged)
		report->damage = frames->damage;
	report->damaged |= frames->damaged;
}

void ts_frames_process(const struct ts_frames *frames, const struct ts_site *site,
		       char ret_text[TS_FRAME_NAME_BYTES])
{
	const struct ts_row_session *session = ts_sbt_reader_session(frames->reader, site->session);
	const char *program = session ? string(frames, session->program) : NULL;

	if (session)
		snprintf(ret_text, TS_FRAME_NAME_BYTES, "%.256s/%" PRIu32,
			 program && *program ? base_name(program) : "process", session->pid);
	else
		snprintf(ret_text, TS_FRAME_NAME_BYTES, "session %" PRIu32, site->session);
}

void ts_frames_thread(const struct ts_frames *frames, const struct ts_site *site,
		      char ret_text[TS_FRAME_NAME_BYTES])
{
	const struct ts_row_thread *thread =
		site->thread ? ts_sbt_reader_thread(frames->reader, site->session, site->thread)
			     : NULL;
	const char *name = thread ? string(frames, thread->name) : NULL;

	if (thread)
		snprintf(ret_text, TS_FRAME_NAME_BYTES, "%.256s/%" PRIu32,
			 name && *name ? name : "thread", thread->tid);
	else
		snprintf(ret_text, TS_FRAME_NAME_BYTES, "[unknown thread]");
}

int ts_frames_path(struct ts_frames *frames, const struct ts_site *site,
		   const struct ts_sample *sample, const uint32_t **ret_locations, size_t *ret_n)
{
	char text[TS_FRAME_NAME_BYTES];
	int r;

	frames->path.n = 0;
	r = push_leaf(frames, sample);
	if (!r)
		r = push_stack(frames, site);
	if (!r && frames->options->threads) {
		ts_frames_thread(frames, site, text);
		r = push_named(frames, text, NULL);
	}
	if (!r && frames->options->processes) {
		ts_frames_process(frames, site, text);
		r = push_named(frames, text, NULL);
	}
	if (r)
		return r;
	*ret_locations = (const uint32_t *)(const void *)frames->path.bytes;
	*ret_n = frames->path.n / sizeof(**ret_locations);
	return 0;
}
