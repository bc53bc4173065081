/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandboxed own|listed [exec|fork]: installs a seccomp filter before its first GPU call. The filter
 * kills the process for each system call outside a list. `own` permits the calls of this program
 * and the virtual GPU. `listed` also permits the calls that TraceSmith documents
 * (proto/abi/sandbox.h).
 *
 * Then the program uses the GPU from two threads. With `exec` it first executes this program again.
 * With `fork` a child uses the GPU too. test/integration/test-odd.py runs it.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "proto/abi/sandbox.h"
#include "test/apps/gpu.h"

#define N	 (1u << 10)
#define LAUNCHES 50

static const int own[] = {
	SYS_brk,	  SYS_clock_nanosleep,
	SYS_clone3,	  SYS_close,
	SYS_exit,	  SYS_exit_group,
	SYS_futex,	  SYS_getpid,
	SYS_getrandom,	  SYS_madvise,
	SYS_mmap,	  SYS_mprotect,
	SYS_mremap,	  SYS_munlock,
	SYS_munmap,	  SYS_newfstatat,
	SYS_openat,	  SYS_prctl,
	SYS_pread64,	  SYS_prlimit64,
	SYS_read,	  SYS_rseq,
	SYS_rt_sigaction, SYS_rt_sigprocmask,
	SYS_sched_yield,  SYS_write,
	SYS_ftruncate,	  SYS_set_robust_list,
	SYS_clone,	  SYS_wait4,
	SYS_execve,	  SYS_access,
	SYS_arch_prctl,	  SYS_set_tid_address,
	SYS_readlink, /* the loader, for $ORIGIN */
};

static const int listed[] = {
#define NUMBER(name, start, why) (start) ? -1 : SYS_##name,
	TS_SANDBOX_CALLS(NUMBER)
#undef NUMBER
};

static size_t permit(struct sock_filter *filter, const int *numbers, size_t n)
{
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		if (numbers[i] < 0)
			continue;
		filter[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							      (uint32_t)numbers[i], 0, 1);
		filter[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	return used;
}

static void shut_in(bool with_listed)
{
	struct sock_filter filter[256];
	struct sock_fprog program = {.filter = filter};
	size_t n = 0;

	filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						   offsetof(struct seccomp_data, nr));
	n += permit(filter + n, own, sizeof(own) / sizeof(*own));
	if (with_listed)
		n += permit(filter + n, listed, sizeof(listed) / sizeof(*listed));
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	program.len = (unsigned short)n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program)) {
		fprintf(stderr, "sandboxed: no filter: %s\n", strerror(errno));
		exit(GPU_SKIPPED);
	}
}

static void use(void)
{
	static const float ones[N] = {1};
	float back[N] = {0};
	float *x, *y;

	gpu_set_device(0);
	x = gpu_malloc(sizeof(ones));
	y = gpu_malloc(sizeof(ones));
	gpu_h2d(x, ones, sizeof(ones));
	gpu_set(y, 0, sizeof(ones));
	for (int i = 0; i < LAUNCHES; i++)
		gpu_saxpy(N, 2, x, y, gpu_default_stream(0));
	gpu_device_sync();
	gpu_d2h(back, y, sizeof(back));
	if (back[0] != 2 * LAUNCHES)
		exit(1);
	gpu_free(x);
	gpu_free(y);
}

static void *use_thread(void *unused)
{
	use();
	return unused;
}

static int use_gpu(void)
{
	pthread_t thread;

	gpu_open(NULL);
	use();
	pthread_create(&thread, NULL, use_thread, NULL);
	pthread_join(thread, NULL);
	printf("sandboxed: came to its end\n");
	fflush(stdout);
	return gpu_close();
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[2] : "";
	int status;
	pid_t pid;

	if (!strcmp(how, "replaced"))
		return use_gpu();
	shut_in(argc > 1 && !strcmp(argv[1], "listed"));
	if (!strcmp(how, "exec")) {
		execl("/proc/self/exe", argv[0], argv[1], "replaced", (char *)NULL);
		return 1;
	}
	if (!strcmp(how, "fork")) {
		pid = fork();
		if (!pid)
			return use_gpu();
		if (waitpid(pid, &status, 0) != pid || status)
			return 2;
	}
	return use_gpu();
}
