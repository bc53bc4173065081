/* SPDX-License-Identifier: Apache-2.0 */
/* The eBPF objects in the kernel: loaded, attached, detached. One thread at a time; libbpf. */
#pragma once

#include "daemon/bpf/wish.h"

#define TS_BPF_MAX_LINKS 4096
#define TS_BPF_WHY_BYTES 512

struct bpf_link;
struct bpf_object;

struct ts_bpf_programs {
	/* The first is that which follows processes; then by enum ts_bpf_program. */
	struct bpf_object *objects[1 + TS_BPF_N_PROGRAMS];
	struct bpf_link **links;
	size_t n_links;
	uint32_t loaded; /* bits of enum ts_bpf_program */
	int traced_fd, lost_fd, events_fd, away_fd, due_fd, calling_fd, in_flight_fd;
	char why[TS_BPF_WHY_BYTES]; /* in one line, what is missing; empty: nothing */
};

/* Loads those of `wanted` that can be; `loaded` and `why` say which. -ENOMEM. */
int ts_bpf_programs_load(struct ts_bpf_programs *programs, uint32_t wanted);
/* Attaches all that is loaded, or nothing and says why by a negative errno. */
int ts_bpf_programs_attach(struct ts_bpf_programs *programs);
void ts_bpf_programs_detach(struct ts_bpf_programs *programs);
void ts_bpf_programs_deinit(struct ts_bpf_programs *programs);
