/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel events of the server: starts the hub (daemon/bpf), checks the events that a request names,
 * and adds metadata to traces. server.c, control.c and recording/ call this module.
 */
#include <stdio.h>

#include "daemon/serve/loop/server.h"
#include "daemon/util/daemon-error.h"

int ts_server_open_kernel(struct ts_server *server)
{
	const struct ts_kernel_config *config = &server->options.kernel_events;
	int r;

	if (!config->programs)
		return 0;
	/*
	 * A recording keeps its programs attached, so that its first session begins at once. A
	 * service may run for days without a session, so it detaches the programs meanwhile.
	 */
	r = ts_kernel_hub_new(config, server->options.mode == TS_SERVER_RECORD, &server->kernel);
	if (r)
		return ts_error_trace(r);
	if (ts_kernel_hub_missing(server->kernel))
		ts_log(TS_LOG_WARNING, "kernel events are missing: %s",
		       ts_kernel_hub_missing(server->kernel));
	return 0;
}

int ts_server_kernel_config(const struct ts_server *server, const char *text,
			    struct ts_kernel_config *ret_config, char why[TS_SERVER_WHY_BYTES])
{
	const struct ts_kernel_hub *hub = server->kernel;
	char names[96];
	uint32_t missing;

	if (ts_kernel_config_parse(text, ret_config, why, TS_SERVER_WHY_BYTES))
		return -EINVAL;
	missing = ret_config->programs & ~(hub ? ts_kernel_hub_programs(hub) : 0);
	if (!missing)
		return 0;
	ts_kernel_config_names(missing, names, sizeof(names));
	snprintf(
		why, TS_SERVER_WHY_BYTES,
		"the daemon was started without these kernel events: %s; start it with --kernel-events",
		names);
	return -ENOTSUP;
}

int ts_server_describe_kernel(const struct ts_server *server, struct ts_recording *recording)
{
	uint32_t programs, counted;
	const char *missing;
	char names[96];
	int r;

	if (!server->kernel)
		return 0;
	missing = ts_kernel_hub_missing(server->kernel);
	programs = ts_kernel_hub_programs(server->kernel);
	counted = programs & ts_kernel_hub_config(server->kernel)->counted;
	ts_kernel_config_names(programs & ~counted, names, sizeof(names));
	r = ts_sbt_writer_metadata(recording->writer, TS_METADATA_KERNEL_EVENTS, names);
	ts_kernel_config_names(counted, names, sizeof(names));
	if (!r && counted)
		r = ts_sbt_writer_metadata(recording->writer, TS_METADATA_KERNEL_EVENTS_COUNTED,
					   names);
	if (!r && missing)
		r = ts_sbt_writer_metadata(recording->writer, TS_METADATA_KERNEL_EVENTS_MISSING,
					   missing);
	return r;
}
