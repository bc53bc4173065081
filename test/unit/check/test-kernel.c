/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For kernels with races or reads of unwritten memory, the checker reports both places. For
 * corrected versions of these kernels, the checker reports nothing.
 */
#include "test/unit/ptx/device.h"

#include "replay/check/check.h"

/*
 * Every kernel takes a pointer p to words. %r1: the thread, %r2: the block, %rd1: p, %rd3: p + 4 *
 * thread.
 */
#define KERNEL(name, body)                                                                       \
	".visible .entry " name "(.param .u64 p)\n{\n"                                           \
	".reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n.reg .pred %p<4>;\n"                             \
	".shared .align 8 .b8 s[4096];\n"                                                        \
	"ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"                \
	"mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"                                \
	"cvt.u32.u64 %r3, %rd2;\nmov.u32 %r4, s;\nadd.u32 %r5, %r4, %r3;\n" /* s[thread] */      \
	"xor.b32 %r6, %r3, 4;\nadd.u32 %r6, %r4, %r6;\n"		    /* s[thread ^ 1] */  \
	"xor.b32 %r7, %r3, 128;\nadd.u32 %r7, %r4, %r7;\n"		    /* s[thread ^ 32] */ \
		body "\nret;\n}\n"

#define BLOCK_BARRIER "bar.sync 0;\n"
#define WARP_BARRIER  "bar.warp.sync 0xffffffff;\n"
/*
 * Writes the thread's own word, executes the instructions `order`, and reads the word at `other`.
 */
#define EXCHANGE(order, other)                                           \
	"st.shared.u32 [%r5], %r1;\n" order "ld.shared.u32 %r8, [" other \
	"];\nst.global.u32 [%rd3], %r8;\n"
/*
 * Each block writes p[block]; the last block to add to a counter behind these words reads another
 * block's word.
 */
#define LAST(fence, add)                                                                      \
	"mul.wide.u32 %rd4, %r2, 4;\nadd.s64 %rd5, %rd1, %rd4;\nadd.u32 %r8, %r2, 7;\n"       \
	"st.global.u32 [%rd5], %r8;\n" fence add " %r9, [%rd1+1024], 1;\n"                    \
	"setp.ne.u32 %p1, %r9, 7;\n@%p1 bra done;\n" fence "ld.global.u32 %r10, [%rd1+12];\n" \
	"st.global.u32 [%rd1+2048], %r10;\ndone:\n"
#define LOCKED(fence)                                                                                            \
	"again:\natom.global.cas.b32 %r8, [%rd1+1024], 0, 1;\nsetp.ne.u32 %p1, %r8, 0;\n@%p1 bra again;\n" fence \
	"ld.global.u32 %r9, [%rd1];\nadd.u32 %r9, %r9, 1;\nst.global.u32 [%rd1], %r9;\n" fence                   \
	"atom.global.exch.b32 %r8, [%rd1+1024], 0;\n"
/* Warp 0 writes words that warp 1 reads, ordered by barriers at which not all threads wait. */
#define PRODUCER(first)                                                                \
	"setp.gt.u32 %p1, %r1, 31;\n@%p1 bra take;\nst.shared.u32 [%r5], %r1;\n" first \
	"bra.uni done;\n"                                                              \
	"take:\nbar.sync 1, 64;\nld.shared.u32 %r8, [%r7];\nst.global.u32 [%rd3], %r8;\ndone:\n"

static const char text[] = PTX_HEAD KERNEL("exchange", EXCHANGE(BLOCK_BARRIER, "%r7")) KERNEL(
	"exchange_race",
	EXCHANGE("", "%r7")) KERNEL("exchange_warp_barrier",
				    EXCHANGE(WARP_BARRIER,
					     "%r7")) KERNEL("warp",
							    EXCHANGE(WARP_BARRIER,
								     "%r6")) KERNEL("warp_race",
										    EXCHANGE("",
											     "%r6"))
	KERNEL("twice", EXCHANGE(BLOCK_BARRIER, "%r7") BLOCK_BARRIER EXCHANGE(BLOCK_BARRIER, "%r6")) KERNEL(
		"twice_race",
		EXCHANGE(BLOCK_BARRIER, "%r7")
			EXCHANGE(
				BLOCK_BARRIER,
				"%r6")) KERNEL("volatile_words", "st.volatile.shared.u32 [%r5], %r1;\nld.volatile.shared.u32 %r8, [%r6];\n")
		KERNEL("last", LAST("membar.gl;\n", "atom.global.add.u32")) KERNEL(
			"last_release",
			LAST(
				"",
				"atom.acq_rel.gpu.global.add.u32")) KERNEL("last_race",
									   LAST("", "atom.global.add.u32")) KERNEL("sum", "red.global.add.u32 [%rd1], %r1;\nred.shared.add.u32 [%r4], 1;\n")
			KERNEL("sum_race", "red.global.add.u32 [%rd1], %r1;\nst.global.u32 [%rd1], %r1;\n") KERNEL(
				"locked", LOCKED("membar.gl;\n")) KERNEL("locked_race",
									 LOCKED(
										 "")) KERNEL("same_value",
											     "mov.u32 %r8, 1;\nst.global.u32 [%rd1], %r8;\n")
				KERNEL("other_value", "st.global.u32 [%rd1], %r1;\n") KERNEL(
					"blocks_race",
					"mad.lo.u32 %r8, %r2, 32, %r1;\nadd.u32 %r9, %r8, 1;\nmul.wide.u32 %rd4, %r8, 4;\n"
					"mul.wide.u32 %rd6, %r9, 4;\nadd.s64 %rd5, %rd1, %rd4;\nadd.s64 %rd7, %rd1, %rd6;\n"
					"st.global.u32 [%rd5], %r8;\nbar.sync 0;\nld.global.u32 %r10, [%rd7];\n")
					KERNEL("producer", PRODUCER("bar.arrive 1, 64;\n")) KERNEL(
						"producer_race",
						PRODUCER(
							"bar.arrive 1, 64;\nst.shared.u32 [%r5], %r3;\n")) KERNEL("bytes",
														  "add.u32 %r8, %r4, %r1;\nst.shared.u8 [%r8], %r1;\nbar.sync 0;\nld.shared.u8 %r9, [%r8];\n"
														  "add.s64 %rd4, %rd1, 512;\ncvt.u64.u32 %rd5, %r1;\nadd.s64 %rd4, %rd4, %rd5;\nst.global.u8 [%rd4], %r1;\n")
						KERNEL("unwritten_shared", "ld.shared.u32 %r8, [%r5];\n") KERNEL(
							"reserved_shared",
							"mov.u32 %r8, %reserved_smem_offset_1;\nld.shared.u32 %r9, [%r8];\n")
							KERNEL("half_written", "setp.gt.u32 %p1, %r1, 15;\n@!%p1 st.shared.u32 [%r5], %r1;\nld.shared.u32 %r8, [%r5];\n") KERNEL(
								"unwritten_global",
								"ld.global.u32 %r8, [%rd3+256];\n")
								KERNEL("beyond", "st.global.u32 [%rd1+70000000], %r1;\n") KERNEL(
									"far",
									"ld.global.u64 %rd5, [%rd1+64];\nadd.s64 %rd6, %rd1, %rd5;\nst.global.u32 [%rd6], %r1;\n")
									KERNEL("led",
									       "ld.global.u64 %rd5, [%rd1];\nst.global.u32 [%rd5], %r1;\n")
										KERNEL("led_by_two",
										       "ld.global.u64 %rd5, [%rd1];\nld.global.u64 %rd5, [%rd5];\nst.global.u32 [%rd5], %r1;\n")
											KERNEL("counts_from_one",
											       "ld.global.u64 %rd5, [%rd1];\nst.global.u32 [%rd5+4], %r1;\n")
												KERNEL("counts_from_100",
												       "ld.global.u64 %rd5, [%rd1];\nst.global.u32 [%rd5+400], %r1;\n");

struct bench {
	struct device device;
	struct ts_check *check;
	uint64_t words;
};

static void bench_init(struct bench *b, const char *ptx, uint32_t what)
{
	device_open(&b->device, ptx);
	ts_check_int(ts_ptx_image_observe(b->device.image), 0);
	ts_check_int(ts_check_new(what, &b->check), 0);
	ts_check_int(ts_ptx_engine_observe(b->device.engine, ts_check_observer(b->check)), 0);
	b->words = device_alloc(&b->device, 4096);
	memset(device_host(&b->device, b->words), 0, 4096);
	ts_check_int(ts_check_alloc(b->check, b->words, 4096, TS_CHECK_ALLOC_WRITTEN), 0);
}

static void bench_deinit(struct bench *b)
{
	ts_check_free(b->check);
	device_close(&b->device);
}

/* Returns the only finding; NULL: there is none. */
static const struct ts_check_finding *only(struct bench *b)
{
	size_t n;
	const struct ts_check_finding *findings = ts_check_findings(b->check, &n);

	ts_check(n <= 1);
	return n ? findings : NULL;
}

static void clean(const char *kernel, uint32_t grid, uint32_t block)
{
	struct bench b;
	size_t n;

	bench_init(&b, text, TS_CHECK_RACES | TS_CHECK_INIT | TS_CHECK_BOUNDS);
	DEVICE_RUN(&b.device, kernel, grid, block, b.words);
	(void)ts_check_findings(b.check, &n);
	if (n)
		fprintf(stderr, "%s: something is found\n", kernel);
	ts_check_int(n, 0);
	bench_deinit(&b);
}

TS_TEST(clean_kernels)
{
	clean("exchange", 4, 256);
	clean("exchange", 1, 1024);
	clean("warp", 2, 64);
	clean("twice", 1, 128);
	clean("volatile_words", 1, 2);
	clean("last", 8, 1);
	clean("last_release", 8, 1);
	clean("locked", 8, 2);
	clean("same_value", 4, 64);
	clean("producer", 2, 64);
	clean("bytes", 1, 100);
}

static struct ts_check_finding race(const char *kernel, uint32_t grid, uint32_t block)
{
	struct ts_check_finding finding = {0};
	struct bench b;
	size_t n;

	bench_init(&b, text, TS_CHECK_RACES);
	DEVICE_RUN(&b.device, kernel, grid, block, b.words);
	if (!ts_check_findings(b.check, &n) || !n)
		fprintf(stderr, "%s: nothing is found\n", kernel);
	ts_check(n);
	finding = ts_check_findings(b.check, &n)[0];
	ts_check_int(finding.kind, TS_CHECK_FOUND_RACE);
	ts_check_str(finding.kernel, kernel);
	ts_check(finding.access.line && finding.earlier.line);
	ts_check(memcmp(finding.access.thread, finding.earlier.thread, 12) ||
		 memcmp(finding.access.block, finding.earlier.block, 12));
	bench_deinit(&b);
	return finding;
}

TS_TEST(races)
{
	static const struct {
		const char *kernel;
		uint32_t grid, block;
		bool shared;
	} all[] = {
		{"exchange_race", 1, 64, true}, {"exchange_warp_barrier", 1, 64, true},
		{"warp_race", 1, 32, true},	{"twice_race", 1, 64, true},
		{"last_race", 8, 1, false},	{"sum_race", 1, 64, false},
		{"locked_race", 8, 1, false},	{"other_value", 1, 32, false},
		{"blocks_race", 2, 32, false},	{"producer_race", 1, 64, true},
	};

	for (size_t i = 0; i < TS_ARRAY_LEN(all); i++) {
		struct ts_check_finding finding = race(all[i].kernel, all[i].grid, all[i].block);

		ts_check_int(finding.is_shared, all[i].shared);
	}
}

TS_TEST(a_race_has_both_places)
{
	struct ts_check_finding finding = race("exchange_race", 1, 64);
	struct ts_check_side read = finding.access, write = finding.earlier;

	/* If warp 0 runs first, it reads words that warp 1 writes later. */
	if (finding.access.is_write) {
		read = finding.earlier;
		write = finding.access;
	}
	ts_check(read.is_read && write.is_write);
	ts_check(read.line == write.line + 1);
	ts_check_int(read.thread[0] ^ write.thread[0], 32);
	ts_check_int(finding.address, 4 * write.thread[0]);
	ts_check_int(finding.n, 64);
}

TS_TEST(unwritten)
{
	const struct ts_check_finding *finding;
	struct bench b;
	uint64_t more;

	bench_init(&b, text, TS_CHECK_INIT);
	DEVICE_RUN(&b.device, "unwritten_shared", 1, 32, b.words);
	finding = only(&b);
	ts_check(finding && finding->is_shared);
	ts_check_int(finding->kind, TS_CHECK_FOUND_UNWRITTEN);
	ts_check_int(finding->n, 32);
	bench_deinit(&b);

	/*
	 * The part of shared memory that CUDA reserves for the system is zero. The barriers of
	 * cooperative groups rely on this.
	 */
	bench_init(&b, text, TS_CHECK_INIT);
	DEVICE_RUN(&b.device, "reserved_shared", 1, 32, b.words);
	ts_check(!only(&b));
	bench_deinit(&b);

	bench_init(&b, text, TS_CHECK_INIT);
	DEVICE_RUN(&b.device, "half_written", 1, 32, b.words);
	finding = only(&b);
	ts_check(finding);
	ts_check_int(finding->n, 16);
	ts_check_int(finding->access.thread[0], 16);
	ts_check_int(finding->address, 64);
	bench_deinit(&b);

	/* Words 64 to 95; word 70 is not written. */
	bench_init(&b, text, TS_CHECK_INIT);
	more = device_alloc(&b.device, 512);
	ts_check_int(ts_check_alloc(b.check, more, 512, 0), 0);
	ts_check_int(ts_check_writes(b.check, more, 280, 0), 0);
	ts_check_int(ts_check_writes(b.check, more + 284, 512 - 284, 0), 0);
	DEVICE_RUN(&b.device, "unwritten_global", 1, 32, more);
	finding = only(&b);
	ts_check(finding);
	ts_check_int(finding->access.thread[0], 6);
	ts_check_int(finding->address, more + 280);
	ts_check_int(finding->allocation, more);
	ts_check_int(finding->allocation_bytes, 512);
	bench_deinit(&b);
}

/* A copy of unwritten memory is unwritten, too. */
TS_TEST(copied_as_it_is)
{
	const struct ts_check_finding *finding;
	uint64_t from, to;
	struct bench b;

	bench_init(&b, text, TS_CHECK_INIT);
	from = device_alloc(&b.device, 512);
	to = device_alloc(&b.device, 512);
	ts_check_int(ts_check_alloc(b.check, from, 512, 0), 0);
	ts_check_int(ts_check_alloc(b.check, to, 512, 0), 0);
	ts_check_int(ts_check_writes(b.check, from, 500, 0), 0);
	ts_check_int(ts_check_writes(b.check, to, 512, from), 0);
	DEVICE_RUN(&b.device, "unwritten_global", 1, 64, to);
	finding = only(&b);
	ts_check(finding);
	ts_check_int(finding->n, 3);
	ts_check_int(finding->address, to + 500);
	bench_deinit(&b);
}

TS_TEST(out_of_bounds)
{
	const struct ts_check_finding *finding;
	struct bench b;

	bench_init(&b, text, TS_CHECK_BOUNDS);
	ts_check_int(device_try(&b.device, "beyond", 1, 32, &b.words, 1), TS_PTX_E_FAULT);
	finding = only(&b);
	ts_check(finding);
	ts_check_int(finding->kind, TS_CHECK_FOUND_OUT_OF_BOUNDS);
	ts_check_int(finding->address, b.words + 70000000);
	ts_check_int(finding->allocation, b.words);
	ts_check(finding->access.is_write && finding->access.has_thread);
	bench_deinit(&b);
}

/*
 * 28 bytes at p + 512, all written. If the alignment makes it safe, NVIDIA's compiler loads the
 * last three words as a vector of four.
 */
#define SEVEN                                                                   \
	"mov.u32 %r8, 5;\nst.global.v4.u32 [%rd1+512], {%r8, %r8, %r8, %r8};\n" \
	"st.global.v2.u32 [%rd1+528], {%r8, %r8};\nst.global.u32 [%rd1+536], %r8;\n"
#define MERGED(first, last)                                                 \
	"ld.global.v4.u32 {" first ", %r10, %r11, " last "}, [%rd1+528];\n" \
	"add.u32 %r10, %r10, %r11;\nst.global.u32 [%rd1+512], %r10;\n"

static const char padding[] = PTX_HEAD ".shared .align 128 .b8 odd[4];\n" KERNEL(
	"merged", SEVEN MERGED("%r9", "%r12")) KERNEL("sunk", SEVEN MERGED("_", "_"))
	KERNEL("used", SEVEN MERGED("%r9", "%r12") "st.global.u32 [%rd1+512], %r12;\n")
		KERNEL("store", SEVEN "st.global.u32 [%rd1+540], %r8;\n") KERNEL(
			"behind",
			SEVEN "ld.global.u32 %r9, [%rd1+1020];\nst.global.u32 [%rd1+512], %r9;\n")
			KERNEL("shared",
			       "mov.u32 %r8, odd;\nst.shared.u32 [%r8], %r1;\nst.shared.u32 [%r4+4160], %r1;\n");

/*
 * Returns the address of the finding in a kernel that gets 28 bytes of allocated memory; 0: there
 * is no finding.
 */
static uint64_t found_in_padding(const char *kernel, uint32_t what)
{
	const struct ts_check_finding *finding;
	uint64_t address = 0;
	struct bench b;

	bench_init(&b, padding, what);
	ts_check_release(b.check, b.words);
	ts_check_int(ts_check_alloc(b.check, b.words + 512, 28, 0), 0);
	DEVICE_RUN(&b.device, kernel, 1, 1, b.words);
	finding = only(&b);
	if (finding) {
		ts_check_int(finding->kind, TS_CHECK_FOUND_OUT_OF_BOUNDS);
		address = finding->is_shared ? finding->address : finding->address - b.words;
	}
	bench_deinit(&b);
	return address;
}

TS_TEST(padding_is_out_of_bounds)
{
	const uint32_t both = TS_CHECK_BOUNDS | TS_CHECK_INIT;

	/* Bytes that are loaded and not used are no finding. */
	ts_check_int(found_in_padding("merged", both), 0);
	ts_check_int(found_in_padding("sunk", both), 0);
	ts_check_int(found_in_padding("used", both), 540);
	ts_check_int(found_in_padding("store", both), 540);
	ts_check_int(found_in_padding("behind", both), 1020);
	ts_check(found_in_padding("shared", both));
	ts_check_int(found_in_padding("used", TS_CHECK_RACES), 0);
}

/*
 * Returns the number of findings, 0 or 1, of a kernel that writes into another allocation. The
 * checker reports a stray write if the kernel loaded no pointer to that allocation.
 */
static size_t strays_into(const char *kernel, uint32_t what, bool is_at_end, uint32_t flags)
{
	struct bench b;
	uint64_t other, way, word;
	size_t n;

	bench_init(&b, text, what);
	if (flags & TS_CHECK_ALLOC_MAPPED) {
		ts_check_release(b.check, b.words);
		ts_check_int(ts_check_alloc(b.check, b.words, 4096, flags), 0);
	}
	other = device_alloc(&b.device, 4096);
	ts_check_int(ts_check_alloc(b.check, other, 4096, flags), 0);
	way = other - b.words;
	memcpy(device_host(&b.device, b.words) + 64, &way, sizeof(way));
	word = other + (is_at_end ? 4092 : 0);
	memcpy(device_host(&b.device, b.words), &word, sizeof(word));
	DEVICE_RUN(&b.device, kernel, 1, 1, b.words);
	(void)ts_check_findings(b.check, &n);
	if (n) {
		ts_check_int(only(&b)->kind, TS_CHECK_FOUND_STRAY);
		ts_check(only(&b)->address == other && only(&b)->allocation == other);
		ts_check(only(&b)->access.is_write && !only(&b)->earlier.sequence);
	}
	bench_deinit(&b);
	return n;
}

static size_t strays(const char *kernel, uint32_t what, bool is_at_end)
{
	return strays_into(kernel, what, is_at_end, TS_CHECK_ALLOC_WRITTEN);
}

TS_TEST(another_allocation)
{
	ts_check_int(strays("far", TS_CHECK_BOUNDS, false), 1);
	ts_check_int(strays("led", TS_CHECK_BOUNDS, false), 0);
	ts_check_int(strays("led", TS_CHECK_BOUNDS, true), 0);
	/* Without TS_CHECK_BOUNDS the checker does not report the write. */
	ts_check_int(strays("far", TS_CHECK_INIT, false), 0);
	/* Neighbouring mapped ranges are one range. */
	ts_check_int(strays_into("far", TS_CHECK_BOUNDS, false,
				 TS_CHECK_ALLOC_WRITTEN | TS_CHECK_ALLOC_MAPPED),
		     0);
}

static const uint8_t *memory_of(void *userdata, uint64_t address, uint64_t n_bytes)
{
	return device_host(userdata, address);
}

/*
 * Returns the number of findings of a kernel that writes into another allocation. If `is_pointer`,
 * a constant of the image is a pointer to that allocation. If `is_known`, the checker can read
 * constants.
 */
static size_t with_constant(const char *kernel, bool is_pointer, bool is_known)
{
	static const char constants[] = PTX_HEAD ".const .align 8 .u64 where[2] = {1, 2};\n" KERNEL(
		"by_constant", "ld.const.u64 %rd5, [where+8];\nst.global.u32 [%rd5], %r1;\n")
		KERNEL("far",
		       "ld.global.u64 %rd5, [%rd1+64];\nadd.s64 %rd6, %rd1, %rd5;\nst.global.u32 [%rd6], %r1;\n");
	struct ts_ptx_variable where;
	uint64_t other, way;
	struct bench b;
	size_t n;

	bench_init(&b, constants, TS_CHECK_BOUNDS);
	if (is_known)
		ts_check_memory(b.check, memory_of, &b.device);
	other = device_alloc(&b.device, 4096);
	ts_check_int(ts_check_alloc(b.check, other, 4096, TS_CHECK_ALLOC_WRITTEN), 0);
	way = other - b.words;
	memcpy(device_host(&b.device, b.words) + 64, &way, sizeof(way));
	ts_ptx_image_variable(b.device.image, 0, &where);
	if (is_pointer)
		memcpy(device_host(&b.device, where.address) + 8, &other, sizeof(other));
	DEVICE_RUN(&b.device, kernel, 1, 1, b.words);
	(void)ts_check_findings(b.check, &n);
	bench_deinit(&b);
	return n;
}

/*
 * A write is stray only if no constant points to the allocation, and if the checker can read the
 * constants.
 */
TS_TEST(a_pointer_in_constant_memory)
{
	ts_check_int(with_constant("by_constant", true, true), 0);
	ts_check_int(with_constant("far", true, true), 0);
	ts_check_int(with_constant("far", false, true), 1);
	ts_check_int(with_constant("far", false, false), 0);
}

/*
 * The kernel loads the pointer from memory that a kernel allocated and that the checker does not
 * know. The checker reports nothing.
 */
TS_TEST(a_pointer_in_the_heap)
{
	struct bench b;
	uint64_t other, between, node;

	bench_init(&b, text, TS_CHECK_BOUNDS);
	other = device_alloc(&b.device, 4096);
	ts_check_int(ts_check_alloc(b.check, other, 4096, TS_CHECK_ALLOC_WRITTEN), 0);
	/* An allocation between the kernel's buffer and the node with the pointer. */
	between = device_alloc(&b.device, 512);
	ts_check_int(ts_check_alloc(b.check, between, 512, TS_CHECK_ALLOC_WRITTEN), 0);
	node = device_alloc(&b.device, 16);
	memcpy(device_host(&b.device, b.words), &node, sizeof(node));
	memcpy(device_host(&b.device, node), &other, sizeof(other));
	DEVICE_RUN(&b.device, "led_by_two", 1, 1, b.words);
	ts_check(!only(&b));
	bench_deinit(&b);
}

/*
 * Code that counts from 1 has a pointer before its first element. If allocations are neighbours,
 * that pointer lies in the previous allocation. The checker reports no write by such a pointer.
 */
TS_TEST(a_pointer_before_what_it_is_to)
{
	struct bench b;
	uint64_t other, word;

	bench_init(&b, text, TS_CHECK_BOUNDS);
	other = device_alloc(&b.device, 4096);
	ts_check_int(other, b.words + 4096);
	ts_check_int(ts_check_alloc(b.check, other, 4096, TS_CHECK_ALLOC_WRITTEN), 0);
	word = other - 4;
	memcpy(device_host(&b.device, b.words), &word, sizeof(word));
	DEVICE_RUN(&b.device, "counts_from_one", 1, 1, b.words);
	ts_check(!only(&b));
	/* A pointer far before the second allocation is a pointer to the first allocation only. */
	word = other - 400;
	memcpy(device_host(&b.device, b.words), &word, sizeof(word));
	DEVICE_RUN(&b.device, "counts_from_100", 1, 1, b.words);
	ts_check(only(&b));
	ts_check_int(only(&b)->kind, TS_CHECK_FOUND_STRAY);
	bench_deinit(&b);
}

/* The accesses of one launch are complete when the next one begins. */
TS_TEST(launch_after_launch)
{
	struct bench b;

	bench_init(&b, text, TS_CHECK_ALL & ~TS_CHECK_ORDER);
	DEVICE_RUN(&b.device, "exchange", 1, 64, b.words);
	DEVICE_RUN(&b.device, "twice", 1, 64, b.words);
	DEVICE_RUN(&b.device, "last", 8, 1, b.words);
	ts_check(!only(&b));
	bench_deinit(&b);
}

/* Checking does not change results or counts. */
TS_TEST(as_without)
{
	struct ts_ptx_stats with;
	uint32_t words[64];
	struct bench b;
	struct device plain;
	uint64_t at;

	bench_init(&b, text, TS_CHECK_ALL & ~TS_CHECK_ORDER);
	DEVICE_RUN(&b.device, "twice", 1, 64, b.words);
	with = b.device.stats;
	memcpy(words, device_host(&b.device, b.words), sizeof(words));
	bench_deinit(&b);
	device_open(&plain, text);
	at = device_alloc(&plain, 4096);
	DEVICE_RUN(&plain, "twice", 1, 64, at);
	ts_check(!memcmp(&with, &plain.stats, sizeof(with)));
	ts_check(!memcmp(words, device_host(&plain, at), sizeof(words)));
	device_close(&plain);
}
