/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sanitized [MISTAKE]: copies to the GPU and back, then makes one mistake for the sanitizer of its
 * build to report: overflow, leak, race or shift. The build makes one form for each sanitizer.
 * test/integration/test-odd.py runs it.
 */
#include <pthread.h>

#include "test/apps/gpu.h"

#define N 256u

static volatile int shared, shift = 40;
static char *volatile kept;

static void *add(void *data)
{
	(void)data;
	shared++;
	return NULL;
}

static void race(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void make(const char *mistake)
{
	if (!strcmp(mistake, "overflow")) {
		kept = malloc(N);
		kept[N + (unsigned int)shared] = 1;
	} else if (!strcmp(mistake, "leak")) {
		kept = malloc(N);
		kept = NULL;
	} else if (!strcmp(mistake, "race")) {
		race();
	} else if (!strcmp(mistake, "shift")) {
		printf("%d\n", 1 << shift);
	}
}

int main(int argc, char **argv)
{
	char out[N] = "there", back[N] = "";
	void *memory;

	gpu_open(NULL);
	memory = gpu_malloc(N);
	gpu_h2d(memory, out, N);
	gpu_nothing(gpu_default_stream(0));
	gpu_d2h(back, memory, N);
	gpu_free(memory);
	if (memcmp(out, back, N))
		return 1;
	if (argc > 1)
		make(argv[1]);
	printf("sanitized: came to its end\n");
	return gpu_close();
}
