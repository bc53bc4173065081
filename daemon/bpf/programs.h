/* SPDX-License-Identifier: Apache-2.0 */
/* The eBPF objects in the kernel: loaded, attached, detached. One thread at a time; libbpf. */
#pragma once

#include "daemon/bpf/kernel-config.h"

#define TS_BPF_MAX_LINKS 4096
#define TS_BPF_WHY_BYTES 512

struct bpf_link;
struct bpf_object;
struct btf;

/* Those that the daemon looks into. An object that has one has it in common with the others. */
enum ts_bpf_map {
	TS_BPF_MAP_TRACED,
	TS_BPF_MAP_LOST,
	TS_BPF_MAP_EVENTS,
	TS_BPF_MAP_AWAY,
	TS_BPF_MAP_DUE,
	TS_BPF_MAP_CALLING,
	TS_BPF_MAP_IN_FLIGHT,
	TS_BPF_MAP_RECLAIMING,
	TS_BPF_MAP_WAITING,
	TS_BPF_MAP_WORKING,
	TS_BPF_MAP_TALLIES,
	TS_BPF_N_MAPS
};

struct ts_bpf_programs {
	/* The first is that which follows processes; then by enum ts_bpf_program; then what the last of them has besides. */
	struct bpf_object *objects[1 + TS_BPF_N_PROGRAMS + 1];
	struct bpf_link **links;
	size_t n_links;
	uint32_t loaded;	/* bits of enum ts_bpf_program */
	int fds[TS_BPF_N_MAPS]; /* -1: no object has it */
	uint32_t
		attached; /* bits of what a kernel may lack (programs.c), as it was attached last */
	char why[TS_BPF_WHY_BYTES]; /* in one line, what is missing; empty: nothing */
};

/* A few words on what these types of a kernel lack of a thread's credentials and memory; NULL: they have all that events need. */
const char *ts_bpf_credentials_obstacle(const struct btf *types);

/* What stands in the way of all programs on this machine, or for this process, in a few words; NULL: nothing that is known. */
const char *ts_bpf_obstacle(void);

/* Loads those of `wanted` that can be; `loaded` and `why` say which. -ENOMEM. */
int ts_bpf_programs_load(struct ts_bpf_programs *programs, uint32_t wanted);
/* Attaches all that is loaded and that the kernel has, or nothing and says why by a negative errno. */
int ts_bpf_programs_attach(struct ts_bpf_programs *programs);
/* Puts into `why` what of it the kernel does not have; a program that has nothing left is not loaded. Once, after attaching. */
void ts_bpf_programs_report_absent(struct ts_bpf_programs *programs);
void ts_bpf_programs_detach(struct ts_bpf_programs *programs);
void ts_bpf_programs_deinit(struct ts_bpf_programs *programs);
