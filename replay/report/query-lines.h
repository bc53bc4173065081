/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers that are lists, as lines of JSON instead of messages. The text is made in threads, which
 * take most of the time of a long list.
 */
#pragma once

#include "replay/report/pieces.h"
#include "replay/report/query.h"

/*
 * Like ts_query_run(), but `write` gets the rows of an answer, and the nodes, edges and steps of a
 * graph: the text that ts_json_message() makes of each message, as a line. `write` is called with
 * `data` of the options and with many lines at a time. The caller's thread makes the first call,
 * any thread the later ones, one at a time. options->give() gets the other messages, such as the
 * graph's summary. If `write` is NULL, `give` gets all.
 */
int ts_query_lines(struct ts_sbt_reader *reader, uint32_t session, const Ts__Rpc__Query *query,
		   const struct ts_query_options *options, ts_lines_fn *write,
		   struct ts_query_end *ret_end);
