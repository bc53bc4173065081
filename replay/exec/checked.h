/* SPDX-License-Identifier: Apache-2.0 */
/* Telling the checks (replay/check) what an operation that was done has read and written. */
#pragma once

#include "replay/exec/exec.h"

/* Between ts_check_begin() and ts_check_done(); content: what it read from the host, where it did. */
int ts_exec_checked_record(struct ts_check *check, const struct ts_row_operation *operation,
			   const struct ts_exec_content *content);
