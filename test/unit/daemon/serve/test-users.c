/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the accounts of users: ranges of subordinate uids, and shares. In a service four
 * subordinate uids of one person get one person's share, while another person is served.
 */
#include "test/unit/harness.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "daemon/serve/subuid.h"
#include "daemon/serve/users.h"
#include "daemon/util/log.h"
#include "test/unit/daemon/serve/world.h"

/* ---- ranges ---------------------------------------------------------------------------------- */

struct files {
	char directory[128], subuid[160], passwd[160];
	struct ts_subuid *table;
};

static void files_begin(struct files *f, const char *subuid)
{
	ts_log_setup(TS_LOG_NONE);
	directory_make(f->directory, sizeof(f->directory));
	snprintf(f->subuid, sizeof(f->subuid), "%s/subuid", f->directory);
	snprintf(f->passwd, sizeof(f->passwd), "%s/passwd", f->directory);
	file_write(f->subuid, subuid);
	file_write(f->passwd, PASSWD);
	ts_check_int(ts_subuid_new(f->subuid, f->passwd, &f->table), 0);
}

static void files_end(struct files *f)
{
	ts_subuid_free(f->table);
	directory_remove(f->directory);
}

static void check_owner(const struct files *f, uid_t uid, uid_t owner)
{
	ts_check_int(ts_subuid_owner(f->table, uid), owner);
}

TS_TEST(ranges)
{
	struct files f;

	files_begin(&f, "alice:200000:65536\n70002:300000:10\nbob:400000:1\nalice:500000:2");
	check_owner(&f, 199999, 199999);
	check_owner(&f, 200000, 70001);
	check_owner(&f, 265535, 70001);
	check_owner(&f, 265536, 265536);
	check_owner(&f, 300009, 70002);
	check_owner(&f, 300010, 300010);
	check_owner(&f, 400000, 70002);
	check_owner(&f, 400001, 400001);
	check_owner(&f, 500001, 70001);
	check_owner(&f, 70001, 70001);
	check_owner(&f, (uid_t)-1, (uid_t)-1);
	files_end(&f);
}

TS_TEST(malformed_lines)
{
	char text[8192];
	struct files f;
	int n;

	/* The tail of a line that is too long is no line of its own. */
	n = snprintf(text, sizeof(text),
		     "alice\nalice:200000\nalice::10\nalice:200000:\nalice:x:10\n"
		     ":200000:10\n\n::\nalice:200000:0\nalice:-1:10\nalice:200000:10x\n"
		     "alice:4294967295:1\nalice:4294967294:2\nalice:1:4294967296\n"
		     "alice:18446744073709551615:10\nalice:4294967000:18446744073709551615\n"
		     "alice: 200000:10\n# alice:200000:10\n");
	memset(text + n, 'x', 600);
	strcpy(text + n + 600, "alice:200000:10\nalice:600000:5:6\ncarol:700000:3\n");
	files_begin(&f, text);
	check_owner(&f, 1, 1);
	check_owner(&f, 200000, 200000);
	check_owner(&f, 600000, 600000);
	check_owner(&f, 4294967294u, 4294967294u);
	check_owner(&f, 4294967295u, 4294967295u);
	check_owner(&f, 700002, 70003);
	files_end(&f);
}

TS_TEST(largest_range)
{
	struct files f;

	files_begin(&f, "containers:2147483647:2147483648\nalice:1:4294967294\n");
	/*
	 * If the ranges of two owners contain the uid, the uid counts for neither of these owners.
	 */
	check_owner(&f, 4294967294u, 2147483647u);
	check_owner(&f, 2147483646u, 70001);
	check_owner(&f, 1, 70001);
	check_owner(&f, 0, 0);
	check_owner(&f, 70002, 70002);
	files_end(&f);
}

/* A range gives no privilege, and does not contain users with an account of their own. */
TS_TEST(no_privilege)
{
	struct files f;

	files_begin(&f, "root:100000:10\n0:200000:10\nroot:0:5\nghost:0:50\nalice:0:90000\n"
			"toor:300000:10\nwheel:70002:1\nwheel:400000:4\n");
	check_owner(&f, 0, 0);
	check_owner(&f, getuid(), getuid());
	for (uid_t uid = 1; uid < 500000; uid++)
		ts_check(ts_subuid_owner(f.table, uid) != 0);
	/* All ranges of root are one user. */
	check_owner(&f, 100009, 1);
	check_owner(&f, 200009, 1);
	/* A uid with an account is its own owner, even if a range contains the uid. */
	check_owner(&f, 70001, 70001);
	check_owner(&f, 70002, 70002);
	check_owner(&f, 70004, 70001);
	/*
	 * An unknown name gets no person's account, even if one of its ranges begins with a
	 * person's uid.
	 */
	check_owner(&f, 400003, 400000);
	files_end(&f);
}

TS_TEST(overlaps)
{
	struct files f;

	files_begin(&f, "alice:200000:100\nbob:200050:100\nalice:200040:20\ncarol:200120:10\n"
			"alice:300000:10\nalice:300005:10\nbob:400000:100\ncarol:400010:10\n");
	check_owner(&f, 200000, 70001);
	check_owner(&f, 200049, 70001);
	check_owner(&f, 200050, 200050);
	check_owner(&f, 200099, 200050);
	check_owner(&f, 200100, 70002);
	check_owner(&f, 200119, 70002);
	check_owner(&f, 200120, 200120);
	check_owner(&f, 200129, 200120);
	check_owner(&f, 200130, 70002);
	check_owner(&f, 200149, 70002);
	check_owner(&f, 200150, 200150);
	check_owner(&f, 300014, 70001);
	check_owner(&f, 400009, 70002);
	check_owner(&f, 400015, 400010);
	check_owner(&f, 400020, 70002);
	files_end(&f);
}

TS_TEST(unknown_names)
{
	struct files f;

	files_begin(&f, "ghost:300000:10\nspectre:250000:10\nghost:200000:10\nghost:400000:10\n");
	check_owner(&f, 200005, 200000);
	check_owner(&f, 300005, 200000);
	check_owner(&f, 400005, 200000);
	check_owner(&f, 250005, 250000);
	/* The name gets an account. Only the file of accounts changes, not the file of ranges. */
	file_write(f.passwd, PASSWD "ghost:x:70009:70009::/:/bin/sh\n");
	check_owner(&f, 300005, 70009);
	check_owner(&f, 250005, 250000);
	files_end(&f);
}

/*
 * If the owner of a uid is itself a subordinate uid, the table returns that uid's owner. Two owners
 * that own each other do not make an endless loop.
 */
TS_TEST(ranges_of_subordinates)
{
	struct files f;

	files_begin(&f,
		    "alice:200000:1000\n200001:300000:10\n400001:500000:10\n500001:400000:10\n");
	check_owner(&f, 300005, 70001);
	ts_check(ts_subuid_owner(f.table, 400005) != 0);
	files_end(&f);
}

TS_TEST(changing_file)
{
	struct files f;
	char text[64];

	files_begin(&f, "");
	check_owner(&f, 200000, 200000);
	for (unsigned i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "%s:%u:10\n", i % 2 ? "alice" : "bob",
			 200000 + i % 10);
		file_write(f.subuid, text);
		check_owner(&f, 200009, i % 2 ? 70001 : 70002);
	}
	/*
	 * If a file cannot be read, the ranges stay as they were; if no file exists, there are no
	 * ranges.
	 */
	ts_check_int(unlink(f.subuid), 0);
	ts_check_int(mkdir(f.subuid, 0700), 0);
	check_owner(&f, 200009, 70001);
	ts_check_int(rmdir(f.subuid), 0);
	check_owner(&f, 200009, 200009);
	file_write(f.subuid, "alice:200000:10\n");
	check_owner(&f, 200009, 70001);
	files_end(&f);
}

TS_TEST(descriptors_run_out)
{
	int fds[64];
	struct rlimit no_more;
	struct files f;
	unsigned n = 0;

	files_begin(&f, "alice:200000:10\n");
	check_owner(&f, 200009, 70001);
	ts_check_int(getrlimit(RLIMIT_NOFILE, &no_more), 0);
	no_more.rlim_cur = 32;
	file_write(f.subuid, "bob:200000:10\n");
	ts_check_int(setrlimit(RLIMIT_NOFILE, &no_more), 0);
	while (n < 64 && (fds[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		n++;
	/* If no descriptor is free to read the file, the range stays alice's. */
	check_owner(&f, 200009, 70001);
	while (n)
		close(fds[--n]);
	check_owner(&f, 200009, 70002);
	files_end(&f);
}

/* Returns the time of a lookup among n_ranges ranges, including the checks of the files. */
static uint64_t lookup_ns(const struct files *f, unsigned n_ranges)
{
	const unsigned n_lookups = 20000;
	uint64_t begin_ns;
	FILE *file = fopen(f->subuid, "we");

	ts_check(file != NULL);
	for (unsigned i = 0; i < n_ranges; i++)
		fprintf(file, "%u:%u:1000\n", 80000 + i, 1000000 + 1000 * i);
	ts_check_int(fclose(file), 0);
	check_owner(f, 1000000, 80000);
	begin_ns = ts_clock_monotonic_ns();
	for (unsigned i = 0; i < n_lookups; i++)
		check_owner(f, 1000000 + 1000 * (n_ranges - 1 - i % n_ranges) + 999,
			    80000 + n_ranges - 1 - i % n_ranges);
	return (ts_clock_monotonic_ns() - begin_ns) / n_lookups;
}

TS_TEST(thousands_of_ranges)
{
	uint64_t few_ns, many_ns;
	struct files f;

	files_begin(&f, "");
	few_ns = lookup_ns(&f, 16);
	many_ns = lookup_ns(&f, 60000);
	fprintf(stderr, "a lookup: %" PRIu64 " ns among 16 ranges, %" PRIu64 " among 60000\n",
		few_ns, many_ns);
	/* A search through one range after the other would take more than ten times as long. */
	ts_check(many_ns < 4 * few_ns);
	files_end(&f);
}

/* ---- shares ---------------------------------------------------------------------------------- */

#define ALICE 70001u
#define BOB   70002u
#define CAROL 70003u

static struct ts_users *users_make(bool is_service)
{
	struct ts_limits limits;
	struct ts_users *users;

	ts_limits_init(&limits);
	ts_limits_complete(&limits, true);
	limits.max_clients = 16;
	limits.max_sessions = 8;
	limits.max_sessions_user = 2;
	ts_check_int(ts_users_new(&limits, is_service, &users), 0);
	return users;
}

static unsigned take_all(struct ts_user *user, enum ts_resource resource)
{
	unsigned n = 0;

	while (n < 1000 && ts_user_take(user, resource, 1))
		n++;
	return n;
}

TS_TEST(shares)
{
	struct ts_users *users = users_make(true);
	struct ts_user *user[5], *root = ts_users_ref(users, 0);

	for (uid_t i = 0; i < 5; i++)
		user[i] = ts_users_ref(users, ALICE + i);
	/* Each user has a quarter, and the last quarter is root's. */
	ts_check_int(take_all(user[0], TS_RESOURCE_CLIENTS), 4);
	ts_check(!ts_user_take(user[0], TS_RESOURCE_CLIENTS, 1));
	ts_check_int(take_all(user[1], TS_RESOURCE_CLIENTS), 4);
	ts_check_int(take_all(user[2], TS_RESOURCE_CLIENTS), 4);
	ts_check_int(take_all(user[3], TS_RESOURCE_CLIENTS), 0);
	ts_check_int(ts_user_has(user[3], TS_RESOURCE_CLIENTS), 0);
	ts_check_int(take_all(root, TS_RESOURCE_CLIENTS), 4);
	ts_check_int(ts_users_have(users, TS_RESOURCE_CLIENTS), 16);
	ts_user_give(root, TS_RESOURCE_CLIENTS, 4);
	ts_user_give(user[0], TS_RESOURCE_CLIENTS, 4);
	ts_check_int(take_all(user[3], TS_RESOURCE_CLIENTS), 4);
	/* The share of sessions binds root, too. */
	for (unsigned i = 0; i < 3; i++)
		ts_check_int(take_all(user[i], TS_RESOURCE_SESSIONS), 2);
	ts_check_int(take_all(root, TS_RESOURCE_SESSIONS), 2);
	ts_check_int(take_all(user[4], TS_RESOURCE_SESSIONS), 0);
	/* No sum overflows, and a refused request changes nothing. */
	ts_check(!ts_user_take(user[4], TS_RESOURCE_DEFINITION_BYTES, UINT64_MAX));
	ts_check(ts_user_take(root, TS_RESOURCE_PLACES, 5));
	ts_check(!ts_user_take(root, TS_RESOURCE_PLACES, UINT64_MAX - 4));
	ts_check_int(ts_user_has(root, TS_RESOURCE_PLACES), 5);
	ts_check_int(ts_users_have(users, TS_RESOURCE_DEFINITION_BYTES), 0);
	for (uid_t i = 0; i < 5; i++)
		ts_user_unref(user[i]);
	ts_user_unref(root);
	ts_users_free(users);
}

/* Returns the time to find an account among n accounts. */
static uint64_t account_ns(unsigned n)
{
	static struct ts_user *users_of[65536];
	const unsigned n_lookups = 65536;
	struct ts_users *users = users_make(true);
	uint64_t begin_ns, ns;

	for (unsigned i = 0; i < n; i++)
		users_of[i] = ts_users_ref(users, 1000000 + i);
	begin_ns = ts_clock_monotonic_ns();
	for (unsigned i = 0; i < n_lookups; i++) {
		struct ts_user *user = ts_users_ref(users, 1000000 + i * 7919 % n);

		ts_check(user == users_of[i * 7919 % n]);
		ts_user_unref(user);
	}
	ns = (ts_clock_monotonic_ns() - begin_ns) / n_lookups;
	for (unsigned i = 0; i < n; i++)
		ts_user_unref(users_of[i]);
	ts_users_free(users);
	return ns;
}

TS_TEST(many_uids)
{
	uint64_t few_ns = account_ns(16), many_ns = account_ns(65536);

	fprintf(stderr, "an account: %" PRIu64 " ns among 16, %" PRIu64 " among 65536\n", few_ns,
		many_ns);
	/*
	 * A search through one account after the other would take more than a hundred times as
	 * long.
	 */
	ts_check(many_ns < 20 * few_ns);
}

struct taker {
	struct ts_users *users;
	pthread_barrier_t *barrier;
	uid_t uid;
	uint64_t n_most; /* largest total of all users that this thread saw */
};

#define TAKER_ROUNDS 20000u

static void *take_and_give(void *data)
{
	struct taker *taker = data;

	pthread_barrier_wait(taker->barrier);
	for (unsigned i = 0; i < TAKER_ROUNDS; i++) {
		struct ts_user *user = ts_users_ref(taker->users, taker->uid);
		uint64_t n = 1 + i % 3, have;

		if (ts_user_take(user, TS_RESOURCE_CLIENTS, n)) {
			have = ts_users_have(taker->users, TS_RESOURCE_CLIENTS);
			taker->n_most = have > taker->n_most ? have : taker->n_most;
			ts_user_give(user, TS_RESOURCE_CLIENTS, n);
		}
		ts_user_unref(user);
	}
	return NULL;
}

TS_TEST(threads)
{
	struct ts_users *users = users_make(true);
	pthread_barrier_t barrier;
	struct taker takers[8];
	pthread_t threads[8];

	pthread_barrier_init(&barrier, NULL, 8);
	for (unsigned i = 0; i < 8; i++) {
		takers[i] = (struct taker){users, &barrier, ALICE + i / 2, 0};
		ts_check_int(pthread_create(&threads[i], NULL, take_and_give, &takers[i]), 0);
	}
	for (unsigned i = 0; i < 8; i++) {
		pthread_join(threads[i], NULL);
		ts_check(takers[i].n_most <= 12);
	}
	pthread_barrier_destroy(&barrier);
	ts_check_int(ts_users_have(users, TS_RESOURCE_CLIENTS), 0);
	ts_users_free(users);
}

/* ---- a service, four subordinate uids of one person, and another person ---------------------- */

#define N_SUBUIDS    4u
#define FIRST_SUBUID 200000u

static bool client_is_served(struct ts_client *client)
{
	Ts__Rpc__Answer *answer;
	int r = ts_client_status(client, &answer);

	if (!r)
		ts__rpc__answer__free_unpacked(answer, NULL);
	return !r;
}

static void session_is_over(int fd)
{
	producer_say(fd, TS_HANDSHAKE_BYE);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_DONE);
	close(fd);
}

/* Records a complete session with one launch. */
static void check_recorded(uid_t uid, const struct world *w)
{
	struct producer p;
	int fd;

	producer_init(&p, 2, true);
	produce(&p, 1);
	ts_check(session_as(uid, w, &p, &fd));
	session_is_over(fd);
	producer_deinit(&p);
}

/* True if the daemon closes the connection. */
static bool is_turned_away(int fd)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

	return poll(&poll_fd, 1, 300) == 1;
}

TS_TEST(subuids_connections)
{
	static const char *const options[][2] = {{"--max-connections", "16"}, {NULL, NULL}};
	int fds[N_SUBUIDS * 4], n_open = 0;
	struct world w;

	world_begin(&w, options);
	for (unsigned i = 0; i < N_SUBUIDS * 4; i++)
		fds[i] = connect_as(FIRST_SUBUID + i % N_SUBUIDS, w.service.inject, SOCK_SEQPACKET);
	check_recorded(BOB, &w);
	for (unsigned i = 0; i < N_SUBUIDS * 4; i++) {
		n_open += !is_turned_away(fds[i]);
		check_recorded(300000 + i, &w);
	}
	/* A quarter of the connections, without any HELLO. */
	ts_check_int(n_open, 4);
	for (unsigned i = 0; i < N_SUBUIDS * 4; i++)
		close(fds[i]);
	world_end(&w);
}

TS_TEST(subuids_sessions)
{
	static const char *const options[][2] = {{"--max-sessions", "8"},
						 {"--max-sessions-user", "2"},
						 {NULL, NULL}};
	struct producer p[N_SUBUIDS * 2];
	int fds[N_SUBUIDS * 2], fd, n_welcome = 0;
	struct world w;

	world_begin(&w, options);
	for (unsigned i = 0; i < N_SUBUIDS * 2; i++) {
		producer_init(&p[i], 1, true);
		n_welcome += session_as(FIRST_SUBUID + i % N_SUBUIDS, &w, &p[i], &fds[i]);
		check_recorded(BOB, &w);
	}
	ts_check_int(n_welcome, 2);
	/* The sessions count for alice, so alice herself gets no more. */
	ts_check(!session_as(ALICE, &w, &p[0], &fd));
	close(fd);
	for (unsigned i = 0; i < N_SUBUIDS * 2; i++) {
		close(fds[i]);
		producer_deinit(&p[i]);
	}
	world_end(&w);
}

TS_TEST(subuids_clients)
{
	static const char *const options[][2] = {{"--max-clients", "16"}, {NULL, NULL}};
	struct ts_client *clients[N_SUBUIDS * 4], *other;
	unsigned n_served = 0;
	struct world w;

	world_begin(&w, options);
	for (unsigned i = 0; i < N_SUBUIDS * 4; i++) {
		clients[i] = client_as(FIRST_SUBUID + i % N_SUBUIDS, &w);
		n_served += client_is_served(clients[i]);
		other = client_as(BOB, &w);
		ts_check(client_is_served(other));
		ts_client_free(other);
	}
	ts_check_int(n_served, 4);
	for (unsigned i = 0; i < N_SUBUIDS * 4; i++)
		ts_client_free(clients[i]);
	world_end(&w);
}

/* True if a question gets an error as its answer within `ms`. */
static bool is_refused(struct ts_client *client, int ms)
{
	struct pollfd poll_fd = {.fd = ts_client_fd(client), .events = POLLIN};

	return poll(&poll_fd, 1, ms) != 0;
}

TS_TEST(subuids_queries)
{
	static const char *const options[][2] = {{"--max-queries", "4"}, {NULL, NULL}};
	struct ts_client *clients[N_SUBUIDS], *other;
	unsigned n_refused = 0;
	struct world w;
	int file;

	world_begin(&w, options);
	file = open(w.subuid, O_RDONLY | O_CLOEXEC);
	ts_check(file >= 0);
	for (unsigned i = 0; i < N_SUBUIDS; i++) {
		clients[i] = client_as(FIRST_SUBUID + i, &w);
		ask_about(clients[i], file);
	}
	other = client_as(BOB, &w);
	ask_about(other, file);
	/*
	 * The first question uses the share; the service refuses the others. On a busy machine the
	 * refusal needs some seconds.
	 */
	for (unsigned i = 1; i < N_SUBUIDS; i++)
		n_refused += is_refused(clients[i], 20000);
	ts_check_int(n_refused, N_SUBUIDS - 1);
	ts_check(!is_refused(clients[0], 300));
	ts_check(!is_refused(other, 300));
	ts_client_free(other);
	for (unsigned i = 0; i < N_SUBUIDS; i++)
		ts_client_free(clients[i]);
	close(file);
	world_end(&w);
}

/* Defines 20 names of 12 KiB each. */
static void define_names(struct producer *p, char first)
{
	char name[12 * 1024];

	memset(name, 'x', sizeof(name));
	name[0] = first;
	name[sizeof(name) - 1] = '\0';
	producer_claim(p, 0, 1, "main");
	for (char i = 0; i < 20; i++) {
		name[1] = (char)('a' + i);
		producer_string(p, name);
	}
}

static uint64_t arena_full_of(struct ts_client *client, uint32_t session)
{
	struct ts_sbt_summary summary;
	struct ts_sbt_reader *reader;
	Ts__Rpc__Answer *answer;
	int file;

	ts_check_int(ts_client_open_trace(client, session, 0, &answer, &file), 0);
	ts__rpc__answer__free_unpacked(answer, NULL);
	ts_check_int(ts_sbt_reader_open(file, &reader, NULL), 0);
	ts_check_int(ts_sbt_reader_summary(reader, 0, &summary), 0);
	ts_sbt_reader_free(reader);
	close(file);
	return summary.lost[TS_LOSS_ARENA_FULL];
}

TS_TEST(subuids_definitions)
{
	static const char *const options[][2] = {{"--max-definition-bytes-all", "1M"},
						 {NULL, NULL}};
	struct producer p[N_SUBUIDS + 1];
	struct ts_client *client;
	int fds[N_SUBUIDS + 1];
	uint64_t n_unknown = 0;
	struct world w;

	world_begin(&w, options);
	client = client_as(0, &w);
	for (unsigned i = 0; i <= N_SUBUIDS; i++) {
		producer_init(&p[i], 1, true);
		define_names(&p[i], (char)('0' + i));
		ts_check(session_as(i < N_SUBUIDS ? FIRST_SUBUID + i : BOB, &w, &p[i], &fds[i]));
		n_unknown += i < N_SUBUIDS ? arena_full_of(client, i + 1) : 0;
	}
	ts_check_int(arena_full_of(client, N_SUBUIDS + 1), 0);
	/* A quarter of 1 MiB has room for 21 of 80. */
	ts_check(n_unknown >= 58);
	ts_client_free(client);
	for (unsigned i = 0; i <= N_SUBUIDS; i++) {
		close(fds[i]);
		producer_deinit(&p[i]);
	}
	world_end(&w);
}

TS_TEST(subuids_traces)
{
	static const char *const options[][2] = {{"--max-traces", "8"}, {NULL, NULL}};
	struct ts_client *client;
	Ts__Rpc__Answer *answer;
	struct world w;
	int file;

	world_begin(&w, options);
	check_recorded(BOB, &w);
	for (unsigned i = 0; i < N_SUBUIDS * 3; i++)
		check_recorded(FIRST_SUBUID + i % N_SUBUIDS, &w);
	client = client_as(BOB, &w);
	ts_check_int(ts_client_open_trace(client, 1, 0, &answer, &file), 0);
	ts__rpc__answer__free_unpacked(answer, NULL);
	close(file);
	ts_client_free(client);
	world_end(&w);
}

/* A service with `--system` starts on a full disk, and reports why it observes no process. */
TS_TEST(observing_on_a_full_disk)
{
	static const char *const options[][2] = {{"--system", "--keep-free=100000G"}, {NULL, NULL}};
	struct ts_client *client;
	Ts__Rpc__Answer *answer;
	struct world w;

	world_begin(&w, options);
	client = client_as(0, &w);
	ts_check_int(ts_client_status(client, &answer), 0);
	ts_check(strstr(answer->status->system_missing, "no more free space than --keep-free"));
	ts__rpc__answer__free_unpacked(answer, NULL);
	ts_client_free(client);
	world_end(&w);
}
