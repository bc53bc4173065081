/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the modules of the CUPTI facade. The facade has one state, as CUPTI has: a process has
 * one subscriber, one set of enabled kinds, and one pair of buffer callbacks.
 *
 *     api.h             the exported functions
 *     cupti-hooks.c     finds libcuda's hooks
 *     attach.c          attaches the sink while it is needed
 *     subscribe.c       subscribes and unsubscribes, then updates the attachment
 *     callback.c        the subscriber, its enabled ids, its calls
 *     activity-calls.c  enables kinds, flushes, then updates the attachment
 *     kinds.c           recorded kinds, attributes, external correlation ids
 *     cupti-record.c    converts the sink's reports to records
 *     cupti-buffer.c    the client's buffers: reserve, complete, deliver
 *     cupti-clock.c     converts the device's clock to the client's
 *     ident.c           version, names, ids
 *     cupti-refused.c   exported functions that are refused by name
 *     face.c            the parts that differ between vendors
 *     find-libcuda.c    finds the process's copy of libcuda
 *
 * Locks, outermost first: config_lock (attach.c) or delivery (cupti-buffer.c), the list of buffers,
 * one buffer. The clock's lock is never nested with others. No lock is held while the client is
 * called, with two exceptions: delivery in its completion callback, and the clock's lock in its
 * timestamp callback. No lock is held while draining.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/abi/vendor/cupti.h"
#include "proto/abi/vendor/cupti_activity.h"
#include "proto/abi/vendor/cupti_cbid.h"
#include "tools/vgpu/cupti/face.h"
#include "tools/vgpu/hooks.h"

/*
 * Every failing export returns through this function, which stores the thread's error for
 * cuptiGetLastError.
 */
uint32_t ts_cupti_result(uint32_t result);

/*
 * Sets of callback ids, read on every call without a lock. Relaxed, without a pair: a change may
 * take effect late.
 */
#define TS_CUPTI_SET_WORDS ((TS_CUPTI_DRIVER_CBID_SIZE + 63) / 64)

struct ts_cupti_set {
	_Atomic uint64_t words[TS_CUPTI_SET_WORDS];
};

static inline bool ts_cupti_set_has(const struct ts_cupti_set *set, uint32_t id)
{
	return id < TS_CUPTI_SET_WORDS * 64 &&
	       atomic_load_explicit(&set->words[id / 64], memory_order_relaxed) >> (id % 64) & 1;
}

void ts_cupti_set_put(struct ts_cupti_set *set, uint32_t id, bool present);
void ts_cupti_set_fill(struct ts_cupti_set *set, bool present);

/* Returns the number of ids in a domain; 0 for a domain without ids. */
uint32_t ts_cupti_domain_size(uint32_t domain);

/* cupti-hooks.c */
const struct ts_vgpu_hooks *ts_cupti_find_hooks(
	void);					  /* find-libcuda.c; the unit test has its own */
const struct ts_vgpu_hooks *ts_cupti_hooks(void); /* NULL: no virtual GPU */

/* attach.c */
uint32_t ts_cupti_update_attachment(void); /* call it after any change of enabled ids */

/* callback.c */
bool ts_cupti_subscribed(void);
/* Sets the only subscriber. Fails if there is one; its name is copied to `params`. */
uint32_t ts_cupti_subscriber_put(ts_cupti_callback_fn callback, void *userdata,
				 const struct ts_cupti_subscriber_params *params);
void ts_cupti_subscriber_clear(void);
void *ts_cupti_subscriber(void); /* its handle */
bool ts_cupti_is_subscriber(const void *handle);
void ts_cupti_unsubscribe_all(void);
void ts_cupti_callback_api(uint32_t site, struct ts_vgpu_api *call);
void ts_cupti_callback_resource(const struct ts_vgpu_resource_event *event);
void ts_cupti_callback_wait(const struct ts_vgpu_wait_event *event);

/* kinds.c */
/* Each returns CUPTI's error or sets the switch. The caller updates the attachment. */
uint32_t ts_cupti_switch_kind(uint32_t kind, bool enable);
uint32_t ts_cupti_switch_context(void *context, uint32_t kind, bool enable);
uint32_t ts_cupti_switch_api(uint32_t domain, uint32_t cbid, bool enable);
bool ts_cupti_kind_enabled(uint32_t kind, uint32_t context_id);
bool ts_cupti_any_kind_enabled(void);
bool ts_cupti_api_recorded(uint32_t domain, uint32_t cbid);
bool ts_cupti_latency_timestamps(void);
bool ts_cupti_buffers_come_zeroed(void);
bool ts_cupti_buffer_per_thread(void);
void ts_cupti_activity_reset(void);
/* Calls fn for the top id of each of the calling thread's external correlation stacks. */
void ts_cupti_each_external_id(void (*fn)(uint32_t kind, uint64_t id, uint32_t correlation_id),
			       uint32_t correlation_id);

/* cupti-record.c */
extern const struct ts_vgpu_sink ts_cupti_sink;
void ts_cupti_record_devices(void);
void ts_cupti_record_contexts(void);
void ts_cupti_record_streams(void);

/* cupti-buffer.c */
struct ts_cupti_buffer;

struct ts_cupti_slot {
	struct ts_cupti_buffer *buffer;
	/*
	 * Room for the newest CUPTI's record of the kind: in the buffer, zeroed, or from the client
	 * if the client promises zeros. If this face's record is shorter, the thread's own room.
	 */
	void *record;
	uint32_t offset; /* offset of the record, for ts_cupti_buffer_finish() */
};

bool ts_cupti_buffers_registered(void);
/*
 * Reserves room for a record. If true, the buffer is locked until commit, and the caller may only
 * fill the record. If false, a dropped record was counted.
 */
bool ts_cupti_buffer_reserve(uint32_t kind, struct ts_cupti_slot *ret_slot);
/*
 * If `pending`, the caller sets the record's times later and then calls ts_cupti_buffer_finish().
 * The buffer's struct stays valid until then.
 */
void ts_cupti_buffer_commit(const struct ts_cupti_slot *slot, bool pending);
/* Locks a pending record for writing. NULL: the buffer was already delivered. */
void *ts_cupti_buffer_open(struct ts_cupti_buffer *buffer, uint32_t offset);
void ts_cupti_buffer_close(struct ts_cupti_buffer *buffer);
/*
 * Unlocks the buffer when the record is complete; replaces ts_cupti_buffer_close(). Also drops the
 * record's reference to the buffer, so the caller must not use the buffer afterwards.
 */
void ts_cupti_buffer_finish(struct ts_cupti_buffer *buffer);
bool ts_cupti_buffers_pending(void);
/* True inside the client's completion callback of this thread. */
bool ts_cupti_buffers_delivering(void);
uint32_t ts_cupti_buffers_flush(bool forced);
void ts_cupti_buffers_reset(void);

/* cupti-clock.c */
uint64_t ts_cupti_clock_now(void);
/* Converts times of the device's clock; zeros stay zeros. */
void ts_cupti_clock_convert(uint64_t *times_ns, size_t n);
void ts_cupti_clock_set(ts_cupti_timestamp_fn callback); /* NULL: CLOCK_REALTIME */

/* ident.c */
uint32_t ts_cupti_thread_id(void);
uint32_t ts_cupti_process_id(void);
void ts_cupti_thread_id_reset(void);
const char *ts_cupti_callback_name(uint32_t domain, uint32_t cbid);
