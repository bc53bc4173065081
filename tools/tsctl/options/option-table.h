/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command's options as one table. option-parse.h parses a command line by it, help.h prints its
 * lines of help, and complete.h offers its names and words to the shell. The table is in the order
 * of the help and ends with an entry of zeros.
 *
 *	static const struct ts_option options[] = {
 *		{"limit", 'n', TS_OPTION_NUMBER(struct asked, limit), .max = 9, .metavar = "N",
 *		 .expects = "expected a number of rows, at most 9",
 *		 .help = "list at most N rows"},
 *		{"wide", TS_OPTION_LONG, TS_OPTION_FLAG(struct asked, wide),
 *		 .help = "cut no names"},
 *		{0},
 *	};
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kind of an option. Each comment has the type of its field in brackets. */
enum ts_option_kind {
	TS_OPTION_IS_FLAG,	  /* no value (bool) */
	TS_OPTION_IS_TEXT,	  /* any (const char *) */
	TS_OPTION_IS_FILE,	  /* a path (const char *) */
	TS_OPTION_IS_SESSION,	  /* a session's number or pid (const char *) */
	TS_OPTION_IS_NUMBER,	  /* of [min, max] (uint64_t) */
	TS_OPTION_IS_BYTES,	  /* of [min, max], with K, M or G (uint64_t) */
	TS_OPTION_IS_TIME,	  /* of [min, max], in nanoseconds: ts_time_parse() (uint64_t) */
	TS_OPTION_IS_MOMENT,	  /* ts_time_parse_moment() (struct ts_time) */
	TS_OPTION_IS_CHOICE,	  /* one of `words`: its place there (unsigned int) */
	TS_OPTION_IS_PARSED,	  /* `parse` stores it */
	TS_OPTION_IS_PARSED_FLAG, /* no value; `parse` stores that the option is there */
};

/* Names in the trace on the command line, which completion offers as an option's value. */
enum ts_option_names {
	TS_NAMES_NONE,
	TS_NAMES_WORK, /* kernels, ranges and calls, without the result type of kernels */
	TS_NAMES_KERNELS,
	TS_NAMES_RANGES,
	TS_NAMES_CALLS,
	TS_NAMES_STREAMS, /* numbers */
	TS_NAMES_DEVICES, /* numbers */
	TS_NAMES_THREADS, /* tids, and names */
	TS_NAMES_EDIT, /* an edit of `tsctl replay --what-if`: a word, and a name if it has one */
};

struct ts_option {
	const char *name; /* without its dashes; NULL: the letter alone */
	char letter;	  /* 0: none */
	enum ts_option_kind kind;
	/*
	 * Offset of the field in the command's struct; see TS_OPTION_FLAG() and the macros below
	 * it.
	 */
	size_t offset;
	/*
	 * NULL: the value is stored by its kind. Otherwise the function stores it in the field
	 * `to`, or in the command's struct if no field is named. `text` is NULL for a flag, and for
	 * an optional value that is left out. Returns 0, or -EINVAL after an error message.
	 */
	int (*parse)(void *to, const struct ts_option *option, const char *text);
	uint64_t min, max;
	/*
	 * The value may be left out. It follows a `=`, or is the next word if `takes` returns true.
	 */
	bool is_optional;
	bool (*takes)(const char *word);

	/*
	 * The message about a bad value is "LABEL VALUE: EXPECTS". NULL: made from name and kind.
	 */
	const char *label, *expects;

	/* Completion offers these words. NULL ends `words`; `word_at` returns it past the last. */
	const char *const *words;
	const char *(*word_at)(size_t i);
	bool is_list; /* several words, with commas between */
	enum ts_option_names names;

	const char *metavar; /* the value's name in help */
	const char *help;    /* lines; NULL: the command's text describes the option */
	const char *joint;   /* text between this option and the next one on the same help line */
	bool is_letter_unmentioned; /* help shows only the name */
	/* Help and completion omit the option if the virtual GPU is absent. */
	bool is_for_vgpu;
	bool is_hidden; /* omitted from help, suggestions and completion */
	/*
	 * If a mistyped name is equally near to several options, tsctl suggests the option with the
	 * lowest rank, and the first one among equal ranks.
	 */
	unsigned int rank;
};

/* Instead of a letter. */
#define TS_OPTION_LONG 0

/* The offset of a field, with a check of its type. */
#define TS_OPTION_OFFSET(stored, owner, field)                                                 \
	(offsetof(owner, field) +                                                              \
	 0 * sizeof(char[__builtin_types_compatible_p(stored, __typeof__(((owner *)0)->field)) \
				 ? 1                                                           \
				 : -1]))
#define TS_OPTION_FLAG(owner, field) TS_OPTION_IS_FLAG, TS_OPTION_OFFSET(bool, owner, field)
#define TS_OPTION_TEXT(owner, field) TS_OPTION_IS_TEXT, TS_OPTION_OFFSET(const char *, owner, field)
#define TS_OPTION_FILE(owner, field) TS_OPTION_IS_FILE, TS_OPTION_OFFSET(const char *, owner, field)
#define TS_OPTION_SESSION(owner, field) \
	TS_OPTION_IS_SESSION, TS_OPTION_OFFSET(const char *, owner, field)
#define TS_OPTION_NUMBER(owner, field) TS_OPTION_IS_NUMBER, TS_OPTION_OFFSET(uint64_t, owner, field)
#define TS_OPTION_BYTES(owner, field)  TS_OPTION_IS_BYTES, TS_OPTION_OFFSET(uint64_t, owner, field)
#define TS_OPTION_TIME(owner, field)   TS_OPTION_IS_TIME, TS_OPTION_OFFSET(uint64_t, owner, field)
#define TS_OPTION_MOMENT(owner, field) \
	TS_OPTION_IS_MOMENT, TS_OPTION_OFFSET(struct ts_time, owner, field)
#define TS_OPTION_CHOICE(owner, field) \
	TS_OPTION_IS_CHOICE, TS_OPTION_OFFSET(unsigned int, owner, field)
/* `parse` gets the whole struct. */
#define TS_OPTION_PARSED(function)	TS_OPTION_IS_PARSED, 0, function
#define TS_OPTION_PARSED_FLAG(function) TS_OPTION_IS_PARSED_FLAG, 0, function
/* `parse` gets the field. */
#define TS_OPTION_PARSED_TO(owner, field, function) \
	TS_OPTION_IS_PARSED, offsetof(owner, field), function

/* A constant's digits, for texts. The constant has no suffix. */
#define TS_OPTION_DIGITS(number)  TS_OPTION_DIGITS_(number)
#define TS_OPTION_DIGITS_(number) #number

/* For `expects` of a moment, by default. */
#define TS_OPTION_MOMENT_EXPECTED                                                               \
	"expected a time from the trace's start, like 1500 (ns) or 12.5ms, or @ and a time of " \
	"CLOCK_MONOTONIC, like @1500"

/* Operands: the words that are not options. */
enum ts_operands_kind {
	TS_OPERANDS_NONE,
	TS_OPERANDS_FILES,
	TS_OPERANDS_PIDS, /* of recorded processes */
	TS_OPERANDS_SESSION_OR_FILE,
	TS_OPERANDS_PROGRAM, /* a program and its words: options end where it begins */
	TS_OPERANDS_COMMAND, /* one of tsctl's commands */
};

static inline bool ts_option_is_last(const struct ts_option *option)
{
	return !option->name && !option->letter;
}

static inline bool ts_option_has_value(const struct ts_option *option)
{
	return option->kind != TS_OPTION_IS_FLAG && option->kind != TS_OPTION_IS_PARSED_FLAG;
}
