/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code that another process maps, and how its frames lead to their callers: /proc/PID/maps, and the .eh_frame of the files that it
 * names, opened as the process sees them. The vDSO is the caller's own, which every process of the machine shares.
 *
 * Files are a stranger's. Their bytes are read through a mapping: a file that shrinks meanwhile ends the calling process by SIGBUS, and
 * one on a hostile file system can make it wait. So only the sampler process calls this (sampler.h). One thread.
 */
#pragma once

#include <sys/types.h>

#include "proto/abi/cfi.h"

#define TS_IMAGES_MAX 4096u /* mappings of code; further ones have no rules */

struct ts_images;

/* 0, -ENOMEM, or what opening /proc/PID answered. */
int ts_images_new(pid_t pid, struct ts_images **ret_images);
void ts_images_free(struct ts_images *images); /* NULL is fine */

/*
 * The rule at an address of code; `is_return`: it is a return address. Asks /proc again if no mapping is known to hold the address, at most once in
 * 100 ms. UNKNOWN: no mapping, no file, or no rule there.
 */
struct ts_cfi_rule ts_images_rule(struct ts_images *images, uint64_t address, bool is_return);
/* Whether code lies there, as far as is known. */
bool ts_images_is_code(const struct ts_images *images, uint64_t address);
/* Whether a signal handler returns to this address: the frame above it is the interrupted one. */
bool ts_images_is_sigreturn(struct ts_images *images, uint64_t address);

/* Counts up whenever mappings changed: what was remembered of addresses may be wrong. */
uint64_t ts_images_generation(const struct ts_images *images);
/* Looks at /proc again. */
void ts_images_refresh(struct ts_images *images);

/*
 * The address in the process of a symbol that a file exports; `in_path` is a part of the file's name. *ret_path is valid until the next refresh. False: no
 * mapped file has it. *ret_bytes is the symbol's size.
 */
bool ts_images_symbol(struct ts_images *images, const char *in_path, const char *symbol,
		      uint64_t *ret_address, uint64_t *ret_bytes, const char **ret_path);
