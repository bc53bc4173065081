/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The accounts of users.h. Every file of daemon/serve that serves strangers calls this module; this
 * module calls subuid.c for the owner of a uid. Sums are atomic counters, so threads of sessions
 * charge without a lock. Accounts are in a hash table by uid, because a user namespace can bring
 * 65,536 uids.
 */
#include "daemon/serve/users.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/serve/subuid.h"
#include "daemon/util/daemon-error.h"
#include "proto/abi/map.h"

struct ts_user {
	struct ts_users *users;
	uid_t uid;
	bool is_privileged; /* root, or the daemon's own user */
	unsigned n_refs;    /* guarded by the mutex of struct ts_users */
	uint64_t has[TS_RESOURCE_N];
};

struct share {
	uint64_t most;	    /* limit of all users together */
	uint64_t most_user; /* limit of one user */
	bool binds_all;	    /* the limit per user applies to root and the daemon's own user, too */
	/* the last quarter of `most` is reserved for root and the daemon's own user */
	bool keeps_quarter;
};

struct ts_users {
	pthread_mutex_t mutex;
	struct ts_map by_uid;	  /* all other accounts; struct ts_user * by uid */
	struct ts_user root, own; /* always exist, so they need no allocation */
	struct ts_user anybody;	  /* shared by users whose account could not be allocated */
	struct ts_subuid *subuid;
	struct share shares[TS_RESOURCE_N];
	uint64_t have[TS_RESOURCE_N];
};

static struct share quarter_of(uint64_t most)
{
	return (struct share){.most = most,
			      .most_user = ts_users_quarter(most),
			      .keeps_quarter = true};
}

/* Returns the share for these limits; a limit of 0 means no limit. */
static struct share disk_share(uint64_t most, uint64_t most_user)
{
	return (struct share){.most = most ?: UINT64_MAX,
			      .most_user = most_user ?: UINT64_MAX,
			      .keeps_quarter = most != 0};
}

static void fill_shares(struct ts_users *users, const struct ts_limits *limits)
{
	struct share *shares = users->shares;

	shares[TS_RESOURCE_PLACES] = (struct share){
		.most = UINT64_MAX,
		.most_user = limits->max_sessions_user,
	};
	shares[TS_RESOURCE_CONNECTIONS] = quarter_of(limits->max_connections);
	shares[TS_RESOURCE_SESSIONS] = (struct share){
		.most = limits->max_sessions,
		.most_user = limits->max_sessions_user,
		.binds_all = true,
		.keeps_quarter = true,
	};
	shares[TS_RESOURCE_CLIENTS] = quarter_of(limits->max_clients);
	shares[TS_RESOURCE_CLIENT_FDS] = quarter_of(TS_USERS_CLIENT_FDS * limits->max_clients);
	shares[TS_RESOURCE_QUERIES] = quarter_of(limits->max_queries);
	shares[TS_RESOURCE_TRACES] = (struct share){
		.most = limits->max_traces,
		.most_user = ts_users_quarter(limits->max_traces),
		.binds_all = true,
	};
	shares[TS_RESOURCE_DEFINITION_BYTES] = quarter_of(limits->max_definition_bytes_all);
	shares[TS_RESOURCE_MEMORY_BYTES] = quarter_of(limits->max_memory);
	shares[TS_RESOURCE_DISK_BYTES] =
		disk_share(limits->max_disk_bytes, limits->max_disk_bytes_user);
	shares[TS_RESOURCE_DISK_FILES] =
		disk_share(limits->max_disk_files, ts_users_quarter(limits->max_disk_files));
	shares[TS_RESOURCE_PROBED_FILES] = quarter_of(TS_USERS_PROBED_FILES);
	shares[TS_RESOURCE_OBSERVED] = (struct share){
		.most = limits->max_sessions,
		.most_user = limits->max_sessions_user,
		.keeps_quarter = true,
	};
	shares[TS_RESOURCE_OBSERVED_PIDS] = quarter_of(TS_USERS_OBSERVED_PIDS);
}

int ts_users_new(const struct ts_limits *limits, bool is_service, struct ts_users **ret_users)
{
	struct ts_users *users = calloc(1, sizeof(*users));
	int r = users ? ts_subuid_new(NULL, NULL, &users->subuid) : -ENOMEM;

	if (r) {
		free(users);
		return ts_error_origin(r);
	}
	pthread_mutex_init(&users->mutex, NULL);
	users->anybody = (struct ts_user){.users = users, .uid = (uid_t)-1};
	users->root = (struct ts_user){.users = users, .uid = 0, .is_privileged = true};
	users->own = (struct ts_user){.users = users, .uid = getuid(), .is_privileged = true};
	fill_shares(users, limits);
	/*
	 * In private and record mode the daemon serves one user, so a resource without a reserved
	 * quarter has no limit per user.
	 */
	for (unsigned i = 0; !is_service && i < TS_RESOURCE_N; i++)
		if (!users->shares[i].keeps_quarter)
			users->shares[i].most_user = UINT64_MAX;
	*ret_users = users;
	return 0;
}

void ts_users_free(struct ts_users *users)
{
	if (!users)
		return;
	ts_map_deinit(&users->by_uid);
	ts_subuid_free(users->subuid);
	pthread_mutex_destroy(&users->mutex);
	free(users);
}

static struct ts_user *find_user(struct ts_users *users, uid_t uid)
{
	if (!uid)
		return &users->root;
	if (uid == users->own.uid)
		return &users->own;
	return ts_map_get_pointer(&users->by_uid, uid);
}

static struct ts_user *add_user(struct ts_users *users, uid_t uid)
{
	struct ts_user *user = calloc(1, sizeof(*user));

	if (!user || ts_map_set_pointer(&users->by_uid, uid, user)) {
		free(user);
		return &users->anybody;
	}
	*user = (struct ts_user){.users = users, .uid = uid};
	return user;
}

struct ts_user *ts_users_ref(struct ts_users *users, uid_t uid)
{
	struct ts_user *user;

	pthread_mutex_lock(&users->mutex);
	uid = ts_subuid_owner(users->subuid, uid);
	user = find_user(users, uid) ?: add_user(users, uid);
	user->n_refs++;
	pthread_mutex_unlock(&users->mutex);
	return user;
}

struct ts_user *ts_user_ref(struct ts_user *user)
{
	pthread_mutex_lock(&user->users->mutex);
	user->n_refs++;
	pthread_mutex_unlock(&user->users->mutex);
	return user;
}

void ts_user_unref(struct ts_user *user)
{
	struct ts_users *users;

	if (!user)
		return;
	users = user->users;
	pthread_mutex_lock(&users->mutex);
	if (--user->n_refs == 0 && user != &users->anybody && user != &users->root &&
	    user != &users->own) {
		ts_map_remove(&users->by_uid, user->uid);
		free(user);
	}
	pthread_mutex_unlock(&users->mutex);
}

uid_t ts_user_uid(const struct ts_user *user)
{
	return user->uid;
}

struct ts_users *ts_user_users(const struct ts_user *user)
{
	return user->users;
}

/* Adds n unless the sum would exceed `most`. Other threads never see a sum above `most`. */
static bool add_up_to(uint64_t *sum, uint64_t n, uint64_t most)
{
	uint64_t now = __atomic_load_n(sum, __ATOMIC_RELAXED);

	do {
		if (now > most || n > most - now)
			return false;
	} while (!__atomic_compare_exchange_n(sum, &now, now + n, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return true;
}

uint64_t ts_user_most(const struct ts_user *user, enum ts_resource resource)
{
	const struct share *share = &user->users->shares[resource];

	return user->is_privileged && !share->binds_all ? UINT64_MAX : share->most_user;
}

uint64_t ts_users_most(const struct ts_users *users, enum ts_resource resource)
{
	const struct share *share = &users->shares[resource];

	return share->keeps_quarter ? share->most - share->most / 4 : share->most;
}

bool ts_user_take(struct ts_user *user, enum ts_resource resource, uint64_t n)
{
	struct ts_users *users = user->users;
	uint64_t most =
		user->is_privileged ? users->shares[resource].most : ts_users_most(users, resource);

	if (!add_up_to(&user->has[resource], n, ts_user_most(user, resource)))
		return false;
	if (add_up_to(&users->have[resource], n, most))
		return true;
	__atomic_sub_fetch(&user->has[resource], n, __ATOMIC_RELAXED);
	return false;
}

void ts_user_put(struct ts_user *user, enum ts_resource resource, uint64_t n)
{
	__atomic_add_fetch(&user->has[resource], n, __ATOMIC_RELAXED);
	__atomic_add_fetch(&user->users->have[resource], n, __ATOMIC_RELAXED);
}

void ts_user_give(struct ts_user *user, enum ts_resource resource, uint64_t n)
{
	__atomic_sub_fetch(&user->has[resource], n, __ATOMIC_RELAXED);
	__atomic_sub_fetch(&user->users->have[resource], n, __ATOMIC_RELAXED);
}

uint64_t ts_user_has(const struct ts_user *user, enum ts_resource resource)
{
	return __atomic_load_n(&user->has[resource], __ATOMIC_RELAXED);
}

uint64_t ts_users_have(const struct ts_users *users, enum ts_resource resource)
{
	return __atomic_load_n(&users->have[resource], __ATOMIC_RELAXED);
}
