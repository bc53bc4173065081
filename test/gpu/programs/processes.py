# SPDX-License-Identifier: Apache-2.0
"""Two processes on one device, with gloo between them."""
import os, torch, torch.distributed as dist, torch.multiprocessing as mp
def work(rank):
    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT='29511', RANK=str(rank), WORLD_SIZE='2')
    dist.init_process_group('gloo', rank=rank, world_size=2)
    torch.cuda.set_device(0); torch.manual_seed(rank)
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64).cuda())
    o = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(10):
        o.zero_grad(); net(torch.randn(32, 64, device='cuda')).square().mean().backward(); o.step()
    torch.cuda.synchronize(); dist.destroy_process_group()
if __name__ == '__main__':
    mp.spawn(work, nprocs=2); print('done')
