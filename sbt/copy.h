/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies traces into a new trace: a window of one trace, or several traces united. The result is a
 * trace like any other.
 *
 * Strings, stacks, threads and images get new ids, and times may be shifted. All other fields of a
 * row stay the same. Sessions of several sources with the same UUID are united into one session:
 * parts of a recording that was split, or that another daemon continued. Threads, devices, modules,
 * names and rows that several parts have are written once.
 *
 * Times. Sources that were recorded on one machine without a reboot between them share their clock.
 * These sources have the same `boot_id` in their metadata. If a `boot_id` is missing, sources share
 * their clock if they have the same hostname and, within a second, the same distance between
 * CLOCK_REALTIME and CLOCK_MONOTONIC. Other sources are aligned by CLOCK_REALTIME. The copy uses
 * the clock of the machine that was up longest; the times of all other machines are shifted by a
 * constant. The error of the shift is bounded by the error of the clock snapshots and by the change
 * of the distance between snapshots. The difference between the CLOCK_REALTIMEs of two machines is
 * unknown and not included.
 *
 * A window [from, to] keeps all rows that touch it, and:
 * - all rows of an operation if one of them touches the window (its call, its device rows);
 * - the rows that describe the state at `from`: contexts, streams and device code created or
 *   destroyed before, allocations not yet freed, and open ranges;
 * - the last clock snapshots before the window and the first after it;
 * - the definitions that kept rows refer to; for addresses, the modules and symbols of kept stacks.
 *
 * Metadata on which all sources agree is copied. Metadata that differs gets the number of its
 * source as a prefix ("2.hostname"). Metadata also records what a copy was made of, see FORMAT.md.
 *
 * A copy runs in the calling thread. No other thread may use the readers meanwhile.
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
	const char *name;	 /* recorded in the copy's metadata */
	uint64_t shift_ns;	 /* output: added to the source's times */
	uint64_t shift_error_ns; /* output: bound of the shift's error; 0: same clock */
};

struct ts_sbt_copy_options {
	uint64_t from_ns; /* absolute, as in the rows of the first source */
	uint64_t to_ns;	  /* 0: no limit */
	uint32_t session; /* a session of the first source; 0: all sessions */
	bool has_window;  /* from_ns and to_ns are set; one source only */
};

struct ts_sbt_copy_report {
	uint64_t n_rows; /* event rows written */
	uint64_t n_sessions;
	uint64_t n_repeated;	    /* rows that several sources had */
	uint64_t n_damaged;	    /* unreadable blocks, missing in the copy */
	struct ts_sbt_error damage; /* the first of them */
	/* name of the source file that is damaged; NULL: no source is */
	const char *damaged;
	/*
	 * Number of captured operations of the sources. A copy has none of them, because the blobs
	 * that they refer to are not copied.
	 */
	uint64_t n_left_out;
};

#define TS_SBT_COPY_MAX_SOURCES 1024u

/*
 * Copies everything that `options` select into a new writer. The caller owns all arguments and
 * calls ts_sbt_writer_finish() afterwards. Sets shift_ns and shift_error_ns of the sources. Damaged
 * blocks are counted in the report and skipped. Returns 0, or:
 * - -EINVAL: no source, or a window with several sources;
 * - -E2BIG: more than TS_SBT_COPY_MAX_SOURCES sources;
 * - another negative errno: memory, or an error of a reader or the writer;
 * - TS_SBT_E_LIMIT: a source is larger than a reader accepts.
 */
int ts_sbt_copy(struct ts_sbt_copy_source *sources, size_t n_sources,
		const struct ts_sbt_copy_options *options, struct ts_sbt_writer *writer,
		struct ts_sbt_copy_report *ret_report);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
