/* SPDX-License-Identifier: Apache-2.0 */
/* The style sheet of the page. The pictures in the page have their own. Private to page.c. */
#pragma once

extern const char ts_page_style[];
