/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DWARF half of elf-file.h: the functions of an address, also inlined ones, and their source
 * lines.
 */
#pragma once

#include <elfutils/libdw.h>

#include "daemon/worker/found.h"

/*
 * A place in the source: the innermost scope of an address, and its line. A field that is 0 means
 * that there is none.
 */
struct ts_dwarf_place {
	uint32_t scope; /* index for ts_dwarf_scope() */
	uint32_t file;	/* number of a text */
	uint32_t line;
};

struct ts_dwarf_scope {
	uint32_t outer;	   /* 0: none, the function is not inlined */
	uint32_t function; /* number of a text */
	/* the name includes the namespace and the parameters, if the function has them */
	bool is_whole;
	uint32_t file; /* file of the call in `outer` */
	uint32_t line;
};

struct ts_dwarf;

/* Reads the units. `dwarf` stays the caller's and must outlive the object. Returns 0 or -ENOMEM. */
int ts_dwarf_new(Dwarf *dwarf, struct ts_dwarf **ret_dwarf);
void ts_dwarf_free(struct ts_dwarf *dwarf); /* NULL is fine */
/*
 * True if functions and inlined functions are in separate files (.dwo, .dwp), which are not read.
 */
bool ts_dwarf_is_split(const struct ts_dwarf *dwarf);

/*
 * Finds the places and scopes of ascending addresses; both are valid until the next call. Texts go
 * to `found`. Returns 0 or -ENOMEM.
 */
int ts_dwarf_find(struct ts_dwarf *dwarf, const uint64_t *addresses, size_t n,
		  struct ts_dwarf_place *ret_places, struct ts_found *found);
/* Returns a scope of the last ts_dwarf_find(), by its index. */
const struct ts_dwarf_scope *ts_dwarf_scope(const struct ts_dwarf *dwarf, uint32_t scope);
