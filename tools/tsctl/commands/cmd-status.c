/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl status: prints whether a daemon runs and what it records. main.c runs it; proto/client asks
 * the daemon.
 */
#include "proto/abi/handshake.h"
#include "tools/tsctl/machine/live.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/screen/jsonout.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/tsctl.h"

#include <stdio.h>

/*
 * Fills in the status if there is no daemon. A missing daemon is an answer and not a failure of the
 * command.
 */
static void fill_absent(Ts__Rpc__Status *status, int r, char *text, size_t n_text)
{
	const char *why = r == -ENOENT	       ? "no such socket"
			  : r == -ECONNREFUSED ? "its daemon has ended"
					       : strerror(-r);

	snprintf(text, n_text, "%s: %s", ts_client_default_path(), why);
	TS_RPC_SET(status, running, 0);
	status->error = text;
	status->control_socket = (char *)ts_client_default_path();
}

static void print_line(const char *title, const char *text)
{
	printf("%-13s", title);
	ts_out_text(stdout, text);
	putchar('\n');
}

static void print_disk(const char *title, bool has_most, uint64_t n_bytes, uint64_t most)
{
	char text[TS_OUT_FIGURE_BYTES], text_most[TS_OUT_FIGURE_BYTES];

	printf("%-13s%s", title, ts_out_bytes(text, n_bytes));
	if (has_most)
		printf(" of %s", ts_out_bytes(text_most, most));
	putchar('\n');
}

/* Prints the capabilities that the service lacks, and the effect of each. */
static void print_capabilities(const Ts__Rpc__Status *status)
{
	bool any = false;

	for (size_t i = 0; i < status->n_capabilities; i++) {
		const Ts__Rpc__Capability *capability = status->capabilities[i];

		if (capability->present)
			continue;
		if (!any)
			puts("missing capabilities:");
		fputs("  ", stdout);
		ts_out_text(stdout, capability->name ? capability->name : "?");
		fputs(": ", stdout);
		ts_out_text(stdout, capability->cost ? capability->cost : "?");
		putchar('\n');
		any = true;
	}
}

static int print_status(const Ts__Rpc__Status *status)
{
	char text[TS_OUT_FIGURE_BYTES];

	if (!status->running) {
		printf("tracesmithd: not running (");
		ts_out_text(stdout, status->error ? status->error : "");
		puts(")\n"
		     "Recording works without it: `tsctl record` and a preloaded libtsinject.so start a\n"
		     "daemon of their own.");
		return ts_finish_output(TS_EXIT_OK);
	}
	fputs("tracesmithd: running, version ", stdout);
	ts_out_text(stdout, status->version ? status->version : "?");
	printf(", pid %u, up %s\n", status->pid, ts_out_duration(text, status->uptime_ns));
	print_line("mode:", status->mode ? status->mode : "?");
	print_line("control:",
		   status->control_socket ? status->control_socket : ts_client_default_path());
	print_line("inject:", status->inject_socket ? status->inject_socket : TS_INJECT_SOCKET);
	if (status->directory)
		print_line("directory:", status->directory);
	printf("sessions:    %u live, %s in all, %s refused\n", status->sessions_live,
	       ts_out_count(text, status->sessions_total),
	       ts_out_count((char[TS_OUT_FIGURE_BYTES]){0}, status->sessions_refused));
	if (status->has_system)
		print_line("other processes:",
			   status->system ? "calls recorded from outside" : "not recorded");
	if (status->system_missing)
		print_line("  missing:", status->system_missing);
	if (status->kernel_events)
		print_line("kernel:", *status->kernel_events ? status->kernel_events
							     : "no kernel events available");
	if (status->kernel_events_missing)
		print_line("  missing:", status->kernel_events_missing);
	print_capabilities(status);
	printf("written:     %s rows, %s\n", ts_out_count(text, status->rows_written),
	       ts_out_bytes((char[TS_OUT_FIGURE_BYTES]){0}, status->bytes_written));
	if (status->has_disk_bytes)
		print_disk("your traces:", status->has_disk_bytes_most, status->disk_bytes,
			   status->disk_bytes_most);
	if (status->has_disk_bytes_all)
		print_disk("all traces:", status->has_disk_bytes_all_most, status->disk_bytes_all,
			   status->disk_bytes_all_most);
	if (status->n_sessions) {
		putchar('\n');
		ts_live_print(status->n_sessions, status->sessions);
	}
	return ts_finish_output(TS_EXIT_OK);
}

struct asked {
	bool json;
};

static const struct ts_option command_options[] = {
	{"json", 'j', TS_OPTION_FLAG(struct asked, json), .is_letter_unmentioned = true,
	 .help = "print one JSON object"},
	{0},
};

static int run_status(int argc, char **argv)
{
	Ts__Rpc__Status absent = TS__RPC__STATUS__INIT;
	ts_cleanup(ts_client_freep) struct ts_client *client = NULL;
	Ts__Rpc__Answer *answer = NULL;
	const Ts__Rpc__Status *status = &absent;
	char text[256];
	struct ts_operands operands;
	struct asked asked = {0};
	int r;

	if (ts_options_parse(&ts_command_status, argc, argv, &asked, &operands) ||
	    ts_no_operands(&operands))
		return TS_EXIT_BAD;
	r = ts_client_connect(NULL, &client);
	if (r) {
		fill_absent(&absent, r, text, sizeof(text));
	} else {
		r = ts_client_status(client, &answer);
		if (r || answer->body_case != TS__RPC__ANSWER__BODY_STATUS) {
			ts_complain("the daemon at %s does not answer: %s",
				    ts_client_default_path(),
				    r ? ts_client_error(client) : "it sent something else");
			if (!r)
				ts__rpc__answer__free_unpacked(answer, NULL);
			return TS_EXIT_BAD;
		}
		status = answer->status;
	}
	r = asked.json ? ts_json_print(&status->base) : print_status(status);
	if (answer)
		ts__rpc__answer__free_unpacked(answer, NULL);
	return r;
}

const struct ts_command ts_command_status = {
	.name = "status",
	.summary = "print the daemon's state, sessions and missing capabilities",
	.is_minor = true,
	.text = "usage: tsctl status [--json]\n"
		"\n"
		"Ask the daemon at $TRACESMITH_CONTROL (default: /run/tracesmith/control.sock)\n"
		"for its state, for your sessions that it records, and for the Linux capabilities\n"
		"that a service lacks, with the effect of each. If no daemon runs, print that and\n"
		"exit with 0.\n"
		"\n",
	.example = "status",
	.help_column = 10,
	.is_help_narrow = true,
	.options = command_options,
	.run = run_status,
};
