/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the application said once and means from then on: strings that it registered, domains, and the names of threads,
 * streams, categories. It may have said so before there was a session, and in a process from which this one was forked; so
 * all of it is the process's, outlives sessions, and is published in each.
 *
 * Everything is bounded; what does not fit any more has no name, and is counted in the session. Handles are never
 * freed, so that one that is used after its end is no danger. Thread-safe; not signal-safe.
 */
#pragma once

#include "inject/ring/definitions.h"

#define TS_TEXTS_MAX	   131072u
#define TS_TEXTS_MAX_BYTES (16u * 1024 * 1024)
#define TS_DOMAINS_MAX	   4096u
#define TS_NAMES_SLOTS	   65536u

/* A registered text. */
struct ts_text {
	uint64_t known_as; /* the session's epoch << 32 | its id there; 0: not published yet */
	uint64_t hash;
	struct ts_text *next;
	const char *bytes;
	uint32_t n_bytes;
	uint32_t reserved;
};

struct ts_domain {
	struct ts_text *name; /* NULL: without a name, there are too many */
};

/*
 * `text` of n_bytes, registered; the same bytes give the same one. NULL: there is no room for it.
 */
struct ts_text *ts_texts_register(const char *text, size_t n_bytes);

/* Whether a handle that the application gives is one that it was given. */
bool ts_texts_is_text(const void *handle);

/* The text's id in the session of this epoch. */
uint32_t ts_texts_id(struct ts_definitions *definitions, uint32_t epoch, struct ts_text *text);

/* The domain of this name: there is one for each name. *ret_full: one that stands for all that found no room. */
struct ts_domain *ts_texts_domain(const char *name, size_t n_bytes, bool *ret_full);

/* A domain's number, from 1; 0 where the handle is none. */
uint32_t ts_texts_domain_number(const void *handle);

/* A name of something. Returns whether it is news; *ret_full: there was no room. */
bool ts_texts_name(enum ts_name_kind kind, const struct ts_domain *domain, uint64_t object,
		   const char *name, size_t n_bytes, bool *ret_full);

/* Calls `call` for each name that was given, in no order. */
void ts_texts_each_name(void (*call)(void *data, enum ts_name_kind kind,
				     const struct ts_domain *domain, uint64_t object,
				     struct ts_text *name),
			void *data);
