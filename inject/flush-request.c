/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends requests of other threads to the flush thread (flush.h). callbacks.c, rocprofiler-link.c
 * and shim.c call this file. This file uses memory words and futexes, and makes no CUPTI call.
 */
#include "inject/context.h"

#define WAKE_STEP_NS UINT64_C(5000000)

bool ts_flush_wake(struct ts_flush *flush)
{
	return ts_futex_wake(&flush->shim->control->flush_request, true);
}

void ts_flush_notify(struct ts_flush *flush, uint32_t *dirty)
{
	/*
	 * Pairs with wait_for_work() in flush.c, which stores `sleeps` and then loads the word. All
	 * four are sequentially consistent.
	 */
	__atomic_store_n(dirty, TS_DIRTY_UNTOLD, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&flush->sleeps, __ATOMIC_SEQ_CST) && !ts_flush_wake(flush))
		return;
	__atomic_store_n(dirty, TS_DIRTY, __ATOMIC_RELEASE);
}

/*
 * After a kernel's error, the calling thread waits until the vendor's library has delivered its
 * records, usually less than a millisecond. The wait happens once, and takes at most this long.
 */
#define FAULT_TIMEOUT_NS UINT64_C(200000000)

/*
 * True for errors of a context that a kernel caused. CUDA's driver and runtime and HIP use the same
 * numbers.
 */
static bool is_fault(int32_t result)
{
	return result == 700 || result == 702 || result == 710 || (result >= 714 && result <= 719);
}

void ts_flush_after_error(struct ts_flush *flush, int32_t result)
{
	if (!is_fault(result) ||
	    __atomic_exchange_n(&flush->shim->has_faulted, true, __ATOMIC_RELAXED))
		return;
	ts_flush_now(flush, TS_FLUSH_FAULT, FAULT_TIMEOUT_NS, FAULT_TIMEOUT_NS);
}

void ts_flush_now(struct ts_flush *flush, enum ts_flush_request request, uint64_t idle_ns,
		  uint64_t timeout_ns)
{
	uint64_t now = ts_clock_monotonic_ns(), moved_at = now;
	const uint64_t deadline = now + timeout_ns;
	uint32_t seen = __atomic_load_n(&flush->n_delivered, __ATOMIC_RELAXED), delivered, wanted;

	__atomic_fetch_or(&flush->requests, request, __ATOMIC_RELEASE);
	wanted = __atomic_add_fetch(&flush->asked, 1, __ATOMIC_ACQ_REL);
	do {
		/*
		 * The flush thread waits on flush_request, a futex word that only the daemon
		 * changes. A wake before that wait begins has no effect, so the loop repeats the
		 * wake every WAKE_STEP_NS.
		 */
		ts_futex_wake(&flush->shim->control->flush_request, true);
		if (ts_futex_wait_for(&flush->done, wanted, WAKE_STEP_NS))
			return;
		now = ts_clock_monotonic_ns();
		delivered = __atomic_load_n(&flush->n_delivered, __ATOMIC_RELAXED);
		if (delivered != seen) {
			seen = delivered;
			moved_at = now;
		}
	} while (now < deadline && now - moved_at < idle_ns);
}
