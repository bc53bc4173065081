/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions behind include/tracesmith/annotate.h. The header looks up the table
 * tracesmith_annotate_1 by dlsym(), which finds it only if this library is preloaded. Each function
 * of the table fills a struct ts_annotation and calls annotation.c.
 */
#include "inject/annotate/annotation.h"
#include "inject/include/tracesmith/annotate.h"

static struct ts_annotation annotation_of(void *domain, const char *name)
{
	return (struct ts_annotation){
		.text = name,
		.domain = domain,
		.domain_key = domain ? ts_texts_domain_number(domain) : 0,
	};
}

static void *find_domain(const char *name)
{
	bool full;
	struct ts_domain *domain;

	if (!name)
		return NULL;
	domain = ts_texts_domain(name, strnlen(name, TS_ANNOTATION_MAX_BYTES), &full);
	if (full)
		ts_annotation_count(TS_LOSS_BAD_ANNOTATION);
	return domain;
}

static void mark(void *domain, const char *name)
{
	const struct ts_annotation annotation = annotation_of(domain, name);

	ts_annotation_mark(&annotation);
}

static void push(void *domain, const char *name)
{
	const struct ts_annotation annotation = annotation_of(domain, name);

	(void)ts_annotation_push(&annotation);
}

static void pop(void *domain)
{
	(void)ts_annotation_pop(domain ? ts_texts_domain_number(domain) : 0);
}

static uint64_t begin(void *domain, const char *name)
{
	const struct ts_annotation annotation = annotation_of(domain, name);

	return ts_annotation_start(&annotation);
}

static void counter(void *domain, const char *name, double value)
{
	const struct ts_annotation annotation = annotation_of(domain, name);

	ts_annotation_counter(&annotation, TS_PAYLOAD_F64, value, 0);
}

static void counter_i64(void *domain, const char *name, int64_t value)
{
	const struct ts_annotation annotation = annotation_of(domain, name);

	ts_annotation_counter(&annotation, TS_PAYLOAD_I64, 0, value);
}

static void record(int on)
{
	ts_annotation_switch(on);
}

extern const struct tracesmith_functions tracesmith_annotate_1;
__attribute__((visibility("default"))) const struct tracesmith_functions tracesmith_annotate_1 = {
	.n_bytes = sizeof(tracesmith_annotate_1),
	.domain = find_domain,
	.mark = mark,
	.push = push,
	.pop = pop,
	.begin = begin,
	.end = ts_annotation_end,
	.counter = counter,
	.counter_i64 = counter_i64,
	.record = record,
};
