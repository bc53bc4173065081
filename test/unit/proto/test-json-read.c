/* SPDX-License-Identifier: Apache-2.0 */
/* Requests as JSON: proto/rpc/json-read.h. */
#include "proto/rpc/json-read.h"
#include "proto/rpc/json.h"
#include "proto/rpc/tracesmith.pb-c.h"
#include "test/unit/harness.h"

#define ROWS   ts__rpc__query__rows__descriptor
#define REPLAY ts__rpc__query__replay__descriptor

/* Reads a text, and returns it as json.h prints it. */
static char *again(const ProtobufCMessageDescriptor *type, const char *text)
{
	char why[TS_JSON_WHY_BYTES] = "";
	struct ts_json json = {0};
	ProtobufCMessage *message;
	int r = ts_json_read(text, strlen(text), type, &message, why);

	if (r)
		fprintf(stderr, "%s: %s\n", text, why);
	ts_check_int(r, 0);
	ts_check_int(ts_json_message(&json, message), 0);
	protobuf_c_message_free_unpacked(message, NULL);
	return json.data;
}

static void check_same(const ProtobufCMessageDescriptor *type, const char *text)
{
	char *printed = again(type, text);

	ts_check_str(printed, text);
	free(printed);
}

TS_TEST(same_as_printed)
{
	check_same(&ROWS, "{\"from\": {\"ns\": 18446744073709551615, \"from_start\": true}, "
			  "\"types\": [\"kernel\", \"a\\\"\\\\\\n\xc3\xa9\"], \"limit\": 7, "
			  "\"stacks\": false, \"filter\": {\"name\": \"gemm*\", \"stream\": "
			  "4294967295}}");
	check_same(&ROWS, "{\"types\": []}");
	check_same(&REPLAY, "{\"executor\": \"vgpu\", \"what_if\": [], \"check\": [], "
			    "\"decisions\": [{\"first\": 1, \"last\": 2}, {\"first\": 3}]}");
}

TS_TEST(other_forms)
{
	char *printed = again(&ROWS, " {\t\"limit\" :\r\n 0 , \"from\":null,\"types\":[ "
				     "\"\\u0061\\/\\u00e9\\u20ac\\ud83d\\ude00\" ] } ");

	ts_check_str(printed, "{\"types\": [\"a/\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"], "
			      "\"limit\": 0}");
	free(printed);
}

TS_TEST(refused)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{"", "expected an object"},
		{"[]", "expected an object"},
		{"{", "expected a string"},
		{"{\"limit\"", "limit: expected :"},
		{"{\"limit\": 1", "expected , or }"},
		{"{\"limit\": 1,}", "expected a string"},
		{"{} x", "something follows the object"},
		{"{\"limt\": 1}", "unknown key \"limt\""},
		{"{\"li\\u0007\xc3\xa9\": 1}", "unknown key \"li???\""},
		{"{\"from\": {\"ms\": 1}}", "from: unknown key \"ms\""},
		{"{\"limit\": 1, \"limit\": 1}", "limit: the key occurs twice"},
		{"{\"limit\": \"1\"}", "limit: expected a whole number"},
		{"{\"limit\": 1.5}", "limit: expected a whole number"},
		{"{\"limit\": 1e3}", "limit: expected a whole number"},
		{"{\"limit\": 01}", "limit: expected a whole number"},
		{"{\"limit\": -1}", "limit: the number is out of range"},
		{"{\"limit\": 18446744073709551616}", "limit: the number is out of range"},
		{"{\"filter\": {\"stream\": 4294967296}}",
		 "filter.stream: the number is out of range"},
		{"{\"stacks\": 1}", "stacks: expected true or false"},
		{"{\"types\": \"kernel\"}", "types: expected a list"},
		{"{\"types\": [\"a\", 1]}", "types: expected a string"},
		{"{\"types\": [\"a\"}", "types: expected , or ]"},
		{"{\"types\": [\"a]}", "types: a string does not end"},
		{"{\"types\": [\"\\u0000\"]}", "types: a string has a zero byte"},
		{"{\"types\": [\"\\ud800x\"]}", "types: a string has half of a surrogate pair"},
		{"{\"types\": [\"\\udc00\"]}", "types: a string has half of a surrogate pair"},
		{"{\"types\": [\"\\u12\"]}", "types: a string has a bad \\u"},
		{"{\"types\": [\"\\x\"]}", "types: a string has an unknown escape"},
		{"{\"types\": [\"\xff\"]}", "types: a string is not UTF-8"},
		{"{\"types\": [\"a\nb\"]}", "types: a string has a control character"},
		{"{\"from\": 5}", "from: expected an object"},
	};
	char why[TS_JSON_WHY_BYTES];
	ProtobufCMessage *message;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ts_check_int(ts_json_read(bad[i].text, strlen(bad[i].text), &ROWS, &message, why),
			     -EINVAL);
		ts_check_str(why, bad[i].why);
	}
}

/* A list of objects that ends early leaks nothing; the sanitizer build checks it. */
TS_TEST(half_a_list)
{
	static const char text[] = "{\"decisions\": [{\"first\": 1}, {\"first\": 2, \"last\": }]}";
	char why[TS_JSON_WHY_BYTES];
	ProtobufCMessage *message;

	for (size_t n = 0; n < sizeof(text); n++)
		ts_check_int(ts_json_read(text, n, &REPLAY, &message, why), -EINVAL);
	ts_check_str(why, "decisions.last: expected a whole number");
}

/* Members of a oneof exclude each other, and levels are limited. */
TS_TEST(whole_queries)
{
	static const char two[] = "{\"info\": {}, \"gaps\": {}}";
	char why[TS_JSON_WHY_BYTES];
	ProtobufCMessage *message;

	check_same(&ts__rpc__query__descriptor,
		   "{\"session\": 3, \"state\": {\"at\": {\"ns\": 1}}}");
	ts_check_int(ts_json_read(two, strlen(two), &ts__rpc__query__descriptor, &message, why),
		     -EINVAL);
	ts_check_str(why, "gaps: only one of these keys may be used");
}
