/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC-32C (Castagnoli: polynomial 0x1EDC6F41, reflected, initial value and final XOR all ones), as
 * in iSCSI (RFC 3720) and SSE 4.2. Thread-safe.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Returns the CRC-32C of the bytes. */
uint32_t ts_crc32c(const void *bytes, size_t n_bytes);
