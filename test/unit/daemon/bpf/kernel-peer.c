/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel-peer MODE: makes one kernel event of each kind. test-kernel-peers.c executes it, also
 * set-user-id and set-group-id, with the descriptors of kernel-peer.h. Modes: `plain`;
 * `undumpable`, its memory is not dumpable; `drop`, it gives up its set-id credentials and executes
 * itself.
 */
#include "test/unit/daemon/bpf/kernel-peer.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "proto/abi/clock.h"

static void run_program(struct peer_shared *shared, enum peer_program program)
{
	uint64_t arguments[12] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = arguments,
		    .ctx_size_in = sizeof(arguments));

	if (!bpf_prog_test_run_opts(PEER_FD_PROGRAMS + (int)program, &options))
		shared->n_runs++;
}

static void fault(void)
{
	const size_t n_page = (size_t)sysconf(_SC_PAGESIZE);
	volatile uint8_t *memory = mmap(NULL, PEER_PAGES * n_page, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return;
	madvise((void *)memory, PEER_PAGES * n_page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PEER_PAGES; i++)
		memory[i * n_page] = 1;
}

static void read_files(struct peer_shared *shared)
{
	void *bytes = aligned_alloc(4096, PEER_DATA_BYTES);
	int data = openat(PEER_FD_FOLDER, PEER_DATA, O_RDONLY | O_DIRECT | O_CLOEXEC);

	for (unsigned i = 0; i < PEER_OPENS; i++)
		close(openat(PEER_FD_FOLDER, PEER_MARKER, O_RDONLY | O_CLOEXEC));
	if (bytes && pread(data, bytes, PEER_DATA_BYTES, 0) == PEER_DATA_BYTES)
		shared->has_disk = 1;
	free(bytes);
}

static void make_events(struct peer_shared *shared)
{
	const struct timespec time = {.tv_nsec = PEER_SLEEP_NS};

	shared->pid = (uint32_t)getpid();
	shared->is_dumpable = (uint32_t)prctl(PR_GET_DUMPABLE);
	shared->start_ns = ts_clock_monotonic_ns();
	for (unsigned i = 0; i < PEER_SLEEPS; i++)
		nanosleep(&time, NULL);
	fault();
	read_files(shared);
	for (int i = 0; i < PEER_N_PROGRAMS; i++)
		run_program(shared, (enum peer_program)i);
	shared->end_ns = ts_clock_monotonic_ns();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "plain";
	char *again[] = {argv[0], (char *)"plain", NULL};
	struct peer_shared *shared =
		mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, PEER_FD_SHARED, 0);

	if (shared == MAP_FAILED)
		return 2;
	if (!strcmp(mode, "drop")) {
		if (setresgid(getgid(), getgid(), getgid()) ||
		    setresuid(getuid(), getuid(), getuid()))
			return 3;
		syscall(SYS_execveat, PEER_FD_PLAIN, "", again, environ, AT_EMPTY_PATH);
		return 4;
	}
	if (!strcmp(mode, "undumpable"))
		prctl(PR_SET_DUMPABLE, 0);
	make_events(shared);
	return 0;
}
