/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields that make a row's name, as one number. The table agrees with rowname.c. The sums of
 * rows call this file.
 */
#include "replay/report/names/rowkey.h"

#include <string.h>

struct field {
	uint16_t offset, n_bytes; /* n_bytes 0: no field */
};

#define FIELD(row, member)                                               \
	{                                                                \
		offsetof(struct ts_row_##row, member),                   \
			sizeof(((const struct ts_row_##row *)0)->member) \
	}

static const struct {
	bool has_key;
	struct field high, low;
} keys[TS_ROW_EVENT_END] = {
	[TS_ROW_API] = {true, FIELD(api, domain), FIELD(api, cbid)},
	[TS_ROW_KERNEL] = {true, {0, 0}, FIELD(kernel, name)},
	[TS_ROW_MEMCPY] = {true, {0, 0}, FIELD(memcpy, copy_kind)},
	[TS_ROW_MEMSET] = {true, {0, 0}, {0, 0}},
	[TS_ROW_SYNC] = {true, {0, 0}, FIELD(sync, sync_type)},
	[TS_ROW_RANGE] = {true, FIELD(range, domain), FIELD(range, name)},
	[TS_ROW_OFF_CPU] = {true, FIELD(off_cpu, reason), FIELD(off_cpu, syscall)},
	[TS_ROW_PAGE_FAULT] = {true, FIELD(page_fault, fault), FIELD(page_fault, memory)},
	[TS_ROW_SYSCALL] = {true, FIELD(syscall, syscall), FIELD(syscall, file)},
	[TS_ROW_BLOCK_IO] = {true, FIELD(block_io, operation), FIELD(block_io, disk)},
	[TS_ROW_PRESSURE] = {true, {0, 0}, FIELD(pressure, kind)},
	[TS_ROW_DRIVER] = {true, FIELD(driver, kind), FIELD(driver, ring)},
};

static uint32_t get(const struct field *field, const void *row)
{
	uint32_t value = 0;

	memcpy(&value, (const uint8_t *)row + field->offset, field->n_bytes);
	return value;
}

static void put(const struct field *field, uint32_t value, uint8_t *row)
{
	memcpy(row + field->offset, &value, field->n_bytes);
}

bool ts_row_key(const struct ts_sbt_row *row, uint64_t *ret_key)
{
	if (row->type >= TS_ROW_EVENT_END || !keys[row->type].has_key)
		return false;
	*ret_key = (uint64_t)get(&keys[row->type].high, row->any) << 32 |
		   get(&keys[row->type].low, row->any);
	return true;
}

void ts_row_of_key(uint32_t type, uint64_t key, uint8_t bytes[TS_ROW_MAX_BYTES],
		   struct ts_sbt_row *ret_row)
{
	memset(bytes, 0, TS_ROW_MAX_BYTES);
	put(&keys[type].high, (uint32_t)(key >> 32), bytes);
	put(&keys[type].low, (uint32_t)key, bytes);
	*ret_row = (struct ts_sbt_row){.type = type, .schema = ts_row_schema(type), .any = bytes};
}
