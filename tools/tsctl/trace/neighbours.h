/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the processes that had the CPU while a thread was runnable and late to launch. cmd-gaps.c
 * uses it.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "sbt/reader.h"

/*
 * Prints a line with the share of the gaps and the programs, longest first. Prints nothing below 1
 * %.
 */
void ts_neighbours_print(struct ts_sbt_reader *reader, const Ts__Rpc__GapsReport *report);
