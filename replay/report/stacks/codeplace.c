/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the frame that represents a stack in tables. launchsite.c, codes.c, rowname.c and
 * sidejson.c call this file; this file calls the resolver and frames.c. This file reads the stack
 * from the file and builds no message, so thousands of samples can be named.
 */
#include "replay/report/stacks/codeplace.h"

#include "replay/report/stacks/frames.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *ts_codeplace_base(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/* True for files of the interpreter or of an installed package. */
static bool is_installed(const char *file)
{
	return strstr(file, "/site-packages/") || strstr(file, "/dist-packages/") ||
	       strstr(file, "/lib/python3") || !strncmp(file, "<frozen ", 8);
}

static void python_place(struct ts_resolver *resolver, uint64_t frame,
			 struct ts_codeplace *ret_place)
{
	const char *function = ts_resolver_string(resolver, TS_FRAME_STRING(frame));
	const char *file = function ? strchr(function, '\n') : NULL;

	*ret_place =
		(struct ts_codeplace){.function = "unknown Python function",
				      .function_bytes = (int)strlen("unknown Python function")};
	if (!file)
		return;
	ret_place->function = function;
	ret_place->function_bytes = (int)(file - function);
	ret_place->file = file + 1;
	ret_place->line = TS_FRAME_LINE(frame);
}

/*
 * Chooses the innermost Python frame of the program's own files; if there is none, the innermost
 * Python frame. Returns false if the stack has no Python frame.
 */
static bool find_python(struct ts_resolver *resolver, const struct ts_sbt_stack *stack,
			struct ts_codeplace *ret_place)
{
	bool found = false;

	for (uint32_t i = 0; i < stack->n_frames; i++) {
		struct ts_codeplace place;

		if (TS_FRAME_KIND(stack->frames[i]) != TS_FRAME_PYTHON)
			continue;
		python_place(resolver, stack->frames[i], &place);
		if (!found || (place.file && !is_installed(place.file)))
			*ret_place = place;
		found = true;
		if (place.file && !is_installed(place.file))
			break;
	}
	return found;
}

/*
 * Chooses the innermost inlined function that has a name. Returns the name of the outermost
 * function at the address, for the checks of frames.h.
 */
static const char *native_place(struct ts_resolver *resolver, uint32_t session, uint64_t time_ns,
				uint64_t address, uint32_t i, struct ts_codeplace *ret_place)
{
	const struct ts_row_symbol *symbols;
	size_t n;

	*ret_place = (struct ts_codeplace){.offset = address};
	symbols = ts_resolver_symbols(resolver, session, time_ns, address, i, &n);
	if (!ts_resolver_module(resolver, session, time_ns, address, &ret_place->module,
				&ret_place->offset)) {
		ret_place->module = NULL;
		ret_place->offset = address;
	}
	for (size_t s = 0; s < n && !ret_place->function; s++) {
		ret_place->function = ts_resolver_string(resolver, symbols[s].function);
		if (!ret_place->function)
			continue;
		ret_place->function_bytes = (int)strlen(ret_place->function);
		ret_place->file = ts_resolver_string(resolver, symbols[s].file);
		ret_place->line = symbols[s].line;
	}
	return n ? ts_resolver_string(resolver, symbols[n - 1].function) : NULL;
}

static void find_native(struct ts_resolver *resolver, uint32_t session, uint64_t time_ns,
			const struct ts_sbt_stack *stack, const char *kernel,
			struct ts_codeplace *ret_place)
{
	enum {
		INNERMOST,
		SHOWN,
		OWN
	} best = INNERMOST;

	for (uint32_t i = 0; i < stack->n_frames && best < OWN; i++) {
		struct ts_codeplace place;
		const char *function = native_place(resolver, session, time_ns,
						    TS_FRAME_VALUE(stack->frames[i]), i, &place);
		bool is_hidden = ts_frame_is_hidden(place.module, function, false) ||
				 ts_frame_is_stub(function, kernel);
		bool is_own = !is_hidden && (place.module || function) &&
			      !ts_frame_is_runtime(place.module);

		if (!i || is_own || (!is_hidden && best < SHOWN))
			*ret_place = place;
		best = is_own ? OWN : !is_hidden ? SHOWN : best;
	}
}

bool ts_codeplace_of(struct ts_resolver *resolver, uint32_t session, uint32_t id, uint64_t time_ns,
		     const char *kernel, struct ts_codeplace *ret_place)
{
	struct ts_sbt_stack stack;

	if (!id || ts_sbt_reader_stack(ts_resolver_reader(resolver), session, id, &stack) ||
	    !stack.n_frames)
		return false;
	if (!find_python(resolver, &stack, ret_place))
		find_native(resolver, session, time_ns, &stack, kernel, ret_place);
	return true;
}

struct chain {
	const char *kernel;
	struct ts_codeplace first; /* chosen by ts_codeplace_of() */
	struct ts_codeplace *places;
	size_t n, max;
	bool is_reached; /* `first` was reached */
};

/* True for the kernel's stub and for templates of a vendor's header. */
static bool is_passed_over(const struct chain *chain, const char *function)
{
	return function && (ts_frame_is_stub(function, chain->kernel) ||
			    ts_frame_is_hidden(NULL, function, false));
}

static void add_place(struct chain *chain, const struct ts_codeplace *place, bool is_python)
{
	const struct ts_codeplace *first = &chain->first;

	chain->is_reached =
		chain->is_reached || (place->function == first->function &&
				      place->line == first->line && place->offset == first->offset);
	if (chain->is_reached && chain->n < chain->max &&
	    (is_python || !is_passed_over(chain, place->function)))
		chain->places[chain->n++] = *place;
}

/*
 * Adds the functions inlined at this address, innermost first: each function is called by the next
 * one.
 */
static void add_native(struct chain *chain, struct ts_resolver *resolver, uint32_t session,
		       uint64_t time_ns, uint64_t address, uint32_t i)
{
	const struct ts_row_symbol *symbols;
	struct ts_codeplace place;
	size_t n, n_named = 0;
	const char *function = native_place(resolver, session, time_ns, address, i, &place);

	if (ts_frame_is_hidden(place.module, function, false))
		return;
	symbols = ts_resolver_symbols(resolver, session, time_ns, address, i, &n);
	for (size_t s = 0; s < n; s++) {
		place.function = ts_resolver_string(resolver, symbols[s].function);
		if (!place.function)
			continue;
		place.function_bytes = (int)strlen(place.function);
		place.file = ts_resolver_string(resolver, symbols[s].file);
		place.line = symbols[s].line;
		add_place(chain, &place, false);
		n_named++;
	}
	if (!n_named)
		add_place(chain, &place, false);
}

size_t ts_codeplace_chain(struct ts_resolver *resolver, uint32_t session, uint32_t id,
			  uint64_t time_ns, const char *kernel, struct ts_codeplace *ret_places,
			  size_t max)
{
	struct chain chain = {.kernel = kernel, .places = ret_places, .max = max};
	struct ts_codeplace place;
	struct ts_sbt_stack stack;
	bool is_python = false;

	if (!max || !ts_codeplace_of(resolver, session, id, time_ns, kernel, &chain.first) ||
	    ts_sbt_reader_stack(ts_resolver_reader(resolver), session, id, &stack))
		return 0;
	for (uint32_t i = 0; i < stack.n_frames; i++)
		is_python = is_python || TS_FRAME_KIND(stack.frames[i]) == TS_FRAME_PYTHON;
	for (uint32_t i = 0; i < stack.n_frames; i++) {
		if (TS_FRAME_KIND(stack.frames[i]) == TS_FRAME_PYTHON) {
			python_place(resolver, stack.frames[i], &place);
			add_place(&chain, &place, true);
		} else if (!is_python) {
			add_native(&chain, resolver, session, time_ns,
				   TS_FRAME_VALUE(stack.frames[i]), i);
		}
	}
	if (!chain.n)
		chain.places[chain.n++] = chain.first;
	return chain.n;
}

void ts_codeplace_text(const struct ts_codeplace *place, char ret_text[TS_CODEPLACE_BYTES])
{
	if (place->function && place->file)
		snprintf(ret_text, TS_CODEPLACE_BYTES, "%.*s (%s:%" PRIu32 ")",
			 place->function_bytes, place->function, ts_codeplace_base(place->file),
			 place->line);
	else if (place->function)
		snprintf(ret_text, TS_CODEPLACE_BYTES, "%.*s", place->function_bytes,
			 place->function);
	else if (place->module)
		snprintf(ret_text, TS_CODEPLACE_BYTES, "%s+0x%" PRIx64,
			 ts_codeplace_base(place->module), place->offset);
	else
		snprintf(ret_text, TS_CODEPLACE_BYTES, "0x%" PRIx64, place->offset);
}
