/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts that the application registers once and refers to later: registered strings, domains, and
 * the names of threads, streams and categories. The application may register them before a session
 * exists, and in a process that later forks. The tables therefore belong to the process, outlive
 * sessions, and are published in each session.
 *
 * All tables are bounded. A text that does not fit has no name and is counted in the session.
 * Handles are never freed, so the use of a handle after its end is harmless. Thread-safe; not
 * signal-safe.
 */
#pragma once

#include "inject/ring/definitions.h"

#define TS_TEXTS_MAX	   131072u
#define TS_TEXTS_MAX_BYTES (16u * 1024 * 1024)
#define TS_DOMAINS_MAX	   4096u
#define TS_NAMES_SLOTS	   65536u

/* A registered text. */
struct ts_text {
	/* epoch of the session << 32 | the text's id in that session; 0: not published */
	uint64_t known_as;
	uint64_t hash;
	struct ts_text *next;
	const char *bytes;
	uint32_t n_bytes;
	uint32_t reserved;
};

struct ts_domain {
	struct ts_text *name; /* NULL: the domain has no name, or there are too many domains */
};

/*
 * Registers `text` of n_bytes and returns its entry. The same bytes return the same entry, which
 * the table owns. NULL: the table has no room for it.
 */
struct ts_text *ts_texts_register(const char *text, size_t n_bytes);

/* Returns whether a handle from the application is an entry of the table. */
bool ts_texts_is_text(const void *handle);

/* Returns the text's id in the session of this epoch; TS_ID_UNKNOWN if the arena is full. */
uint32_t ts_texts_id(struct ts_definitions *definitions, uint32_t epoch, struct ts_text *text);

/*
 * Returns the domain with this name; each name has one domain. If the table is full, *ret_full is
 * set and the result is one domain that all names without room share. NULL: the tables could not be
 * mapped.
 */
struct ts_domain *ts_texts_domain(const char *name, size_t n_bytes, bool *ret_full);

/* Returns a domain's number, from 1; 0 if the handle is not a domain. */
uint32_t ts_texts_domain_number(const void *handle);

/*
 * Gives an object its name. Returns whether the name differs from the earlier one. *ret_full is set
 * if the table has no room.
 */
bool ts_texts_name(enum ts_name_kind kind, const struct ts_domain *domain, uint64_t object,
		   const char *name, size_t n_bytes, bool *ret_full);

/* Calls `call` for each name in the table, in no order. */
void ts_texts_each_name(void (*call)(void *data, enum ts_name_kind kind,
				     const struct ts_domain *domain, uint64_t object,
				     struct ts_text *name),
			void *data);
