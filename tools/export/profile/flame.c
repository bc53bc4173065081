/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws a flame graph as SVG. tsctl export calls this file; this file calls stack-tree.c and
 * replay/report/pictures.
 */
#include "replay/report/pictures/picture.h"
#include "tools/export/profile/stack-tree.h"

static const struct {
	const char *name;
	enum ts_picture_unit unit;
} weights[TS_EXPORT_N_WEIGHTS] = {
	[TS_EXPORT_LAUNCHES] = {"Kernel launches by launching stack", TS_PICTURE_COUNT},
	[TS_EXPORT_GPU_TIME] = {"GPU time by launching stack", TS_PICTURE_NS},
	[TS_EXPORT_BYTES] = {"Copied bytes by launching stack", TS_PICTURE_BYTES},
	[TS_EXPORT_CPU] = {"Time of threads on a CPU by stack", TS_PICTURE_NS},
	[TS_EXPORT_OFF_CPU] = {"Time of threads off the CPU by stack", TS_PICTURE_NS},
	[TS_EXPORT_HOST] = {"Time of threads by stack", TS_PICTURE_NS},
};

static enum ts_picture_kind kind_of(const struct ts_stack_node *node)
{
	if (node->is_operation)
		return TS_PICTURE_OPERATION;
	if (node->kind == TS_FRAME_OF_PYTHON)
		return TS_PICTURE_PYTHON;
	return node->kind == TS_FRAME_NAMED ? TS_PICTURE_OTHER : TS_PICTURE_NATIVE;
}

static int write_tree(const struct ts_stack_tree *tree, const struct ts_export_options *options,
		      FILE *file)
{
	const struct ts_picture_options picture = {.width = options->width,
						   .title = options->title};
	ts_cleanup(ts_freep) struct ts_picture_frame *frames =
		calloc(tree->nodes.n + (size_t)1, sizeof(*frames));
	ts_cleanup(ts_freep) char *svg = NULL;
	size_t n_bytes = 0;
	int r = frames ? 0 : -ENOMEM;

	for (uint32_t i = 0; !r && i < tree->nodes.n; i++) {
		const struct ts_stack_node *node = ts_stack_tree_at(tree, i);

		frames[i].parent = node->parent;
		frames[i].kind = kind_of(node);
		frames[i].weight = node->weight;
		frames[i].name =
			ts_texts_at(&tree->frames.texts, node->text, &frames[i].n_name_bytes);
	}
	if (!r)
		r = ts_picture_flame(frames, tree->nodes.n, weights[options->weight].name,
				     weights[options->weight].unit, &picture, &svg, &n_bytes);
	if (!r)
		fwrite(svg, 1, n_bytes, file);
	return r;
}

int ts_export_flame(struct ts_sbt_reader *reader, const struct ts_export_options *options,
		    FILE *file, struct ts_export_report *ret_report)
{
	ts_cleanup(ts_stack_tree_deinit) struct ts_stack_tree tree = {0};
	int r = ts_stack_tree_read(&tree, reader, options);

	if (!r)
		r = write_tree(&tree, options, file);
	if (r)
		return r;
	*ret_report = tree.collected.report;
	return 0;
}
