/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far times of a trace can be off, by its clock snapshots: what several processes and devices on one axis are aligned to.
 * Sessions of other machines were brought to one axis by CLOCK_REALTIME when their traces were merged, and carry that error; how far
 * apart the machines' own CLOCK_REALTIMEs were is in no trace.
 */
#pragma once

#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ts_clocks {
	uint64_t host_ns; /* a time of a host's is true to that, in the worst of the sessions */
	uint64_t
		device_ns; /* and a device's within its process: more than host_ns where the vendor's clock was converted */
	/* Times of two sessions further apart than that are in their true order; 0: there is one. */
	uint64_t between_ns;
	uint32_t n_sessions;
	bool is_damaged; /* blocks were left out: they may have told of more */
};

/* `session` 0: all. Errors: -ENOMEM and those of sbt/reader.h; damaged blocks are left out. */
int ts_clocks_read(struct ts_sbt_reader *reader, uint32_t session, struct ts_clocks *ret_clocks);

/*
 * True if a device of the session (0: of any) is a virtual GPU on its model's clock: its operations take the model's times, the host's
 * calls the time in which a CPU computes them, so the two are not comparable.
 */
bool ts_clocks_are_modelled(const struct ts_sbt_reader *reader, uint32_t session);

/* True if a device is a virtual GPU with clock=host: its operations take the time in which a CPU computes them. */
bool ts_clocks_are_hosts(const struct ts_sbt_reader *reader);

#ifdef __cplusplus
}
#endif
