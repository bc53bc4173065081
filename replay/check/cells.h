/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who wrote and who read each byte last, and what of that a further access is not ordered behind. Used twice: for the threads of a
 * kernel, and for the operations of a program.
 *
 * Plain accesses and strong ones (atomics and their like) are kept apart: two strong ones never race. Of plain reads the
 * last two readers are kept, of the others the last one: what is missed is never told, what is told is so.
 */
#pragma once

#include "proto/abi/map.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TS_CHECK_READ	    (1u << 0)
#define TS_CHECK_WRITE	    (1u << 1)
#define TS_CHECK_STRONG	    (1u << 2)

#define TS_CHECK_PAGE_SHIFT 12u
#define TS_CHECK_PAGE_BYTES (1u << TS_CHECK_PAGE_SHIFT)

/* Who, at which of its clocks (0: nobody), by what: numbers of the user's. */
struct ts_check_trail {
	uint32_t who, clock, what;
};

struct ts_check_touch {
	uint32_t flags;
	struct ts_check_trail mine;
	void *userdata;
	/* Whether what is told of came before this access. */
	bool (*is_ordered)(void *userdata, const struct ts_check_trail *earlier);
	/* At most once for each page. */
	void (*conflict)(void *userdata, const struct ts_check_trail *earlier,
			 uint32_t earlier_flags, uint64_t address);
};

/* All zero is an empty one. */
struct ts_check_cells {
	struct ts_map pages; /* by address >> TS_CHECK_PAGE_SHIFT */
	uint64_t n_bytes;    /* that it takes */
};

/* -ENOMEM; -E2BIG: it would take more than max_bytes. Then nothing more is known of the rest. */
int ts_check_cells_touch(struct ts_check_cells *cells, uint64_t address, uint64_t bytes,
			 uint64_t max_bytes, const struct ts_check_touch *touch);
/* Nobody was there. -ENOMEM. */
int ts_check_cells_forget(struct ts_check_cells *cells, uint64_t address, uint64_t bytes);
void ts_check_cells_deinit(struct ts_check_cells *cells);

#ifdef __cplusplus
}
#endif
