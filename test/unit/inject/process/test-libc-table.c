/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of libc, found without dlsym(), are those that dlsym() finds. */
#include <dlfcn.h>
#include <gnu/lib-names.h>

#include "inject/process/libc-table.h"
#include "test/unit/harness.h"

TS_TEST(finds_what_dlsym_finds)
{
	static const char *const names[] = {"_exit",   "_Exit",	   "execve", "execvpe",
					    "fexecve", "execveat", "getpid"};
	void *libc = dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);

	ts_check(libc);
	for (size_t i = 0; i < TS_ARRAY_LEN(names); i++)
		ts_check(ts_libc_find(names[i]) == dlsym(libc, names[i]));
	ts_check(ts_libc_find("getpid"));
	/* Two versions: the default one. */
	ts_check(ts_libc_find("pthread_cond_wait") == dlsym(libc, "pthread_cond_wait"));
	dlclose(libc);
}

TS_TEST(finds_no_more)
{
	ts_check(!ts_libc_find("ts_libc_find"));
	ts_check(!ts_libc_find(""));
	/* Only older programs can refer to this one. */
	ts_check(!ts_libc_find("sys_errlist"));
}
