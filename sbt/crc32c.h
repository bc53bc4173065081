/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC-32C (Castagnoli: polynomial 0x1EDC6F41, reflected, initial value and final XOR all ones), the one
 * of iSCSI (RFC 3720) and of the CPU's own instruction. Thread-safe.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

uint32_t ts_crc32c(const void *bytes, size_t n_bytes);
