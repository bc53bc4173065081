/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts the times of module unloads and searches them. collect.c, collect-host.c and perfetto.c
 * call this file; this file reads the modules from sbt/reader.h.
 */
#include "tools/export/epochs.h"

struct epoch {
	uint32_t session;
	uint64_t start_ns;
};

static int compare(const void *a, const void *b)
{
	const struct epoch *x = a, *y = b;

	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

int ts_epochs_init(struct ts_epochs *epochs, struct ts_sbt_reader *reader)
{
	size_t n = ts_sbt_reader_n_modules(reader);

	*epochs = (struct ts_epochs){0};
	for (size_t i = 0; i < n; i++) {
		const struct ts_sbt_module *module = ts_sbt_reader_module_at(reader, i);
		struct epoch epoch = {module->session, module->row.start_ns};
		int r = module->row.flags & TS_MODULE_UNLOADED
				? ts_buffer_append(&epochs->list, &epoch, sizeof(epoch))
				: 0;

		if (r)
			return r;
	}
	if (epochs->list.n)
		qsort(epochs->list.bytes, epochs->list.n / sizeof(struct epoch),
		      sizeof(struct epoch), compare);
	return 0;
}

void ts_epochs_deinit(struct ts_epochs *epochs)
{
	ts_buffer_deinit(&epochs->list);
}

uint32_t ts_epochs_at(const struct ts_epochs *epochs, uint32_t session, uint64_t time_ns)
{
	const struct epoch *list = (const void *)epochs->list.bytes;
	struct epoch key = {session, time_ns};
	size_t low = 0, high = epochs->list.n / sizeof(*list);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(&list[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return (uint32_t)low;
}
