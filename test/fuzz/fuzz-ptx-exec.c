/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes valid PTX programs with wild addresses (replay/vgpu/ptx). The input selects instructions,
 * registers and constants of a kernel. The kernel runs on device memory between guard pages. It
 * must end, and must touch only its own memory: a guard page raises a signal, and a sanitizer
 * watches the engine's allocations.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "replay/vgpu/ptx/ptx.h"

#define MEMORY_BASE  UINT64_C(0x10000000)
#define MEMORY_BYTES 65536u
#define GUARD_BYTES  (1u << 20)
#define MAX_INSNS    48

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/*
 * Fields of a template. R, D, P, F, H, E, Q: registers (32 bits, 64 bits, predicate, float, 16
 * bits, double, 128 bits). N: a constant. A: an address, a 64-bit register with an offset. S: an
 * address in shared memory, a 32-bit register with an offset. L: a label.
 */
static const char *const templates[] = {
	"add.u32 R, R, R;",
	"mul.lo.u32 R, R, N;",
	"shl.b32 R, R, N;",
	"mov.u32 R, N;",
	"mov.u32 R, %laneid;",
	"mov.u32 R, %tid.x;",
	"xor.b32 R, R, R;",
	"add.s64 D, D, D;",
	"add.s64 D, D, N;",
	"sub.s64 D, D, D;",
	"mul.wide.u32 D, R, R;",
	"shr.u64 D, D, R;",
	"mov.b64 D, {R, R};",
	"cvt.u64.u32 D, R;",
	"cvt.u32.u64 R, D;",
	"setp.lt.u32 P, R, R;",
	"setp.ne.s64 P, D, N;",
	"selp.b64 D, D, D, P;",
	"fma.rn.f32 F, F, F, F;",
	"cvt.rzi.s32.f32 R, F;",
	"ld.global.u32 R, [A];",
	"ld.global.u8 R, [A];",
	"ld.global.v2.u64 {D, D}, [A];",
	"ld.global.v4.u32 {R, R, R, R}, [A];",
	"ld.u64 D, [A];",
	"ld.u16 H, [A];",
	"ld.volatile.u32 R, [A];",
	"ld.const.u32 R, [A];",
	"ld.local.u64 D, [A];",
	"ld.local.v4.f32 {F, F, F, F}, [A];",
	"ld.shared.u32 R, [S];",
	"ld.shared.v2.u64 {D, D}, [S];",
	"ld.param.u32 R, [A];",
	"ld.param.u64 D, [p+8];",
	"ld.b128 Q, [A];",
	"st.global.u32 [A], R;",
	"st.global.v4.u32 [A], {R, R, R, R};",
	"st.u64 [A], D;",
	"st.u8 [A], R;",
	"st.local.u32 [A], R;",
	"st.local.v2.u64 [A], {D, D};",
	"st.shared.u32 [S], R;",
	"st.shared.v4.u32 [S], {R, R, R, R};",
	"st.shared.u16 [A], H;",
	"st.global.b128 [A], Q;",
	"atom.global.add.u32 R, [A], R;",
	"atom.shared.max.u64 D, [S], D;",
	"atom.cas.b64 D, [A], D, D;",
	"atom.cas.b16 H, [A], H, H;",
	"atom.exch.b128 Q, [A], Q;",
	"atom.global.add.v4.f32 {F, F, F, F}, [A], {F, F, F, F};",
	"red.add.f64 [A], E;",
	"red.shared.inc.u32 [S], R;",
	"cp.async.ca.shared.global [S], [A], 8, R;",
	"cp.async.cg.shared.global [A], [A], 16;",
	"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [S], [A], R, [S];",
	"cp.async.bulk.global.shared::cta.bulk_group [A], [A], R;",
	"mbarrier.init.shared.b64 [S], R;",
	"mbarrier.arrive.shared.b64 D, [S];",
	"mbarrier.arrive.expect_tx.shared::cta.b64 D, [S], R;",
	"mbarrier.try_wait.parity.shared.b64 P, [S], R;",
	"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {R, R, R, R}, [S];",
	"ldmatrix.sync.aligned.m8n8.x2.trans.b16 {R, R}, [A];",
	"stmatrix.sync.aligned.m8n8.x4.shared.b16 [S], {R, R, R, R};",
	"wmma.load.a.sync.aligned.row.m16n16k16.f16 {R, R, R, R, R, R, R, R}, [A], R;",
	"wmma.load.c.sync.aligned.col.m8n8k4.shared.f64 {E, E}, [S], R;",
	"wmma.store.d.sync.aligned.col.m8n32k16.s32 [A], {R, R, R, R, R, R, R, R}, R;",
	"wmma.store.d.sync.aligned.row.m32n8k16.global.f16 [A], {R, R, R, R};",
	"alloca.u64 D, D, 16;",
	"alloca.u64 D, 64;",
	"stacksave.u64 D;",
	"stackrestore.u64 D;",
	"cvta.shared.u64 D, D;",
	"cvta.local.u64 D, D;",
	"cvta.to.local.u64 D, D;",
	"mov.u64 D, device;",
	"mov.u64 D, own;",
	"mov.u32 R, box;",
	"mov.u64 D, callee;",
	"isspacep.shared P, D;",
	"mapa.u64 D, D, R;",
	"shfl.sync.idx.b32 R|P, R, R, R, -1;",
	"shfl.sync.bfly.b32 R, R, R, R, R;",
	"vote.sync.ballot.b32 R, P, R;",
	"match.any.sync.b64 R, D, -1;",
	"bar.sync 0;",
	"bar.sync R, 32;",
	"bar.warp.sync R;",
	"barrier.cluster.arrive;",
	"barrier.cluster.wait;",
	"bra L;",
	"brx.idx R, table;",
	"call (R), callee, (D);",
	"call (R), D, (D), proto;",
	"call (R), vprintf, (D, D);",
	/* clang-format off */
	"{ .param .b64 size; .param .b64 back; st.param.b64 [size], D; call (back), malloc, (size); ld.param.b64 D, [back]; }",
	/* clang-format on */
	"{ .param .b64 what; st.param.b64 [what], D; call free, (what); }",
	"nanosleep.u32 R;",
	"exit;",
};

static const char head[] =
	".version 8.6\n.target sm_90\n.address_size 64\n"
	".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
	".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"
	".global .align 16 .b8 device[256];\n.shared .align 16 .b8 box[512];\n"
	".func (.reg .b32 %x) callee(.reg .b64 %y) { .local .align 8 .b8 mine[24]; .reg .b64 %z; mov.u64 %z, mine;\n"
	"st.local.u64 [%z+16], %y; ld.local.u32 %x, [%z+16]; st.u32 [%y], %x; ret; }\n"
	".visible .entry k(.param .u64 p, .param .b8 q[40]) {\n"
	".reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f64 %e<8>; .reg .f32 %f<8>; .reg .b16 %h<8>; .reg .pred %p<8>; .reg .b128 %q<8>;\n"
	".local .align 16 .b8 own[64];\n"
	"proto: .callprototype (.reg .b32 _) _ (.reg .b64 _);\n";

struct source {
	const uint8_t *at, *end;
};

static uint8_t next_byte(struct source *s)
{
	return s->at < s->end ? *s->at++ : 0;
}

static uint64_t next_value(struct source *s)
{
	static const uint64_t bases[] = {0,
					 MEMORY_BASE,
					 MEMORY_BASE + MEMORY_BYTES,
					 UINT64_C(0x1000100000000),
					 UINT64_C(0x1000200000000),
					 UINT64_C(0x1000300000000),
					 UINT64_C(0x1000400000000),
					 UINT64_MAX};
	uint8_t kind = next_byte(s);
	uint64_t v = bases[kind & 7];

	/* Mostly near an edge, sometimes anywhere. */
	for (int i = 0; i < kind >> 6; i++)
		v += (uint64_t)(int64_t)(int8_t)next_byte(s) << 8 * i * (kind >> 5 & 1);
	return v;
}

static size_t write_field(struct source *s, char c, char *text, size_t n, uint32_t n_insns)
{
	uint8_t v = next_byte(s);

	switch (c) {
	case 'N':
		return (size_t)snprintf(text, n, "%d", (int8_t)v);
	case 'A':
		return (size_t)snprintf(text, n, "%%d%u%+d", v & 7,
					(int8_t)next_byte(s) * (1 << (v >> 5)));
	case 'S':
		return (size_t)snprintf(text, n, "%%r%u%+d", v & 7,
					(int8_t)next_byte(s) * (1 << (v >> 5)));
	case 'L':
		return (size_t)snprintf(text, n, "L%u", v % (n_insns + 1));
	default:
		return (size_t)snprintf(text, n, "%%%c%u", c - 'A' + 'a', v & 7);
	}
}

static bool is_field(const char *p, const char *start)
{
	/*
	 * A field is a single letter. A letter in a word such as L2 or in the name of a special
	 * register is no field.
	 */
	return strchr("RDEFHPQNASL", *p) && (p == start || !(p[-1] >= 'a' && p[-1] <= 'z')) &&
	       !(p[1] >= 'a' && p[1] <= 'z') && !(p[1] >= '0' && p[1] <= '9');
}

static void write_kernel(struct source *s, char *text, size_t n)
{
	uint32_t n_insns = 1 + next_byte(s) % MAX_INSNS;
	size_t at =
		(size_t)snprintf(text, n, "%stable: .branchtargets L0, L%u;\n", head, n_insns / 2);

	for (int i = 0; i < 8; i++)
		at += (size_t)snprintf(
			text + at, n - at,
			"mov.u64 %%d%d, 0x%llx; mov.u32 %%r%d, %d; mov.f32 %%f%d, 0f3F800000;\n"
			"mov.f64 %%e%d, 0d3FF0000000000000; mov.u16 %%h%d, %d; setp.ne.u32 %%p%d, %%r%d, 4; mov.b128 %%q%d, {%%d%d, %%d%d};\n",
			i, (unsigned long long)next_value(s), i, next_byte(s), i, i, i, i, i, i, i,
			i, i);
	for (uint32_t i = 0; i < n_insns; i++) {
		uint8_t which = next_byte(s);
		const char *t = templates[which % (sizeof(templates) / sizeof(templates[0]))];
		uint8_t guard = next_byte(s);

		at += (size_t)snprintf(text + at, n - at, "L%u: ", i);
		if (guard & 1 && *t != '{')
			at += (size_t)snprintf(text + at, n - at, "@%s%%p%u ", guard & 2 ? "!" : "",
					       guard >> 2 & 7);
		for (const char *p = t; *p; p++) {
			if (is_field(p, t))
				at += write_field(s, *p, text + at, n - at, n_insns);
			else
				text[at++] = *p;
		}
		text[at++] = '\n';
	}
	(void)snprintf(text + at, n - at, "L%u: ret; }\n", n_insns);
}

struct memory {
	uint8_t *all, *bytes;
	uint64_t used; /* bytes given out by fuzz_malloc() */
};

static int fuzz_resolve(void *userdata, uint64_t address, uint64_t *ret_base, uint64_t *ret_bytes,
			uint8_t **ret_host, uint32_t *ret_flags)
{
	const struct memory *m = userdata;

	if (address - MEMORY_BASE >= MEMORY_BYTES)
		return -1;
	*ret_base = MEMORY_BASE;
	*ret_bytes = MEMORY_BYTES;
	*ret_host = m->bytes;
	*ret_flags = 0;
	return 0;
}

static uint64_t fuzz_malloc(void *userdata, uint64_t n_bytes)
{
	struct memory *m = userdata;
	uint64_t at = MEMORY_BASE + 4096 + m->used;

	if (n_bytes > 1024 || m->used > 32768)
		return 0;
	m->used += (n_bytes + 15) & ~UINT64_C(15);
	return at;
}

static int fuzz_free(void *userdata, uint64_t address)
{
	return address - MEMORY_BASE >= MEMORY_BYTES;
}

static void fuzz_print(void *userdata, const char *text, size_t n_bytes)
{
}

static void run(struct ts_ptx_engine *engine, struct ts_ptx_image *image, struct memory *m)
{
	uint64_t params[6] = {MEMORY_BASE, MEMORY_BASE + 512, 1, 2, 3, 4};
	struct ts_ptx_launch launch = {.kernel = ts_ptx_image_kernel(image, 0),
				       .grid = {2, 1, 1},
				       .block = {48, 1, 1},
				       .params = params,
				       .params_bytes = sizeof(params),
				       .dynamic_shared_bytes = 64,
				       .max_warp_insns = 1000,
				       .stack_bytes = 256};
	struct ts_ptx_fault fault;
	struct ts_ptx_error error;

	for (uint32_t i = 0; i < MEMORY_BYTES / 8; i++)
		((uint64_t *)(void *)m->bytes)[i] = MEMORY_BASE + i;
	(void)ts_ptx_run(engine, &launch, NULL, &fault, &error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	/* kept between runs: mapping it each time would dominate the run time */
	static struct memory m;
	static char text[65536];
	struct ts_ptx_host host = {&m, fuzz_resolve, fuzz_print, fuzz_malloc, fuzz_free};
	struct source s = {data, data + n_bytes};
	struct ts_ptx_module *module = NULL;
	struct ts_ptx_image *image = NULL;
	struct ts_ptx_engine *engine = NULL;
	struct ts_ptx_error error;

	if (!m.all) {
		m.all = mmap(NULL, MEMORY_BYTES + 2 * (size_t)GUARD_BYTES, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (m.all == MAP_FAILED)
			abort();
		m.bytes = m.all + GUARD_BYTES;
		if (mprotect(m.bytes, MEMORY_BYTES, PROT_READ | PROT_WRITE))
			abort();
	}
	m.used = 0;
	write_kernel(&s, text, sizeof(text));
	/* The generated text is valid PTX. A rejection would test nothing, so it is a failure. */
	if (ts_ptx_module_parse(text, strlen(text), &module, &error) ||
	    ts_ptx_link(&module, 1, &image, &error)) {
		fprintf(stderr, "%s\n%s\n", error.message, text);
		abort();
	}
	for (size_t i = 0; i < ts_ptx_image_n_variables(image); i++)
		if (ts_ptx_image_place(image, i, MEMORY_BASE + 1024 * (i + 1)))
			abort();
	if (ts_ptx_engine_new(&host, 1, &engine))
		abort();
	run(engine, image, &m);
	ts_ptx_engine_free(engine);
	ts_ptx_image_free(image);
	ts_ptx_module_free(module);
	return 0;
}
