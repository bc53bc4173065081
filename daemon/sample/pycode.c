/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds function, file and line of a Python frame in another process. remote-python.c calls this
 * module. This module calls pylines.c for the line.
 *
 * A code object is read at its first frame. Once a second it is compared with the stored fields,
 * because another code object may have its address by then. Its line table is stored, so a frame of
 * a known code object costs a look-up and a walk of the table. Most frames are frames of the sample
 * before; their results are stored, too.
 */
#include "daemon/sample/pycode.h"

#include "daemon/sample/remote.h"
#include "daemon/util/daemon-error.h"
#include "proto/abi/map.h"
#include "proto/abi/tablehash.h"

#define CODE_BYTES 208u /* covers each field of a code object in all versions */
#define CODES	   8192u
#define LINES_MAX  (64u * 1024)
#define MEMORY_MAX (32u << 20) /* for line tables */
#define CONFIRM_NS UINT64_C(1000000000)
#define RECENT	   256u

/* A code object as it was read. */
struct code {
	uint64_t address; /* 0: free */
	uint64_t name, file, lines;
	uint64_t confirmed_ns;
	int32_t first_line;
	uint32_t text; /* id of the text; 0: none */
	uint32_t n_table;
	uint8_t *table;
};

/* The result for an instruction of a code object. */
struct recent {
	uint64_t address; /* 0: free */
	uint64_t confirmed_ns;
	uint64_t frame;
	int32_t offset;
};

struct ts_remote_codes {
	pid_t pid;
	ts_remote_python_text *text;
	void *data;
	const struct ts_python_layout *layout;
	uint64_t type;
	struct recent recent[RECENT];
	struct code slots[CODES];
	uint32_t n, n_texts;
	size_t n_memory;
	struct ts_map text_by_hash;
};

int ts_remote_codes_new(pid_t pid, ts_remote_python_text *text, void *data,
			struct ts_remote_codes **ret_codes)
{
	struct ts_remote_codes *codes = calloc(1, sizeof(*codes));

	if (!codes)
		return ts_error_origin(-ENOMEM);
	codes->pid = pid;
	codes->text = text;
	codes->data = data;
	*ret_codes = codes;
	return 0;
}

void ts_remote_codes_set(struct ts_remote_codes *codes, const struct ts_python_layout *layout,
			 uint64_t type)
{
	codes->layout = layout;
	codes->type = type;
}

static size_t put_character(char *to, uint32_t c)
{
	if (c == '\n')
		c = ' ';
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | (c >> 18 & 7));
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* Reads a str object as UTF-8, at most TS_REMOTE_TEXT_BYTES bytes. */
static bool read_text(const struct ts_remote_codes *codes, uint64_t object, char *to, size_t *n)
{
	uint8_t head[40], characters[TS_REMOTE_TEXT_BYTES];
	uint64_t length, from;
	uint32_t state, width;
	size_t n_bytes;

	if (!ts_remote_read(codes->pid, object, head, sizeof(head)))
		return false;
	length = ts_word_in(head, TS_PYTHON_TEXT_LENGTH);
	state = (uint32_t)ts_int_in(head, TS_PYTHON_TEXT_STATE);
	width = state & 0x40 ? 1 : state >> 2 & 7;
	if (!(state & 0x20) || (width != 1 && width != 2 && width != 4) || length > INT32_MAX)
		return false;
	from = object + (state & 0x40 ? codes->layout->text_ascii : codes->layout->text_compact);
	n_bytes = length * width < sizeof(characters) ? (size_t)length * width : sizeof(characters);
	if (n_bytes && !ts_remote_read(codes->pid, from, characters, n_bytes))
		return false;
	*n = 0;
	for (size_t i = 0; i + width <= n_bytes && *n + 4 <= TS_REMOTE_TEXT_BYTES; i += width) {
		uint32_t c = 0;

		memcpy(&c, characters + i, width);
		*n += put_character(to + *n, c);
	}
	return true;
}

/* Returns the id of a text in *ret_id; 0: there is no room for one more. */
static int text_id(struct ts_remote_codes *codes, const char *text, size_t n, uint32_t *ret_id)
{
	uint64_t hash = ts_hash_key(ts_hash_bytes(n, text, n));
	int r;

	/* A collision of 64-bit hashes within one process is not expected. */
	*ret_id = ts_map_get(&codes->text_by_hash, hash);
	if (*ret_id || codes->n_texts == TS_REMOTE_PYTHON_TEXTS ||
	    ts_map_set(&codes->text_by_hash, hash, codes->n_texts + 1))
		return 0;
	*ret_id = ++codes->n_texts;
	r = codes->text(codes->data, *ret_id, text, n);
	return r;
}

static void forget(struct ts_remote_codes *codes)
{
	for (uint32_t i = 0; i < CODES; i++)
		free(codes->slots[i].table);
	memset(codes->recent, 0, sizeof(codes->recent));
	memset(codes->slots, 0, sizeof(codes->slots));
	codes->n = 0;
	codes->n_memory = 0;
}

static struct code *find_code(struct ts_remote_codes *codes, uint64_t address)
{
	uint32_t i = (uint32_t)(ts_hash_key(address) >> 40);

	for (;; i++) {
		struct code *code = &codes->slots[i & (CODES - 1)];

		if (!code->address || code->address == address)
			return code;
	}
}

/*
 * Reads function, file and line table. *ret_is_code is false if the object is not a code object, or
 * cannot be read.
 */
static int read_code(struct ts_remote_codes *codes, struct code *code, bool *ret_is_code)
{
	const struct ts_python_layout *layout = codes->layout;
	char text[2 * TS_REMOTE_TEXT_BYTES + 1];
	uint8_t bytes[CODE_BYTES];
	size_t n_name, n_file;
	uint64_t n_table;
	int r;

	*ret_is_code = false;
	if (!ts_remote_read(codes->pid, code->address, bytes, sizeof(bytes)) ||
	    ts_word_in(bytes, TS_PYTHON_OBJECT_TYPE) != codes->type)
		return 0;
	*ret_is_code = true;
	if (code->confirmed_ns && ts_word_in(bytes, layout->code_name) == code->name &&
	    ts_word_in(bytes, layout->code_file) == code->file &&
	    ts_word_in(bytes, layout->code_lines) == code->lines &&
	    ts_int_in(bytes, layout->code_first_line) == code->first_line)
		return 0;
	code->name = ts_word_in(bytes, layout->code_name);
	code->file = ts_word_in(bytes, layout->code_file);
	code->lines = ts_word_in(bytes, layout->code_lines);
	code->first_line = ts_int_in(bytes, layout->code_first_line);
	code->text = 0;
	codes->n_memory -= code->n_table;
	free(code->table);
	code->table = NULL;
	code->n_table = 0;
	if (!read_text(codes, code->name, text, &n_name))
		return 0;
	text[n_name] = '\n';
	if (!read_text(codes, code->file, text + n_name + 1, &n_file))
		return 0;
	r = text_id(codes, text, n_name + 1 + n_file, &code->text);
	if (r || !ts_remote_word(codes->pid, code->lines + TS_PYTHON_BYTES_LENGTH, &n_table) ||
	    n_table > LINES_MAX || codes->n_memory + n_table > MEMORY_MAX)
		return r;
	code->table = malloc(n_table + 1);
	if (code->table &&
	    ts_remote_read(codes->pid, code->lines + TS_PYTHON_BYTES, code->table, n_table)) {
		code->n_table = (uint32_t)n_table;
		codes->n_memory += n_table;
	}
	return 0;
}

int ts_remote_codes_frame(struct ts_remote_codes *codes, uint64_t address, int32_t offset,
			  uint64_t now_ns, uint64_t *ret_frame, bool *ret_is_code)
{
	struct recent *recent =
		&codes->recent[ts_hash_key(address + (uint32_t)offset) >> 32 & (RECENT - 1)];
	struct code *code;
	int r = 0;

	*ret_is_code = true;
	if (address && recent->address == address && recent->offset == offset &&
	    now_ns - recent->confirmed_ns <= CONFIRM_NS) {
		*ret_frame = recent->frame;
		return 0;
	}
	if (codes->n > CODES / 4 * 3 || codes->n_memory > MEMORY_MAX / 4 * 3)
		forget(codes);
	code = find_code(codes, address);
	if (!code->address || now_ns - code->confirmed_ns > CONFIRM_NS) {
		codes->n += !code->address;
		code->address = address;
		r = read_code(codes, code, ret_is_code);
		code->confirmed_ns = *ret_is_code ? now_ns : 0;
	}
	*ret_frame =
		TS_FRAME_PYTHON_AT(code->text,
				   ts_remote_python_line(codes->layout->minor, code->table,
							 code->n_table, code->first_line, offset));
	if (!r && *ret_is_code)
		*recent = (struct recent){address, code->confirmed_ns, *ret_frame, offset};
	return r;
}

void ts_remote_codes_free(struct ts_remote_codes *codes)
{
	if (!codes)
		return;
	forget(codes);
	ts_map_deinit(&codes->text_by_hash);
	free(codes);
}
