/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of limits. main.c parses options with it. A size is in bytes, or has a suffix K, M or G
 * (powers of 1024). A share of the disk is a size or a percentage of the file system.
 * ts_limits_resolve() converts percentages to bytes once the directory is known.
 */
#include "daemon/serve/limits.h"

#include <inttypes.h>

#include "daemon/util/number.h"
#include "proto/abi/session.h"

#define KIB	    UINT64_C(1024)
#define MIB	    (1024 * KIB)
#define GIB	    (1024 * MIB)

#define LIMIT_UNSET UINT64_MAX
/* A flag in the highest bit, which no size has, because sizes are off_t. */
#define LIMIT_PERCENT (UINT64_C(1) << 63)

/* In the help, a default that does not fit in the line of its option is on the next line. */
#define HELP_TEXT   33
#define HELP_INDENT "                                  "

struct limit {
	const char *name;
	const char *what; /* help text */
	bool is_size;
	/* the default is only for a service; in other modes the default is no limit */
	bool is_service;
	bool is_share; /* the value is a size or a percentage of the disk */
	uint64_t least;
	uint64_t most;
	uint64_t value; /* default */
};

/*
 * The order is that of struct ts_limits. A * in a help text means that one user gets at most a
 * quarter of the limit.
 */
static const struct limit table[] = {
	{"max-sessions", "Record at most N processes at once", .least = 1, .most = 65536,
	 .value = 512},
	{"max-sessions-user", "Record at most N processes of one user", .least = 1, .most = 65536,
	 .value = 128},
	{"max-session-bytes", "Limit the shared memory of one process", true, .least = MIB,
	 .most = TS_SESSION_MAX_BYTES, .value = TS_SESSION_MAX_BYTES},
	{"max-definition-bytes", "Limit names and stacks of one process", true, .least = 64 * KIB,
	 .most = 64 * GIB, .value = 64 * MIB},
	{"max-definition-bytes-all", "Limit names and stacks of all processes *", true,
	 .least = MIB, .most = 1024 * GIB, .value = GIB},
	{"max-session-memory", "Limit the other memory for one process", true, .least = 2 * MIB,
	 .most = 64 * GIB, .value = 64 * MIB},
	{"max-memory", "Limit the other memory for all processes *", true, .least = 16 * MIB,
	 .most = 1024 * GIB, .value = 4 * GIB},
	{"max-connections", "Limit connections without a session *", .least = 4, .most = 65536,
	 .value = 256},
	{"max-clients", "Limit connections of tsctl *", .least = 4, .most = 4096, .value = 64},
	{"max-requests", "Limit waiting requests of a client", .least = 1, .most = 4096,
	 .value = 16},
	{"max-answers", "Limit unread answers of a client", .least = 1, .most = 4096, .value = 32},
	{"max-traces", "Serve at most N traces of ended processes *", .least = 4, .most = 65536,
	 .value = 256},
	{"max-queries", "Answer at most N queries at once *", .least = 4, .most = 4096, .value = 8},
	{"max-query-ms", "Limit the time of a query, ms", .least = 1, .most = 86400000,
	 .value = 60000},
	{"max-query-bytes", "Limit the size of an answer to a query", true, .least = KIB,
	 .most = 64 * GIB, .value = 256 * MIB},
	{"max-query-memory", "Limit the memory of a query", true, .least = 16 * MIB,
	 .most = 1024 * GIB, .value = GIB},
	{"max-replay-ms", "Limit the time of a replay, ms", .least = 1, .most = 86400000,
	 .value = 600000},
	{"max-replay-memory", "Limit the memory of a replay and its GPU", true, .least = 64 * MIB,
	 .most = 1024 * GIB, .value = 4 * GIB},
	{"max-file-bytes", "End a trace file at this size", true, true, .least = 64 * KIB,
	 .most = INT64_MAX, .value = 64 * GIB},
	{"keep-free", "Keep this much of the disk free", true, true, .most = INT64_MAX,
	 .value = 256 * MIB},
	{"max-disk-bytes", "Limit the size of all trace files", true, true, true, .most = INT64_MAX,
	 .value = LIMIT_PERCENT | 50},
	{"max-disk-bytes-user", "Limit the size of one user's trace files", true, true, true,
	 .most = INT64_MAX, .value = LIMIT_PERCENT | 10},
	{"max-disk-files", "Limit the number of trace files *", false, true, .most = 16777216,
	 .value = 65536},
	{"retain-age", "Remove finished traces older than N hours", false, true,
	 .most = INT64_MAX / 1000000000 / 3600},
	{"retain-size", "Remove the oldest traces above this total", true, true, true,
	 .most = INT64_MAX},
	{"retain-size-user", "Remove a user's oldest traces above this", true, true, true,
	 .most = INT64_MAX},
	{"rotate-size", "Start the next file at this size", true, true, .most = INT64_MAX},
	{"rotate-age", "Start the next file after N ms", false, true, .most = INT64_MAX / 1000000},
	{"keep", "Keep the newest N files of a recording", false, true, .most = UINT32_MAX},
	{"keep-last-size", "Keep about this much of a recording", true, true, .most = INT64_MAX},
	{"keep-last-age", "Keep the last N ms of a recording", false, true,
	 .most = INT64_MAX / 1000000},
};

TS_STATIC_ASSERT(sizeof(table) / sizeof(table[0]) == TS_LIMITS_N, "a row for each limit");

static uint64_t *value_of(struct ts_limits *limits, size_t i)
{
	return (uint64_t *)(void *)limits + i;
}

void ts_limits_init(struct ts_limits *limits)
{
	for (size_t i = 0; i < TS_LIMITS_N; i++)
		*value_of(limits, i) = LIMIT_UNSET;
}

void ts_limits_complete(struct ts_limits *limits, bool is_service)
{
	for (size_t i = 0; i < TS_LIMITS_N; i++)
		if (*value_of(limits, i) == LIMIT_UNSET)
			*value_of(limits, i) =
				table[i].is_service && !is_service ? 0 : table[i].value;
}

void ts_limits_resolve(struct ts_limits *limits, uint64_t disk_bytes)
{
	for (size_t i = 0; i < TS_LIMITS_N; i++) {
		uint64_t *value = value_of(limits, i);

		if (table[i].is_share && *value & LIMIT_PERCENT)
			*value = disk_bytes / 100 * (*value & ~LIMIT_PERCENT);
	}
}

const char *ts_limits_name(size_t i)
{
	return table[i].name;
}

/* Parses "N%", with N from 1 to 100. */
static int parse_percent(const char *text, uint64_t *ret_value)
{
	size_t n = strlen(text);
	char digits[8];
	uint64_t percent;

	if (!n || text[n - 1] != '%' || n > sizeof(digits))
		return -EINVAL;
	memcpy(digits, text, n - 1);
	digits[n - 1] = '\0';
	if (ts_number_parse(digits, 100, &percent) || !percent)
		return -EINVAL;
	*ret_value = LIMIT_PERCENT | percent;
	return 0;
}

static int parse_value(const struct limit *limit, const char *text, uint64_t *ret_value)
{
	if (limit->is_share && !parse_percent(text, ret_value))
		return 0;
	return limit->is_size ? ts_number_parse_size(text, limit->most, ret_value)
			      : ts_number_parse(text, limit->most, ret_value);
}

int ts_limits_set(struct ts_limits *limits, size_t i, const char *text, char *ret_why, size_t n_why)
{
	const struct limit *limit = &table[i];
	uint64_t value;

	if (parse_value(limit, text, &value)) {
		snprintf(ret_why, n_why, "--%s takes a %s up to %" PRIu64 "%s, not '%s'",
			 limit->name, limit->is_size ? "size" : "number", limit->most,
			 limit->is_share ? " or a percentage" : "", text);
		return -EINVAL;
	}
	if (value < limit->least) {
		snprintf(ret_why, n_why, "--%s %s: the least value is %" PRIu64, limit->name, text,
			 limit->least);
		return -EINVAL;
	}
	*value_of(limits, i) = value;
	return 0;
}

/* Prints a value in the syntax of its option. */
static void print_value(char *text, size_t n_text, const struct limit *limit)
{
	if (!limit->value)
		snprintf(text, n_text, "none");
	else if (limit->is_share && limit->value & LIMIT_PERCENT)
		snprintf(text, n_text, "%" PRIu64 "%%", limit->value & ~LIMIT_PERCENT);
	else if (limit->is_size && limit->value % GIB == 0)
		snprintf(text, n_text, "%" PRIu64 "G", limit->value / GIB);
	else if (limit->is_size)
		snprintf(text, n_text, "%" PRIu64 "M", limit->value / MIB);
	else
		snprintf(text, n_text, "%" PRIu64, limit->value);
}

void ts_limits_help(FILE *file)
{
	char option[64], value[24];
	const char *space;

	for (size_t i = 0; i < TS_LIMITS_N; i++) {
		snprintf(option, sizeof(option), "--%s %s", table[i].name,
			 table[i].is_size ? "SIZE" : "N");
		print_value(value, sizeof(value), &table[i]);
		space = strlen(table[i].what) + strlen(value) > HELP_TEXT ? "\n" HELP_INDENT : " ";
		fprintf(file, "  %-31s %s%s(default: %s).\n", option, table[i].what, space, value);
	}
}
