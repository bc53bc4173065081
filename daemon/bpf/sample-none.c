/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.h for a daemon that was built without eBPF, instead of sample.c: samplers read Python
 * stacks themselves.
 */
#include "daemon/bpf/sample.h"

#include <errno.h>

int ts_bpf_sample_new(struct ts_bpf_sample **ret_sample, int ret_fds[TS_BPF_SAMPLE_FDS])
{
	(void)ret_sample;
	(void)ret_fds;
	return -EOPNOTSUPP;
}

void ts_bpf_sample_free(struct ts_bpf_sample *sample)
{
	(void)sample;
}
