/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sums of a trace by stack, as a tree of frames: a shared part of stacks is stored once. Not
 * thread-safe.
 */
#pragma once

#include "tools/export/export-frames.h"

struct ts_stack_node {
	uint32_t parent; /* index + 1; 0: an outermost frame. A parent has the smaller index */
	uint32_t text;	 /* of frames.texts */
	/* end of key */
	uint64_t weight;       /* of the stacks that end here */
	uint32_t kind;	       /* enum ts_frame_kind */
	uint32_t is_operation; /* the kernel, copy or set */
};

struct ts_stack_tree {
	struct ts_frames frames;
	struct ts_collected collected; /* includes the report */
	struct ts_hashtable nodes;     /* of struct ts_stack_node */
};

/*
 * Reads the sums of the requested weight. Call ts_stack_tree_deinit() also after a failure. Returns
 * 0, or the errors of export.h.
 */
int ts_stack_tree_read(struct ts_stack_tree *tree, struct ts_sbt_reader *reader,
		       const struct ts_export_options *options);
void ts_stack_tree_deinit(struct ts_stack_tree *tree);

static inline struct ts_stack_node *ts_stack_tree_at(const struct ts_stack_tree *tree, uint32_t i)
{
	return ts_hashtable_at(&tree->nodes, i);
}
