# SPDX-License-Identifier: Apache-2.0
"""CuPy: a matrix product, a kernel of its own, FFT and sort in two streams with events, a graph."""
import cupy as cp, numpy as np
rng = cp.random.default_rng(1)
a = rng.standard_normal((1024, 1024), dtype=cp.float32); b = cp.asarray(np.ones((1024, 1024), np.float32))
k = cp.RawKernel(r'extern "C" __global__ void twice(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }', 'twice')
s1, s2 = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
for i in range(20):
    with s1: c = a @ b; k((4096,), (256,), (a.ravel(), np.int32(a.size)))
    with s2: d = cp.fft.fft2(b); e = cp.sort(b.ravel())
    ev = s1.record(); s2.wait_event(ev)
s1.synchronize(); s2.synchronize()
p = cp.cuda.PinnedMemoryPool().malloc(1 << 20)
print(float(c.sum()) != 0, d.shape, cp.get_default_memory_pool().used_bytes() > 0, np.asarray(cp.asnumpy(e))[:2])
g_s = cp.cuda.Stream(non_blocking=True)
with g_s:
    g_s.begin_capture(); k((4096,), (256,), (b.ravel(), np.int32(b.size))); g = g_s.end_capture()
    for _ in range(5): g.launch(g_s)
g_s.synchronize(); print('graph', float(b[0, 0]))
