/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds an access control list of at most six entries. serve/recording/folder.c calls this module
 * for directories, serve/recording/recording.c for traces. This module uses one system call instead
 * of libacl.
 */
#include "daemon/util/acl.h"

#include <endian.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "daemon/util/daemon-error.h"

#define ACL_NAME	"system.posix_acl_access"
#define ACL_MAX_ENTRIES 6u

struct list {
	struct posix_acl_xattr_header header;
	struct posix_acl_xattr_entry entries[ACL_MAX_ENTRIES];
};

static void add(struct list *list, size_t *n, uint16_t tag, uint16_t permissions, uint32_t id)
{
	list->entries[(*n)++] = (struct posix_acl_xattr_entry){
		.e_tag = htole16(tag),
		.e_perm = htole16(permissions),
		.e_id = htole32(id),
	};
}

int ts_acl_grant(int fd, const struct ts_acl_readers *readers)
{
	struct list list = {.header.a_version = htole32(POSIX_ACL_XATTR_VERSION)};
	struct stat status;
	uint16_t search, read;
	size_t n = 0;

	if (fstat(fd, &status) < 0)
		return ts_error_origin(-errno);
	search = S_ISDIR(status.st_mode) ? ACL_EXECUTE : 0;
	read = ACL_READ | search;
	/* The kernel requires this order. */
	add(&list, &n, ACL_USER_OBJ, ACL_READ | ACL_WRITE | search, ACL_UNDEFINED_ID);
	if (readers->uid != status.st_uid)
		add(&list, &n, ACL_USER, read, readers->uid);
	add(&list, &n, ACL_GROUP_OBJ, 0, ACL_UNDEFINED_ID);
	if (readers->group != (gid_t)-1)
		add(&list, &n, ACL_GROUP, read, readers->group);
	add(&list, &n, ACL_MASK, read, ACL_UNDEFINED_ID);
	add(&list, &n, ACL_OTHER, 0, ACL_UNDEFINED_ID);
	if (fsetxattr(fd, ACL_NAME, &list, sizeof(list.header) + n * sizeof(*list.entries), 0) < 0)
		return ts_error_origin(-errno);
	return 0;
}
