# SPDX-License-Identifier: Apache-2.0
"""Numba: a kernel compiled while the program runs."""
import numpy as np
np.row_stack = np.vstack; np.in1d = getattr(np, 'isin'); np.trapz = getattr(np, 'trapezoid', None)
from numba import cuda
@cuda.jit
def add(x, y):
    i = cuda.grid(1)
    if i < x.size: y[i] += x[i]
n = 1 << 20
x = cuda.to_device(np.ones(n, np.float32)); y = cuda.to_device(np.zeros(n, np.float32))
for _ in range(50): add[n // 256, 256](x, y)
cuda.synchronize(); print(y.copy_to_host()[:3])
