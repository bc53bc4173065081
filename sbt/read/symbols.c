/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images and symbols of a trace. They are read only for a caller that asks for names: copies,
 * exports, reports and the daemon's symbolizer. Images and symbols are sorted arrays with binary
 * search.
 */
#include "sbt/symbols.h"

#include "sbt/buffer.h"

#define MAX_SYMBOLS (16u * 1024 * 1024)
#define MAX_IMAGES  (1024u * 1024)

struct ts_symbols {
	struct ts_buffer images;  /* struct ts_row_image, by file, then number */
	struct ts_buffer symbols; /* struct ts_row_symbol, by image, address, depth */
};

/* Compares the files of two images. */
static int compare_files(const struct ts_row_image *x, const struct ts_row_image *y)
{
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	if (x->path != y->path)
		return x->path < y->path ? -1 : 1;
	if (x->n_build_id_bytes != y->n_build_id_bytes)
		return x->n_build_id_bytes < y->n_build_id_bytes ? -1 : 1;
	return memcmp(x->build_id, y->build_id, sizeof(x->build_id));
}

static int compare_images(const void *a, const void *b)
{
	const struct ts_row_image *x = a, *y = b;
	int r = compare_files(x, y);

	return r ? r : x->image < y->image ? -1 : x->image > y->image;
}

static int compare_symbols(const void *a, const void *b)
{
	const struct ts_row_symbol *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->depth < y->depth ? -1 : x->depth > y->depth;
}

static int take_block(struct ts_sbt_reader *reader, size_t i, size_t row_bytes, size_t max,
		      struct ts_buffer *to)
{
	ts_cleanup(ts_freep) void *rows = NULL;
	uint32_t n;
	int r = ts_sbt_reader_decode(reader, i, &rows, &n);

	if (r)
		return r;
	if (to->n / row_bytes + n > max)
		return TS_SBT_E_LIMIT;
	return ts_buffer_append(to, rows, n * row_bytes);
}

/* Keeps the last image of each file. */
static void keep_last(struct ts_symbols *symbols)
{
	struct ts_row_image *images = (void *)symbols->images.bytes;
	size_t n = symbols->images.n / sizeof(*images), kept = 0;

	for (size_t i = 0; i < n; i++)
		if (i + 1 == n || compare_files(&images[i], &images[i + 1]))
			images[kept++] = images[i];
	symbols->images.n = kept * sizeof(*images);
}

int ts_symbols_new(struct ts_sbt_reader *reader, struct ts_symbols **ret_symbols)
{
	ts_cleanup(ts_symbols_freep) struct ts_symbols *symbols = calloc(1, sizeof(*symbols));
	size_t n = ts_sbt_reader_n_blocks(reader);
	int r = symbols ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < n; i++) {
		switch (ts_sbt_reader_block(reader, i)->type) {
		case TS_ROW_IMAGE:
			r = take_block(reader, i, sizeof(struct ts_row_image), MAX_IMAGES,
				       &symbols->images);
			break;
		case TS_ROW_SYMBOL:
			r = take_block(reader, i, sizeof(struct ts_row_symbol), MAX_SYMBOLS,
				       &symbols->symbols);
			break;
		default:
			break;
		}
	}
	if (r)
		return r;
	if (symbols->images.n)
		qsort(symbols->images.bytes, symbols->images.n / sizeof(struct ts_row_image),
		      sizeof(struct ts_row_image), compare_images);
	if (symbols->symbols.n)
		qsort(symbols->symbols.bytes, symbols->symbols.n / sizeof(struct ts_row_symbol),
		      sizeof(struct ts_row_symbol), compare_symbols);
	keep_last(symbols);
	*ret_symbols = ts_take_ptr(symbols);
	return 0;
}

void ts_symbols_free(struct ts_symbols *symbols)
{
	if (!symbols)
		return;
	ts_buffer_deinit(&symbols->images);
	ts_buffer_deinit(&symbols->symbols);
	free(symbols);
}

bool ts_symbols_any(const struct ts_symbols *symbols)
{
	return symbols->images.n;
}

size_t ts_symbols_n_images(const struct ts_symbols *symbols)
{
	return symbols->images.n / sizeof(struct ts_row_image);
}

const struct ts_row_image *ts_symbols_image_at(const struct ts_symbols *symbols, size_t i)
{
	return i < ts_symbols_n_images(symbols)
		       ? &((const struct ts_row_image *)(const void *)symbols->images.bytes)[i]
		       : NULL;
}

/* Returns the position of the first image of this file, or of a file that sorts after it. */
static size_t image_at_or_after(const struct ts_symbols *symbols, const struct ts_row_image *key)
{
	size_t low = 0, high = ts_symbols_n_images(symbols);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_files(ts_symbols_image_at(symbols, middle), key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct ts_row_image *ts_symbols_image(const struct ts_symbols *symbols,
					    const struct ts_row_module *module)
{
	struct ts_row_image key = {.kind = TS_IMAGE_ELF,
				   .path = module->path,
				   .n_build_id_bytes = module->n_build_id_bytes};
	const struct ts_row_image *image;

	memcpy(key.build_id, module->build_id, sizeof(key.build_id));
	image = ts_symbols_image_at(symbols, image_at_or_after(symbols, &key));
	return image && !compare_files(image, &key) ? image : NULL;
}

static const struct ts_row_symbol *find_in(const struct ts_symbols *symbols, uint32_t image,
					   uint64_t address, size_t *ret_n)
{
	const struct ts_row_symbol *rows = (const void *)symbols->symbols.bytes;
	size_t n = symbols->symbols.n / sizeof(*rows), low = 0, high = n, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rows[middle].image < image ||
		    (rows[middle].image == image && rows[middle].address < address))
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < n && rows[end].image == image && rows[end].address == address; end++)
		;
	*ret_n = end - low;
	return end > low ? &rows[low] : NULL;
}

const struct ts_row_symbol *ts_symbols_find(const struct ts_symbols *symbols, uint32_t session,
					    const struct ts_row_module *module, uint64_t address,
					    size_t *ret_n, const struct ts_row_image **ret_image)
{
	const struct ts_row_image *image = module ? ts_symbols_image(symbols, module) : NULL;
	const struct ts_row_symbol *found = NULL;

	*ret_n = 0;
	if (image)
		found = find_in(symbols, image->image, address - module->bias, ret_n);
	for (uint32_t kind = TS_IMAGE_PERF_MAP; !module && !found && kind <= TS_IMAGE_JIT_DUMP;
	     kind++) {
		struct ts_row_image key = {.kind = kind, .session = session};
		size_t i = image_at_or_after(symbols, &key);

		for (; !found && (image = ts_symbols_image_at(symbols, i)) && image->kind == kind &&
		       image->session == session;
		     i++)
			found = find_in(symbols, image->image, address, ret_n);
	}
	if (ret_image)
		*ret_image = found || module ? image : NULL;
	return found;
}
