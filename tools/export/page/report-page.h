/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page while it is made: the answers come one after the other, and each writes its section.
 * The sections are put together at the end, because the beginning of the page quotes all of them.
 * Private to tools/export/page.
 */
#pragma once

#include "replay/report/report-pool.h"
#include "tools/export/export.h"
#include "tools/export/page/html.h"

enum ts_page_part {
	TS_PAGE_HEADER,	  /* name, duration, programs, warnings */
	TS_PAGE_ANSWERS,  /* the questions that are asked first */
	TS_PAGE_ERRORS,	  /* failed calls */
	TS_PAGE_FINDINGS, /* possible changes */
	TS_PAGE_TIMELINE,
	TS_PAGE_KERNELS,
	TS_PAGE_GAPS,
	TS_PAGE_MEMORY,
	TS_PAGE_FLAME,
	TS_PAGE_SOURCE, /* sessions, devices, losses */
	TS_PAGE_N_PARTS
};

struct ts_page {
	struct ts_sbt_reader *reader;
	const struct ts_export_options *options;
	uint64_t origin_ns; /* times are shown relative to it */
	struct ts_pool pool;
	struct ts_svg parts[TS_PAGE_N_PARTS];
};

/* Returns a time relative to the trace's start. */
static inline uint64_t ts_page_ns(const struct ts_page *page, uint64_t ns)
{
	return ns > page->origin_ns ? ns - page->origin_ns : 0;
}

/* Write the sections of an answer. */
void ts_page_info(struct ts_page *page, const Ts__Rpc__TraceInfo *info);
void ts_page_analysis(struct ts_page *page, const Ts__Rpc__AnalysisReport *report);
void ts_page_gaps(struct ts_page *page, const Ts__Rpc__GapsReport *report);
/* `svg`: the picture of memory over time. */
void ts_page_memory(struct ts_page *page, const Ts__Rpc__MemoryReport *report, const char *svg);
