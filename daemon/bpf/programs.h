/* SPDX-License-Identifier: Apache-2.0 */
/* Loads, attaches and detaches the eBPF objects by libbpf, for hub.c. Not thread-safe. */
#pragma once

#include "daemon/bpf/kernel-config.h"

#define TS_BPF_MAX_LINKS 4096
#define TS_BPF_WHY_BYTES 512

struct bpf_link;
struct bpf_object;
struct btf;

/* Maps that the daemon reads or writes. All objects that have one of these maps share it. */
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
	TS_BPF_MAP_LANES,
	TS_BPF_MAP_LANE_EVENTS,
	TS_BPF_N_MAPS
};

struct ts_bpf_programs {
	/*
	 * First the object that adds child processes and removes processes that end, then one for
	 * each enum ts_bpf_program, then the jobs object, which belongs to TS_BPF_DRIVER.
	 */
	struct bpf_object *objects[1 + TS_BPF_N_PROGRAMS + 1];
	struct bpf_link **links;
	size_t n_links;
	uint32_t loaded;	/* bits of enum ts_bpf_program */
	int fds[TS_BPF_N_MAPS]; /* -1: no loaded object has the map */
	size_t n_cpus;		/* possible CPUs; each has a lane */
	/*
	 * The last attach sets a bit for each optional part (programs.c) that it attached; some
	 * kernels lack these parts.
	 */
	uint32_t attached;
	/* one line that lists the missing programs with reasons; empty: none is missing */
	char why[TS_BPF_WHY_BYTES];
};

/*
 * Returns in a few words the part of a thread's credentials and memory that the types of a kernel
 * lack. NULL: the types have everything that events need. The text is constant.
 */
const char *ts_bpf_credentials_obstacle(const struct btf *types);

/*
 * Returns in a few words the obstacle for all programs on this machine or in this process. NULL: no
 * known obstacle. The text is constant.
 */
const char *ts_bpf_obstacle(void);

/*
 * Loads the programs of `wanted` that the kernel accepts. `loaded` has the loaded programs, `why`
 * the reasons for the others. Returns 0, or -ENOMEM.
 */
int ts_bpf_programs_load(struct ts_bpf_programs *programs, uint32_t wanted);
/*
 * Attaches every loaded program that the kernel has. If one fails for another reason, detaches all
 * and returns a negative errno.
 */
int ts_bpf_programs_attach(struct ts_bpf_programs *programs);
/*
 * Adds to `why` the parts that the kernel lacks. If a program has no part left, its bit in `loaded`
 * is cleared. Call it once, after the first attach.
 */
void ts_bpf_programs_report_absent(struct ts_bpf_programs *programs);
/* Detaches all programs; they stay loaded. */
void ts_bpf_programs_detach(struct ts_bpf_programs *programs);
/* Detaches and unloads all programs; also after a failed load. */
void ts_bpf_programs_deinit(struct ts_bpf_programs *programs);
