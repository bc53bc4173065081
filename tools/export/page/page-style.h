/* SPDX-License-Identifier: Apache-2.0 */
/* The style sheet of the page; pictures have their own. Private to report-page.c. */
#pragma once

extern const char ts_page_style[];
