/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names cut to a terminal's width. Names of one list stay distinct: the cut goes where names do not differ.
 */
#pragma once

#include <stddef.h>

/*
 * Writes each of the `n` texts into `ret_texts`, in at most `columns` columns; the caller frees them. "..." stands for what is left
 * out. Two different texts never become the same: if no cut keeps them apart, they are longer. -ENOMEM, and nothing is written.
 */
int ts_shorten(const char *const *texts, size_t n, size_t columns, char **ret_texts);
