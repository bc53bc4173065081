/* SPDX-License-Identifier: Apache-2.0 */
/*
 * If the body of an answer is cut between any fields and its parts are joined, the body is the
 * same. An invalid message is reported.
 */
#include "test/unit/harness.h"

#include "proto/abi/base.h"
#include "proto/rpc/body.h"
#include "proto/rpc/json.h"
#include "proto/rpc/tracesmith.pb-c.h"

#define N_ROWS 300u

/* Makes a list of rows, one of them large. */
static uint8_t *make_list(size_t *ret_n_bytes)
{
	static Ts__Rpc__ApiRow api[N_ROWS];
	static Ts__Rpc__Row rows[N_ROWS], *pointers[N_ROWS];
	static char name[5000];
	Ts__Rpc__RowList list = TS__RPC__ROW_LIST__INIT;
	uint8_t *packed;

	memset(name, 'x', sizeof(name) - 1);
	for (size_t i = 0; i < N_ROWS; i++) {
		ts__rpc__api_row__init(&api[i]);
		TS_RPC_SET(&api[i], start_ns, i);
		if (i == 150)
			api[i].name = name;
		ts__rpc__row__init(&rows[i]);
		rows[i].row_case = TS__RPC__ROW__ROW_API;
		rows[i].api = &api[i];
		pointers[i] = &rows[i];
	}
	list.n_rows = N_ROWS;
	list.rows = pointers;
	*ret_n_bytes = ts__rpc__row_list__get_packed_size(&list);
	packed = malloc(*ret_n_bytes);
	ts__rpc__row_list__pack(&list, packed);
	return packed;
}

TS_TEST(parts_are_the_whole)
{
	static const size_t sizes[] = {1, 7, 64, 1000, 100000};
	size_t n_bytes;
	uint8_t *body = make_list(&n_bytes);

	for (size_t i = 0; i < TS_ARRAY_LEN(sizes); i++) {
		size_t n_rows = 0, at = 0;

		while (at < n_bytes) {
			size_t n = ts_body_part(body + at, n_bytes - at, sizes[i]);
			Ts__Rpc__RowList *list = ts__rpc__row_list__unpack(NULL, n, body + at);

			ts_check(n && n <= n_bytes - at && list);
			/* A part exceeds the size only if a single element does. */
			ts_check(n <= sizes[i] || list->n_rows == 1);
			for (size_t j = 0; j < list->n_rows; j++)
				ts_check_int(list->rows[j]->api->start_ns, n_rows + j);
			n_rows += list->n_rows;
			at += n;
			ts__rpc__row_list__free_unpacked(list, NULL);
		}
		ts_check_int(n_rows, N_ROWS);
	}
	free(body);
}

TS_TEST(head_and_body)
{
	uint8_t bytes[TS_BODY_HEAD_BYTES + 400];
	uint8_t body[400];
	Ts__Rpc__QueryEnd end = TS__RPC__QUERY_END__INIT;
	char path[300];
	size_t n_body, n_head, off;
	Ts__Rpc__Answer *answer;
	uint32_t number;

	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = 0;
	end.path = path;
	n_body = ts__rpc__query_end__pack(&end, body);
	n_head = ts_body_head(TS__RPC__ANSWER__BODY_QUERY_END, n_body, bytes);
	memcpy(bytes + n_head, body, n_body);
	answer = ts__rpc__answer__unpack(NULL, n_head + n_body, bytes);
	ts_check(answer && answer->body_case == TS__RPC__ANSWER__BODY_QUERY_END);
	ts_check_str(answer->query_end->path, path);
	ts__rpc__answer__free_unpacked(answer, NULL);
	ts_check_int(ts_body_find(bytes, n_head + n_body, &number, &off), 0);
	ts_check_int(number, TS__RPC__ANSWER__BODY_QUERY_END);
	ts_check_int(off, n_head);
	/* With one byte less or more, the bytes are not one field. */
	ts_check_int(ts_body_find(bytes, n_head + n_body - 1, &number, &off), -EPROTO);
	bytes[n_head + n_body] = 0;
	ts_check_int(ts_body_find(bytes, n_head + n_body + 1, &number, &off), -EPROTO);
}

TS_TEST(what_is_no_message)
{
	static const struct {
		uint8_t bytes[12];
		size_t n;
	} bad[] = {
		{{0x00}, 1},		/* field 0 */
		{{0x0a}, 1},		/* no length */
		{{0x0a, 0x05, 'a'}, 3}, /* longer than the available bytes */
		{{0x0b}, 1},		/* a group */
		{{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}, 12},
		{{0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, 11},
		{{0x09, 1, 2, 3}, 4}, /* 64 bits */
		{{0x0d, 1, 2}, 3},    /* 32 bits */
		{{0x08, 0x80}, 2},    /* a varint without an end */
	};
	uint32_t number;
	size_t off;

	for (size_t i = 0; i < TS_ARRAY_LEN(bad); i++) {
		ts_check_int(ts_body_part(bad[i].bytes, bad[i].n, 100), 0);
		ts_check_int(ts_body_find(bad[i].bytes, bad[i].n, &number, &off), -EPROTO);
	}
	ts_check_int(ts_body_find(bad[0].bytes, 0, &number, &off), -EPROTO);
	ts_check_int(ts_body_part(bad[0].bytes, 0, 100), 0);
}

/* Each question has the answer of the same name. */
TS_TEST(answers)
{
	const ProtobufCMessageDescriptor *asked = &ts__rpc__query__descriptor;
	unsigned n = 0;

	for (unsigned i = 0; i < asked->n_fields; i++) {
		const ProtobufCFieldDescriptor *answer;

		if (!(asked->fields[i].flags & PROTOBUF_C_FIELD_FLAG_ONEOF))
			continue;
		answer = protobuf_c_message_descriptor_get_field_by_name(
			&ts__rpc__answer__descriptor, asked->fields[i].name);
		ts_check(answer);
		ts_check_int(ts_body_answers(asked->fields[i].id), answer->id);
		n++;
	}
	ts_check_int(n, 10);
	ts_check_int(ts_body_answers(TS__RPC__QUERY__BODY__NOT_SET), 0);
	ts_check_int(ts_body_answers(77), 0);
}
