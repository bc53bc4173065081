/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The debugger's breakpoints: see debugstop.h. replaydebug.c calls this file. If a place is not in
 * the running image, the command fails and names the nearest place, because such a breakpoint would
 * never stop. Conditions are checked for each lane that executes the instruction.
 */
#include "tools/tsctl/replay/debugstop.h"

#include "tools/tsctl/replay/replay-command.h"
#include "tools/tsctl/screen/out.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const compares[] = {"==", "!=", "<", "<=", ">", ">="};
static const char *const grid_names[] = {"%tid.x",   "%tid.y",	 "%tid.z",
					 "%ctaid.x", "%ctaid.y", "%ctaid.z"};

char *ts_debugstop_word(char **rest)
{
	char *word;

	*rest += strspn(*rest, " \t");
	word = *rest;
	*rest += strcspn(*rest, " \t");
	if (**rest)
		*(*rest)++ = '\0';
	*rest += strspn(*rest, " \t");
	return word;
}

/* ---- values ---- */

bool ts_debugstop_register(const struct ts_ptx_warp *warp, uint32_t lane, const char *name,
			   struct ts_ptx_register_view *ret_view, size_t *ret_i)
{
	for (size_t i = 0; ts_ptx_debug_register(warp, lane, 0, i, ret_view); i++)
		if (!strcmp(ret_view->name, name)) {
			if (ret_i)
				*ret_i = i;
			return true;
		}
	return false;
}

bool ts_debugstop_value(const char *word, const char *type, uint64_t *ret_value)
{
	char *end;

	if (!strcmp(word, "true") || !strcmp(word, "false")) {
		*ret_value = *word == 't';
		return true;
	}
	if (*word != '-' && *word != '+' && *word != '.' && !isdigit((unsigned char)*word))
		return false;
	errno = 0;
	if (*type == 'f' && strncmp(word, "0x", 2) != 0) {
		double whole = strtod(word, &end);
		float single = (float)whole;

		if (*end)
			return false;
		if (!strcmp(type, "f64")) {
			memcpy(ret_value, &whole, sizeof(whole));
			return true;
		}
		*ret_value = 0;
		memcpy(ret_value, &single, sizeof(single));
		return !strcmp(type, "f32");
	}
	*ret_value = *word == '-' ? (uint64_t)strtoll(word, &end, 0) : strtoull(word, &end, 0);
	return !*end && end > word && isxdigit((unsigned char)end[-1]) && !errno;
}

/* Finds the value that a test names, for a lane. */
static bool find_value(struct ts_ptx_warp *warp, uint32_t lane, const char *name,
		       struct ts_ptx_register_view *ret_view)
{
	struct ts_ptx_block_view block;
	uint32_t tid[3];

	if (ts_debugstop_register(warp, lane, name, ret_view, NULL))
		return true;
	ts_ptx_debug_thread(warp, lane, tid);
	ts_ptx_debug_block_of(warp, &block);
	for (uint32_t i = 0; i < 6; i++)
		if (!strcmp(name, grid_names[i])) {
			*ret_view =
				(struct ts_ptx_register_view){.type = "u32",
							      .value = i < 3 ? tid[i]
									     : block.ctaid[i - 3]};
			return true;
		}
	return false;
}

static uint64_t low_bits(uint64_t value, unsigned int bits)
{
	return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

/* Compares a and b as registers of the type: -1, 0, 1, or 2 if a value is not a number. */
static int order_of(const char *type, uint64_t a, uint64_t b)
{
	unsigned int bits = (unsigned int)strtoul(type + 1, NULL, 10);
	double x = 0, y = 0;
	float single;

	if (!strcmp(type, "f32")) {
		memcpy(&single, &a, sizeof(single));
		x = (double)single;
		memcpy(&single, &b, sizeof(single));
		y = (double)single;
	} else if (!strcmp(type, "f64")) {
		memcpy(&x, &a, sizeof(x));
		memcpy(&y, &b, sizeof(y));
	}
	if (!strcmp(type, "f32") || !strcmp(type, "f64"))
		return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2;
	if (bits) {
		a = low_bits(a, bits);
		b = low_bits(b, bits);
	}
	if (*type == 's' && bits && bits <= 64) {
		int64_t p = (int64_t)(a << (64 - bits)), q = (int64_t)(b << (64 - bits));

		return p < q ? -1 : p > q;
	}
	return a < b ? -1 : a > b;
}

static bool holds(const struct ts_debugstop_test *test, struct ts_ptx_warp *warp, uint32_t lane,
		  const char **ret_missing)
{
	struct ts_ptx_register_view view;
	uint64_t value;
	int order;

	/* If a test names an unknown value, stop, so that the user notices it. */
	if (!find_value(warp, lane, test->name, &view)) {
		*ret_missing = test->name;
		return true;
	}
	if (!ts_debugstop_value(test->value, view.type, &value))
		return false;
	order = order_of(view.type, view.value, value);
	switch (*test->compare) {
	case '=':
		return order == 0;
	case '!':
		return order != 0;
	case '<':
		return order == -1 || (order == 0 && test->compare[1]);
	default:
		return order == 1 || (order == 0 && test->compare[1]);
	}
}

int ts_debugstop_lane(const struct ts_debugstop *stop, struct ts_ptx_warp *warp,
		      const char **ret_missing)
{
	*ret_missing = NULL;
	for (uint32_t left = ts_ptx_debug_active(warp); left; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(left), n = 0;

		while (n < stop->n_tests && holds(&stop->tests[n], warp, lane, ret_missing))
			n++;
		if (n == stop->n_tests)
			return (int)lane;
	}
	return -1;
}

/* ---- places ---- */

static bool ends_with(const char *path, const char *name)
{
	size_t n_path = strlen(path), n_name = strlen(name);

	return n_name <= n_path && !strcmp(path + n_path - n_name, name) &&
	       (n_path == n_name || path[n_path - n_name - 1] == '/');
}

bool ts_debugstop_is_at(const struct ts_debugstop *stop, const struct ts_ptx_place *place,
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

/*
 * True if there is an instruction at the place. Otherwise *ret_next is the file's next line with an
 * instruction; 0: none.
 */
static bool is_anywhere(const struct ts_debugstop *stop, const struct ts_ptx_warp *warp,
			uint32_t *ret_next)
{
	struct ts_ptx_place place;

	*ret_next = 0;
	for (size_t f = 0; f < ts_ptx_debug_n_functions(warp); f++)
		for (size_t i = 0; ts_ptx_debug_instruction(warp, f, i, &place); i++) {
			uint32_t line = *stop->where ? place.source_line : place.line;

			if (ts_debugstop_is_at(stop, &place, NULL))
				return true;
			if (!stop->line || line <= stop->line || (*ret_next && line >= *ret_next))
				continue;
			if (!*stop->where ||
			    (place.source_file && ends_with(place.source_file, stop->where)))
				*ret_next = line;
		}
	return false;
}

static bool has_name(const char *signature, const char *name, bool with_arguments)
{
	char *other = ts_replayside_name(signature, with_arguments);
	bool is_same = other && !strcmp(other, name);

	free(other);
	return is_same;
}

/* Counts the functions with this C++ name. *ret_function is the PTX name of the first one. */
static size_t find_functions(const struct ts_ptx_warp *warp, struct ts_demangler *demangler,
			     const char *name, const char **ret_function)
{
	struct ts_ptx_place place;
	size_t n = 0;

	for (size_t f = 0; f < ts_ptx_debug_n_functions(warp); f++) {
		const char *signature;

		if (!ts_ptx_debug_instruction(warp, f, 0, &place))
			continue;
		signature = ts_demangle(demangler, place.function);
		if (signature == place.function ||
		    (!has_name(signature, name, true) && !has_name(signature, name, false)))
			continue;
		if (!n++)
			*ret_function = place.function;
	}
	return n;
}

/* Replaces a C++ name by its PTX name. Returns false if several functions have the name. */
static bool resolve(struct ts_debugstop *stop, const struct ts_ptx_warp *warp,
		    struct ts_demangler *demangler)
{
	const char *function = NULL;
	uint32_t next;
	size_t n;

	if (stop->line || is_anywhere(stop, warp, &next))
		return true;
	n = find_functions(warp, demangler, stop->where, &function);
	if (n > 1) {
		printf("error: %zu functions are called ", n);
		ts_out_text(stdout, stop->where);
		printf("; template arguments or the name in PTX make it one\n");
		return false;
	}
	if (function && strlen(function) < sizeof(stop->where))
		memcpy(stop->where, function, strlen(function) + 1);
	return true;
}

static bool has_place(const struct ts_debugstop *stop, const struct ts_ptx_warp *warp)
{
	uint32_t next;

	if (is_anywhere(stop, warp, &next))
		return true;
	printf("error: no instruction of this kernel's module is ");
	if (!stop->line) {
		printf("in a function ");
		ts_out_text(stdout, stop->where);
	} else {
		printf("at %s", *stop->where ? "" : "PTX line ");
		ts_out_text(stdout, stop->where);
		printf("%s%u", *stop->where ? ":" : "", stop->line);
	}
	if (next)
		printf("; the next line that has one is %u", next);
	printf(" (`break later ...` is for kernels of other modules)\n");
	return false;
}

/* ---- words ---- */

/* True for "ns::scale", which is a function and not FILE:LINE. */
static bool is_qualified(const char *word, const char *colon)
{
	return colon > word && colon[-1] == ':' &&
	       (isalpha((unsigned char)colon[1]) || colon[1] == '_');
}

static bool parse_place(struct ts_debugstop *stop, const char *word)
{
	const char *colon = strrchr(word, ':');
	char *end;

	if (!*word || strlen(word) >= sizeof(stop->where)) {
		printf("error: break LINE, FILE:LINE or FUNCTION\n");
		return false;
	}
	if (isdigit((unsigned char)*word) || (colon && !is_qualified(word, colon))) {
		const char *number = colon ? colon + 1 : word;
		unsigned long line = strtoul(number, &end, 10);

		if (!isdigit((unsigned char)*number) || *end || !line || line > UINT32_MAX) {
			printf("error: not a line number: ");
			ts_out_text(stdout, number);
			putchar('\n');
			return false;
		}
		stop->line = (uint32_t)line;
		if (colon)
			memcpy(stop->where, word, (size_t)(colon - word));
	} else {
		memcpy(stop->where, word, strlen(word) + 1);
	}
	return true;
}

static bool parse_test(struct ts_debugstop_test *test, char **rest, struct ts_ptx_warp *warp,
		       bool later)
{
	const char *name = ts_debugstop_word(rest), *compare = ts_debugstop_word(rest);
	const char *value = ts_debugstop_word(rest);
	struct ts_ptx_register_view view = {.type = "b64"};
	uint64_t number;
	size_t i = 0;

	while (i < sizeof(compares) / sizeof(compares[0]) && strcmp(compares[i], compare) != 0)
		i++;
	if (*name != '%' || strlen(name) >= sizeof(test->name) || !*value ||
	    strlen(value) >= sizeof(test->value) || i == sizeof(compares) / sizeof(compares[0])) {
		printf("error: if %%REGISTER ==|!=|<|<=|>|>= VALUE; the register may be %%tid.x "
		       "to %%ctaid.z; separate the words with blanks\n");
		return false;
	}
	if (later || find_value(warp, (uint32_t)__builtin_ctz(ts_ptx_debug_active(warp) | 1u << 31),
				name, &view)) {
		if (!ts_debugstop_value(value, later ? "f64" : view.type, &number)) {
			printf("error: not a value of this register: ");
			ts_out_text(stdout, value);
			putchar('\n');
			return false;
		}
	}
	memcpy(test->name, name, strlen(name) + 1);
	memcpy(test->compare, compare, strlen(compare) + 1);
	memcpy(test->value, value, strlen(value) + 1);
	return true;
}

bool ts_debugstop_parse(struct ts_debugstop *stop, char *rest, struct ts_ptx_warp *warp,
			struct ts_demangler *demangler)
{
	const char *word = ts_debugstop_word(&rest);
	bool later = !strcmp(word, "later");

	*stop = (struct ts_debugstop){.line = 0};
	if (later)
		word = ts_debugstop_word(&rest);
	if (!parse_place(stop, word) ||
	    (!later && (!resolve(stop, warp, demangler) || !has_place(stop, warp))))
		return false;
	for (word = ts_debugstop_word(&rest); *word; word = ts_debugstop_word(&rest)) {
		if (strcmp(word, stop->n_tests ? "and" : "if") != 0 ||
		    stop->n_tests == TS_DEBUGSTOP_TESTS) {
			printf("error: break PLACE [if TEST [and TEST ...]], at most %u of them\n",
			       TS_DEBUGSTOP_TESTS);
			return false;
		}
		if (!parse_test(&stop->tests[stop->n_tests++], &rest, warp, later))
			return false;
	}
	return true;
}

void ts_debugstop_print(const struct ts_debugstop *stop)
{
	ts_out_text(stdout, stop->where);
	if (stop->line)
		printf("%s%u", *stop->where ? ":" : "PTX line ", stop->line);
	for (uint32_t i = 0; i < stop->n_tests; i++) {
		printf(" %s ", i ? "and" : "if");
		ts_out_text(stdout, stop->tests[i].name);
		printf(" %s ", stop->tests[i].compare);
		ts_out_text(stdout, stop->tests[i].value);
	}
}
