/* SPDX-License-Identifier: Apache-2.0 */
/* Reports to the checks (replay/check) the memory that an operation read and wrote. */
#pragma once

#include "replay/exec/exec.h"

/*
 * Reports the reads and writes of an operation. Called between ts_check_begin() and
 * ts_check_done(). `content`: the host bytes that the operation read, if it read any. Returns 0 or
 * -ENOMEM.
 */
int ts_exec_checked_record(struct ts_check *check, const struct ts_row_operation *operation,
			   const struct ts_exec_content *content);
