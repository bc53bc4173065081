/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of kineto's most frequent events: calls and GPU work. kineto.c decides everything that
 * depends on other rows (thread, lane, name, order), and adds the decided slices and finished texts
 * to pieces (replay/report/pieces.h). Any thread turns a piece into text.
 */
#pragma once

#include <stdio.h>

#include "replay/report/pieces.h"
#include "sbt/reader.h"
#include "tools/export/kineto/kineto-events.h"

struct ts_kineto_slice {
	uint32_t n_bytes; /* of the item, a multiple of 8 */
	uint32_t type;	  /* TS_ROW_* */
	uint32_t session, reserved;
	struct ts_events_place place;
	uint64_t start_ns, took_ns; /* the start since the export's origin */
	uint64_t queued_ns;	    /* of a kernel, since the origin; 0: unknown */
	uint64_t correlation;
	uint64_t nested;  /* correlation of the call inside; 0: none */
	const char *name; /* valid until the export's end; NULL: none */
	uint8_t row[];
};

/* Facts for all slices. The threads only read them. */
struct ts_kineto_slices {
	/* The threads call only ts_sbt_reader_device(), which changes nothing. */
	const struct ts_sbt_reader *reader;
	FILE *file;
};

int ts_kineto_slices_new(struct ts_kineto_slices *slices, struct ts_pieces **ret_pieces);

/*
 * Adds a slice with a copy of its row, or a text. The caller fills the fields of *ret_slice from
 * `place` on. Return values are those of ts_pieces_add().
 */
int ts_kineto_slices_add(struct ts_pieces *pieces, const struct ts_sbt_row *row,
			 struct ts_kineto_slice **ret_slice);
int ts_kineto_slices_add_text(struct ts_pieces *pieces, const struct ts_json *text);
