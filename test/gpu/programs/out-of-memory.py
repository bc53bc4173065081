# SPDX-License-Identifier: Apache-2.0
"""An allocation that cannot succeed, beside 4 GiB that are held."""
import torch
keep = [torch.zeros(1 << 30, dtype=torch.uint8, device='cuda') for _ in range(4)]
try:
    torch.zeros(1 << 40, dtype=torch.uint8, device='cuda')
except torch.cuda.OutOfMemoryError as e:
    print('oom', str(e)[:60])
