/* SPDX-License-Identifier: Apache-2.0 */
/*
 * __libc_start_main() of a program: _start calls it, and it calls glibc's function of the same
 * name. With glibc 2.34 and later, _start names no function that runs the program's constructors,
 * because __libc_start_main@GLIBC_2.34 runs them. The older version only calls the given function,
 * in old and new versions of glibc, so this file names one.
 */
#include <stddef.h>

#include "packaging/glibc/glibc.h"

typedef int main_function(int argc, char **argv, char **environment);

int glibc___libc_start_main(main_function *main, int argc, char **argv, main_function *init,
			    void (*fini)(void), void (*loader_fini)(void), void *stack_end);
TS_GLIBC_OLD(__libc_start_main, TS_GLIBC_BASE);

int own_start(main_function *main, int argc, char **argv, main_function *init, void (*fini)(void),
	      void (*loader_fini)(void), void *stack_end) TS_GLIBC_OWN("__libc_start_main");

/* From crti.o and from the linker. */
extern void _init(void) __attribute__((visibility("hidden")));
extern main_function *__init_array_start[] __attribute__((visibility("hidden")));
extern main_function *__init_array_end[] __attribute__((visibility("hidden")));

/* The loader runs .preinit_array before, and the destructors at the end. */
static int run_constructors(int argc, char **argv, char **environment)
{
	size_t n = (size_t)(__init_array_end - __init_array_start), i;

	_init();
	for (i = 0; i < n; i++)
		__init_array_start[i](argc, argv, environment);
	return 0;
}

int own_start(main_function *main, int argc, char **argv, main_function *init, void (*fini)(void),
	      void (*loader_fini)(void), void *stack_end)
{
	return glibc___libc_start_main(main, argc, argv, init ? init : run_constructors, fini,
				       loader_fini, stack_end);
}
