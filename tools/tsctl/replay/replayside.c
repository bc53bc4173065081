/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the operations and values that a replay's verdict names. The other printers of this folder
 * call this file.
 */
#include "tools/tsctl/replay/replay-command.h"
#include "tools/tsctl/screen/message-texts.h"
#include "tools/tsctl/screen/out.h"

#include "replay/report/stacks/stackjson.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Handles up to this one are streams that every context has. */
#define LAST_DEFAULT_STREAM 2u
#define MAX_SHORT_COLUMNS   48u

static bool is_in_stream(const Ts__Rpc__ReplaySide *side)
{
	return side->has_stream ||
	       (side->kind && (!strcmp(side->kind, "launch") || !strcmp(side->kind, "copy") ||
			       !strcmp(side->kind, "fill")));
}

void ts_replayside_print_stream(const Ts__Rpc__ReplaySide *side)
{
	bool is_default = side->stream_handle <= LAST_DEFAULT_STREAM;

	if (side->has_stream)
		printf("%sstream %" PRIu32, is_default ? "default " : "", side->stream);
	else if (is_default)
		printf("the default stream");
	else
		printf("the stream with handle 0x%" PRIx64, side->stream_handle);
}

/* Returns the start of the signature's parameters: the parenthesis that matches the last one. */
static const char *end_of_name(const char *signature)
{
	const char *at = strrchr(signature, ')');
	size_t depth = 0;

	for (; at && at >= signature; at--) {
		depth += *at == ')';
		if (*at == '(' && !--depth)
			return at;
	}
	return signature + strlen(signature);
}

/* Skips a template's return type, which the demangler puts in front. */
static const char *begin_of_name(const char *signature, const char *end)
{
	const char *begin = signature;
	size_t depth = 0;

	for (const char *at = signature; at < end; at++) {
		depth += strchr("(<[{", *at) != NULL;
		depth -= depth && strchr(")>]}", *at) != NULL;
		if (*at == ' ' && !depth)
			begin = at + 1;
	}
	return begin;
}

/* Returns the start of the template arguments at the end of the name, or its end. */
static const char *end_of_base(const char *begin, const char *end)
{
	size_t depth = 0;

	if (end == begin || end[-1] != '>')
		return end;
	for (const char *at = end - 1; at > begin; at--) {
		depth += *at == '>';
		if (*at == '<' && !--depth)
			return at;
	}
	return end;
}

char *ts_replayside_name(const char *signature, bool with_arguments)
{
	const char *end = end_of_name(signature), *begin = begin_of_name(signature, end);

	if (!with_arguments)
		end = end_of_base(begin, end);
	return strndup(begin, (size_t)(end - begin));
}

void ts_replayside_print_kernel(const char *signature)
{
	char *name = ts_replayside_name(signature, true);

	ts_out_text_cut(stdout, name ? name : signature, MAX_SHORT_COLUMNS);
	free(name);
}

void ts_replayside_print_short(const Ts__Rpc__ReplaySide *side)
{
	printf("operation %" PRIu64, side->op_id);
	if (side->name || side->kind)
		printf(" (");
	if (side->name)
		ts_replayside_print_kernel(side->name);
	else
		ts_out_text(stdout, side->kind);
	if (side->name || side->kind)
		putchar(')');
	if (is_in_stream(side)) {
		printf(" in ");
		ts_replayside_print_stream(side);
	}
}

void ts_replayside_print(const Ts__Rpc__ReplaySide *side)
{
	printf("operation %" PRIu64 " (%s", side->op_id, side->kind ? side->kind : "?");
	if (side->name) {
		printf(" of ");
		ts_out_text(stdout, side->name);
	}
	putchar(')');
	if (is_in_stream(side)) {
		printf(" in ");
		ts_replayside_print_stream(side);
	}
}

void ts_replayside_print_site(const Ts__Rpc__ReplaySide *side)
{
	if (side->call) {
		printf(", by ");
		ts_out_text(stdout, side->call);
	}
	if (side->site) {
		printf(" at ");
		ts_out_text(stdout, side->site);
	}
}

/* True if the stack has more frames than the site shows, without the kernel's host stub. */
static bool has_callers(const Ts__Rpc__ReplaySide *side, const Ts__Rpc__Stack *stack)
{
	size_t n = 0;

	for (size_t i = 0; i < stack->n_frames; i++)
		n += !ts_stackjson_is_hidden(stack, i);
	for (size_t i = 0; side->name && i < stack->n_symbols; i++)
		n -= n && stack->symbols[i]->function &&
		     !strcmp(stack->symbols[i]->function, side->name);
	return n > 1;
}

void ts_replayside_print_stack(const Ts__Rpc__ReplaySide *side, const Ts__Rpc__Stack *stack)
{
	if (!stack || (side->site && !has_callers(side, stack)))
		return;
	printf("    stack of operation %" PRIu64 ":\n", side->op_id);
	ts_text_stack(stack, 6);
}

void ts_replayside_print_remedies(const char *what, size_t n, char *const *remedies)
{
	for (size_t i = 0; i < n; i++) {
		printf("    %s ", i ? "or:" : what);
		ts_out_text(stdout, remedies[i]);
		putchar('\n');
	}
}
