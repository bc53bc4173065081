# SPDX-License-Identifier: Apache-2.0
"""PyTorch Geometric: a graph network, trained."""
import torch
from torch_geometric.nn import GCNConv
torch.manual_seed(0)
x = torch.randn(1000, 32, device='cuda'); e = torch.randint(0, 1000, (2, 5000), device='cuda')
m = GCNConv(32, 16).cuda(); o = torch.optim.Adam(m.parameters())
for _ in range(20): o.zero_grad(); m(x, e).square().mean().backward(); o.step()
print(True)
