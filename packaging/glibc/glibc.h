/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the C files of this folder. TS_GLIBC_BASE is the version of the oldest functions of this
 * architecture, for example "GLIBC_2.2.5".
 */
#pragma once

/* Makes glibc_NAME an old version of glibc's function NAME. */
#define TS_GLIBC_OLD(name, version) __asm__(".symver glibc_" #name ", " #name "@" version)

/* Defines the symbol NAME for this program or library only. */
#define TS_GLIBC_OWN(name) __asm__(name) __attribute__((visibility("hidden")))
