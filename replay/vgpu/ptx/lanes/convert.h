/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cvt for one value: any type to any other, with every rounding mode. Exact, but slower than the
 * lane loops of exec-cvt.c.
 */
#pragma once

#include "replay/vgpu/ptx/lanes/ops.h"

/*
 * Converts a value. `bits` has the source in its low bits. Returns the target, zero- or
 * sign-extended to 64 bits by its type.
 */
uint64_t ts_ptx_convert(uint64_t bits, uint32_t aux);
/*
 * Rounds to a format with the given exponent and mantissa bits (at most 11 and 52), by an integer
 * significand.
 */
uint64_t ts_ptx_round_float(double x, unsigned exponent_bits, unsigned mantissa_bits,
			    enum ts_ptx_rounding rounding);
uint8_t ts_ptx_to_fp8(double x, bool e5m2, bool satfinite);
float ts_ptx_from_fp8(uint8_t v, bool e5m2);
