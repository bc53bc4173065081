/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shortens names of functions; words.c and tsctl call this file. A frame of PyTorch has hundreds of
 * characters, mostly template arguments and parameters. The scanner knows only brackets; it does
 * not parse C++. A name with unbalanced brackets stays as it is.
 */
#include "replay/report/stacks/short-function.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char anonymous[] = "(anonymous namespace)";

struct scan {
	const char *at;
	char *out;
	size_t n, n_bytes;
};

static bool starts(const char *text, const char *word)
{
	return !strncmp(text, word, strlen(word));
}

static void put(struct scan *scan, const char *text, size_t n)
{
	for (size_t i = 0; i < n && scan->n + 1 < scan->n_bytes; i++)
		scan->out[scan->n++] = text[i];
	scan->at += n;
}

static bool ends_with_operator(const struct scan *scan)
{
	static const char word[] = "operator";
	const size_t n = sizeof(word) - 1;

	return scan->n >= n && !memcmp(scan->out + scan->n - n, word, n) &&
	       (scan->n == n || !(isalnum((unsigned char)scan->out[scan->n - n - 1]) ||
				  scan->out[scan->n - n - 1] == '_'));
}

/* Returns the position behind the bracket that closes the one at `at`; NULL: none does. */
static const char *behind(const char *at)
{
	int depth = 0;

	for (; *at; at++) {
		if (starts(at, "->")) {
			at++;
			continue;
		}
		if (strchr("(<{[", *at))
			depth++;
		else if (strchr(")>}]", *at) && !--depth)
			return at + 1;
	}
	return NULL;
}

/* The characters of an operator's own name, such as "<<" or "()". */
static size_t operator_length(const char *at)
{
	static const char *const names[] = {"()", "[]", "<=>", "<<=", ">>=", "->*", "<<",
					    ">>", "<=", ">=",  "->",  "<",   ">"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (starts(at, names[i]))
			return strlen(names[i]);
	return 0;
}

/* Copies "{lambda(int)#1}" as "{lambda#1}". */
static bool put_braces(struct scan *scan)
{
	const char *end = behind(scan->at);

	if (!end)
		return false;
	while (scan->at < end) {
		if (*scan->at == '(' || *scan->at == '<') {
			const char *after = behind(scan->at);

			if (!after || after > end)
				return false;
			scan->at = after;
		} else {
			put(scan, scan->at, 1);
		}
	}
	return true;
}

/* One step. False: the brackets do not match. `*ret_is_over`: the rest is no part of the name. */
static bool step(struct scan *scan, bool *ret_is_over)
{
	const char *end;
	size_t n;

	if (starts(scan->at, anonymous)) {
		put(scan, scan->at, sizeof(anonymous) - 1);
		return true;
	}
	n = ends_with_operator(scan) ? operator_length(scan->at) : 0;
	if (n) {
		put(scan, scan->at, n);
		return true;
	}
	switch (*scan->at) {
	case '{':
		return put_braces(scan);
	case '<':
		end = behind(scan->at);
		/* A name like "<module>" is Python's and is all there is. */
		if (!end || !scan->n)
			return false;
		scan->at = end;
		return true;
	case '(':
		end = behind(scan->at);
		if (!end)
			return false;
		scan->at = end;
		/* A function within a function goes on. */
		if (starts(end, " const::"))
			scan->at += strlen(" const");
		*ret_is_over = !starts(scan->at, "::");
		return true;
	case ' ':
		/* "operator bool" is a name; a type in front of the name is not. */
		if (scan->at[1] == '<') {
			scan->at++;
		} else if (ends_with_operator(scan)) {
			put(scan, scan->at, 1);
		} else {
			scan->n = 0;
			scan->at++;
		}
		return true;
	default:
		put(scan, scan->at, 1);
		return true;
	}
}

/* A place in a file, such as " (gpt.py:16)", with blanks before it. */
static const char *place_of(const char *name)
{
	const char *place = strrchr(name, '(');

	return place && place > name && place[-1] == ' ' && strchr(place, ':') &&
			       !strstr(place, "::") && place[strlen(place) - 1] == ')'
		       ? place - 1
		       : NULL;
}

const char *ts_short_function(const char *name, char *buffer, size_t n_bytes)
{
	const char *place = place_of(name);
	const size_t n_name = place ? (size_t)(place - name) : strlen(name);
	struct scan scan = {.out = buffer, .n_bytes = n_bytes};
	char text[4096];
	bool is_over = false;

	if (!n_bytes)
		return buffer;
	/* Only C++ has parameters or template arguments in a name. */
	if (n_name >= sizeof(text) || !memchr(name, '(', n_name)) {
		snprintf(buffer, n_bytes, "%s", name);
		return buffer;
	}
	memcpy(text, name, n_name);
	text[n_name] = '\0';
	scan.at = text;
	while (*scan.at && !is_over)
		if (!step(&scan, &is_over)) {
			snprintf(buffer, n_bytes, "%s", name);
			return buffer;
		}
	buffer[scan.n] = '\0';
	if (!scan.n)
		snprintf(buffer, n_bytes, "%s", name);
	else if (place)
		snprintf(buffer + scan.n, n_bytes - scan.n, "%s", place);
	return buffer;
}
