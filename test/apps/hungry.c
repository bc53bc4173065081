/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hungry FILE [self]: runs short of memory, best in a cgroup with little memory. The program reads
 * FILE, which should exceed the memory. It launches kernels, and waits for a child that allocates
 * until the kernel kills the child. With `self` the program then allocates until the kernel kills
 * it, too. test/integration/test-kernel-memory.py runs it.
 *
 * Prints one line of JSON for each step, with its own measurement in nanoseconds of
 * CLOCK_MONOTONIC. With TS_APP_WAIT, waits for a line of input before the first step.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "test/apps/gpu.h"

#define PIECE_BYTES (1u << 20)
#define MOST_BYTES  (UINT64_C(4) << 30) /* limit if nothing kills the process */

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Prints the line of a step, then launches. `more` is empty or begins with a comma. */
static void tell(const char *what, uint64_t start_ns, uint64_t end_ns, const char *more)
{
	printf("{\"what\": \"%s\", \"tid\": %d, \"start_ns\": %" PRIu64 ", \"end_ns\": %" PRIu64
	       "%s}\n",
	       what, (int)syscall(SYS_gettid), start_ns, end_ns, more);
	gpu_nothing(gpu_default_stream(0));
	gpu_device_sync();
}

static void step_read(const char *path)
{
	static char piece[PIECE_BYTES];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t start_ns = now_ns();

	while (read(fd, piece, sizeof(piece)) > 0)
		;
	tell("read", start_ns, now_ns(), "");
	close(fd);
}

static void eat(void)
{
	for (uint64_t n = 0; n < MOST_BYTES; n += PIECE_BYTES) {
		uint8_t *memory = mmap(NULL, PIECE_BYTES, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			_exit(1);
		for (size_t i = 0; i < PIECE_BYTES; i += 4096)
			((volatile uint8_t *)memory)[i] = 1;
	}
}

static void choose_me(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (write(fd, "1000", 4) != 4)
		_exit(2);
	close(fd);
}

static void step_child(void)
{
	uint64_t start_ns = now_ns();
	pid_t child = fork();
	int status = 0;
	char more[64];

	if (!child) {
		choose_me();
		eat();
		_exit(0);
	}
	waitpid(child, &status, 0);
	snprintf(more, sizeof(more), ", \"child\": %d, \"signal\": %d", child,
		 WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	tell("child", start_ns, now_ns(), more);
}

int main(int argc, char **argv)
{
	char line[16];

	if (argc < 2)
		return 2;
	/* Line buffering, so that the child's copy of the buffer is empty. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	gpu_open(NULL);
	gpu_set_device(0);
	gpu_nothing(gpu_default_stream(0));
	gpu_device_sync();
	/* The test writes the line when its recording is ready. */
	if (getenv("TS_APP_WAIT") && !fgets(line, sizeof(line), stdin))
		return 1;
	step_read(argv[1]);
	step_child();
	if (argc > 2)
		eat();
	return gpu_close();
}
