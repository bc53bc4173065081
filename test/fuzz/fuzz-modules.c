/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes mapping lists (sbt/modules.h): the modules of a trace overlap, appear and disappear as the
 * bytes decide. Every result is compared with a linear search.
 */
#include <sys/mman.h>

#include "sbt/modules.h"
#include "sbt/writer.h"

#define MAX_MODULES 64u
#define N_BYTES	    4u /* bytes of one module: address, length, time, flags and bias */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static struct ts_sbt_reader *make_trace(const uint8_t *data, size_t n)
{
	struct ts_row_session session = {.pid = 1};
	struct ts_sbt_session_writer *sw = NULL;
	struct ts_sbt_writer *writer = NULL;
	struct ts_sbt_reader *reader = NULL;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || ts_sbt_writer_new(dup(fd), &writer) ||
	    ts_sbt_session_writer_new(writer, &session, &sw))
		abort();
	for (size_t i = 0; i < n; i++, data += N_BYTES) {
		struct ts_row_module row = {
			.start_ns = data[2],
			.address = data[0] & 0x80 ? UINT64_MAX - data[0] : data[0],
			.flags = data[3] & TS_MODULE_UNLOADED,
			.bias = data[3] & 6,
		};

		row.address_end = row.address + data[1];
		if (ts_sbt_session_writer_add_row(sw, TS_ROW_MODULE, &row))
			abort();
	}
	if (ts_sbt_session_writer_seal(sw, NULL, 0) || ts_sbt_writer_finish(writer))
		abort();
	ts_sbt_session_writer_free(sw);
	ts_sbt_writer_free(writer);
	if (ts_sbt_reader_open(fd, &reader, NULL))
		abort();
	close(fd);
	return reader;
}

/*
 * Returns the last module that began at or before the time; if several began at that time, the last
 * in the file. If there is none, returns the first later one. If that module is an unload, returns
 * the first later one only if it is a load.
 */
static const struct ts_row_module *slow_find(const struct ts_sbt_reader *reader, uint64_t address,
					     uint64_t time_ns)
{
	const struct ts_row_module *last = NULL, *next = NULL;

	for (size_t i = 0; i < ts_sbt_reader_n_modules(reader); i++) {
		const struct ts_row_module *row = &ts_sbt_reader_module_at(reader, i)->row;

		if (address < row->address || address >= row->address_end)
			continue;
		if (row->start_ns <= time_ns && (!last || row->start_ns >= last->start_ns))
			last = row;
		if (row->start_ns > time_ns && (!next || row->start_ns < next->start_ns))
			next = row;
	}
	if (last && !(last->flags & TS_MODULE_UNLOADED))
		return last;
	if (next && (!last || !(next->flags & TS_MODULE_UNLOADED)))
		return next;
	return NULL;
}

static void check(const struct ts_sbt_reader *reader, const struct ts_modules *modules,
		  uint64_t address)
{
	const struct ts_row_module *all[8];
	size_t n = ts_modules_all(modules, 1, address, TS_ARRAY_LEN(all), all);
	bool any = false;

	for (uint64_t time_ns = 0; time_ns < 256; time_ns += 15)
		if (ts_modules_find(modules, 1, address, time_ns) !=
		    slow_find(reader, address, time_ns))
			abort();
	for (size_t i = 0; i < ts_sbt_reader_n_modules(reader); i++) {
		const struct ts_row_module *row = &ts_sbt_reader_module_at(reader, i)->row;

		any |= address >= row->address && address < row->address_end;
	}
	if (any != (n != 0))
		abort();
	for (size_t i = 0; i < n; i++)
		if (address < all[i]->address || address >= all[i]->address_end)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	size_t n = n_bytes / N_BYTES < MAX_MODULES ? n_bytes / N_BYTES : MAX_MODULES;
	struct ts_sbt_reader *reader = make_trace(data, n);
	struct ts_modules *modules;

	if (ts_modules_new(reader, &modules))
		abort();
	for (uint64_t address = 0; address < 400; address += 7)
		check(reader, modules, address);
	for (uint64_t back = 1; back < 256; back += 9)
		check(reader, modules, UINT64_MAX - back);
	ts_modules_free(modules);
	ts_sbt_reader_free(reader);
	return 0;
}
