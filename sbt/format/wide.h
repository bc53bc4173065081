/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles loops over arrays a second time, for processors with 32-byte registers (AVX2) and with
 * BMI2, which came with AVX2. Private to sbt/.
 */
#pragma once

#define TS_ALWAYS_INLINE inline __attribute__((always_inline))

/*
 * Defines name_##_fast, which calls the AVX2 build of the function name_ if the processor has both,
 * else the plain build. name_ is TS_ALWAYS_INLINE and returns nothing.
 */
#if defined(__x86_64__)
#define TS_WIDE_OR_NOT(name_, parameters_, arguments_)                                \
	__attribute__((target("avx2,bmi2"))) static void name_##_wide parameters_     \
	{                                                                             \
		name_ arguments_;                                                     \
	}                                                                             \
	static void name_##_fast parameters_                                          \
	{                                                                             \
		if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) \
			name_##_wide arguments_;                                      \
		else                                                                  \
			name_ arguments_;                                             \
	}
#else
#define TS_WIDE_OR_NOT(name_, parameters_, arguments_) \
	static void name_##_fast parameters_           \
	{                                              \
		name_ arguments_;                      \
	}
#endif
