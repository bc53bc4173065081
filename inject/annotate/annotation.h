/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the application says of itself, on its own threads: marks, ranges, counters. Where it comes from (nvtx-tool.c,
 * annotate-calls.c) is told apart by nothing but its domain.
 *
 * A range is recorded when it begins, so that it is not lost with its process, and whole when it is over. What a
 * program that is not recorded gets back from push and pop is the same as from one that is.
 *
 * The first mark, range or counter of a process begins its session, CUDA or not; nothing else here does. No
 * lock and no allocation where the thread, its depth and the text were seen before. Not for signal handlers: within one
 * that interrupts a call of these, they do nothing. errno is preserved.
 */
#pragma once

#include "inject/annotate/annotation-texts.h"
#include "inject/context.h"

/* Deeper ones are followed, and counted, but not recorded. */
#define TS_RANGES_MAX_DEPTH 65536u
/* Started and not ended yet; a power of two. */
#define TS_RANGES_MAX_OPEN 65536u

/* What tells one from another. */
struct ts_annotation {
	const char *text; /* terminated; NULL: `registered`, or no name */
	struct ts_text *registered;
	struct ts_domain *domain; /* NULL: the default one */
	uint32_t domain_key;	  /* its number, for push and pop */
	uint32_t category;
	uint32_t color;	      /* ARGB; 0: none */
	uint8_t payload_type; /* enum ts_payload_type */
	uint64_t payload;
	bool malformed; /* to be counted */
	bool cut;	/* the same: the text was too long */
};

void ts_annotation_mark(const struct ts_annotation *annotation);

/* Returns the level of the range within its thread and domain, from 0. */
int ts_annotation_push(const struct ts_annotation *annotation);

/* Returns the level of the range that is over, or a negative number where none is open. */
int ts_annotation_pop(uint32_t domain_key);

/* Returns what end() is to be called with, on any thread; 0 where it was not recorded. */
uint64_t ts_annotation_start(const struct ts_annotation *annotation);
void ts_annotation_end(uint64_t id);

/* value_type: TS_PAYLOAD_I64, and `integer` is the value; else `value`. */
void ts_annotation_counter(const struct ts_annotation *annotation, uint32_t value_type,
			   double value, int64_t integer);

/* Names something, now and in every session to come. */
void ts_annotation_name(enum ts_name_kind kind, struct ts_domain *domain, uint64_t object,
			const char *name, size_t n_bytes);

/* The application's own switch: nothing is recorded while it is off, by whatever is recorded. */
void ts_annotation_switch(bool on);

/* Something is lost that there is no thread's ring to count in. */
void ts_annotation_count(enum ts_loss_reason reason);
