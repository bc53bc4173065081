/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds, checks and searches sets of symbols. cache.c, symbolizer.c and trace.c call this module.
 * A look-up searches addresses that lie close together in memory; the rest of the layout lets a set
 * be written and read by one call.
 */
#include "daemon/symbol/symbol-set.h"

#include <sys/random.h>

#include "sbt/crc32c.h"
#include "sbt/intern.h"

#define SET_MAGIC   0x31595354u /* "TSY1" */
#define SET_MAX_KEY 64u

struct set_header {
	uint32_t magic;
	uint32_t flags;
	uint32_t n_key;
	uint32_t n_entries;
	uint32_t n_frames;
	uint32_t n_text;
	uint8_t key[SET_MAX_KEY];
	uint32_t reserved;
	/* CRC-32C of all bytes after this header, then of the bytes before this field. */
	uint32_t checksum;
};
TS_ASSERT_SIZE(struct set_header, 96);

struct ts_symbol_builder {
	struct ts_buffer entries; /* in the order of their arrival */
	struct ts_buffer frames;
	struct ts_buffer text;
	struct ts_buffer text_offs; /* u32: offset of text number i + 1 */
	struct ts_intern texts;
	int error;
};

void ts_symbol_set_deinit(struct ts_symbol_set *set)
{
	free(set->bytes);
	*set = (struct ts_symbol_set){0};
}

/*
 * Finds the entry of an address by a binary search. The search has no branch that depends on a
 * comparison, because the CPU cannot predict such a branch.
 */
const struct ts_symbol_entry *ts_symbol_set_find(const struct ts_symbol_set *set, uint64_t address)
{
	const struct ts_symbol_entry *first = set->entries;
	uint32_t n = set->n_entries;

	if (!n)
		return NULL;
	while (n > 1) {
		const uint32_t half = n / 2;

		first += (first[half].address <= address) * half;
		n -= half;
	}
	return first->address == address ? first : NULL;
}

static uint32_t checksum(const uint8_t *bytes, size_t n_bytes)
{
	uint32_t crc =
		ts_crc32c(bytes + sizeof(struct set_header), n_bytes - sizeof(struct set_header));
	uint8_t head[offsetof(struct set_header, checksum) + sizeof(crc)];

	memcpy(head, bytes, offsetof(struct set_header, checksum));
	memcpy(head + offsetof(struct set_header, checksum), &crc, sizeof(crc));
	return ts_crc32c(head, sizeof(head));
}

/* Sets the pointers into the bytes. The header was checked, or was made by this module. */
static void lay_out(struct ts_symbol_set *set, uint8_t *bytes, size_t n_bytes,
		    const struct set_header *header)
{
	uint8_t *at = bytes + sizeof(*header);

	set->bytes = bytes;
	set->n_bytes = n_bytes;
	set->flags = header->flags;
	set->n_entries = header->n_entries;
	set->n_frames = header->n_frames;
	set->n_text = header->n_text;
	set->entries = (const void *)at;
	at += (size_t)header->n_entries * sizeof(*set->entries);
	set->frames = (const void *)at;
	set->text = (const char *)at + (size_t)header->n_frames * sizeof(*set->frames);
}

static bool is_sound(const struct ts_symbol_set *set)
{
	if (!set->n_text || set->text[0] || set->text[set->n_text - 1])
		return false;
	for (uint32_t i = 0; i < set->n_entries; i++) {
		const struct ts_symbol_entry *entry = &set->entries[i];

		if ((i && entry->address <= entry[-1].address) ||
		    entry->first_frame > set->n_frames ||
		    entry->n_frames > set->n_frames - entry->first_frame)
			return false;
	}
	for (uint32_t i = 0; i < set->n_frames; i++)
		if (set->frames[i].function >= set->n_text || set->frames[i].file >= set->n_text)
			return false;
	return true;
}

int ts_symbol_set_open(uint8_t *bytes, size_t n_bytes, const uint8_t *key, size_t n_key,
		       struct ts_symbol_set *ret_set)
{
	struct ts_symbol_set set = {0};
	struct set_header header;

	if (n_bytes < sizeof(header) || n_bytes > TS_SYMBOL_SET_MAX_BYTES)
		goto bad;
	memcpy(&header, bytes, sizeof(header));
	if (header.magic != SET_MAGIC || header.n_key != n_key || n_key > SET_MAX_KEY ||
	    memcmp(header.key, key, n_key) ||
	    sizeof(header) + (uint64_t)header.n_entries * sizeof(struct ts_symbol_entry) +
			    (uint64_t)header.n_frames * sizeof(struct ts_symbol_frame) +
			    header.n_text !=
		    n_bytes ||
	    header.checksum != checksum(bytes, n_bytes))
		goto bad;
	lay_out(&set, bytes, n_bytes, &header);
	if (!is_sound(&set))
		goto bad;
	*ret_set = set;
	return 0;
bad:
	free(bytes);
	return -EBADMSG;
}

/* ---- building ---- */

int ts_symbol_builder_new(struct ts_symbol_builder **ret_builder)
{
	struct ts_symbol_builder *builder = calloc(1, sizeof(*builder));
	uint64_t seed = 0;

	if (!builder)
		return -ENOMEM;
	if (getrandom(&seed, sizeof(seed), 0) < 0)
		seed = (uintptr_t)builder;
	ts_intern_init(&builder->texts, seed);
	builder->error = ts_buffer_append(&builder->text, "", 1);
	*ret_builder = builder;
	return 0;
}

void ts_symbol_builder_free(struct ts_symbol_builder *builder)
{
	if (!builder)
		return;
	ts_buffer_deinit(&builder->entries);
	ts_buffer_deinit(&builder->frames);
	ts_buffer_deinit(&builder->text);
	ts_buffer_deinit(&builder->text_offs);
	ts_intern_deinit(&builder->texts);
	free(builder);
}

static void append(struct ts_symbol_builder *builder, struct ts_buffer *buffer, const void *bytes,
		   size_t n)
{
	int r = buffer->n + n > TS_SYMBOL_SET_MAX_BYTES ? -E2BIG
							: ts_buffer_append(buffer, bytes, n);

	builder->error = builder->error ?: r;
}

static uint32_t text_off(struct ts_symbol_builder *builder, const char *text, size_t n)
{
	uint32_t id, off = (uint32_t)builder->text.n;
	bool is_new;
	int r;

	if (!n || builder->error)
		return 0;
	r = ts_intern(&builder->texts, text, (uint32_t)n, &id, &is_new);
	if (r) {
		builder->error = r;
		return 0;
	}
	if (!is_new) {
		memcpy(&off, builder->text_offs.bytes + (id - 1) * sizeof(off), sizeof(off));
		return off;
	}
	append(builder, &builder->text_offs, &off, sizeof(off));
	append(builder, &builder->text, text, n);
	append(builder, &builder->text, "", 1);
	return off;
}

void ts_symbol_builder_entry(struct ts_symbol_builder *builder, uint64_t address)
{
	struct ts_symbol_entry entry = {
		.address = address,
		.first_frame = (uint32_t)(builder->frames.n / sizeof(struct ts_symbol_frame)),
	};

	append(builder, &builder->entries, &entry, sizeof(entry));
}

void ts_symbol_builder_frame(struct ts_symbol_builder *builder, const char *function,
			     size_t n_function, const char *file, size_t n_file, uint32_t line)
{
	struct ts_symbol_frame frame = {
		.function = text_off(builder, function, n_function),
		.file = text_off(builder, file, n_file),
		.line = line,
	};
	struct ts_symbol_entry *last;

	append(builder, &builder->frames, &frame, sizeof(frame));
	if (builder->error || !builder->entries.n)
		return;
	last = (void *)(builder->entries.bytes + builder->entries.n - sizeof(*last));
	last->n_frames++;
}

static int compare_entries(const void *a, const void *b)
{
	const struct ts_symbol_entry *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static bool has_entry(const struct ts_symbol_entry *entries, size_t n, uint64_t address)
{
	struct ts_symbol_entry key = {.address = address};

	return n && bsearch(&key, entries, n, sizeof(key), compare_entries);
}

static void sort_entries(struct ts_symbol_builder *builder)
{
	if (builder->entries.n)
		qsort(builder->entries.bytes, builder->entries.n / sizeof(struct ts_symbol_entry),
		      sizeof(struct ts_symbol_entry), compare_entries);
}

void ts_symbol_builder_add(struct ts_symbol_builder *builder, const struct ts_symbol_set *set)
{
	size_t n = builder->entries.n / sizeof(struct ts_symbol_entry);

	sort_entries(builder);
	for (uint32_t i = 0; i < set->n_entries && !builder->error; i++) {
		const struct ts_symbol_entry *entry = &set->entries[i];

		if (has_entry((const void *)builder->entries.bytes, n, entry->address))
			continue;
		ts_symbol_builder_entry(builder, entry->address);
		for (uint32_t f = 0; f < entry->n_frames; f++) {
			const struct ts_symbol_frame *frame = &set->frames[entry->first_frame + f];
			const char *function = set->text + frame->function;
			const char *file = set->text + frame->file;

			ts_symbol_builder_frame(builder, function, strlen(function), file,
						strlen(file), frame->line);
		}
	}
}

int ts_symbol_builder_end(struct ts_symbol_builder *builder, const uint8_t *key, size_t n_key,
			  uint32_t flags, struct ts_symbol_set *ret_set)
{
	struct set_header header = {
		.magic = SET_MAGIC,
		.flags = flags,
		.n_key = (uint32_t)n_key,
		.n_entries = (uint32_t)(builder->entries.n / sizeof(struct ts_symbol_entry)),
		.n_frames = (uint32_t)(builder->frames.n / sizeof(struct ts_symbol_frame)),
		.n_text = (uint32_t)builder->text.n,
	};
	size_t n_bytes = sizeof(header) + builder->entries.n + builder->frames.n + builder->text.n;
	uint8_t *bytes, *at;

	if (builder->error)
		return builder->error;
	if (n_bytes > TS_SYMBOL_SET_MAX_BYTES || n_key > SET_MAX_KEY)
		return -E2BIG;
	bytes = malloc(n_bytes);
	if (!bytes)
		return -ENOMEM;
	sort_entries(builder);
	if (n_key)
		memcpy(header.key, key, n_key);
	at = bytes + sizeof(header);
	if (builder->entries.n)
		memcpy(at, builder->entries.bytes, builder->entries.n);
	at += builder->entries.n;
	if (builder->frames.n)
		memcpy(at, builder->frames.bytes, builder->frames.n);
	memcpy(at + builder->frames.n, builder->text.bytes, builder->text.n);
	memcpy(bytes, &header, sizeof(header));
	header.checksum = checksum(bytes, n_bytes);
	memcpy(bytes, &header, sizeof(header));
	lay_out(ret_set, bytes, n_bytes, &header);
	return 0;
}
