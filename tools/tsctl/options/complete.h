/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tsctl complete WORD ...`, called by the scripts of packaging/completions. The WORDs are the
 * words after `tsctl`, without quotes, up to the word that is being typed, which may be empty. It
 * prints one candidate per line, each a whole word. A line that begins with a colon is a request to
 * the shell:
 *
 *	:files PREFIX	files, each behind PREFIX: the part of the word before the path
 *	:programs	programs
 *
 * Scripts call `tsctl complete --cursor=N WORD ...` with all words of the line; WORD number N,
 * counted from 0, is being typed. A NUL ends each line then, so a name can have any bytes. A
 * candidate is followed by a tab and its description, if it has one. Names in a trace, which only
 * the shell can quote, are:
 *
 *	:name WORD	a whole word
 *	:part WORD	a word that the user continues
 */
#pragma once

/*
 * Asks daemons for sessions for at most 0.3 s, because the shell waits. After that, the process
 * ends with the candidates so far. A look at a trace takes less (complete-names.h). Returns an exit
 * status.
 */
int ts_complete(int n, char **words);
