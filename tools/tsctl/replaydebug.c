/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The debugger's commands. It is asked before every instruction (replay/vgpu/ptx/debug.h); where nothing is to be stopped at it
 * says so at once. Commands come a line at a time from stdin, so that a file can give them; what they answer is the same each time.
 */
#include "tools/tsctl/replaydebug.h"

#include "replay/vgpu/ptx/debug.h"
#include "tools/tsctl/out.h"
#include "tools/tsctl/tsctl.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_BREAKS	64u
#define MAX_LINE	1024u
#define MAX_SHOWN_BYTES 4096u
#define LANES		32u
#define AROUND		4u

struct stop_at {
	char where[256]; /* a file, a function, or "": a line of the PTX */
	uint32_t line;	 /* 0: a function's first instruction */
};

struct debugger {
	struct replay *replay;
	const volatile int *cancel;
	const struct ts_row_operation *operation;
	bool counts, is_left, is_interactive;
	bool at_begin; /* stops at the kernel's first instruction */
	uint64_t n_steps;
	uint64_t step_block;
	uint32_t step_warp;
	struct stop_at breaks[MAX_BREAKS];
	size_t n_breaks;
	/* What is looked at. */
	struct ts_ptx_warp *warp;
	uint32_t lane;
	struct ts_ptx_place
		last; /* where a warp was when it was asked last: a line is stopped at once */
	const struct ts_ptx_warp *last_warp;
};

/* ---- words ---- */

static char *take_word(char **rest)
{
	char *word;

	*rest += strspn(*rest, " \t");
	word = *rest;
	*rest += strcspn(*rest, " \t");
	if (**rest)
		*(*rest)++ = '\0';
	return word;
}

static bool take_number(char **rest, uint64_t *ret)
{
	const char *word = take_word(rest);
	char *end;

	errno = 0;
	*ret = strtoull(word, &end, 0);
	return isdigit((unsigned char)*word) && !*end && !errno;
}

/* ---- places ---- */

static void print_line_of(const struct ts_ptx_place *place, uint32_t line, bool marked)
{
	const char *at = place->text;
	size_t n;

	for (uint32_t i = 1; at && i < line; i++) {
		at = strchr(at, '\n');
		at += at != NULL;
	}
	if (!at || !*at)
		return;
	n = strcspn(at, "\r\n");
	printf("%s%6u  ", marked ? "->" : "  ", line);
	for (size_t i = 0; i < n && i < 200; i++)
		putchar(at[i] == '\t' ? ' ' : isprint((unsigned char)at[i]) ? at[i] : '?');
	putchar('\n');
}

static void print_place(const struct ts_ptx_place *place)
{
	ts_out_text(stdout, place->function);
	printf(", PTX line %u", place->line);
	if (place->source_file) {
		printf(", ");
		ts_out_text(stdout, place->source_file);
		printf(":%u", place->source_line);
	}
}

static void print_where(const struct debugger *debugger)
{
	struct ts_ptx_block_view block;
	struct ts_ptx_place place;
	uint32_t tid[3];

	ts_ptx_debug_block_of(debugger->warp, &block);
	ts_ptx_debug_thread(debugger->warp, debugger->lane, tid);
	printf("block (%u,%u,%u) warp %u thread (%u,%u,%u)", block.ctaid[0], block.ctaid[1],
	       block.ctaid[2], ts_ptx_debug_warp_index(debugger->warp), tid[0], tid[1], tid[2]);
	if (!ts_ptx_debug_place(debugger->warp, debugger->lane, 0, &place)) {
		printf(": it has ended\n");
		return;
	}
	printf(": ");
	print_place(&place);
	putchar('\n');
	print_line_of(&place, place.line, true);
}

/* ---- commands ---- */

static void do_help(void)
{
	fputs("break LINE | FILE:LINE | FUNCTION   stop there (a line of the PTX, of the source)\n"
	      "breaks; delete N                    stops that there are; without one of them\n"
	      "continue; step [N]                  to the next stop; N instructions of this warp\n"
	      "skip                                to the next kernel\n"
	      "where; list; backtrace              the thread; the PTX around it; its calls\n"
	      "blocks; warps                       that are resident; of this block\n"
	      "thread BLOCK T                      look at thread T (its number in the block) of\n"
	      "                                    block BLOCK (its number in the grid)\n"
	      "registers [all]; print %REGISTER    of the thread; of all lanes of its warp\n"
	      "shared OFFSET [N]; memory ADDRESS [N]   N bytes of the block's shared memory; of\n"
	      "                                    memory by generic address, as the thread has it\n"
	      "help; quit\n",
	      stdout);
}

static void do_break(struct debugger *debugger, char *rest)
{
	struct stop_at *stop = &debugger->breaks[debugger->n_breaks];
	char *word = take_word(&rest), *colon = strrchr(word, ':'), *end;

	if (debugger->n_breaks == MAX_BREAKS) {
		printf("error: there are %u stops, and no more can be\n", MAX_BREAKS);
		return;
	}
	if (!*word || strlen(word) >= sizeof(stop->where)) {
		printf("error: break LINE, FILE:LINE or FUNCTION\n");
		return;
	}
	*stop = (struct stop_at){.line = 0};
	if (isdigit((unsigned char)*word) || colon) {
		unsigned long line = strtoul(colon ? colon + 1 : word, &end, 10);

		if (*end || !line || line > UINT32_MAX || (colon && !colon[1])) {
			printf("error: no line's number: %s\n", colon ? colon + 1 : word);
			return;
		}
		stop->line = (uint32_t)line;
		if (colon)
			memcpy(stop->where, word, (size_t)(colon - word));
	} else {
		memcpy(stop->where, word, strlen(word) + 1);
	}
	printf("stop %zu\n", ++debugger->n_breaks);
}

static void do_breaks(const struct debugger *debugger)
{
	for (size_t i = 0; i < debugger->n_breaks; i++) {
		const struct stop_at *stop = &debugger->breaks[i];

		printf("%zu  ", i + 1);
		ts_out_text(stdout, stop->where);
		if (stop->line)
			printf("%s%u", *stop->where ? ":" : "PTX line ", stop->line);
		putchar('\n');
	}
}

static void do_delete(struct debugger *debugger, char *rest)
{
	uint64_t n;

	if (!take_number(&rest, &n) || !n || n > debugger->n_breaks) {
		printf("error: there is no such stop; `breaks` lists them\n");
		return;
	}
	memmove(&debugger->breaks[n - 1], &debugger->breaks[n],
		(debugger->n_breaks - n) * sizeof(debugger->breaks[0]));
	debugger->n_breaks--;
}

static void do_list(const struct debugger *debugger)
{
	struct ts_ptx_place place;

	if (!ts_ptx_debug_place(debugger->warp, debugger->lane, 0, &place)) {
		printf("error: the thread has ended\n");
		return;
	}
	for (uint32_t line = place.line > AROUND ? place.line - AROUND : 1;
	     line <= place.line + AROUND; line++)
		print_line_of(&place, line, line == place.line);
}

static void do_backtrace(const struct debugger *debugger)
{
	struct ts_ptx_place place;
	uint32_t level = 0;

	for (; ts_ptx_debug_place(debugger->warp, debugger->lane, level, &place); level++) {
		printf("#%u  ", level);
		print_place(&place);
		putchar('\n');
	}
	if (!level)
		printf("error: the thread has ended\n");
}

static void do_blocks(const struct debugger *debugger)
{
	struct ts_ptx_block_view block, mine;

	ts_ptx_debug_block_of(debugger->warp, &mine);
	for (size_t i = 0; ts_ptx_debug_block(debugger->warp, i, &block); i++)
		printf("%s %" PRIu64 "  (%u,%u,%u)  %u of %u threads, %u warps, %u bytes shared\n",
		       block.index == mine.index ? "*" : " ", block.index, block.ctaid[0],
		       block.ctaid[1], block.ctaid[2], block.n_live, block.n_threads, block.n_warps,
		       block.shared_bytes);
}

/* Lanes of a warp that are at one place, and what they wait for. */
static void print_lanes(struct ts_ptx_warp *warp, uint32_t n_lanes)
{
	static const char *const states[] = {
		[TS_PTX_LANE_READY] = "ready",
		[TS_PTX_LANE_WARP_SYNC] = "waits for its warp",
		[TS_PTX_LANE_BARRIER] = "waits at a barrier",
		[TS_PTX_LANE_JOINED] = "waits where ways meet",
		[TS_PTX_LANE_EXITED] = "ended",
	};
	uint32_t left = n_lanes < LANES ? (1u << n_lanes) - 1 : UINT32_MAX;

	while (left) {
		uint32_t first = (uint32_t)__builtin_ctz(left), same = 0;
		enum ts_ptx_lane_state state = ts_ptx_debug_lane(warp, first);
		struct ts_ptx_place place = {0}, other = {0};
		bool has = ts_ptx_debug_place(warp, first, 0, &place);

		for (uint32_t i = first; i < LANES; i++)
			if (left >> i & 1 && ts_ptx_debug_lane(warp, i) == state &&
			    ts_ptx_debug_place(warp, i, 0, &other) == has &&
			    (!has || (other.line == place.line && other.text == place.text)))
				same |= 1u << i;
		left &= ~same;
		printf("    lanes 0x%08x %s", same, states[state]);
		if (has) {
			printf(", ");
			print_place(&place);
		}
		putchar('\n');
	}
}

static void do_warps(const struct debugger *debugger)
{
	struct ts_ptx_block_view block;

	ts_ptx_debug_block_of(debugger->warp, &block);
	for (uint32_t i = 0; i < block.n_warps; i++) {
		struct ts_ptx_warp *warp = ts_ptx_debug_warp(debugger->warp, block.index, i);

		if (!warp)
			return;
		printf("%s %u\n", warp == debugger->warp ? "*" : " ", i);
		print_lanes(warp, block.n_threads - i * LANES);
	}
}

static void do_thread(struct debugger *debugger, char *rest)
{
	struct ts_ptx_block_view block;
	struct ts_ptx_warp *warp = NULL;
	uint64_t index, thread;

	if (!take_number(&rest, &index) || !take_number(&rest, &thread)) {
		printf("error: thread BLOCK T\n");
		return;
	}
	if (thread < UINT32_MAX)
		warp = ts_ptx_debug_warp(debugger->warp, index, (uint32_t)(thread / LANES));
	if (warp)
		ts_ptx_debug_block_of(warp, &block);
	if (!warp || thread >= block.n_threads) {
		printf("error: no such thread is resident; `blocks` lists who is\n");
		return;
	}
	debugger->warp = warp;
	debugger->lane = (uint32_t)(thread % LANES);
	print_where(debugger);
}

static void print_value(const struct ts_ptx_register_view *view)
{
	float single;
	double whole;

	if (!strcmp(view->type, "pred")) {
		printf("%s", view->value ? "true" : "false");
		return;
	}
	printf("0x%" PRIx64, view->value);
	if (!strcmp(view->type, "f32")) {
		memcpy(&single, &view->value, sizeof(single));
		printf("  %.9g", (double)single);
	} else if (!strcmp(view->type, "f64")) {
		memcpy(&whole, &view->value, sizeof(whole));
		printf("  %.17g", whole);
	} else {
		printf("  %" PRIu64, view->value);
	}
}

static void do_registers(const struct debugger *debugger, char *rest)
{
	bool all = !strcmp(take_word(&rest), "all");
	struct ts_ptx_register_view view;

	for (size_t i = 0; ts_ptx_debug_register(debugger->warp, debugger->lane, 0, i, &view);
	     i++) {
		if (!view.is_live && !all)
			continue;
		printf("%-12s %-4s ", view.name, view.type);
		print_value(&view);
		printf("%s\n", view.is_live ? "" : "  (not needed any more, or not yet there)");
	}
}

static void do_print(const struct debugger *debugger, char *rest)
{
	const char *name = take_word(&rest);
	struct ts_ptx_register_view view;
	size_t i = 0;

	while (ts_ptx_debug_register(debugger->warp, debugger->lane, 0, i, &view) &&
	       strcmp(view.name, name))
		i++;
	if (!ts_ptx_debug_register(debugger->warp, debugger->lane, 0, i, &view)) {
		printf("error: no register of that name here; `registers all` lists them\n");
		return;
	}
	for (uint32_t lane = 0; lane < LANES; lane++) {
		struct ts_ptx_place here, there;
		uint32_t tid[3];

		/* Lanes elsewhere have other registers. */
		if (!ts_ptx_debug_place(debugger->warp, lane, 0, &there) ||
		    !ts_ptx_debug_place(debugger->warp, debugger->lane, 0, &here) ||
		    strcmp(here.function, there.function) ||
		    !ts_ptx_debug_register(debugger->warp, lane, 0, i, &view))
			continue;
		ts_ptx_debug_thread(debugger->warp, lane, tid);
		printf("%s (%u,%u,%u)  ", lane == debugger->lane ? "*" : " ", tid[0], tid[1],
		       tid[2]);
		print_value(&view);
		putchar('\n');
	}
}

static void print_bytes(uint64_t at, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i += 16) {
		printf("0x%" PRIx64 " ", at + i);
		for (size_t k = i; k < n && k < i + 16; k++)
			printf("%s%02x", k % 4 ? "" : " ", bytes[k]);
		putchar('\n');
	}
}

static void do_memory(const struct debugger *debugger, char *rest, bool is_shared)
{
	uint8_t bytes[MAX_SHOWN_BYTES];
	uint64_t at, n = 64;
	size_t got;

	if (!take_number(&rest, &at) || (*rest && !take_number(&rest, &n)) || !n ||
	    n > sizeof(bytes)) {
		printf("error: %s, and how many bytes, at most %u\n",
		       is_shared ? "shared OFFSET" : "memory ADDRESS", MAX_SHOWN_BYTES);
		return;
	}
	got = is_shared ? ts_ptx_debug_shared(debugger->warp, at, bytes, n)
			: ts_ptx_debug_memory(debugger->warp, debugger->lane, at, bytes, n);
	if (!got)
		printf("error: there is no such memory\n");
	print_bytes(at, bytes, got);
}

/* False: the kernel runs on. */
static bool do_command(struct debugger *debugger, char *line)
{
	char *rest = line, *word = take_word(&rest);

	if (!strcmp(word, "continue") || !strcmp(word, "c") || !strcmp(word, "skip")) {
		debugger->n_steps = 0;
		if (*word == 's')
			debugger->counts = false;
		return false;
	}
	if (!strcmp(word, "step") || !strcmp(word, "s")) {
		struct ts_ptx_block_view block;

		debugger->n_steps = 1;
		if (*rest && (!take_number(&rest, &debugger->n_steps) || !debugger->n_steps)) {
			debugger->n_steps = 0;
			printf("error: step N\n");
			return true;
		}
		ts_ptx_debug_block_of(debugger->warp, &block);
		debugger->step_block = block.index;
		debugger->step_warp = ts_ptx_debug_warp_index(debugger->warp);
		return false;
	}
	if (!strcmp(word, "quit") || !strcmp(word, "q")) {
		debugger->is_left = true;
		return false;
	}
	if (!strcmp(word, "help"))
		do_help();
	else if (!strcmp(word, "break") || !strcmp(word, "b"))
		do_break(debugger, rest);
	else if (!strcmp(word, "breaks"))
		do_breaks(debugger);
	else if (!strcmp(word, "delete"))
		do_delete(debugger, rest);
	else if (!strcmp(word, "where"))
		print_where(debugger);
	else if (!strcmp(word, "list"))
		do_list(debugger);
	else if (!strcmp(word, "backtrace") || !strcmp(word, "bt"))
		do_backtrace(debugger);
	else if (!strcmp(word, "blocks"))
		do_blocks(debugger);
	else if (!strcmp(word, "warps"))
		do_warps(debugger);
	else if (!strcmp(word, "thread"))
		do_thread(debugger, rest);
	else if (!strcmp(word, "registers"))
		do_registers(debugger, rest);
	else if (!strcmp(word, "print") || !strcmp(word, "p"))
		do_print(debugger, rest);
	else if (!strcmp(word, "shared") || !strcmp(word, "memory"))
		do_memory(debugger, rest, *word == 's');
	else if (*word) {
		printf("error: no such command: ");
		ts_out_text(stdout, word);
		printf("; `help` lists them\n");
	}
	return true;
}

/* Reads commands until one lets the kernel run. The end of stdin is `quit`. */
static void prompt(struct debugger *debugger)
{
	char line[MAX_LINE];
	bool more = true;

	while (more && !debugger->is_left) {
		size_t n;

		if (debugger->is_interactive)
			fputs("(tsctl) ", stdout);
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin) || *debugger->cancel) {
			debugger->is_left = true;
			return;
		}
		n = strlen(line);
		if (n == sizeof(line) - 1 && line[n - 1] != '\n') {
			int c;

			while ((c = getchar()) != '\n' && c != EOF)
				;
			printf("error: a line of more than %u characters\n", MAX_LINE - 2);
			continue;
		}
		line[strcspn(line, "\r\n")] = '\0';
		more = do_command(debugger, line);
	}
}

/* ---- what the engine asks ---- */

static bool ends_with(const char *path, const char *name)
{
	size_t n_path = strlen(path), n_name = strlen(name);

	return n_name <= n_path && !strcmp(path + n_path - n_name, name) &&
	       (n_path == n_name || path[n_path - n_name - 1] == '/');
}

static bool is_at(const struct stop_at *stop, const struct ts_ptx_place *place,
		  const struct ts_ptx_place *before)
{
	if (!stop->line)
		return !strcmp(place->function, stop->where) &&
		       (!before || strcmp(before->function, place->function) != 0);
	if (!*stop->where)
		return place->line == stop->line;
	return place->source_file && place->source_line == stop->line &&
	       ends_with(place->source_file, stop->where) &&
	       (!before || before->source_line != place->source_line ||
		before->function != place->function);
}

static bool is_stop(struct debugger *debugger, struct ts_ptx_warp *warp,
		    const struct ts_ptx_place *place)
{
	const struct ts_ptx_place *before = debugger->last_warp == warp ? &debugger->last : NULL;
	struct ts_ptx_block_view block;

	for (size_t i = 0; i < debugger->n_breaks; i++)
		if (is_at(&debugger->breaks[i], place, before)) {
			printf("stop %zu: ", i + 1);
			return true;
		}
	if (!debugger->n_steps || ts_ptx_debug_warp_index(warp) != debugger->step_warp)
		return false;
	ts_ptx_debug_block_of(warp, &block);
	return block.index == debugger->step_block && !--debugger->n_steps;
}

static int on_step(void *userdata, struct ts_ptx_warp *warp)
{
	struct debugger *debugger = userdata;
	struct ts_ptx_place place;
	uint32_t lane;
	bool stops;

	if (debugger->is_left || *debugger->cancel)
		return 1;
	if (!debugger->counts || !ts_ptx_debug_active(warp))
		return 0;
	lane = (uint32_t)__builtin_ctz(ts_ptx_debug_active(warp));
	if (!ts_ptx_debug_place(warp, lane, 0, &place))
		return 0;
	stops = debugger->at_begin || is_stop(debugger, warp, &place);
	debugger->last = place;
	debugger->last_warp = warp;
	if (!stops)
		return 0;
	debugger->at_begin = false;
	debugger->n_steps = 0;
	debugger->warp = warp;
	debugger->lane = lane;
	print_where(debugger);
	prompt(debugger);
	return debugger->is_left;
}

static void on_begin(void *userdata, const struct ts_ptx_launch *launch)
{
	struct debugger *debugger = userdata;

	if (!debugger->counts)
		return;
	debugger->at_begin = true;
	debugger->last_warp = NULL;
	printf("operation %" PRIu64 ", call %" PRIu64 ": kernel ", debugger->operation->sequence,
	       debugger->operation->op_id);
	ts_out_text(stdout, ts_ptx_kernel_info(launch->kernel)->name);
	printf(", grid (%u,%u,%u), block (%u,%u,%u)\n", launch->grid[0], launch->grid[1],
	       launch->grid[2], launch->block[0], launch->block[1], launch->block[2]);
}

static void on_end(void *userdata, const struct ts_ptx_fault *fault)
{
	struct debugger *debugger = userdata;

	if (!debugger->operation || debugger->is_left)
		return;
	if (fault) {
		printf("the kernel faulted: ");
		ts_out_text(stdout, fault->message);
		putchar('\n');
	} else if (debugger->counts) {
		printf("the kernel has ended\n");
	}
}

static void on_next(void *userdata, const struct ts_row_operation *operation, bool counts)
{
	struct debugger *debugger = userdata;

	debugger->operation = operation;
	debugger->counts = counts;
}

int ts_replaydebug_run(struct replay *replay, const volatile int *cancel, int *ret_r)
{
	struct debugger debugger = {
		.replay = replay,
		.cancel = cancel,
		.is_interactive = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO),
	};
	const struct ts_ptx_debugger callbacks = {
		.userdata = &debugger,
		.begin = on_begin,
		.step = on_step,
		.end = on_end,
	};
	const struct ts_exec_options options = {
		.n_threads = 1,
		.time_ns = replay->asked->time_ns,
		.debugger = &callbacks,
		.next = on_next,
		.next_userdata = &debugger,
	};

	*ret_r = ts_exec_run(replay->program, replay->executor, &options, NULL, cancel,
			     &replay->results, &replay->first);
	if (debugger.is_left) {
		*ret_r = 0;
		return ts_finish_output(TS_EXIT_OK);
	}
	if (*ret_r)
		return TS_EXIT_BAD;
	if (replay->first.refused) {
		printf("operation %" PRIu64 " could not be done: ", replay->first.refused);
		ts_out_text(stdout, replay->first.text);
		putchar('\n');
		return ts_finish_output(TS_EXIT_DIFFERS);
	}
	printf("the replay has ended\n");
	return ts_finish_output(TS_EXIT_OK);
}
