/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses the LIST of --kernel-events. daemon/main.c and serve/loop/kernel-events.c call the parser;
 * programs.c, hub.c and serve/session/session-kernel.c use the names.
 */
#include "daemon/bpf/kernel-config.h"

#include <stdio.h>

const char *ts_kernel_program_name(unsigned program)
{
	static const char *const names[TS_BPF_N_PROGRAMS] = {
		[TS_BPF_SCHED] = "sched",	[TS_BPF_FAULTS] = "faults",
		[TS_BPF_SYSCALLS] = "syscalls", [TS_BPF_STACKS] = "stacks",
		[TS_BPF_BLOCK] = "block",	[TS_BPF_MEMORY] = "memory",
		[TS_BPF_DRIVER] = "driver",	[TS_BPF_SAMPLES] = "samples",
	};

	return program < TS_ARRAY_LEN(names) ? names[program] : NULL;
}

/* A stack of every interval would be too much data. */
#define STACKS_THRESHOLD_NS 1000000

/* Parses "10us", "1ms", "500ns" or "500"; without a unit the number is nanoseconds. */
static int parse_threshold(const char *text, size_t n_text, uint64_t *ret_ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"", 1},	      {"ns", 1},	 {"us", 1000},
		     {"ms", 1000000}, {"s", 1000000000}, {"m", 60000000000}};
	uint64_t number = 0;
	size_t n = 0;

	for (; n < n_text && text[n] >= '0' && text[n] <= '9' && n < 10; n++)
		number = number * 10 + (uint64_t)(text[n] - '0');
	if (!n)
		return -EINVAL;
	for (size_t i = 0; i < TS_ARRAY_LEN(units); i++)
		if (strlen(units[i].name) == n_text - n &&
		    !strncmp(units[i].name, text + n, n_text - n)) {
			*ret_ns = number * units[i].ns;
			return 0;
		}
	return -EINVAL;
}

static int parse_one(const char *text, size_t n_text, struct ts_kernel_config *config)
{
	const char *colon = memchr(text, ':', n_text);
	size_t n_name = colon ? (size_t)(colon - text) : n_text;
	bool all = n_name == 3 && !strncmp(text, "all", 3), known = all;
	bool counted = colon && n_text - n_name == 6 && !strncmp(colon, ":count", 6);
	uint64_t threshold_ns = 0;

	if (colon && !counted && parse_threshold(colon + 1, n_text - n_name - 1, &threshold_ns))
		return -EINVAL;
	for (unsigned i = 0; i < TS_BPF_N_PROGRAMS; i++) {
		const char *name = ts_kernel_program_name(i);

		if (!all && (strlen(name) != n_name || strncmp(name, text, n_name)))
			continue;
		/*
		 * Only sched, faults and syscalls can be counted: events of other programs cannot
		 * be added up.
		 */
		if (counted && !(TS_BPF_COUNTABLE & 1u << i))
			return -EINVAL;
		known = true;
		config->programs |= 1u << i;
		config->counted =
			counted ? config->counted | 1u << i : config->counted & ~(1u << i);
		/* The threshold of samples is their period: `all:1us` does not set it. */
		config->threshold_ns[i] = i == TS_BPF_STACKS && !colon ? STACKS_THRESHOLD_NS
					  : i == TS_BPF_SAMPLES && all ? 0
								       : threshold_ns;
	}
	if (config->programs & 1u << TS_BPF_STACKS)
		config->programs |= 1u << TS_BPF_SCHED;
	return known ? 0 : -EINVAL;
}

int ts_kernel_config_parse(const char *text, struct ts_kernel_config *ret_config, char *why,
			   size_t n_why)
{
	struct ts_kernel_config config = {0};

	for (const char *at = text;; at++) {
		size_t n = strcspn(at, ",");

		if (parse_one(at, n, &config)) {
			snprintf(
				why, n_why,
				"`%.*s` is not a kernel event: use all, sched, faults, syscalls, stacks, block, memory, driver or samples, with an optional threshold, like sched:10us; sched, faults and syscalls can be counted, like sched:count",
				(int)(n < 64 ? n : 64), at);
			return -EINVAL;
		}
		at += n;
		if (!*at)
			break;
	}
	if (config.programs & 1u << TS_BPF_STACKS && config.counted & 1u << TS_BPF_SCHED) {
		snprintf(
			why, n_why,
			"`%.64s`: stacks require the intervals of sched, and sched:count records no intervals",
			text);
		return -EINVAL;
	}
	*ret_config = config;
	return 0;
}

void ts_kernel_config_names(uint32_t programs, char *text, size_t n_text)
{
	size_t n = 0;

	*text = '\0';
	for (unsigned i = 0; i < TS_BPF_N_PROGRAMS && n < n_text; i++)
		if (programs & 1u << i)
			n += (size_t)snprintf(text + n, n_text - n, "%s%s", n ? "," : "",
					      ts_kernel_program_name(i));
}
