/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the symbols of one file at a time. trace.c calls this module. This module calls cache.c,
 * files.c and the worker (worker-client.h).
 *
 *     cache -- addresses that it lacks --> open the file at its places --> worker
 *       worker needs a debug file (debug_link, alternate): open it, ask again
 *       worker reports another build id (lies):            try the next place
 *     builder: the worker's answer + the cached entries --> result, and into the cache if trusted
 *
 * The cache is trusted. A file must have the build id that the process had in memory. Answers of
 * the worker are checked like any untrusted data. The answers go into the cache only if all files
 * are trusted: nobody but root and this user can have written them. If the worker has read an
 * untrusted file, a new worker reads the next trusted file.
 */
#include "daemon/symbol/symbolizer.h"

#include <stdarg.h>
#include <stdio.h>

struct ts_symbolizer {
	struct ts_worker *worker;
	struct ts_symbol_cache *cache; /* NULL: none */
	uint32_t deadline_ms;
	unsigned n_read;
	bool tainted; /* the worker has read an untrusted file */
};

/* One call of ts_symbolize(). */
struct job {
	struct ts_symbolizer *symbolizer;
	const struct ts_symbol_image *image;
	const uint64_t *addresses; /* addresses that the cache lacks */
	size_t n;
	struct ts_symbol_file file, debug, alternate;
	unsigned n_links; /* number of places tried so far for the linked debug file */
	struct ts_symbol_builder *builder;
	bool has_debug_info;
	enum ts_image_result result;
	char *why;
};

int ts_symbolizer_new(const struct ts_symbolizer_options *options, struct ts_symbolizer **ret)
{
	struct ts_symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));
	int r;

	if (!symbolizer)
		return -ENOMEM;
	symbolizer->deadline_ms = options->deadline_ms ?: TS_WORKER_DEADLINE_MS;
	r = ts_worker_new(&options->worker, &symbolizer->worker);
	if (r) {
		free(symbolizer);
		return r;
	}
	if (!options->no_cache && ts_symbol_cache_new(options->cache, &symbolizer->cache))
		symbolizer->cache = NULL;
	*ret = symbolizer;
	return 0;
}

void ts_symbolizer_free(struct ts_symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	ts_worker_free(symbolizer->worker);
	ts_symbol_cache_free(symbolizer->cache);
	free(symbolizer);
}

unsigned ts_symbolizer_n_read(const struct ts_symbolizer *symbolizer)
{
	return symbolizer->n_read;
}

struct ts_worker *ts_symbolizer_worker(struct ts_symbolizer *symbolizer)
{
	return symbolizer->worker;
}

static void set_result(struct job *job, enum ts_image_result result, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void set_result(struct job *job, enum ts_image_result result, const char *format, ...)
{
	va_list args;

	job->result = result;
	va_start(args, format);
	vsnprintf(job->why, TS_SYMBOL_WHY_BYTES, format, args);
	va_end(args);
}

/* ---- the worker's answer ---- */

struct texts {
	const char *bytes;
	size_t *offs; /* offset of text i + 1; the last entry is the end */
	size_t n;
};

static int find_texts(const Ts__Rpc__WorkerSymbols *symbols, struct texts *ret_texts)
{
	size_t at = 0, *offs = calloc(symbols->n_lengths + 1, sizeof(*offs));

	if (!offs)
		return -ENOMEM;
	for (size_t i = 0; i < symbols->n_lengths; i++) {
		offs[i] = at;
		at += symbols->lengths[i];
	}
	offs[symbols->n_lengths] = at;
	if (at != (symbols->has_text ? symbols->text.len : 0)) {
		free(offs);
		return -EPROTO;
	}
	*ret_texts = (struct texts){(const char *)symbols->text.data, offs, symbols->n_lengths};
	return 0;
}

/* Returns a text by its number; a number out of range gives "". */
static const char *text_at(const struct texts *texts, uint32_t number, size_t *ret_n)
{
	*ret_n = 0;
	if (!number || number > texts->n)
		return "";
	*ret_n = texts->offs[number] - texts->offs[number - 1];
	return texts->bytes + texts->offs[number - 1];
}

static int take_answer(struct job *job, const Ts__Rpc__WorkerSymbols *symbols,
		       const uint64_t *addresses, size_t n)
{
	struct texts texts = {0};
	size_t frame = 0;
	int r;

	if (symbols->n_n_frames != n || symbols->n_files != symbols->n_functions ||
	    symbols->n_lines != symbols->n_functions)
		return -EPROTO;
	r = find_texts(symbols, &texts);
	for (size_t i = 0; !r && i < n; i++) {
		if (symbols->n_frames[i] > symbols->n_functions - frame) {
			r = -EPROTO;
			break;
		}
		ts_symbol_builder_entry(job->builder, addresses[i]);
		for (uint32_t f = 0; f < symbols->n_frames[i]; f++, frame++) {
			size_t n_function, n_file;
			const char *function =
				text_at(&texts, symbols->functions[frame], &n_function);
			const char *file = text_at(&texts, symbols->files[frame], &n_file);

			ts_symbol_builder_frame(job->builder, function, n_function, file, n_file,
						symbols->lines[frame]);
		}
	}
	free(texts.offs);
	return r;
}

/* ---- the worker's work ---- */

static void fill_request(const struct job *job, Ts__Rpc__WorkerRequest *request,
			 Ts__Rpc__WorkerRequest__Elf *elf, Ts__Rpc__WorkerRequest__PerfMap *map,
			 Ts__Rpc__WorkerRequest__JitDump *dump, const uint64_t *addresses, size_t n)
{
	/* protobuf-c lacks const; it does not write through the pointer. */
	uint64_t *list = (uint64_t *)(uintptr_t)addresses;

	switch (job->image->kind) {
	case TS_IMAGE_PERF_MAP:
		request->body_case = TS__RPC__WORKER_REQUEST__BODY_PERF_MAP;
		request->perf_map = map;
		map->addresses = list;
		map->n_addresses = n;
		return;
	case TS_IMAGE_JIT_DUMP:
		request->body_case = TS__RPC__WORKER_REQUEST__BODY_JIT_DUMP;
		request->jit_dump = dump;
		dump->addresses = list;
		dump->n_addresses = n;
		return;
	case TS_IMAGE_ELF:
	default:
		request->body_case = TS__RPC__WORKER_REQUEST__BODY_ELF;
		request->elf = elf;
		elf->addresses = list;
		elf->n_addresses = n;
		elf->has_build_id = job->image->n_build_id != 0;
		elf->build_id.data = (uint8_t *)(uintptr_t)job->image->build_id;
		elf->build_id.len = job->image->n_build_id;
		elf->has_has_debug = elf->has_has_alternate = elf->has_same = 1;
		elf->has_debug = job->debug.fd >= 0;
		elf->has_alternate = job->alternate.fd >= 0;
	}
}

/*
 * Asks for one piece of the list. `same`: the worker still has the file of the previous piece open.
 */
static int ask(struct job *job, const uint64_t *addresses, size_t n, bool same,
	       Ts__Rpc__WorkerAnswer **ret_answer)
{
	Ts__Rpc__WorkerRequest request = TS__RPC__WORKER_REQUEST__INIT;
	Ts__Rpc__WorkerRequest__Elf elf = TS__RPC__WORKER_REQUEST__ELF__INIT;
	Ts__Rpc__WorkerRequest__PerfMap map = TS__RPC__WORKER_REQUEST__PERF_MAP__INIT;
	Ts__Rpc__WorkerRequest__JitDump dump = TS__RPC__WORKER_REQUEST__JIT_DUMP__INIT;
	int fds[3], r;
	unsigned n_fds = 0;

	fill_request(job, &request, &elf, &map, &dump, addresses, n);
	elf.same = same;
	if (!same) {
		fds[n_fds++] = job->file.fd;
		if (job->debug.fd >= 0)
			fds[n_fds++] = job->debug.fd;
		if (job->alternate.fd >= 0)
			fds[n_fds++] = job->alternate.fd;
	}
	r = ts_worker_call(job->symbolizer->worker, &request, fds, n_fds,
			   job->symbolizer->deadline_ms, ret_answer);
	if (!r && (*ret_answer)->body_case != TS__RPC__WORKER_ANSWER__BODY_SYMBOLS) {
		ts__rpc__worker_answer__free_unpacked(*ret_answer, NULL);
		*ret_answer = NULL;
		r = -EPROTO;
	}
	return r;
}

static void close_file(struct ts_symbol_file *file)
{
	ts_closep(&file->fd);
	file->fd = -1;
}

/*
 * Marks the worker as tainted if the file is untrusted, because such a file may have taken over the
 * worker. A tainted worker reads no trusted file.
 */
static void note_file(struct job *job, const struct ts_symbol_file *file)
{
	job->symbolizer->tainted |= file->fd >= 0 && !file->trusted;
}

/* Opens the next place of the linked debug file. The worker checks that it is the right file. */
static bool look_for_link(struct job *job, const ProtobufCBinaryData *link)
{
	char name[NAME_MAX + 1] = "";
	int r = -ENOENT;

	if (!link->len || link->len > NAME_MAX || memchr(link->data, '/', link->len) ||
	    memchr(link->data, 0, link->len))
		return false;
	memcpy(name, link->data, link->len);
	close_file(&job->debug);
	while (r && r != -ERANGE)
		r = ts_symbol_open_link(&job->image->view, job->image->path, name, job->n_links++,
					&job->debug);
	note_file(job, &job->debug);
	return !r;
}

/* Opens a further file that the answer needs. True: ask again with that file. */
static bool look_for_more(struct job *job, const Ts__Rpc__WorkerSymbols *symbols)
{
	if (symbols->has_debug_link)
		return look_for_link(job, &symbols->debug_link);
	if (!symbols->has_alternate || job->alternate.fd >= 0 ||
	    ts_symbol_open_debug(&job->image->view, symbols->alternate.data, symbols->alternate.len,
				 &job->alternate))
		return false;
	note_file(job, &job->alternate);
	return true;
}

static void note_answer(struct job *job, const Ts__Rpc__WorkerSymbols *symbols)
{
	bool is_elf = job->image->kind == TS_IMAGE_ELF;

	job->has_debug_info = symbols->has_debug_info || !is_elf;
	set_result(job, job->has_debug_info ? TS_IMAGE_RESOLVED : TS_IMAGE_NO_DEBUG, "%s",
		   symbols->why ? symbols->why : "");
}

/*
 * Asks the worker for all addresses, piece by piece. Returns 0, 1 if the file has another build id,
 * or an error that concerns only this file.
 */
static int ask_all(struct job *job)
{
	bool same = false;
	int r = 0;

	for (size_t at = 0, n; !r && at < job->n; at += n) {
		Ts__Rpc__WorkerAnswer *answer = NULL;
		const Ts__Rpc__WorkerSymbols *symbols;

		n = job->n - at < TS_WORKER_MAX_ADDRESSES ? job->n - at : TS_WORKER_MAX_ADDRESSES;
		r = ask(job, job->addresses + at, n, same, &answer);
		if (r)
			return r;
		symbols = answer->symbols;
		if (symbols->has_lies && symbols->lies) {
			r = 1;
		} else if (!same && look_for_more(job, symbols)) {
			n = 0;
		} else {
			r = take_answer(job, symbols, job->addresses + at, n);
			note_answer(job, symbols);
			same = job->image->kind == TS_IMAGE_ELF;
		}
		ts__rpc__worker_answer__free_unpacked(answer, NULL);
	}
	return r;
}

static void choose_worker(struct job *job)
{
	struct ts_symbolizer *symbolizer = job->symbolizer;

	if (job->file.trusted && symbolizer->tainted) {
		ts_worker_end(symbolizer->worker);
		symbolizer->tainted = false;
	}
	note_file(job, &job->file);
	note_file(job, &job->debug);
}

/* Tries one place of the file. Returns true if the right file was read. */
static bool try_file(struct job *job)
{
	int r;

	choose_worker(job);
	job->n_links = 0;
	job->symbolizer->n_read++;
	r = ask_all(job);
	if (r == 1)
		set_result(job, TS_IMAGE_OTHER_FILE,
			   "the file at this path has another build id now");
	else if (r == -EPERM)
		set_result(job, TS_IMAGE_NOT_TRIED, "%s", ts_worker_why(job->symbolizer->worker));
	else if (r == -EPROTO)
		set_result(job, TS_IMAGE_BAD_FILE, "the worker's answer is malformed");
	else if (r)
		set_result(job, TS_IMAGE_BAD_FILE, "%s", ts_worker_why(job->symbolizer->worker));
	close_file(&job->alternate);
	return !r;
}

static bool try_places(struct job *job)
{
	const struct ts_symbol_image *image = job->image;
	bool done = false;
	int r;

	for (unsigned nth = 0; !done; nth++) {
		r = ts_symbol_open(&image->view, image->path, nth, &job->file);
		if (r == -ERANGE)
			break;
		if (r) {
			if (job->result == TS_IMAGE_NO_FILE)
				set_result(job, TS_IMAGE_NO_FILE, "%s", strerror(-r));
			continue;
		}
		done = try_file(job);
		close_file(&job->file);
	}
	if (done || job->debug.fd < 0)
		return done;
	/* The file is gone; its debug file has the same symbols. */
	job->file = job->debug;
	job->debug.fd = -1;
	done = try_file(job);
	close_file(&job->file);
	return done;
}

/* ---- the cache ---- */

/* Returns the addresses that the set lacks. NULL: out of memory. */
static uint64_t *missing(const struct ts_symbol_set *set, const uint64_t *addresses, size_t n,
			 size_t *ret_n)
{
	uint64_t *list = calloc(n + 1, sizeof(*list));
	size_t n_missing = 0;

	for (size_t i = 0; list && i < n; i++)
		if (!ts_symbol_set_find(set, addresses[i]))
			list[n_missing++] = addresses[i];
	*ret_n = n_missing;
	return list;
}

static void load_known(struct job *job, struct ts_symbol_set *ret_known)
{
	struct ts_symbolizer *symbolizer = job->symbolizer;
	const struct ts_symbol_image *image = job->image;

	*ret_known = (struct ts_symbol_set){0};
	if (!symbolizer->cache || !image->n_build_id || image->kind != TS_IMAGE_ELF)
		return;
	ts_symbol_cache_load(symbolizer->cache, image->build_id, image->n_build_id, ret_known);
	/* The cached set lacks debug information, and a debug file exists now: read again. */
	if (!(ret_known->flags & TS_SYMBOL_DEBUG_INFO) && job->debug.fd >= 0)
		ts_symbol_set_deinit(ret_known);
}

static void keep(struct job *job, const struct ts_symbol_set *set, bool trusted)
{
	const struct ts_symbol_image *image = job->image;

	if (job->symbolizer->cache && image->n_build_id && image->kind == TS_IMAGE_ELF && trusted)
		ts_symbol_cache_store(job->symbolizer->cache, image->build_id, image->n_build_id,
				      set);
}

static int read_rest(struct job *job, const struct ts_symbol_set *known,
		     struct ts_symbol_set *ret_set)
{
	bool trusted, done;
	uint32_t flags;
	int r = ts_symbol_builder_new(&job->builder);

	if (r)
		return r;
	set_result(job, TS_IMAGE_NO_FILE, "the file does not exist");
	done = try_places(job);
	/* If reading failed halfway, drop the partial result. */
	if (!done) {
		ts_symbol_builder_free(ts_take_ptr(job->builder));
		r = ts_symbol_builder_new(&job->builder);
		if (r)
			return r;
	}
	flags = (done ? job->has_debug_info : known->flags & TS_SYMBOL_DEBUG_INFO)
			? TS_SYMBOL_DEBUG_INFO
			: 0;
	ts_symbol_builder_add(job->builder, known);
	r = ts_symbol_builder_end(job->builder, job->image->build_id, job->image->n_build_id, flags,
				  ret_set);
	/* The files are closed; their `trusted` flags are still valid. */
	trusted = job->file.trusted && job->debug.trusted && job->alternate.trusted;
	if (!r && done)
		keep(job, ret_set, trusted);
	if (done && !job->has_debug_info && job->image->n_build_id)
		ts_symbol_fetch_debug(job->image->build_id, job->image->n_build_id);
	return r;
}

int ts_symbolize(struct ts_symbolizer *symbolizer, const struct ts_symbol_image *image,
		 const uint64_t *addresses, size_t n, struct ts_symbol_set *ret_set,
		 enum ts_image_result *ret_result, char why[TS_SYMBOL_WHY_BYTES])
{
	struct job job = {
		.symbolizer = symbolizer,
		.image = image,
		.file.fd = -1,
		.debug = {.fd = -1, .trusted = true},
		.alternate = {.fd = -1, .trusted = true},
		.why = why,
	};
	struct ts_symbol_set known = {0};
	ts_cleanup(ts_freep) uint64_t *rest = NULL;
	int r = 0;

	if (image->kind == TS_IMAGE_ELF)
		ts_symbol_open_debug(&image->view, image->build_id, image->n_build_id, &job.debug);
	load_known(&job, &known);
	rest = missing(&known, addresses, n, &job.n);
	if (!rest)
		r = -ENOMEM;
	job.addresses = rest;
	if (!r && !job.n) {
		set_result(&job,
			   known.flags & TS_SYMBOL_DEBUG_INFO ? TS_IMAGE_RESOLVED
							      : TS_IMAGE_NO_DEBUG,
			   "%s", "");
		*ret_set = known;
		known = (struct ts_symbol_set){0};
	} else if (!r) {
		r = read_rest(&job, &known, ret_set);
	}
	if (!r)
		*ret_result = job.result;
	ts_symbol_builder_free(job.builder);
	ts_symbol_set_deinit(&known);
	close_file(&job.debug);
	return r;
}
