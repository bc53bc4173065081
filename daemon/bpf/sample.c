/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads sample.bpf.c for a sampler. serve/session/session-samples.c calls this module. A daemon
 * that is built without eBPF has sample-none.c instead.
 */
#include "daemon/bpf/sample.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "daemon/bpf/bpf-objects.h"
#include "daemon/util/capabilities.h"
#include "daemon/util/daemon-error.h"

struct ts_bpf_sample {
	struct bpf_object *object;
};

static int find_fds(struct bpf_object *object, int ret_fds[TS_BPF_SAMPLE_FDS])
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, "python_sampled");
	struct bpf_map *config = bpf_object__find_map_by_name(object, "python");
	struct bpf_map *ring = bpf_object__find_map_by_name(object, "python_stacks");

	if (!program || !config || !ring)
		return -ENOENT;
	ret_fds[TS_BPF_SAMPLE_PROGRAM] = bpf_program__fd(program);
	ret_fds[TS_BPF_SAMPLE_CONFIG] = bpf_map__fd(config);
	ret_fds[TS_BPF_SAMPLE_RING] = bpf_map__fd(ring);
	return 0;
}

int ts_bpf_sample_new(struct ts_bpf_sample **ret_sample, int ret_fds[TS_BPF_SAMPLE_FDS])
{
	const uint32_t needed = 1u << TS_CAPABILITY_BPF | 1u << TS_CAPABILITY_PERFMON;
	struct ts_bpf_sample *sample;
	int r = 0;

	if (~ts_capabilities_have() & needed)
		return -EPERM;
	sample = calloc(1, sizeof(*sample));
	if (!sample)
		return ts_error_origin(-ENOMEM);
	sample->object = bpf_object__open_mem(ts_bpf_object_sample.bytes,
					      ts_bpf_object_sample.n_bytes, NULL);
	if (!sample->object)
		r = -errno;
	r = r ?: bpf_object__load(sample->object);
	r = r ?: find_fds(sample->object, ret_fds);
	if (r) {
		ts_bpf_sample_free(sample);
		return r;
	}
	*ret_sample = sample;
	return 0;
}

void ts_bpf_sample_free(struct ts_bpf_sample *sample)
{
	if (!sample)
		return;
	bpf_object__close(sample->object);
	free(sample);
}
