/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test-python.py loads this library into an interpreter. The library captures the calling thread's
 * stack with the shim's code, and returns the frames as text, one per line, innermost first.
 */
#include <stdio.h>
#include <sys/mman.h>

#include "inject/ring/ring-session.h"
#include "inject/stacks/stack.h"

#define PUBLIC __attribute__((visibility("default")))

static struct ts_stack_walker walker;
static struct ts_definitions definitions;
static struct ts_session_memory memory;
static const uint8_t *arena_bytes; /* mapped like the daemon's */
static __thread struct ts_stack_cache *cache;
static char text[1 << 20];

/*
 * Returns 0, or the reason why there is nothing to test: 1 no unwinder, 2 libraries cannot be
 * watched, 3 no memory.
 */
PUBLIC int stacks_init(int check);
PUBLIC const char *stacks_why(void);
PUBLIC uint32_t stacks_take(uint32_t *ret_flags);
PUBLIC const char *stacks_text(uint32_t id);
PUBLIC uint64_t stacks_time(uint32_t n);
PUBLIC uint64_t stacks_count(int which);

int stacks_init(int check)
{
	struct ts_session_options options = {
		.n_shards = 1,
		.ring_bytes = TS_RING_MIN_BYTES,
		.arena_bytes = 32 * 1024 * 1024,
		.command = TS_COMMAND_RECORD,
		.program = "python",
	};
	const uint8_t *session;
	int fd;

	if (ts_session_new(&options, &fd, &memory) || ts_definitions_init(&definitions, &memory))
		return 3;
	session = mmap(NULL, memory.control->total_bytes, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (session == MAP_FAILED)
		return 3;
	arena_bytes = session + memory.control->arena_off + sizeof(struct ts_arena);
	ts_stack_init(&walker, true, check);
	if (!ts_stack_works(&walker))
		return 1;
	return walker.watch.works ? 0 : 2;
}

const char *stacks_why(void)
{
	return walker.interpreter.state == TS_PYTHON_OFF ? walker.interpreter.why : "";
}

uint32_t stacks_take(uint32_t *ret_flags)
{
	*ret_flags = 0;
	return ts_stack_capture(&walker, &definitions, &cache, ret_flags);
}

static const struct ts_definition *find(uint32_t type, uint32_t id)
{
	uint64_t off = 0;

	while (off < definitions.arena->published) {
		const struct ts_definition *definition =
			(const struct ts_definition *)(arena_bytes + off);

		if (definition->type == type && definition->id == id)
			return definition;
		off += definition->n_words * UINT64_C(8);
	}
	return NULL;
}

const char *stacks_text(uint32_t id)
{
	const struct ts_definition *stack = find(TS_DEF_STACK, id);
	const uint64_t *frames = stack ? (const uint64_t *)(stack + 1) : NULL;
	size_t used = 0;
	uint32_t i;

	text[0] = '\0';
	for (i = 0; stack && i < stack->n; i++) {
		const struct ts_definition *string;

		if (TS_FRAME_KIND(frames[i]) == TS_FRAME_NATIVE) {
			used += (size_t)snprintf(text + used, sizeof(text) - used, "native\t%llx\n",
						 (unsigned long long)frames[i]);
			continue;
		}
		string = find(TS_DEF_STRING, TS_FRAME_STRING(frames[i]));
		if (!string)
			return "a frame's string is missing\n";
		used += (size_t)snprintf(text + used, sizeof(text) - used, "python\t%u\t",
					 TS_FRAME_LINE(frames[i]));
		/* The string's line break becomes a tab. */
		memcpy(text + used, string + 1, string->n);
		*(char *)memchr(text + used, '\n', string->n) = '\t';
		used += string->n;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "\n");
	}
	return text;
}

uint64_t stacks_time(uint32_t n)
{
	uint64_t best = UINT64_MAX, start, ns;
	uint32_t pass, i, flags = 0;

	for (pass = 0; pass < 16; pass++) {
		start = ts_clock_monotonic_ns();
		for (i = 0; i < n; i++)
			ts_stack_capture(&walker, &definitions, &cache, &flags);
		ns = (ts_clock_monotonic_ns() - start) / n;
		best = ns < best ? ns : best;
	}
	return best;
}

uint64_t stacks_count(int which)
{
	struct ts_stack_counts counts = ts_stack_counts(&walker);

	return which == 0   ? counts.n_walked
	       : which == 1 ? counts.n_unwound
	       : which == 2 ? counts.n_python
			    : counts.n_differ;
}
