/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds modules by address and time. Symbols, exports and reports call this module for each frame
 * of a row. The modules come from an untrusted file, so a query must be fast however modules
 * overlap and come and go.
 *
 * The bounds of all modules cut the addresses into pieces. Over the pieces lies a segment tree.
 * Each module is listed, in order of time, at the few nodes that together cover its range. All
 * modules that ever covered an address are then listed on the path from its piece to the root. Each
 * list is searched by time, so a query takes the square of a logarithm.
 *
 *                        o
 *                    /       \
 *                x               o        a module [a, c) is listed at node x,
 *              /   \           /   \
 *         [a, b)  [b, c)  [c, d)  [d, e)  a module [b, d) at the leaves [b, c) and [c, d)
 */
#include "sbt/modules.h"

/* The most modules that ts_modules_all() looks at. */
#define MAX_SEEN 256u

/* Addresses of different sessions are different places. */
struct place {
	uint32_t session;
	uint64_t address;
};

struct ts_modules {
	const struct ts_sbt_reader *reader;
	struct place *places; /* the pieces: each one begins at its place and ends at the next */
	size_t n_places;
	uint32_t *order; /* indices of modules in order of time, then of the file */
	size_t n_order;
	uint32_t *first; /* start of each node's list; 2 * n_places + 1 entries */
	uint32_t *lists; /* positions in `order`, ascending */
};

static const struct ts_sbt_module *module_at(const struct ts_modules *modules, uint32_t position)
{
	return ts_sbt_reader_module_at(modules->reader, modules->order[position]);
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static int compare_times(const void *a, const void *b, void *data)
{
	const struct ts_sbt_reader *reader = data;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	uint64_t x = ts_sbt_reader_module_at(reader, i)->row.start_ns;
	uint64_t y = ts_sbt_reader_module_at(reader, j)->row.start_ns;

	if (x != y)
		return x < y ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* Counts the places at or before this one. */
static size_t count_to(const struct ts_modules *modules, uint32_t session, uint64_t address)
{
	struct place place = {.session = session, .address = address};
	size_t low = 0, high = modules->n_places;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_places(&modules->places[middle], &place) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void sort_modules(struct ts_modules *modules)
{
	size_t n = ts_sbt_reader_n_modules(modules->reader), n_different = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct ts_sbt_module *module = ts_sbt_reader_module_at(modules->reader, i);

		if (module->row.address >= module->row.address_end)
			continue;
		modules->order[modules->n_order++] = i;
		modules->places[modules->n_places++] =
			(struct place){module->session, module->row.address};
		modules->places[modules->n_places++] =
			(struct place){module->session, module->row.address_end};
	}
	qsort(modules->places, modules->n_places, sizeof(*modules->places), compare_places);
	for (size_t i = 0; i < modules->n_places; i++)
		if (!i || compare_places(&modules->places[i], &modules->places[i - 1]))
			modules->places[n_different++] = modules->places[i];
	modules->n_places = n_different;
	/* qsort_r() has no const for its data, but the reader is not changed. */
	qsort_r(modules->order, modules->n_order, sizeof(*modules->order), compare_times,
		(void *)(uintptr_t)modules->reader);
}

/*
 * Visits the nodes that cover a module's range. The children of node i are 2i and 2i + 1; the
 * leaves begin at n_places. The first pass counts in `first`; the second, with `lists`, appends the
 * module to the lists.
 */
static void note_module(struct ts_modules *modules, uint32_t position)
{
	const struct ts_sbt_module *module = module_at(modules, position);
	size_t n = modules->n_places;
	size_t from = n - 1 + count_to(modules, module->session, module->row.address);
	size_t to = n - 1 + count_to(modules, module->session, module->row.address_end);

	for (; from < to; from >>= 1, to >>= 1) {
		size_t nodes[2], n_nodes = 0;

		if (from & 1)
			nodes[n_nodes++] = from++;
		if (to & 1)
			nodes[n_nodes++] = --to;
		for (size_t i = 0; i < n_nodes; i++) {
			if (modules->lists)
				modules->lists[modules->first[nodes[i]]++] = position;
			else
				modules->first[nodes[i]]++;
		}
	}
}

static int make_lists(struct ts_modules *modules)
{
	size_t n_nodes = 2 * modules->n_places;
	uint32_t total = 0;

	modules->first = calloc(n_nodes + 1, sizeof(*modules->first));
	if (!modules->first)
		return -ENOMEM;
	for (uint32_t i = 0; i < modules->n_order; i++)
		note_module(modules, i);
	for (size_t i = 0; i <= n_nodes; i++) {
		uint32_t n = modules->first[i];

		modules->first[i] = total;
		total += n;
	}
	modules->lists = calloc(total + 1u, sizeof(*modules->lists));
	if (!modules->lists)
		return -ENOMEM;
	for (uint32_t i = 0; i < modules->n_order; i++)
		note_module(modules, i);
	/* Each start has moved to the end of its list, which is the start of the next list. */
	memmove(modules->first + 1, modules->first, n_nodes * sizeof(*modules->first));
	modules->first[0] = 0;
	return 0;
}

int ts_modules_new(const struct ts_sbt_reader *reader, struct ts_modules **ret_modules)
{
	ts_cleanup(ts_modules_freep) struct ts_modules *modules = calloc(1, sizeof(*modules));
	size_t n = ts_sbt_reader_n_modules(reader);
	int r;

	if (!modules)
		return -ENOMEM;
	modules->reader = reader;
	modules->order = calloc(n + 1, sizeof(*modules->order));
	modules->places = calloc(2 * n + 1, sizeof(*modules->places));
	if (!modules->order || !modules->places)
		return -ENOMEM;
	sort_modules(modules);
	r = make_lists(modules);
	if (r)
		return r;
	*ret_modules = ts_take_ptr(modules);
	return 0;
}

void ts_modules_free(struct ts_modules *modules)
{
	if (!modules)
		return;
	free(modules->places);
	free(modules->order);
	free(modules->first);
	free(modules->lists);
	free(modules);
}

void ts_modules_freep(struct ts_modules **modules)
{
	ts_modules_free(*modules);
}

/* Counts the entries of a node's list up to that time. */
static uint32_t count_by(const struct ts_modules *modules, const uint32_t *list, uint32_t n,
			 uint64_t time_ns)
{
	uint32_t low = 0, high = n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (module_at(modules, list[middle])->row.start_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct ts_row_module *ts_modules_find(const struct ts_modules *modules, uint32_t session,
					    uint64_t address, uint64_t time_ns)
{
	size_t node = count_to(modules, session, address);
	uint32_t last = UINT32_MAX, next = UINT32_MAX;

	if (!node)
		return NULL;
	for (node += modules->n_places - 1; node; node >>= 1) {
		const uint32_t *list = modules->lists + modules->first[node];
		uint32_t n = modules->first[node + 1] - modules->first[node];
		uint32_t by = count_by(modules, list, n, time_ns);

		if (by && (last == UINT32_MAX || list[by - 1] > last))
			last = list[by - 1];
		if (by < n && list[by] < next)
			next = list[by];
	}
	if (last != UINT32_MAX && !(module_at(modules, last)->row.flags & TS_MODULE_UNLOADED))
		return &module_at(modules, last)->row;
	/*
	 * An unload without a load proves that the module was mapped until then. A second unload in
	 * a row proves nothing.
	 */
	if (next != UINT32_MAX &&
	    (last == UINT32_MAX || !(module_at(modules, next)->row.flags & TS_MODULE_UNLOADED)))
		return &module_at(modules, next)->row;
	return NULL;
}

static bool same_file(const struct ts_row_module *a, const struct ts_row_module *b)
{
	return a->path == b->path && a->bias == b->bias &&
	       a->n_build_id_bytes == b->n_build_id_bytes &&
	       !memcmp(a->build_id, b->build_id, sizeof(a->build_id));
}

size_t ts_modules_all(const struct ts_modules *modules, uint32_t session, uint64_t address,
		      size_t max, const struct ts_row_module **ret_found)
{
	size_t node = count_to(modules, session, address), n_found = 0;
	unsigned int n_seen = 0;

	if (!node)
		return 0;
	for (node += modules->n_places - 1; node; node >>= 1) {
		uint32_t end = modules->first[node + 1];

		for (uint32_t i = modules->first[node]; i < end && n_seen < MAX_SEEN; i++) {
			const struct ts_row_module *row =
				&module_at(modules, modules->lists[i])->row;
			size_t at = 0;

			n_seen++;
			while (at < n_found && !same_file(ret_found[at], row))
				at++;
			if (at == n_found && n_found < max)
				ret_found[n_found++] = row;
		}
	}
	return n_found;
}
