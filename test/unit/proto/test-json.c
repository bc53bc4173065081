/* SPDX-License-Identifier: Apache-2.0 */
/* Tests JSON from descriptors, by the rules at the top of tracesmith.proto. */
#include "test/unit/harness.h"

#include <math.h>

#include "proto/rpc/json.h"
#include "proto/rpc/tracesmith.pb-c.h"

static void check_message(const void *message, const char *expected)
{
	struct ts_json json = {0};

	ts_check_int(ts_json_message(&json, message), 0);
	ts_check_str(json.data, expected);
	ts_json_deinit(&json);
}

TS_TEST(absent_present_and_empty)
{
	Ts__Rpc__RepairReport report = TS__RPC__REPAIR_REPORT__INIT;
	Ts__Rpc__SessionList list = TS__RPC__SESSION_LIST__INIT;

	check_message(&report, "{}");
	TS_RPC_SET(&report, bytes_cut, 0);
	TS_RPC_SET(&report, changed, 1);
	TS_RPC_SET(&report, bytes_after, UINT64_MAX);
	report.path = (char *)"/a/b";
	check_message(&report, "{\"path\": \"/a/b\", \"changed\": true, \"bytes_cut\": 0, "
			       "\"bytes_after\": 18446744073709551615}");
	check_message(&list, "{\"sessions\": []}");
}

TS_TEST(maps_enums_bytes_and_nesting)
{
	Ts__Rpc__SessionInfo session = TS__RPC__SESSION_INFO__INIT, *sessions[] = {&session};
	Ts__Rpc__SessionInfo__LostEntry lost[2] = {TS__RPC__SESSION_INFO__LOST_ENTRY__INIT,
						   TS__RPC__SESSION_INFO__LOST_ENTRY__INIT},
					*losts[] = {&lost[0], &lost[1]};
	Ts__Rpc__TraceInfo info = TS__RPC__TRACE_INFO__INIT;
	uint8_t id[] = {0x00, 0xab, 0xff};
	struct ts_json json = {0};

	lost[0].key = (char *)"ring_full";
	TS_RPC_SET(&lost[0], value, 3);
	lost[1].key = (char *)"disk";
	TS_RPC_SET(&lost[1], value, 1);
	session.n_lost = 2;
	session.lost = losts;
	TS_RPC_SET(&session, state, TS__RPC__SESSION_STATE__SESSION_STATE_DIED);
	session.has_id = 1;
	session.id = (ProtobufCBinaryData){sizeof(id), id};
	info.n_sessions = 1;
	info.sessions = sessions;
	ts_check_int(ts_json_message(&json, &info.base), 0);
	ts_check_str(
		json.data,
		"{\"sessions\": [{\"state\": \"died\", \"id\": \"00abff\", \"counts\": {}, "
		"\"lost\": {\"ring_full\": 3, \"disk\": 1}, \"interfaces\": []}], \"devices\": [], "
		"\"counts\": {}, \"lost\": {}, \"metadata\": {}, \"kernels\": [], "
		"\"copies\": [], \"columns\": [], \"errors\": []}");
	/* A value of a newer version is printed as its number. */
	session.state = (Ts__Rpc__SessionState)99;
	ts_json_clear(&json);
	ts_check_int(ts_json_message(&json, &session.base), 0);
	ts_check(strstr(json.data, "\"state\": 99,"));
	ts_json_deinit(&json);
}

TS_TEST(oneof)
{
	Ts__Rpc__Answer answer = TS__RPC__ANSWER__INIT;
	Ts__Rpc__Error error = TS__RPC__ERROR__INIT;

	check_message(&answer, "{}");
	TS_RPC_SET(&error, code, -2);
	answer.body_case = TS__RPC__ANSWER__BODY_ERROR;
	answer.error = &error;
	check_message(&answer, "{\"error\": {\"code\": -2}}");
}

static void check_string(const char *text, size_t n_bytes, const char *expected)
{
	struct ts_json json = {0};

	ts_json_string_n(&json, text, n_bytes);
	ts_check_str(json.data, expected);
	ts_json_deinit(&json);
}

TS_TEST(strings)
{
#define CHECK_STRING(text, expected) check_string(text, sizeof(text) - 1, expected)
	CHECK_STRING("", "\"\"");
	CHECK_STRING("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
	CHECK_STRING("\n\t\r\x01\x1f\x7f", "\"\\n\\t\\u000d\\u0001\\u001f\\u007f\"");
	CHECK_STRING("a\0b", "\"a\\u0000b\"");
	CHECK_STRING("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
		     "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
	/* JSON escapes characters that reverse a terminal's line or control the terminal. */
	CHECK_STRING("a\xc2\x9b"
		     "b",
		     "\"a\\u009bb\"");
	CHECK_STRING("\xe2\x80\xaex\xe2\x81\xa6", "\"\\u202ex\\u2066\"");
	CHECK_STRING("\xff", "\"\xef\xbf\xbd\"");
	CHECK_STRING("\xc3", "\"\xef\xbf\xbd\"");				  /* cut off */
	CHECK_STRING("\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\"");		  /* overlong */
	CHECK_STRING("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""); /* surrogate */
	CHECK_STRING("\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void check_double(double value, const char *expected)
{
	struct ts_json json = {0};

	ts_json_double(&json, value);
	ts_check_str(json.data, expected);
	ts_json_deinit(&json);
}

TS_TEST(numbers)
{
	struct ts_json json = {0};

	check_double(0.1, "0.1");
	check_double(1.0 / 3, "0.3333333333333333");
	check_double(1e300, "1e+300");
	check_double(NAN, "null");
	check_double(-INFINITY, "null");
	ts_json_int(&json, INT64_MIN);
	ts_check_str(json.data, "-9223372036854775808");
	ts_json_deinit(&json);
}
