/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shortens names to a terminal's width: see shorten.h. table.c and trace/viewrow.c call this file.
 * The middle of a name is cut first, because both ends of a C++ name distinguish most kernels. If
 * names would become equal, each keeps its beginning and the text from the first difference on. If
 * they are still equal, they are not cut.
 */
#include "tools/tsctl/screen/shorten.h"

#include "proto/abi/base.h"
#include "tools/tsctl/screen/out.h"

#include <ctype.h>

#define DOTS	     "..."
#define DOTS_COLUMNS 3u
#define MAX_BACK     16u /* bytes from a difference back to the start of its word */

struct name {
	const char *whole, *text; /* text: without a `void` return type */
	char *shown;
	/*
	 * Offset of the first byte that differs from the most similar name with the same shown
	 * text.
	 */
	size_t differs_at;
	size_t index;
};

/* Returns the bytes of the text's first `columns` columns. */
static size_t head_bytes(const char *text, size_t columns)
{
	size_t n = 0, taken;
	char shown[8];

	while (text[n]) {
		size_t bytes = ts_out_piece(text + n, shown, &taken);

		if (taken > columns)
			break;
		columns -= taken;
		n += bytes;
	}
	return n;
}

/* Returns the offset of the text's last `columns` columns. */
static size_t tail_start(const char *text, size_t columns)
{
	size_t width = ts_out_width(text), n = 0, taken;
	char shown[8];

	for (; width > columns; width -= taken)
		n += ts_out_piece(text + n, shown, &taken);
	return n;
}

/* Returns the name without "void ": most kernels return void. */
static const char *without_void(const char *text)
{
	return strncmp(text, "void ", 5) ? text : text + 5;
}

static char *join(const char *text, size_t head, size_t from, size_t to)
{
	char *joined = NULL;

	if (asprintf(&joined, "%.*s" DOTS "%.*s%s", (int)head, text, (int)(to - from), text + from,
		     text[to] ? DOTS : "") < 0)
		return NULL;
	return joined;
}

/* Cuts the middle of a name: "at::native::vec...4, float>". */
static char *cut_middle(const char *text, size_t columns)
{
	size_t columns_left = columns > DOTS_COLUMNS ? columns - DOTS_COLUMNS : 0;

	return join(text, head_bytes(text, columns_left - columns_left / 2),
		    tail_start(text, columns_left / 2), strlen(text));
}

/* Cuts a name before and after the text at `at`: "at::nati...AddFunctor<float> >...". */
static char *cut_around(const char *text, size_t columns, size_t at)
{
	size_t columns_left = columns > 2 * DOTS_COLUMNS ? columns - 2 * DOTS_COLUMNS : 1;
	size_t head = head_bytes(text, columns_left / 3), from = at, back = MAX_BACK;

	if (back > columns_left / 3)
		back = columns_left / 3;
	while (from && at - from < back &&
	       (isalnum((unsigned char)text[from - 1]) || text[from - 1] == '_'))
		from--;
	if (from <= head + DOTS_COLUMNS) {
		head = head_bytes(text, columns > DOTS_COLUMNS ? columns - DOTS_COLUMNS : 1);
		from = strlen(text);
		return join(text, head, from, from);
	}
	return join(text, head, from,
		    from + head_bytes(text + from, columns_left - columns_left / 3));
}

static int compare_names(const void *a, const void *b)
{
	const struct name *x = a, *y = b;
	int order = strcmp(x->shown, y->shown);

	return order ? order : strcmp(x->whole, y->whole);
}

/* Returns the common prefix of two different texts in bytes, at a piece's start. */
static size_t common_bytes(const char *a, const char *b)
{
	size_t n = 0, taken;
	char shown[8];

	while (a[n] && b[n]) {
		size_t bytes = ts_out_piece(a + n, shown, &taken);

		if (strncmp(a + n, b + n, bytes))
			break;
		n += bytes;
	}
	return n;
}

/* Marks names with the same shown text as a different name. Returns true if there are any. */
static bool find_alike(struct name *names, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++)
		names[i].differs_at = SIZE_MAX;
	qsort(names, n, sizeof(*names), compare_names);
	for (size_t i = 0; i + 1 < n; i++) {
		struct name *a = &names[i], *b = &names[i + 1];
		size_t at;

		if (strcmp(a->shown, b->shown))
			continue;
		if (!strcmp(a->whole, b->whole)) {
			b->differs_at = a->differs_at;
			continue;
		}
		at = common_bytes(a->text, b->text);
		if (a->differs_at == SIZE_MAX || a->differs_at < at)
			a->differs_at = at;
		b->differs_at = at;
		any = true;
	}
	/* Names with equal texts are adjacent: copy the value of the last one to the others. */
	for (size_t i = n; i-- > 1;)
		if (!strcmp(names[i - 1].whole, names[i].whole))
			names[i - 1].differs_at = names[i].differs_at;
	return any;
}

static int show(struct name *name, char *shown)
{
	if (!shown)
		return -ENOMEM;
	free(name->shown);
	name->shown = shown;
	return 0;
}

static int shorten(struct name *names, size_t n, size_t columns)
{
	int r = 0;

	for (size_t i = 0; !r && i < n; i++)
		r = show(&names[i], ts_out_width(names[i].whole) <= columns
					    ? strdup(names[i].whole)
					    : cut_middle(names[i].text, columns));
	for (int whole = 0; !r && whole < 2 && find_alike(names, n); whole++)
		for (size_t i = 0; !r && i < n; i++)
			if (names[i].differs_at != SIZE_MAX &&
			    ts_out_width(names[i].text) > columns)
				r = show(&names[i], whole ? strdup(names[i].text)
							  : cut_around(names[i].text, columns,
								       names[i].differs_at));
	return r;
}

int ts_shorten(const char *const *texts, size_t n, size_t columns, char **ret_texts)
{
	ts_cleanup(ts_freep) struct name *names = calloc(n + 1, sizeof(*names));
	int r;

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		names[i] = (struct name){.whole = texts[i],
					 .text = without_void(texts[i]),
					 .index = i};
	r = shorten(names, n, columns);
	for (size_t i = 0; i < n; i++)
		if (r)
			free(names[i].shown);
		else
			ret_texts[names[i].index] = names[i].shown;
	return r;
}
