/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies what traces hold into a new one: a window of one, or several into one. What comes out is a trace as any other.
 *
 * Strings, stacks, threads and images get numbers of their own; everything else of a row stays, times but for a shift.
 * Sessions of several sources that have the same UUID are parts of one (of a recording that was cut, or that another daemon
 * went on with), and become one again: threads, devices, modules, names and rows that several of them have are there once.
 *
 * Times. Sources of one machine since one boot (metadata `boot_id`; without it the same hostname, and CLOCK_REALTIME as far
 * from CLOCK_MONOTONIC to within a second) share their clock. Others are brought together by CLOCK_REALTIME: times of all but
 * the machine that was up longest are shifted, by a constant of a known error (how exact the snapshots are, and
 * how much the distance of the clocks changed between them); how far apart the machines' own CLOCK_REALTIMEs were nobody can tell.
 *
 * A window [from, to]. Kept is what touches it, and
 *   - of an operation all rows, when one of them does (its call, what it did on a device);
 *   - the rows that tell what was there at `from`: contexts, streams and device code made or destroyed before, allocations
 *     not freed by then, ranges that had begun and were not over, the last clock snapshots before and the first after;
 *   - of what rows can refer to, what those kept do refer to; of addresses, the modules and symbols of their stacks.
 *
 * Metadata that all sources agree on stays as it is; what differs gets the source's number in front ("2.hostname").
 * What a copy was made of, and how, is in metadata too: FORMAT.md.
 */
#pragma once

#include "sbt/reader.h"
#include "sbt/writer.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct ts_sbt_copy_source {
	struct ts_sbt_reader *reader;
	const char *name;	 /* for the metadata of what is made */
	uint64_t shift_ns;	 /* told when it is done: added to its times */
	uint64_t shift_error_ns; /* the shift's bound; 0: the same clock */
};

struct ts_sbt_copy_options {
	uint64_t from_ns; /* absolute, as in the rows of the first source */
	uint64_t to_ns;	  /* 0: no limit */
	uint32_t session; /* of the first source; 0: all */
	bool has_window;  /* from_ns and to_ns count */
};

struct ts_sbt_copy_report {
	uint64_t n_rows; /* of events, that were written */
	uint64_t n_sessions;
	uint64_t n_repeated;	    /* rows that several sources had */
	uint64_t n_damaged;	    /* blocks that could not be read, and are not in the copy */
	struct ts_sbt_error damage; /* the first of them */
	const char *damaged;	    /* in which source; NULL: in none */
	uint64_t
		n_left_out; /* captured operations: a copy has none, for what they refer to is not copied */
};

#define TS_SBT_COPY_MAX_SOURCES 1024u

/*
 * Everything of the sources that `options` let through, into a writer that is new; ts_sbt_writer_finish() is the
 * caller's. 0, a negative errno (-E2BIG: too many sources), or TS_SBT_E_LIMIT where a source is larger than a reader accepts.
 */
int ts_sbt_copy(struct ts_sbt_copy_source *sources, size_t n_sources,
		const struct ts_sbt_copy_options *options, struct ts_sbt_writer *writer,
		struct ts_sbt_copy_report *ret_report);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
