/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel events for sessions. A hub loads the eBPF programs of its configuration once. The programs
 * are attached while there is a feed, and with `keep` also while there is none. A feed delivers the
 * events of one process and of its children that have no feed of their own.
 *
 * Any thread may call the functions of a hub. A feed belongs to one session, and one thread at a
 * time calls ts_kernel_feed_take() and ts_kernel_feed_tallies(). Nothing is pinned: when the daemon
 * dies, the kernel removes programs and maps.
 */
#pragma once

#include <sys/types.h>

#include "daemon/bpf/kernel-config.h"

struct ts_kernel_hub;
struct ts_kernel_feed;

/*
 * Loads the programs that can be loaded; ts_kernel_hub_missing() returns the reasons for the
 * others. A daemon that was built without eBPF has a hub too (hub-none.c), which has no program.
 * With `keep`, the programs stay attached while there is no feed, so that the first feed begins at
 * once. A negative errno: out of memory, or the thread or the ring could not be created.
 */
int ts_kernel_hub_new(const struct ts_kernel_config *config, bool keep,
		      struct ts_kernel_hub **ret_hub);
/* Frees the hub. The caller has freed all feeds before. NULL is accepted. */
void ts_kernel_hub_free(struct ts_kernel_hub *hub);

/* Returns the programs of the configuration that are available, as bits of enum ts_bpf_program. */
uint32_t ts_kernel_hub_programs(const struct ts_kernel_hub *hub);
/* Returns the configuration with which new feeds begin. The hub owns it. */
const struct ts_kernel_config *ts_kernel_hub_config(const struct ts_kernel_hub *hub);
/*
 * Returns one line with the programs that could not be loaded, and the reasons. NULL: no program is
 * missing. The hub owns the line.
 */
const char *ts_kernel_hub_missing(const struct ts_kernel_hub *hub);

/*
 * The process of a session and its owner. The kernel delivers events of the process and of its
 * children. If `uid` is not 0, it delivers an event only if all six ids of the thread are `uid` and
 * `gid` and the thread's memory is dumpable.
 */
struct ts_kernel_process {
	pid_t pid;
	uid_t uid;
	gid_t gid;
	uint64_t start_ticks; /* start time since boot: field 22 of /proc/PID/stat */
};

/*
 * Begins to watch a process. *ret_feed is NULL if no program is loaded. -EBUSY: all TS_BPF_SLOTS
 * slots are in use. -ENOMEM: no memory. Another errno: the programs could not be attached or the
 * kernel's maps have no room.
 */
int ts_kernel_feed_new(struct ts_kernel_hub *hub, const struct ts_kernel_process *process,
		       struct ts_kernel_feed **ret_feed);
/*
 * Changes the watched programs and thresholds of a feed, limited to the programs that the hub has.
 * If `config` has none of them, the feed watches nothing. While all feeds watch nothing, the
 * programs are detached. A negative errno: the programs could not be attached again.
 */
int ts_kernel_feed_change(struct ts_kernel_feed *feed, const struct ts_kernel_config *config);
/*
 * Stops watching. ts_kernel_feed_take() then returns the remaining events, with the intervals that
 * have not ended (their end_ns is 0). Idempotent.
 */
void ts_kernel_feed_end(struct ts_kernel_feed *feed);
/* Ends the feed if needed and frees it. NULL is fine. */
void ts_kernel_feed_free(struct ts_kernel_feed *feed);

/*
 * Returns the events since the previous call: whole events one after the other, 8-byte aligned.
 * Each event names a known eBPF program and has ts_kernel_event_bytes() bytes. The events stay
 * valid until the next call of this function. False: there is no event.
 */
bool ts_kernel_feed_take(struct ts_kernel_feed *feed, const void **ret_events, size_t *ret_n_bytes);

/*
 * Takes an event at its place in the memory that the kernel shares with the daemon. Returns false
 * if the event must come by ts_kernel_feed_take(). Must not wait for anything, because all readers
 * of events wait until it returns.
 */
typedef bool ts_kernel_take_fn(void *data, const struct ts_bpf_event *event);
/*
 * Reads the events that ts_kernel_feed_take() would return later, without a copy. The caller has
 * handled all events that ts_kernel_feed_take() has returned. The read ends when there is no event,
 * and when `take` returns false. Returns true if ts_kernel_feed_take() has an event now, and the
 * read may continue after it. Does nothing if the hub has other feeds: their events must not wait
 * for this feed. The thread that calls ts_kernel_feed_take() calls this function.
 */
bool ts_kernel_feed_read(struct ts_kernel_feed *feed, ts_kernel_take_fn *take, void *data);

/* Sum of the counted events of one thread and kind (bpf-event.h), since the feed began. */
struct ts_kernel_tally {
	struct ts_bpf_tally_key key;
	struct ts_bpf_tally sum;
};
/*
 * Returns the feed's tallies of all events so far. *ret_tallies belongs to the feed and is valid
 * until the next ts_kernel_feed_tallies() or ts_kernel_feed_end(). Returns 0 or -ENOMEM.
 */
int ts_kernel_feed_tallies(struct ts_kernel_feed *feed, const struct ts_kernel_tally **ret_tallies,
			   size_t *ret_n);

/*
 * Returns the bytes of memory that the feed holds. Call it from the thread that calls
 * ts_kernel_feed_take().
 */
uint64_t ts_kernel_feed_memory(struct ts_kernel_feed *feed);

/* Returns the size of an event, or 0 if no event has its program. */
size_t ts_kernel_event_bytes(const struct ts_bpf_event *event);

/*
 * Returns, by program, the number of events that were lost since the feed began, because the
 * kernel's maps or ring, or the feed, had no room.
 */
void ts_kernel_feed_losses(struct ts_kernel_feed *feed, uint64_t ret_lost[TS_BPF_N_PROGRAMS]);
