/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares traces of two builds of one program, with one or more traces of each, as `tsctl diff`
 * does. The answer is one DiffReport of proto/rpc/tracesmith.proto.
 *
 * Every reader serves this call alone until ts_query_diff() returns. The library prints nothing and
 * never ends the process.
 */
#pragma once

#include "replay/report/query.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TS_QUERY_DIFF_MAX_RUNS 64u /* maximum number of traces on a side */

/* The traces of one build. Owned by the caller. */
struct ts_query_side {
	struct ts_sbt_reader *const *readers;
	size_t n;	  /* number of readers: 1 to TS_QUERY_DIFF_MAX_RUNS */
	const char *path; /* name of the first trace, for the report; may be NULL */
};

/*
 * Compares sides[0], the traces before a change, with sides[1], the traces after it. Passes the
 * DiffReport to options->give, with the number 0. The used options are give, data, no_memory and
 * cancel. Returns 0; -EINVAL (`give` or `no_memory` is NULL); -ENOMEM; -ECANCELED; TS_QUERY_E_MANY
 * (too many or no readers, or a limit beyond 1048576); TS_E_* (replay/state/limit.h); the errors of
 * sbt/reader.h; or the value of `give`. If a trace cannot be read, or is damaged, *ret_side and
 * *ret_run name it. *ret_end is untouched unless 0 is returned.
 */
int ts_query_diff(const struct ts_query_side sides[2], const Ts__Rpc__DiffQuery *query,
		  const struct ts_query_options *options, struct ts_query_end *ret_end,
		  unsigned *ret_side, size_t *ret_run);

#ifdef __cplusplus
}
#endif
