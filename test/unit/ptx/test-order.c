// SPDX-License-Identifier: Apache-2.0
/*
 * Litmus tests of PTX's memory model. Outcomes that the model forbids never happen, with any number
 * of engine threads. Sources: ISA 8, memory consistency model; Lustig et al., "A formal analysis of
 * the NVIDIA PTX memory consistency model", ASPLOS 2019.
 *
 * Each thread of a litmus test is a block, and each lane of the block is an instance of the test
 * with its own memory. The blocks of a test meet before each round, so the instances of a round run
 * at the same time. A round stores the values that it read, and the host checks them after all
 * rounds. Several groups of blocks run one test, because one engine thread may run all blocks of a
 * group.
 */
#include "test/unit/ptx/device.h"

#define LANES	 128u
#define ROUNDS	 2048u
#define GROUPS	 4u
#define N_CELLS	 (GROUPS * ROUNDS * LANES)
#define STRIDE	 (N_CELLS * 4) /* bytes of X, of Y, and of each result */
#define N_ARRAYS 6u

/* Places of an instance: X and Y are tested, R1 to R4 hold the values that were read. */
#define X  "[%d3]"
#define Y  "[%d3+4194304]"
#define R1 "[%d3+8388608]"
#define R2 "[%d3+12582912]"
#define R3 "[%d3+16777216]"
#define R4 "[%d3+20971520]"

/*
 * po: the places; px: the number of blocks that meet. The counters of the meetings lie behind the
 * places, one for each round.
 */
#define LITMUS(name, t0, t1, t2, t3)                                                                                             \
	".visible .entry " name "(.param .u64 po, .param .u64 px) {\n"                                                           \
	".reg .b32 %r<30>; .reg .b64 %d<20>; .reg .pred %p<9>;\n"                                                                \
	"mov.u32 %r1, %tid.x; ld.param.u64 %d0, [po]; ld.param.u64 %d2, [px]; mul.wide.u32 %d3, %r1, 4;\n"                       \
	"add.u64 %d3, %d0, %d3; add.u64 %d4, %d0, 25165824; mov.u32 %r2, %ctaid.x; mov.u32 %r3, 0;\n"                            \
	"cvt.u32.u64 %r4, %d2; div.u32 %r7, %r2, %r4; rem.u32 %r2, %r2, %r4; shl.b32 %r4, %r4, 2;\n"                             \
	"mul.wide.u32 %d5, %r7, 1048576; add.u64 %d3, %d3, %d5; mul.wide.u32 %d5, %r7, 8192; add.u64 %d4, %d4, %d5;\n"           \
	" and.b32 %r5, %r1, 31; setp.eq.u32 %p1, %r5, 0;\n"                                                                      \
	"LOOP: @%p1 red.relaxed.gpu.global.add.u32 [%d4], 1;\n"                                                                  \
	"MEET: ld.relaxed.gpu.global.u32 %r6, [%d4]; setp.lt.u32 %p2, %r6, %r4; @%p2 bra MEET;\n"                                \
	"setp.eq.u32 %p3, %r2, 1; @%p3 bra T1; setp.eq.u32 %p3, %r2, 2; @%p3 bra T2; setp.eq.u32 %p3, %r2, 3; @%p3 bra T3;\n" t0 \
	" bra NEXT;\nT1: " t1 " bra NEXT;\nT2: " t2 " bra NEXT;\nT3: " t3 "\n"                                                   \
	"NEXT: add.u64 %d3, %d3, 512; add.u64 %d4, %d4, 4; add.u32 %r3, %r3, 1; setp.lt.u32 %p4, %r3, 2048;\n"                   \
	"@%p4 bra LOOP; ret; }\n"

#define ST(place)      "st.relaxed.gpu.global.u32 " place ", 1;"
#define ST2(place)     "st.relaxed.gpu.global.u32 " place ", 2;"
#define LD(r, place)   "ld.relaxed.gpu.global.u32 " r ", " place ";"
#define KEEP(place, r) "st.global.u32 " place ", " r ";"
#define REL(place)     "st.release.gpu.global.u32 " place ", 1;"
#define ACQ(r, place)  "ld.acquire.gpu.global.u32 " r ", " place ";"
#define SC	       "fence.sc.gpu;"
#define FENCE	       "fence.acq_rel.gpu;"

static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
	/*
	 * Message passing by release and acquire, fences, volatile and membar, an atomic, a plain
	 * store before a flag.
	 */
	LITMUS("mp", ST(X) REL(Y), ACQ("%r10", Y) LD("%r11", X) KEEP(R1, "%r10") KEEP(R2, "%r11"),
	       "", "") LITMUS("mp_fence", ST(X) FENCE ST(Y),
			      LD("%r10", Y) FENCE LD("%r11", X) KEEP(R1, "%r10") KEEP(R2, "%r11"),
			      "", "")
		LITMUS("mp_membar",
		       "st.global.u32 " X ", 1; membar.gl; st.volatile.global.u32 " Y ", 1;",
		       "ld.volatile.global.u32 %r10, " Y "; membar.gl; ld.global.u32 %r11, " X
		       ";" KEEP(R1, "%r10") KEEP(R2, "%r11"),
		       "", "")
			LITMUS("mp_atomic",
			       "st.global.u32 " X ", 1; atom.release.gpu.global.exch.b32 %r12, " Y
			       ", 1;",
			       "atom.acquire.gpu.global.add.u32 %r10, " Y
			       ", 0; ld.global.u32 %r11, " X ";" KEEP(R1, "%r10") KEEP(R2, "%r11"),
			       "", "")
	/* Store buffering. */
	LITMUS("sb", ST(X) SC LD("%r10", Y) KEEP(R1, "%r10"),
	       ST(Y) SC LD("%r10", X) KEEP(R2, "%r10"), "", "")
		LITMUS("sb_membar",
		       "st.global.u32 " X ", 1; membar.sys; ld.volatile.global.u32 %r10, " Y
		       ";" KEEP(R1, "%r10"),
		       "st.global.u32 " Y ", 1; membar.sys; ld.volatile.global.u32 %r10, " X
		       ";" KEEP(R2, "%r10"),
		       "", "")
	/* Load buffering: a value is read whose write depends on the read. */
	LITMUS("lb", LD("%r10", X) FENCE ST(Y) KEEP(R1, "%r10"),
	       LD("%r10", Y) FENCE ST(X) KEEP(R2, "%r10"), "", "")
	/* Coherence: of two reads of a place, the second does not return an older value. */
	LITMUS("corr", ST(X), LD("%r10", X) LD("%r11", X) KEEP(R1, "%r10") KEEP(R2, "%r11"), "", "")
	/*
	 * Write-to-read causality: if a thread has seen a value and signals another thread, the
	 * other thread sees the value, too.
	 */
	LITMUS("wrc", ST(X), ACQ("%r10", X) REL(Y) KEEP(R1, "%r10"),
	       ACQ("%r10", Y) LD("%r11", X) KEEP(R2, "%r10") KEEP(R3, "%r11"), "")
	/* Independent reads of independent writes. */
	LITMUS("iriw", ST(X), LD("%r10", X) SC LD("%r11", Y) KEEP(R1, "%r10") KEEP(R2, "%r11"),
	       ST(Y), LD("%r10", Y) SC LD("%r11", X) KEEP(R3, "%r10") KEEP(R4, "%r11"))
	/* The last value of X is 2 if T1 wrote X after it saw T0's write. */
	LITMUS("s", ST2(X) REL(Y), ACQ("%r10", Y) ST(X) KEEP(R1, "%r10"), "", "")
	/* A write after a fence and a read after one. */
	LITMUS("r", ST(X) SC ST(Y), ST2(Y) SC LD("%r10", X) KEEP(R1, "%r10"), "", "");

struct outcome {
	uint32_t x, y, r[4];
};

static bool forbids_mp(const struct outcome *o)
{
	return o->r[0] && !o->r[1];
}

static bool forbids_sb(const struct outcome *o)
{
	return !o->r[0] && !o->r[1];
}

static bool forbids_lb(const struct outcome *o)
{
	return o->r[0] && o->r[1];
}

static bool forbids_wrc(const struct outcome *o)
{
	return o->r[0] && o->r[1] && !o->r[2];
}

static bool forbids_iriw(const struct outcome *o)
{
	return o->r[0] && !o->r[1] && o->r[2] && !o->r[3];
}

static bool forbids_s(const struct outcome *o)
{
	return o->r[0] && o->x == 2;
}

static bool forbids_r(const struct outcome *o)
{
	return o->y == 2 && !o->r[0];
}

static const struct {
	const char *name;
	uint32_t n_blocks;
	bool (*forbids)(const struct outcome *outcome);
} tests[] = {
	{"mp", 2, forbids_mp},	      {"mp_fence", 2, forbids_mp}, {"mp_membar", 2, forbids_mp},
	{"mp_atomic", 2, forbids_mp}, {"sb", 2, forbids_sb},	   {"sb_membar", 2, forbids_sb},
	{"lb", 2, forbids_lb},	      {"corr", 2, forbids_mp},	   {"wrc", 3, forbids_wrc},
	{"iriw", 4, forbids_iriw},    {"s", 2, forbids_s},	   {"r", 2, forbids_r},
};

static uint32_t n_forbidden(const uint32_t *cells, bool (*forbids)(const struct outcome *))
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < N_CELLS; i++) {
		const struct outcome o = {cells[i],
					  cells[N_CELLS + i],
					  {cells[2 * N_CELLS + i], cells[3 * N_CELLS + i],
					   cells[4 * N_CELLS + i], cells[5 * N_CELLS + i]}};

		n += forbids(&o);
	}
	return n;
}

static void run(uint32_t n_threads)
{
	/* A million instances per launch. */
	const uint32_t n_launches = ts_soak() ? 10 : 1;
	struct device d;
	uint64_t o;

	device_load(&d, (const char *const[]){text}, 1, n_threads);
	o = device_alloc(&d, N_ARRAYS * STRIDE + GROUPS * ROUNDS * 4);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		for (uint32_t k = 0; k < n_launches; k++) {
			memset(device_host(&d, o), 0, N_ARRAYS * STRIDE + GROUPS * ROUNDS * 4);
			DEVICE_RUN(&d, tests[i].name, GROUPS * tests[i].n_blocks, LANES, o,
				   tests[i].n_blocks);
			if (n_forbidden(device_host(&d, o), tests[i].forbids))
				fprintf(stderr, "%s, %" PRIu32 " threads:\n", tests[i].name,
					n_threads);
			ts_check_int(n_forbidden(device_host(&d, o), tests[i].forbids), 0);
		}
	device_close(&d);
}

TS_TEST(two_threads)
{
	run(2);
}

TS_TEST(eight_threads)
{
	run(8);
}
