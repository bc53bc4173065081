/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph [STEPS]: a training step as frameworks launch it. The step is captured once: a copy in,
 * kernels, a memset, a copy in a second stream, a copy out. Then the program launches the graph for
 * each step. The host writes the input of each step into the pinned buffer that the graph reads.
 * test/integration/test-cuda.py runs it.
 */
#include "test/apps/gpu.h"

#define N (1u << 12)

struct step {
	float *in, *out; /* pinned */
	float *x, *y, *kept;
	struct gpu_stream main, side;
	void *fork, *join;
};

static void step_init(struct step *step)
{
	step->in = gpu_host_malloc(N * sizeof(float));
	step->out = gpu_host_malloc(N * sizeof(float));
	step->x = gpu_malloc(N * sizeof(float));
	step->y = gpu_malloc(N * sizeof(float));
	step->kept = gpu_malloc(N * sizeof(float));
	step->main = gpu_stream_create(false);
	step->side = gpu_stream_create(false);
	step->fork = gpu_event_create();
	step->join = gpu_event_create();
}

static void step_deinit(struct step *step)
{
	gpu_host_free(step->in);
	gpu_host_free(step->out);
	gpu_free(step->x);
	gpu_free(step->y);
	gpu_free(step->kept);
	gpu_event_destroy(step->fork);
	gpu_event_destroy(step->join);
	gpu_stream_destroy(step->main);
	gpu_stream_destroy(step->side);
}

static struct gpu_graph step_capture(struct step *step)
{
	gpu_capture_begin(step->main);
	gpu_h2d_async(step->x, step->in, N * sizeof(float), step->main);
	gpu_event_record(step->fork, step->main);
	gpu_stream_wait(step->side, step->fork);
	gpu_d2d_async(step->kept, step->x, N * sizeof(float), step->side);
	gpu_event_record(step->join, step->side);
	gpu_set_async(step->y, 0, N * sizeof(float), step->main);
	gpu_stream_wait(step->main, step->join);
	gpu_saxpy(N, 2, step->kept, step->y, step->main);
	gpu_scale(N, 3, step->y, step->main);
	gpu_nothing(step->main);
	gpu_d2h_async(step->out, step->y, N * sizeof(float), step->main);
	return gpu_capture_end(step->main);
}

static void step_check(const struct step *step, int number)
{
	for (uint32_t i = 0; i < N; i++) {
		float want = 6 * (float)(number + (int)(i % 7));

		if (step->out[i] == want)
			continue;
		printf("graph: step %d: out[%u] is %g, not %g\n", number, i, (double)step->out[i],
		       (double)want);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 50;
	struct gpu_graph graph;
	struct step step;

	gpu_open(NULL);
	step_init(&step);
	graph = step_capture(&step);
	for (int number = 0; number < steps; number++) {
		for (uint32_t i = 0; i < N; i++)
			step.in[i] = (float)(number + (int)(i % 7));
		gpu_graph_launch(graph, step.main);
		gpu_stream_sync(step.main);
		step_check(&step, number);
	}
	gpu_device_sync();
	gpu_graph_destroy(graph);
	step_deinit(&step);
	printf("graph: %d steps\n", steps);
	return gpu_close();
}
