/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the processes that had the CPU while a thread that was late to launch could have run ("is it a neighbour?"), for cmd-gaps.c.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "sbt/reader.h"

/* Prints a line with the share of the gaps and the programs, the longest first; nothing if it is less than 1 %. */
void ts_neighbours_print(struct ts_sbt_reader *reader, const Ts__Rpc__GapsReport *report);
