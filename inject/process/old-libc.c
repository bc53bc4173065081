/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which functions of other libraries than libc.so.6 the program has (see old-libc.h). preload.c and
 * process-exec.c call this file, which calls libc-table.c. Only the preloaded library has it: the
 * linker resolves a program's own weak references, not the loader.
 */
#include <dlfcn.h>

#include "inject/process/at-load.h"
#include "inject/process/libc-table.h"
#include "inject/process/old-libc.h"

#ifdef TS_WEAK_LIBC
/* References like those of packaging/glibc/function.S.in. */
extern int old_dlsym(void) __attribute__((weak));
extern int old_pthread_create(void) __attribute__((weak));
__asm__(".symver old_dlsym, dlsym@");
__asm__(".symver old_pthread_create, pthread_create@");

TS_CALLED_AT_LOAD bool ts_old_libc_has_dl(void)
{
	return old_dlsym != NULL;
}

TS_CALLED_AT_LOAD bool ts_old_libc_is_complete(void)
{
	return old_dlsym != NULL && old_pthread_create != NULL;
}
#else
TS_CALLED_AT_LOAD bool ts_old_libc_has_dl(void)
{
	return true;
}

TS_CALLED_AT_LOAD bool ts_old_libc_is_complete(void)
{
	return true;
}
#endif

TS_CALLED_AT_LOAD void *ts_old_libc_next(const char *name)
{
	return ts_old_libc_has_dl() ? dlsym(RTLD_NEXT, name) : ts_libc_find(name);
}
