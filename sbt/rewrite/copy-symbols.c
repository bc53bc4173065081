/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies images and symbols. An image is one file in one session, so the symbols that several
 * sources have for it are united under one image. copy.c calls this module for each kept frame, and
 * once after all sessions.
 */
#include "sbt/rewrite/copy-internal.h"

#define MODULES_AT_ADDRESS 8u

/*
 * Mixes a key of three numbers. Two different triples may have the same key; then one item too many
 * is kept, which does no harm.
 */
static uint64_t key_of(uint64_t a, uint64_t b, uint64_t c)
{
	return ts_hash_add(ts_hash_add(ts_hash_key(a), b), c);
}

static int keep_in_image(struct ts_copy_source *source, uint32_t image, uint64_t address)
{
	int r = ts_map_set(&source->kept_images, image, 1);

	return r ?: ts_map_set(&source->kept_symbols, key_of(address, image, 0), 1);
}

int ts_copy_keep_frame(struct ts_copy_source *source, uint32_t session, uint64_t address)
{
	const struct ts_row_module *found[MODULES_AT_ADDRESS];
	const struct ts_row_image *image;
	size_t n = ts_modules_all(source->modules, session, address, MODULES_AT_ADDRESS, found);
	int r = 0;

	for (size_t i = 0; !r && i < n; i++) {
		r = ts_map_set(&source->kept_modules,
			       key_of(found[i]->address, found[i]->path, session), 1);
		image = source->symbols ? ts_symbols_image(source->symbols, found[i]) : NULL;
		if (!r && image)
			r = keep_in_image(source, image->image, address - found[i]->bias);
	}
	for (size_t i = 0; !r && source->symbols && i < ts_symbols_n_images(source->symbols); i++) {
		image = ts_symbols_image_at(source->symbols, i);
		if (image->kind != TS_IMAGE_ELF && image->session == session)
			r = keep_in_image(source, image->image, address);
	}
	return r;
}

bool ts_copy_keeps_module(const struct ts_copy_source *source, uint32_t session,
			  const struct ts_row_module *module)
{
	return ts_map_get(&source->kept_modules, key_of(module->address, module->path, session)) !=
	       0;
}

/* The result: images by content, symbols by image, address and depth. */
struct symbols {
	struct ts_intern
		files; /* key: session, kind, path, build id; the id is the image's number */
	struct ts_buffer images;
	struct ts_buffer rows;
};

struct numbered {
	struct ts_row_symbol row;
	uint32_t source;
	uint32_t reserved;
};

static int take_image(struct ts_copy *copy, struct ts_copy_source *source,
		      const struct ts_row_image *image, struct symbols *made,
		      struct ts_map *numbers)
{
	struct ts_row_image row, file, *before;
	bool is_new;
	int r = ts_copy_translate_definition(copy, source, ts_row_schema(TS_ROW_IMAGE), image,
					     &row);

	/* An image whose session is not in the copy is left out. */
	if (r || (image->session && !row.session))
		return r;
	file = row;
	file.image = file.result = file.why = 0;
	r = ts_intern(&made->files, &file, sizeof(file), &row.image, &is_new);
	r = r ?: ts_map_set(numbers, image->image, row.image);
	if (r)
		return r;
	if (is_new)
		return ts_buffer_append(&made->images, &row, sizeof(row));
	/* The source with the better result (lower value) provides the image's row. */
	before = (struct ts_row_image *)(void *)made->images.bytes + row.image - 1;
	if (row.result < before->result)
		*before = row;
	return 0;
}

static int take_symbols(struct ts_copy *copy, struct ts_copy_source *source,
			const struct ts_map *numbers, size_t block, struct symbols *made)
{
	ts_cleanup(ts_freep) struct ts_row_symbol *rows = NULL;
	struct numbered symbol = {.source = source->number};
	uint32_t n = 0;
	int r = ts_sbt_reader_decode(source->reader, block, (void **)(void *)&rows, &n);

	if (r)
		return ts_copy_damage(copy, source, r);
	for (uint32_t i = 0; !r && i < n; i++) {
		uint64_t number = ts_map_get(numbers, rows[i].image);
		uint64_t key = key_of(rows[i].address, rows[i].image, 0);

		if (!number ||
		    (copy->options->has_window && !ts_map_get(&source->kept_symbols, key)))
			continue;
		r = ts_copy_translate_definition(copy, source, ts_row_schema(TS_ROW_SYMBOL),
						 &rows[i], &symbol.row);
		symbol.row.image = (uint32_t)number;
		r = r ?: ts_buffer_append(&made->rows, &symbol, sizeof(symbol));
	}
	return r;
}

static int take_source(struct ts_copy *copy, struct ts_copy_source *source, struct symbols *made)
{
	struct ts_map numbers = {0};
	int r = 0;

	for (size_t i = 0; !r && i < ts_symbols_n_images(source->symbols); i++) {
		const struct ts_row_image *image = ts_symbols_image_at(source->symbols, i);

		if (!copy->options->has_window || ts_map_get(&source->kept_images, image->image))
			r = take_image(copy, source, image, made, &numbers);
	}
	for (size_t i = 0; !r && i < ts_sbt_reader_n_blocks(source->reader); i++)
		if (ts_sbt_reader_block(source->reader, i)->type == TS_ROW_SYMBOL)
			r = take_symbols(copy, source, &numbers, i, made);
	ts_map_deinit(&numbers);
	return r;
}

static int compare_symbols(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	if (x->row.image != y->row.image)
		return x->row.image < y->row.image ? -1 : 1;
	if (x->row.address != y->row.address)
		return x->row.address < y->row.address ? -1 : 1;
	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return x->row.depth < y->row.depth ? -1 : x->row.depth > y->row.depth;
}

/*
 * Writes images and symbols. The frames of an address come from the first source that has the
 * address.
 */
static int write_symbols(struct ts_copy *copy, struct symbols *made)
{
	const struct ts_row_image *images = (const void *)made->images.bytes;
	struct numbered *rows = (void *)made->rows.bytes;
	size_t n = made->rows.n / sizeof(*rows), first = 0;
	int r = 0;

	for (size_t i = 0; !r && i < made->images.n / sizeof(*images); i++)
		r = ts_sbt_writer_row(copy->writer, TS_ROW_IMAGE, &images[i]);
	if (n)
		qsort(rows, n, sizeof(*rows), compare_symbols);
	for (size_t i = 0; !r && i < n; i++) {
		if (rows[i].row.image != rows[first].row.image ||
		    rows[i].row.address != rows[first].row.address)
			first = i;
		if (rows[i].source == rows[first].source)
			r = ts_sbt_writer_row(copy->writer, TS_ROW_SYMBOL, &rows[i].row);
	}
	return r;
}

int ts_copy_symbols(struct ts_copy *copy)
{
	struct symbols made = {0};
	int r = 0;

	ts_intern_init(&made.files, copy->seed);
	for (size_t i = 0; !r && i < copy->n_sources; i++)
		if (copy->sources[i].symbols)
			r = take_source(copy, &copy->sources[i], &made);
	r = r ?: write_symbols(copy, &made);
	ts_intern_deinit(&made.files);
	ts_buffer_deinit(&made.images);
	ts_buffer_deinit(&made.rows);
	return r;
}
