/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words from the daemon to a sampler, one per message. sampler.c sends them, sampling.c receives
 * them; both are of one build.
 */
#pragma once

enum ts_sampling_word {
	TS_SAMPLING_ON = 1,
	TS_SAMPLING_OFF = 2,
	TS_SAMPLING_FINISH = 3,
	/*
	 * Comes with the descriptors of daemon/bpf/sample.h; without descriptors there is no
	 * program.
	 */
	TS_SAMPLING_PROGRAM = 4,
	/* plus the daemon's processor time for a sample in nanoseconds, at most TS_SAMPLING_COST */
	TS_SAMPLING_COST = 1 << 24,
};
