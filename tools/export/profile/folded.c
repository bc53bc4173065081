/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes folded stacks for flamegraph.pl, inferno and speedscope: one line per stack, outermost
 * frame first. tsctl export calls this file; this file calls collect.c and export-frames.c. All
 * stacks form one tree, so a shared part is stored once; the lines are the tree's paths.
 */
#include "tools/export/export-frames.h"

#include <inttypes.h>

struct node {
	uint32_t parent; /* index + 1; 0: an outermost frame */
	uint32_t text;
	/* end of key */
	uint64_t weight; /* of the stacks that end here */
};

struct folded {
	struct ts_frames frames;
	struct ts_collected collected;
	struct ts_hashtable nodes; /* of struct node */
	/* of uint32_t: all nodes, grouped by parent and sorted */
	struct ts_buffer order;
	/*
	 * of uint32_t: for each node and the root, the index of its first child in `order`
	 */
	struct ts_buffer first;
	struct ts_buffer depth; /* of uint32_t: path from the root to the current node */
	struct ts_buffer line;
};

static void folded_deinit(struct folded *folded)
{
	ts_frames_deinit(&folded->frames);
	ts_collected_deinit(&folded->collected);
	ts_hashtable_deinit(&folded->nodes);
	ts_buffer_deinit(&folded->order);
	ts_buffer_deinit(&folded->first);
	ts_buffer_deinit(&folded->depth);
	ts_buffer_deinit(&folded->line);
}

static struct node *node_at(const struct folded *folded, uint32_t i)
{
	return ts_hashtable_at(&folded->nodes, i);
}

/* ---- the tree -------------------------------------------------------------------------------- */

static int descend(struct folded *folded, uint32_t text, uint32_t *parent)
{
	struct node key = {.parent = *parent, .text = text};
	uint32_t i;
	int r = ts_hashtable_get(&folded->nodes, &key, &i, NULL);

	if (!r)
		*parent = i + 1;
	return r;
}

static int descend_location(struct folded *folded, uint32_t i, uint32_t *parent)
{
	const struct ts_frame_location *location = ts_hashtable_at(&folded->frames.locations, i);
	int r = 0;

	if (!location->n_lines)
		return descend(folded, location->folded, parent);
	/* Inlined functions are further in: they come after the function that contains them. */
	for (uint32_t line = location->n_lines; !r && line; line--)
		r = descend(
			folded,
			ts_frames_line(&folded->frames, location->first_line + line - 1)->folded,
			parent);
	return r;
}

static int add_sample(struct folded *folded, const struct ts_sample *sample)
{
	const struct ts_site *site = ts_hashtable_at(&folded->collected.sites, sample->site);
	uint64_t weight = sample->values[folded->frames.options->weight];
	const uint32_t *locations;
	uint32_t node = 0;
	size_t n;
	int r;

	if (!weight)
		return 0;
	r = ts_frames_path(&folded->frames, site, sample, &locations, &n);
	while (!r && n)
		r = descend_location(folded, locations[--n], &node);
	if (!r)
		node_at(folded, node - 1)->weight += weight;
	return r;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static int compare_nodes(const void *a, const void *b, void *data)
{
	const struct folded *folded = data;
	const struct node *x = node_at(folded, *(const uint32_t *)a);
	const struct node *y = node_at(folded, *(const uint32_t *)b);
	size_t n_x, n_y;
	const char *text_x, *text_y;
	int r;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	text_x = ts_texts_at(&folded->frames.texts, x->text, &n_x);
	text_y = ts_texts_at(&folded->frames.texts, y->text, &n_y);
	r = memcmp(text_x, text_y, n_x < n_y ? n_x : n_y);
	return r ? r : n_x < n_y ? -1 : n_x > n_y;
}

static int sort_nodes(struct folded *folded)
{
	uint32_t n = folded->nodes.n, *order, *first;
	uint8_t *at;
	int r = ts_buffer_reserve(&folded->order, n * sizeof(*order) + 1, &at);

	if (!r)
		r = ts_buffer_reserve(&folded->first, (n + (size_t)2) * sizeof(*first), &at);
	if (r)
		return r;
	order = (void *)folded->order.bytes;
	first = (void *)folded->first.bytes;
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), compare_nodes, folded);
	for (uint32_t parent = 0, i = 0; parent <= n + 1; parent++) {
		while (i < n && node_at(folded, order[i])->parent < parent)
			i++;
		first[parent] = i;
	}
	return 0;
}

/*
 * Appends a frame's text. A semicolon would end the frame. A number after a blank at a stack's end
 * would read as the weight.
 */
static int append_frame(struct ts_buffer *line, const char *text, size_t n)
{
	size_t from = line->n, blank;
	uint8_t *bytes;
	int r;

	if (!n) {
		text = "?";
		n = 1;
	}
	r = ts_buffer_append(line, text, n);
	if (r)
		return r;
	bytes = line->bytes + from;
	for (size_t i = 0; i < n; i++)
		if (bytes[i] == ';')
			bytes[i] = ':';
	for (blank = n; blank && (bytes[blank - 1] == '.' ||
				  (bytes[blank - 1] >= '0' && bytes[blank - 1] <= '9'));
	     blank--)
		;
	if (blank && bytes[blank - 1] == ' ')
		bytes[blank - 1] = '_';
	/* Readers drop blanks at either end. */
	for (size_t i = n; i && bytes[i - 1] == ' '; i--)
		bytes[i - 1] = '_';
	for (size_t i = 0; i < n && bytes[i] == ' '; i++)
		bytes[i] = '_';
	return 0;
}

static int print_line(struct folded *folded, FILE *file)
{
	const uint32_t *path = (const void *)folded->depth.bytes;
	size_t n_path = folded->depth.n / sizeof(*path);
	struct ts_buffer *line = &folded->line;
	char number[32];
	int n;

	line->n = 0;
	for (size_t i = 0; i < n_path; i++) {
		size_t n_text;
		const char *text =
			ts_texts_at(&folded->frames.texts, node_at(folded, path[i])->text, &n_text);
		int r = i ? ts_buffer_append(line, ";", 1) : 0;

		if (!r)
			r = append_frame(line, text, n_text);
		if (r)
			return r;
	}
	n = snprintf(number, sizeof(number), " %" PRIu64 "\n",
		     node_at(folded, path[n_path - 1])->weight);
	fwrite(line->bytes, 1, line->n, file);
	fwrite(number, 1, (size_t)n, file);
	return 0;
}

/*
 * Prints a line for each stack. A stack's own line comes before the lines of longer stacks that
 * begin with it.
 */
static int print_tree(struct folded *folded, FILE *file)
{
	const uint32_t *order = (const void *)folded->order.bytes;
	uint32_t *next = (void *)folded->first.bytes; /* next child, by parent */
	const uint32_t n = folded->nodes.n;
	ts_cleanup(ts_freep) uint32_t *ends = calloc(n + (size_t)1, sizeof(*ends));
	uint32_t parent = 0;
	int r = ends ? 0 : -ENOMEM;

	for (uint32_t i = 0; !r && i <= n; i++)
		ends[i] = next[i + 1];
	while (!r && !ferror(file)) {
		if (next[parent] < ends[parent]) {
			uint32_t node = order[next[parent]++];

			r = ts_buffer_append(&folded->depth, &node, sizeof(node));
			if (!r && node_at(folded, node)->weight)
				r = print_line(folded, file);
			parent = node + 1;
		} else if (parent) {
			folded->depth.n -= sizeof(uint32_t);
			parent = node_at(folded, parent - 1)->parent;
		} else {
			break;
		}
	}
	return r;
}

int ts_export_folded(struct ts_sbt_reader *reader, const struct ts_export_options *options,
		     FILE *file, struct ts_export_report *ret_report)
{
	ts_cleanup(folded_deinit) struct folded folded = {0};
	int r;

	ts_hashtable_init(&folded.nodes, sizeof(struct node), offsetof(struct node, weight));
	r = ts_frames_init(&folded.frames, reader, options);
	if (!r)
		r = ts_collect(reader, options, false, &folded.collected);
	for (uint32_t i = 0; !r && i < folded.collected.samples.n; i++)
		r = add_sample(&folded, ts_hashtable_at(&folded.collected.samples, i));
	if (!r)
		r = sort_nodes(&folded);
	if (!r)
		r = print_tree(&folded, file);
	if (r)
		return r;
	ts_frames_report(&folded.frames, &folded.collected.report);
	*ret_report = folded.collected.report;
	return 0;
}
