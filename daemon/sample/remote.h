/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the memory of another process, which runs meanwhile, by process_vm_readv(2). The sampler's
 * files share it.
 */
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include "proto/abi/base.h"

/*
 * Reads memory of another process. Returns false if it cannot be read completely; errno has the
 * reason.
 */
static inline bool ts_remote_read(pid_t pid, uint64_t address, void *ret, size_t n)
{
	struct iovec here = {ret, n}, there = {(void *)(uintptr_t)address, n};

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

/* Reads a word of 8 bytes. False: the address is 0, or the memory cannot be read. */
static inline bool ts_remote_word(pid_t pid, uint64_t address, uint64_t *ret_word)
{
	return address && ts_remote_read(pid, address, ret_word, 8);
}

/* ts_word_in() and ts_int_in() read a number from copied bytes. */
static inline uint64_t ts_word_in(const uint8_t *bytes, unsigned off)
{
	uint64_t word;

	memcpy(&word, bytes + off, 8);
	return word;
}

static inline int32_t ts_int_in(const uint8_t *bytes, unsigned off)
{
	int32_t value;

	memcpy(&value, bytes + off, 4);
	return value;
}
