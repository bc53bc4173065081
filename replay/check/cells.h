/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records the last writer and the last readers of each byte, and finds conflicts with a new access.
 * check-kernel.c uses it for the threads of a kernel, check-operations.c for the operations of a
 * program.
 *
 * Plain accesses and strong ones (atomics and similar) have separate entries: two strong accesses
 * never race. A cell keeps the last two plain readers. It keeps only the last plain writer, strong
 * reader and strong writer. So a conflict may be missed, but each reported conflict is real. Not
 * thread-safe.
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

/*
 * An access: the actor (thread or operation), the actor's clock at the access (0: no access), and
 * the instruction or operation. The caller chooses the numbers.
 */
struct ts_check_trail {
	uint32_t who, clock, what;
};

struct ts_check_touch {
	uint32_t flags;
	struct ts_check_trail mine;
	void *userdata;
	/* True if `earlier` is ordered before this access. */
	bool (*is_ordered)(void *userdata, const struct ts_check_trail *earlier);
	/* Reports a conflict. ts_check_cells_touch() reports at most one conflict for each page. */
	void (*conflict)(void *userdata, const struct ts_check_trail *earlier,
			 uint32_t earlier_flags, uint64_t address);
};

/* All zero is empty. */
struct ts_check_cells {
	struct ts_map pages; /* by address >> TS_CHECK_PAGE_SHIFT */
	uint64_t n_bytes;    /* memory use */
};

/*
 * Records an access and reports its conflicts. Returns 0, -ENOMEM, or -E2BIG if the cells would
 * need more than max_bytes. After an error, the rest of the range is not recorded.
 */
int ts_check_cells_touch(struct ts_check_cells *cells, uint64_t address, uint64_t bytes,
			 uint64_t max_bytes, const struct ts_check_touch *touch);
/* Drops the recorded accesses of the range. Returns 0 or -ENOMEM. */
int ts_check_cells_forget(struct ts_check_cells *cells, uint64_t address, uint64_t bytes);
void ts_check_cells_deinit(struct ts_check_cells *cells);

#ifdef __cplusplus
}
#endif
