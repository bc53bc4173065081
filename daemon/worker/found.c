/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects frames for a WorkerAnswer. elf-file.c, debug-info.c and jit.c fill it; main.c sends it.
 * Errors are stored until the end, so callers need no check after each call.
 */
#include "daemon/worker/found.h"

#include <sys/random.h>

void ts_found_init(struct ts_found *found)
{
	uint64_t seed = 0;

	*found = (struct ts_found){0};
	/*
	 * Without a random seed, crafted names could collide. Look-ups are then slower, and the
	 * deadline limits their time.
	 */
	if (getrandom(&seed, sizeof(seed), 0) < 0)
		seed = (uintptr_t)found;
	ts_intern_init(&found->texts, seed);
}

void ts_found_deinit(struct ts_found *found)
{
	ts_intern_deinit(&found->texts);
	ts_buffer_deinit(&found->lengths);
	ts_buffer_deinit(&found->n_frames);
	ts_buffer_deinit(&found->functions);
	ts_buffer_deinit(&found->files);
	ts_buffer_deinit(&found->lines);
}

static void append(struct ts_found *found, struct ts_buffer *buffer, uint32_t number)
{
	int r = ts_buffer_append(buffer, &number, sizeof(number));

	found->error = found->error ?: r;
}

uint32_t ts_found_text(struct ts_found *found, const char *text)
{
	size_t n = text ? strnlen(text, TS_FOUND_MAX_NAME_BYTES) : 0;
	uint32_t id;
	bool is_new;
	int r;

	if (!n)
		return 0;
	if (found->texts.bytes.n + n > TS_FOUND_MAX_TEXT_BYTES) {
		found->full = true;
		return 0;
	}
	r = ts_intern(&found->texts, text, (uint32_t)n, &id, &is_new);
	if (r) {
		found->error = found->error ?: r;
		return 0;
	}
	if (is_new)
		append(found, &found->lengths, (uint32_t)n);
	return id;
}

void ts_found_frame(struct ts_found *found, uint32_t function, uint32_t file, uint32_t line)
{
	if (found->n_open == TS_FOUND_MAX_INLINED ||
	    found->functions.n == TS_FOUND_MAX_FRAMES * sizeof(uint32_t)) {
		found->full = true;
		return;
	}
	append(found, &found->functions, function);
	append(found, &found->files, file);
	append(found, &found->lines, line);
	found->n_open++;
}

void ts_found_next(struct ts_found *found)
{
	append(found, &found->n_frames, found->n_open);
	found->n_open = 0;
}
