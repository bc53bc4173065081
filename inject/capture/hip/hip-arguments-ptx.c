/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the arguments of a kernel from PTX text: `.entry name(.param .u64 a, .param .align 8 .b8
 * b[16])`. hip-capture-code.c calls this file. The text is the program's; it may be malformed.
 * Reads no byte beyond n_bytes, and allocates nothing.
 */
#include "inject/capture/hip/hip-capture.h"

#define MAX_ARGUMENT_BYTES (32u * 1024)
#define MAX_ALIGN	   256u

struct text {
	const char *at, *end;
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_of_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || c == '%';
}

/* Skips white space and comments. */
static void skip(struct text *text)
{
	while (text->at < text->end) {
		const char *end = NULL;

		if (is_space(*text->at)) {
			text->at++;
			continue;
		}
		if (*text->at != '/' || text->end - text->at < 2)
			return;
		if (text->at[1] == '/')
			end = memchr(text->at, '\n', (size_t)(text->end - text->at));
		else if (text->at[1] != '*')
			return;
		else
			end = memmem(text->at + 2, (size_t)(text->end - text->at - 2), "*/", 2);
		text->at = end ? end + (text->at[1] == '/' ? 1 : 2) : text->end;
	}
}

static bool take(struct text *text, char c)
{
	skip(text);
	if (text->at == text->end || *text->at != c)
		return false;
	text->at++;
	return true;
}

/* Takes a word, with the dot before it if it has one. Returns its length; 0: there is none. */
static size_t take_word(struct text *text, const char **ret_word)
{
	skip(text);
	*ret_word = text->at;
	if (text->at < text->end && *text->at == '.')
		text->at++;
	while (text->at < text->end && is_of_word(*text->at))
		text->at++;
	return (size_t)(text->at - *ret_word);
}

static bool take_number(struct text *text, uint32_t *ret_number)
{
	const char *word;
	size_t n = take_word(text, &word);
	uint32_t number = 0;

	for (size_t i = 0; i < n; i++) {
		if (word[i] < '0' || word[i] > '9' || number > MAX_ARGUMENT_BYTES)
			return false;
		number = 10 * number + (uint32_t)(word[i] - '0');
	}
	*ret_number = number;
	return n > 0;
}

static bool is_word(const char *word, size_t n, const char *text)
{
	return n == strlen(text) && !memcmp(word, text, n);
}

/* Returns the bytes of a type, as 8 of ".u64"; 0: no type of an argument. */
static uint32_t type_bytes(const char *word, size_t n)
{
	static const struct {
		const char *name;
		uint32_t bytes;
	} types[] = {
		{"8", 1}, {"16", 2}, {"32", 4}, {"64", 8}, {"128", 16}, {"16x2", 4},
	};

	if (n < 3 || word[0] != '.' || !memchr("bsuf", word[1], 4))
		return 0;
	for (size_t i = 0; i < TS_ARRAY_LEN(types); i++)
		if (is_word(word + 2, n - 2, types[i].name))
			return types[i].bytes;
	return 0;
}

/* Reads one argument behind `.param`. Returns false if it cannot be read. */
static bool read_argument(struct text *text, uint32_t *ret_bytes, uint32_t *ret_align)
{
	uint32_t align = 0, bytes = 0, count = 1, of_pointer;
	bool is_pointer = false;
	const char *word;
	size_t n;

	for (;;) {
		n = take_word(text, &word);
		if (!n)
			return false;
		if (word[0] != '.')
			break; /* the argument's name */
		if (is_word(word, n, ".align")) {
			/* Behind .ptr stands the alignment of the memory. */
			if (!take_number(text, is_pointer ? &of_pointer : &align))
				return false;
		} else if (is_word(word, n, ".ptr")) {
			is_pointer = true;
		} else if (!is_pointer && !bytes) {
			bytes = type_bytes(word, n);
			if (!bytes)
				return false;
		} else if (!is_pointer) {
			return false;
		}
	}
	if (take(text, '[') && (!take_number(text, &count) || !take(text, ']')))
		return false;
	align = align ?: bytes;
	if (!bytes || !count || align > MAX_ALIGN || (align & (align - 1)))
		return false;
	*ret_bytes = bytes * count;
	*ret_align = align;
	return *ret_bytes <= MAX_ARGUMENT_BYTES;
}

static int read_list(struct text *text, struct ts_capture_argument *ret)
{
	uint32_t end = 0, bytes, align;
	const char *word;
	int n = 0;

	/* A kernel without arguments may lack the list. */
	if (!take(text, '(') || take(text, ')'))
		return 0;
	do {
		const size_t n_word = take_word(text, &word);

		if (n == (int)TS_HIP_MAX_ARGUMENTS || !is_word(word, n_word, ".param") ||
		    !read_argument(text, &bytes, &align))
			return -1;
		end = (end + align - 1) & -align;
		ret[n++] = (struct ts_capture_argument){end, bytes};
		end += bytes;
		if (end > MAX_ARGUMENT_BYTES)
			return -1;
	} while (take(text, ','));
	return take(text, ')') ? n : -1;
}

int ts_hip_ptx_arguments(const char *text, size_t n_bytes, const char *name,
			 struct ts_capture_argument *ret)
{
	static const char entry[] = ".entry";
	struct text at = {text, text + n_bytes};
	const char *word;
	size_t n;

	for (;;) {
		const char *found =
			memmem(at.at, (size_t)(at.end - at.at), entry, sizeof(entry) - 1);

		if (!found)
			return -1;
		at.at = found + sizeof(entry) - 1;
		n = take_word(&at, &word);
		if (is_word(word, n, name))
			return read_list(&at, ret);
	}
}
