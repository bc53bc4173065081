/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Basics for all folders: ownership by cleanup attribute, sizes with overflow checks, compile-time
 * checks of layouts. Header-only, C headers only, usable from C++.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __cplusplus
#define TS_STATIC_ASSERT static_assert
#else
#define TS_STATIC_ASSERT _Static_assert
#endif

/*
 * Every struct that another process or a disk sees asserts its size and the offset of each field.
 */
#define TS_ASSERT_SIZE(type, size) \
	TS_STATIC_ASSERT(sizeof(type) == (size), "size of " #type " is part of the ABI")
#define TS_ASSERT_FIELD(type, field, offset)                \
	TS_STATIC_ASSERT(offsetof(type, field) == (offset), \
			 "offset of " #type "." #field " is part of the ABI")

#define TS_CACHE_LINE	64

#define ts_likely(x)	__builtin_expect(!!(x), 1)
#define ts_unlikely(x)	__builtin_expect(!!(x), 0)

#define TS_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* ts_cleanup(f) calls f(&variable) when the variable goes out of scope. */
#define ts_cleanup(f) __attribute__((cleanup(f)))

/* Returns the pointer `p` and sets the variable `p` to NULL. */
#define ts_take_ptr(p)                                \
	__extension__({                               \
		__typeof__(p) *ts_owner_ = &(p);      \
		__typeof__(p) ts_taken_ = *ts_owner_; \
		*ts_owner_ = NULL;                    \
		ts_taken_;                            \
	})

/* Defines `name(T **)`, a cleanup function that calls `free_fn` and preserves errno. */
#define TS_DEFINE_CLEANUP(type, name, free_fn)                       \
	static inline __attribute__((unused)) void name(type *owner) \
	{                                                            \
		int saved_errno = errno;                             \
                                                                     \
		if (*owner)                                          \
			free_fn(*owner);                             \
		errno = saved_errno;                                 \
	}

static inline void ts_freep(void *owner)
{
	int saved_errno = errno;
	void *p;

	memcpy(&p, owner, sizeof(p));
	free(p);
	errno = saved_errno;
}

/* Closes *fd if it is a descriptor. Used as `ts_cleanup(ts_closep) int fd = -1;` */
static inline void ts_closep(int *fd)
{
	int saved_errno = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved_errno;
}

static inline int ts_take_fd(int *owner)
{
	int fd = *owner;

	*owner = -1;
	return fd;
}

static inline uint64_t ts_align_up(uint64_t value, uint64_t power_of_two)
{
	return (value + power_of_two - 1) & ~(power_of_two - 1);
}

static inline bool ts_is_power_of_two(uint64_t value)
{
	return value && !(value & (value - 1));
}
