/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the symboliser with its worker: sets, the cache on disk, the choice of a trusted file, and
 * a trace that is symbolised after its end. $TRACESMITH_WORKER is the worker's program.
 */
#include "test/unit/harness.h"

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "daemon/symbol/trace.h"
#include "sbt/append.h"
#include "sbt/modules.h"
#include "sbt/symbols.h"
#include "sbt/verify.h"
#include "sbt/writer.h"

static char folder[] = "/tmp/tracesmith-symbols-XXXXXX";

static void make_folder(void)
{
	ts_check(mkdtemp(folder));
}

static void remove_folder(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	ts_check_int(system(command), 0);
}

/* ---- sets and their cache ---- */

static void build(struct ts_symbol_set *ret_set, uint64_t first, unsigned n, const char *prefix,
		  uint32_t flags)
{
	static const uint8_t key[] = {0xab, 0xcd, 1};
	struct ts_symbol_builder *builder;

	ts_check_int(ts_symbol_builder_new(&builder), 0);
	for (unsigned i = n; i-- > 0;) {
		char name[32];
		int length = snprintf(name, sizeof(name), "%s%u", prefix, i);

		ts_symbol_builder_entry(builder, first + i);
		ts_symbol_builder_frame(builder, name, (size_t)length, "f.c", 3, i);
		ts_symbol_builder_frame(builder, "outer", 5, "", 0, 0);
	}
	ts_check_int(ts_symbol_builder_end(builder, key, sizeof(key), flags, ret_set), 0);
	ts_symbol_builder_free(builder);
}

static void check_name(const struct ts_symbol_set *set, uint64_t address, const char *name)
{
	const struct ts_symbol_entry *entry = ts_symbol_set_find(set, address);

	ts_check(entry && entry->n_frames == 2);
	ts_check_str(set->text + set->frames[entry->first_frame].function, name);
	ts_check_str(set->text + set->frames[entry->first_frame].file, "f.c");
	ts_check_str(set->text + set->frames[entry->first_frame + 1].function, "outer");
	ts_check_int(set->frames[entry->first_frame + 1].file, 0);
}

TS_TEST(sets)
{
	struct ts_symbol_set set = {0};

	ts_check(!ts_symbol_set_find(&set, 0));
	build(&set, 1000, 500, "x", 0);
	for (unsigned i = 0; i < 500; i++) {
		char name[32];

		snprintf(name, sizeof(name), "x%u", i);
		check_name(&set, 1000 + i, name);
	}
	ts_check(!ts_symbol_set_find(&set, 999));
	ts_check(!ts_symbol_set_find(&set, 1500));
	ts_symbol_set_deinit(&set);
}

TS_TEST(cache)
{
	static const uint8_t key[] = {0xab, 0xcd, 1}, other[] = {0xab, 0xcd, 2};
	struct ts_symbol_set one, two, both;
	struct ts_symbol_cache *cache, *again;

	make_folder();
	ts_check_int(ts_symbol_cache_new(folder, &cache), 0);
	ts_check_int(ts_symbol_cache_new(folder, &again), 0);
	ts_check_int(ts_symbol_cache_load(cache, key, sizeof(key), &both), -ENOENT);
	build(&one, 100, 10, "a", 0);
	build(&two, 105, 10, "b", 0);
	ts_check_int(ts_symbol_cache_store(cache, key, sizeof(key), &one), 0);
	ts_check_int(ts_symbol_cache_store(again, key, sizeof(key), &two), 0);
	ts_check_int(ts_symbol_cache_load(cache, key, sizeof(key), &both), 0);
	ts_check_int(both.n_entries, 15);
	check_name(&both, 104, "a4");
	check_name(&both, 105, "b0");
	check_name(&both, 114, "b9");
	ts_symbol_set_deinit(&both);
	ts_check_int(ts_symbol_cache_load(cache, other, sizeof(other), &both), -ENOENT);

	ts_symbol_set_deinit(&one);
	/* A result with debug information replaces a result without it. */
	build(&one, 300, 1, "c", TS_SYMBOL_DEBUG_INFO);
	ts_check_int(ts_symbol_cache_store(cache, key, sizeof(key), &one), 0);
	ts_check_int(ts_symbol_cache_store(cache, key, sizeof(key), &two), 0);
	ts_check_int(ts_symbol_cache_load(cache, key, sizeof(key), &both), 0);
	ts_check_int(both.n_entries, 1);
	ts_symbol_set_deinit(&both);
	ts_symbol_set_deinit(&two);
	ts_symbol_set_deinit(&one);
	ts_symbol_cache_free(again);
	ts_symbol_cache_free(cache);
	remove_folder();
}

/* If several daemons use the cache at once, no stored set is lost or torn. */
TS_TEST(cache_of_many)
{
	static const uint8_t key[] = {0xab, 0xcd, 1};
	struct ts_symbol_cache *cache;
	struct ts_symbol_set all;

	make_folder();
	ts_check_int(ts_symbol_cache_new(folder, &cache), 0);
	for (unsigned i = 0; i < 4; i++)
		if (!fork()) {
			for (unsigned j = 0; j < 20; j++) {
				struct ts_symbol_set set, now;

				build(&set, i * 1000 + j * 10, 10, "n", 0);
				if (ts_symbol_cache_store(cache, key, sizeof(key), &set) ||
				    ts_symbol_cache_load(cache, key, sizeof(key), &now))
					_exit(1);
				ts_symbol_set_deinit(&set);
				ts_symbol_set_deinit(&now);
			}
			_exit(0);
		}
	for (unsigned i = 0; i < 4; i++) {
		int status;

		ts_check(wait(&status) > 0);
		ts_check_int(status, 0);
	}
	ts_check_int(ts_symbol_cache_load(cache, key, sizeof(key), &all), 0);
	ts_check_int(all.n_entries, 4 * 20 * 10);
	ts_symbol_set_deinit(&all);
	ts_symbol_cache_free(cache);
	remove_folder();
}

/*
 * Each byte of a cache file is changed, and each shorter file is tried: a look-up then finds no
 * set, and never a wrong one.
 */
TS_TEST(torn_cache)
{
	static const uint8_t key[] = {0xab, 0xcd, 1};
	struct ts_symbol_set set, read_back;

	build(&set, 100, 3, "a", 0);
	for (size_t i = 0; i < set.n_bytes; i++) {
		uint8_t *bytes = malloc(set.n_bytes);

		memcpy(bytes, set.bytes, set.n_bytes);
		bytes[i] ^= 0x40;
		ts_check_int(ts_symbol_set_open(bytes, set.n_bytes, key, sizeof(key), &read_back),
			     -EBADMSG);
		bytes = malloc(set.n_bytes);
		memcpy(bytes, set.bytes, set.n_bytes);
		ts_check_int(ts_symbol_set_open(bytes, i, key, sizeof(key), &read_back), -EBADMSG);
	}
	ts_symbol_set_deinit(&set);
}

TS_TEST(cache_of_another)
{
	struct ts_symbol_cache *cache;

	make_folder();
	ts_check_int(chmod(folder, 0777), 0);
	ts_check_int(ts_symbol_cache_new(folder, &cache), -EACCES);
	remove_folder();
}

/* ---- files ---- */

struct own {
	uint64_t bias, start, end;
	uint8_t build_id[32];
	size_t n_build_id;
};

static int find_own(struct dl_phdr_info *info, size_t size, void *data)
{
	struct own *own = data;

	own->bias = info->dlpi_addr;
	own->start = UINT64_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t from = info->dlpi_addr + segment->p_vaddr;
		const uint8_t *at = (const uint8_t *)from;

		if (segment->p_type == PT_LOAD) {
			own->start = from < own->start ? from : own->start;
			own->end = from + segment->p_memsz;
		}
		if (segment->p_type != PT_NOTE)
			continue;
		while (at + sizeof(ElfW(Nhdr)) <= (const uint8_t *)from + segment->p_memsz) {
			const ElfW(Nhdr) *note = (const void *)at;

			if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
			    note->n_descsz <= sizeof(own->build_id)) {
				own->n_build_id = note->n_descsz;
				memcpy(own->build_id, at + sizeof(*note) + 4, note->n_descsz);
			}
			at += sizeof(*note) + ((note->n_namesz + 3u) & ~3u) +
			      ((note->n_descsz + 3u) & ~3u);
		}
	}
	return 1; /* the first is the program */
}

static struct ts_symbolizer_options symbolizer_options(void)
{
	struct ts_symbolizer_options options = {.worker.path = getenv("TRACESMITH_WORKER"),
						.cache = folder};

	if (!options.worker.path)
		ts_skip("TRACESMITH_WORKER is not set");
	return options;
}

static __attribute__((noinline)) void landmark(void)
{
	__asm__ volatile("nop\n\tnop");
}

static bool has_function(const struct ts_symbol_set *set, uint64_t address, const char *name)
{
	const struct ts_symbol_entry *entry = ts_symbol_set_find(set, address);

	return entry && entry->n_frames &&
	       !strcmp(set->text + set->frames[entry->first_frame].function, name);
}

TS_TEST(resolved_once)
{
	struct ts_symbolizer_options options = symbolizer_options();
	char path[PATH_MAX], why[TS_SYMBOL_WHY_BYTES];
	struct ts_symbolizer *symbolizer;
	enum ts_image_result result;
	struct ts_symbol_set set;
	struct own own = {0};
	struct ts_symbol_image image = {
		.path = path,
		.build_id = own.build_id,
		.view = {.root_fd = -1, .by_own_path = true},
	};
	uint64_t address;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	ts_check(n > 0);
	path[n] = '\0';
	dl_iterate_phdr(find_own, &own);
	image.n_build_id = own.n_build_id;
	address = (uint64_t)(uintptr_t)landmark - own.bias + 1;
	make_folder();
	ts_check_int(ts_symbolizer_new(&options, &symbolizer), 0);
	for (unsigned i = 0; i < 3; i++) {
		ts_check_int(ts_symbolize(symbolizer, &image, &address, 1, &set, &result, why), 0);
		ts_check(result == TS_IMAGE_RESOLVED || result == TS_IMAGE_NO_DEBUG);
		ts_check(has_function(&set, address, "landmark"));
		ts_check_int(ts_symbolizer_n_read(symbolizer), 1);
		ts_symbol_set_deinit(&set);
	}
	/* The file no longer exists, but its symbols are known. */
	image.path = "/nonexistent/file";
	ts_check_int(ts_symbolize(symbolizer, &image, &address, 1, &set, &result, why), 0);
	ts_check(has_function(&set, address, "landmark"));
	ts_symbol_set_deinit(&set);
	/* If another file is at that path, the symboliser notices this and finds no names. */
	own.build_id[0] ^= 1;
	image.path = path;
	ts_check_int(ts_symbolize(symbolizer, &image, &address, 1, &set, &result, why), 0);
	ts_check_int(result, TS_IMAGE_OTHER_FILE);
	ts_check_str(why, "the file at this path has another build id now");
	ts_check_int(set.n_entries, 0);
	ts_symbol_set_deinit(&set);
	/* No file, a directory, a device. */
	image.path = "/nonexistent/file";
	ts_check_int(ts_symbolize(symbolizer, &image, &address, 1, &set, &result, why), 0);
	ts_check_int(result, TS_IMAGE_NO_FILE);
	ts_symbol_set_deinit(&set);
	image.path = "/dev/zero";
	ts_check_int(ts_symbolize(symbolizer, &image, &address, 1, &set, &result, why), 0);
	ts_check_int(result, TS_IMAGE_NO_FILE);
	ts_check_str(why, "Invalid argument");
	ts_symbol_set_deinit(&set);
	ts_symbolizer_free(symbolizer);
	remove_folder();
}

/* ---- a trace ---- */

/*
 * Makes a trace with a session of this process. Its stacks are in this program, in a file that no
 * longer exists, and in code of a just-in-time compiler.
 */
static int make_trace(const struct own *own, const char *path)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);
	struct ts_row_session session = {.pid = (uint32_t)getpid(), .uid = getuid(), .start_ns = 5};
	uint64_t frames[] = {(uint64_t)(uintptr_t)landmark, 0x7010, 0x20000010};
	struct ts_row_module program = {.start_ns = 5,
					.address = own->start,
					.address_end = own->end,
					.bias = own->bias,
					.n_build_id_bytes = (uint32_t)own->n_build_id};
	struct ts_row_module gone = {.start_ns = 5, .address = 0x7000, .address_end = 0x8000};
	struct ts_sbt_session_writer *sw;
	struct ts_sbt_writer *writer;
	uint32_t stack;

	memcpy(program.build_id, own->build_id, own->n_build_id);
	ts_check_int(ts_sbt_writer_new(dup(fd), &writer), 0);
	ts_check_int(ts_sbt_writer_string(writer, path, strlen(path), &program.path), 0);
	ts_check_int(ts_sbt_writer_string(writer, "/nonexistent/lib.so", 19, &gone.path), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &session, &sw), 0);
	ts_check_int(ts_sbt_session_writer_add_row(sw, TS_ROW_MODULE, &program), 0);
	ts_check_int(ts_sbt_session_writer_add_row(sw, TS_ROW_MODULE, &gone), 0);
	ts_check_int(ts_sbt_session_writer_add_stack(sw, frames, 3, 0, &stack), 0);
	ts_check_int(ts_sbt_session_writer_seal(sw, NULL, 0), 0);
	ts_sbt_session_writer_free(sw);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	return fd;
}

static int sink_string(void *data, const char *bytes, size_t n_bytes, uint32_t *ret_id)
{
	return ts_sbt_append_string(data, bytes, n_bytes, ret_id);
}

static int sink_row(void *data, unsigned type, const void *row)
{
	return ts_sbt_append_row(data, type, row);
}

static void symbolize_file(int fd, bool again, struct ts_symbol_report *report)
{
	struct ts_symbol_trace_options options = {.symbolizer = symbolizer_options(),
						  .again = again};
	struct ts_sbt_error error;
	struct ts_symbol_sink sink = {sink_string, sink_row, NULL};
	struct ts_sbt_append *append;

	ts_check_int(ts_sbt_append_new(fd, &append, &error), 0);
	sink.data = append;
	ts_check_int(ts_symbolize_trace(ts_sbt_append_reader(append), &sink, &options, report), 0);
	ts_check_int(ts_sbt_append_commit(append, &error), 0);
	ts_sbt_append_free(append);
}

static void check_whole(int fd)
{
	struct ts_sbt_verify_report report = {0};

	ts_check_int(ts_sbt_verify(fd, &(struct ts_sbt_verify_options){0}, &report), 0);
	ts_check_int(report.n_findings, 0);
}

static void check_frame(struct ts_sbt_reader *reader, const struct ts_modules *modules,
			const struct ts_symbols *symbols, uint64_t address, const char *want)
{
	const struct ts_row_module *module = ts_modules_find(modules, 1, address, 10);
	const struct ts_row_image *image;
	const struct ts_row_symbol *rows;
	size_t n;

	rows = ts_symbols_find(symbols, 1, module, address, &n, &image);
	if (!want) {
		ts_check_int(n, 0);
		ts_check(image && image->result == TS_IMAGE_NO_FILE);
		return;
	}
	ts_check(rows && n);
	ts_check_str(ts_sbt_reader_string(reader, rows[0].function, NULL), want);
}

TS_TEST(trace)
{
	char path[PATH_MAX], map_path[64];
	struct ts_symbol_report report = {0};
	struct ts_sbt_reader *reader;
	struct ts_symbols *symbols;
	struct ts_modules *modules;
	struct own own = {0};
	int fd, map_fd;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	symbolizer_options();
	ts_check(n > 0);
	path[n] = '\0';
	dl_iterate_phdr(find_own, &own);
	make_folder();
	fd = make_trace(&own, path);
	snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map", (int)getpid());
	map_fd = open(map_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ts_check(map_fd >= 0);
	ts_check_int(write(map_fd, "20000000 100 jitted\n", 20), 20);
	close(map_fd);
	symbolize_file(fd, false, &report);
	unlink(map_path);
	ts_check_int(report.n_frames, 3);
	ts_check_int(report.n_named, 2);
	ts_check_int(report.n_images, 3);
	ts_symbol_report_deinit(&report);
	check_whole(fd);
	/*
	 * At most the result for the program is kept. The missing file and the compiler's code are
	 * tried again.
	 */
	symbolize_file(fd, false, &report);
	ts_check(report.n_kept <= 1);
	ts_symbol_report_deinit(&report);
	check_whole(fd);

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_sbt_reader_state(reader), TS_SBT_FINISHED);
	ts_check_int(ts_modules_new(reader, &modules), 0);
	ts_check_int(ts_symbols_new(reader, &symbols), 0);
	ts_check_int(ts_symbols_n_images(symbols), 3);
	check_frame(reader, modules, symbols, (uint64_t)(uintptr_t)landmark, "landmark");
	check_frame(reader, modules, symbols, 0x700f, NULL);
	check_frame(reader, modules, symbols, 0x2000000f, "jitted");
	ts_symbols_free(symbols);
	ts_modules_free(modules);
	ts_sbt_reader_free(reader);
	close(fd);
	remove_folder();
}

/*
 * An append refuses a module row, a second append to the same file, a descriptor that is not open
 * for writing, and a file that is not finished.
 */
TS_TEST(append_refuses)
{
	struct ts_sbt_append *append, *second;
	struct ts_sbt_error error;
	struct own own = {0};
	int fd, other;
	char path[32];

	dl_iterate_phdr(find_own, &own);
	fd = make_trace(&own, "/x");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ts_check_int(ts_sbt_append_new(fd, &append, &error), 0);
	ts_check_int(ts_sbt_append_row(append, TS_ROW_MODULE, &own), -EINVAL);
	/* Only one append can be open. */
	other = open(path, O_RDWR | O_CLOEXEC);
	ts_check(other >= 0);
	ts_check_int(ts_sbt_append_new(other, &second, &error), -EBUSY);
	/* Nothing was added, so the file does not change. */
	ts_check_int(ts_sbt_append_commit(append, &error), 0);
	ts_check_int(ts_sbt_append_commit(append, &error), -EINVAL);
	ts_sbt_append_free(append);
	close(other);
	check_whole(fd);
	other = open(path, O_RDONLY | O_CLOEXEC);
	ts_check_int(ts_sbt_append_new(other, &append, &error), -EBADF);
	close(other);
	ts_check_int(ftruncate(fd, lseek(fd, 0, SEEK_END) - 10), 0);
	ts_check_int(ts_sbt_append_new(fd, &append, &error), TS_SBT_E_CORRUPT);
	close(fd);
}
