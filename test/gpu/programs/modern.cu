// SPDX-License-Identifier: Apache-2.0
// What new programs use: graphs made by capture with conditional work left out, stream-ordered memory, launches by attributes, clusters,
// programmatic launches, cooperative groups, managed memory, host functions, batch copies, events timed across streams.
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;
#define C(x) do { cudaError_t e = (x); if (e) { printf("%s: %s\n", #x, cudaGetErrorName(e)); return 1; } } while (0)
__global__ void scale(float *p, int n, float by) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] *= by; }
__global__ void __cluster_dims__(2, 1, 1) clustered(float *p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] += 1; }
__global__ void sync_all(float *p, int n) { cg::grid_group g = cg::this_grid(); for (int i = g.thread_rank(); i < n; i += g.size()) p[i] += 1; g.sync(); if (!g.thread_rank()) p[0] += p[n - 1]; }
__global__ void first(float *p) { p[threadIdx.x] += 1; cudaTriggerProgrammaticLaunchCompletion(); }
__global__ void second(float *p) { cudaGridDependencySynchronize(); p[threadIdx.x] *= 2; }
static void CUDART_CB host(void *p) { ++*(int *)p; }
int main()
{
	const int n = 1 << 20; float *d, *m, *h, *q; cudaStream_t s, t; cudaEvent_t a, b; int calls = 0;
	C(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)); C(cudaStreamCreateWithPriority(&t, cudaStreamNonBlocking, -1));
	C(cudaEventCreate(&a)); C(cudaEventCreate(&b));
	C(cudaMallocAsync(&d, n * 4, s)); C(cudaMemsetAsync(d, 0, n * 4, s)); C(cudaMallocHost(&h, n * 4)); C(cudaMallocManaged(&m, n * 4));
	for (int i = 0; i < n; i++) h[i] = m[i] = 1;
	C(cudaEventRecord(a, s));
	C(cudaMemcpyAsync(d, h, n * 4, cudaMemcpyHostToDevice, s));
	for (int i = 0; i < 10; i++) scale<<<n / 256, 256, 0, s>>>(d, n, 1.5f);
	clustered<<<n / 256, 256, 0, s>>>(d, n);
	C(cudaEventRecord(b, s)); C(cudaStreamWaitEvent(t, b, 0));
	scale<<<n / 256, 256, 0, t>>>(m, n, 2);
	C(cudaLaunchHostFunc(t, host, &calls));
	C(cudaMemPrefetchAsync(m, n * 4, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, t));
	int count = n; void *arguments[] = {&d, &count};
	C(cudaLaunchCooperativeKernel((void *)sync_all, 132, 256, arguments, 0, s));
	cudaLaunchAttribute attribute = {}; attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization; attribute.val.programmaticStreamSerializationAllowed = 1;
	cudaLaunchConfig_t config = {}; config.gridDim = 1; config.blockDim = 256; config.stream = s; config.attrs = &attribute; config.numAttrs = 1;
	for (int i = 0; i < 5; i++) { first<<<1, 256, 0, s>>>(d); C(cudaLaunchKernelEx(&config, second, d)); }
	C(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	scale<<<n / 256, 256, 0, s>>>(d, n, 0.5f);
	C(cudaEventRecord(a, s)); C(cudaStreamWaitEvent(t, a, 0)); scale<<<n / 256, 256, 0, t>>>(m, n, 0.5f); C(cudaEventRecord(b, t)); C(cudaStreamWaitEvent(s, b, 0));
	C(cudaMemcpyAsync(h, d, n * 4, cudaMemcpyDeviceToHost, s));
	C(cudaLaunchHostFunc(s, host, &calls));
	cudaGraph_t graph; cudaGraphExec_t exec; C(cudaStreamEndCapture(s, &graph)); C(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 7; i++) C(cudaGraphLaunch(exec, s));
	C(cudaStreamSynchronize(s)); C(cudaStreamSynchronize(t)); C(cudaMallocAsync(&q, 4096, s)); C(cudaFreeAsync(q, s)); C(cudaFreeAsync(d, s));
	C(cudaEventRecord(b, s)); C(cudaEventSynchronize(b)); C(cudaDeviceSynchronize());
	printf("%g %g %d\n", h[0], h[n - 1], calls); C(cudaFree(m)); C(cudaFreeHost(h)); C(cudaGraphExecDestroy(exec)); C(cudaGraphDestroy(graph));
	return 0;
}
