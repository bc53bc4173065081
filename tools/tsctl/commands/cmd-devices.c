/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl devices: prints the GPUs that a recorded program can use here, and the tracing interfaces
 * that are available. main.c runs it; machine/gpu.c finds the GPUs.
 */
#include "proto/abi/base.h"
#include "replay/vgpu/vgpu.h"
#include "tools/tsctl/machine/coverage.h"
#include "tools/tsctl/machine/gpu.h"
#include "tools/tsctl/machine/kernel-events-check.h"
#include "tools/tsctl/machine/paths.h"
#include "tools/tsctl/machine/seccomp.h"
#include "tools/tsctl/machine/vendors.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/screen/jsonout.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/table.h"
#include "tools/tsctl/tsctl.h"

#include <stdio.h>

static const char virtual_note[] = "The virtual GPU computes kernels on the CPU, from their PTX. "
				   "Their durations come from a model of the device, not from "
				   "this machine.";

static void fill_shapes(struct ts_pool *pool, Ts__Rpc__DevicesInfo *info)
{
	const struct ts_vgpu_shape *shape;
	size_t n = 0;

	while (ts_vgpu_shape_at(n))
		n++;
	info->virtual_shapes = ts_pool_alloc(pool, n + 1, sizeof(*info->virtual_shapes));
	for (size_t i = 0; i < n; i++) {
		Ts__Rpc__VirtualShape *message = ts_pool_alloc(pool, 1, sizeof(*message));
		char bytes[TS_OUT_FIGURE_BYTES];

		shape = ts_vgpu_shape_at(i);
		ts__rpc__virtual_shape__init(message);
		message->spec = ts_pool_copy(pool, shape->key);
		message->description =
			ts_pool_printf(pool, "%s: compute capability %u.%u, %u SMs, %s",
				       shape->name, shape->cc_major, shape->cc_minor, shape->n_sm,
				       ts_out_bytes(bytes, shape->memory_bytes));
		info->virtual_shapes[info->n_virtual_shapes++] = message;
	}
	info->virtual_note = (char *)virtual_note;
}

static void print_devices(const Ts__Rpc__DevicesInfo *info)
{
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	char bytes[TS_OUT_FIGURE_BYTES];

	if (!info->n_devices || ts_table_new("rlrrl", &table))
		return;
	ts_table_addf(table, "DEVICE");
	ts_table_addf(table, "CC");
	ts_table_addf(table, "SMS");
	ts_table_addf(table, "MEMORY");
	ts_table_addf(table, "NAME");
	for (size_t i = 0; i < info->n_devices; i++) {
		const Ts__Rpc__DeviceInfo *device = info->devices[i];

		ts_table_addf(table, "%u", device->device);
		ts_table_addf(table, "%s",
			      device->compute_capability ? device->compute_capability : "?");
		ts_table_addf(table, "%u", device->multiprocessors);
		ts_table_addf(table, "%s", ts_out_bytes(bytes, device->memory_bytes));
		ts_table_addf(table, "%s", device->name ? device->name : "unknown");
	}
	ts_table_print(table, stdout, 2, false);
}

static void print_driver(const Ts__Rpc__DevicesInfo *info)
{
	if (info->driver) {
		fputs("Driver: ", stdout);
		ts_out_text(stdout, info->driver);
		if (info->has_driver_version)
			printf(", CUDA %u.%u", info->driver_version / 1000,
			       info->driver_version % 1000 / 10);
		if (info->driver_error) {
			fputs("; ", stdout);
			ts_out_text(stdout, info->driver_error);
		}
		putchar('\n');
	} else {
		printf("Driver: none here (no libcuda.so.1)%s\n",
		       ts_path_has_vgpu() ? "; `tsctl record --vgpu` needs none" : "");
	}
	if (info->driver && !info->n_devices && !info->driver_error)
		puts("  the driver finds no device");
	print_devices(info);
}

static void print_cupti(const Ts__Rpc__CuptiInfo *cupti)
{
	if (cupti->found) {
		fputs("CUPTI:  ", stdout);
		ts_out_text(stdout, cupti->path ? cupti->path : "found");
		printf(", version %u\n", cupti->version);
	} else {
		puts("CUPTI:  not on the loader's path; a program uses the copy beside its CUDA runtime;\n"
		     "        TRACESMITH_CUPTI names another copy");
	}
	if (cupti->injection_path) {
		fputs("Held:   CUDA_INJECTION64_PATH is set to ", stdout);
		ts_out_text(stdout, cupti->injection_path);
		puts(": programs that start with it are traced by that tool, not by TraceSmith");
	}
}

static void print_hip(const Ts__Rpc__HipInfo *hip)
{
	bool has_tables = false, has_samples = false, by_sdk = false;

	if (!hip->path) {
		puts("HIP:    no libamdhip64 on the loader's path");
		return;
	}
	for (size_t i = 0; i < hip->n_interfaces; i++) {
		has_tables |= !strcmp(hip->interfaces[i], "hip_tables");
		has_samples |= !strcmp(hip->interfaces[i], "hip_events");
		by_sdk |= !strcmp(hip->interfaces[i], "rocprofiler_sdk");
	}
	fputs("HIP:    ", stdout);
	ts_out_text(stdout, hip->path);
	printf(", recorded by its %s%s\n", has_tables ? "dispatch tables" : "exported functions",
	       by_sdk	     ? ", with times of rocprofiler-sdk"
	       : has_samples ? ", with times of a sample of the GPU's work"
			     : "");
}

static void print_events(const Ts__Rpc__KernelEventsInfo *events)
{
	ts_out_text(stdout, events->missing ? events->missing : "yes");
	if (events->absent) {
		fputs(", without ", stdout);
		ts_out_text(stdout, events->absent);
	}
	putchar('\n');
}

static void print_kernel(const Ts__Rpc__DevicesInfo *info)
{
	printf("Kernel: events for `tsctl record --kernel-events`:%s\n",
	       info->n_kernel_events ? "" : " unknown (no tracesmithd answers)");
	for (size_t i = 0; i < info->n_kernel_events; i++) {
		const Ts__Rpc__KernelEventsInfo *events = info->kernel_events[i];

		printf("  %-8s ", events->name);
		print_events(events);
	}
	if (info->system) {
		fputs("System: calls of processes without libtsinject.so, for `tsctl record "
		      "--system`: ",
		      stdout);
		print_events(info->system);
	}
}

static void print_shapes(const Ts__Rpc__DevicesInfo *info)
{
	puts("\nVirtual GPUs, for `tsctl record --vgpu=SPEC` (SPEC:N makes N devices, a comma joins SPECs,\n"
	     "clock=host sets durations by this machine instead of by the model):");
	for (size_t i = 0; i < info->n_virtual_shapes; i++)
		printf("  %-8s %s\n", info->virtual_shapes[i]->spec,
		       info->virtual_shapes[i]->description);
	printf("Settings for all devices of a SPEC, with example values "
	       "(h200:2,link=25GB/s):\n%s%s\n",
	       ts_vgpu_spec_help, virtual_note);
}

struct asked {
	bool json;
	bool coverage;
};

static const struct ts_option command_options[] = {
	{"coverage", 0, TS_OPTION_FLAG(struct asked, coverage),
	 .help = "list the vendors' entry points: intercepted, passed or unknown"},
	{"json", 'j', TS_OPTION_FLAG(struct asked, json), .is_letter_unmentioned = true,
	 .help = "print one JSON object"},
	{0},
};

static int run_devices(int argc, char **argv)
{
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = TS_TSCTL_POOL;
	Ts__Rpc__DevicesInfo info = TS__RPC__DEVICES_INFO__INIT;
	struct ts_operands operands;
	struct asked asked = {0};

	if (ts_options_parse(&ts_command_devices, argc, argv, &asked, &operands) ||
	    ts_no_operands(&operands))
		return TS_EXIT_BAD;
	if (asked.coverage) {
		ts_coverage_fill(&pool, &info);
		if (asked.json)
			return ts_json_print(&info.base);
		ts_coverage_print(&info);
		return ts_finish_output(TS_EXIT_OK);
	}
	ts_gpu_fill_driver(&pool, &info);
	ts_gpu_fill_cupti(&pool, &info);
	ts_gpu_fill_hip(&pool, &info);
	ts_kernel_fill(&pool, &info);
	ts_seccomp_fill(&pool, &info);
	ts_vendors_fill(&pool, &info);
	if (ts_path_has_vgpu())
		fill_shapes(&pool, &info);
	if (asked.json)
		return ts_json_print(&info.base);
	print_driver(&info);
	print_cupti(info.cupti);
	print_hip(info.hip);
	print_kernel(&info);
	ts_seccomp_print(info.seccomp);
	ts_vendors_print(&info);
	if (ts_path_has_vgpu())
		print_shapes(&info);
	return ts_finish_output(TS_EXIT_OK);
}

const struct ts_command ts_command_devices = {
	.name = "devices",
	.summary = "list real and virtual GPUs, the driver and CUPTI",
	.is_minor = true,
	.text = "usage: tsctl devices [--coverage] [--json]\n"
		"\n"
		"List the GPUs, the driver, the CUPTI and the HIP of programs that start here,\n"
		"and another tool that holds CUPTI. List the other vendors that can be recorded,\n"
		"and whether that was tried on their own libraries. List the shapes of the\n"
		"virtual GPU and the kernel events that can be recorded. Print whether a seccomp\n"
		"filter is in force, and the system calls that TraceSmith then makes.\n"
		"\n",
	.example = "devices",
	.help_column = 15,
	.is_help_narrow = true,
	.options = command_options,
	.run = run_devices,
};
