/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounts: how much each person uses of the resources that all users of the daemon share. A person
 * is a uid with its ranges of subordinate uids (/etc/subuid), so containers of one person share one
 * account. Each resource that a peer can use is charged before its allocation and given back after
 * its release.
 *
 * Shares: one user gets at most a quarter of a resource, unless the table in users.c has another
 * number. The last quarter is reserved for root and the daemon's own user. These two have no share
 * of their own, only the total limit.
 *
 * Thread-safe. Accounts belong to their list, which must outlive them.
 */
#pragma once

#include <sys/types.h>

#include "daemon/serve/limits.h"

struct ts_users;
struct ts_user;

/* Descriptors that clients may send ahead of their requests, per allowed client. */
#define TS_USERS_CLIENT_FDS 4u

/*
 * Limits for all users together: libraries with probes, and processes that have called such a
 * library.
 */
#define TS_USERS_PROBED_FILES  256u
#define TS_USERS_OBSERVED_PIDS 16384u

enum ts_resource {
	TS_RESOURCE_PLACES,	 /* connections of processes, with or without a session */
	TS_RESOURCE_CONNECTIONS, /* connections without a session */
	TS_RESOURCE_SESSIONS,	 /* connections with a session */
	TS_RESOURCE_CLIENTS,	 /* connections of tsctl */
	TS_RESOURCE_CLIENT_FDS,	 /* descriptors that clients sent ahead of requests */
	TS_RESOURCE_QUERIES,
	TS_RESOURCE_TRACES, /* traces of ended sessions, ready to open */
	TS_RESOURCE_DEFINITION_BYTES,
	/* Memory of sessions and of the writers of their files, without definitions. */
	TS_RESOURCE_MEMORY_BYTES,
	TS_RESOURCE_DISK_BYTES, /* trace files of a service, live and finished */
	TS_RESOURCE_DISK_FILES,
	/* Libraries with probes, and libraries that probes cannot be attached to. */
	TS_RESOURCE_PROBED_FILES,
	TS_RESOURCE_OBSERVED,	   /* sessions of observed processes */
	TS_RESOURCE_OBSERVED_PIDS, /* processes that probes or mappings reported */
	TS_RESOURCE_N
};

/* Returns the default share of one user. */
static inline uint64_t ts_users_quarter(uint64_t most)
{
	return (most + 3) / 4;
}

/*
 * Creates the list of accounts. `is_service` false: resources without a reserved quarter have no
 * limit per user. Returns 0 or -ENOMEM.
 */
int ts_users_new(const struct ts_limits *limits, bool is_service, struct ts_users **ret_users);
/* Frees the list. All references to accounts must be released before. NULL is accepted. */
void ts_users_free(struct ts_users *users);

/*
 * Returns a reference to the account of a uid; release it with ts_user_unref(). If memory is short,
 * all users without an account share one. Reads /etc/subuid again after a change.
 */
struct ts_user *ts_users_ref(struct ts_users *users, uid_t uid);
/* Adds a reference to the account, and returns the account. */
struct ts_user *ts_user_ref(struct ts_user *user);
void ts_user_unref(struct ts_user *user); /* NULL is accepted */

/* Returns the uid of the account's owner, not that of a process in a container. */
uid_t ts_user_uid(const struct ts_user *user);

struct ts_users *ts_user_users(const struct ts_user *user);

/*
 * Charges n units of a resource to the user. False: the user's limit or the total limit would be
 * exceeded; then nothing is charged.
 */
bool ts_user_take(struct ts_user *user, enum ts_resource resource, uint64_t n);
void ts_user_give(struct ts_user *user, enum ts_resource resource, uint64_t n);

/*
 * Charges n units that exist already, even if a limit is exceeded. ts_user_give() gives them back.
 */
void ts_user_put(struct ts_user *user, enum ts_resource resource, uint64_t n);

/*
 * ts_user_most() returns the limit of the user. ts_users_most() returns the limit of all users
 * without privilege together. UINT64_MAX: no limit.
 */
uint64_t ts_user_most(const struct ts_user *user, enum ts_resource resource);
uint64_t ts_users_most(const struct ts_users *users, enum ts_resource resource);

/* Returns the amount of the resource that the user has now. */
uint64_t ts_user_has(const struct ts_user *user, enum ts_resource resource);
/* Returns the amount of the resource that all users together have now. */
uint64_t ts_users_have(const struct ts_users *users, enum ts_resource resource);
