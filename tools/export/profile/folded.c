/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes folded stacks for flamegraph.pl, inferno and speedscope: one line per stack, outermost
 * frame first. tsctl export calls this file; this file calls stack-tree.c. The lines are the paths
 * of the tree.
 */
#include "tools/export/profile/stack-tree.h"

#include <inttypes.h>

struct folded {
	struct ts_stack_tree tree;
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
	ts_stack_tree_deinit(&folded->tree);
	ts_buffer_deinit(&folded->order);
	ts_buffer_deinit(&folded->first);
	ts_buffer_deinit(&folded->depth);
	ts_buffer_deinit(&folded->line);
}

static struct ts_stack_node *node_at(const struct folded *folded, uint32_t i)
{
	return ts_stack_tree_at(&folded->tree, i);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static int compare_nodes(const void *a, const void *b, void *data)
{
	const struct folded *folded = data;
	const struct ts_stack_node *x = node_at(folded, *(const uint32_t *)a);
	const struct ts_stack_node *y = node_at(folded, *(const uint32_t *)b);
	size_t n_x, n_y;
	const char *text_x, *text_y;
	int r;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	text_x = ts_texts_at(&folded->tree.frames.texts, x->text, &n_x);
	text_y = ts_texts_at(&folded->tree.frames.texts, y->text, &n_y);
	r = memcmp(text_x, text_y, n_x < n_y ? n_x : n_y);
	return r ? r : n_x < n_y ? -1 : n_x > n_y;
}

static int sort_nodes(struct folded *folded)
{
	uint32_t n = folded->tree.nodes.n, *order, *first;
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
		const char *text = ts_texts_at(&folded->tree.frames.texts,
					       node_at(folded, path[i])->text, &n_text);
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
	const uint32_t n = folded->tree.nodes.n;
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
	int r = ts_stack_tree_read(&folded.tree, reader, options);

	if (!r)
		r = sort_nodes(&folded);
	if (!r)
		r = print_tree(&folded, file);
	if (r)
		return r;
	*ret_report = folded.tree.collected.report;
	return 0;
}
