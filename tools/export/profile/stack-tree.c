/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes one tree of all stacks with their sums. folded.c and flame.c call this file; this file
 * calls collect.c and export-frames.c.
 */
#include "tools/export/profile/stack-tree.h"

void ts_stack_tree_deinit(struct ts_stack_tree *tree)
{
	ts_frames_deinit(&tree->frames);
	ts_collected_deinit(&tree->collected);
	ts_hashtable_deinit(&tree->nodes);
}

static int descend(struct ts_stack_tree *tree, uint32_t text, uint32_t kind, uint32_t *parent)
{
	struct ts_stack_node key = {.parent = *parent, .text = text};
	bool is_new;
	uint32_t i;
	int r = ts_hashtable_get(&tree->nodes, &key, &i, &is_new);

	if (r)
		return r;
	if (is_new)
		ts_stack_tree_at(tree, i)->kind = kind;
	*parent = i + 1;
	return 0;
}

static int descend_location(struct ts_stack_tree *tree, uint32_t i, uint32_t *parent)
{
	const struct ts_frame_location *location = ts_hashtable_at(&tree->frames.locations, i);
	int r = 0;

	if (!location->n_lines)
		return descend(tree, location->folded, location->kind, parent);
	/* Inlined functions are further in: they come after the function that contains them. */
	for (uint32_t line = location->n_lines; !r && line; line--)
		r = descend(tree,
			    ts_frames_line(&tree->frames, location->first_line + line - 1)->folded,
			    location->kind, parent);
	return r;
}

static int add_sample(struct ts_stack_tree *tree, const struct ts_sample *sample)
{
	const struct ts_site *site = ts_hashtable_at(&tree->collected.sites, sample->site);
	uint64_t weight = sample->values[tree->frames.options->weight];
	const uint32_t *locations;
	uint32_t node = 0;
	size_t n;
	int r;

	if (!weight)
		return 0;
	r = ts_frames_path(&tree->frames, site, sample, &locations, &n);
	while (!r && n)
		r = descend_location(tree, locations[--n], &node);
	if (r)
		return r;
	ts_stack_tree_at(tree, node - 1)->weight += weight;
	/* Without the operation (no_leaf), a sample has no type. */
	if (tree->frames.options->weight < TS_EXPORT_FIRST_OF_HOST && sample->type)
		ts_stack_tree_at(tree, node - 1)->is_operation = 1;
	return 0;
}

int ts_stack_tree_read(struct ts_stack_tree *tree, struct ts_sbt_reader *reader,
		       const struct ts_export_options *options)
{
	int r;

	*tree = (struct ts_stack_tree){0};
	ts_hashtable_init(&tree->nodes, sizeof(struct ts_stack_node),
			  offsetof(struct ts_stack_node, weight));
	r = ts_frames_init(&tree->frames, reader, options);
	if (!r)
		r = ts_collect(reader, options, false, &tree->collected);
	for (uint32_t i = 0; !r && i < tree->collected.samples.n; i++)
		r = add_sample(tree, ts_hashtable_at(&tree->collected.samples, i));
	if (!r)
		ts_frames_report(&tree->frames, &tree->collected.report);
	return r;
}
