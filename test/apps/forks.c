/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forks WAY [CHILDREN [MOMENT]]: a program that creates children while it uses the GPU.
 * test/integration/test-fork.py runs it. WAY is fork, vfork, clone, spawn, exit (a forked child
 * that only ends), touch (a forked child whose driver call fails), or tree.
 *
 * The children of fork, vfork, clone and spawn execute this program again and use the GPU. Each
 * child writes its own truth, $TS_TRUTH.0 and so on.
 *
 * MOMENT is one of:
 *
 *	before  the main thread creates children before the first GPU call
 *	after   (default) a thread without GPU calls creates them, while three other threads launch
 *	within  the three launching threads create them, between two launches
 *
 * `tree` forks children before the first GPU call; each child forks children too.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "test/apps/gpu.h"

#define LAUNCHERS	3
#define MAX_CHILDREN	2000
#define AT_ONCE		8
#define CHILD_STATUS	5
#define TOUCH_STATUS	6
#define NOT_INITIALIZED 3 /* CUDA_ERROR_NOT_INITIALIZED */
#define N		64u
#define BURST		20
#define PAUSE_US	20000

static const char *way;
static int n_children;
static int n_made; /* also the number of the next child */
static int worst;
static int done;
static int n_making; /* threads that create children now */
static int (*driver_sync)(void);
static char environments[MAX_CHILDREN][4096 / 16];

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Does the GPU work of a child that executes this program again, or of a process of `tree`. */
static int use_gpu(int n_launches)
{
	float values[N] = {1}, *memory;

	gpu_open(NULL);
	memory = gpu_malloc(sizeof(values));
	gpu_h2d(memory, values, sizeof(values));
	for (int i = 0; i < n_launches; i++)
		gpu_nothing(gpu_default_stream(0));
	gpu_d2h(values, memory, sizeof(values));
	gpu_free(memory);
	gpu_device_sync();
	return gpu_close();
}

/*
 * Prepares the environment before vfork() and clone(), because their children may only call exec
 * and _exit.
 */
static char **child_environment(int number)
{
	static __thread char *environment[1024];
	const char *path = getenv(TS_TRUTH_ENVIRONMENT);
	size_t n = 0;

	for (char **e = environ; *e && n < 1000; e++)
		if (strncmp(*e, TS_TRUTH_ENVIRONMENT "=", sizeof(TS_TRUTH_ENVIRONMENT)))
			environment[n++] = *e;
	if (path) {
		snprintf(environments[number], sizeof(environments[number]),
			 TS_TRUTH_ENVIRONMENT "=%s.%d", path, number);
		environment[n++] = environments[number];
	}
	environment[n] = NULL;
	return environment;
}

static char child_words[3][8] = {"forks", "child", "20"};
static char *const child_argv[] = {child_words[0], child_words[1], child_words[2], NULL};

static int run_anew(void *environment)
{
	execve("/proc/self/exe", child_argv, environment);
	_exit(127);
}

static pid_t make_child(int number)
{
	char **environment = child_environment(number);
	pid_t child;

	if (!strcmp(way, "spawn")) {
		if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, child_argv, environment))
			fail("forks: posix_spawn");
		return child;
	}
	if (!strcmp(way, "vfork")) {
		child = vfork();
		if (!child) {
			execve("/proc/self/exe", child_argv, environment);
			_exit(127);
		}
		return child;
	}
	if (!strcmp(way, "clone")) {
		/*
		 * Odd children share the parent's memory and have their own stack. Even children
		 * have a copy of the parent's memory.
		 */
		static __thread char stack[65536] __attribute__((aligned(16)));

		if (number % 2)
			return clone(run_anew, stack + sizeof(stack),
				     CLONE_VM | CLONE_VFORK | SIGCHLD, environment);
		child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	} else {
		child = fork();
	}
	if (child)
		return child;
	if (!strcmp(way, "exit"))
		exit(CHILD_STATUS);
	if (!strcmp(way, "touch"))
		_exit(driver_sync() == NOT_INITIALIZED ? TOUCH_STATUS : 1);
	run_anew(environment);
	return 0;
}

static void reap(pid_t child)
{
	int expected = !strcmp(way, "exit")    ? CHILD_STATUS
		       : !strcmp(way, "touch") ? TOUCH_STATUS
					       : 0;
	int status;

	if (waitpid(child, &status, 0) != child)
		fail("forks: waitpid");
	if (WIFEXITED(status) && WEXITSTATUS(status) == expected)
		return;
	fprintf(stderr, "forks: a child ended with %x\n", (unsigned)status);
	__atomic_store_n(&worst, 1, __ATOMIC_RELAXED);
}

/* Creates children, AT_ONCE at a time, until n_children exist. */
static void *make_children(void *unused)
{
	pid_t children[AT_ONCE];
	int n, number = 0;

	do {
		/* During the pause all launchers resume launching. */
		__atomic_add_fetch(&n_making, 1, __ATOMIC_RELAXED);
		usleep(PAUSE_US);
		for (n = 0; n < AT_ONCE; n++) {
			number = __atomic_fetch_add(&n_made, 1, __ATOMIC_RELAXED);
			if (number >= n_children)
				break;
			children[n] = make_child(number);
			if (children[n] < 0)
				fail("forks: a child");
		}
		__atomic_sub_fetch(&n_making, 1, __ATOMIC_RELAXED);
		for (int i = 0; i < n; i++)
			reap(children[i]);
	} while (number < n_children);
	return unused;
}

/*
 * Launches without a break while children are created. At other times the thread pauses after each
 * burst, so that the size of the trace does not depend on the children's run time.
 */
static void *launch(void *makes_children)
{
	struct gpu_stream stream;

	gpu_set_device(0);
	stream = gpu_stream_create(true);
	for (int i = 0; !__atomic_load_n(&done, __ATOMIC_RELAXED); i++) {
		gpu_nothing(stream);
		if (i % 100 == 99)
			gpu_stream_sync(stream);
		if (!makes_children && i % BURST == BURST - 1 &&
		    !__atomic_load_n(&n_making, __ATOMIC_RELAXED))
			usleep(PAUSE_US);
		if (makes_children && i == 250)
			make_children(NULL);
		if (makes_children && i > 500)
			break;
	}
	gpu_stream_sync(stream);
	gpu_stream_destroy(stream);
	return NULL;
}

static void under_load(bool within)
{
	pthread_t launchers[LAUNCHERS], maker;

	for (long i = 0; i < LAUNCHERS; i++)
		if (pthread_create(&launchers[i], NULL, launch, (void *)(uintptr_t)within))
			fail("forks: a thread");
	if (!within &&
	    (pthread_create(&maker, NULL, make_children, NULL) || pthread_join(maker, NULL)))
		fail("forks: a thread");
	if (!within)
		__atomic_store_n(&done, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < LAUNCHERS; i++)
		pthread_join(launchers[i], NULL);
}

/* Forks a tree of processes before the first GPU call. Each process of the tree uses the GPU. */
static int tree(int depth)
{
	const char *path = getenv(TS_TRUTH_ENVIRONMENT);
	char name[4096];
	int status, sum = 0;

	for (int i = 0; depth && i < n_children; i++) {
		pid_t child = fork();

		if (child < 0)
			fail("forks: fork");
		if (child)
			continue;
		snprintf(name, sizeof(name), "%s.%d", path ? path : "", i);
		if (path)
			setenv(TS_TRUTH_ENVIRONMENT, name, 1);
		exit(tree(depth - 1));
	}
	status = use_gpu(10 * (depth + 1));
	while (wait(&sum) > 0)
		status |= sum;
	return status != 0;
}

int main(int argc, char **argv)
{
	const char *moment = argc > 3 ? argv[3] : "after";
	int status;

	way = argc > 1 ? argv[1] : "fork";
	n_children = argc > 2 ? atoi(argv[2]) : 10;
	if (n_children < 1 || n_children > MAX_CHILDREN)
		return 2;
	if (!strcmp(way, "child"))
		return use_gpu(n_children);
	if (!strcmp(way, "tree"))
		return tree(2);
	if (!strcmp(moment, "before"))
		make_children(NULL);
	gpu_open(NULL);
	driver_sync = (int (*)(void))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxSynchronize");
	gpu_nothing(gpu_default_stream(0));
	if (strcmp(moment, "before"))
		under_load(!strcmp(moment, "within"));
	gpu_device_sync();
	status = gpu_close() | worst;
	if (!status)
		printf("forks: %d by %s, %s\n", n_children, way, moment);
	return status;
}
