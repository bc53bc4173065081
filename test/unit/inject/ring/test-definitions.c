/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions: equal content has one id, different content has different ids, and ids are dense in
 * the order of the arena. A full arena gives the unknown id and is counted. The same is true if
 * several threads add definitions.
 */
#include "test/unit/harness.h"
#include "test/unit/inject/session-fixture.h"

static struct fixture f;

TS_TEST(strings_are_interned_by_content)
{
	const struct ts_definition *definition;
	uint32_t a, b, empty;

	fixture_init(&f, 1, TS_RING_MIN_BYTES, TS_ARENA_MIN_BYTES);
	a = ts_definitions_string(&f.definitions, "first", 5);
	b = ts_definitions_string(&f.definitions, "second", 6);
	empty = ts_definitions_string(&f.definitions, "", 0);
	ts_check_int(a, 1);
	ts_check_int(b, 2);
	ts_check_int(empty, 3);
	ts_check_int(ts_definitions_string(&f.definitions, "first and more", 5), a);
	ts_check_int(ts_definitions_string(&f.definitions, "", 0), empty);
	definition = fixture_definition(&f, TS_DEF_STRING, b);
	ts_check_int(definition->n, 6);
	ts_check_int(definition->n_words, 3);
	ts_check(!memcmp(definition + 1, "second\0", 8));
	fixture_deinit(&f);
}

TS_TEST(long_strings_are_cut)
{
	static char text[2 * TS_STRING_MAX_BYTES];
	uint32_t id;

	memset(text, 'x', sizeof(text));
	fixture_init(&f, 1, TS_RING_MIN_BYTES, 1024 * 1024);
	id = ts_definitions_string(&f.definitions, text, sizeof(text));
	ts_check_int(fixture_definition(&f, TS_DEF_STRING, id)->n, TS_STRING_MAX_BYTES);
	ts_check_int(ts_definitions_string(&f.definitions, text, TS_STRING_MAX_BYTES), id);
	fixture_deinit(&f);
}

/*
 * The arena is mapped in stretches. Definitions across two stretches are found again, by the shim
 * and by the daemon.
 */
TS_TEST(definitions_across_stretches)
{
	enum {
		N = 60
	};
	static char text[TS_STRING_MAX_BYTES];
	uint32_t ids[N];

	fixture_init(&f, 1, TS_RING_MIN_BYTES, 4 * TS_ARENA_STRETCH_BYTES);
	for (uint32_t i = 0; i < N; i++) {
		/*
		 * With these lengths, a definition's header comes to lie at the end of each
		 * stretch.
		 */
		memset(text, (int)('A' + i % 32), sizeof(text));
		ids[i] = ts_definitions_string(&f.definitions, text, TS_STRING_MAX_BYTES - 16 - i);
		ts_check(ids[i]);
		ts_check_int(fixture_definition(&f, TS_DEF_STRING, ids[i])->n,
			     TS_STRING_MAX_BYTES - 16 - i);
	}
	ts_check(f.definitions.stretches[3]);
	for (uint32_t i = 0; i < N; i++) {
		memset(text, (int)('A' + i % 32), sizeof(text));
		ts_check_int(ts_definitions_string(&f.definitions, text,
						   TS_STRING_MAX_BYTES - 16 - i),
			     ids[i]);
	}
	fixture_deinit(&f);
}

/* A header ends exactly at a stretch's end, so its content begins the next stretch. */
TS_TEST(content_in_the_next_stretch)
{
	static char text[TS_STRING_MAX_BYTES];
	uint32_t id;

	memset(text, 'x', sizeof(text));
	fixture_init(&f, 1, TS_RING_MIN_BYTES, 2 * TS_ARENA_STRETCH_BYTES);
	while (f.definitions.used < TS_ARENA_STRETCH_BYTES - sizeof(struct ts_definition)) {
		uint64_t left = TS_ARENA_STRETCH_BYTES - 2 * sizeof(struct ts_definition) -
				f.definitions.used;

		text[0]++;
		ts_check(ts_definitions_string(&f.definitions, text,
					       left > sizeof(text) ? sizeof(text) - 4096
								   : (size_t)left));
	}
	ts_check_int(f.definitions.used, TS_ARENA_STRETCH_BYTES - sizeof(struct ts_definition));
	id = ts_definitions_string(&f.definitions, "across", 6);
	ts_check_int(ts_definitions_string(&f.definitions, "across", 6), id);
	ts_check(!f.definitions.stretches[1]);
	ts_check(ts_definitions_string(&f.definitions, "behind", 6) != id);
	ts_check(f.definitions.stretches[1]);
	ts_check_int(ts_definitions_string(&f.definitions, "across", 6), id);
	fixture_deinit(&f);
}

TS_TEST(an_address_proves_nothing)
{
	static struct ts_string_cache cache;
	char name[32] = "kernel_a";
	uint32_t a, b;

	fixture_init(&f, 1, TS_RING_MIN_BYTES, TS_ARENA_MIN_BYTES);
	a = ts_definitions_string_cached(&f.definitions, &cache, name);
	ts_check_int(ts_definitions_string_cached(&f.definitions, &cache, name), a);
	/*
	 * The module is unloaded, and the name of another module lies at the same address. That
	 * name is a different one, then a longer one, then a shorter one.
	 */
	strcpy(name, "kernel_b");
	b = ts_definitions_string_cached(&f.definitions, &cache, name);
	ts_check(b != a && b);
	strcpy(name, "kernel_bb");
	ts_check(ts_definitions_string_cached(&f.definitions, &cache, name) != b);
	strcpy(name, "kernel_b");
	ts_check_int(ts_definitions_string_cached(&f.definitions, &cache, name), b);
	strcpy(name, "kern");
	ts_check(ts_definitions_string_cached(&f.definitions, &cache, name) != b);
	ts_check_int(ts_definitions_string_cached(&f.definitions, &cache, NULL), 0);
	fixture_deinit(&f);
}

/* In a pass the content of a string is compared once. The next pass compares it again. */
TS_TEST(a_pass_compares_a_string_once)
{
	static struct ts_string_cache cache;
	char name[32] = "kernel_a";
	uint32_t a, b;

	fixture_init(&f, 1, TS_RING_MIN_BYTES, TS_ARENA_MIN_BYTES);
	ts_definitions_begin_pass(&cache);
	a = ts_definitions_string_in_pass(&f.definitions, &cache, name);
	ts_check_int(ts_definitions_string_in_pass(&f.definitions, &cache, name), a);
	ts_check_int(ts_definitions_string_in_pass(&f.definitions, &cache, NULL), 0);
	ts_definitions_begin_pass(&cache);
	strcpy(name, "kernel_b");
	b = ts_definitions_string_in_pass(&f.definitions, &cache, name);
	ts_check(b && b != a);
	ts_check_int(ts_definitions_string_cached(&f.definitions, &cache, "kernel_b"), b);
	ts_definitions_begin_pass(&cache);
	strcpy(name, "kernel_a");
	ts_check_int(ts_definitions_string_in_pass(&f.definitions, &cache, name), a);
	fixture_deinit(&f);
}

/* The application's texts are cut, and fill at most half of the arena; known texts stay known. */
TS_TEST(texts_of_the_application)
{
	static struct ts_string_cache cache;
	static char text[2 * TS_ANNOTATION_MAX_BYTES + 1];
	const uint64_t frames[] = {1};
	uint32_t first, id, n = 0;
	bool cut;

	fixture_init(&f, 1, TS_RING_MIN_BYTES, TS_ARENA_MIN_BYTES);
	first = ts_definitions_text(&f.definitions, "first", 5);
	ts_check_int(ts_definitions_string(&f.definitions, "first", 5), first);
	ts_check_int(ts_definitions_text_cached(&f.definitions, &cache, "first", &cut), first);
	ts_check(!cut);
	/* The last character that fits has two bytes, and the limit lies between these bytes. */
	memset(text, 'x', sizeof(text) - 1);
	memcpy(text + TS_ANNOTATION_MAX_BYTES - 1, "\xc3\xa9", 2);
	id = ts_definitions_text_cached(&f.definitions, &cache, text, &cut);
	ts_check(cut);
	ts_check_int(fixture_definition(&f, TS_DEF_STRING, id)->n, TS_ANNOTATION_MAX_BYTES - 1);
	do {
		snprintf(text, sizeof(text), "a text of some length, number %u", n++);
		id = ts_definitions_text(&f.definitions, text, strlen(text));
	} while (id && n < 10000);
	ts_check(!id && n < 1000);
	ts_check(f.definitions.used <= TS_ARENA_MIN_BYTES / 2);
	ts_check_int(f.control->lost[TS_LOSS_ARENA_FULL], 1);
	ts_check_int(ts_definitions_text(&f.definitions, "first", 5), first);
	ts_check(ts_definitions_stack(&f.definitions, frames, 1, false));
	ts_check(ts_definitions_string(&f.definitions, "a kernel", 8));
	fixture_deinit(&f);
}

TS_TEST(stacks)
{
	const uint64_t frames[4] = {0x1000, 0x2000, 0x3000, 0x4000};
	const struct ts_definition *definition;
	uint32_t a, b;

	fixture_init(&f, 1, TS_RING_MIN_BYTES, TS_ARENA_MIN_BYTES);
	a = ts_definitions_stack(&f.definitions, frames, 4, false);
	b = ts_definitions_stack(&f.definitions, frames, 3, true);
	ts_check(a && b && a != b);
	ts_check_int(ts_definitions_stack(&f.definitions, frames, 4, false), a);
	ts_check_int(ts_definitions_stack(&f.definitions, frames, 0, false), 0);
	definition = fixture_definition(&f, TS_DEF_STACK, a);
	ts_check_int(definition->n, 4);
	ts_check(!memcmp(definition + 1, frames, sizeof(frames)));
	ts_check_int(fixture_definition(&f, TS_DEF_STACK, b)->flags, TS_STACK_TRUNCATED);
	fixture_deinit(&f);
}

TS_TEST(a_full_arena_is_counted)
{
	uint32_t n_known = 0, n_unknown = 0;
	char text[64];
	int i, n;

	fixture_init(&f, 1, TS_RING_MIN_BYTES, TS_ARENA_MIN_BYTES);
	for (i = 0; i < 5000; i++) {
		n = snprintf(text, sizeof(text), "string number %d", i);
		if (ts_definitions_string(&f.definitions, text, (size_t)n))
			n_known++;
		else
			n_unknown++;
	}
	ts_check(n_known > 1000 && n_unknown > 1000);
	ts_check_int(f.control->lost[TS_LOSS_ARENA_FULL], n_unknown);
	/* Known strings stay known. */
	ts_check_int(ts_definitions_string(&f.definitions, "string number 0", 15), 1);
	ts_check_int(f.control->lost[TS_LOSS_ARENA_FULL], n_unknown);
	ts_check(f.definitions.arena->published <= f.definitions.n_bytes);
	fixture_deinit(&f);
}

static uint32_t ids[4][2000];

static void *intern_all(void *data)
{
	uint32_t *mine = data;
	uint64_t frames[20];
	char text[64];
	int i, j;

	for (i = 0; i < 1000; i++) {
		mine[i] = ts_definitions_string(&f.definitions, text,
						(size_t)snprintf(text, sizeof(text), "s%d", i));
		for (j = 0; j < 20; j++)
			frames[j] = (uint64_t)(i * 31 + j);
		mine[1000 + i] = ts_definitions_stack(&f.definitions, frames, 20, false);
	}
	return NULL;
}

TS_TEST(threads_get_the_same_ids)
{
	pthread_t threads[4];
	int i;

	fixture_init(&f, 1, TS_RING_MIN_BYTES, 1024 * 1024);
	for (i = 0; i < 4; i++)
		ts_check_int(pthread_create(&threads[i], NULL, intern_all, ids[i]), 0);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (i = 1; i < 4; i++)
		ts_check(!memcmp(ids[0], ids[i], sizeof(ids[0])));
	ts_check_int(f.definitions.last_id[TS_DEF_STRING], 1000);
	ts_check_int(f.definitions.last_id[TS_DEF_STACK], 1000);
	fixture_deinit(&f);
}
