/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads Python frames from the interpreter's memory; stack.c calls this file. A table of field
 * offsets (proto/abi/python.h) leads through that memory.
 *
 * The reader does not trust the table until it has read the first stack carefully. In that stack it
 * checks each pointer before it follows the pointer, and checks the type of each object. The
 * interpreter itself returns the current thread state and the line of an instruction, through two
 * functions that only read and need no GIL.
 *
 * A frame keeps its code object alive only while the frame runs. Later another code object may lie
 * at the same address, even with its strings at the old addresses. So a cached code object counts
 * only if function, file, first line and line table still have the same content.
 */
#include <stdio.h>
#include <sys/mman.h>

#include "inject/process/loader-symbols.h"
#include "inject/ring/unlocked.h"
#include "inject/stacks/stack-cfi.h"
#include "inject/stacks/stack-python.h"
#include "inject/stacks/unwinder.h"
#include "proto/abi/python.h"
#include "proto/abi/tablehash.h"

#define N_CODES	    4096u
#define CHUNK_BYTES (2u * 1024 * 1024)
#define TEXT_BYTES  1024u
#define LINE_MAX    ((1u << TS_FRAME_LINE_BITS) - 1)
/*
 * The line table of a hand-written function is never longer. If a line table is longer, the line is
 * not cached but looked up at each stack.
 */
#define LINES_MAX (64u * 1024)

struct code {
	uintptr_t code; /* 0: free */
	uint64_t stack; /* number of the last stack that checked it */
	int32_t offset, first_line;
	uint64_t frame;
	const uint8_t *name, *file, *lines; /* copies in the chunk */
	uint32_t n_name, n_file, n_lines;   /* bytes */
};

struct ts_python_codes {
	struct ts_python_stack stack;
	uint64_t n_stacks;
	uint32_t n_codes, n_chunk;
	struct code codes[N_CODES];
	uint8_t chunk[CHUNK_BYTES];
};

/* Fields of a code object, at their place in the interpreter's memory. */
struct view {
	const uint8_t *name, *file, *lines;
	uint32_t n_name, n_file, n_lines; /* bytes */
	uint8_t name_width, file_width;	  /* bytes per character; 0: ASCII, one byte */
	int32_t first_line;
};

struct reader {
	struct ts_python *python;
	const struct ts_python_layout *layout;
	struct ts_definitions *definitions;
	struct ts_python_codes *codes;
	bool careful; /* check each word before reading it */
};

static void disable(struct ts_python *python, const char *why)
{
	snprintf(python->why, sizeof(python->why), "%s", why);
	__atomic_store_n(&python->state, TS_PYTHON_OFF, __ATOMIC_RELEASE);
}

/* Compares the shim's layout with the table that the interpreter exports since Python 3.13. */
static bool check_table(struct ts_python *python, const struct ts_python_layout *layout)
{
	const uint8_t *table = ts_loader_find("_PyRuntime");
	uint64_t word;
	size_t i;

	if (!table || memcmp(table, TS_PYTHON_TABLE_COOKIE, 8)) {
		disable(python, "this Python has no table of its frames' offsets");
		return false;
	}
	memcpy(&word, table + TS_PYTHON_TABLE_VERSION, sizeof(word));
	if (word >> 16 != (0x0300u | layout->minor)) {
		disable(python, "this Python's table of offsets has another version");
		return false;
	}
	memcpy(&word, table + TS_PYTHON_TABLE_FREE_THREADED, sizeof(word));
	if (word) {
		disable(python, "this Python is a free-threaded build, whose stacks are not read");
		return false;
	}
	for (i = 0; i < TS_ARRAY_LEN(ts_python_table); i++) {
		uint16_t ours;

		memcpy(&ours, (const uint8_t *)layout + ts_python_table[i].field, sizeof(ours));
		memcpy(&word, table + ts_python_table[i].at, sizeof(word));
		if (word != ours) {
			disable(python, "this Python's frames have an unknown layout");
			return false;
		}
	}
	return true;
}

static void look(struct ts_python *python)
{
	const char *(*get_version)(void);
	const char *version;
	void *evaluator;
	unsigned minor, i;

	*(void **)&get_version = ts_loader_find("Py_GetVersion");
	*(void **)&python->this_thread = ts_loader_find("PyGILState_GetThisThreadState");
	*(void **)&python->line = ts_loader_find("PyCode_Addr2Line");
	python->code_type = ts_loader_find("PyCode_Type");
	python->text_type = ts_loader_find("PyUnicode_Type");
	python->bytes_type = ts_loader_find("PyBytes_Type");
	evaluator = ts_loader_find("_PyEval_EvalFrameDefault");
	if (!get_version || !python->this_thread || !python->line || !python->code_type ||
	    !python->text_type || !python->bytes_type || !evaluator)
		return;
	version = get_version();
	for (i = 0; sscanf(version, "3.%u", &minor) == 1 && i < TS_ARRAY_LEN(ts_python_layouts);
	     i++)
		if (ts_python_layouts[i].minor == minor)
			python->layout = &ts_python_layouts[i];
	if (!python->layout || strstr(version, "free-threading")) {
		char why[sizeof(python->why)];

		snprintf(why, sizeof(why), "stacks of Python %.40s are not read", version);
		disable(python, why);
		return;
	}
	if (python->layout->minor >= 13 && !check_table(python, python->layout))
		return;
	if (python->layout->thread_cframe == TS_PYTHON_NONE && !python->layout->shims &&
	    !ts_cfi_function((uintptr_t)evaluator, &python->evaluator, &python->evaluator_end)) {
		disable(python, "the bounds of this Python's evaluator are unknown");
		return;
	}
	__atomic_store_n(&python->state, TS_PYTHON_FOUND, __ATOMIC_RELEASE);
}

void ts_python_look(struct ts_python *python)
{
	if (__atomic_load_n(&python->state, __ATOMIC_RELAXED) != TS_PYTHON_NOT_FOUND)
		return;
	/*
	 * Only one thread at a time searches for the interpreter. Meanwhile the other threads
	 * continue without Python frames; they try again when libraries were loaded or unloaded.
	 */
	if (__atomic_exchange_n(&python->is_looking, 1, __ATOMIC_ACQUIRE))
		return;
	if (__atomic_load_n(&python->state, __ATOMIC_RELAXED) == TS_PYTHON_NOT_FOUND)
		look(python);
	__atomic_store_n(&python->is_looking, 0, __ATOMIC_RELEASE);
}

static bool read_word(const struct reader *reader, uintptr_t at, uintptr_t *ret_word)
{
	if (ts_unlikely(reader->careful) && (at % 8 || !ts_unwinder_can_read((const void *)at)))
		return false;
	*ret_word = *(const uintptr_t *)at;
	return true;
}

static uint32_t half_word(uintptr_t at)
{
	return *(const uint32_t *)at;
}

static bool is_a(const struct reader *reader, uintptr_t object, const void *type)
{
	uintptr_t word;

	return object && read_word(reader, object + TS_PYTHON_OBJECT_TYPE, &word) &&
	       word == (uintptr_t)type;
}

/* Reads a string that lies in one piece, as all names do. */
static bool view_text(const struct reader *reader, uintptr_t text, const uint8_t **ret_bytes,
		      uint32_t *ret_n, uint8_t *ret_width)
{
	uintptr_t length;
	uint32_t state;

	if (!is_a(reader, text, reader->python->text_type))
		return false;
	length = *(const uintptr_t *)(text + TS_PYTHON_TEXT_LENGTH);
	state = half_word(text + TS_PYTHON_TEXT_STATE);
	if (!(state & 0x20) || length > INT32_MAX / 4)
		return false;
	*ret_width = state & 0x40 ? 0 : state >> 2 & 7;
	*ret_bytes = (const uint8_t *)(text + (state & 0x40 ? reader->layout->text_ascii
							    : reader->layout->text_compact));
	*ret_n = (uint32_t)length * (*ret_width ? *ret_width : 1);
	return true;
}

static bool view_code(const struct reader *reader, uintptr_t code, struct view *ret_view)
{
	const struct ts_python_layout *layout = reader->layout;
	uintptr_t name, file, lines;

	if (!is_a(reader, code, reader->python->code_type) ||
	    !read_word(reader, code + layout->code_name, &name) ||
	    !read_word(reader, code + layout->code_file, &file) ||
	    !read_word(reader, code + layout->code_lines, &lines) ||
	    !view_text(reader, name, &ret_view->name, &ret_view->n_name, &ret_view->name_width) ||
	    !view_text(reader, file, &ret_view->file, &ret_view->n_file, &ret_view->file_width) ||
	    !is_a(reader, lines, reader->python->bytes_type))
		return false;
	ret_view->lines = (const uint8_t *)(lines + TS_PYTHON_BYTES);
	ret_view->n_lines = (uint32_t) * (const uintptr_t *)(lines + TS_PYTHON_BYTES_LENGTH);
	ret_view->first_line = (int32_t)half_word(code + layout->code_first_line);
	return true;
}

/*
 * Writes UTF-8, cut at `end`. A line break becomes a space, because a line break would end the
 * name.
 */
static char *put_text(char *to, const char *end, const uint8_t *bytes, uint32_t n_bytes,
		      uint8_t width)
{
	const uint32_t step = width ? width : 1;
	uint32_t i, c;

	for (i = 0; i + step <= n_bytes && end - to >= 4; i += step) {
		c = 0;
		memcpy(&c, bytes + i, step);
		if (c == '\n') {
			*to++ = ' ';
		} else if (c < 0x80) {
			*to++ = (char)c;
		} else if (c < 0x800) {
			*to++ = (char)(0xc0 | c >> 6);
			*to++ = (char)(0x80 | (c & 0x3f));
		} else if (c < 0x10000) {
			*to++ = (char)(0xe0 | c >> 12);
			*to++ = (char)(0x80 | (c >> 6 & 0x3f));
			*to++ = (char)(0x80 | (c & 0x3f));
		} else {
			*to++ = (char)(0xf0 | (c >> 18 & 7));
			*to++ = (char)(0x80 | (c >> 12 & 0x3f));
			*to++ = (char)(0x80 | (c >> 6 & 0x3f));
			*to++ = (char)(0x80 | (c & 0x3f));
		}
	}
	return to;
}

static uint64_t make_frame(const struct reader *reader, uintptr_t code, int32_t offset,
			   const struct view *view)
{
	char text[2 * TEXT_BYTES + 1], *end;
	int line = reader->python->line((void *)code, offset);
	uint32_t id;

	end = put_text(text, text + TEXT_BYTES, view->name, view->n_name, view->name_width);
	*end++ = '\n';
	end = put_text(end, end + TEXT_BYTES, view->file, view->n_file, view->file_width);
	id = ts_definitions_string(reader->definitions, text, (size_t)(end - text));
	return TS_FRAME_PYTHON_AT(id, line < 0 || (uint32_t)line > LINE_MAX ? 0 : (uint32_t)line);
}

static const uint8_t *keep(struct ts_python_codes *codes, const uint8_t *bytes, uint32_t n_bytes)
{
	uint8_t *kept = codes->chunk + codes->n_chunk;

	memcpy(kept, bytes, n_bytes);
	codes->n_chunk += n_bytes;
	return kept;
}

static void remember(struct ts_python_codes *codes, struct code *place, uintptr_t code,
		     int32_t offset, const struct view *view, uint64_t frame)
{
	const uint64_t n_bytes = (uint64_t)view->n_name + view->n_file + view->n_lines;

	if (n_bytes > LINES_MAX)
		return;
	if (!place->code && codes->n_codes == N_CODES / 4 * 3) {
		memset(codes->codes, 0, sizeof(codes->codes));
		codes->n_codes = codes->n_chunk = 0;
		return;
	}
	if (n_bytes > CHUNK_BYTES - codes->n_chunk) {
		memset(codes->codes, 0, sizeof(codes->codes));
		codes->n_codes = codes->n_chunk = 0;
		return;
	}
	codes->n_codes += !place->code;
	place->code = code;
	place->offset = offset;
	place->stack = codes->n_stacks;
	place->first_line = view->first_line;
	place->frame = frame;
	place->name = keep(codes, view->name, view->n_name);
	place->file = keep(codes, view->file, view->n_file);
	place->lines = keep(codes, view->lines, view->n_lines);
	place->n_name = view->n_name;
	place->n_file = view->n_file;
	place->n_lines = view->n_lines;
}

static bool still_holds(const struct code *known, const struct view *view)
{
	return known->first_line == view->first_line && known->n_name == view->n_name &&
	       known->n_file == view->n_file && known->n_lines == view->n_lines &&
	       !memcmp(known->name, view->name, view->n_name) &&
	       !memcmp(known->file, view->file, view->n_file) &&
	       !memcmp(known->lines, view->lines, view->n_lines);
}

static struct code *find_code(struct ts_python_codes *codes, uintptr_t code, int32_t offset)
{
	uint32_t i = (uint32_t)(ts_hash_add(code, (uint64_t)(uint32_t)offset << 40) >> 40);
	struct code *place;

	for (;; i++) {
		place = &codes->codes[i & (N_CODES - 1)];
		if (!place->code || (place->code == code && place->offset == offset))
			return place;
	}
}

/*
 * Returns the frame of a code object at an offset. False: the object is no code object. A running
 * frame keeps its code while the stack is read, so each function is checked once per stack.
 */
static bool frame_of(const struct reader *reader, uintptr_t code, int32_t offset,
		     uint64_t *ret_frame)
{
	struct ts_python_codes *codes = reader->codes;
	struct code *place = find_code(codes, code, offset);
	struct view view;

	if (place->code && place->stack == codes->n_stacks) {
		*ret_frame = place->frame;
		return true;
	}
	if (!view_code(reader, code, &view))
		return false;
	if (ts_unlikely(!place->code || !still_holds(place, &view))) {
		*ret_frame = make_frame(reader, code, offset, &view);
		remember(codes, place, code, offset, &view, *ret_frame);
		return true;
	}
	place->stack = codes->n_stacks;
	*ret_frame = place->frame;
	return true;
}

static void close_segment(struct ts_python_stack *stack, uintptr_t at, uint32_t *n_closed)
{
	stack->segments[stack->n_segments++] =
		(struct ts_python_segment){at, stack->n_frames - *n_closed};
	*n_closed = stack->n_frames;
}

/*
 * Returns the frame's position in its code, in bytes. False: the frame has not entered its code
 * yet.
 */
static bool instruction(const struct reader *reader, uintptr_t frame, uintptr_t code,
			int32_t *ret_offset)
{
	const struct ts_python_layout *layout = reader->layout;
	uintptr_t at = frame + layout->frame_instruction;

	if (layout->offset != TS_PYTHON_OFFSET_POINTER) {
		*ret_offset = (int32_t)half_word(at);
		if (layout->offset == TS_PYTHON_OFFSET_UNITS)
			*ret_offset *= 2;
		return true;
	}
	*ret_offset = (int32_t)(*(const uintptr_t *)at - (code + layout->code_bytes));
	return *(const uint8_t *)(frame + layout->frame_owner) == TS_PYTHON_OWNED_BY_GENERATOR ||
	       *ret_offset >= 2 * (int32_t)half_word(code + layout->code_first_traceable);
}

/* Reads the frames from `frame` on. False: the memory is not as expected. */
static bool follow(const struct reader *reader, uintptr_t frame, uintptr_t cframe)
{
	const struct ts_python_layout *layout = reader->layout;
	struct ts_python_stack *stack = &reader->codes->stack;
	uint32_t n_closed = 0;

	while (frame) {
		uintptr_t code, previous;
		int32_t offset;

		/* Skip frames beyond the limit, up to the beginning of the evaluator's call. */
		stack->truncated |= stack->n_frames == TS_PYTHON_FRAMES_MAX;
		if (stack->n_segments == TS_PYTHON_FRAMES_MAX ||
		    (stack->truncated && n_closed == stack->n_frames)) {
			stack->truncated = true;
			return true;
		}
		if (!read_word(reader, frame + layout->frame_previous, &previous) ||
		    !read_word(reader, frame + layout->frame_code, &code))
			return false;
		if (layout->shims &&
		    *(const uint8_t *)(frame + layout->frame_owner) == TS_PYTHON_OWNED_BY_C_STACK) {
			close_segment(stack, frame, &n_closed);
			frame = previous;
			continue;
		}
		if (!is_a(reader, code, reader->python->code_type))
			return false;
		if (!stack->truncated && instruction(reader, frame, code, &offset) &&
		    !frame_of(reader, code, offset, &stack->frames[stack->n_frames++]))
			return false;
		if (!layout->shims &&
		    (!layout->entries || *(const uint8_t *)(frame + layout->frame_is_entry))) {
			close_segment(stack, cframe, &n_closed);
			if (cframe && !read_word(reader, cframe + layout->cframe_previous, &cframe))
				return false;
		}
		frame = previous;
	}
	return n_closed == stack->n_frames;
}

static struct ts_python_codes *make_codes(void)
{
	return ts_unlocked_map(sizeof(struct ts_python_codes));
}

bool ts_python_read(struct ts_python *python, struct ts_definitions *definitions,
		    struct ts_python_codes **codes, struct ts_python_stack **ret_stack)
{
	const uint32_t state = __atomic_load_n(&python->state, __ATOMIC_ACQUIRE);
	struct reader reader = {python, python->layout, definitions, *codes,
				state == TS_PYTHON_FOUND};
	uintptr_t thread, frame, cframe = 0;

	if (state != TS_PYTHON_FOUND && state != TS_PYTHON_VERIFIED)
		return false;
	thread = (uintptr_t)python->this_thread();
	if (!thread)
		return false;
	if (ts_unlikely(!*codes)) {
		*codes = reader.codes = make_codes();
		if (!*codes)
			return false;
	}
	reader.codes->stack.n_frames = reader.codes->stack.n_segments = 0;
	reader.codes->stack.truncated = false;
	reader.codes->n_stacks++;
	if ((reader.layout->thread_cframe != TS_PYTHON_NONE &&
	     !read_word(&reader, thread + reader.layout->thread_cframe, &cframe)) ||
	    !read_word(&reader,
		       reader.layout->thread_frame != TS_PYTHON_NONE
			       ? thread + reader.layout->thread_frame
			       : cframe + reader.layout->cframe_frame,
		       &frame) ||
	    !follow(&reader, frame, cframe)) {
		disable(python, "this Python's frames do not have the layout of its version");
		return false;
	}
	if (!reader.codes->stack.n_segments)
		return false;
	if (ts_unlikely(reader.careful))
		__atomic_store_n(&python->state, TS_PYTHON_VERIFIED, __ATOMIC_RELEASE);
	*ret_stack = &reader.codes->stack;
	return true;
}

/*
 * Returns whether the evaluator's call at `begin` lies in the native frame `i`: between the words
 * at[i] and at[i + 1], which have the return addresses.
 */
static inline bool begins_in(uintptr_t begin, const uintptr_t *at, uint32_t n_frames, uint32_t i)
{
	return begin > at[i] && (i + 1 == n_frames || begin < at[i + 1]);
}

uint32_t ts_python_merge(const struct ts_python *python, struct ts_python_stack *stack,
			 const uint64_t *frames, const uintptr_t *at, uint32_t n_frames)
{
	const uintptr_t evaluator = python->evaluator;
	const uintptr_t n_bytes = python->evaluator_end ? python->evaluator_end - evaluator : 0;
	const struct ts_python_segment *segment = stack->segments;
	const struct ts_python_segment *end = segment + stack->n_segments;
	const uint64_t *python_frames = stack->frames;
	uint32_t n = 0, i, k;

	for (i = 0; i < n_frames; i++) {
		if (n_bytes ? frames[i] - 1 - evaluator >= n_bytes
			    : segment == end || !begins_in(segment->at, at, n_frames, i)) {
			stack->merged[n++] = frames[i];
		} else if (segment < end) {
			for (k = segment->n_frames; k; k--)
				stack->merged[n++] = *python_frames++;
			segment++;
		} else if (stack->truncated) {
			stack->merged[n++] = frames[i];
		} else {
			/* An evaluator without a Python frame: the two stacks do not match. */
			return 0;
		}
	}
	/* If the native stack was cut, the outermost frames of both are missing. */
	return segment == end || n_frames == TS_STACK_DEPTH_MAX ? n : 0;
}
