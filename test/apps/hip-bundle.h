/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bundles as HIP's compilers make them: an empty entry for the host, one for a device. For the test
 * programs over HIP and the tests of libamdhip64.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "proto/abi/vendor/hip.h"

/* Ids of entries: PTX for the virtual GPU, and code of an AMD GPU. */
#define HIP_BUNDLE_PTX	"hip-ptx64-tracesmith--ptx"
#define HIP_BUNDLE_AMD	"hipv4-amdgcn-amd-amdhsa--gfx942"

#define HIP_BUNDLE_HOST "host-x86_64-unknown-linux--"

/* Returns a bundle for free(). The code has no zero at its end, as from clang's bundler. */
static inline void *hip_bundle_new(const char *id, const char *code)
{
	size_t n_head = sizeof(struct ts_hip_bundle) + 2 * sizeof(struct ts_hip_bundle_entry) +
			strlen(HIP_BUNDLE_HOST) + strlen(id);
	struct ts_hip_bundle head = {.n_entries = 2};
	struct ts_hip_bundle_entry entry = {.offset = n_head, .id_bytes = strlen(HIP_BUNDLE_HOST)};
	char *bundle = malloc(n_head + strlen(code)), *at = bundle;

	if (!bundle)
		abort();
	memcpy(head.magic, TS_HIP_BUNDLE_MAGIC, sizeof(head.magic));
	memcpy(at, &head, sizeof(head));
	at += sizeof(head);
	memcpy(at, &entry, sizeof(entry));
	at += sizeof(entry);
	memcpy(at, HIP_BUNDLE_HOST, strlen(HIP_BUNDLE_HOST));
	at += strlen(HIP_BUNDLE_HOST);
	entry.size = strlen(code);
	entry.id_bytes = strlen(id);
	memcpy(at, &entry, sizeof(entry));
	at += sizeof(entry);
	memcpy(at, id, strlen(id));
	memcpy(bundle + n_head, code, strlen(code));
	return bundle;
}
