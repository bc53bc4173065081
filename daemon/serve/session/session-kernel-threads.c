/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads and names of kernel events and samples. A thread that the process defined is found by its
 * thread id. Other threads (of libraries, of children without a session) are added when an event
 * first names them. session-kernel.c, session-samples.c and session-definitions.c call this module.
 */
#include <inttypes.h>
#include <stdio.h>

#include "daemon/serve/session/session-kernel-internal.h"
#include "daemon/util/daemon-error.h"

#define KERNEL_MAX_THREADS 65536u
/* A bit in keys of `threads`: the number is from the process's own pid namespace. */
#define INNER 0x80000000u

static int set_thread(struct ts_session_kernel *kernel, uint32_t tid, uint32_t id)
{
	kernel->last_tid = 0;
	return ts_map_set(&kernel->threads, tid, (uint64_t)id + 1) ? ts_error_origin(-ENOMEM) : 0;
}

uint32_t ts_session_kernel_inner_number(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[256], *at = NULL, *end;
	uint32_t number = 0, n = 0;

	while (file && !at && fgets(line, sizeof(line), file))
		at = !strncmp(line, "NSpid:", 6) ? line + 6 : NULL;
	while (at) {
		unsigned long next = strtoul(at, &end, 10);

		if (end == at)
			break;
		number = (uint32_t)next;
		n++;
		at = end;
	}
	if (file)
		fclose(file);
	return n > 1 ? number : 0;
}

int ts_session_kernel_name(struct ts_session *s, const char *text, size_t n_text, uint32_t *ret_id)
{
	struct ts_session_kernel *kernel = s->kernel;
	size_t n = strnlen(text, n_text);
	uint32_t id = TS_ID_UNKNOWN;
	struct kernel_name *name;

	*ret_id = TS_ID_UNKNOWN;
	if (!n)
		return 0;
	name = &kernel->names[ts_hash_bytes(TS_HASH_TEXT_BEGIN, text, n) % KERNEL_NAMES];
	if (name->id && strnlen(name->text, sizeof(name->text)) == n &&
	    !memcmp(name->text, text, n)) {
		*ret_id = name->id;
		return 0;
	}
	if (kernel->is_in_place)
		return KERNEL_E_LATER;
	if (ts_session_charge(s, n)) {
		int r = ts_sbt_writer_string(s->recording->writer, text, n, &id);

		if (r)
			return r < 0 ? ts_session_write_failed(s, r) : r;
		memset(name->text, 0, sizeof(name->text));
		memcpy(name->text, text, n);
		name->id = id;
	}
	*ret_id = id;
	return 0;
}

/* Adds a thread that the process did not define. */
static int add_thread(struct ts_session *s, const struct ts_bpf_event *event, uint32_t *ret_id)
{
	struct ts_row_thread row = {.start_ns = event->start_ns, .tid = event->tid};
	int r;

	*ret_id = TS_ID_UNKNOWN;
	if (ts_map_count(&s->kernel->threads) >= KERNEL_MAX_THREADS || !ts_session_charge(s, 0))
		return 0;
	r = ts_session_kernel_name(s, event->name, sizeof(event->name), &row.name);
	if (!r) {
		r = ts_sbt_session_writer_add_thread(s->writer, &row, ret_id);
		if (r)
			r = r < 0 ? ts_session_write_failed(s, r) : r;
	}
	return r ?: set_thread(s->kernel, event->tid, *ret_id);
}

int ts_session_kernel_thread_of(struct ts_session *s, const struct ts_bpf_event *event,
				uint32_t *ret_id)
{
	struct ts_session_kernel *kernel = s->kernel;
	uint32_t inner = 0;
	uint64_t known;
	char path[64];

	if (event->tid && event->tid == kernel->last_tid) {
		*ret_id = kernel->last_id;
		return 0;
	}
	known = ts_map_get(&kernel->threads, event->tid);
	if (known) {
		kernel->last_tid = event->tid;
		*ret_id = kernel->last_id = (uint32_t)(known - 1);
		return 0;
	}
	if (kernel->is_in_place)
		return KERNEL_E_LATER;
	if (kernel->inner && (pid_t)event->pid == kernel->pid) {
		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/status",
			 event->pid, event->tid);
		inner = ts_session_kernel_inner_number(path);
	}
	known = inner ? ts_map_get(&kernel->threads, inner | INNER) : 0;
	if (known) {
		*ret_id = (uint32_t)(known - 1);
		return set_thread(kernel, event->tid, *ret_id);
	}
	return add_thread(s, event, ret_id);
}

void ts_session_kernel_thread(struct ts_session *s, uint32_t tid, uint32_t id)
{
	struct ts_session_kernel *kernel = s->kernel;

	/*
	 * If the map cannot grow, it lacks this thread. The next event of the thread then writes a
	 * second definition of it.
	 */
	if (kernel && tid && tid < INNER && ts_map_count(&kernel->threads) < KERNEL_MAX_THREADS)
		(void)set_thread(kernel, kernel->inner ? tid | INNER : tid, id);
}
