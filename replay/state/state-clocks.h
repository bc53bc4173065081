/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error bounds of the times in a trace, from its clock snapshots. They state how well several
 * processes and devices align on one axis. A merge aligns sessions of different machines by
 * CLOCK_REALTIME. The bounds of such sessions include the error of the conversion to
 * CLOCK_REALTIME. They do not include the offset between the CLOCK_REALTIMEs of two machines,
 * because no trace records it.
 */
#pragma once

#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ts_clocks {
	uint64_t host_ns; /* error of a host time, in the session with the largest one */
	/*
	 * Error of a device time within its process. Larger than host_ns if the vendor's clock was
	 * converted.
	 */
	uint64_t device_ns;
	/*
	 * If two times of different sessions differ by more than this, their order in the trace is
	 * their true order. 0: one session only.
	 */
	uint64_t between_ns;
	uint32_t n_sessions;
	bool is_damaged; /* damaged blocks were left out; they may hold larger errors */
};

/*
 * Computes the bounds. `session` 0: all. Returns -ENOMEM or the errors of sbt/reader.h. Damaged
 * blocks are left out.
 */
int ts_clocks_read(struct ts_sbt_reader *reader, uint32_t session, struct ts_clocks *ret_clocks);

/*
 * True if a device of the session (0: any session) is a virtual GPU on its model's clock. Its
 * operations last as the model computes, and the host's calls last as long as a CPU computes them.
 * These two kinds of durations are not comparable.
 */
bool ts_clocks_are_modelled(const struct ts_sbt_reader *reader, uint32_t session);

/*
 * True if a device is a virtual GPU with clock=host: its operations last as long as a CPU computes
 * them.
 */
bool ts_clocks_are_hosts(const struct ts_sbt_reader *reader);

/* True if a device of the session (0: any session) timed kernels and did not compute them. */
bool ts_kernels_are_timed(const struct ts_sbt_reader *reader, uint32_t session);

#ifdef __cplusplus
}
#endif
