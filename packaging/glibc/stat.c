/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat() and its relatives, which glibc has as functions since 2.33. Programs built with an older
 * glibc call __xstat() and its relatives, with the version of struct stat as first argument. Newer
 * versions of glibc keep these functions.
 */
#include <sys/stat.h>

#include "packaging/glibc/glibc.h"

#ifdef __x86_64__
#define STAT_VERSION  1
#define FSTATAT_SINCE "GLIBC_2.4"
#else
#define STAT_VERSION  0
#define FSTATAT_SINCE TS_GLIBC_BASE
#endif

/* With 64 bits, struct stat and struct stat64 are the same, and so are their functions. */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "struct stat has 64-bit fields");

int glibc___xstat64(int version, const char *path, struct stat *st);
int glibc___lxstat64(int version, const char *path, struct stat *st);
int glibc___fxstat64(int version, int fd, struct stat *st);
int glibc___fxstatat64(int version, int fd, const char *path, struct stat *st, int flags);

TS_GLIBC_OLD(__xstat64, TS_GLIBC_BASE);
TS_GLIBC_OLD(__lxstat64, TS_GLIBC_BASE);
TS_GLIBC_OLD(__fxstat64, TS_GLIBC_BASE);
TS_GLIBC_OLD(__fxstatat64, FSTATAT_SINCE);

int own_stat(const char *path, struct stat *st) TS_GLIBC_OWN("stat64");
int own_lstat(const char *path, struct stat *st) TS_GLIBC_OWN("lstat64");
int own_fstat(int fd, struct stat *st) TS_GLIBC_OWN("fstat64");
int own_fstatat(int fd, const char *path, struct stat *st, int flags) TS_GLIBC_OWN("fstatat64");

int own_stat(const char *path, struct stat *st)
{
	return glibc___xstat64(STAT_VERSION, path, st);
}

int own_lstat(const char *path, struct stat *st)
{
	return glibc___lxstat64(STAT_VERSION, path, st);
}

int own_fstat(int fd, struct stat *st)
{
	return glibc___fxstat64(STAT_VERSION, fd, st);
}

int own_fstatat(int fd, const char *path, struct stat *st, int flags)
{
	return glibc___fxstatat64(STAT_VERSION, fd, path, st, flags);
}

/* Objects that are compiled without _FILE_OFFSET_BITS=64 call the same functions by these names. */
#define SAME(of) __attribute__((alias(of)))

int plain_stat(const char *path, struct stat *st) TS_GLIBC_OWN("stat") SAME("stat64");
int plain_lstat(const char *path, struct stat *st) TS_GLIBC_OWN("lstat") SAME("lstat64");
int plain_fstat(int fd, struct stat *st) TS_GLIBC_OWN("fstat") SAME("fstat64");
int plain_fstatat(int fd, const char *path, struct stat *st, int flags) TS_GLIBC_OWN("fstatat")
	SAME("fstatat64");
