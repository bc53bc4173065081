/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads subuid(5) and answers from its ranges. users.c calls it once for each account that is looked up. The file is the
 * administrator's, but users' names stand in it: a line that is not NAME:FIRST:COUNT is left out.
 */
#include "daemon/serve/subuid.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/util/error.h"
#include "daemon/util/number.h"

#define SUBUID_PATH	  "/etc/subuid"
#define PASSWD_PATH	  "/etc/passwd"
#define SUBUID_MAX_RANGES 65536u

struct range {
	uid_t first;
	uid_t last; /* inclusive */
	uid_t owner;
};

struct ts_subuid {
	const char *subuid_path, *passwd_path;
	struct range *ranges; /* in the order of the file: the first that holds a uid wins */
	size_t n_ranges, n_allocated;
	struct stat status; /* of the file that the ranges are of */
	bool is_read;
};

int ts_subuid_new(const char *subuid_path, const char *passwd_path, struct ts_subuid **ret_subuid)
{
	struct ts_subuid *subuid = calloc(1, sizeof(*subuid));

	if (!subuid)
		return ts_error_origin(-ENOMEM);
	subuid->subuid_path = subuid_path ? subuid_path : SUBUID_PATH;
	subuid->passwd_path = passwd_path ? passwd_path : PASSWD_PATH;
	*ret_subuid = subuid;
	return 0;
}

void ts_subuid_free(struct ts_subuid *subuid)
{
	if (!subuid)
		return;
	free(subuid->ranges);
	free(subuid);
}

/* Names and numbers are both allowed: subuid(5). False: the name has no uid here. */
static bool find_owner(const struct ts_subuid *subuid, const char *name, uid_t *ret_owner)
{
	const struct passwd *entry;
	bool found = false;
	uint64_t number;
	FILE *file;

	if (!ts_number_parse(name, UINT32_MAX - 1, &number)) {
		*ret_owner = (uid_t)number;
		return true;
	}
	file = fopen(subuid->passwd_path, "re");
	while (file && !found && (entry = fgetpwent(file)))
		if (!strcmp(entry->pw_name, name)) {
			*ret_owner = entry->pw_uid;
			found = true;
		}
	if (file)
		fclose(file);
	return found;
}

/* False: the line is no range. Changes it. */
static bool parse_line(const struct ts_subuid *subuid, char *line, struct range *ret_range)
{
	char *first = strchr(line, ':'), *count = first ? strchr(first + 1, ':') : NULL;
	uint64_t from, n;
	uid_t owner;

	if (!count)
		return false;
	*first++ = '\0';
	*count++ = '\0';
	count[strcspn(count, "\n")] = '\0';
	if (ts_number_parse(first, UINT32_MAX - 1, &from) ||
	    ts_number_parse(count, UINT32_MAX, &n) || !n || from + n > UINT32_MAX)
		return false;
	*ret_range = (struct range){(uid_t)from, (uid_t)(from + n - 1), (uid_t)from};
	/* A container of root's is not root: its range counts as a user of its own. */
	if (find_owner(subuid, line, &owner) && owner && owner != getuid())
		ret_range->owner = owner;
	return true;
}

static int add_range(struct ts_subuid *subuid, const struct range *range)
{
	size_t n = subuid->n_allocated ? 2 * subuid->n_allocated : 16;
	struct range *grown;

	if (subuid->n_ranges == SUBUID_MAX_RANGES)
		return -E2BIG;
	if (subuid->n_ranges == subuid->n_allocated) {
		grown = realloc(subuid->ranges, n * sizeof(*grown));
		if (!grown)
			return ts_error_origin(-ENOMEM);
		subuid->ranges = grown;
		subuid->n_allocated = n;
	}
	subuid->ranges[subuid->n_ranges++] = *range;
	return 0;
}

static void read_ranges(struct ts_subuid *subuid)
{
	FILE *file = fopen(subuid->subuid_path, "re");
	struct range range;
	char line[512];
	int r = 0;

	subuid->n_ranges = 0;
	while (file && !r && fgets(line, sizeof(line), file))
		if (parse_line(subuid, line, &range))
			r = add_range(subuid, &range);
	if (file)
		fclose(file);
	if (r)
		ts_log(TS_LOG_WARNING, "%s: ranges after the first %zu count as users of their own",
		       subuid->subuid_path, subuid->n_ranges);
}

static void look_again(struct ts_subuid *subuid)
{
	struct stat status = {0};

	if (stat(subuid->subuid_path, &status) < 0)
		status = (struct stat){0};
	if (subuid->is_read && status.st_ino == subuid->status.st_ino &&
	    status.st_size == subuid->status.st_size &&
	    status.st_mtim.tv_sec == subuid->status.st_mtim.tv_sec &&
	    status.st_mtim.tv_nsec == subuid->status.st_mtim.tv_nsec)
		return;
	subuid->status = status;
	subuid->is_read = true;
	read_ranges(subuid);
}

uid_t ts_subuid_owner(struct ts_subuid *subuid, uid_t uid)
{
	look_again(subuid);
	/* A few hundred entries at most on real machines, looked at once for each account. */
	for (size_t i = 0; i < subuid->n_ranges; i++)
		if (uid >= subuid->ranges[i].first && uid <= subuid->ranges[i].last)
			return subuid->ranges[i].owner;
	return uid;
}
