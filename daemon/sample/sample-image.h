/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the code that another process maps, and the rule for the caller of a frame. Reads
 * /proc/PID/maps, and the .eh_frame of the files in it, opened as the process sees them. For the
 * vDSO, reads the vDSO of the sampler: all processes of the machine share it.
 *
 * Files are untrusted. Their bytes are read through a mapping: if a file shrinks meanwhile, SIGBUS
 * ends the calling process. A hostile file system can make the caller wait. So only the sampler
 * process calls this module (sampler.h). Not thread-safe.
 */
#pragma once

#include <sys/types.h>

#include "proto/abi/cfi.h"

#define TS_IMAGES_MAX 4096u /* mappings of code; further ones are ignored */

struct ts_images;

/*
 * Reads the mappings of a process. If /proc/PID/maps cannot be read, the object has no mappings.
 * Returns 0 or -ENOMEM.
 */
int ts_images_new(pid_t pid, struct ts_images **ret_images);
void ts_images_free(struct ts_images *images); /* NULL is fine */

/*
 * Returns the rule at an address of code; `is_return`: the address is a return address. If no known
 * mapping has the address, /proc is read again, at most once in 100 ms. UNKNOWN: no mapping, no
 * file, or no rule there.
 */
struct ts_cfi_rule ts_images_rule(struct ts_images *images, uint64_t address, bool is_return);
/* True if a known mapping of code has the address. */
bool ts_images_is_code(const struct ts_images *images, uint64_t address);
/* True if a signal handler returns to this address. The next frame is then the interrupted one. */
bool ts_images_is_sigreturn(struct ts_images *images, uint64_t address);

/* Returns a number that increases when mappings changed. Data stored by address is then invalid. */
uint64_t ts_images_generation(const struct ts_images *images);
/* Reads /proc again. */
void ts_images_refresh(struct ts_images *images);

/*
 * Finds the address in the process of an exported symbol. `in_path` is a part of the file's name.
 * *ret_bytes is the symbol's size. *ret_path is valid until the next refresh. False: no mapped file
 * has the symbol.
 */
bool ts_images_symbol(struct ts_images *images, const char *in_path, const char *symbol,
		      uint64_t *ret_address, uint64_t *ret_bytes, const char **ret_path);
