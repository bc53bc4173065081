/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws a flame graph as SVG, or writes its frames as JSON for a program that draws them itself.
 * tsctl export and Studio's server call this file; this file calls stack-tree.c and
 * replay/report/pictures.
 */
#include "proto/rpc/json.h"
#include "replay/report/pictures/picture.h"
#include "sbt/format/block.h"
#include "tools/export/export-memory.h"
#include "tools/export/profile/stack-tree.h"

#define MAX_FRAMES     8000u
#define MAX_NAME_BYTES 2048u

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

/* ---- frames as JSON -------------------------------------------------------------------------- */

/* The callees of one frame that the answer leaves out. */
struct left_out {
	uint64_t sum;
	uint32_t n_frames; /* without their own callees */
};

struct frames {
	const struct ts_stack_tree *tree;
	uint64_t *sums;		   /* by node: weight of the stacks through it */
	uint32_t *order;	   /* nodes, the largest sum first */
	uint32_t *numbers;	   /* by node: number in the answer, from 1; 0: left out */
	struct left_out *left_out; /* by number; 0: outermost frames */
	struct ts_json json;
};

static void frames_deinit(struct frames *frames)
{
	free(frames->sums);
	free(frames->order);
	free(frames->numbers);
	free(frames->left_out);
	ts_json_deinit(&frames->json);
}

static int compare_sums(const void *a, const void *b, void *data)
{
	const struct frames *frames = data;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	if (frames->sums[i] != frames->sums[j])
		return frames->sums[i] > frames->sums[j] ? -1 : 1;
	return i < j ? -1 : i > j;
}

/*
 * Numbers the frames with the largest sums. A caller's sum is at least that of a callee, and its
 * index is smaller, so no frame is in the answer without its callers.
 */
static void choose(struct frames *frames)
{
	uint32_t n = frames->tree->nodes.n, n_chosen = 0;

	for (uint32_t i = n; i--;) {
		const struct ts_stack_node *node = ts_stack_tree_at(frames->tree, i);

		frames->order[i] = i;
		frames->sums[i] = ts_add_saturated(frames->sums[i], node->weight);
		if (node->parent)
			frames->sums[node->parent - 1] =
				ts_add_saturated(frames->sums[node->parent - 1], frames->sums[i]);
	}
	qsort_r(frames->order, n, sizeof(*frames->order), compare_sums, frames);
	for (uint32_t i = 0; i < n && i < MAX_FRAMES; i++)
		frames->numbers[frames->order[i]] = 1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t parent = ts_stack_tree_at(frames->tree, i)->parent;
		uint32_t caller = parent ? frames->numbers[parent - 1] : 0;
		struct left_out *left_out;

		if (frames->numbers[i]) {
			frames->numbers[i] = ++n_chosen;
		} else if (caller || !parent) {
			left_out = &frames->left_out[caller];
			left_out->sum = ts_add_saturated(left_out->sum, frames->sums[i]);
			left_out->n_frames++;
		}
	}
}

/* Begins the object of a frame. */
static void put_parent(struct ts_json *json, uint32_t parent, bool is_first)
{
	ts_json_raw(json, is_first ? "{\"parent\": " : ",\n{\"parent\": ");
	ts_json_uint(json, parent);
}

static void put_weight(struct ts_json *json, uint64_t weight)
{
	ts_json_raw(json, ", \"weight\": ");
	ts_json_uint(json, weight);
	ts_json_raw(json, "}");
}

static void put_frame(struct frames *frames, uint32_t i)
{
	static const char *const kinds[TS_PICTURE_N_KINDS] = {
		[TS_PICTURE_NATIVE] = "native",
		[TS_PICTURE_PYTHON] = "python",
		[TS_PICTURE_OPERATION] = "operation",
		[TS_PICTURE_OTHER] = "other",
	};
	const struct ts_stack_node *node = ts_stack_tree_at(frames->tree, i);
	struct ts_json *json = &frames->json;
	size_t n_bytes;
	const char *name = ts_texts_at(&frames->tree->frames.texts, node->text, &n_bytes);

	put_parent(json, node->parent ? frames->numbers[node->parent - 1] : 0,
		   frames->numbers[i] == 1);
	ts_json_raw(json, ", \"name\": ");
	ts_json_string_n(json, name, n_bytes < MAX_NAME_BYTES ? n_bytes : MAX_NAME_BYTES);
	ts_json_raw(json, ", \"kind\": ");
	ts_json_string(json, kinds[kind_of(node)]);
	put_weight(json, node->weight);
}

static void put_frames(struct frames *frames, enum ts_export_weight weight)
{
	static const char *const units[] = {
		[TS_PICTURE_COUNT] = "count", [TS_PICTURE_NS] = "ns", [TS_PICTURE_BYTES] = "bytes"};
	uint32_t n = frames->tree->nodes.n;

	ts_json_raw(&frames->json, "{\"unit\": ");
	ts_json_string(&frames->json, units[weights[weight].unit]);
	ts_json_raw(&frames->json, ",\n\"frames\": [");
	for (uint32_t i = 0; i < n; i++)
		if (frames->numbers[i])
			put_frame(frames, i);
	for (uint32_t i = 0; i <= n && i <= MAX_FRAMES; i++) {
		if (!frames->left_out[i].n_frames)
			continue;
		put_parent(&frames->json, i, false);
		ts_json_raw(&frames->json, ", \"left_out\": ");
		ts_json_uint(&frames->json, frames->left_out[i].n_frames);
		put_weight(&frames->json, frames->left_out[i].sum);
	}
	ts_json_raw(&frames->json, "]}\n");
}

int ts_export_frames(struct ts_sbt_reader *reader, const struct ts_export_options *options,
		     FILE *file, struct ts_export_report *ret_report)
{
	ts_cleanup(ts_stack_tree_deinit) struct ts_stack_tree tree = {0};
	ts_cleanup(frames_deinit) struct frames frames = {.tree = &tree};
	int r = ts_stack_tree_read(&tree, reader, options);
	size_t n = tree.nodes.n + (size_t)1;

	if (r)
		return r;
	frames.sums = calloc(n, sizeof(*frames.sums));
	frames.order = calloc(n, sizeof(*frames.order));
	frames.numbers = calloc(n, sizeof(*frames.numbers));
	frames.left_out =
		calloc(n < MAX_FRAMES ? n : MAX_FRAMES + (size_t)1, sizeof(*frames.left_out));
	if (!frames.sums || !frames.order || !frames.numbers || !frames.left_out)
		return -ENOMEM;
	choose(&frames);
	put_frames(&frames, options->weight);
	if (frames.json.error)
		return frames.json.error;
	fwrite(frames.json.data, 1, frames.json.n_bytes, file);
	*ret_report = tree.collected.report;
	return 0;
}
