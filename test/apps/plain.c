/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain: a program without a GPU, linked statically if the libc allows it. A static program ignores
 * LD_PRELOAD; the attempt to preload must do no harm. test/integration/test-untouched.py runs it.
 */
#include <stdio.h>

int main(int argc, char **argv)
{
	printf("plain: %d arguments\n", argc - 1);
	return 4;
}
