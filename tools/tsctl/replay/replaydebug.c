/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of the kernel debugger. cmd-replay.c calls this file; debugstop.c implements
 * breakpoints. The engine of the virtual GPU calls a hook before every instruction
 * (replay/vgpu/ptx/debug.h). The hook returns at once if no stop is possible there. Commands are
 * lines of stdin, so a file can supply them; their output is reproducible.
 */
#include "tools/tsctl/replay/replaydebug.h"

#include "replay/report/replay/replay.h"
#include "tools/tsctl/replay/debugstop.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/trace/source.h"
#include "tools/tsctl/tsctl.h"

#include "replay/report/names/names.h"

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
/* At least the number of warps that are resident at a time: more than a device can hold. */
#define N_ASKED 16384u

/*
 * The place of a warp at its previous instruction. A line or function stops only when the warp
 * enters it.
 */
struct asked {
	uint64_t kernel; /* number of the kernel in the debugger */
	uint64_t warp;	 /* index in the grid */
	struct ts_ptx_place place;
};

struct debugger {
	const volatile int *cancel;
	struct ts_demangler *demangler; /* NULL: names stay mangled */
	const struct ts_row_operation *operation;
	bool counts, is_left, is_interactive;
	bool at_begin; /* stop at the kernel's first instruction */
	uint64_t n_steps;
	uint64_t step_block;
	uint32_t step_warp;
	/* Stop when the thread's call depth is less than this. 0: off. */
	uint32_t finish_level;
	uint32_t finish_lane;
	struct ts_debugstop breaks[MAX_BREAKS];
	size_t n_breaks;
	/* The inspected thread. */
	struct ts_ptx_warp *warp;
	uint32_t lane;
	uint64_t n_kernels;
	struct asked *asked; /* N_ASKED entries, by warp number */
};

/* ---- words ---- */

static bool take_number(char **rest, uint64_t *ret)
{
	const char *word = ts_debugstop_word(rest);
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

static void print_place(const struct debugger *debugger, const struct ts_ptx_place *place)
{
	ts_replayside_print_kernel(ts_demangle(debugger->demangler, place->function));
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
	print_place(debugger, &place);
	putchar('\n');
	print_line_of(&place, place.line, true);
}

/* ---- commands ---- */

static void do_help(void)
{
	fputs("break LINE | FILE:LINE | FUNCTION   stop at a line of the PTX or of the source, "
	      "or at a\n"
	      "                                    function, by its C++ or PTX name\n"
	      "  ... if %REGISTER == VALUE         only for threads with this value: == != < <= > >=,\n"
	      "      [and ...]                     of a register or of %tid.x to %ctaid.z\n"
	      "break later ...                     the same in a later module, by the PTX name\n"
	      "breaks; delete N                    list the stops; delete stop N\n"
	      "continue; step [N]                  run to the next stop; run N instructions of "
	      "this warp\n"
	      "finish                              run until this thread's function has returned\n"
	      "skip                                run to the next kernel\n"
	      "where; list; backtrace              print the thread; the PTX around it; its calls\n"
	      "blocks; warps                       list resident blocks; list the warps of this block\n"
	      "thread BLOCK T                      select thread T (its number in the block) of\n"
	      "                                    block BLOCK (its number in the grid)\n"
	      "registers [all]; print %REGISTER    print those of the thread; one, of all lanes "
	      "of its warp\n"
	      "shared OFFSET [N]; memory ADDRESS [N]   print N bytes of the block's shared memory; of\n"
	      "                                    memory at a generic address, as the thread sees it\n"
	      "look %REGISTER; look [shared] ADDRESS [N]   print a register; print memory\n"
	      "look [%REGISTER] [N]                print memory at the address in the register\n"
	      "set %REGISTER VALUE                 set a register of the thread\n"
	      "write ADDRESS VALUE [BYTES]         write 1, 2, 4 (default) or 8 bytes of memory\n"
	      "write shared OFFSET VALUE [BYTES]   write shared memory of the block\n"
	      "help; quit\n",
	      stdout);
}

static void do_break(struct debugger *debugger, char *rest)
{
	if (debugger->n_breaks == MAX_BREAKS) {
		printf("error: there are %u stops already, the maximum\n", MAX_BREAKS);
		return;
	}
	if (ts_debugstop_parse(&debugger->breaks[debugger->n_breaks], rest, debugger->warp,
			       debugger->demangler))
		printf("stop %zu\n", ++debugger->n_breaks);
}

static void do_breaks(const struct debugger *debugger)
{
	for (size_t i = 0; i < debugger->n_breaks; i++) {
		printf("%zu  ", i + 1);
		ts_debugstop_print(&debugger->breaks[i]);
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
		print_place(debugger, &place);
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

/* Prints the lanes of a warp by place, with the reason of each wait. */
static void print_lanes(const struct debugger *debugger, struct ts_ptx_warp *warp, uint32_t n_lanes)
{
	static const char *const states[] = {
		[TS_PTX_LANE_READY] = "ready",
		[TS_PTX_LANE_WARP_SYNC] = "waits for its warp",
		[TS_PTX_LANE_BARRIER] = "waits at a barrier",
		[TS_PTX_LANE_JOINED] = "waits for reconvergence",
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
			print_place(debugger, &place);
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
		print_lanes(debugger, warp, block.n_threads - i * LANES);
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
		printf("error: no such thread is resident; `blocks` lists the resident blocks\n");
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
	bool all = !strcmp(ts_debugstop_word(&rest), "all");
	struct ts_ptx_register_view view;

	for (size_t i = 0; ts_ptx_debug_register(debugger->warp, debugger->lane, 0, i, &view);
	     i++) {
		if (!view.is_live && !all)
			continue;
		printf("%-12s %-4s ", view.name, view.type);
		print_value(&view);
		printf("%s\n",
		       view.is_live ? "" : "  (not live: not set yet, or no longer needed)");
	}
}

static bool find_register(const struct debugger *debugger, const char *name,
			  struct ts_ptx_register_view *ret_view, size_t *ret_i)
{
	if (ts_debugstop_register(debugger->warp, debugger->lane, name, ret_view, ret_i))
		return true;
	printf("error: no register of that name here; `registers all` lists them\n");
	return false;
}

static void do_print(const struct debugger *debugger, char *rest)
{
	const char *name = ts_debugstop_word(&rest);
	struct ts_ptx_register_view view;
	size_t i;

	if (!find_register(debugger, name, &view, &i))
		return;
	for (uint32_t lane = 0; lane < LANES; lane++) {
		struct ts_ptx_place here, there;
		uint32_t tid[3];

		/* Lanes in another function have other registers. */
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
		printf("error: %s [N]; N is a number of bytes, at most %u\n",
		       is_shared ? "shared OFFSET" : "memory ADDRESS", MAX_SHOWN_BYTES);
		return;
	}
	got = is_shared ? ts_ptx_debug_shared(debugger->warp, at, bytes, n)
			: ts_ptx_debug_memory(debugger->warp, debugger->lane, at, bytes, n);
	if (!got)
		printf("error: there is no such memory\n");
	print_bytes(at, bytes, got);
}

static void print_memory_at(const struct debugger *debugger, const char *name, char *rest)
{
	struct ts_ptx_register_view view;
	char line[MAX_LINE];

	if (!find_register(debugger, name, &view, NULL))
		return;
	snprintf(line, sizeof(line), "0x%" PRIx64 " %s", view.value, rest);
	do_memory(debugger, line, false);
}

/* Prints a value or memory, by the form of its name: "%rd1", "[%rd1]", "0x7f00", "shared 16". */
static void do_look(const struct debugger *debugger, char *rest)
{
	size_t n = strcspn(rest, " \t");

	if (*rest == '%') {
		do_print(debugger, rest);
	} else if (*rest == '[' && n > 2 && rest[n - 1] == ']') {
		char *name = ts_debugstop_word(&rest);

		name[n - 1] = '\0';
		print_memory_at(debugger, name + 1, rest);
	} else if (!strncmp(rest, "shared ", 7)) {
		(void)ts_debugstop_word(&rest);
		do_memory(debugger, rest, true);
	} else if (isdigit((unsigned char)*rest)) {
		do_memory(debugger, rest, false);
	} else {
		printf("error: look %%REGISTER, [%%REGISTER] [N], ADDRESS [N] or shared OFFSET "
		       "[N]; N is a number of bytes\n");
	}
}

static void do_set(const struct debugger *debugger, char *rest)
{
	const char *name = ts_debugstop_word(&rest), *word = ts_debugstop_word(&rest);
	struct ts_ptx_register_view view;
	uint64_t value;
	size_t i;

	if (!find_register(debugger, name, &view, &i))
		return;
	if (!ts_debugstop_value(word, view.type, &value) || *rest) {
		printf("error: set %%REGISTER VALUE, of a register of type %s\n", view.type);
		return;
	}
	(void)ts_ptx_debug_set_register(debugger->warp, debugger->lane, 0, i, value);
	(void)ts_ptx_debug_register(debugger->warp, debugger->lane, 0, i, &view);
	printf("%-12s %-4s ", view.name, view.type);
	print_value(&view);
	printf("%s\n", view.is_live ? "" : "  (not live: not set yet, or no longer needed)");
}

static void do_write(const struct debugger *debugger, char *rest)
{
	bool is_shared = !strncmp(rest, "shared ", 7);
	uint64_t at, value, n = 4;
	char type[8];
	int r;

	if (is_shared)
		(void)ts_debugstop_word(&rest);
	if (take_number(&rest, &at) && *rest) {
		const char *word = ts_debugstop_word(&rest);

		if (*rest && (!take_number(&rest, &n) || (n != 1 && n != 2 && n != 4 && n != 8)))
			n = 0;
		/* A number with a point is a float. */
		snprintf(type, sizeof(type), "%c%u", strchr(word, '.') && n >= 4 ? 'f' : 'b',
			 (unsigned int)(8 * n));
		if (n && !*rest && ts_debugstop_value(word, type, &value)) {
			r = is_shared ? ts_ptx_debug_write_shared(debugger->warp, at, &value, n)
				      : ts_ptx_debug_write(debugger->warp, debugger->lane, at,
							   &value, n);
			if (r)
				printf("error: %s\n", r == -EROFS ? "that memory cannot be written"
								  : "there is no such memory");
			return;
		}
	}
	printf("error: write [shared] ADDRESS VALUE [1|2|4|8]\n");
}

static uint32_t level_of(const struct ts_ptx_warp *warp, uint32_t lane)
{
	struct ts_ptx_place place;
	uint32_t level = 0;

	while (ts_ptx_debug_place(warp, lane, level, &place))
		level++;
	return level;
}

static void watch_warp(struct debugger *debugger)
{
	struct ts_ptx_block_view block;

	ts_ptx_debug_block_of(debugger->warp, &block);
	debugger->step_block = block.index;
	debugger->step_warp = ts_ptx_debug_warp_index(debugger->warp);
}

/* Returns false if the kernel runs on. */
static bool do_finish(struct debugger *debugger)
{
	uint32_t level = level_of(debugger->warp, debugger->lane);

	if (level < 2) {
		printf("error: %s\n",
		       level ? "this is the kernel: it has no caller" : "the thread has ended");
		return true;
	}
	watch_warp(debugger);
	debugger->n_steps = 0;
	debugger->finish_level = level;
	debugger->finish_lane = debugger->lane;
	return false;
}

/* Returns false if the kernel runs on. */
static bool do_command(struct debugger *debugger, char *line)
{
	char *rest = line, *word = ts_debugstop_word(&rest);

	if (!strcmp(word, "continue") || !strcmp(word, "c") || !strcmp(word, "skip")) {
		debugger->n_steps = 0;
		if (*word == 's')
			debugger->counts = false;
		return false;
	}
	if (!strcmp(word, "step") || !strcmp(word, "s")) {
		debugger->n_steps = 1;
		if (*rest && (!take_number(&rest, &debugger->n_steps) || !debugger->n_steps)) {
			debugger->n_steps = 0;
			printf("error: step N\n");
			return true;
		}
		watch_warp(debugger);
		return false;
	}
	if (!strcmp(word, "finish"))
		return do_finish(debugger);
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
	else if (!strcmp(word, "look"))
		do_look(debugger, rest);
	else if (!strcmp(word, "set"))
		do_set(debugger, rest);
	else if (!strcmp(word, "write"))
		do_write(debugger, rest);
	else if (!strcmp(word, "shared") || !strcmp(word, "memory"))
		do_memory(debugger, rest, *word == 's');
	else if (*word) {
		printf("error: no such command: ");
		ts_out_text(stdout, word);
		printf("; `help` lists them\n");
	}
	return true;
}

/* Reads commands until one resumes the kernel. The end of stdin means `quit`. */
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

/* True if the watched thread has left its function. */
static bool has_finished(const struct debugger *debugger, const struct ts_ptx_warp *warp)
{
	return debugger->finish_level && (ts_ptx_debug_active(warp) >> debugger->finish_lane & 1) &&
	       level_of(warp, debugger->finish_lane) < debugger->finish_level;
}

static bool is_stop(struct debugger *debugger, struct ts_ptx_warp *warp,
		    const struct ts_ptx_place *place, const struct ts_ptx_place *before,
		    uint32_t *ret_lane)
{
	struct ts_ptx_block_view block;

	for (size_t i = 0; i < debugger->n_breaks; i++) {
		const char *missing;
		int lane = ts_debugstop_is_at(&debugger->breaks[i], place, before)
				   ? ts_debugstop_lane(&debugger->breaks[i], warp, &missing)
				   : -1;

		if (lane < 0)
			continue;
		*ret_lane = (uint32_t)lane;
		printf("stop %zu", i + 1);
		if (missing) {
			printf(" (there is no ");
			ts_out_text(stdout, missing);
			printf(" here)");
		}
		printf(": ");
		return true;
	}
	if (ts_ptx_debug_warp_index(warp) != debugger->step_warp)
		return false;
	ts_ptx_debug_block_of(warp, &block);
	if (block.index != debugger->step_block)
		return false;
	if (has_finished(debugger, warp)) {
		*ret_lane = debugger->finish_lane;
		return true;
	}
	return debugger->n_steps && !--debugger->n_steps;
}

/* Returns the entry of the warp. *ret_was_asked: it is valid for this kernel. */
static struct asked *asked_of(const struct debugger *debugger, const struct ts_ptx_warp *warp,
			      bool *ret_was_asked)
{
	struct ts_ptx_block_view block;
	struct asked *asked;
	uint64_t number;

	ts_ptx_debug_block_of(warp, &block);
	number = block.index * block.n_warps + ts_ptx_debug_warp_index(warp);
	asked = &debugger->asked[number % N_ASKED];
	*ret_was_asked = asked->kernel == debugger->n_kernels && asked->warp == number;
	asked->kernel = debugger->n_kernels;
	asked->warp = number;
	return asked;
}

static int on_step(void *userdata, struct ts_ptx_warp *warp)
{
	struct debugger *debugger = userdata;
	struct ts_ptx_place place;
	struct asked *asked;
	uint32_t lane;
	bool stops, was_asked;

	if (debugger->is_left || *debugger->cancel)
		return 1;
	if (!debugger->counts || !ts_ptx_debug_active(warp))
		return 0;
	lane = (uint32_t)__builtin_ctz(ts_ptx_debug_active(warp));
	if (!ts_ptx_debug_place(warp, lane, 0, &place))
		return 0;
	asked = asked_of(debugger, warp, &was_asked);
	stops = debugger->at_begin ||
		is_stop(debugger, warp, &place, was_asked ? &asked->place : NULL, &lane);
	asked->place = place;
	if (!stops)
		return 0;
	debugger->at_begin = false;
	debugger->n_steps = 0;
	debugger->finish_level = 0;
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
	debugger->n_kernels++;
	debugger->finish_level = 0;
	printf("operation %" PRIu64 ": kernel ", debugger->operation->op_id);
	ts_out_text(stdout,
		    ts_demangle(debugger->demangler, ts_ptx_kernel_info(launch->kernel)->name));
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

static int debug_program(const struct ts_replay_asked *asked, const struct ts_executor *executor,
			 const struct ts_exec_program *program, struct ts_exec_report *report,
			 int *ret_status)
{
	ts_cleanup(ts_freep) struct asked *places = calloc(N_ASKED, sizeof(*places));
	ts_cleanup(ts_demangler_freep) struct ts_demangler *demangler = NULL;
	struct debugger debugger = {
		.cancel = asked->asking.cancel,
		.asked = places,
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
		.time_ns = asked->query.time_limit_ns,
		.debugger = &callbacks,
		.next = on_next,
		.next_userdata = &debugger,
	};
	struct ts_exec_results results = {0};
	int r;

	if (!places)
		return -ENOMEM;
	(void)ts_demangler_new(&demangler);
	debugger.demangler = demangler;
	r = ts_exec_run(program, executor, &options, NULL, asked->asking.cancel, &results, report);
	ts_exec_results_deinit(&results);
	if (debugger.is_left) {
		*ret_status = ts_finish_output(TS_EXIT_OK);
		return 0;
	}
	if (r)
		return r;
	if (report->refused) {
		printf("operation %" PRIu64 " could not be done: ", report->refused_op_id);
		ts_out_text(stdout, report->text);
		putchar('\n');
		*ret_status = ts_finish_output(TS_EXIT_DIFFERS);
		return 0;
	}
	printf("the replay has ended\n");
	*ret_status = ts_finish_output(TS_EXIT_OK);
	return 0;
}

/* Debugs one session. Returns TS_EXIT_*, or -1 if the session has no capture. */
static int debug_session(const struct ts_replay_asked *asked, struct ts_source *source,
			 uint32_t session)
{
	struct ts_exec_program *program = NULL;
	struct ts_pool pool = TS_TSCTL_POOL;
	struct ts_exec_report report = {0};
	int status = TS_EXIT_BAD;
	int r = ts_exec_program_new(source->reader, session, &program);
	const char *why;

	if (r == TS_EXEC_E_NOT_CAPTURED)
		return -1;
	r = r ?: ts_replay_select(&asked->query, program);
	r = r
		    ?: debug_program(asked, ts_replay_executor(asked->query.executor), program,
				     &report, &status);
	why = ts_replay_why(&pool, source->path, session, r, report.text);
	if (why)
		ts_complain("%s", why);
	else if (r)
		ts_source_complain(source->path, r, ts_sbt_reader_error(source->reader));
	ts_exec_program_free(program);
	ts_pool_deinit(&pool);
	return status;
}

int ts_replaydebug_run(const struct ts_replay_asked *asked)
{
	ts_cleanup(ts_source_deinit) struct ts_source source = {0};
	int status = -1;

	if (ts_source_open(&source, asked->asking.session ? NULL : asked->asking.file,
			   asked->asking.session))
		return TS_EXIT_BAD;
	for (size_t i = 0; i < ts_sbt_reader_n_sessions(source.reader) && status != TS_EXIT_BAD;
	     i++) {
		uint32_t session = ts_sbt_reader_session_at(source.reader, i)->session;
		int one;

		if (source.session && session != source.session)
			continue;
		one = debug_session(asked, &source, session);
		if (one == TS_EXIT_BAD || one > status)
			status = one;
	}
	if (status >= 0)
		return status;
	ts_complain("%s: no capture for replay; record with `tsctl record --capture replay` and "
		    "replay the whole trace (`tsctl cut`, `dump` and `merge` omit captures)",
		    source.path);
	return TS_EXIT_BAD;
}
