/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a reader, for further threads that read the same file. Private to sbt/. */
#pragma once

#include "sbt/read/reader-internal.h"

/*
 * Makes a copy with its own decompressor, memory and error. The copy shares the descriptors, the
 * list of blocks, the definitions and the cancellation; it reports no rows, and its cursors start
 * no threads. It must not load strings, stacks or blobs. Returns 0 or -ENOMEM.
 */
int ts_sbt_reader_copy(struct ts_sbt_reader *ret_copy, const struct ts_sbt_reader *reader);

/* Frees the memory of a copy. A zeroed struct is fine. */
void ts_sbt_reader_copy_deinit(struct ts_sbt_reader *copy);
