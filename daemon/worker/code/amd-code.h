/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads AMD's device code, as a program registers it: an ELF file, a bundle of ELF files
 * (`__CLANG_OFFLOAD_BUNDLE__`), or a compressed bundle (`CCOB`, versions 1 to 3). Input is
 * untrusted. Thread-safe.
 */
#pragma once

#include "replay/vgpu/amd/amd-metadata.h"

/* Limits: entries of a bundle, bytes of an entry's id. */
#define TS_AMD_MAX_ENTRIES  4096u
#define TS_AMD_MAX_ID_BYTES 512u

/*
 * Reads the kernels that `code` has for a device. `target` is the device's, as hipDeviceProp_t has
 * it in gcnArchName: "gfx90a:sramecc+:xnack-". `code` may be followed by other bytes. An ELF file
 * without a bundle is taken for the device's. Returns 0, a TS_AMD_CODE_E_*, -ENOMEM, or the result
 * of `receive`.
 */
int ts_amd_code_read(const uint8_t *code, size_t n_bytes, const char *target,
		     ts_amd_kernel_fn *receive, void *userdata);
