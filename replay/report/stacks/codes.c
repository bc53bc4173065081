/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers the functions in which samples lie; a function's key is its name and file. hostcode.c,
 * gapsjson.c and `tsctl analyze` call this file; this file calls codeplace.c. This file counts each
 * function's lines, so the line with the most samples represents the function.
 */
#include "replay/report/stacks/codes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/abi/grow.h"
#include "proto/abi/map.h"
#include "replay/report/stacks/codeplace.h"
#include "replay/state/state-map.h"

struct line {
	uint32_t line;
	uint64_t count;
};

struct code {
	char *function;	  /* owned */
	const char *file; /* owned by the reader; NULL: not known */
	struct line *lines;
	size_t n_lines, n_lines_allocated;
};

struct stack {
	uint32_t code; /* function's number; 0: not known */
	uint32_t line; /* index into the code's `lines` */
};

struct ts_codes {
	struct ts_resolver *resolver;
	struct ts_gaps_code find;
	struct code *codes;
	struct stack *stacks;
	size_t n_codes, n_stacks, n_codes_allocated, n_stacks_allocated;
	struct ts_hashindex code_by_text;
	struct ts_state_map stack_by_id;
};

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Takes ownership of `function`, also on failure. */
static int number_of(struct ts_codes *codes, char *function, const char *file, uint32_t *ret_number)
{
	uint64_t seed = ts_hashindex_seed(&codes->code_by_text);
	uint64_t hash = ts_hash_seeded_text(ts_hash_seeded_text(seed, function), file);

	TS_HASHINDEX_EACH (&codes->code_by_text, hash, at) {
		const struct code *code = &codes->codes[at.number];

		if (!is_same(code->function, function) || !is_same(code->file, file))
			continue;
		free(function);
		*ret_number = at.number + 1;
		return 0;
	}
	if (TS_GROW(codes->codes, codes->n_codes_allocated, codes->n_codes + 1) ||
	    ts_hashindex_add(&codes->code_by_text, hash, (uint32_t)codes->n_codes)) {
		free(function);
		return -ENOMEM;
	}
	codes->codes[codes->n_codes++] = (struct code){.function = function, .file = file};
	*ret_number = (uint32_t)codes->n_codes;
	return 0;
}

static int line_of(struct code *code, uint32_t line, uint32_t *ret_index)
{
	for (size_t i = 0; i < code->n_lines; i++)
		if (code->lines[i].line == line) {
			*ret_index = (uint32_t)i;
			return 0;
		}
	if (TS_GROW(code->lines, code->n_lines_allocated, code->n_lines + 1))
		return -ENOMEM;
	*ret_index = (uint32_t)code->n_lines;
	code->lines[code->n_lines++] = (struct line){.line = line};
	return 0;
}

static int look_up(struct ts_codes *codes, uint32_t session, uint32_t id, uint64_t time_ns,
		   struct stack *ret_stack)
{
	struct ts_codeplace place;
	char *function;
	int r;

	*ret_stack = (struct stack){0};
	if (!ts_codeplace_of(codes->resolver, session, id, time_ns, NULL, &place) ||
	    (!place.function && !place.module))
		return 0;
	function = place.function ? strndup(place.function, (size_t)place.function_bytes)
				  : strdup(ts_codeplace_base(place.module));
	if (!function)
		return -ENOMEM;
	r = number_of(codes, function, place.file, &ret_stack->code);
	return r ? r : line_of(&codes->codes[ret_stack->code - 1], place.line, &ret_stack->line);
}

static int find(void *data, uint32_t session, uint32_t id, uint64_t time_ns, uint32_t *ret_number)
{
	struct ts_codes *codes = data;
	uint32_t i = ts_state_map_find(&codes->stack_by_id, session, id);
	int r = 0;

	if (i == TS_STATE_MAP_NONE) {
		if (TS_GROW(codes->stacks, codes->n_stacks_allocated, codes->n_stacks + 1))
			return -ENOMEM;
		i = (uint32_t)codes->n_stacks;
		r = look_up(codes, session, id, time_ns, &codes->stacks[i]);
		r = r ? r : ts_state_map_set(&codes->stack_by_id, session, id, i);
		if (r)
			return r;
		codes->n_stacks++;
	}
	*ret_number = codes->stacks[i].code;
	if (*ret_number)
		codes->codes[*ret_number - 1].lines[codes->stacks[i].line].count++;
	return 0;
}

int ts_codes_new(struct ts_resolver *resolver, struct ts_codes **ret_codes)
{
	struct ts_codes *codes = calloc(1, sizeof(*codes));

	if (!codes)
		return -ENOMEM;
	codes->resolver = resolver;
	codes->find = (struct ts_gaps_code){.find = find, .data = codes};
	*ret_codes = codes;
	return 0;
}

void ts_codes_free(struct ts_codes *codes)
{
	if (!codes)
		return;
	for (size_t i = 0; i < codes->n_codes; i++) {
		free(codes->codes[i].function);
		free(codes->codes[i].lines);
	}
	free(codes->codes);
	free(codes->stacks);
	ts_hashindex_deinit(&codes->code_by_text);
	ts_state_map_deinit(&codes->stack_by_id);
	free(codes);
}

void ts_codes_freep(struct ts_codes **codes)
{
	ts_codes_free(*codes);
}

const struct ts_gaps_code *ts_codes_find(struct ts_codes *codes)
{
	return &codes->find;
}

bool ts_codes_at(const struct ts_codes *codes, uint32_t number, struct ts_code *ret_code)
{
	const struct code *code;
	uint64_t most = 0;

	if (!number || number > codes->n_codes)
		return false;
	code = &codes->codes[number - 1];
	*ret_code = (struct ts_code){.function = code->function, .file = code->file};
	for (size_t i = 0; i < code->n_lines; i++)
		if (code->lines[i].count > most ||
		    (code->lines[i].count == most && code->lines[i].line < ret_code->line)) {
			most = code->lines[i].count;
			ret_code->line = code->lines[i].line;
		}
	return true;
}

size_t ts_code_text(const char *function, const char *file, uint32_t line, char *text,
		    size_t n_bytes)
{
	int n = file && line ? snprintf(text, n_bytes, "%s (%s:%" PRIu32 ")", function,
					ts_codeplace_base(file), line)
		: file	     ? snprintf(text, n_bytes, "%s (%s)", function, ts_codeplace_base(file))
			     : snprintf(text, n_bytes, "%s", function);

	return n < 0 ? 0 : (size_t)n < n_bytes ? (size_t)n : n_bytes - 1;
}
