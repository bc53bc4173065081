/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another tool of rocprofiler-sdk, for tests that have it beside the shim's. It counts the kernels,
 * the copies and the launches that the SDK delivers to it. As AMD's examples do, it stands aside if
 * it is not the first tool. The counts are one line of text in the file $TS_TOOL.<pid>.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "proto/abi/vendor/rocprofiler.h"

static uint64_t context, buffer, n_kernels, n_copies, n_launches;

#define PROTOTYPE(name, arguments) extern int name arguments __attribute__((weak));
TS_ROCPROFILER_FUNCTIONS(PROTOTYPE)

static void on_buffer(uint64_t of_context, uint64_t of_buffer,
		      struct ts_rocprofiler_record_header **headers, size_t n_headers, void *data,
		      uint64_t n_dropped)
{
	(void)of_context;
	(void)of_buffer;
	(void)data;
	(void)n_dropped;
	for (size_t i = 0; i < n_headers; i++) {
		n_kernels += headers[i]->kind == TS_ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH;
		n_copies += headers[i]->kind == TS_ROCPROFILER_BUFFER_TRACING_MEMORY_COPY;
		n_launches += headers[i]->kind == TS_ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API;
	}
}

static void check(int status)
{
	if (status) {
		fprintf(stderr, "rocprofiler-tool: error %d\n", status);
		exit(9);
	}
}

static int initialize(void (*end)(struct ts_rocprofiler_client_id client), void *data)
{
	(void)end;
	(void)data;
	check(rocprofiler_create_context(&context));
	check(rocprofiler_create_buffer(context, 65536, 32768,
					TS_ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_buffer, NULL,
					&buffer));
	check(rocprofiler_configure_buffer_tracing_service(
		context, TS_ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, NULL, 0, buffer));
	check(rocprofiler_configure_buffer_tracing_service(
		context, TS_ROCPROFILER_BUFFER_TRACING_MEMORY_COPY, NULL, 0, buffer));
	check(rocprofiler_configure_buffer_tracing_service(
		context, TS_ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API, NULL, 0, buffer));
	check(rocprofiler_start_context(context));
	return 0;
}

static void finalize(void *data)
{
	char path[4096];
	FILE *file;

	(void)data;
	check(rocprofiler_flush_buffer(buffer));
	snprintf(path, sizeof(path), "%s.%d", getenv("TS_TOOL") ?: "tool", (int)getpid());
	file = fopen(path, "w");
	if (!file) {
		perror(path);
		exit(9);
	}
	fprintf(file, "%llu %llu %llu\n", (unsigned long long)n_kernels,
		(unsigned long long)n_copies, (unsigned long long)n_launches);
	fclose(file);
}

__attribute__((visibility("default"))) struct ts_rocprofiler_tool_result *rocprofiler_configure(
	uint32_t version, const char *version_text, uint32_t priority,
	struct ts_rocprofiler_client_id *client);

struct ts_rocprofiler_tool_result *rocprofiler_configure(uint32_t version, const char *version_text,
							 uint32_t priority,
							 struct ts_rocprofiler_client_id *client)
{
	static struct ts_rocprofiler_tool_result result = {
		.size = sizeof(result),
		.initialize = initialize,
		.finalize = finalize,
	};

	(void)version;
	(void)version_text;
	client->name = "another tool";
	return priority ? NULL : &result;
}
