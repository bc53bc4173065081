/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DWARF half of elf-file.h: which functions, inlined ones among them, an address lies in, and the source line of each.
 */
#pragma once

#include <elfutils/libdw.h>

#include "daemon/worker/found.h"

/* The innermost scope of an address, and its line; 0: none. */
struct ts_dwarf_place {
	uint32_t scope; /* index into ts_dwarf's, see ts_dwarf_scope() */
	uint32_t file;	/* text */
	uint32_t line;
};

struct ts_dwarf_scope {
	uint32_t outer;	   /* 0: none: it is a function of its own */
	uint32_t function; /* text */
	bool is_whole;	   /* with its namespace and parameters, where it has some */
	uint32_t file;	   /* where it is inlined into `outer` */
	uint32_t line;
};

struct ts_dwarf;

/* `dwarf` stays the caller's. 0 or -ENOMEM. */
int ts_dwarf_new(Dwarf *dwarf, struct ts_dwarf **ret_dwarf);
void ts_dwarf_free(struct ts_dwarf *dwarf); /* NULL is fine */
/* What functions and inlined functions there are is told by further files (.dwo, .dwp), which are not read. */
bool ts_dwarf_is_split(const struct ts_dwarf *dwarf);

/*
 * Ascending addresses. What it says is true until the next call. Texts go to `found`. 0 or -ENOMEM.
 */
int ts_dwarf_find(struct ts_dwarf *dwarf, const uint64_t *addresses, size_t n,
		  struct ts_dwarf_place *ret_places, struct ts_found *found);
const struct ts_dwarf_scope *ts_dwarf_scope(const struct ts_dwarf *dwarf, uint32_t scope);
