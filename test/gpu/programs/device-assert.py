# SPDX-License-Identifier: Apache-2.0
"""A kernel that stops at an assertion; ends with status 1."""
import torch
x = torch.arange(1000, device='cuda', dtype=torch.float32)
for _ in range(50): x.mul_(1.0001)
torch.cuda.synchronize()
i = torch.tensor([5, 1 << 30], device='cuda')
y = x[i]
torch.cuda.synchronize()
