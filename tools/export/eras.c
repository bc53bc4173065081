/* SPDX-License-Identifier: Apache-2.0 */
/* The instants at which modules went, sorted and searched. */
#include "tools/export/eras.h"

struct era {
	uint32_t session;
	uint64_t start_ns;
};

static int compare(const void *a, const void *b)
{
	const struct era *x = a, *y = b;

	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

int ts_eras_init(struct ts_eras *eras, struct ts_sbt_reader *reader)
{
	size_t n = ts_sbt_reader_n_modules(reader);

	*eras = (struct ts_eras){0};
	for (size_t i = 0; i < n; i++) {
		const struct ts_sbt_module *module = ts_sbt_reader_module_at(reader, i);
		struct era era = {module->session, module->row.start_ns};
		int r = module->row.flags & TS_MODULE_UNLOADED
				? ts_buffer_append(&eras->list, &era, sizeof(era))
				: 0;

		if (r)
			return r;
	}
	if (eras->list.n)
		qsort(eras->list.bytes, eras->list.n / sizeof(struct era), sizeof(struct era),
		      compare);
	return 0;
}

void ts_eras_deinit(struct ts_eras *eras)
{
	ts_buffer_deinit(&eras->list);
}

uint32_t ts_eras_at(const struct ts_eras *eras, uint32_t session, uint64_t time_ns)
{
	const struct era *list = (const void *)eras->list.bytes;
	struct era key = {session, time_ns};
	size_t low = 0, high = eras->list.n / sizeof(*list);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(&list[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return (uint32_t)low;
}
