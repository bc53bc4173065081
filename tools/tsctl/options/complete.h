/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tsctl complete WORD ...`, the command behind packaging/completions/tsctl.bash: it gets the words
 * behind "tsctl", up to the one that is being typed, which may be empty. It prints a line for each
 * candidate, which is a whole word. A line that begins with a colon is a request to the shell:
 *
 *	:files PREFIX	files, each behind PREFIX, which is what the word has before the path
 *	:programs	programs
 */
#pragma once

/*
 * Asks daemons for sessions for at most 0.3 s, since the shell waits; then the process ends with the candidates so far.
 * Returns an exit status.
 */
int ts_complete(int n, char **words);
