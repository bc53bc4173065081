/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the metadata of AMD's code objects, and names the reasons for which code is refused.
 * amd-image.c and the daemon's worker call this file; the reader is proto/abi/amdmetadata.h.
 */
#include "replay/vgpu/amd/amd-metadata.h"

int ts_amd_metadata_read(const uint8_t *metadata, size_t n_bytes, ts_amd_kernel_fn *receive,
			 void *userdata)
{
	return ts_amd_read_metadata(metadata, n_bytes, receive, userdata);
}

const char *ts_amd_code_why(int error)
{
	static const char *const texts[TS_AMD_CODE_E_COUNT] = {
		[TS_AMD_CODE_E_FORMAT] = "neither an ELF file nor a bundle",
		[TS_AMD_CODE_E_CUT] = "a size or an offset lies beyond its end",
		[TS_AMD_CODE_E_TARGET] = "no code for this device",
		[TS_AMD_CODE_E_MACHINE] = "an ELF file for another machine",
		[TS_AMD_CODE_E_NOTE] = "no metadata of version 3 or later",
		[TS_AMD_CODE_E_METADATA] = "malformed metadata",
		[TS_AMD_CODE_E_COMPRESSION] = "unknown or corrupt compression",
		[TS_AMD_CODE_E_LARGE] = "too large",
	};

	return error > 0 && error < TS_AMD_CODE_E_COUNT ? texts[error] : "unknown error";
}
