/* SPDX-License-Identifier: Apache-2.0 */
/* rocprofiler-sdk's records: both layouts, records that are no work, names of kernels. */
#include <pthread.h>
#include <stdio.h>

#include "inject/rocprofiler/rocprofiler-records.h"
#include "proto/abi/base.h"
#include "test/unit/harness.h"

static struct ts_rocprofiler_dispatch_record dispatch_of(void)
{
	return (struct ts_rocprofiler_dispatch_record){
		.record = {.size = sizeof(struct ts_rocprofiler_dispatch_record),
			   .kind = TS_ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH,
			   .operation = TS_ROCPROFILER_KERNEL_DISPATCH_COMPLETE,
			   .correlation = {7, 42},
			   .start_ns = 100,
			   .end_ns = 250},
		.info = {.size = 72, .kernel_id = 5, .workgroup = {64, 4, 1}, .grid = {128, 9, 1}},
	};
}

static enum ts_rocprofiler_verdict read_record(uint32_t category, uint32_t kind, void *payload,
					       struct ts_rocprofiler_work *ret)
{
	const struct ts_rocprofiler_record_header header = {category, kind, payload};

	return ts_rocprofiler_read(&header, ret);
}

TS_TEST(kernel)
{
	struct ts_rocprofiler_dispatch_record record = dispatch_of();
	struct ts_rocprofiler_work work;

	ts_check_int(read_record(TS_ROCPROFILER_BUFFER_CATEGORY_TRACING,
				 TS_ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, &record, &work),
		     TS_ROCPROFILER_WORK);
	ts_check_int(work.kind, TS_ROCPROFILER_KERNEL);
	ts_check_int(work.op_id, 42);
	ts_check_int(work.start_ns, 100);
	ts_check_int(work.end_ns, 250);
	ts_check_int(work.kernel_id, 5);
	/* In blocks; the last one of the second dimension is smaller. */
	ts_check_int(work.grid[0], 2);
	ts_check_int(work.grid[1], 3);
	ts_check_int(work.grid[2], 1);
	ts_check_int(work.block[1], 4);
	/* Largest sizes, and none. */
	record.info.workgroup[0] = 1;
	record.info.grid[0] = UINT32_MAX;
	record.info.workgroup[1] = 0;
	record.record.size = UINT64_MAX;
	ts_check_int(read_record(TS_ROCPROFILER_BUFFER_CATEGORY_TRACING,
				 TS_ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, &record, &work),
		     TS_ROCPROFILER_WORK);
	ts_check_int(work.grid[0], UINT32_MAX);
	ts_check_int(work.grid[1], 0);
}

TS_TEST(copy_of_each_release)
{
	struct ts_rocprofiler_copy_record record = {
		.record = {.kind = TS_ROCPROFILER_BUFFER_TRACING_MEMORY_COPY,
			   .operation = TS_ROCPROFILER_MEMORY_COPY_DEVICE_TO_HOST,
			   .correlation = {1, 9}},
		.bytes = 4096,
	};
	const uint64_t sizes[] = {TS_ROCPROFILER_COPY_RECORD_BYTES_0_4, sizeof(record), 4096};
	struct ts_rocprofiler_work work;

	for (size_t i = 0; i < TS_ARRAY_LEN(sizes); i++) {
		record.record.size = sizes[i];
		ts_check_int(read_record(TS_ROCPROFILER_BUFFER_CATEGORY_TRACING,
					 TS_ROCPROFILER_BUFFER_TRACING_MEMORY_COPY, &record, &work),
			     TS_ROCPROFILER_WORK);
		ts_check_int(work.kind, TS_ROCPROFILER_COPY);
		ts_check_int(work.operation, TS_ROCPROFILER_MEMORY_COPY_DEVICE_TO_HOST);
		ts_check_int(work.op_id, 9);
		ts_check_int(work.bytes, 4096);
	}
	record.record.size = TS_ROCPROFILER_COPY_RECORD_BYTES_0_4 - 1;
	ts_check_int(read_record(TS_ROCPROFILER_BUFFER_CATEGORY_TRACING,
				 TS_ROCPROFILER_BUFFER_TRACING_MEMORY_COPY, &record, &work),
		     TS_ROCPROFILER_BAD);
}

TS_TEST(records_that_are_no_work)
{
	struct ts_rocprofiler_dispatch_record record = dispatch_of();
	struct ts_rocprofiler_work work = {.op_id = 1};
	const uint32_t tracing = TS_ROCPROFILER_BUFFER_CATEGORY_TRACING,
		       kernel = TS_ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH;

	ts_check_int(ts_rocprofiler_read(NULL, &work), TS_ROCPROFILER_BAD);
	ts_check_int(read_record(tracing, kernel, NULL, &work), TS_ROCPROFILER_BAD);
	ts_check_int(read_record(TS_ROCPROFILER_BUFFER_CATEGORY_COUNTERS, kernel, &record, &work),
		     TS_ROCPROFILER_UNKNOWN);
	ts_check_int(read_record(0, kernel, &record, &work), TS_ROCPROFILER_UNKNOWN);
	ts_check_int(read_record(tracing, 99, &record, &work), TS_ROCPROFILER_UNKNOWN);
	ts_check_int(read_record(tracing, UINT32_MAX, &record, &work), TS_ROCPROFILER_UNKNOWN);
	/* The header's kind and the record's differ. */
	ts_check_int(read_record(tracing, TS_ROCPROFILER_BUFFER_TRACING_MEMORY_COPY, &record,
				 &work),
		     TS_ROCPROFILER_BAD);
	record.record.size = sizeof(record) - 1;
	ts_check_int(read_record(tracing, kernel, &record, &work), TS_ROCPROFILER_BAD);
	record.record.size = 0;
	ts_check_int(read_record(tracing, kernel, &record, &work), TS_ROCPROFILER_BAD);
	/* Untouched. */
	ts_check_int(work.op_id, 1);
}

TS_TEST(symbols_of_both_layouts)
{
	struct ts_rocprofiler_kernel_symbol symbol = {.size = sizeof(symbol),
						      .kernel_id = 3,
						      .kernel_name = "scale.kd"};
	struct ts_rocprofiler_callback_record record = {
		.ancestor = TS_ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
		.kind = TS_ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
		.operation = TS_ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER,
		.phase = TS_ROCPROFILER_CALLBACK_PHASE_LOAD,
		.payload = &symbol,
	};
	struct ts_rocprofiler_callback_record_0_4 old = {
		.kind = TS_ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
		.operation = TS_ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER,
		.phase = TS_ROCPROFILER_CALLBACK_PHASE_LOAD,
		.payload = &symbol,
	};

	ts_check(ts_rocprofiler_symbol(&record) == &symbol);
	record.phase = TS_ROCPROFILER_CALLBACK_PHASE_UNLOAD;
	ts_check(!ts_rocprofiler_symbol(&record));
	memset(&record, 0xff, sizeof(record));
	ts_check(!ts_rocprofiler_symbol(&record));
	memcpy(&record, &old, sizeof(old));
	ts_check(ts_rocprofiler_symbol(&record) == &symbol);
	symbol.kernel_name = NULL;
	ts_check(!ts_rocprofiler_symbol(&record));
	symbol.kernel_name = "scale.kd";
	symbol.size = sizeof(symbol) - 1;
	ts_check(!ts_rocprofiler_symbol(&record));
	old.payload = NULL;
	memcpy(&record, &old, sizeof(old));
	ts_check(!ts_rocprofiler_symbol(&record));
}

TS_TEST(names)
{
	static char *long_name;

	ts_check(!ts_rocprofiler_name(0));
	ts_check(!ts_rocprofiler_name(7));
	ts_check(ts_rocprofiler_name_put(7, "_Z5scalePf.kd"));
	ts_check_str(ts_rocprofiler_name(7), "_Z5scalePf");
	ts_check(ts_rocprofiler_name_put(0, "plain"));
	ts_check_str(ts_rocprofiler_name(0), "plain");
	/* The first name stays: rows may refer to it. */
	ts_check(!ts_rocprofiler_name_put(7, "other"));
	ts_check_str(ts_rocprofiler_name(7), "_Z5scalePf");
	ts_check(ts_rocprofiler_name_put(8, ".kd"));
	ts_check_str(ts_rocprofiler_name(8), ".kd");
	ts_check(!ts_rocprofiler_name_put(9, ""));
	ts_check(!ts_rocprofiler_name(9));
	ts_check(ts_rocprofiler_name_put(TS_ROCPROFILER_MAX_NAMES - 1, "last"));
	ts_check(!ts_rocprofiler_name_put(TS_ROCPROFILER_MAX_NAMES, "beyond"));
	ts_check(!ts_rocprofiler_name_put(UINT64_MAX, "beyond"));
	ts_check(!ts_rocprofiler_name(UINT64_MAX));
	long_name = calloc(1, 70001);
	memset(long_name, 'x', 70000);
	ts_check(!ts_rocprofiler_name_put(10, long_name));
	/* Names have a limit in all. */
	long_name[60000] = '\0';
	for (uint64_t id = 1000; id < 1000 + TS_ROCPROFILER_NAMES_BYTES / 60000 + 2; id++)
		(void)ts_rocprofiler_name_put(id, long_name);
	ts_check(!ts_rocprofiler_name_put(11, "late"));
	free(long_name);
}

#define N_IDS 5000u

static void *put_all(void *unused)
{
	char name[32];

	for (uint64_t id = 0; id < N_IDS; id++) {
		snprintf(name, sizeof(name), "kernel_%u.kd", (unsigned)id);
		(void)ts_rocprofiler_name_put(id, name);
	}
	return unused;
}

TS_TEST(names_by_several_threads)
{
	pthread_t threads[4];
	char name[32];

	for (size_t i = 0; i < TS_ARRAY_LEN(threads); i++)
		ts_check_int(pthread_create(&threads[i], NULL, put_all, NULL), 0);
	for (size_t i = 0; i < TS_ARRAY_LEN(threads); i++)
		pthread_join(threads[i], NULL);
	for (uint64_t id = 0; id < N_IDS; id++) {
		snprintf(name, sizeof(name), "kernel_%u", (unsigned)id);
		ts_check_str(ts_rocprofiler_name(id), name);
	}
}
