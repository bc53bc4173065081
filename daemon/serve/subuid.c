/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads subuid(5) and looks up uids in its ranges. users.c calls this module for each new reference
 * to an account. The administrator writes the files. Nevertheless a wrong range must never give a
 * process a privilege or another user's account.
 *
 * Reading makes a sorted list of intervals that do not overlap:
 *	people   names and uids of the passwd file
 *	lines    NAME:FIRST:COUNT; other lines are skipped; each line gets the uid of its owner
 *	pieces   sweep over the lines by first uid: parts with one owner, and parts with several
 * A lookup is two binary searches: in people, then in pieces.
 */
#include "daemon/serve/subuid.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/util/daemon-error.h"
#include "daemon/util/number.h"
#include "proto/abi/grow.h"

#define SUBUID_PATH	 "/etc/subuid"
#define PASSWD_PATH	 "/etc/passwd"
#define SUBUID_MAX_LINES 65536u
#define PASSWD_MAX_LINES 1048576u
/* Bound for owners that are subordinate uids themselves: a container's user with its own ranges. */
#define SUBUID_MAX_DEPTH 8

struct person {
	char *name;
	uid_t uid;
};

struct line {
	char *name; /* name of the owner; empty for root and the daemon's own user */
	uid_t first, last, owner;
	bool is_person;
};

struct piece {
	uid_t first, last; /* inclusive */
	uid_t owner;
};

struct array {
	void *items;
	size_t n, n_allocated;
};

struct table {
	struct array names;  /* struct person, by name */
	struct array people; /* uid_t, sorted */
	struct array lines;  /* struct line; only while the table is built */
	struct array pieces; /* struct piece, sorted */
};

struct ts_subuid {
	const char *subuid_path, *passwd_path;
	/* status of the files from which `table` was read */
	struct stat subuid_status, passwd_status;
	bool is_read;
	struct table table;
};

static int array_add(struct array *array, const void *item, size_t n_bytes)
{
	if (ts_grow(&array->items, &array->n_allocated, array->n + 1, n_bytes))
		return ts_error_origin(-ENOMEM);
	memcpy((char *)array->items + array->n++ * n_bytes, item, n_bytes);
	return 0;
}

static void array_sort(struct array *array, size_t n_bytes,
		       int (*compare)(const void *, const void *))
{
	if (array->n)
		qsort(array->items, array->n, n_bytes, compare);
}

static void free_lines(struct table *table)
{
	struct line *lines = table->lines.items;

	for (size_t i = 0; i < table->lines.n; i++)
		free(lines[i].name);
	free(lines);
	table->lines = (struct array){0};
}

static void free_names(struct table *table)
{
	struct person *names = table->names.items;

	for (size_t i = 0; i < table->names.n; i++)
		free(names[i].name);
	free(names);
	table->names = (struct array){0};
}

static void table_deinit(struct table *table)
{
	free_lines(table);
	free_names(table);
	free(table->people.items);
	free(table->pieces.items);
	*table = (struct table){0};
}

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
	table_deinit(&subuid->table);
	free(subuid);
}

/* ---- people ---- */

static int compare_names(const void *a, const void *b)
{
	const struct person *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int compare_uids(const void *a, const void *b)
{
	uid_t x = *(const uid_t *)a, y = *(const uid_t *)b;

	return x < y ? -1 : x > y;
}

static int add_person(struct table *table, const struct passwd *entry)
{
	struct person person = {strdup(entry->pw_name), entry->pw_uid};
	int r = person.name ? array_add(&table->names, &person, sizeof(person)) : -ENOMEM;

	if (r) {
		free(person.name);
		return r;
	}
	return array_add(&table->people, &person.uid, sizeof(person.uid));
}

/* Opens a file; a missing file counts as empty. */
static int open_file(const char *path, FILE **ret_file)
{
	*ret_file = fopen(path, "re");
	return *ret_file || errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
}

/* Closes the file; NULL is accepted. Returns -EIO if the file could not be read to its end. */
static int close_file(FILE *file)
{
	int r = file && ferror(file) ? -EIO : 0;

	if (file)
		fclose(file);
	return r;
}

static int read_people(struct table *table, const char *path)
{
	const struct passwd *entry;
	FILE *file;
	int r = open_file(path, &file);

	while (!r && file && table->names.n < PASSWD_MAX_LINES && (entry = fgetpwent(file)))
		r = add_person(table, entry);
	r = close_file(file) ?: r;
	array_sort(&table->names, sizeof(struct person), compare_names);
	array_sort(&table->people, sizeof(uid_t), compare_uids);
	return r;
}

/* True for uids that have their own account, even inside a range. */
static bool is_person(const struct table *table, uid_t uid)
{
	return !uid || uid == getuid() ||
	       (table->people.n &&
		bsearch(&uid, table->people.items, table->people.n, sizeof(uid), compare_uids));
}

/* ---- lines ---- */

/*
 * Finds the uid of a line's owner, which is a name or a number: subuid(5). False: the passwd file
 * does not have the name.
 */
static bool find_owner(const struct table *table, char *name, uid_t *ret_owner)
{
	const struct person key = {name, 0}, *found;
	uint64_t number;

	found = table->names.n ? bsearch(&key, table->names.items, table->names.n, sizeof(key),
					 compare_names)
			       : NULL;
	if (found) {
		*ret_owner = found->uid;
		return true;
	}
	if (ts_number_parse(name, UINT32_MAX - 1, &number))
		return false;
	*ret_owner = (uid_t)number;
	return true;
}

/* Parses a line in place; ret_line->name points into `text`. False: the line is not a range. */
static bool parse_line(const struct table *table, char *text, struct line *ret_line)
{
	char *first = strchr(text, ':'), *count = first ? strchr(first + 1, ':') : NULL;
	uint64_t from, n;
	uid_t owner;

	if (!count || first == text)
		return false;
	*first++ = '\0';
	*count++ = '\0';
	count[strcspn(count, "\n")] = '\0';
	if (ts_number_parse(first, UINT32_MAX - 1, &from) ||
	    ts_number_parse(count, UINT32_MAX, &n) || !n || from + n > UINT32_MAX)
		return false;
	*ret_line = (struct line){text, (uid_t)from, (uid_t)(from + n - 1), 0, false};
	if (!find_owner(table, text, &owner))
		return true;
	ret_line->is_person = owner && owner != getuid();
	ret_line->owner = owner;
	/* The uids of root's ranges are for containers. They do not get root's account. */
	if (!ret_line->is_person)
		*text = '\0';
	return true;
}

static int add_line(struct table *table, char *text, size_t n_bytes)
{
	struct line line;
	int r;

	if (memchr(text, '\0', n_bytes) || !parse_line(table, text, &line))
		return 0;
	if (table->lines.n == SUBUID_MAX_LINES)
		return -E2BIG;
	line.name = strdup(line.name);
	r = line.name ? array_add(&table->lines, &line, sizeof(line)) : ts_error_origin(-ENOMEM);
	if (r)
		free(line.name);
	return r;
}

static int read_lines(struct table *table, const char *path)
{
	ts_cleanup(ts_freep) char *text = NULL;
	size_t n_text = 0;
	ssize_t n;
	FILE *file;
	int r = open_file(path, &file);

	while (!r && file && (n = getline(&text, &n_text, file)) >= 0)
		r = add_line(table, text, (size_t)n);
	r = close_file(file) ?: r;
	if (r != -E2BIG)
		return r;
	ts_log(TS_LOG_WARNING,
	       "%s: only the first %u ranges are used; each uid outside them counts as a user",
	       path, SUBUID_MAX_LINES);
	return 0;
}

/* Orders lines without a person first, by name and first uid; then lines of persons. */
static int compare_owners(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int r = x->is_person - y->is_person;

	r = r ?: strcmp(x->name, y->name);
	return r ?: compare_uids(&x->first, &y->first);
}

/*
 * Returns the first uid of a range that is not a person's. This uid becomes the account of the
 * range.
 */
static uid_t name_account(const struct table *table, uid_t first, uid_t last)
{
	while (first < last && is_person(table, first))
		first++;
	return first;
}

static void name_owners(struct table *table)
{
	struct line *lines = table->lines.items;

	array_sort(&table->lines, sizeof(*lines), compare_owners);
	for (size_t i = 0; i < table->lines.n && !lines[i].is_person; i++)
		/*
		 * If all uids of the range are persons', the account is a person's uid, which the
		 * owner's next ranges must not inherit.
		 */
		lines[i].owner = i && !strcmp(lines[i].name, lines[i - 1].name) &&
						 !is_person(table, lines[i - 1].owner)
					 ? lines[i - 1].owner
					 : name_account(table, lines[i].first, lines[i].last);
}

/* ---- pieces ---- */

static int compare_firsts(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return compare_uids(&x->first, &y->first);
}

/*
 * State of the sweep. `end` is the largest end of the lines so far, and `owner` the owner of that
 * line. `second_end` is the largest end among the lines of all other owners.
 */
struct sweep {
	uint64_t at;
	uint64_t end, second_end; /* exclusive */
	uid_t owner;
};

static int add_piece(struct table *table, uint64_t first, uint64_t end, uid_t owner)
{
	const struct piece piece = {(uid_t)first, (uid_t)(end - 1), owner};

	return first < end ? array_add(&table->pieces, &piece, sizeof(piece)) : 0;
}

/* Adds the pieces up to `to`, where the next range begins. */
static int sweep_to(struct table *table, struct sweep *sweep, uint64_t to)
{
	uint64_t shared_end = sweep->second_end < to ? sweep->second_end : to;
	uint64_t own_end = sweep->end < to ? sweep->end : to, own = sweep->at;
	int r = 0;

	if (sweep->at < shared_end) {
		r = add_piece(table, sweep->at, shared_end,
			      name_account(table, (uid_t)sweep->at, (uid_t)(shared_end - 1)));
		own = shared_end;
	}
	sweep->at = to;
	return r ?: add_piece(table, own, own_end, sweep->owner);
}

static void sweep_over(struct sweep *sweep, const struct line *line)
{
	uint64_t end = (uint64_t)line->last + 1;

	if (line->owner == sweep->owner) {
		sweep->end = end > sweep->end ? end : sweep->end;
	} else if (end > sweep->end) {
		sweep->second_end = sweep->end;
		sweep->end = end;
		sweep->owner = line->owner;
	} else if (end > sweep->second_end) {
		sweep->second_end = end;
	}
}

static int make_pieces(struct table *table)
{
	const struct line *lines = table->lines.items;
	struct sweep sweep = {0};
	int r = 0;

	array_sort(&table->lines, sizeof(*lines), compare_firsts);
	for (size_t i = 0; !r && i < table->lines.n; i++) {
		r = sweep_to(table, &sweep, lines[i].first);
		sweep_over(&sweep, &lines[i]);
	}
	return r ?: sweep_to(table, &sweep, UINT32_MAX);
}

/* ---- lookup ---- */

static int read_table(struct ts_subuid *subuid)
{
	struct table table = {0};
	int r = read_people(&table, subuid->passwd_path);

	r = r ?: read_lines(&table, subuid->subuid_path);
	name_owners(&table);
	r = r ?: make_pieces(&table);
	free_lines(&table);
	free_names(&table);
	if (r) {
		table_deinit(&table);
		return r;
	}
	table_deinit(&subuid->table);
	subuid->table = table;
	return 0;
}

/* True if the file differs from *status, which is updated. */
static bool has_changed(const char *path, struct stat *status)
{
	struct stat now = {0}, before = *status;

	if (stat(path, &now) < 0)
		now = (struct stat){0};
	*status = now;
	return now.st_dev != before.st_dev || now.st_ino != before.st_ino ||
	       now.st_size != before.st_size || now.st_mtim.tv_sec != before.st_mtim.tv_sec ||
	       now.st_mtim.tv_nsec != before.st_mtim.tv_nsec;
}

static void look_again(struct ts_subuid *subuid)
{
	bool changed = has_changed(subuid->subuid_path, &subuid->subuid_status);
	int r;

	changed |= has_changed(subuid->passwd_path, &subuid->passwd_status);
	if (subuid->is_read && !changed)
		return;
	r = read_table(subuid);
	/*
	 * After one of these errors, which may be temporary, the next call reads the files again.
	 * After other errors, only a change of the files causes another reading.
	 */
	subuid->is_read = r != -EMFILE && r != -ENFILE && r != -ENOMEM;
	if (r)
		ts_log(TS_LOG_WARNING,
		       "cannot read %s: %s; the ranges that were read before stay in use",
		       subuid->subuid_path, strerror(-r));
}

static int compare_piece(const void *key, const void *item)
{
	const struct piece *piece = item;
	uid_t uid = *(const uid_t *)key;

	return uid < piece->first ? -1 : uid > piece->last;
}

uid_t ts_subuid_owner(struct ts_subuid *subuid, uid_t uid)
{
	const struct array *pieces = &subuid->table.pieces;

	look_again(subuid);
	for (int depth = 0; depth < SUBUID_MAX_DEPTH && !is_person(&subuid->table, uid); depth++) {
		const struct piece *piece = pieces->n ? bsearch(&uid, pieces->items, pieces->n,
								sizeof(*piece), compare_piece)
						      : NULL;

		if (!piece || piece->owner == uid)
			break;
		uid = piece->owner;
	}
	return uid;
}
