/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds functions in perf maps and JIT dumps. main.c calls this module. The file is read once, in
 * order; an entry that covers no wanted address is dropped at once.
 */
#include "daemon/worker/jit.h"

#include <ctype.h>
#include <stdio.h>

#include "daemon/worker/worker-demangle.h"

#define BUFFER_BYTES (256u * 1024)

/* A file that is read in order, in pieces. */
struct input {
	int fd;
	uint64_t off; /* offset in the file of the buffer's end */
	size_t at, n; /* in the buffer: consumed, filled */
	bool over, cut;
	int error;
	uint8_t *bytes;
};

struct place {
	uint32_t function, file, line;
	bool known;
};

struct lookup {
	const uint64_t *addresses;
	size_t n;
	struct place *places;
	struct ts_found *found;
};

static int input_init(struct input *input, int fd)
{
	*input = (struct input){.fd = fd, .bytes = malloc(BUFFER_BYTES)};
	return input->bytes ? 0 : -ENOMEM;
}

static void input_deinit(struct input *input)
{
	free(input->bytes);
}

/*
 * Fills the buffer with at least `want` bytes, if the file has them. Returns the number of bytes.
 */
static size_t input_fill(struct input *input, size_t want)
{
	if (input->n - input->at >= want)
		return input->n - input->at;
	memmove(input->bytes, input->bytes + input->at, input->n - input->at);
	input->n -= input->at;
	input->at = 0;
	while (input->n < want && !input->over) {
		ssize_t n;

		if (input->off >= TS_JIT_MAX_BYTES) {
			input->over = input->cut = true;
			break;
		}
		n = pread(input->fd, input->bytes + input->n, BUFFER_BYTES - input->n,
			  (off_t)input->off);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			input->over = true;
			input->error = n < 0 ? -errno : 0;
			break;
		}
		input->n += (size_t)n;
		input->off += (uint64_t)n;
	}
	return input->n - input->at;
}

/* Skips bytes; if they are beyond the buffer, moves the offset in the file. */
static void input_skip(struct input *input, uint64_t n)
{
	uint64_t here = input->n - input->at;

	if (n <= here) {
		input->at += n;
		return;
	}
	input->at = input->n = 0;
	if (__builtin_add_overflow(input->off, n - here, &input->off))
		input->over = true;
}

static size_t first_at(const struct lookup *lookup, uint64_t address)
{
	size_t low = 0, high = lookup->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lookup->addresses[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * True if a wanted address lies in [start, start + size); *ret_first is the index of the first one.
 */
static bool covers(const struct lookup *lookup, uint64_t start, uint64_t size, size_t *ret_first)
{
	size_t first = first_at(lookup, start);

	*ret_first = first;
	return first < lookup->n && lookup->addresses[first] - start < size;
}

static void take(struct lookup *lookup, uint64_t start, uint64_t size, size_t first,
		 const char *name)
{
	ts_cleanup(ts_freep) char *shown = ts_worker_demangle(name);
	struct place place = {.known = true,
			      .function = ts_found_text(lookup->found, shown ? shown : name)};

	for (size_t i = first; i < lookup->n && lookup->addresses[i] - start < size; i++)
		lookup->places[i] = place;
}

static void finish(struct lookup *lookup)
{
	for (size_t i = 0; i < lookup->n; i++) {
		const struct place *place = &lookup->places[i];

		if (place->known)
			ts_found_frame(lookup->found, place->function, place->file, place->line);
		ts_found_next(lookup->found);
	}
}

/* ---- perf maps: "START SIZE NAME", both numbers in hex ---- */

/* Parses a hexadecimal number. Returns the text after it; NULL: not a number. */
static const char *parse_hex(const char *text, uint64_t *ret_number)
{
	uint64_t number = 0;
	const char *at = text;

	if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
		text = at += 2;
	for (; isxdigit((unsigned char)*at); at++) {
		if (number >> 60)
			return NULL;
		number = number << 4 |
			 (uint64_t)(isdigit((unsigned char)*at) ? *at - '0'
								: (*at | 0x20) - 'a' + 10);
	}
	if (at == text || *at != ' ')
		return NULL;
	while (*at == ' ')
		at++;
	*ret_number = number;
	return at;
}

static void take_line(struct lookup *lookup, const char *line)
{
	uint64_t start, size;
	size_t first;
	const char *at = parse_hex(line, &start);

	at = at ? parse_hex(at, &size) : NULL;
	/*
	 * Skip a malformed line: perhaps the compiler has not yet written the last line completely.
	 */
	if (at && *at && size && covers(lookup, start, size, &first))
		take(lookup, start, size, first, at);
}

static int read_perf_map(struct input *input, struct lookup *lookup)
{
	for (;;) {
		size_t n = input_fill(input, TS_JIT_MAX_LINE);
		char *line = (char *)input->bytes + input->at;
		char *end = n ? memchr(line, '\n', n) : NULL;

		if (!n)
			return input->error;
		if (end) {
			*end = 0;
			take_line(lookup, line);
			input->at += (size_t)(end - line) + 1;
		} else if (n < TS_JIT_MAX_LINE) {
			return input->error;
		} else {
			/* The line is longer than any name; skip it up to its end. */
			input->at += n;
			while ((n = input_fill(input, 1))) {
				line = (char *)input->bytes + input->at;
				end = memchr(line, '\n', n);
				input->at += end ? (size_t)(end - line) + 1 : n;
				if (end)
					break;
			}
		}
	}
}

/* ---- JIT dumps ---- */

struct dump_header {
	uint32_t magic; /* "JiTD" */
	uint32_t version;
	uint32_t n_bytes;
	uint32_t machine;
	uint32_t reserved;
	uint32_t pid;
	uint64_t time;
	uint64_t flags;
};
TS_ASSERT_SIZE(struct dump_header, 40);

struct record_header {
	uint32_t id;
	uint32_t n_bytes; /* length of the record, including this header */
	uint64_t time;
};
TS_ASSERT_SIZE(struct record_header, 16);

struct load {
	uint32_t pid, tid;
	uint64_t vma, address, n_bytes, index;
};
TS_ASSERT_SIZE(struct load, 40);

struct debug_info {
	uint64_t address, n_entries;
};

struct debug_entry {
	uint64_t address;
	uint32_t line, discriminator;
};
TS_ASSERT_SIZE(struct debug_entry, 16);

#define DUMP_MAGIC	     0x4A695444u
#define DUMP_LOAD	     0u
#define DUMP_DEBUG_INFO	     2u
#define DUMP_SAME_FILE	     "\xff"
#define DUMP_LAST_LINE_BYTES 65536u

/*
 * Line entries come before the load record of their code and are kept until then. Each wanted
 * address keeps the last entry at or before it.
 */
struct lines {
	uint64_t *starts; /* 0: none */
	struct place *places;
};

/*
 * Handles an entry of the line table. The entry's line is valid from the entry's address up to the
 * next entry's address.
 */
static void take_entry(struct lookup *lookup, struct lines *lines, const struct debug_entry *entry,
		       uint64_t end, uint32_t file)
{
	for (size_t i = first_at(lookup, entry->address);
	     i < lookup->n && lookup->addresses[i] < end; i++) {
		lines->starts[i] = entry->address;
		lines->places[i] = (struct place){.file = file, .line = entry->line};
	}
}

static void take_debug_info(struct lookup *lookup, struct lines *lines, const uint8_t *bytes,
			    size_t n_bytes)
{
	struct debug_entry entry = {0}, next;
	struct debug_info info;
	size_t at = sizeof(info);
	uint32_t file = 0;

	if (n_bytes < sizeof(info))
		return;
	memcpy(&info, bytes, sizeof(info));
	for (uint64_t i = 0; i < info.n_entries && n_bytes - at > sizeof(next); i++) {
		const char *name = (const char *)bytes + at + sizeof(next);
		size_t n = strnlen(name, n_bytes - at - sizeof(next));

		if (n == n_bytes - at - sizeof(next))
			break;
		memcpy(&next, bytes + at, sizeof(next));
		if (entry.address)
			take_entry(lookup, lines, &entry, next.address, file);
		if (strcmp(name, DUMP_SAME_FILE))
			file = ts_found_text(lookup->found, name);
		entry = next;
		at += sizeof(next) + n + 1;
	}
	/*
	 * The last entry covers its code up to the end, which only the load record has.
	 * DUMP_LAST_LINE_BYTES is more than a statement needs.
	 */
	if (entry.address && entry.address < UINT64_MAX - DUMP_LAST_LINE_BYTES)
		take_entry(lookup, lines, &entry, entry.address + DUMP_LAST_LINE_BYTES, file);
}

static void take_load(struct lookup *lookup, const struct lines *lines, const uint8_t *bytes,
		      size_t n_bytes)
{
	struct load load;
	const char *name = (const char *)bytes + sizeof(load);
	size_t first;

	if (n_bytes <= sizeof(load))
		return;
	memcpy(&load, bytes, sizeof(load));
	if (strnlen(name, n_bytes - sizeof(load)) == n_bytes - sizeof(load) || !load.n_bytes ||
	    !covers(lookup, load.address, load.n_bytes, &first))
		return;
	take(lookup, load.address, load.n_bytes, first, name);
	for (size_t i = first; i < lookup->n && lookup->addresses[i] - load.address < load.n_bytes;
	     i++)
		if (lines->starts[i] >= load.address) {
			lookup->places[i].file = lines->places[i].file;
			lookup->places[i].line = lines->places[i].line;
		}
}

static int read_jit_dump(struct input *input, struct lookup *lookup, struct lines *lines)
{
	struct record_header record;
	struct dump_header header;

	if (input_fill(input, sizeof(header)) < sizeof(header))
		return input->error ?: TS_JIT_E_NOT_JITDUMP;
	memcpy(&header, input->bytes + input->at, sizeof(header));
	if (header.magic != DUMP_MAGIC || header.version != 1 || header.n_bytes < sizeof(header))
		return TS_JIT_E_NOT_JITDUMP;
	input_skip(input, header.n_bytes);
	while (input_fill(input, sizeof(record)) >= sizeof(record)) {
		size_t n_body, n;

		memcpy(&record, input->bytes + input->at, sizeof(record));
		if (record.n_bytes < sizeof(record))
			break;
		input_skip(input, sizeof(record));
		n_body = record.n_bytes - sizeof(record);
		/*
		 * Read only the start of a load record: the name comes first, and the machine code
		 * after it is not used.
		 */
		n = input_fill(input, n_body < BUFFER_BYTES ? n_body : BUFFER_BYTES);
		n = n < n_body ? n : n_body;
		if (record.id == DUMP_LOAD)
			take_load(lookup, lines, input->bytes + input->at, n);
		else if (record.id == DUMP_DEBUG_INFO)
			take_debug_info(lookup, lines, input->bytes + input->at, n);
		input_skip(input, n_body);
	}
	return input->error;
}

/* ---- calls ---- */

static int lookup_init(struct lookup *lookup, const uint64_t *addresses, size_t n,
		       struct ts_found *found)
{
	*lookup = (struct lookup){addresses, n, calloc(n + 1, sizeof(*lookup->places)), found};
	return lookup->places ? 0 : -ENOMEM;
}

static void lookup_deinit(struct lookup *lookup)
{
	free(lookup->places);
}

static int conclude(struct lookup *lookup, const struct input *input, int r)
{
	if (r)
		return r;
	finish(lookup);
	return lookup->found->error ?: input->cut ? TS_JIT_E_CUT : 0;
}

int ts_perf_map_find(int fd, const uint64_t *addresses, size_t n, struct ts_found *found)
{
	ts_cleanup(input_deinit) struct input input = {0};
	ts_cleanup(lookup_deinit) struct lookup lookup = {0};
	int r = input_init(&input, fd);

	r = r ?: lookup_init(&lookup, addresses, n, found);
	r = r ?: read_perf_map(&input, &lookup);
	return conclude(&lookup, &input, r);
}

int ts_jit_dump_find(int fd, const uint64_t *addresses, size_t n, struct ts_found *found)
{
	ts_cleanup(input_deinit) struct input input = {0};
	ts_cleanup(lookup_deinit) struct lookup lookup = {0};
	struct lines lines = {calloc(n + 1, sizeof(*lines.starts)),
			      calloc(n + 1, sizeof(*lines.places))};
	int r = lines.starts && lines.places ? input_init(&input, fd) : -ENOMEM;

	r = r ?: lookup_init(&lookup, addresses, n, found);
	r = r ?: read_jit_dump(&input, &lookup, &lines);
	free(lines.starts);
	free(lines.places);
	return conclude(&lookup, &input, r);
}
