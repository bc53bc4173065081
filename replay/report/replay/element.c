/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the type of the array element at the address where a replay differs. differencejson.c calls
 * this file; this file calls names/signature.c and names/value.c.
 *
 * The search visits launches from the difference back to the allocation. A pool's allocation holds
 * many arrays, so the highest pointer that is not above the address wins. Among equal pointers, the
 * one from the latest launch with a type wins. If the highest pointer has no type, the type is
 * unknown: that pointer may begin another array.
 */
#include "replay/report/replay/element.h"

#include "replay/report/names/signature.h"
#include "replay/report/replay/sidejson.h"

#include <string.h>

/* Limit of visited launches: the search reads the arguments of each launch from the trace. */
#define MAX_LAUNCHES	   4096u
#define MAX_ARGUMENT_BYTES 65536u

struct search {
	struct ts_replay *replay;
	const struct ts_row_operation *buffer;
	uint64_t address;
	struct ts_exec_content content;
	/* Cache: the parameters of the function of the last visited launch. */
	uint64_t function;
	struct ts_signature_parameter parameters[TS_SIGNATURE_MAX_PARAMETERS];
	size_t n_parameters;
	/* The highest pointer found so far. `found`: its type is known. */
	uint64_t pointer;
	bool found, is_const;
	struct ts_element element;
};

static bool is_better(const struct search *search, const struct ts_signature_parameter *parameter,
		      uint64_t pointer)
{
	if (!search->pointer || pointer != search->pointer)
		return pointer > search->pointer;
	/* A kernel that writes through the pointer has priority over a kernel that only reads. */
	return !search->found || (search->is_const && !parameter->is_const);
}

/*
 * Treats each word of the arguments as a pointer, because a struct may hold pointers. If the
 * highest pointer has no type, the element's type is unknown.
 */
static void look_at_words(struct search *search)
{
	uint64_t word;

	for (size_t at = 0; at + sizeof(word) <= search->content.n; at += sizeof(word)) {
		memcpy(&word, search->content.bytes + at, sizeof(word));
		if (word < search->buffer->dst || word > search->address || word <= search->pointer)
			continue;
		search->pointer = word;
		search->found = false;
	}
}

static void look_at_parameter(struct search *search, const struct ts_row_operation *launch,
			      uint32_t i)
{
	const struct ts_signature_parameter *parameter = &search->parameters[i];
	uint64_t pointer, element, offset;

	if (!parameter->is_placed || !parameter->is_pointer || !parameter->has_type ||
	    parameter->offset + sizeof(pointer) > search->content.n)
		return;
	memcpy(&pointer, search->content.bytes + parameter->offset, sizeof(pointer));
	if (pointer < search->buffer->dst || pointer > search->address ||
	    !is_better(search, parameter, pointer))
		return;
	offset = search->address - pointer;
	element = (uint64_t)parameter->type.bytes * parameter->type.n_parts;
	search->found = true;
	search->is_const = parameter->is_const;
	search->pointer = pointer;
	search->element = (struct ts_element){
		.type = parameter->type,
		.address = search->address - offset % parameter->type.bytes,
		.index = offset / element,
		.part = (uint32_t)(offset % element / parameter->type.bytes),
		.sequence = launch->sequence,
		.parameter = i + 1,
	};
}

static void look_at_launch(struct search *search, const struct ts_row_operation *launch)
{
	const char *name;

	if (!launch->content)
		return;
	if (launch->object != search->function) {
		name = ts_sidejson_signature(search->replay, launch);
		search->n_parameters = name ? ts_signature_parse(name, search->parameters) : 0;
		search->function = launch->object;
	}
	if (ts_exec_program_content(search->replay->program, launch->content, MAX_ARGUMENT_BYTES,
				    &search->content))
		return;
	look_at_words(search);
	for (uint32_t i = 0; i < search->n_parameters; i++)
		look_at_parameter(search, launch, i);
}

bool ts_element_find(struct ts_replay *replay, const struct ts_exec_difference *difference,
		     const struct ts_row_operation *buffer, struct ts_element *ret_element)
{
	const struct ts_exec_program *program = replay->program;
	uint64_t last = difference->sequence ? difference->sequence : program->end;
	struct search search = {
		.replay = replay,
		.buffer = buffer,
		.address = difference->address,
	};
	uint32_t n = 0;

	for (uint64_t i = last < program->n ? last : program->n;
	     i > buffer->sequence && n < MAX_LAUNCHES; i--)
		if (program->operations[i - 1].kind == TS_OPERATION_LAUNCH) {
			look_at_launch(&search, &program->operations[i - 1]);
			n++;
		}
	ts_exec_content_deinit(&search.content);
	*ret_element = search.element;
	return search.found;
}

/*
 * True if the `before` bytes that precede the differing byte in the result also precede it on the
 * device. On the device, the rows of a copy's source have gaps between them; in the result they do
 * not.
 */
static bool is_in_row(const struct ts_replay *replay, const struct ts_exec_difference *difference,
		      uint64_t before)
{
	const struct ts_row_operation *copy;

	if (difference->kind != TS_EXEC_RESULT_READ)
		return true;
	copy = &replay->program->operations[difference->sequence - 1];
	return copy->bytes && difference->offset % copy->bytes >= before;
}

bool ts_element_values(const struct ts_replay *replay, const struct ts_exec_difference *difference,
		       const struct ts_element *element, char ret_expected[TS_VALUE_TEXT_BYTES],
		       char ret_found[TS_VALUE_TEXT_BYTES])
{
	uint32_t before = (uint32_t)(difference->address - element->address);
	uint32_t n = element->type.bytes - before;
	uint8_t expected[8], found[8];

	if (before > difference->n_before || n > difference->n ||
	    !is_in_row(replay, difference, before))
		return false;
	memcpy(expected, difference->before + difference->n_before - before, before);
	memcpy(found, expected, before);
	memcpy(expected + before, difference->expected, n);
	memcpy(found + before, difference->found_bytes, n);
	ts_value_print(&element->type, expected, ret_expected);
	ts_value_print(&element->type, found, ret_found);
	return true;
}
