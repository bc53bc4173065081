/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounts: how much each person has of what all users of the daemon share. A person is a uid with its ranges of subordinate
 * uids (/etc/subuid): containers of one person have one account. Everything that a peer can cause is taken from its account
 * before it exists, and given back after it is gone.
 *
 * Shares: one user has at most a quarter of a resource, unless the table in users.c says another number, and the last quarter is
 * left to root and the daemon's own user. These two have no share of their own, only the whole's bound.
 *
 * Thread-safe. Accounts belong to the list that made them, which outlives them.
 */
#pragma once

#include <sys/types.h>

#include "daemon/serve/limits.h"

struct ts_users;
struct ts_user;

/* Descriptors that clients may have sent ahead of their requests, for each client that may be there. */
#define TS_USERS_CLIENT_FDS 4u

/* Libraries that have probes at once, and processes that are known to have called one. */
#define TS_USERS_PROBED_FILES  256u
#define TS_USERS_OBSERVED_PIDS 16384u

enum ts_resource {
	TS_RESOURCE_PLACES,	 /* connections of processes, with a session or without */
	TS_RESOURCE_CONNECTIONS, /* of these: without a session so far */
	TS_RESOURCE_SESSIONS,	 /* of these: with one */
	TS_RESOURCE_CLIENTS,	 /* connections of tsctl */
	TS_RESOURCE_CLIENT_FDS,	 /* descriptors that clients sent ahead of their requests */
	TS_RESOURCE_QUERIES,
	TS_RESOURCE_TRACES, /* of sessions that are over, to hand out */
	TS_RESOURCE_DEFINITION_BYTES,
	TS_RESOURCE_MEMORY_BYTES, /* of sessions and of the files that they are written to, beside definitions */
	TS_RESOURCE_DISK_BYTES, /* of a service's trace files, live and finished */
	TS_RESOURCE_DISK_FILES,
	TS_RESOURCE_PROBED_FILES,  /* places of libraries that have probes, or have none to get */
	TS_RESOURCE_OBSERVED,	   /* sessions of processes that nobody preloaded */
	TS_RESOURCE_OBSERVED_PIDS, /* processes that probes or mappings reported */
	TS_RESOURCE_N
};

/* One user's share of a resource that has no other share. */
static inline uint64_t ts_users_quarter(uint64_t most)
{
	return (most + 3) / 4;
}

/* `is_service`: shares hold; otherwise one user has all, but for the whole's bounds. 0 or -ENOMEM. */
int ts_users_new(const struct ts_limits *limits, bool is_service, struct ts_users **ret_users);
/* All accounts are unreferenced before. NULL is fine. */
void ts_users_free(struct ts_users *users);

/*
 * The account that a uid counts for; ts_user_unref() ends the reference. Without memory for a new one, an account that everybody
 * without one shares. Reads /etc/subuid again when it has changed.
 */
struct ts_user *ts_users_ref(struct ts_users *users, uid_t uid);
/* Another reference to the same account. */
struct ts_user *ts_user_ref(struct ts_user *user);
void ts_user_unref(struct ts_user *user); /* NULL is fine */

/* The uid of the person: that of the account's owner, not of a container's process. */
uid_t ts_user_uid(const struct ts_user *user);

struct ts_users *ts_user_users(const struct ts_user *user);

/* Takes n of a resource for the user. False: the user, or the whole, has no more room; nothing is taken then. */
bool ts_user_take(struct ts_user *user, enum ts_resource resource, uint64_t n);
void ts_user_give(struct ts_user *user, enum ts_resource resource, uint64_t n);

/* Adds n that exist already, beyond every share if need be; ts_user_give() takes them away again. */
void ts_user_put(struct ts_user *user, enum ts_resource resource, uint64_t n);

/* How much the user, and all users without privilege together, may have. UINT64_MAX: no limit. */
uint64_t ts_user_most(const struct ts_user *user, enum ts_resource resource);
uint64_t ts_users_most(const struct ts_users *users, enum ts_resource resource);

/* How much the user has. */
uint64_t ts_user_has(const struct ts_user *user, enum ts_resource resource);
/* How much all have. */
uint64_t ts_users_have(const struct ts_users *users, enum ts_resource resource);
