/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain: a program without a GPU, linked statically where the libc can be; nothing can be preloaded into
 * that, and nothing may go wrong for trying.
 */
#include <stdio.h>

int main(int argc, char **argv)
{
	printf("plain: %d arguments\n", argc - 1);
	return 4;
}
