/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens and closes capture windows. capture.c calls this module at the entry of each captured call;
 * annotation.c reports ranges. The module calls the driver, the lane and the capture functions.
 *
 * Opening a window takes these steps, with the order lock held:
 * - hold_up() sets `opening`, so new copies and new stream captures wait, and waits for running
 *   copies.
 * - drain() waits until the work on all devices ends (at most 10 s).
 * - put_window() puts the WINDOW operation into the lane.
 * - capture_memory() copies device memory to the host, and puts its contents into the lane.
 *
 * Closing a window drains the devices too, so that pending copies to the host get their results.
 * Work that does not end (a kernel that waits for the host) keeps the window from opening. The
 * trace then names the window as unsupported.
 *
 * The shim's own queries are neither captured nor recorded. The shim's calls that make a device
 * work (copies, streams) get rows like the application's calls.
 */
#include "inject/capture/window.h"
#include "inject/context.h"

#include <dlfcn.h>
#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "inject/capture/capture.h"

#define DRAIN_NS	UINT64_C(10000000000)
#define COPY_NS		UINT64_C(30000000000)
#define COPIES_END_NS	UINT64_C(1000000000)
#define POLL_NS		100000
#define PIECE_BYTES	(UINT64_C(8) << 20)
#define MAX_NAMES_BYTES (16u << 20)
#define MAX_NAME_BYTES	4096u
#define EVENT_NO_TIMING 2u
#define STREAM_NO_BLOCK 1u
#define MODE_RELAXED	2
#define STREAM_LEGACY	((void *)(uintptr_t)1)
#define BY_REQUEST	"tsctl start"

struct alive {
	uint64_t creation; /* creation sequence number; ascending */
	uint64_t handle;
	uint32_t context;
	bool is_library;
	uint8_t vendor; /* of a context: enum ts_capture_vendor */
};

/*
 * Number of signals received. The handler of a signal gets no argument from the shim, so this is a
 * global variable.
 */
static uint32_t signals;

static void on_signal(int number)
{
	(void)number;
	__atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
}

/* Installs the handler. If the application has its own handler, this one is not installed. */
static bool listen_to(int number)
{
	struct sigaction before, action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	return !sigaction(number, NULL, &before) && !(before.sa_flags & SA_SIGINFO) &&
	       before.sa_handler == SIG_DFL && !sigaction(number, &action, NULL);
}

void ts_window_start(struct ts_capture *capture, const struct ts_capture_config *config)
{
	struct ts_window *window = &capture->window;

	pthread_mutex_init(&window->names_lock, NULL);
	window->config = *config;
	window->is_tracked = config->is_window;
	if (config->is_window && config->signal)
		window->by_signal = listen_to(config->signal);
}

void ts_window_find_driver(struct ts_window_driver *driver, void *library)
{
	const struct {
		const char *name;
		void *to;
	} functions[] = {
		{"cuCtxPushCurrent_v2", &driver->push},
		{"cuCtxPopCurrent_v2", &driver->pop},
		{"cuThreadExchangeStreamCaptureMode", &driver->exchange_mode},
		{"cuStreamCreate", &driver->stream_new},
		{"cuStreamDestroy_v2", &driver->stream_free},
		{"cuStreamQuery", &driver->stream_query},
		{"cuEventCreate", &driver->event_new},
		{"cuEventDestroy_v2", &driver->event_free},
		{"cuEventRecord", &driver->event_record},
		{"cuEventQuery", &driver->event_query},
		{"cuMemcpyDtoHAsync_v2", &driver->copy},
	};

	for (size_t i = 0; i < TS_ARRAY_LEN(functions); i++)
		*(void **)functions[i].to = dlsym(library, functions[i].name);
}

TS_STATIC_ASSERT(TS_ARRAY_LEN(((struct ts_window *)0)->drivers) == TS_CAPTURE_N_VENDORS,
		 "functions of each vendor");

static bool has_driver(const struct ts_window_driver *driver)
{
	return driver->push && driver->pop && driver->exchange_mode && driver->stream_new &&
	       driver->stream_free && driver->stream_query && driver->event_new &&
	       driver->event_free && driver->event_record && driver->event_query && driver->copy;
}

/* ---- live objects ---- */

static struct alive *all_of(const struct ts_pages *pages)
{
	return (struct alive *)(void *)pages->at;
}

static void follow(struct ts_capture *capture, struct ts_pages *pages, size_t *n,
		   const struct alive *one, bool is_new)
{
	struct alive *all = all_of(pages);
	size_t i = 0;

	if (!capture->window.is_tracked)
		return;
	while (i < *n && all[i].handle != one->handle)
		i++;
	if (i < *n)
		memmove(&all[i], &all[i + 1], (--*n - i) * sizeof(*all));
	if (!is_new)
		return;
	if (!ts_pages_grow(pages, (*n + 1) * sizeof(*one))) {
		ts_lane_end(&capture->lane, TS_LANE_NO_MEMORY);
		return;
	}
	all_of(pages)[*n] = *one;
	all_of(pages)[(*n)++].creation = ++capture->window.n_created;
}

/*
 * Finds the first object created after *one, and writes it to *one. The array may change between
 * two calls, so each call searches by creation number. Returns false if there is none.
 */
static bool next_alive(struct ts_capture *capture, const struct ts_pages *pages, const size_t *n,
		       struct alive *one)
{
	size_t i = 0;

	ts_lock_take(&capture->lane.lock);
	while (i < *n && all_of(pages)[i].creation <= one->creation)
		i++;
	if (i < *n)
		*one = all_of(pages)[i];
	else
		one = NULL;
	ts_lock_release(&capture->lane.lock);
	return one;
}

static bool next_context(struct ts_capture *capture, struct alive *context)
{
	return next_alive(capture, &capture->window.contexts, &capture->window.n_contexts, context);
}

static void leave_context(struct ts_pages *pages, size_t *n, uint32_t context)
{
	struct alive *all = all_of(pages);
	size_t left = 0;

	for (size_t i = 0; i < *n; i++)
		if (all[i].context != context)
			all[left++] = all[i];
	*n = left;
}

void ts_window_context(struct ts_capture *capture, uint32_t vendor, uint64_t handle,
		       uint32_t context, bool is_new)
{
	struct ts_window *window = &capture->window;

	follow(capture, &window->contexts, &window->n_contexts,
	       &(struct alive){.handle = handle, .context = context, .vendor = (uint8_t)vendor},
	       is_new);
	if (is_new || !window->is_tracked)
		return;
	leave_context(&window->streams, &window->n_streams, context);
	leave_context(&window->modules, &window->n_modules, context);
	ts_memory_map_leave(&capture->memory, context);
}

void ts_window_stream(struct ts_capture *capture, uint64_t handle, uint32_t context, bool is_new)
{
	struct ts_window *window = &capture->window;

	follow(capture, &window->streams, &window->n_streams,
	       &(struct alive){.handle = handle, .context = context}, is_new);
}

void ts_window_module(struct ts_capture *capture, uint64_t handle, uint32_t context,
		      bool is_library, bool is_new)
{
	struct ts_window *window = &capture->window;

	follow(capture, &window->modules, &window->n_modules,
	       &(struct alive){.handle = handle, .context = context, .is_library = is_library},
	       is_new);
}

/* ---- names of variables ---- */

static void add_name(struct ts_window *window, const char *name, size_t n)
{
	const char *at = (const char *)window->names.at, *end = at + window->n_name_bytes;

	if (!n || n > MAX_NAME_BYTES || window->n_name_bytes + n + 1 > MAX_NAMES_BYTES)
		return;
	for (; at < end; at += strlen(at) + 1)
		if (strlen(at) == n && !memcmp(at, name, n))
			return;
	if (!ts_pages_grow(&window->names, window->n_name_bytes + n + 1))
		return;
	memcpy(window->names.at + window->n_name_bytes, name, n);
	window->names.at[window->n_name_bytes + n] = '\0';
	window->n_name_bytes += n + 1;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_of_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || c == '%';
}

/*
 * Finds the declared name after `.global` or `.const`. Skips directives and an alignment. Returns
 * NULL if there is no name.
 */
static const char *declared_name(const char *at, const char *end, size_t *ret_n)
{
	for (;;) {
		const char *word;

		while (at < end && is_blank(*at))
			at++;
		word = at;
		if (at < end && *at == '.')
			at++;
		while (at < end && is_of_name(*at))
			at++;
		if (at == word)
			return NULL;
		if (*word == '.' || (*word >= '0' && *word <= '9'))
			continue;
		*ret_n = (size_t)(at - word);
		return word;
	}
}

static void names_of_text(struct ts_window *window, const char *text, size_t n)
{
	static const char *const spaces[] = {".global", ".const"};
	const char *end = text + strnlen(text, n);

	for (const char *at = text; at < end; at++)
		for (size_t i = 0; *at == '.' && i < TS_ARRAY_LEN(spaces); i++) {
			size_t length = strlen(spaces[i]), n_name;
			const char *name;

			/*
			 * Finds a declaration and not an instruction: in `ld.global.f32`, `.global`
			 * touches another word; in a declaration, it has a blank before and after
			 * it.
			 */
			if ((size_t)(end - at) <= length || memcmp(at, spaces[i], length) ||
			    !is_blank(at[length]) || (at > text && !is_blank(at[-1])))
				continue;
			name = declared_name(at + length, end, &n_name);
			if (name)
				add_name(window, name, n_name);
		}
}

static void names_of_symbols(struct ts_window *window, const uint8_t *image, size_t n,
			     const Elf64_Shdr *table, const Elf64_Shdr *strings)
{
	const char *texts = (const char *)image + strings->sh_offset;

	for (uint64_t i = 0; i < table->sh_size / sizeof(Elf64_Sym); i++) {
		Elf64_Sym symbol;

		memcpy(&symbol, image + table->sh_offset + i * sizeof(symbol), sizeof(symbol));
		if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT &&
		    symbol.st_name < strings->sh_size)
			add_name(window, texts + symbol.st_name,
				 strnlen(texts + symbol.st_name,
					 strings->sh_size - symbol.st_name));
	}
	(void)n;
}

static bool lies_in(const Elf64_Shdr *section, size_t n)
{
	return section->sh_offset <= n && section->sh_size <= n - section->sh_offset;
}

static void names_of_elf(struct ts_window *window, const uint8_t *image, size_t n)
{
	Elf64_Ehdr header;

	if (n < sizeof(header))
		return;
	memcpy(&header, image, sizeof(header));
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr) ||
	    header.e_shoff > n || header.e_shnum > (n - header.e_shoff) / sizeof(Elf64_Shdr))
		return;
	for (uint32_t i = 0; i < header.e_shnum; i++) {
		Elf64_Shdr table, strings;

		memcpy(&table, image + header.e_shoff + i * sizeof(table), sizeof(table));
		/* AMD's code may lack the first of them. */
		if ((table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) ||
		    table.sh_link >= header.e_shnum)
			continue;
		memcpy(&strings, image + header.e_shoff + table.sh_link * sizeof(strings),
		       sizeof(strings));
		if (lies_in(&table, n) && lies_in(&strings, n))
			names_of_symbols(window, image, n, &table, &strings);
	}
}

void ts_window_code(struct ts_capture *capture, const void *code, size_t n_bytes)
{
	if (!capture->window.is_tracked || !code)
		return;
	/*
	 * The driver may hold internal locks during this callback. Holders of names_lock never call
	 * the driver, so this lock cannot deadlock.
	 */
	pthread_mutex_lock(&capture->window.names_lock);
	if (n_bytes > SELFMAG && !memcmp(code, ELFMAG, SELFMAG))
		names_of_elf(&capture->window, code, n_bytes);
	else
		names_of_text(&capture->window, code, n_bytes);
	pthread_mutex_unlock(&capture->window.names_lock);
}

/*
 * Copies the name at offset `at` to ret_name. Returns the offset of the next name; 0 if `at` is
 * behind the last one.
 */
static size_t name_at(struct ts_window *window, size_t at, char *ret_name)
{
	size_t next = 0;

	pthread_mutex_lock(&window->names_lock);
	if (at < window->n_name_bytes) {
		next = at + strlen((const char *)window->names.at + at) + 1;
		memcpy(ret_name, window->names.at + at, next - at);
	}
	pthread_mutex_unlock(&window->names_lock);
	return next;
}

/* ---- requests for a window ---- */

/* Returns the source of the current request for a window. Returns NULL if there is no request. */
static const char *wanted_by(struct ts_capture *capture)
{
	const struct ts_window *window = &capture->window;
	uint64_t n = __atomic_load_n(&window->n_launches, __ATOMIC_RELAXED);

	if (window->config.first_launch && n >= window->config.first_launch &&
	    n <= window->config.last_launch)
		return "a launch";
	if (__atomic_load_n(&window->n_ranges, __ATOMIC_RELAXED))
		return "a range";
	if (window->by_signal && __atomic_load_n(&signals, __ATOMIC_RELAXED) % 2)
		return "a signal";
	return __atomic_load_n(&capture->shim->control->command, __ATOMIC_RELAXED) &
			       TS_COMMAND_REPLAY
		       ? BY_REQUEST
		       : NULL;
}

bool ts_window_is_due(struct ts_capture *capture, bool is_launch)
{
	struct ts_window *window = &capture->window;
	bool open;

	if (!window->is_tracked)
		return false;
	if (is_launch)
		__atomic_fetch_add(&window->n_launches, 1, __ATOMIC_RELAXED);
	open = ts_window_is_open(window);
	if (wanted_by(capture) ? open : !open) {
		if (!open)
			__atomic_store_n(&window->given_up, false, __ATOMIC_RELAXED);
		return false;
	}
	/*
	 * A stream capture puts no work on the device. Queries of a capturing stream invalidate the
	 * capture, so the window waits until the capture ends.
	 */
	return !__atomic_load_n(&window->given_up, __ATOMIC_RELAXED) &&
	       !__atomic_load_n(&window->n_stream_captures, __ATOMIC_RELAXED);
}

/* ---- waiting ---- */

static const struct ts_window_driver *driver_of(const struct ts_window *window,
						const struct alive *context)
{
	return &window->drivers[context->vendor];
}

static void rest(void)
{
	nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
}

static void record_missing(struct ts_capture *capture, const char *what)
{
	const struct ts_record_operation model = {.context = 0};

	ts_lock_take(&capture->lane.lock);
	ts_capture_unsupported(capture, &model, what);
	ts_lock_release(&capture->lane.lock);
}

void ts_window_copy_begins(struct ts_capture *capture)
{
	struct ts_window *window = &capture->window;
	const uint64_t until = ts_clock_monotonic_ns() + DRAIN_NS + COPY_NS;

	for (;;) {
		/*
		 * Pairs with hold_up(), which stores `opening` and then loads n_copying. All four
		 * are sequentially consistent, so at least one thread sees the other's store.
		 */
		__atomic_fetch_add(&window->n_copying, 1, __ATOMIC_SEQ_CST);
		if (!__atomic_load_n(&window->opening, __ATOMIC_SEQ_CST))
			return;
		if (ts_clock_monotonic_ns() > until) {
			record_missing(
				capture,
				"a copy during the opening of a window that took more than 40 s");
			return;
		}
		ts_window_copy_ends(window);
		rest();
	}
}

void ts_window_copy_ends(struct ts_window *window)
{
	__atomic_fetch_sub(&window->n_copying, 1, __ATOMIC_SEQ_CST);
}

void ts_window_capture_begins(struct ts_window *window)
{
	for (;;) {
		/*
		 * Pairs with ts_window_switch(), which stores `opening` in hold_up() and then loads
		 * n_stream_captures. All four are sequentially consistent, so at least one thread
		 * sees the other's store.
		 */
		__atomic_fetch_add(&window->n_stream_captures, 1, __ATOMIC_SEQ_CST);
		if (!__atomic_load_n(&window->opening, __ATOMIC_SEQ_CST))
			return;
		ts_window_capture_ends(window);
		rest();
	}
}

/*
 * If the stream capture began before the shim could count it, the count is already 0, and stays 0.
 */
void ts_window_capture_ends(struct ts_window *window)
{
	uint32_t n = __atomic_load_n(&window->n_stream_captures, __ATOMIC_RELAXED);

	while (n && !__atomic_compare_exchange_n(&window->n_stream_captures, &n, n - 1, false,
						 __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
}

static void hold_up(struct ts_window *window)
{
	const uint64_t until = ts_clock_monotonic_ns() + COPIES_END_NS;

	__atomic_store_n(&window->opening, 1, __ATOMIC_SEQ_CST);
	/*
	 * A running copy may wait for a kernel, and drain() waits for kernels next. So this wait
	 * has a short limit: a stuck copy does not block the window.
	 */
	while (__atomic_load_n(&window->n_copying, __ATOMIC_SEQ_CST) &&
	       ts_clock_monotonic_ns() < until)
		rest();
}

static bool is_over(cuStreamQuery_fn *query, void *handle, uint64_t until)
{
	for (;;) {
		int r = query(handle);

		if (r != TS_CU_ERROR_NOT_READY)
			return true;
		if (ts_clock_monotonic_ns() > until)
			return false;
		rest();
	}
}

/*
 * Waits for the work of one context. Polls each known stream, then an event on the legacy stream.
 * The legacy stream waits for all streams but non-blocking ones, which the polls cover.
 */
static bool drain_context(struct ts_capture *capture, const struct alive *context, uint64_t until)
{
	const struct ts_window *window = &capture->window;
	const struct ts_window_driver *driver = driver_of(window, context);
	struct alive stream = {.creation = 0};
	bool over = true;
	void *event = NULL;

	while (over && next_alive(capture, &window->streams, &window->n_streams, &stream))
		if (stream.context == context->context)
			over = is_over(driver->stream_query, (void *)(uintptr_t)stream.handle,
				       until);
	if (!over || driver->event_new(&event, EVENT_NO_TIMING))
		return over;
	if (!driver->event_record(event, STREAM_LEGACY))
		over = is_over(driver->event_query, event, until);
	driver->event_free(event);
	return over;
}

static bool push(const struct ts_window *window, const struct alive *context)
{
	return !driver_of(window, context)->push((void *)(uintptr_t)context->handle);
}

static void pop(const struct ts_window *window, const struct alive *context)
{
	void *handle;

	driver_of(window, context)->pop(&handle);
}

static bool drain(struct ts_capture *capture)
{
	const struct ts_window *window = &capture->window;
	const uint64_t until = ts_clock_monotonic_ns() + DRAIN_NS;
	struct alive context = {.creation = 0};
	bool over = true;

	while (over && next_context(capture, &context)) {
		if (!push(window, &context))
			continue;
		over = drain_context(capture, &context, until);
		pop(window, &context);
	}
	return over;
}

/* ---- contents of memory ---- */

static __thread bool is_aside __attribute__((tls_model("initial-exec")));

bool ts_window_calls_driver(void)
{
	return is_aside;
}

/*
 * Saved state of the application's call while the shim makes a driver call. The shim's call gets
 * rows of its own. take_up() restores the application's call.
 */
struct aside {
	struct ts_call call;
	uint32_t busy;
};

static struct aside set_aside(void)
{
	struct aside aside = {ts_tls.call, ts_tls.busy};

	ts_tls.call = (struct ts_call){.generation = aside.call.generation};
	is_aside = true;
	ts_tls.busy = TS_BUSY_NOT;
	return aside;
}

static void take_up(const struct aside *aside)
{
	ts_tls.busy = aside->busy;
	is_aside = false;
	ts_tls.call = aside->call;
}

static int copy_out(const struct ts_window *window, const struct ts_window_driver *driver,
		    uint64_t address, size_t n, void *stream)
{
	struct aside aside = set_aside();
	int r = driver->copy(window->buffer.at, address, n, stream);

	take_up(&aside);
	if (r)
		return r;
	return is_over(driver->stream_query, stream, ts_clock_monotonic_ns() + COPY_NS)
		       ? driver->stream_query(stream)
		       : TS_CU_ERROR_NOT_READY;
}

static void put_bytes(struct ts_capture *capture, const struct ts_memory_range *range,
		      uint64_t address, size_t n)
{
	struct ts_lane *lane = &capture->lane;
	struct ts_record_operation copy = {
		.kind = TS_OPERATION_COPY,
		.context = range->context,
		.stream = TS_OPERATION_STREAM_LEGACY,
		.operation_flags = TS_OPERATION_SRC_HOST,
		.dst = address,
		.bytes = n,
		.height = 1,
		.depth = 1,
		.dst_pitch = n,
		.dst_slice = n,
		.src_pitch = n,
		.src_slice = n,
	};

	ts_lock_take(&lane->lock);
	copy.content = ts_lane_content(lane, capture->window.buffer.at, n);
	if (copy.content)
		(void)ts_lane_put(lane, &copy);
	ts_lock_release(&lane->lock);
}

/*
 * Puts a SYNC of the context. In a replay, the restored memory is complete before any stream of the
 * context begins other work.
 */
static void put_sync(struct ts_capture *capture, uint32_t context)
{
	struct ts_record_operation sync = {
		.kind = TS_OPERATION_SYNC,
		.context = context,
		.operation_flags = TS_OPERATION_SYNC_CONTEXT,
	};

	ts_lock_take(&capture->lane.lock);
	(void)ts_lane_put(&capture->lane, &sync);
	ts_lock_release(&capture->lane.lock);
}

/*
 * Finds the first range that starts at or above `from`, and writes it to *ret_range. Returns false
 * if there is none. The map may change between two calls.
 */
static bool next_range(struct ts_capture *capture, uint64_t from, struct ts_memory_range *ret_range)
{
	const struct ts_memory_range *range;

	ts_lock_take(&capture->lane.lock);
	range = ts_memory_map_next(&capture->memory, from);
	if (range)
		*ret_range = *range;
	ts_lock_release(&capture->lane.lock);
	return range;
}

/* Captures the current bytes of host memory that devices can access. */
static void put_host(struct ts_capture *capture, uint64_t start)
{
	const struct ts_record_operation model = {.context = 0};
	struct ts_memory_range *range;

	ts_lock_take(&capture->lane.lock);
	range = ts_memory_map_find(&capture->memory, start);
	if (range && range->flags) {
		range->in_use = range->content = 0;
		ts_capture_host_memory(capture, &model, range);
	}
	ts_lock_release(&capture->lane.lock);
}

static void copy_context(struct ts_capture *capture, const struct alive *context)
{
	struct ts_window *window = &capture->window;
	const struct ts_window_driver *driver = driver_of(window, context);
	struct ts_memory_range range;
	struct aside aside;
	void *stream = NULL;
	int r;

	aside = set_aside();
	r = driver->stream_new(&stream, STREAM_NO_BLOCK);
	take_up(&aside);
	if (r)
		return;
	for (uint64_t from = 0;
	     next_range(capture, from, &range) && ts_lane_goes_on(&capture->lane);
	     from = range.start + 1) {
		if (range.flags || range.context != context->context)
			continue;
		for (uint64_t at = 0; at < range.bytes && ts_lane_goes_on(&capture->lane);) {
			size_t n = range.bytes - at < PIECE_BYTES ? range.bytes - at : PIECE_BYTES;

			/* The copy fails if the range is gone; the shim did not see its release. */
			if (copy_out(window, driver, range.start + at, n, stream))
				break;
			put_bytes(capture, &range, range.start + at, n);
			at += n;
		}
	}
	aside = set_aside();
	driver->stream_free(stream);
	take_up(&aside);
}

static void put_variable(struct ts_capture *capture, const struct alive *module,
			 const struct alive *of, const char *name)
{
	const struct ts_capture_driver *driver = &capture->drivers[of->vendor];
	const uint32_t context = of->context;
	cuModuleGetGlobal_v2_fn *ask =
		module->is_library ? driver->library_variable : driver->module_variable;
	const struct ts_record_operation model = {.context = context};
	const struct ts_memory_range *known;
	uint64_t address;
	size_t n;

	if (!ask || ask(&address, &n, (void *)(uintptr_t)module->handle, name) || !n)
		return;
	ts_lock_take(&capture->lane.lock);
	known = ts_memory_map_find(&capture->memory, address);
	if (!known || known->start != address || known->bytes != n || known->context != context)
		ts_capture_variable(capture, &model, address, n, (void *)(uintptr_t)module->handle,
				    name);
	ts_lock_release(&capture->lane.lock);
}

/*
 * Captures the addresses of all variables of the modules, including variables that the application
 * never looked up.
 */
static void find_variables(struct ts_capture *capture, const struct alive *context)
{
	struct ts_window *window = &capture->window;
	/* The copy buffer is not in use yet: copy_context() runs later. */
	char *name = (char *)window->buffer.at;
	struct alive module = {.creation = 0};

	while (next_alive(capture, &window->modules, &window->n_modules, &module))
		if (!module.context || module.context == context->context)
			for (size_t at = 0; (at = name_at(window, at, name));)
				put_variable(capture, &module, context, name);
}

static void capture_memory(struct ts_capture *capture)
{
	struct ts_window *window = &capture->window;
	struct alive context = {.creation = 0};
	struct ts_memory_range range;

	while (next_context(capture, &context)) {
		if (!push(window, &context))
			continue;
		find_variables(capture, &context);
		if (driver_of(window, &context)->find_variables)
			driver_of(window, &context)->find_variables(capture, context.context);
		copy_context(capture, &context);
		put_sync(capture, context.context);
		pop(window, &context);
	}
	for (uint64_t from = 0; next_range(capture, from, &range); from = range.start + 1)
		if (range.flags)
			put_host(capture, range.start);
}

/* ---- opening and closing ---- */

static void put_window(struct ts_capture *capture, bool opens, const char *by)
{
	struct ts_control *control = capture->shim->control;
	struct ts_record_operation operation = {.kind = TS_OPERATION_WINDOW, .value = opens};

	ts_lock_take(&capture->lane.lock);
	if (by)
		operation.name = ts_definitions_string(&capture->shim->definitions, by, strlen(by));
	(void)ts_lane_put(&capture->lane, &operation);
	ts_lock_release(&capture->lane.lock);
	if (opens)
		__atomic_fetch_add(&control->capture_windows, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&control->capture_state,
			 opens ? TS_CAPTURE_STATE_OPEN : TS_CAPTURE_STATE_CLOSED, __ATOMIC_RELAXED);
}

/* True if there are the functions that a window needs of each vendor with a context. */
static bool has_drivers(struct ts_capture *capture)
{
	struct alive context = {.creation = 0};

	while (next_context(capture, &context))
		if (!has_driver(driver_of(&capture->window, &context)))
			return false;
	return true;
}

static void give_up(struct ts_capture *capture, const char *why)
{
	__atomic_store_n(&capture->window.given_up, true, __ATOMIC_RELAXED);
	record_missing(capture, why);
}

static void open_window(struct ts_capture *capture, const char *by)
{
	struct ts_window *window = &capture->window;

	if (!has_drivers(capture) || !ts_pages_grow(&window->buffer, PIECE_BYTES)) {
		give_up(capture,
			"a window that did not open: the driver lacks a function, or the process is out of memory");
		return;
	}
	if (!drain(capture)) {
		give_up(capture,
			"a window that did not open: the devices did not end their work within 10 s");
		return;
	}
	put_window(capture, true, by);
	capture_memory(capture);
	__atomic_store_n(&window->open, 1, __ATOMIC_RELEASE);
}

/*
 * Closes the window. If all work ends within the bound, each copy to the host gets its result. Else
 * no pending copy gets a result.
 */
static void close_window(struct ts_capture *capture)
{
	struct ts_window *window = &capture->window;
	bool over = drain(capture);

	ts_lock_take(&capture->lane.lock);
	for (size_t i = 0; over && i < window->n_contexts; i++) {
		const struct ts_record_operation waited = {
			.operation_flags = TS_OPERATION_SYNC_CONTEXT,
			.context = all_of(&window->contexts)[i].context,
		};

		ts_capture_results(capture, &waited);
	}
	capture->n_pending = 0;
	ts_lock_release(&capture->lane.lock);
	__atomic_store_n(&window->open, 0, __ATOMIC_RELEASE);
	put_window(capture, false, NULL);
}

static void exchange_modes(const struct ts_window *window, int32_t *modes)
{
	for (size_t i = 0; i < TS_ARRAY_LEN(window->drivers); i++)
		if (window->drivers[i].exchange_mode)
			window->drivers[i].exchange_mode(&modes[i]);
}

void ts_window_switch(struct ts_capture *capture)
{
	struct ts_window *window = &capture->window;
	const char *by = wanted_by(capture);
	int32_t modes[TS_CAPTURE_N_VENDORS] = {MODE_RELAXED, MODE_RELAXED};

	/* Another thread may have switched the window before this thread got the order lock. */
	if ((by != NULL) == ts_window_is_open(window))
		return;
	hold_up(window);
	/*
	 * Queries of a capturing stream invalidate the capture. If a stream capture began
	 * meanwhile, the window stays as it is, and the next call tries again.
	 */
	if (__atomic_load_n(&window->n_stream_captures, __ATOMIC_SEQ_CST)) {
		__atomic_store_n(&window->opening, 0, __ATOMIC_SEQ_CST);
		return;
	}
	/*
	 * Relaxed mode: the shim did not count stream captures that began before it started, and
	 * the driver calls here must not invalidate them.
	 */
	exchange_modes(window, modes);
	if (by)
		open_window(capture, by);
	else
		close_window(capture);
	exchange_modes(window, modes);
	__atomic_store_n(&window->opening, 0, __ATOMIC_SEQ_CST);
}
