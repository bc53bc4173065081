/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places of what the constructor and the destructor use. The preload reaches every process of a
 * build, and each page that they touch costs each process a page fault, which takes longer than
 * all of the constructor's own instructions. So their functions lie together. Their texts lie in
 * .data.rel.ro and their variables in .data: one page each, which the loader writes anyway.
 */
#pragma once

#define TS_CALLED_AT_LOAD  __attribute__((section(".text.startup")))
#define TS_WRITTEN_AT_LOAD __attribute__((section(".data")))
#define TS_READ_AT_LOAD	   __attribute__((section(".data.rel.ro")))

#define TS_TEXT_AT_LOAD(text)                                    \
	({                                                       \
		TS_READ_AT_LOAD static const char here[] = text; \
		here;                                            \
	})
