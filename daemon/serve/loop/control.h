/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers of the control socket's requests. listen.c passes them to each connection. */
#pragma once

#include "daemon/serve/loop/connection.h"

extern const struct ts_client_handlers ts_control_handlers;
