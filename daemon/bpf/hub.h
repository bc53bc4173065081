/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel events for sessions. A hub has the eBPF programs that were wished for, loaded once; they are attached only while
 * there is a feed. A feed is one process's events, children of it that have no feed of their own included.
 *
 * Any thread may call; a feed belongs to one session and is taken from by one thread. Nothing is pinned: when the daemon
 * dies, the kernel takes everything away.
 */
#pragma once

#include <sys/types.h>

#include "daemon/bpf/kernel-config.h"

struct ts_kernel_hub;
struct ts_kernel_feed;

/*
 * Loads what can be loaded; what cannot, is told by ts_kernel_hub_missing(). A daemon that was built without eBPF has a hub
 * too, which misses all. `keep`: the programs stay attached when there is no feed, so that a first one begins at once. A
 * negative errno: memory or a thread could not be had.
 */
int ts_kernel_hub_new(const struct ts_kernel_config *config, bool keep,
		      struct ts_kernel_hub **ret_hub);
/* All feeds are freed before. NULL is fine. */
void ts_kernel_hub_free(struct ts_kernel_hub *hub);

/* Those of the configuration that are there, as bits of enum ts_bpf_program. */
uint32_t ts_kernel_hub_programs(const struct ts_kernel_hub *hub);
/* What new feeds begin with. */
const struct ts_kernel_config *ts_kernel_hub_config(const struct ts_kernel_hub *hub);
/* In one line, what is not and why; NULL: all are. */
const char *ts_kernel_hub_missing(const struct ts_kernel_hub *hub);

/*
 * The process of a session and its owner. The kernel delivers events of the process, and of its children, while all six ids of the
 * thread are `uid` and `gid` and its memory is dumpable; to a uid of 0 it delivers all.
 */
struct ts_kernel_process {
	pid_t pid;
	uid_t uid;
	gid_t gid;
	uint64_t start_ticks; /* its start since boot: field 22 of /proc/PID/stat */
};

/*
 * Begins to watch a process. *ret_feed is NULL where there is nothing to watch it with. -EBUSY: too many at once. Another
 * errno: the programs could not be attached.
 */
int ts_kernel_feed_new(struct ts_kernel_hub *hub, const struct ts_kernel_process *process,
		       struct ts_kernel_feed **ret_feed);
/*
 * From now on these, with these thresholds, of those that the hub has; none: nothing is watched. The programs are attached to
 * nothing while all feeds watch nothing. A negative errno: they could not be attached again.
 */
int ts_kernel_feed_change(struct ts_kernel_feed *feed, const struct ts_kernel_config *config);
/* Ends to watch. All that was seen can be taken then, with intervals that had not ended (their end_ns is 0). Idempotent. */
void ts_kernel_feed_end(struct ts_kernel_feed *feed);
void ts_kernel_feed_free(struct ts_kernel_feed *feed);

/*
 * What came since it was last asked: whole events one after the other, 8-byte aligned, of known programs and right sizes.
 * They stay there until the next call. False: nothing did.
 */
bool ts_kernel_feed_take(struct ts_kernel_feed *feed, const void **ret_events, size_t *ret_n_bytes);

/* What is counted: of a thread and a kind (bpf-event.h), since the feed began. */
struct ts_kernel_tally {
	struct ts_bpf_tally_key key;
	struct ts_bpf_tally sum;
};
/* All there are so far; *ret_tallies is the feed's, up to the next call. -ENOMEM. */
int ts_kernel_feed_tallies(struct ts_kernel_feed *feed, const struct ts_kernel_tally **ret_tallies,
			   size_t *ret_n);

/* Bytes of memory that the feed holds. By who takes from it. */
uint64_t ts_kernel_feed_memory(struct ts_kernel_feed *feed);

/* Of an event's program. */
size_t ts_kernel_event_bytes(uint32_t program);

/* How many were lost since the feed began: in the kernel's maps and ring, and for want of room in the feed. */
uint64_t ts_kernel_feed_lost(struct ts_kernel_feed *feed, unsigned program);
