/* SPDX-License-Identifier: Apache-2.0 */
/* Finds modules by address and time, and compares with a search through all modules. */
#include "sbt/modules.h"
#include "test/unit/harness.h"

#include "sbt/writer.h"

#include <sys/mman.h>

#define N_SESSIONS 3u

static uint64_t random_number(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* Makes a trace of these modules, alternately in N_SESSIONS sessions. */
static int write_modules(const struct ts_row_module *rows, size_t n)
{
	struct ts_sbt_session_writer *sessions[N_SESSIONS];
	int fd = memfd_create("modules", MFD_CLOEXEC);
	struct ts_row_session session = {.pid = 1};
	struct ts_sbt_writer *writer;

	ts_check_int(ts_sbt_writer_new(dup(fd), &writer), 0);
	for (size_t i = 0; i < N_SESSIONS; i++)
		ts_check_int(ts_sbt_session_writer_new(writer, &session, &sessions[i]), 0);
	for (size_t i = 0; i < n; i++)
		ts_check_int(ts_sbt_session_writer_add_row(sessions[i % N_SESSIONS], TS_ROW_MODULE,
							   &rows[i]),
			     0);
	for (size_t i = 0; i < N_SESSIONS; i++) {
		ts_check_int(ts_sbt_session_writer_seal(sessions[i], NULL, 0), 0);
		ts_sbt_session_writer_free(sessions[i]);
	}
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	return fd;
}

/*
 * Returns the last module loaded at that address up to that time; if there is none, the next one.
 * Rows are in order of time.
 */
static const struct ts_row_module *search(const struct ts_row_module *rows, size_t n,
					  uint32_t session, uint64_t address, uint64_t time_ns)
{
	const struct ts_row_module *last = NULL, *next = NULL;

	for (size_t i = session - 1; i < n; i += N_SESSIONS) {
		if (address < rows[i].address || address >= rows[i].address_end)
			continue;
		if (rows[i].start_ns <= time_ns)
			last = &rows[i];
		else if (!next)
			next = &rows[i];
	}
	if (last && !(last->flags & TS_MODULE_UNLOADED))
		return last;
	if (last && next && next->flags & TS_MODULE_UNLOADED)
		return NULL;
	return next;
}

static void compare(uint64_t seed, size_t n)
{
	struct ts_row_module *rows = calloc(n + 1, sizeof(*rows));
	struct ts_modules *modules = NULL;
	struct ts_sbt_reader *reader;
	uint64_t state = seed;
	int fd;

	for (size_t i = 0; i < n; i++) {
		rows[i].start_ns = i / 3 * 10; /* some start at the same time */
		rows[i].address = 10 * (random_number(&state) % 20);
		rows[i].address_end = rows[i].address + 10 * (random_number(&state) % 6);
		rows[i].bias = i; /* distinguishes modules */
		if (random_number(&state) % 4 == 0)
			rows[i].flags = TS_MODULE_UNLOADED;
	}
	if (n) {
		rows[n - 1].address = 0;
		rows[n - 1].address_end = UINT64_MAX;
	}
	fd = write_modules(rows, n);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_modules_new(reader, &modules), 0);
	for (int i = 0; i < 3000; i++) {
		uint32_t session = 1 + (uint32_t)(random_number(&state) % N_SESSIONS);
		uint64_t address = random_number(&state) % 270;
		uint64_t time_ns = random_number(&state) % (n / 3 * 10 + 20);
		const struct ts_row_module *want = search(rows, n, session, address, time_ns);
		const struct ts_row_module *got =
			ts_modules_find(modules, session, address, time_ns);

		ts_check(!want == !got);
		if (want)
			ts_check_int(got->bias, want->bias);
	}
	ts_check(!ts_modules_find(modules, 0, 5, 5));
	ts_check(!ts_modules_find(modules, N_SESSIONS + 1, 5, 5));
	ts_modules_free(modules);
	ts_sbt_reader_free(reader);
	free(rows);
	close(fd);
}

TS_TEST(what_was_mapped_where_and_when)
{
	for (uint64_t seed = 1; seed < 30; seed++)
		compare(seed, seed * 3);
	compare(77, 0);
	compare(78, 1);
	compare(79, 600);
}

/* One library is loaded and unloaded all the time: a lookup must not walk through all its rows. */
TS_TEST(many_at_one_address)
{
	size_t n = 120000;
	struct ts_row_module *rows = calloc(n, sizeof(*rows));
	struct ts_modules *modules = NULL;
	struct ts_sbt_reader *reader;
	int fd;

	for (size_t i = 0; i < n; i++)
		rows[i] =
			(struct ts_row_module){.start_ns = i, .address = 1000, .address_end = 2000};
	fd = write_modules(rows, n);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_modules_new(reader, &modules), 0);
	for (uint64_t i = N_SESSIONS; i < 500000; i++) {
		const struct ts_row_module *found = ts_modules_find(modules, 1, 1500, i % n);

		ts_check_int(found->start_ns, i % n / N_SESSIONS * N_SESSIONS);
	}
	ts_modules_free(modules);
	ts_sbt_reader_free(reader);
	free(rows);
	close(fd);
}
