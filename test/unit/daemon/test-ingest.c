/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the input from a peer: its memory, its rings, its definitions. Invalid input is refused,
 * and valid input is read to the last byte.
 */
#include "test/unit/harness.h"

#include <sys/stat.h>

#include "daemon/ingest/arena.h"
#include "daemon/ingest/drain.h"
#include "daemon/ingest/ingest-memory.h"
#include "test/unit/daemon/producer.h"

#define MAX_BYTES (UINT64_C(1) << 30)

/* ---- memory ---- */

static void check_refused(int fd, int error, const char *word)
{
	struct ts_memory memory;
	const char *why = "";

	ts_check_int(ts_memory_open(fd, MAX_BYTES, &memory, &why), error);
	if (!strstr(why, word)) {
		fprintf(stderr, "'%s' does not say '%s'\n", why, word);
		ts_check(!"another reason");
	}
}

TS_TEST(good_memory)
{
	struct ts_memory memory;
	struct producer p;
	const char *why;

	producer_init(&p, 3, true);
	ts_check_int(ts_memory_open(p.memfd, MAX_BYTES, &memory, &why), 0);
	ts_check_int(memory.n_shards, 3);
	ts_check_int(memory.ring_bytes, PRODUCER_RING_BYTES);
	ts_check_str(memory.program, "producer");
	/* Both mappings have the same pages. */
	producer_shard(&p, 2)->head = 80;
	ts_check_int(ts_memory_shard(&memory, 2)->head, 80);
	ts_memory_close(&memory);
	producer_deinit(&p);
}

TS_TEST(memory_of_another_kind)
{
	char path[] = "/tmp/ts-plain-XXXXXX";
	int fd, fds[2];
	struct producer p;

	fd = mkostemp(path, O_CLOEXEC);
	ts_check(fd >= 0);
	unlink(path);
	ts_check_int(ftruncate(fd, 1 << 20), 0);
	{
		struct ts_memory memory;
		const char *why;

		/*
		 * The file is no memfd, so the open fails. If /tmp is a tmpfs, it fails because of
		 * missing seals.
		 */
		ts_check(ts_memory_open(fd, MAX_BYTES, &memory, &why) < 0);
	}
	close(fd);
	ts_check_int(pipe2(fds, O_CLOEXEC), 0);
	check_refused(fds[0], -EINVAL, "not a memfd");
	close(fds[0]);
	close(fds[1]);
	fd = memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
	if (fd >= 0) {
		check_refused(fd, -EINVAL, "huge");
		close(fd);
	}
	producer_init(&p, 2, false);
	check_refused(p.memfd, -EPERM, "sealed");
	ts_check_int(fcntl(p.memfd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	check_refused(p.memfd, -EPERM, "sealed");
	producer_deinit(&p);
	/* A memfd with F_SEAL_WRITE cannot be mapped writable. */
	fd = memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ts_check_int(ftruncate(fd, 1 << 20), 0);
	ts_check_int(fcntl(fd, F_ADD_SEALS, PRODUCER_SEALS | F_SEAL_WRITE), 0);
	check_refused(fd, -EPERM, "mapped");
	close(fd);
	/* A huge sparse memfd costs its maker nothing; the daemon rejects it by its size. */
	fd = memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ts_check_int(ftruncate(fd, INT64_C(1) << 40), 0);
	ts_check_int(fcntl(fd, F_ADD_SEALS, PRODUCER_SEALS), 0);
	check_refused(fd, -EFBIG, "larger");
	close(fd);
	fd = memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ts_check_int(fcntl(fd, F_ADD_SEALS, PRODUCER_SEALS), 0);
	check_refused(fd, -EINVAL, "too small");
	close(fd);
}

TS_TEST(memory_with_a_bad_layout)
{
	struct producer p;
	struct ts_control good;

	producer_init(&p, 2, true);
	good = *p.control;
#define CHECK_BAD(field, value, error, word)             \
	do {                                             \
		p.control->field = (value);              \
		check_refused(p.memfd, (error), (word)); \
		*p.control = good;                       \
	} while (0)
	CHECK_BAD(magic, 1, -EINVAL, "no control page");
	CHECK_BAD(major, TS_ABI_MAJOR + 1, -EPROTONOSUPPORT, "version");
	CHECK_BAD(control_bytes, 8192, -EINVAL, "sizes");
	CHECK_BAD(total_bytes, good.total_bytes + 4096, -EINVAL, "sizes");
	CHECK_BAD(n_shards, 0, -EINVAL, "limits");
	CHECK_BAD(n_shards, 3, -EINVAL, "overlap");
	CHECK_BAD(n_shards, UINT32_MAX, -EINVAL, "limits");
	CHECK_BAD(ring_bytes, good.ring_bytes - 8, -EINVAL, "limits");
	CHECK_BAD(ring_bytes, good.ring_bytes * 2, -EINVAL, "the shards or the arena is invalid");
	CHECK_BAD(shard_stride, 8, -EINVAL, "the shards or the arena is invalid");
	CHECK_BAD(shards_off, 0, -EINVAL, "the shards or the arena is invalid");
	CHECK_BAD(shards_off, 4104, -EINVAL, "the shards or the arena is invalid");
	CHECK_BAD(shards_off, UINT64_MAX - 4095, -EINVAL, "the shards or the arena is invalid");
	CHECK_BAD(shards_off, 8192, -EINVAL, "overlap");
	CHECK_BAD(arena_off, 4096, -EINVAL, "overlap");
	CHECK_BAD(arena_off, UINT64_MAX - 4095, -EINVAL, "the shards or the arena is invalid");
	CHECK_BAD(arena_bytes, good.arena_bytes + 4096, -EINVAL, "overlap");
	CHECK_BAD(arena_bytes, UINT64_MAX - 4095, -EINVAL, "limits");
	CHECK_BAD(host_clock, TS_CLOCK_REALTIME, -EINVAL, "clock");
	CHECK_BAD(host_clock, 77, -EINVAL, "clock");
	producer_deinit(&p);
}

/* If a page of the peer's memory cannot be allocated, only that session ends, not the daemon. */
TS_TEST(page_that_cannot_be_had)
{
	int fd = memfd_create("x", MFD_CLOEXEC);
	struct ts_guard *guard;
	volatile uint8_t *base;

	ts_check_int(ftruncate(fd, 8192), 0);
	base = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ts_check(base != MAP_FAILED);
	ts_check_int(ts_guard_new((void *)(uintptr_t)base, 8192, &guard), 0);
	base[0] = base[4096] = 7;
	ts_check(!ts_guard_hit(guard));
	ts_check_int(ftruncate(fd, 4096), 0);
	ts_check_int(base[4100], 0);
	base[4100] = 3;
	ts_check(ts_guard_hit(guard));
	ts_check_int(base[0], 7);
	ts_guard_free(guard);
	munmap((void *)(uintptr_t)base, 8192);
	close(fd);
}

/* ---- reading it ---- */

struct sink {
	unsigned n_strings, n_stacks, n_threads, n_devices, n_modules, n_names;
	char last[64];
	uint32_t last_name;
	uint64_t frames[4]; /* frames of the last stack */
	bool refuses;	    /* every string stays unknown */
	bool grants_none;   /* refuses memory */
	unsigned n_rests;
	char code[64], function[64]; /* the last ones */
};

static int on_string(void *data, const char *bytes, uint32_t n_bytes, uint32_t *ret_id)
{
	struct sink *sink = data;

	snprintf(sink->last, sizeof(sink->last), "%.*s", (int)n_bytes, bytes);
	*ret_id = 1000 + ++sink->n_strings;
	if (sink->refuses)
		*ret_id = TS_ID_UNKNOWN;
	return 0;
}

static bool on_grant(void *data, uint64_t n_bytes)
{
	return !((struct sink *)data)->grants_none;
}

static int on_rest(void *data)
{
	((struct sink *)data)->n_rests++;
	return 0;
}

static int on_stack(void *data, const uint64_t *frames, uint32_t n_frames, uint32_t flags,
		    uint32_t *ret_id)
{
	struct sink *sink = data;

	memcpy(sink->frames, frames,
	       (n_frames < TS_ARRAY_LEN(sink->frames) ? n_frames : TS_ARRAY_LEN(sink->frames)) *
		       sizeof(*frames));
	*ret_id = 2000 + ++sink->n_stacks;
	return 0;
}

static int on_thread(void *data, const struct ts_definition_thread *thread, uint32_t name,
		     uint32_t *ret_id)
{
	struct sink *sink = data;

	sink->last_name = name;
	*ret_id = 3000 + ++sink->n_threads;
	return 0;
}

static int on_device(void *data, const struct ts_definition_device *device, uint32_t name)
{
	((struct sink *)data)->n_devices++;
	return 0;
}

static int on_module(void *data, const struct ts_definition_module *module, uint32_t path)
{
	((struct sink *)data)->n_modules++;
	return 0;
}

static int on_name(void *data, const struct ts_definition_name *definition, uint32_t domain,
		   uint32_t name)
{
	((struct sink *)data)->n_names++;
	((struct sink *)data)->last_name = name;
	return 0;
}

static int on_code(void *data, const struct ts_definition_code *code, const char *path,
		   const char *target, const uint8_t *bytes)
{
	struct sink *sink = data;

	snprintf(sink->code, sizeof(sink->code), "%u %.*s+%u for %.*s: %.*s", code->definition.id,
		 (int)code->n_path_bytes, path, (unsigned)code->file_off, (int)code->n_target_bytes,
		 target, (int)code->definition.n, (const char *)bytes);
	return 0;
}

static int on_function(void *data, const struct ts_definition_function *function, const char *name)
{
	struct sink *sink = data;

	snprintf(sink->function, sizeof(sink->function), "%u %.*s of %u", function->definition.id,
		 (int)function->definition.n, name, function->code);
	return 0;
}

static int arena_read(struct ts_arena_reader *reader, struct producer *p, struct sink *data)
{
	struct ts_arena_sink sink = {data,    on_string, on_stack, on_thread, on_device,  on_module,
				     on_name, on_grant,	 on_rest,  on_code,   on_function};
	struct ts_arena *arena = (struct ts_arena *)(p->base + p->control->arena_off);

	return ts_arena_read(reader, p->memfd, p->control->arena_off + sizeof(*arena),
			     p->control->arena_bytes, arena->published, &sink);
}

/* ---- rings ---- */

/* Drains shard 0 to its head; returns the number of records, or the error. */
static int drain_all(struct producer *p, uint64_t *position)
{
	struct ts_shard *shard = producer_shard(p, 0);
	const struct ts_drain_ring ring = {p->memfd, p->control->shards_off + sizeof(*shard),
					   p->control->ring_bytes};
	uint64_t head = ts_ring_consumer_head(shard), ring_bytes = p->control->ring_bytes;
	struct ts_drain drain = {0};
	int n = 0, r = 0;

	if (!ts_ring_consumer_check(head, *position, shard->released, ring_bytes))
		r = -EBADMSG;
	while (!r && *position != head) {
		const struct ts_record *record;
		size_t n_bytes, off;

		r = ts_drain_copy(&drain, &ring, *position, head, &n_bytes, &off);
		if (r)
			break;
		while (!ts_record_next(drain.buffer, n_bytes, &off, &record))
			n++;
		ts_check(off > 0);
		*position += off;
	}
	ts_drain_deinit(&drain);
	return r < 0 ? r : n;
}

/* Draining skips padding, and reads memory that was never written without allocating its pages. */
TS_TEST(draining_makes_no_memory)
{
	struct stat before, after;
	struct ts_record *record;
	struct ts_arena_reader reader = {0};
	uint64_t position = 0;
	struct ts_memory memory;
	struct ts_shard *shard;
	const char *why;
	struct producer p;

	producer_init(&p, 1, true);
	shard = producer_shard(&p, 0);
	record = (struct ts_record *)(shard + 1);
	record->n_words = PRODUCER_RING_BYTES / 2 / 8 - 1;
	record->type = TS_RECORD_PAD;
	record = (struct ts_record *)((uint8_t *)record + record->n_words * 8);
	*record = (struct ts_record){.n_words = 8, .n_fixed_words = 2, .type = TS_RECORD_MARK};
	shard->head = PRODUCER_RING_BYTES / 2 - 8 + 64;
	((struct ts_arena *)(p.base + p.control->arena_off))->published = PRODUCER_ARENA_BYTES;
	ts_check_int(fstat(p.memfd, &before), 0);
	ts_check_int(ts_memory_open(p.memfd, MAX_BYTES, &memory, &why), 0);
	ts_check_int(drain_all(&p, &position), 1);
	ts_check_int(arena_read(&reader, &p, &(struct sink){0}), -EBADMSG);
	ts_check_int(fstat(p.memfd, &after), 0);
	ts_check_int(after.st_blocks, before.st_blocks);
	ts_arena_reader_deinit(&reader);
	ts_memory_close(&memory);
	producer_deinit(&p);
}

/* Returns how many of the pages are in this process's page table. */
static unsigned count_mapped(const uint8_t *from, uint64_t n_bytes)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	unsigned n = 0;
	uint64_t entry;

	ts_check(fd >= 0);
	for (uint64_t at = 0; at < n_bytes; at += 4096) {
		off_t off = (off_t)(((uintptr_t)from + at) / 4096 * sizeof(entry));

		ts_check_int(pread(fd, &entry, sizeof(entry), off), sizeof(entry));
		n += entry >> 63;
	}
	close(fd);
	return n;
}

static int64_t count_blocks(int fd)
{
	struct stat status;

	ts_check_int(fstat(fd, &status), 0);
	return status.st_blocks;
}

/*
 * Mapping a ring for prefetches makes no memory where the ring was written. If a hostile producer
 * leaves holes, at most one page of 64 KiB is made.
 */
TS_TEST(maps_written_pages)
{
	const uint64_t half = PRODUCER_RING_BYTES / 2;
	struct ts_drain_ring ring = {.n_bytes = PRODUCER_RING_BYTES};
	struct ts_memory memory;
	struct producer p;
	const char *why;
	int64_t n_blocks;

	producer_init(&p, 1, true);
	memset(producer_shard(&p, 0) + 1, 7, half);
	ts_check_int(ts_memory_open(p.memfd, MAX_BYTES, &memory, &why), 0);
	ring.fd = memory.fd;
	ring.off = ts_memory_ring_off(&memory, 0);
	ring.mapped = memory.base + ring.off;
	n_blocks = count_blocks(p.memfd);
	ts_check_int(count_mapped(ring.mapped, half), 0);
	/* The first part begins before the ring, so that a part more can end in it. */
	ts_check(ts_drain_map(&ring, 0, half) >= half - 65536);
	ts_check(count_mapped(ring.mapped, half) >= half / 65536 - 1);
	ts_check_int(count_blocks(p.memfd), n_blocks);
	ts_check_int(ts_drain_map(&ring, 0, 8), 0);
	ts_check(ts_drain_map(&ring, half, half) <= half);
	ts_check((uint64_t)(count_blocks(p.memfd) - n_blocks) <= half / 65536 * 8);
	ts_drain_unmap(&ring);
	ts_check_int(count_mapped(ring.mapped + 4095, PRODUCER_RING_BYTES - 2 * 4096), 0);
	ts_check_int(ring.mapped[half - 1], 7);
	ts_memory_close(&memory);
	producer_deinit(&p);
}

/*
 * A drain returns as many records as were put, for records of all sizes and many rounds of the
 * ring.
 */
TS_TEST(drains_everything)
{
	static uint64_t words[TS_RECORD_MAX_BYTES / 8];
	struct ts_record *record = (struct ts_record *)words;
	uint64_t position = 0, n_bytes = 0;
	struct producer p;
	int n_put = 0, n_got = 0;

	producer_init(&p, 1, true);
	producer_claim(&p, 0, 1, "main");
	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t n_words = i % 1000 == 999 ? PRODUCER_RING_BYTES / 4 / 8 : 2 + i * 7 % 60;

		*record = (struct ts_record){.n_words = (uint16_t)n_words,
					     .n_fixed_words = 2,
					     .type = TS_RECORD_MARK,
					     .time = i};
		producer_put(&p, 0, record, n_words * 8);
		n_put++;
		n_bytes += n_words * 8;
		if (i % 97 == 0 || n_bytes > PRODUCER_RING_BYTES / 4) {
			int n = drain_all(&p, &position);

			ts_check(n > 0);
			n_got += n;
			n_bytes = 0;
			ts_ring_consumer_release(producer_shard(&p, 0), position);
		}
	}
	n_got += drain_all(&p, &position);
	ts_check_int(n_got, n_put);
	producer_deinit(&p);
}

static void check_garbage(uint16_t n_words, uint8_t n_fixed, uint16_t type, uint64_t head,
			  int expected)
{
	struct producer p;
	struct ts_record *record;
	uint64_t position = 0;

	producer_init(&p, 1, true);
	record = (struct ts_record *)((uint8_t *)producer_shard(&p, 0) + sizeof(struct ts_shard));
	*record = (struct ts_record){.n_words = n_words, .n_fixed_words = n_fixed, .type = type};
	producer_shard(&p, 0)->head = head;
	ts_check_int(drain_all(&p, &position), expected);
	producer_deinit(&p);
}

TS_TEST(drains_no_garbage)
{
	check_garbage(2, 2, 1, 16, 1);
	check_garbage(0, 2, 1, 16, -EBADMSG); /* no length */
	check_garbage(1, 1, 1, 16, -EBADMSG); /* shorter than a header */
	check_garbage(3, 2, 1, 16, -EBADMSG); /* longer than the committed bytes */
	check_garbage(UINT16_MAX, 2, 1, 16, -EBADMSG);
	check_garbage(2, 3, 1, 16, -EBADMSG); /* fixed fields beyond the record's end */
	check_garbage(2, 1, 1, 16, -EBADMSG);
	check_garbage(1, 0, TS_RECORD_PAD, 8, 0);
	check_garbage(0, 0, TS_RECORD_PAD, 8, -EBADMSG);
	check_garbage(2, 2, 1, 12, -EBADMSG); /* a head that is not aligned */
	check_garbage(2, 2, 1, UINT64_MAX - 7, -EBADMSG);
	check_garbage(2, 2, 1, PRODUCER_RING_BYTES + 8, -EBADMSG);
}

/* Records before a malformed record are kept. */
TS_TEST(keeps_what_precedes_garbage)
{
	struct ts_record good = {.n_words = 2, .n_fixed_words = 2, .type = TS_RECORD_MARK};
	struct ts_record bad = {.n_words = 0, .n_fixed_words = 2, .type = TS_RECORD_MARK};
	uint64_t position = 0;
	struct producer p;

	producer_init(&p, 1, true);
	producer_claim(&p, 0, 1, "main");
	for (int i = 0; i < 5; i++)
		producer_put(&p, 0, &good, sizeof(good));
	producer_put(&p, 0, &bad, sizeof(bad));
	ts_check_int(drain_all(&p, &position), -EBADMSG);
	ts_check_int(position, 5 * sizeof(good));
	producer_deinit(&p);
}

/* If the head moves back, or moves ahead during a read, the interpreted range does not change. */
TS_TEST(moving_indices)
{
	ts_check(ts_ring_consumer_check(64, 64, 0, 65536));
	ts_check(!ts_ring_consumer_check(56, 64, 0, 65536));
	ts_check(!ts_ring_consumer_check(65544, 64, 0, 65536));
	ts_check(!ts_ring_consumer_check(68, 64, 0, 65536));
	ts_check(!ts_ring_consumer_check(64, 32, 40, 65536));
}

/* ---- definitions ---- */

TS_TEST(definitions)
{
	struct ts_definition_module module = {.n_build_id_bytes = 20};
	struct ts_definition_module bad_module = {.n_build_id_bytes = 33};
	struct ts_definition_device device = {.name = 1};
	struct ts_definition_name name = {.object = 7, .name = 2};
	const uint64_t frames[] = {1, 2, 3};
	struct ts_arena_reader reader = {0};
	struct sink sink = {0};
	struct producer p;

	producer_init(&p, 1, true);
	ts_check_int(arena_read(&reader, &p, &sink), 0);
	producer_claim(&p, 0, 1, "main");
	producer_stack(&p, frames, 3);
	producer_define(&p, TS_DEF_DEVICE, &device, sizeof(device), "", 0);
	ts_check_int(arena_read(&reader, &p, &sink), 0);
	ts_check(sink.n_strings == 1 && sink.n_threads == 1 && sink.n_stacks == 1 &&
		 sink.n_devices == 1);
	ts_check_str(sink.last, "main");
	ts_check_int(sink.last_name, 1001);
	ts_check_int(ts_id_map_get(&reader.strings, 1), 1001);
	ts_check_int(ts_id_map_get(&reader.stacks, 1), 2001);
	ts_check_int(ts_id_map_get(&reader.threads, 1), 3001);
	ts_check_int(ts_id_map_get(&reader.strings, 0), 0);
	ts_check_int(ts_id_map_get(&reader.strings, 2), 0);
	ts_check_int(ts_id_map_get(&reader.strings, UINT32_MAX), 0);
	/* The reader continues where it stopped. */
	producer_string(&p, "more");
	producer_define(&p, TS_DEF_MODULE, &module, sizeof(module), "", 0);
	producer_define(&p, TS_DEF_MODULE, &bad_module, sizeof(bad_module), "", 0);
	producer_define(&p, TS_DEF_NAME, &name, sizeof(name), "", 0);
	ts_check_int(arena_read(&reader, &p, &sink), 0);
	ts_check_str(sink.last, "more");
	ts_check_int(sink.n_modules, 1);
	ts_check_int(sink.n_names, 1);
	ts_check_int(sink.last_name, 1002);
	ts_check_int(reader.n_bad, 1);
	ts_arena_reader_deinit(&reader);
	producer_deinit(&p);
}

static struct ts_definition_code new_code(uint32_t n_path, uint32_t n_target, uint32_t n)
{
	return (struct ts_definition_code){
		.definition.n = n,
		.file_off = 5,
		.n_path_bytes = n_path,
		.n_target_bytes = n_target,
	};
}

TS_TEST(definitions_of_code)
{
	struct ts_definition_code code = new_code(4, 6, 3);
	struct ts_definition_code bad[] = {
		new_code(4, 6, 7),
		new_code(UINT32_MAX, 6, 3),
		new_code(4, UINT32_MAX, 3),
		new_code(4, 6, UINT32_MAX),
	};
	struct ts_definition_function function = {.definition.n = 4, .code = 1};
	struct ts_definition_function long_function = {.definition.n = 9, .code = 1};
	struct ts_arena_reader reader = {0};
	struct sink sink = {0};
	struct producer p;

	producer_init(&p, 1, true);
	producer_define(&p, TS_DEF_CODE, &code, sizeof(code), "/a/bgfx90aELFxxx", 16);
	producer_define(&p, TS_DEF_FUNCTION, &function, sizeof(function), "_Z1kxxxx", 8);
	ts_check_int(arena_read(&reader, &p, &sink), 0);
	ts_check_str(sink.code, "1 /a/b+5 for gfx90a: ELF");
	ts_check_str(sink.function, "1 _Z1k of 1");
	ts_check_int(reader.n_bad, 0);
	for (size_t i = 0; i < TS_ARRAY_LEN(bad); i++)
		producer_define(&p, TS_DEF_CODE, &bad[i], sizeof(bad[i]), "/a/bgfx90aELFxxx", 16);
	producer_define(&p, TS_DEF_FUNCTION, &long_function, sizeof(long_function), "_Z1kxxxx", 8);
	/* Shorter than the struct. */
	producer_define(&p, TS_DEF_CODE, &code, 24, "", 0);
	producer_define(&p, TS_DEF_FUNCTION, &function, 16, "", 0);
	ts_check_int(arena_read(&reader, &p, &sink), 0);
	ts_check_int(reader.n_bad, TS_ARRAY_LEN(bad) + 3);
	ts_check_str(sink.function, "1 _Z1k of 1");
	ts_arena_reader_deinit(&reader);
	producer_deinit(&p);
}

/* Strings in frames get the file's ids; an id without a string becomes 0. */
TS_TEST(frames_that_refer_to_strings)
{
	const uint64_t frames[] = {0x7f0000001234, TS_FRAME_PYTHON_AT(1, 77),
				   TS_FRAME_PYTHON_AT(99, 8),
				   TS_FRAME_PYTHON_AT(UINT32_MAX, TS_FRAME_LINE(UINT64_MAX))};
	struct ts_arena_reader reader = {0};
	struct sink sink = {0};
	struct producer p;

	producer_init(&p, 1, true);
	producer_string(&p, "function\nfile.py");
	producer_stack(&p, frames, 4);
	ts_check_int(arena_read(&reader, &p, &sink), 0);
	ts_check_int(sink.frames[0], 0x7f0000001234);
	ts_check_int(sink.frames[1], TS_FRAME_PYTHON_AT(1001, 77));
	ts_check_int(sink.frames[2], TS_FRAME_PYTHON_AT(0, 8));
	ts_check_int(TS_FRAME_STRING(sink.frames[3]), 0);
	ts_check_int(TS_FRAME_LINE(sink.frames[3]), (1 << TS_FRAME_LINE_BITS) - 1);
	ts_arena_reader_deinit(&reader);
	producer_deinit(&p);
}

/*
 * An id without a string uses no memory. A known id after many unknown ids still gets its right
 * place.
 */
TS_TEST(refused_ids_take_no_memory)
{
	struct ts_arena_reader reader = {0};
	struct sink sink = {.refuses = true};
	struct producer p;

	producer_init(&p, 1, true);
	for (unsigned i = 0; i < 30000; i++)
		producer_string(&p, "x");
	ts_check_int(arena_read(&reader, &p, &sink), 0);
	ts_check_int(sink.n_strings, 30000);
	ts_check(sink.n_rests >= 2);
	ts_check_int(reader.n_bad, 0);
	ts_arena_reader_trim(&reader);
	ts_check_int(ts_arena_reader_memory(&reader), 0);
	/* The next string is known, but the sink refuses memory for it. */
	sink.refuses = false;
	sink.grants_none = true;
	producer_string(&p, "y");
	ts_check_int(arena_read(&reader, &p, &sink), 0);
	ts_check_int(ts_id_map_get(&reader.strings, 30001), TS_ID_UNKNOWN);
	sink.grants_none = false;
	producer_string(&p, "z");
	ts_check_int(arena_read(&reader, &p, &sink), 0);
	ts_check_int(ts_id_map_get(&reader.strings, 30001), TS_ID_UNKNOWN);
	ts_check_int(ts_id_map_get(&reader.strings, 30002), 1000 + 30002);
	ts_check_int(ts_id_map_get(&reader.strings, 1), TS_ID_UNKNOWN);
	ts_check_int(reader.n_bad, 0);
	ts_arena_reader_deinit(&reader);
	producer_deinit(&p);
}

TS_TEST(malformed_definitions)
{
	struct ts_definition lying = {.n = 4000};
	struct ts_definition unknown = {0};
	struct ts_arena_reader reader = {0};
	struct sink sink = {0};
	struct ts_arena *arena;
	struct producer p;

	producer_init(&p, 1, true);
	arena = (struct ts_arena *)(p.base + p.control->arena_off);
	/* These definitions are bad in themselves: counted and skipped. */
	producer_define(&p, TS_DEF_STRING, &lying, sizeof(lying), "x", 1);
	producer_define(&p, TS_DEF_STACK, &lying, sizeof(lying), "12345678", 8);
	producer_define(&p, 4, &unknown, sizeof(unknown), "", 0); /* a device with only zeros */
	p.n_defs[TS_DEF_STRING] = 77;				  /* an id out of order */
	producer_string(&p, "far");
	ts_check_int(arena_read(&reader, &p, &sink), 0);
	ts_check_int(reader.n_bad, 3);
	ts_check_int(sink.n_strings, 0);
	/* The chain of definitions is broken: the peer must be dropped. */
	arena->published = p.arena_at + 8;
	ts_check_int(arena_read(&reader, &p, &sink), -EBADMSG);
	arena->published = p.arena_at - 8;
	ts_check_int(arena_read(&reader, &p, &sink), -EBADMSG);
	arena->published = p.control->arena_bytes + 8;
	ts_check_int(arena_read(&reader, &p, &sink), -EBADMSG);
	arena->published = p.arena_at + 4;
	ts_check_int(arena_read(&reader, &p, &sink), -EBADMSG);
	ts_arena_reader_deinit(&reader);
	producer_deinit(&p);
}
