/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of this library that differ between vendors. face.c has NVIDIA's. tools/vgpu/maca has
 * another vendor's, whose library has the same other files.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/vgpu/hooks.h"

/* Returns the length of a kind's record; 0: there are no such records. */
size_t ts_cupti_face_bytes(uint32_t kind);

/* The call as its client sees it. */
struct ts_cupti_face_call {
	uint32_t domain, cbid;
	const char *name;
};
/* Returns false if the client does not see the call. */
bool ts_cupti_face_call(const struct ts_vgpu_api *call, struct ts_cupti_face_call *ret_call);

/* Returns the number of callback ids of the driver's or the runtime's domain. */
uint32_t ts_cupti_face_ids(uint32_t domain);

uint32_t ts_cupti_face_version(void);

/*
 * The library's own clock: its ticks at a time of the device's clock. NULL: CLOCK_REALTIME, which
 * is read beside the device's clock.
 */
extern uint64_t (*const ts_cupti_face_ticks)(uint64_t device_ns);
