/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of keys: see tiles.h. A key has a row's type and the fields that make its name, so the name
 * comes from a row with these fields. tools/studio calls this module.
 */
#include "replay/report/names/names.h"
#include "replay/report/names/resolver.h"
#include "replay/report/tiles/tiles.h"

#include <stdio.h>

/* Copies a name of `name.c` to the buffer, or a number for a name that is unknown. */
static const char *or_number(const char *name, const char *what, uint32_t number,
			     char buffer[TS_TILE_NAME_BYTES])
{
	if (name)
		return name;
	snprintf(buffer, TS_TILE_NAME_BYTES, "%s#%u", what, number);
	return buffer;
}

static const char *off_cpu_name(uint32_t value, char buffer[TS_TILE_NAME_BYTES])
{
	struct ts_row_off_cpu row = {.reason = value >> 16, .syscall = value & 0xffff};
	struct ts_sbt_row wrapped = {.type = TS_ROW_OFF_CPU, .off_cpu = &row};

	if (row.syscall == (TS_NO_SYSCALL & 0xffff))
		row.syscall = TS_NO_SYSCALL;
	/* The name of such a row needs no resolver. */
	return ts_resolver_name(NULL, &wrapped, buffer);
}

/* Returns the innermost function of a sample's stack. */
static const char *sample_name(struct ts_resolver *resolver, uint32_t value,
			       char buffer[TS_TILE_NAME_BYTES])
{
	struct ts_row_sample row = {.stack = value & ((1u << TS_TILE_STACK_BITS) - 1)};
	struct ts_sbt_row wrapped = {.type = TS_ROW_SAMPLE,
				     .session = value >> TS_TILE_STACK_BITS,
				     .schema = ts_row_schema(TS_ROW_SAMPLE),
				     .sample = &row};
	const struct ts_row_session *session =
		ts_sbt_reader_session(ts_resolver_reader(resolver), wrapped.session);

	if (value == (1u << TS_TILE_KEY_BITS) - 1 || !session)
		return "sample";
	/* The files that are mapped at the end of the session name the functions. */
	row.start_ns = session->end_ns ? session->end_ns : INT64_MAX;
	return ts_resolver_name(resolver, &wrapped, buffer);
}

const char *ts_tile_key_name(struct ts_resolver *resolver, uint32_t key,
			     char buffer[TS_TILE_NAME_BYTES])
{
	uint32_t type = ts_tile_key_type(key), value = key & ((1u << TS_TILE_KEY_BITS) - 1);
	const char *name;

	switch (type) {
	case TS_ROW_API:
		return ts_name_call((uint16_t)(value >> 16), (uint16_t)value, buffer);
	case TS_ROW_KERNEL:
		name = ts_resolver_kernel_name(resolver, value);
		return name ? name : "unknown kernel";
	case TS_ROW_MEMCPY:
		return or_number(ts_name_memcpy_kind(value), "kind", value, buffer);
	case TS_ROW_MEMSET:
		return "memset";
	case TS_ROW_RANGE:
	case TS_ROW_MARK:
	case TS_ROW_COUNTER:
		name = ts_resolver_string(resolver, value);
		return name ? name : "without a name";
	case TS_ROW_OFF_CPU:
		return off_cpu_name(value, buffer);
	case TS_ROW_SAMPLE:
		return sample_name(resolver, value, buffer);
	case TS_ROW_PAGE_FAULT:
		return or_number(ts_name_fault_kind(value >> 8), "fault", value >> 8, buffer);
	case TS_ROW_SYSCALL:
		return or_number(ts_name_syscall(value), "syscall", value, buffer);
	case TS_ROW_BLOCK_IO:
		return or_number(ts_name_block_operation(value), "operation", value, buffer);
	case TS_ROW_PRESSURE:
		return or_number(ts_name_pressure_kind(value), "pressure", value, buffer);
	case TS_ROW_DRIVER:
		return or_number(ts_name_driver_kind(value), "driver", value, buffer);
	default:
		return "";
	}
}
