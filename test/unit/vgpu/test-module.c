// SPDX-License-Identifier: Apache-2.0
/* Tests modules: declarations in PTX, plain and compressed fatbins, and damaged images. */
#include <zstd.h>

#include "replay/vgpu/vgpu-module.h"
#include "test/unit/harness.h"

static const char ptx[] =
	"// a comment with .entry in it\n"
	".version 8.8\n"
	".target sm_75\n"
	".address_size 64\n"
	"/* .entry nor here */\n"
	".extern .func (.param .b32 func_retval0) vprintf (.param .b64 a, .param .b64 b) ;\n"
	".visible .global .align 4 .u32 counter = 5;\n"
	".global .align 1 .b8 text[6] = {104, 101, 108, 108, 111};\n"
	".visible .const .align 4 .f32 table[2][2] = {{0f3F800000, 0f40000000}, {-1.0, 2.5}};\n"
	".visible .global .attribute(.managed) .align 8 .u64 shared_word;\n"
	".global .align 8 .u64 functions[2] = {helper, 0};\n"
	".global .align 8 .u64 pointer = generic(text)+2;\n"
	".global .align 2 .u16 open[] = {1, 2, 3};\n"
	".extern .shared .align 16 .b8 dynamic[];\n"
	".visible .entry _Z5saxpyifPKfPf(\n"
	"	.param .u32 p0,\n"
	"	.param .f32 p1,\n"
	"	.param .u64 .ptr .global .align 16 p2,\n"
	"	.param .u8 p3,\n"
	"	.param .align 8 .b8 p4[24]\n"
	")\n"
	".maxntid 256, 2, 1\n"
	".maxnreg 24\n"
	"{\n"
	"	.local .align 8 .b8 __local_depot0[40];\n"
	"	.shared .align 4 .b8 a[10];\n"
	"	.shared .align 8 .f64 b[2];\n"
	"	.reg .b32 %r1;\n"
	"	ld.shared.u32 %r1, [a];\n"
	"	{ .reg .b32 t; mov.b32 t, 0; }\n"
	"	ret;\n"
	"}\n"
	".func helper() { ret; }\n"
	".visible .entry nothing() { ret; }\n"
	".section .debug_str { .b8 46, 0 }\n";

static uint8_t *first_value(const struct ts_vgpu_module *m, const char *name)
{
	static uint8_t bytes[64];
	const struct ts_vgpu_variable *v = ts_vgpu_module_variable(m, name);

	ts_check(v && v->bytes <= sizeof(bytes));
	ts_vgpu_module_initial(m, (size_t)(v - m->variables), bytes);
	return bytes;
}

TS_TEST(declarations_are_read)
{
	static const struct ts_vgpu_param want[] = {
		{0, 4, 4}, {4, 4, 4}, {8, 8, 8}, {16, 1, 1}, {24, 24, 8}};
	const struct ts_vgpu_variable *v;
	const struct ts_vgpu_kernel *k;
	struct ts_vgpu_module *m;
	char message[256];
	uint64_t addresses[16];
	float *table;

	if (ts_vgpu_module_new(ptx, 75, &m, message, sizeof(message))) {
		fprintf(stderr, "%s\n", message);
		ts_check(false);
	}
	ts_check_int(m->n_kernels, 2);
	k = ts_vgpu_module_kernel(m, "_Z5saxpyifPKfPf");
	ts_check(k);
	ts_check_int(k->n_params, 5);
	for (size_t i = 0; i < 5; i++) {
		ts_check_int(k->params[i].offset, want[i].offset);
		ts_check_int(k->params[i].bytes, want[i].bytes);
		ts_check_int(k->params[i].align, want[i].align);
	}
	ts_check_int(k->params_bytes, 48);
	ts_check_int(k->max_threads, 512);
	ts_check_int(k->local_bytes, 48);
	ts_check_int(k->static_shared_bytes, 26);
	ts_check_int(k->line, 15);
	ts_check_int(ts_vgpu_module_kernel(m, "nothing")->n_params, 0);
	ts_check(!ts_vgpu_module_kernel(m, "helper"));

	v = ts_vgpu_module_variable(m, "counter");
	ts_check(v && v->bytes == 4 && !v->constant && !v->managed);
	v = ts_vgpu_module_variable(m, "table");
	ts_check(v && v->constant && v->bytes == 16);
	ts_check_int(m->constant_bytes, 16);
	v = ts_vgpu_module_variable(m, "shared_word");
	ts_check(v && v->managed && v->bytes == 8);
	for (size_t n = 0; n < m->n_variables; n++)
		addresses[n] = 0x10000 * (n + 1);
	ts_check_int(ts_vgpu_module_place(m, addresses), 0);
	ts_check_int(*(uint32_t *)first_value(m, "counter"), 5);
	ts_check(!memcmp(first_value(m, "text"), "hello", 6));
	table = (float *)first_value(m, "table");
	ts_check(table[0] == 1 && table[1] == 2 && table[2] == -1 && table[3] == 2.5f);
	ts_check_int(((uint16_t *)first_value(m, "open"))[2], 3);
	/* Addresses of variables and functions can be initial values. */
	ts_check_int(*(uint64_t *)first_value(m, "pointer"),
		     addresses[ts_vgpu_module_variable(m, "text") - m->variables] + 2);
	ts_check(*(uint64_t *)first_value(m, "functions"));
	ts_check(!ts_vgpu_module_variable(m, "dynamic"));
	ts_vgpu_module_free(m);
}

TS_TEST(what_does_not_parse_says_where)
{
	static const struct {
		const char *text, *line;
	} bad[] = {
		{"hello", "line 1"},
		{".version 8.0\n.target sm_75\n.address_size 64\n.entry k(.param .u32 a", "line 4"},
		{".version 8.0\n.target sm_75\n.address_size 64\n\n.entry k() {\n", "line 6"},
		{".version 8.0\n.target sm_75\n.address_size 64\n.global .u32 a[99999999999999999999];",
		 "line 4"},
		{".version 8.0\n.target sm_75\n.address_size 64\n.global .u32 a[4611686018427387904];",
		 "line 4"},
		{".version 8.0\n.target sm_75\n.address_size 64\n.global .u32 a[1] = {1, 2};",
		 "line 4"},
		{".version 8.0\n.target sm_75\n.address_size 64\n.global .u32 a = {1", "line 4"},
		{".version 8.0\nnonsense;", "line 2"},
		{".version 8.0\n.target sm_75\n.address_size 64\n.global .texref t;", "line 4"},
		{".version 8.0\n.target sm_75\n.address_size 64\n.entry k(.param .b8 a[70000]) { ret; }",
		 "line 4"},
		{".version 8.0\n.target sm_75\n.address_size 64\n.entry k() {\nfrobnicate.u32 %r1;\n}",
		 "line 5"},
	};
	struct ts_vgpu_module *m;
	char message[256];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ts_check_int(ts_vgpu_module_new(bad[i].text, 75, &m, message, sizeof(message)),
			     TS_VGPU_MODULE_E_PTX);
		if (!strstr(message, bad[i].line)) {
			fprintf(stderr, "%s: %s\n", bad[i].text, message);
			ts_check(false);
		}
	}
}

TS_TEST(any_prefix_is_survived)
{
	char *cut = malloc(sizeof(ptx));
	char message[256];

	for (size_t n = 4; n < sizeof(ptx); n++) {
		struct ts_vgpu_module *m = NULL;

		memcpy(cut, ptx, n);
		cut[n] = 0;
		if (!ts_vgpu_module_new(cut, 75, &m, message, sizeof(message)))
			ts_vgpu_module_free(m);
	}
	free(cut);
}

/* A fatbin with entries like nvcc's. */
struct builder {
	uint8_t bytes[16384];
	size_t n;
};

static void put(struct builder *b, size_t at, uint64_t value, size_t n)
{
	memcpy(b->bytes + at, &value, n);
}

static void begin(struct builder *b)
{
	memset(b, 0, sizeof(*b));
	put(b, 0, 0xba55ed50, 4);
	put(b, 4, 1, 2);
	put(b, 6, 16, 2);
	b->n = 16;
}

static void entry(struct builder *b, unsigned kind, unsigned arch, uint64_t flags,
		  const void *payload, size_t bytes, size_t text_bytes)
{
	size_t padded = (bytes + 7) / 8 * 8, at = b->n;

	put(b, at, kind, 2);
	put(b, at + 4, 64, 4);
	put(b, at + 8, padded, 8);
	put(b, at + 16, flags & 0xa000 ? bytes : 0, 4);
	put(b, at + 28, arch, 4);
	put(b, at + 40, flags, 8);
	put(b, at + 56, flags & 0xa000 ? text_bytes : 0, 8);
	memcpy(b->bytes + at + 64, payload, bytes);
	b->n = at + 64 + padded;
	put(b, 8, b->n - 16, 8);
}

TS_TEST(fatbins_plain_and_compressed)
{
	struct builder b;
	static const char newer[] =
		".version 8.0\n.target sm_90\n.address_size 64\n.entry newer() { ret; }\n";
	char packed[4096], message[256];
	struct ts_vgpu_module *m;
	size_t n = ZSTD_compress(packed, sizeof(packed), ptx, sizeof(ptx), 3);
	ts_check(!ZSTD_isError(n));
	begin(&b);
	entry(&b, 2, 75, 0, "\177ELF", 4, 0);
	entry(&b, 1, 75, 0x8000, packed, n, sizeof(ptx));
	entry(&b, 1, 90, 0, newer, sizeof(newer) - 1, 0);
	ts_check_int(ts_vgpu_module_new(b.bytes, 80, &m, message, sizeof(message)), 0);
	ts_check(ts_vgpu_module_kernel(m, "nothing"));
	ts_vgpu_module_free(m);
	ts_check_int(ts_vgpu_module_new(b.bytes, 90, &m, message, sizeof(message)), 0);
	ts_check(ts_vgpu_module_kernel(m, "newer"));
	ts_vgpu_module_free(m);
	ts_check_int(ts_vgpu_module_new(b.bytes, 70, &m, message, sizeof(message)),
		     TS_VGPU_MODULE_E_NO_PTX);
	ts_check(strstr(message, "7.0"));

	begin(&b);
	entry(&b, 2, 75, 0, "\177ELF", 4, 0);
	ts_check_int(ts_vgpu_module_new(b.bytes, 80, &m, message, sizeof(message)),
		     TS_VGPU_MODULE_E_NO_PTX);
	ts_check(strstr(message, "SASS"));
}

TS_TEST(fatbins_compressed_by_lz4)
{
	/*
	 * The line with the kernel and its NUL follow 200 spaces: a literal, a match that repeats
	 * it, and literals.
	 */
	static const char line[] =
		".version 8.0\n.target sm_75\n.address_size 64\n.entry k() { ret; }\n";
	static const uint8_t spaces[] = {0x1f, ' ', 1, 0, 180};
	uint8_t packed[128];
	struct ts_vgpu_module *m;
	struct builder b;
	char message[256];
	size_t n = sizeof(spaces);

	memcpy(packed, spaces, n);
	packed[n++] = 0xf0;
	packed[n++] = sizeof(line) - 15;
	memcpy(packed + n, line, sizeof(line));
	n += sizeof(line);
	begin(&b);
	entry(&b, 1, 75, 0x2000, packed, n, 200 + sizeof(line));
	ts_check_int(ts_vgpu_module_new(b.bytes, 75, &m, message, sizeof(message)), 0);
	ts_check(ts_vgpu_module_kernel(m, "k"));
	ts_vgpu_module_free(m);
	/*
	 * Invalid data: more bytes than announced, a distance before the beginning, a missing end.
	 */
	begin(&b);
	entry(&b, 1, 75, 0x2000, packed, n, 200);
	ts_check_int(ts_vgpu_module_new(b.bytes, 75, &m, message, sizeof(message)),
		     TS_VGPU_MODULE_E_IMAGE);
	packed[2] = 9;
	begin(&b);
	entry(&b, 1, 75, 0x2000, packed, n, 200 + sizeof(line));
	ts_check_int(ts_vgpu_module_new(b.bytes, 75, &m, message, sizeof(message)),
		     TS_VGPU_MODULE_E_IMAGE);
	packed[2] = 1;
	begin(&b);
	entry(&b, 1, 75, 0x2000, packed, 6, 200 + sizeof(line));
	ts_check_int(ts_vgpu_module_new(b.bytes, 75, &m, message, sizeof(message)),
		     TS_VGPU_MODULE_E_IMAGE);
}

TS_TEST(damaged_fatbins_are_refused)
{
	struct builder b, bad;
	char packed[4096], message[256];
	size_t n = ZSTD_compress(packed, sizeof(packed), ptx, sizeof(ptx), 3);

	begin(&b);
	entry(&b, 1, 75, 0x8000, packed, n, sizeof(ptx));
	/*
	 * Each byte of the headers is damaged: the loader returns a result, and does not read
	 * beyond the container's size.
	 */
	for (size_t i = 16; i < 16 + 64; i++) {
		for (int bit = 0; bit < 8; bit++) {
			struct ts_vgpu_module *m = NULL;

			bad = b;
			bad.bytes[i] ^= (uint8_t)(1 << bit);
			if (!ts_vgpu_module_new(bad.bytes, 75, &m, message, sizeof(message)))
				ts_vgpu_module_free(m);
		}
	}
}
