/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shortens names to a terminal's width. Names of one list stay distinct, because only a part that
 * is equal in several names is cut out.
 */
#pragma once

#include <stddef.h>

/*
 * Writes each of the `n` texts into `ret_texts`, in at most `columns` columns, with "..." for a
 * cut. The caller frees them. Different texts stay different: if no cut achieves that, they stay
 * longer. Returns 0, or -ENOMEM with nothing written.
 */
int ts_shorten(const char *const *texts, size_t n, size_t columns, char **ret_texts);
