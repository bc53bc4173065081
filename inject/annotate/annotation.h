/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotations by the application, on its own threads: marks, ranges, counters. The two sources
 * (nvtx-tool.c, annotate-calls.c) differ only in the domain of their annotations.
 *
 * A range makes a record at its begin, so a killed process does not lose the range. At its end the
 * range makes a second record, of the whole range. Push and pop return the same levels whether or
 * not the program is recorded.
 *
 * The first mark, range or counter of a process begins its session, with or without CUDA. No other
 * function here begins a session. If the shim has seen the thread, the depth and the text before,
 * no function locks or allocates. In a signal handler that interrupts one of these functions, they
 * do nothing. errno is preserved.
 */
#pragma once

#include "inject/annotate/annotation-texts.h"
#include "inject/context.h"

/*
 * Ranges nested deeper than this are counted, but not recorded. Their push and pop still return
 * levels.
 */
#define TS_RANGES_MAX_DEPTH 65536u
/* Limit of ranges that are started and not ended; a power of two. */
#define TS_RANGES_MAX_OPEN 65536u

/* Attributes of one annotation. */
struct ts_annotation {
	const char *text; /* terminated; NULL: `registered`, or no name */
	struct ts_text *registered;
	struct ts_domain *domain; /* NULL: the default domain */
	uint32_t domain_key;	  /* the domain's number, for push and pop */
	uint32_t category;
	uint32_t color;	      /* ARGB; 0: none */
	uint8_t payload_type; /* enum ts_payload_type */
	uint64_t payload;
	bool malformed; /* counted as TS_LOSS_BAD_ANNOTATION */
	bool cut;	/* counted as TS_LOSS_TEXT_CUT: the text was too long */
};

void ts_annotation_mark(const struct ts_annotation *annotation);

/*
 * Pushes a range. Returns its level within its thread and domain, from 0; a negative number on
 * failure.
 */
int ts_annotation_push(const struct ts_annotation *annotation);

/*
 * Pops the innermost range of the domain. Returns its level, or a negative number if no range is
 * open.
 */
int ts_annotation_pop(uint32_t domain_key);

/*
 * Starts a range. Returns its id, which any thread may pass to ts_annotation_end(); 0 if it was not
 * recorded.
 */
uint64_t ts_annotation_start(const struct ts_annotation *annotation);
void ts_annotation_end(uint64_t id);

/*
 * Records a counter's value. If value_type is TS_PAYLOAD_I64, the value is `integer`; else it is
 * `value`.
 */
void ts_annotation_counter(const struct ts_annotation *annotation, uint32_t value_type,
			   double value, int64_t integer);

/* Names an object in this session and in every later session. */
void ts_annotation_name(enum ts_name_kind kind, struct ts_domain *domain, uint64_t object,
			const char *name, size_t n_bytes);

/*
 * Pauses or resumes recording on request of the application. While recording is paused, the shim
 * records nothing at all.
 */
void ts_annotation_switch(bool on);

/* Counts a loss in the session if no thread's ring can count it. */
void ts_annotation_count(enum ts_loss_reason reason);
