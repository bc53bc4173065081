# SPDX-License-Identifier: Apache-2.0
"""A Triton kernel, compiled while the program runs, checked by torch. Skipped where triton or torch is not.

Prints what it knows of itself as a line of JSON: how often which kernel was launched.
"""
import json
import sys

SKIPPED = 77
LAUNCHES = 10

try:
    import torch
    import triton
    import triton.language as tl
except ImportError as missing:
    print('skipped: %s' % missing, file=sys.stderr)
    sys.exit(SKIPPED)


@triton.jit
def add_scaled(x_pointer, y_pointer, n, scale, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_pointer + at, mask=mask)
    y = tl.load(y_pointer + at, mask=mask)
    tl.store(y_pointer + at, y + scale * x, mask=mask)


def main():
    if not torch.cuda.is_available():
        print('skipped: torch finds no CUDA device', file=sys.stderr)
        return SKIPPED
    n = 100003
    x = torch.arange(n, device='cuda', dtype=torch.float32) % 64
    y = torch.zeros(n, device='cuda')
    for _ in range(LAUNCHES):
        add_scaled[(triton.cdiv(n, 1024),)](x, y, n, 2.0, BLOCK=1024)
    if not torch.equal(y, x * (2 * LAUNCHES)):
        print('a wrong sum', file=sys.stderr)
        return 1
    print(json.dumps({'kernel': 'add_scaled', 'launches': LAUNCHES}))
    return 0


if __name__ == '__main__':
    sys.exit(main())
