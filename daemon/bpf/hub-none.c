/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub.h for a daemon that was built without eBPF, instead of hub.c: every requested program is
 * missing, and ts_kernel_hub_missing() returns the reason.
 */
#include "daemon/bpf/hub.h"

#include <stdio.h>

struct ts_kernel_hub {
	struct ts_kernel_config config;
	char missing[192];
};

int ts_kernel_hub_new(const struct ts_kernel_config *config, bool keep,
		      struct ts_kernel_hub **ret_hub)
{
	struct ts_kernel_hub *hub = calloc(1, sizeof(*hub));
	char names[96];

	if (!hub)
		return -ENOMEM;
	hub->config = *config;
	ts_kernel_config_names(config->programs & ~(1u << TS_BPF_SAMPLES), names, sizeof(names));
	if (*names)
		snprintf(hub->missing, sizeof(hub->missing),
			 "%s: this tracesmithd has no eBPF; it needs x86-64, libbpf and clang",
			 names);
	*ret_hub = hub;
	return 0;
}

void ts_kernel_hub_free(struct ts_kernel_hub *hub)
{
	free(hub);
}

uint32_t ts_kernel_hub_programs(const struct ts_kernel_hub *hub)
{
	return hub->config.programs & 1u << TS_BPF_SAMPLES;
}

const struct ts_kernel_config *ts_kernel_hub_config(const struct ts_kernel_hub *hub)
{
	return &hub->config;
}

const char *ts_kernel_hub_missing(const struct ts_kernel_hub *hub)
{
	return *hub->missing ? hub->missing : NULL;
}

int ts_kernel_feed_new(struct ts_kernel_hub *hub, const struct ts_kernel_process *process,
		       struct ts_kernel_feed **ret_feed)
{
	*ret_feed = NULL;
	return 0;
}

int ts_kernel_feed_change(struct ts_kernel_feed *feed, const struct ts_kernel_config *config)
{
	return 0;
}

void ts_kernel_feed_end(struct ts_kernel_feed *feed)
{
}

void ts_kernel_feed_free(struct ts_kernel_feed *feed)
{
}

bool ts_kernel_feed_take(struct ts_kernel_feed *feed, const void **ret_events, size_t *ret_n_bytes)
{
	return false;
}

bool ts_kernel_feed_read(struct ts_kernel_feed *feed, ts_kernel_take_fn *take, void *data)
{
	return false;
}

int ts_kernel_feed_tallies(struct ts_kernel_feed *feed, const struct ts_kernel_tally **ret_tallies,
			   size_t *ret_n)
{
	*ret_n = 0;
	return 0;
}

uint64_t ts_kernel_feed_memory(struct ts_kernel_feed *feed)
{
	return 0;
}

size_t ts_kernel_event_bytes(const struct ts_bpf_event *event)
{
	return 0;
}

void ts_kernel_feed_losses(struct ts_kernel_feed *feed, uint64_t ret_lost[TS_BPF_N_PROGRAMS])
{
	memset(ret_lost, 0, TS_BPF_N_PROGRAMS * sizeof(*ret_lost));
}
