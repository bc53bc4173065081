// SPDX-License-Identifier: Apache-2.0
/*
 * The parser reports an error in a text with its line, and an unimplemented feature with its name.
 * It reads a kernel's header correctly.
 */
#include "test/unit/ptx/device.h"

static struct ts_ptx_error error;

/* Parses and links; returns the first error. */
static int load(const char *text)
{
	struct ts_ptx_module *module = NULL;
	struct ts_ptx_image *image = NULL;
	int r = ts_ptx_module_parse(text, strlen(text), &module, &error);

	if (r)
		return r;
	r = ts_ptx_link(&module, 1, &image, &error);
	ts_ptx_module_free(module);
	if (!r)
		ts_ptx_image_free(image);
	return r;
}

#define BODY(statements)                                                                                        \
	PTX_HEAD                                                                                                \
	".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;\n" statements \
	"\nret;\n}\n"

TS_TEST(errors)
{
	static const struct {
		const char *text;
		int code;
		uint32_t line;
		const char *says;
	} cases[] = {
		{"", TS_PTX_E_SYNTAX, 1, ".version"},
		{".version 8.0\n.target sm_80\n", TS_PTX_E_UNSUPPORTED, 3, "address_size"},
		{BODY("foo.bar %r1, %r2;"), TS_PTX_E_UNSUPPORTED, 7, "unknown instruction foo.bar"},
		{BODY("add.u32 %r1, %r2;"), TS_PTX_E_SYNTAX, 7, "number of operands"},
		{BODY("add.u32 %r1, %r2, %d3;"), TS_PTX_E_SYNTAX, 7,
		 "size differs from the instruction's"},
		{BODY("add.weird.u32 %r1, %r2, %r3;"), TS_PTX_E_UNSUPPORTED, 7, "add.weird.u32"},
		{BODY("tex.2d.v4.f32.s32 {%r1,%r2,%r3,%r4}, [p, {%r1,%r2}];"), TS_PTX_E_UNSUPPORTED,
		 7, "texture"},
		{BODY("wgmma.fence.sync.aligned;"), TS_PTX_E_UNSUPPORTED, 7,
		 "wgmma.fence.sync.aligned"},
		{BODY("mov.u32 %r1, %r99;"), TS_PTX_E_SYNTAX, 7, "%r99"},
		{BODY("\n\nbra nowhere;"), TS_PTX_E_SYNTAX, 9, "no label nowhere"},
		{BODY("mov.u32 %r1, 1"), TS_PTX_E_SYNTAX, 8, "','"},
		{BODY("{ { mov.u32 %r1, 1; }"), TS_PTX_E_SYNTAX, 10, "ends"},
		{BODY("ld.param.u64 %d1, [p+8];"), TS_PTX_E_SYNTAX, 7, "past the parameters"},
		{BODY("L: L: mov.u32 %r1, 1;"), TS_PTX_E_SYNTAX, 7, "label L is defined twice"},
		{BODY(".reg .b32 %r<5>;"), TS_PTX_E_SYNTAX, 7, "declared twice"},
		{BODY(".reg .b32 %x<99999999>;"), TS_PTX_E_LIMIT, 7, "limit"},
		{BODY(".reg .b128 %q; add.u64 %d1, %d2, %q;"), TS_PTX_E_SYNTAX, 7,
		 "size differs from the instruction's"},
		{BODY("@%r1 mov.u32 %r1, 1;"), TS_PTX_E_SYNTAX, 7, "predicate"},
		{BODY("call k2, (%r1);"), TS_PTX_E_SYNTAX, 7, "no module has this function"},
		{BODY("atom.global.min.f32 %r1, [%d1], %r2;"), TS_PTX_E_UNSUPPORTED, 7, "atom"},
		{BODY("st.const.u32 [%d1], %r2;"), TS_PTX_E_UNSUPPORTED, 7, "st.const"},
		{BODY("ld.global.f16 %r1, [%d1];"), TS_PTX_E_UNSUPPORTED, 7, "ld.global.f16"},
		{BODY("st.global.bf16x2 [%d1], %r2;"), TS_PTX_E_UNSUPPORTED, 7, "st.global.bf16x2"},
		{BODY("add.rn.s32 %r1, %r2, %r3;"), TS_PTX_E_UNSUPPORTED, 7, "add.rn.s32"},
		{BODY("cvt.f32.f64 %r1, %d1;"), TS_PTX_E_UNSUPPORTED, 7, "cvt.f32.f64"},
		{BODY(".local .b8 big[1000000];"), TS_PTX_E_LIMIT, 7, "local memory"},
		{PTX_HEAD ".global .b8 g[2] = {1, 2, 3};\n", TS_PTX_E_SYNTAX, 4,
		 "more initial values"},
		{PTX_HEAD ".global .u64 g = nothing;\n", TS_PTX_E_LINK, 4, "nothing"},
		{PTX_HEAD ".global .texref t;\n", TS_PTX_E_SYNTAX, 4, "type"},
		{PTX_HEAD ".shared .b8 s[9999999];\n", TS_PTX_E_LIMIT, 4, "shared memory"},
		{PTX_HEAD "\n\n.visible .entry a() { ret; }\n.visible .entry a() { ret; }\n",
		 TS_PTX_E_SYNTAX, 7, "defined twice"},
		{PTX_HEAD ".entry k() { \"text }\n", TS_PTX_E_SYNTAX, 4, "expected"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int r = load(cases[i].text);

		if (r != cases[i].code || error.line != cases[i].line ||
		    !strstr(error.message, cases[i].says)) {
			fprintf(stderr, "case %zu: %d at %u: %s\n", i, r, error.line,
				error.message);
			exit(1);
		}
	}
}

/* PTX before 2.3 has no .address_size. */
TS_TEST(old_header)
{
	ts_check_int(
		load(".version 1.4\n.target sm_10, map_f64_to_f32\n.entry k (.param .u64 p)\n{\nexit;\n}\n"),
		0);
	ts_check_int(load(".version 2.3\n.target sm_10\n.entry k (.param .u64 p)\n{\nexit;\n}\n"),
		     TS_PTX_E_UNSUPPORTED);
}

TS_TEST(headers)
{
	static const char text[] = PTX_HEAD
		"/* a comment\n over lines */\n"
		".visible .entry k(\n.param .u32 a, .param .align 16 .b8 s[20], .param .u8 c, .param .u64 .ptr .global .align 4 d\n)\n"
		".maxntid 128, 2, 1\n.minnctapersm 3\n{\n.shared .align 8 .b8 sh[100];\n.reg .b32 %r<3>;\n"
		"mov.u32 %r1, sh; ret;\n}\n"
		".visible .entry fixed() .reqntid 64 { ret; }\n";
	const struct ts_ptx_kernel_info *k;
	struct device d;

	device_open(&d, text);
	ts_check_int(ts_ptx_image_n_kernels(d.image), 2);
	k = ts_ptx_kernel_info(ts_ptx_image_find_kernel(d.image, "k"));
	ts_check_int(k->n_params, 4);
	ts_check_int(k->params[1].offset, 16);
	ts_check_int(k->params[1].bytes, 20);
	ts_check_int(k->params[2].offset, 36);
	ts_check_int(k->params[3].offset, 40);
	ts_check_int(k->params_bytes, 48);
	ts_check_int(k->max_threads, 256);
	ts_check_int(k->min_blocks_per_sm, 3);
	ts_check_int(k->static_shared_bytes, 100);
	ts_check(!ts_ptx_image_find_kernel(d.image, "other"));
	ts_check_int(device_try(&d, "k", 1, 257, (const uint64_t[6]){0}, 6), TS_PTX_E_LAUNCH);
	ts_check_int(device_try(&d, "k", 1, 256, (const uint64_t[6]){0}, 5), TS_PTX_E_LAUNCH);
	ts_check_int(device_try(&d, "fixed", 1, 32, NULL, 0), TS_PTX_E_LAUNCH);
	ts_check_int(device_try(&d, "fixed", 1, 64, NULL, 0), 0);
	device_close(&d);
}

/*
 * Labels are local to their braces, because inline assembly relies on it; registers hide outer ones
 * of the same name.
 */
TS_TEST(scopes)
{
	ts_check_int(
		load(BODY(
			"{ L: bra M; M: mov.u32 %r1, 1; } { .reg .b64 %r1; L: mov.u64 %r1, 2; bra L; }")),
		0);
	ts_check_int(load(BODY("{ L: mov.u32 %r1, 1; } bra L;")), TS_PTX_E_SYNTAX);
}
