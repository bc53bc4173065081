/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tsctl complete WORD ...`, called by packaging/completions/tsctl.bash. The WORDs are the words
 * after `tsctl`, up to the word that is being typed, which may be empty. It prints one candidate
 * per line, each a whole word. A line that begins with a colon is a request to the shell:
 *
 *	:files PREFIX	files, each behind PREFIX: the part of the word before the path
 *	:programs	programs
 */
#pragma once

/*
 * Asks daemons for sessions for at most 0.3 s, because the shell waits. After that, the process
 * ends with the candidates so far. Returns an exit status.
 */
int ts_complete(int n, char **words);
