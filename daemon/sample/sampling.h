/* SPDX-License-Identifier: Apache-2.0 */
/* Words of the daemon to a sampler, one a message. Between sampler.c and sampling.c, which are of one build. */
#pragma once

enum ts_sampling_word {
	TS_SAMPLING_ON = 1,
	TS_SAMPLING_OFF = 2,
	TS_SAMPLING_FINISH = 3,
	TS_SAMPLING_PROGRAM =
		4, /* comes with the descriptors of daemon/bpf/sample.h, or without: there are none */
};
