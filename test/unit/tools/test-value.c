/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values are printed in their type. A kernel's signature gives the types and places of its
 * parameters.
 */
#include "test/unit/harness.h"

#include "replay/report/names/signature.h"
#include "tools/tsctl/replay/replay-command.h"

#include <float.h>
#include <math.h>

static void check_value(const char *name, uint64_t bits, const char *want)
{
	char text[TS_VALUE_TEXT_BYTES];
	struct ts_value_type type;

	ts_check(ts_value_type_parse(name, strlen(name), &type));
	ts_value_print(&type, (const uint8_t *)&bits, text);
	ts_check_str(text, want);
}

static void check_float(float value, const char *want)
{
	uint64_t bits = 0;

	memcpy(&bits, &value, sizeof(value));
	check_value("float", bits, want);
}

static void check_double(double value, const char *want)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(value));
	check_value("double", bits, want);
}

TS_TEST(floats)
{
	check_float(1, "1.0");
	check_float(-2.5f, "-2.5");
	check_float(0, "0.0");
	check_float(-0.0f, "-0.0");
	check_float(0.1f, "0.1");
	check_float(90, "90.0");
	check_float(1234567, "1234567.0");
	check_float(FLT_MAX, "3.4028235e+38");
	check_float(FLT_TRUE_MIN, "1e-45");
	check_float(INFINITY, "inf");
	check_float(-INFINITY, "-inf");
	/* Neighbouring values are distinct in print. */
	check_float(7.5091825f, "7.5091825");
	check_float(7.509183f, "7.509183");
	check_value("float", 0x7fc00001, "nan (0x7fc00001)");
}

TS_TEST(every_float_is_read_back)
{
	char text[TS_VALUE_TEXT_BYTES];
	struct ts_value_type type;

	ts_check(ts_value_type_parse("float", 5, &type));
	for (uint64_t bits = 1; bits < 0x7f800000; bits += 999983) {
		uint32_t low = (uint32_t)bits;
		float value, again;

		memcpy(&value, &low, sizeof(value));
		ts_value_print(&type, (const uint8_t *)&bits, text);
		again = strtof(text, NULL);
		ts_check(!memcmp(&value, &again, sizeof(value)));
		ts_check(strpbrk(text, ".e"));
	}
}

TS_TEST(doubles)
{
	check_double(1, "1.0");
	check_double(0.1, "0.1");
	check_double(1.0 / 3, "0.3333333333333333");
	check_double(DBL_MAX, "1.7976931348623157e+308");
	check_value("double", UINT64_C(0x7ff8000000000000), "nan (0x7ff8000000000000)");
}

TS_TEST(halves)
{
	check_value("__half", 0x3c00, "1.0");
	check_value("__half", 0xc000, "-2.0");
	check_value("c10::Half", 0x3555, "0.3333");
	check_value("__half", 0x0001, "6e-08");
	check_value("__half", 0x7bff, "65504.0");
	check_value("__half", 0x7c00, "inf");
	check_value("__half", 0x7e01, "nan (0x7e01)");
	check_value("__nv_bfloat16", 0x3f80, "1.0");
	check_value("__nv_bfloat16", 0x3eab, "0.334");
	check_value("c10::BFloat16", 0xff80, "-inf");
}

TS_TEST(integers)
{
	check_value("int", 0xffffffff, "-1");
	check_value("unsigned int", 0xffffffff, "4294967295");
	check_value("char", 0x80, "-128");
	check_value("unsigned char", 0x80, "128");
	check_value("short", 0x8000, "-32768");
	check_value("long", UINT64_MAX, "-1");
	check_value("unsigned long long", UINT64_MAX, "18446744073709551615");
	check_value("bool", 1, "true");
	check_value("bool", 0, "false");
	/* No bool has these bits. */
	check_value("bool", 2, "0x02");
	check_value("float*", 0x7f0000001000, "0x7f0000001000");
}

TS_TEST(types)
{
	struct ts_value_type type;

	ts_check(ts_value_type_parse("float const", 11, &type));
	ts_check_str(type.name, "float");
	ts_check(ts_value_type_parse("volatile int", 12, &type));
	ts_check_str(type.name, "int");
	ts_check(ts_value_type_parse("float4", 6, &type));
	ts_check_int(type.n_parts, 4);
	ts_check_int(type.bytes, 4);
	ts_check_int(type.align, 16);
	ts_check(ts_value_type_parse("uchar3", 6, &type));
	ts_check_int(type.n_parts, 3);
	ts_check_int(type.align, 1);
	ts_check(ts_value_type_parse("double4", 7, &type));
	ts_check_int(type.align, 16);
	ts_check(ts_value_type_parse("__half2", 7, &type));
	ts_check_int(type.n_parts, 2);
	ts_check(ts_value_type_parse("int const* const", 16, &type));
	ts_check_int(type.kind, TS_VALUE_POINTER);
	/* Unknown types are rejected. */
	ts_check(!ts_value_type_parse("void", 4, &type));
	ts_check(!ts_value_type_parse("float5", 6, &type));
	ts_check(!ts_value_type_parse("__half4", 7, &type));
	ts_check(!ts_value_type_parse("view", 4, &type));
	ts_check(!ts_value_type_parse("", 0, &type));
}

TS_TEST(a_signature)
{
	struct ts_signature_parameter all[TS_SIGNATURE_MAX_PARAMETERS];

	ts_check_int(ts_signature_parse("void add<float>(float*, float const*, char, double, int)",
					all),
		     5);
	ts_check(all[0].is_pointer && all[0].has_type && !all[0].is_const);
	ts_check_str(all[0].type.name, "float");
	ts_check_int(all[0].offset, 0);
	ts_check(all[1].is_pointer && all[1].is_const);
	ts_check_int(all[1].offset, 8);
	ts_check(!all[2].is_pointer);
	ts_check_int(all[2].offset, 16);
	ts_check_int(all[3].offset, 24);
	ts_check_int(all[4].offset, 32);
	ts_check(all[4].is_placed);
}

TS_TEST(a_struct_ends_what_is_known)
{
	struct ts_signature_parameter all[TS_SIGNATURE_MAX_PARAMETERS];

	ts_check_int(ts_signature_parse("f(int*, view<int, 3>, float*)", all), 3);
	ts_check(all[0].is_placed);
	ts_check(!all[1].is_placed);
	ts_check(!all[2].is_placed);
	ts_check(all[2].is_pointer);
	ts_check_int(ts_signature_parse("f(view*, void*, int**)", all), 3);
	ts_check(all[0].is_pointer && !all[0].has_type);
	ts_check(all[1].is_pointer && !all[1].has_type);
	ts_check(all[2].has_type);
	ts_check_int(all[2].type.kind, TS_VALUE_POINTER);
	ts_check_int(all[2].offset, 16);
}

TS_TEST(no_signature)
{
	struct ts_signature_parameter all[TS_SIGNATURE_MAX_PARAMETERS];
	char many[1024] = "f(";

	ts_check_int(ts_signature_parse("saxpy", all), 0);
	ts_check_int(ts_signature_parse("f()", all), 0);
	ts_check_int(ts_signature_parse("", all), 0);
	ts_check_int(ts_signature_parse(")", all), 0);
	ts_check_int(ts_signature_parse("f(int", all), 0);
	ts_check_int(ts_signature_parse("(anonymous namespace)::f(int*)", all), 1);
	ts_check_int(ts_signature_parse(
			     "void f<main::{lambda(int, int)#1}>(main::{lambda(int, int)#1})", all),
		     1);
	for (size_t i = 0; i < 100; i++)
		strcat(many, "int, ");
	strcat(many, "int)");
	ts_check_int(ts_signature_parse(many, all), TS_SIGNATURE_MAX_PARAMETERS);
}

static void check_name(const char *signature, bool with_arguments, const char *want)
{
	char *name = ts_replayside_name(signature, with_arguments);

	ts_check_str(name, want);
	free(name);
}

TS_TEST(names)
{
	check_name("turn", true, "turn");
	check_name("void ns::scale<float, 3>(float*, int)", true, "ns::scale<float, 3>");
	check_name("void ns::scale<float, 3>(float*, int)", false, "ns::scale");
	check_name("add(int*)", false, "add");
	check_name("(anonymous namespace)::f(int*)", true, "(anonymous namespace)::f");
	check_name("", true, "");
	check_name(">", false, ">");
	check_name(")", false, ")");
}
