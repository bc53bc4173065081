// SPDX-License-Identifier: Apache-2.0
/*
 * Compares matrix instructions with plain loops. mma.sync: every shape and type, with fragments
 * laid out as in the PTX ISA. wmma: every shape, type and layout, from and to memory with various
 * strides; only its matrices are known, not its fragments. Elements are small integers, so every
 * sum is exact and must match to the last bit.
 */
#include "replay/vgpu/ptx/lanes/convert.h"
#include "replay/vgpu/ptx/lanes/half.h"
#include "test/unit/ptx/device.h"

struct shape {
	const char *name;
	uint32_t m, n, k;
};

static uint64_t state = 7;

static uint32_t random_bits(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33);
}

static enum ts_ptx_type type_of(const char *name)
{
	enum ts_ptx_type type = ts_ptx_type_of(name, strlen(name));

	ts_check(type);
	return type;
}

static uint32_t bits_of(enum ts_ptx_type type)
{
	switch (type) {
	case TY_B1:
		return 1;
	case TY_S4:
	case TY_U4:
		return 4;
	default:
		return ts_ptx_types[type].bytes * 8u;
	}
}

static int value_for(enum ts_ptx_type type)
{
	int x = (int)(random_bits() % 15) - 7;

	if (type == TY_U8 || type == TY_U4)
		return x & 15;
	return type == TY_B1 ? x & 1 : x;
}

static uint64_t encode(int x, enum ts_ptx_type type)
{
	switch (type) {
	case TY_F16:
		return ts_ptx_to_f16((float)x);
	case TY_BF16:
		return ts_ptx_to_bf16((float)x);
	case TY_E4M3:
	case TY_E5M2:
		return ts_ptx_to_fp8(x, type == TY_E5M2, true);
	case TY_TF32:
	case TY_F32:
		return ts_ptx_bits((float)x);
	case TY_F64:
		return ts_ptx_bits64(x);
	default:
		return (uint64_t)(int64_t)x & (UINT64_MAX >> (64 - bits_of(type)));
	}
}

/* Writes element i of an array whose elements have `bits` bits. */
static void put(void *array, size_t i, uint64_t v, uint32_t bits)
{
	uint8_t *p = (uint8_t *)array + i * bits / 8;

	if (bits >= 8)
		memcpy(p, &v, bits / 8);
	else
		*p = (uint8_t)((*p & ~(((1u << bits) - 1) << i * bits % 8)) | v << i * bits % 8);
}

static uint64_t get(const void *array, size_t i, uint32_t bits)
{
	uint64_t v = 0;

	memcpy(&v, (const uint8_t *)array + i * bits / 8, bits / 8);
	return v;
}

static bool is_saturating(const char *op)
{
	return strstr(op, ".satfinite");
}

static bool is_exclusive(const char *op)
{
	return strstr(op, ".xor");
}

struct product {
	struct shape s;
	enum ts_ptx_type td, ta, tb, tc;
	bool exclusive;
	int a[16 * 256 + 256], b[256 * 32], c[32 * 32], d[32 * 32];
};

static void product_make(struct product *p)
{
	for (uint32_t i = 0; i < p->s.m * p->s.k; i++)
		p->a[i] = value_for(p->ta);
	for (uint32_t i = 0; i < p->s.k * p->s.n; i++)
		p->b[i] = value_for(p->tb);
	for (uint32_t i = 0; i < p->s.m * p->s.n; i++) {
		p->c[i] = value_for(p->tc);
		p->d[i] = p->c[i];
	}
	for (uint32_t i = 0; i < p->s.m; i++)
		for (uint32_t j = 0; j < p->s.n; j++)
			for (uint32_t l = 0; l < p->s.k; l++) {
				int a = p->a[i * p->s.k + l], b = p->b[l * p->s.n + j];

				p->d[i * p->s.n + j] += p->exclusive ? a ^ b : a * b;
			}
}

/* mma.sync */

struct mma_case {
	struct shape s;
	const char *td, *ta, *tb, *tc, *op;
};

static const struct mma_case mma_cases[] = {
	{{"m16n8k8", 16, 8, 8}, "f32", "f16", "f16", "f32", ""},
	{{"m16n8k8", 16, 8, 8}, "f16", "f16", "f16", "f16", ""},
	{{"m16n8k16", 16, 8, 16}, "f32", "f16", "f16", "f32", ""},
	{{"m16n8k16", 16, 8, 16}, "f16", "f16", "f16", "f16", ""},
	{{"m16n8k8", 16, 8, 8}, "f32", "bf16", "bf16", "f32", ""},
	{{"m16n8k16", 16, 8, 16}, "f32", "bf16", "bf16", "f32", ""},
	{{"m16n8k4", 16, 8, 4}, "f32", "tf32", "tf32", "f32", ""},
	{{"m16n8k8", 16, 8, 8}, "f32", "tf32", "tf32", "f32", ""},
	{{"m8n8k4", 8, 8, 4}, "f64", "f64", "f64", "f64", ""},
	{{"m16n8k4", 16, 8, 4}, "f64", "f64", "f64", "f64", ""},
	{{"m16n8k8", 16, 8, 8}, "f64", "f64", "f64", "f64", ""},
	{{"m16n8k16", 16, 8, 16}, "f64", "f64", "f64", "f64", ""},
	{{"m8n8k16", 8, 8, 16}, "s32", "s8", "u8", "s32", ""},
	{{"m16n8k16", 16, 8, 16}, "s32", "u8", "s8", "s32", ""},
	{{"m16n8k32", 16, 8, 32}, "s32", "s8", "s8", "s32", ""},
	{{"m16n8k32", 16, 8, 32}, "s32", "u8", "u8", "s32", ".satfinite"},
	{{"m8n8k32", 8, 8, 32}, "s32", "s4", "u4", "s32", ""},
	{{"m16n8k32", 16, 8, 32}, "s32", "u4", "s4", "s32", ""},
	{{"m16n8k64", 16, 8, 64}, "s32", "s4", "s4", "s32", ".satfinite"},
	{{"m8n8k128", 8, 8, 128}, "s32", "b1", "b1", "s32", ".xor.popc"},
	{{"m16n8k128", 16, 8, 128}, "s32", "b1", "b1", "s32", ".and.popc"},
	{{"m16n8k256", 16, 8, 256}, "s32", "b1", "b1", "s32", ".xor.popc"},
	{{"m16n8k16", 16, 8, 16}, "f32", "e4m3", "e5m2", "f32", ""},
	{{"m16n8k32", 16, 8, 32}, "f32", "e4m3", "e4m3", "f32", ""},
	{{"m16n8k32", 16, 8, 32}, "f16", "e5m2", "e4m3", "f16", ""},
};

static size_t declare(char *text, size_t at, size_t n, char name, uint32_t n_regs, bool is_64)
{
	return at + (size_t)snprintf(text + at, n - at, ".reg .b%d %%%c<%u>;\n", is_64 ? 64 : 32,
				     name, n_regs);
}

static size_t list(char *text, size_t at, size_t n, char name, uint32_t n_regs)
{
	at += (size_t)snprintf(text + at, n - at, "{");
	for (uint32_t i = 0; i < n_regs; i++)
		at += (size_t)snprintf(text + at, n - at, "%s%%%c%u", i ? ", " : "", name, i);
	return at + (size_t)snprintf(text + at, n - at, "}");
}

struct fragment {
	char name;
	enum ts_ptx_type type;
	uint32_t elements, n_regs;
};

static struct fragment fragment_of(char name, enum ts_ptx_type type, uint32_t elements)
{
	uint32_t bits = bits_of(type);

	return (struct fragment){name, type, elements,
				 bits >= 32 ? elements : elements * bits / 32};
}

/*
 * Each lane's registers are consecutive in memory, 8 bytes apart: a at 0, b at 64 registers, c at
 * 128, d at 192.
 */
static void mma_text(const struct mma_case *c, const struct fragment f[4], char *text, size_t n)
{
	size_t at = (size_t)snprintf(
		text, n,
		".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
		".reg .b64 %%x, %%y; .reg .b32 %%l;\n");

	for (int i = 0; i < 4; i++)
		at = declare(text, at, n, f[i].name, f[i].n_regs, f[i].type == TY_F64);
	at += (size_t)snprintf(
		text + at, n - at,
		"ld.param.u64 %%x, [p]; mov.u32 %%l, %%laneid; mul.wide.u32 %%y, %%l, 2048; add.u64 %%x, %%x, %%y;\n");
	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t k = 0; k < f[i].n_regs; k++)
			at += (size_t)snprintf(text + at, n - at,
					       "ld.global.b%d %%%c%u, [%%x+%u];\n",
					       f[i].type == TY_F64 ? 64 : 32, f[i].name, k,
					       i * 512 + k * 8);
	at += (size_t)snprintf(text + at, n - at, "mma.sync.aligned.%s.row.col%s.%s.%s.%s.%s%s ",
			       c->s.name, is_saturating(c->op) ? c->op : "", c->td, c->ta, c->tb,
			       c->tc, is_saturating(c->op) ? "" : c->op);
	for (int i = 0; i < 4; i++) {
		const struct fragment *x = &f[(i + 3) % 4];

		at = list(text, at, n, x->name, x->n_regs);
		at += (size_t)snprintf(text + at, n - at, i == 3 ? ";\n" : ", ");
	}
	for (uint32_t k = 0; k < f[3].n_regs; k++)
		at += (size_t)snprintf(text + at, n - at, "st.global.b%d [%%x+%u], %%d%u;\n",
				       f[3].type == TY_F64 ? 64 : 32, 1536 + k * 8, k);
	(void)snprintf(text + at, n - at, "ret; }\n");
}

/*
 * Returns the place of a lane's element i in the ISA's figures. e: elements per 32 bits, or 1 for
 * 64-bit elements.
 */
static uint32_t isa_index(const struct product *p, char which, uint32_t i, uint32_t lane,
			  uint32_t e)
{
	uint32_t g = lane >> 2, t = lane & 3, row, column;
	bool tall = p->s.m == 16;

	if (which == 'a') {
		row = g + (tall && i / e % 2 ? 8 : 0);
		column = t * e + i % e + i / (tall ? 2 * e : e) * 4 * e;
		return row * p->s.k + column;
	}
	if (which == 'b')
		return (t * e + i % e + i / e * 4 * e) * p->s.n + g;
	return (g + (i < 2 ? 0 : 8)) * p->s.n + t * 2 + (i & 1);
}

/* Copies a matrix into the lanes' registers in memory. */
static void mma_fill(const struct product *p, const struct fragment *f, const int *matrix,
		     uint8_t *memory)
{
	uint32_t bits = bits_of(f->type), e = bits >= 32 ? 1 : 32 / bits;

	for (uint32_t lane = 0; lane < 32; lane++)
		for (uint32_t i = 0; i < f->elements; i++)
			put(memory + lane * 2048 + i / e * 8, i % e,
			    encode(matrix[isa_index(p, f->name, i, lane, e)], f->type), bits);
}

static void check_mma(const struct mma_case *c)
{
	struct product *p = calloc(1, sizeof(*p));
	struct fragment f[4];
	struct device d;
	char text[16384];
	unsigned n_wrong = 0;
	uint8_t *memory;
	uint64_t at;

	ts_check(p);
	*p = (struct product){.s = c->s,
			      .td = type_of(c->td),
			      .ta = type_of(c->ta),
			      .tb = type_of(c->tb),
			      .tc = type_of(c->tc),
			      .exclusive = is_exclusive(c->op)};
	product_make(p);
	f[0] = fragment_of('a', p->ta, c->s.m * c->s.k / 32);
	f[1] = fragment_of('b', p->tb, c->s.k * c->s.n / 32);
	f[2] = fragment_of('c', p->tc, c->s.m * c->s.n / 32);
	f[3] = fragment_of('d', p->td, c->s.m * c->s.n / 32);
	mma_text(c, f, text, sizeof(text));
	device_open(&d, text);
	if (!device_loaded(&d)) {
		free(p);
		return;
	}
	at = device_alloc(&d, 32 * 2048);
	memory = device_host(&d, at);
	mma_fill(p, &f[0], p->a, memory);
	mma_fill(p, &f[1], p->b, memory + 512);
	mma_fill(p, &f[2], p->c, memory + 1024);
	DEVICE_RUN(&d, "k", 1, 32, at);
	for (uint32_t lane = 0; lane < 32; lane++) {
		uint32_t bits = bits_of(p->td), e = bits >= 32 ? 1 : 32 / bits;

		for (uint32_t i = 0; i < f[3].elements; i++) {
			uint64_t got = get(memory + lane * 2048 + 1536 + i / e * 8, i % e, bits);
			uint64_t want = encode(p->d[isa_index(p, 'd', i, lane, e)], p->td);

			if (got != want && !n_wrong++)
				fprintf(stderr,
					"mma %s %s.%s.%s: lane %u element %u: 0x%" PRIx64
					", not 0x%" PRIx64 "\n",
					c->s.name, c->td, c->ta, c->tb, lane, i, got, want);
		}
	}
	ts_check_int(n_wrong, 0);
	device_close(&d);
	free(p);
}

TS_TEST(mma_shapes)
{
	for (size_t i = 0; i < sizeof(mma_cases) / sizeof(mma_cases[0]); i++)
		check_mma(&mma_cases[i]);
}

/* wmma */

struct wmma_case {
	struct shape s;
	const char *td, *ta, *tb, *tc, *op, *mma_types;
	uint32_t n_a, n_b; /* registers of the fragments */
};

static const struct wmma_case wmma_cases[] = {
	{{"m16n16k16", 16, 16, 16}, "f32", "f16", "f16", "f32", "", ".f32.f32", 8, 8},
	{{"m16n16k16", 16, 16, 16}, "f16", "f16", "f16", "f16", "", ".f16.f16", 8, 8},
	{{"m16n16k16", 16, 16, 16}, "f32", "f16", "f16", "f16", "", ".f32.f16", 8, 8},
	{{"m16n16k16", 16, 16, 16}, "f16", "f16", "f16", "f32", "", ".f16.f32", 8, 8},
	{{"m32n8k16", 32, 8, 16}, "f32", "f16", "f16", "f32", "", ".f32.f32", 8, 8},
	{{"m8n32k16", 8, 32, 16}, "f16", "f16", "f16", "f16", "", ".f16.f16", 8, 8},
	{{"m8n32k16", 8, 32, 16}, "f32", "f16", "f16", "f32", "", ".f32.f32", 8, 8},
	{{"m16n16k16", 16, 16, 16}, "f32", "bf16", "bf16", "f32", "", NULL, 4, 4},
	{{"m32n8k16", 32, 8, 16}, "f32", "bf16", "bf16", "f32", "", NULL, 8, 2},
	{{"m8n32k16", 8, 32, 16}, "f32", "bf16", "bf16", "f32", "", NULL, 2, 8},
	{{"m16n16k8", 16, 16, 8}, "f32", "tf32", "tf32", "f32", "", NULL, 4, 4},
	{{"m8n8k4", 8, 8, 4}, "f64", "f64", "f64", "f64", "", NULL, 1, 1},
	{{"m16n16k16", 16, 16, 16}, "s32", "s8", "s8", "s32", "", NULL, 2, 2},
	{{"m32n8k16", 32, 8, 16}, "s32", "u8", "u8", "s32", ".satfinite", NULL, 4, 1},
	{{"m8n32k16", 8, 32, 16}, "s32", "s8", "s8", "s32", "", NULL, 1, 4},
	{{"m8n8k32", 8, 8, 32}, "s32", "s4", "s4", "s32", "", NULL, 1, 1},
	{{"m8n8k32", 8, 8, 32}, "s32", "u4", "u4", "s32", "", NULL, 1, 1},
	{{"m8n8k128", 8, 8, 128}, "s32", "b1", "b1", "s32", ".xor.popc", NULL, 1, 1},
	{{"m8n8k128", 8, 8, 128}, "s32", "b1", "b1", "s32", ".and.popc", NULL, 1, 1},
};

/*
 * Layout of the matrices. by_column: bits of the matrices that are stored by column (1: a, 2: b, 4:
 * c and d). gap: elements between two lines, if `stride` is set. space: the state space.
 */
struct layout {
	uint32_t by_column, gap;
	const char *space;
	bool stride;
};

static uint32_t stride_of(uint32_t rows, uint32_t columns, bool by_column, const struct layout *l)
{
	return (by_column ? rows : columns) + (l->stride ? l->gap : 0);
}

static size_t wmma_move(char *text, size_t at, size_t n, const char *op, const struct wmma_case *c,
			const struct layout *l, bool by_column, const char *type, char name,
			uint32_t n_regs, uint32_t stride)
{
	bool store = op[0] == 's';

	at += (size_t)snprintf(text + at, n - at, "wmma.%s.sync.aligned.%s.%s%s.%s ", op,
			       by_column ? "col" : "row", c->s.name, l->space, type);
	if (store)
		at += (size_t)snprintf(text + at, n - at, "[%%x%c], ", name);
	at = list(text, at, n, name, n_regs);
	if (!store)
		at += (size_t)snprintf(text + at, n - at, ", [%%x%c]", name);
	if (l->stride)
		at += (size_t)snprintf(text + at, n - at, ", %u", stride);
	return at + (size_t)snprintf(text + at, n - at, ";\n");
}

static void wmma_text(const struct wmma_case *c, const struct layout *l, char *text, size_t n)
{
	uint32_t n_sum = c->s.m * c->s.n / 32, n_c = strcmp(c->tc, "f16") ? n_sum : n_sum / 2;
	uint32_t n_d = strcmp(c->td, "f16") ? n_sum : n_sum / 2;
	bool is_64 = !strcmp(c->ta, "f64");
	size_t at = (size_t)snprintf(
		text, n,
		".version 8.4\n.target sm_80\n.address_size 64\n"
		".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd) {\n"
		".reg .b64 %%xa, %%xb, %%xc, %%xd;\n");

	at = declare(text, at, n, 'a', c->n_a, is_64);
	at = declare(text, at, n, 'b', c->n_b, is_64);
	at = declare(text, at, n, 'c', n_c, is_64);
	at = declare(text, at, n, 'd', n_d, is_64);
	for (const char *name = "abcd"; *name; name++)
		at += (size_t)snprintf(text + at, n - at, "ld.param.u64 %%x%c, [p%c];\n", *name,
				       *name);
	at = wmma_move(text, at, n, "load.a", c, l, l->by_column & 1, c->ta, 'a', c->n_a,
		       stride_of(c->s.m, c->s.k, l->by_column & 1, l));
	at = wmma_move(text, at, n, "load.b", c, l, l->by_column & 2, c->tb, 'b', c->n_b,
		       stride_of(c->s.k, c->s.n, l->by_column & 2, l));
	at = wmma_move(text, at, n, "load.c", c, l, l->by_column & 4, c->tc, 'c', n_c,
		       stride_of(c->s.m, c->s.n, l->by_column & 4, l));
	at += (size_t)snprintf(text + at, n - at, "wmma.mma%s.sync.aligned.%s.%s.%s",
			       is_saturating(c->op) ? "" : c->op, l->by_column & 1 ? "col" : "row",
			       l->by_column & 2 ? "col" : "row", c->s.name);
	if (c->mma_types)
		at += (size_t)snprintf(text + at, n - at, "%s ", c->mma_types);
	else
		at += (size_t)snprintf(text + at, n - at, ".%s.%s.%s.%s%s ", c->td, c->ta, c->tb,
				       c->tc, is_saturating(c->op) ? c->op : "");
	for (int i = 0; i < 4; i++) {
		at = list(text, at, n, "dabc"[i],
			  i == 0   ? n_d
			  : i == 1 ? c->n_a
			  : i == 2 ? c->n_b
				   : n_c);
		at += (size_t)snprintf(text + at, n - at, i == 3 ? ";\n" : ", ");
	}
	at = wmma_move(text, at, n, "store.d", c, l, l->by_column & 4, c->td, 'd', n_d,
		       stride_of(c->s.m, c->s.n, l->by_column & 4, l));
	(void)snprintf(text + at, n - at, "ret; }\n");
}

static size_t place(uint32_t row, uint32_t column, bool by_column, uint32_t stride)
{
	return by_column ? column * (size_t)stride + row : row * (size_t)stride + column;
}

static uint64_t wmma_upload(struct device *d, const int *matrix, uint32_t rows, uint32_t columns,
			    bool by_column, enum ts_ptx_type type, const struct layout *l)
{
	uint32_t stride = stride_of(rows, columns, by_column, l), bits = bits_of(type);
	uint64_t at =
		device_alloc(d, (size_t)stride * (by_column ? columns : rows) * bits / 8 + 64);

	memset(device_host(d, at), 0x55, (size_t)stride * (by_column ? columns : rows) * bits / 8);
	for (uint32_t i = 0; i < rows; i++)
		for (uint32_t j = 0; j < columns; j++)
			put(device_host(d, at), place(i, j, by_column, stride),
			    encode(matrix[i * columns + j], type), bits);
	return at;
}

static void check_wmma(const struct wmma_case *c, const struct layout *l)
{
	struct product *p = calloc(1, sizeof(*p));
	bool by_column = l->by_column & 4;
	uint32_t stride = stride_of(c->s.m, c->s.n, by_column, l);
	uint64_t a, b, sum, out;
	unsigned n_wrong = 0;
	struct device d;
	char text[8192];

	ts_check(p);
	*p = (struct product){.s = c->s,
			      .td = type_of(c->td),
			      .ta = type_of(c->ta),
			      .tb = type_of(c->tb),
			      .tc = type_of(c->tc),
			      .exclusive = is_exclusive(c->op)};
	product_make(p);
	wmma_text(c, l, text, sizeof(text));
	device_open(&d, text);
	if (!device_loaded(&d)) {
		free(p);
		return;
	}
	a = wmma_upload(&d, p->a, c->s.m, c->s.k, l->by_column & 1, p->ta, l);
	b = wmma_upload(&d, p->b, c->s.k, c->s.n, l->by_column & 2, p->tb, l);
	sum = wmma_upload(&d, p->c, c->s.m, c->s.n, by_column, p->tc, l);
	out = wmma_upload(&d, p->c, c->s.m, c->s.n, by_column, p->td, l);
	DEVICE_RUN(&d, "k", 1, 32, a, b, sum, out);
	for (uint32_t i = 0; i < c->s.m; i++)
		for (uint32_t j = 0; j < c->s.n; j++) {
			uint64_t got = get(device_host(&d, out), place(i, j, by_column, stride),
					   bits_of(p->td));

			uint64_t want = encode(p->d[i * c->s.n + j], p->td);

			if (got != want && !n_wrong++)
				fprintf(stderr,
					"wmma %s %s.%s, layout %u: row %u column %u: 0x%" PRIx64
					", not 0x%" PRIx64 "\n",
					c->s.name, c->td, c->ta, l->by_column, i, j, got, want);
		}
	ts_check_int(n_wrong, 0);
	/* The gap between the lines does not change. */
	if (l->stride)
		ts_check_int(((uint8_t *)device_host(
				     &d, out))[(place(0, 0, by_column, stride) + stride - 1) *
					       bits_of(p->td) / 8],
			     0x55);
	device_close(&d);
	free(p);
}

TS_TEST(wmma_shapes_and_layouts)
{
	for (size_t i = 0; i < sizeof(wmma_cases) / sizeof(wmma_cases[0]); i++) {
		const struct wmma_case *c = &wmma_cases[i];
		bool small = bits_of(type_of(c->ta)) < 8;

		for (uint32_t by_column = 0; by_column < 8; by_column++) {
			struct layout l = {by_column, 128, i & 1 ? ".global" : "", true};

			/* Elements smaller than a byte have only one layout. */
			if (small && (by_column & 3) != 2)
				continue;
			check_wmma(c, &l);
		}
		check_wmma(c, &(struct layout){2, 0, "", false});
	}
}

/*
 * Programs convert accumulators element by element: element i of a half fragment must match element
 * i of a float fragment.
 */
TS_TEST(wmma_accumulators_correspond)
{
	struct device d;
	uint64_t from, to;
	char text[8192];
	size_t at = (size_t)snprintf(
		text, sizeof(text),
		PTX_HEAD
		".visible .entry k(.param .u64 p, .param .u64 q) {\n"
		".reg .b64 %%x, %%y; .reg .b32 %%h<4>; .reg .f32 %%f<8>; .reg .b16 %%s<2>;\n"
		"ld.param.u64 %%x, [p]; ld.param.u64 %%y, [q];\n"
		"wmma.load.c.sync.aligned.row.m16n16k16.f16 {%%h0, %%h1, %%h2, %%h3}, [%%x];\n");

	for (int i = 0; i < 4; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       "mov.b32 {%%s0, %%s1}, %%h%d; cvt.f32.f16 %%f%d, %%s0; "
				       "cvt.f32.f16 %%f%d, %%s1;\n",
				       i, 2 * i, 2 * i + 1);
	at += (size_t)snprintf(text + at, sizeof(text) - at,
			       "wmma.store.d.sync.aligned.row.m16n16k16.f32 [%%y], ");
	at = list(text, at, sizeof(text), 'f', 8);
	(void)snprintf(text + at, sizeof(text) - at, ";\nret; }\n");
	device_open(&d, text);
	from = device_alloc(&d, 512);
	to = device_alloc(&d, 1024);
	for (int i = 0; i < 256; i++)
		((uint16_t *)device_host(&d, from))[i] = ts_ptx_to_f16((float)i);
	DEVICE_RUN(&d, "k", 1, 32, from, to);
	for (int i = 0; i < 256; i++)
		ts_check(((float *)device_host(&d, to))[i] == (float)i);
	device_close(&d);
}

/* Element (i, j) of matrix k is 64 * k + 8 * i + j, in the registers that the ISA gives. */
TS_TEST(matrices_to_memory_and_transposed)
{
	struct device d;
	uint64_t at;
	uint16_t *h;

	device_open(
		&d,
		".version 8.4\n.target sm_90\n.address_size 64\n.shared .align 16 .b8 s[1024];\n"
		".visible .entry k(.param .u64 p) { .reg .b64 %x, %y; .reg .b32 %r<20>;\n"
		"ld.param.u64 %x, [p]; mov.u32 %r1, %laneid; shl.b32 %r2, %r1, 1; add.u32 %r3, %r2, 1; shl.b32 %r3, %r3, 16; or.b32 %r4, %r2, %r3;\n"
		"add.u32 %r5, %r4, 0x00400040; add.u32 %r6, %r4, 0x00800080; add.u32 %r7, %r4, 0x00c000c0;\n"
		"mov.u32 %r8, s; shl.b32 %r9, %r1, 4; add.u32 %r8, %r8, %r9;\n"
		"stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r8], {%r4, %r5, %r6, %r7};\n"
		"stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%r8+512], {%r5, %r6};\n"
		"movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r6; bar.warp.sync -1;\n"
		"ld.shared.v4.u32 {%r11, %r12, %r13, %r14}, [%r8]; mul.wide.u32 %y, %r1, 16; add.u64 %x, %x, %y;\n"
		"st.global.v4.u32 [%x], {%r11, %r12, %r13, %r14}; ld.shared.v4.u32 {%r11, %r12, %r13, %r14}, [%r8+512];\n"
		"st.global.v4.u32 [%x+512], {%r11, %r12, %r13, %r14}; mul.wide.u32 %y, %r1, 12; sub.u64 %x, %x, %y; st.global.u32 [%x+1024], %r10; ret; }\n");
	at = device_alloc(&d, 2048);
	DEVICE_RUN(&d, "k", 1, 32, at);
	h = device_host(&d, at);
	for (int k = 0; k < 4; k++)
		for (int i = 0; i < 8; i++)
			for (int j = 0; j < 8; j++)
				ts_check_int(h[64 * k + 8 * i + j], 64 * k + 8 * i + j);
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < 8; i++)
			for (int j = 0; j < 8; j++)
				ts_check_int(h[256 + 64 * k + 8 * i + j], 64 * (k + 1) + 8 * j + i);
	for (int i = 0; i < 8; i++)
		for (int j = 0; j < 8; j++)
			ts_check_int(h[512 + 8 * i + j], 128 + 8 * j + i);
	device_close(&d);
}

#ifndef TS_TEST_DEVICE
static void check_refused(const char *body, const char *name)
{
	struct ts_ptx_module *module = NULL;
	struct ts_ptx_image *image = NULL;
	struct ts_ptx_error error = {0};
	char text[2048];

	(void)snprintf(text, sizeof(text),
		       PTX_HEAD
		       ".visible .entry k() { .reg .b32 %%r<16>; .reg .b64 %%d<4>;\n%s\nret; }\n",
		       body);
	ts_check_int(ts_ptx_module_parse(text, strlen(text), &module, &error), 0);
	ts_check_int(ts_ptx_link(&module, 1, &image, &error), TS_PTX_E_UNSUPPORTED);
	ts_check(strstr(error.message, name));
	ts_ptx_module_free(module);
}

TS_TEST(unknown_matrices_are_refused_by_name)
{
	check_refused("wmma.load.a.sync.aligned.row.m4n4k4.f16 {%r0}, [%d0];",
		      "wmma.load.a.sync.aligned.row.m4n4k4.f16");
	check_refused("wmma.load.a.sync.aligned.col.m8n8k32.s4 {%r0}, [%d0];", "m8n8k32.s4");
	check_refused("wmma.load.c.sync.aligned.row.m16n16k8.f16 {%r0, %r1, %r2, %r3}, [%d0];",
		      "m16n16k8.f16");
	check_refused(
		"mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r0, %r1}, {%r2, %r3}, "
		"{%r4, %r5}, {%r6, %r7}, %r8, 0;",
		"mma.sp.sync");
	check_refused("mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16 {%r0, %r1}, {%r2, %r3, "
		      "%r4, %r5}, {%r6, %r7}, {%r8, %r9};",
		      "bf16.bf16.f16");
	check_refused("wgmma.fence.sync.aligned;", "wgmma.fence");
}

TS_TEST(wmma_faults_where_memory_ends)
{
	struct device d;

	device_open(
		&d, PTX_HEAD
		".visible .entry k(.param .u64 p) { .reg .b64 %x; .reg .b32 %r<8>; ld.param.u64 %x, [p];\n"
		"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, "
		"[%x], 64;\nret; }\n");
	ts_check_int(device_try(&d, "k", 1, 32,
				(const uint64_t[]){DEVICE_BASE + DEVICE_BYTES - 15 * 128 - 32}, 1),
		     0);
	ts_check_int(device_try(&d, "k", 1, 32,
				(const uint64_t[]){DEVICE_BASE + DEVICE_BYTES - 15 * 128 - 30}, 1),
		     TS_PTX_E_FAULT);
	ts_check_int(d.fault.kind, TS_PTX_FAULT_OUT_OF_BOUNDS);
	device_close(&d);
}
#endif
