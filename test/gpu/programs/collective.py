# SPDX-License-Identifier: Apache-2.0
"""NCCL with one rank."""
import os, torch, torch.distributed as dist
os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT='29533', RANK='0', WORLD_SIZE='1')
dist.init_process_group('nccl'); torch.cuda.set_device(0)
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(512, 512).cuda())
o = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(10):
    o.zero_grad(); net(torch.randn(64, 512, device='cuda')).square().mean().backward(); o.step()
x = torch.ones(1 << 20, device='cuda'); dist.all_reduce(x); out = [torch.empty_like(x)]; dist.all_gather(out, x)
torch.cuda.synchronize(); dist.destroy_process_group(); print('done')
