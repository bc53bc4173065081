/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for the build's question whether clang and lld make code of AMD GPUs. */
__attribute__((global)) void probe(int *at)
{
	*at = 1;
}
