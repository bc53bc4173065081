/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network [STEPS]: trains a network of two layers to classify points into four classes. Forward,
 * loss, backward and descent are kernels, nine launches a step. The host trains the same network in
 * double. GPU and host must agree on the loss after every step and on every weight at the end, and
 * the loss must fall. The kernels come from network-driver.c or network-runtime.cu.
 * test/integration/test-cuda.py runs it.
 */
#include <math.h>

#include "test/apps/network.h"

#define BATCH	   128u
#define N_IN	   8u
#define N_HIDDEN   32u
#define N_CLASSES  4u
#define N_WEIGHTS1 (N_HIDDEN * (N_IN + 1))
#define N_WEIGHTS2 (N_CLASSES * (N_HIDDEN + 1))
#define MAX_STEPS  1000
#define RATE	   0.5f
#define TOLERANCE  1e-4

/* A layer is a matrix of weights: one row for each output, the bias last in the row. */
struct host {
	double x[BATCH * N_IN], hidden[BATCH * N_HIDDEN], out[BATCH * N_CLASSES];
	double d_hidden[BATCH * N_HIDDEN], d_out[BATCH * N_CLASSES];
	double w1[N_WEIGHTS1], w2[N_WEIGHTS2], dw1[N_WEIGHTS1], dw2[N_WEIGHTS2];
	uint32_t label[BATCH];
};

struct device {
	float *x, *hidden, *out, *d_hidden, *d_out, *w1, *w2, *dw1, *dw2;
	float *losses;	/* of each sample of the step */
	float *history; /* mean loss of each step */
	uint32_t *label;
};

static float next_random(void)
{
	static uint64_t state = 1;

	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (float)(state >> 40) / (float)(1 << 23) - 1;
}

static float *upload(uint32_t n, float scale, double *ret_values)
{
	float *values = malloc(n * sizeof(*values)), *memory = gpu_malloc(n * sizeof(*values));

	for (uint32_t i = 0; i < n; i++)
		ret_values[i] = (double)(values[i] = scale * next_random());
	gpu_h2d(memory, values, n * sizeof(*values));
	free(values);
	return memory;
}

static void device_init(struct device *device, struct host *host)
{
	device->x = upload(BATCH * N_IN, 1, host->x);
	device->w1 = upload(N_WEIGHTS1, 0.5f, host->w1);
	device->w2 = upload(N_WEIGHTS2, 0.5f, host->w2);
	for (uint32_t i = 0; i < BATCH; i++) {
		const double *x = &host->x[i * N_IN];

		/* The classes are not linearly separable: the hidden layer is necessary. */
		host->label[i] = (x[0] * x[1] > 0) + 2 * (x[2] + x[3] > 0);
	}
	device->label = gpu_malloc(sizeof(host->label));
	gpu_h2d(device->label, host->label, sizeof(host->label));
	device->hidden = gpu_malloc(BATCH * N_HIDDEN * sizeof(float));
	device->out = gpu_malloc(BATCH * N_CLASSES * sizeof(float));
	device->d_hidden = gpu_malloc(BATCH * N_HIDDEN * sizeof(float));
	device->d_out = gpu_malloc(BATCH * N_CLASSES * sizeof(float));
	device->dw1 = gpu_malloc(N_WEIGHTS1 * sizeof(float));
	device->dw2 = gpu_malloc(N_WEIGHTS2 * sizeof(float));
	device->losses = gpu_malloc(BATCH * sizeof(float));
	device->history = gpu_malloc(MAX_STEPS * sizeof(float));
}

static void device_deinit(struct device *device)
{
	gpu_free(device->x);
	gpu_free(device->w1);
	gpu_free(device->w2);
	gpu_free(device->label);
	gpu_free(device->hidden);
	gpu_free(device->out);
	gpu_free(device->d_hidden);
	gpu_free(device->d_out);
	gpu_free(device->dw1);
	gpu_free(device->dw2);
	gpu_free(device->losses);
	gpu_free(device->history);
}

static void launch(enum network_kernel kernel, uint32_t n, void **arguments,
		   struct gpu_stream stream)
{
	struct gpu_shape shape = {{(n + NETWORK_BLOCK - 1) / NETWORK_BLOCK, 1, 1},
				  {NETWORK_BLOCK, 1, 1},
				  0};

	gpu_launch(kernel, shape, arguments, stream);
}

static void device_forward(uint32_t n_in, uint32_t n_out, const float *x, const float *w, float *y,
			   uint32_t squash, struct gpu_stream stream)
{
	uint32_t batch = BATCH;
	void *arguments[] = {&batch, &n_in, &n_out, &x, &w, &y, &squash};

	launch(NETWORK_FORWARD, batch * n_out, arguments, stream);
}

static void device_weights(uint32_t n_in, uint32_t n_out, const float *x, const float *dy,
			   float *dw, struct gpu_stream stream)
{
	uint32_t batch = BATCH;
	void *arguments[] = {&batch, &n_in, &n_out, &x, &dy, &dw};

	launch(NETWORK_WEIGHTS, n_out * (n_in + 1), arguments, stream);
}

static void device_descend(uint32_t n, const float *dw, float *w, struct gpu_stream stream)
{
	float rate = RATE;
	void *arguments[] = {&n, &rate, &dw, &w};

	launch(NETWORK_DESCEND, n, arguments, stream);
}

static void device_step(const struct device *device, int step, struct gpu_stream stream)
{
	uint32_t batch = BATCH, n_hidden = N_HIDDEN, n_classes = N_CLASSES;
	float *mean = device->history + step;
	void *loss[] = {&batch,
			&n_classes,
			(void *)&device->out,
			(void *)&device->label,
			(void *)&device->d_out,
			(void *)&device->losses};
	void *sum[] = {&batch, (void *)&device->losses, &mean};
	void *back[] = {&batch,
			&n_hidden,
			&n_classes,
			(void *)&device->w2,
			(void *)&device->d_out,
			(void *)&device->hidden,
			(void *)&device->d_hidden};

	device_forward(N_IN, N_HIDDEN, device->x, device->w1, device->hidden, true, stream);
	device_forward(N_HIDDEN, N_CLASSES, device->hidden, device->w2, device->out, false, stream);
	launch(NETWORK_LOSS, BATCH, loss, stream);
	launch(NETWORK_MEAN, NETWORK_BLOCK, sum, stream);
	device_weights(N_HIDDEN, N_CLASSES, device->hidden, device->d_out, device->dw2, stream);
	launch(NETWORK_BACK, BATCH * N_HIDDEN, back, stream);
	device_weights(N_IN, N_HIDDEN, device->x, device->d_hidden, device->dw1, stream);
	device_descend(N_WEIGHTS1, device->dw1, device->w1, stream);
	device_descend(N_WEIGHTS2, device->dw2, device->w2, stream);
}

static void host_forward(uint32_t n_in, uint32_t n_out, const double *x, const double *w, double *y,
			 bool squash)
{
	for (uint32_t i = 0; i < BATCH * n_out; i++) {
		const double *in = x + i / n_out * n_in, *row = w + i % n_out * (n_in + 1);
		double sum = row[n_in];

		for (uint32_t k = 0; k < n_in; k++)
			sum += row[k] * in[k];
		y[i] = squash ? tanh(sum) : sum;
	}
}

static double host_loss(struct host *host)
{
	double mean = 0;

	for (uint32_t i = 0; i < BATCH; i++) {
		const double *out = &host->out[i * N_CLASSES];
		double sum = 0;

		for (uint32_t c = 0; c < N_CLASSES; c++)
			sum += exp(out[c]);
		for (uint32_t c = 0; c < N_CLASSES; c++)
			host->d_out[i * N_CLASSES + c] =
				(exp(out[c]) / sum - (c == host->label[i])) / BATCH;
		mean += (log(sum) - out[host->label[i]]) / BATCH;
	}
	return mean;
}

static void host_weights(uint32_t n_in, uint32_t n_out, const double *x, const double *dy,
			 double *dw)
{
	for (uint32_t i = 0; i < n_out * (n_in + 1); i++) {
		uint32_t out = i / (n_in + 1), in = i % (n_in + 1);

		dw[i] = 0;
		for (uint32_t b = 0; b < BATCH; b++)
			dw[i] += dy[b * n_out + out] * (in < n_in ? x[b * n_in + in] : 1);
	}
}

static double host_step(struct host *host)
{
	double loss;

	host_forward(N_IN, N_HIDDEN, host->x, host->w1, host->hidden, true);
	host_forward(N_HIDDEN, N_CLASSES, host->hidden, host->w2, host->out, false);
	loss = host_loss(host);
	host_weights(N_HIDDEN, N_CLASSES, host->hidden, host->d_out, host->dw2);
	for (uint32_t i = 0; i < BATCH * N_HIDDEN; i++) {
		double sum = 0, y = host->hidden[i];

		for (uint32_t c = 0; c < N_CLASSES; c++)
			sum += host->w2[c * (N_HIDDEN + 1) + i % N_HIDDEN] *
			       host->d_out[i / N_HIDDEN * N_CLASSES + c];
		host->d_hidden[i] = sum * (1 - y * y);
	}
	host_weights(N_IN, N_HIDDEN, host->x, host->d_hidden, host->dw1);
	for (uint32_t i = 0; i < N_WEIGHTS1; i++)
		host->w1[i] -= (double)RATE * host->dw1[i];
	for (uint32_t i = 0; i < N_WEIGHTS2; i++)
		host->w2[i] -= (double)RATE * host->dw2[i];
	return loss;
}

/* The comparison is false for NaN, so NaN fails. */
static void check_near(const char *what, int i, double got, double want)
{
	if (fabs(got - want) <= TOLERANCE * (1 + fabs(want)))
		return;
	printf("network: %s %d is %.9g, not %.9g\n", what, i, got, want);
	exit(1);
}

static void check_weights(const char *what, uint32_t n, const float *device, const double *host)
{
	float *got = malloc(n * sizeof(*got));

	gpu_d2h(got, device, n * sizeof(*got));
	for (uint32_t i = 0; i < n; i++)
		check_near(what, (int)i, (double)got[i], host[i]);
	free(got);
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 100;
	static float losses[MAX_STEPS];
	static struct host host;
	struct gpu_stream stream;
	struct device device;

	if (steps < 2 || steps > MAX_STEPS) {
		fprintf(stderr, "network: steps are 2 to %d\n", MAX_STEPS);
		return 2;
	}
	gpu_open(&network_code);
	device_init(&device, &host);
	stream = gpu_stream_create(true);
	for (int step = 0; step < steps; step++)
		device_step(&device, step, stream);
	gpu_stream_sync(stream);
	gpu_d2h(losses, device.history, (size_t)steps * sizeof(float));
	for (int step = 0; step < steps; step++)
		check_near("the loss of step", step, (double)losses[step], host_step(&host));
	check_weights("weight of layer 1", N_WEIGHTS1, device.w1, host.w1);
	check_weights("weight of layer 2", N_WEIGHTS2, device.w2, host.w2);
	if (!(losses[steps - 1] < losses[0] * (steps < 100 ? 1.0f : 0.5f))) {
		printf("network: nothing learned: the loss went from %g to %g\n", (double)losses[0],
		       (double)losses[steps - 1]);
		return 1;
	}
	gpu_stream_destroy(stream);
	device_deinit(&device);
	printf("network: %d steps, the loss fell from %.9g to %.9g\n", steps, (double)losses[0],
	       (double)losses[steps - 1]);
	return gpu_close();
}
