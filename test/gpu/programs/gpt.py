# SPDX-License-Identifier: Apache-2.0
"""A small GPT, trained: AdamW, bf16 autocast, a DataLoader with pinned memory. gpt.py eager|fused|workers|compile|graph|profile STEPS [NAMES]"""
import json, sys, time
import torch, torch.nn as nn, torch.nn.functional as F
mode, steps = sys.argv[1], int(sys.argv[2])
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(s, d, h):
        super().__init__()
        s.n1, s.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        s.qkv, s.o = nn.Linear(d, 3 * d), nn.Linear(d, d)
        s.up, s.down, s.h = nn.Linear(d, 4 * d), nn.Linear(4 * d, d), h
    def forward(s, x):
        b, t, d = x.shape
        q, k, v = (y.view(b, t, s.h, d // s.h).transpose(1, 2) for y in s.qkv(s.n1(x)).chunk(3, -1))
        x = x + s.o(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, d))
        return x + s.down(F.gelu(s.up(s.n2(x))))
class Gpt(nn.Module):
    def __init__(s, v=1024, d=256, n=4, h=8, t=128):
        super().__init__()
        s.e, s.p = nn.Embedding(v, d), nn.Parameter(torch.zeros(t, d))
        s.b, s.f, s.out = nn.ModuleList(Block(d, h) for _ in range(n)), nn.LayerNorm(d), nn.Linear(d, v)
    def forward(s, x):
        x = s.e(x) + s.p
        for b in s.b: x = b(x)
        return s.out(s.f(x))
class Data(torch.utils.data.Dataset):
    def __len__(s): return 100000
    def __getitem__(s, i):
        g = torch.Generator().manual_seed(i)
        return torch.randint(0, 1024, (129,), generator=g)
def main():
    workers = 2 if mode in ('workers',) else 0
    loader = iter(torch.utils.data.DataLoader(Data(), batch_size=16, num_workers=workers, pin_memory=True))
    net = Gpt().cuda()
    f = torch.compile(net) if mode == 'compile' else net
    opt = torch.optim.AdamW(net.parameters(), lr=3e-4, fused=(mode != 'eager'))
    times, losses = [], []
    def step(x):
        opt.zero_grad(set_to_none=True)
        with torch.autocast('cuda', dtype=torch.bfloat16):
            loss = F.cross_entropy(f(x[:, :-1]).flatten(0, 1).float(), x[:, 1:].flatten())
        loss.backward()
        opt.step()
        return loss
    def run():
        for i in range(steps):
            begun = time.perf_counter()
            x = next(loader).cuda(non_blocking=True)
            loss = step(x)
            if i % 5 == 0: losses.append(loss.item())
            else: torch.cuda.synchronize()
            times.append(time.perf_counter() - begun)
    if mode == 'profile':
        from torch.profiler import profile, ProfilerActivity
        with profile(activities=[ProfilerActivity.CUDA]) as p:
            run(); torch.cuda.synchronize()
        names = {}
        for e in p.events():
            names[e.name] = names.get(e.name, 0) + 1
        json.dump(names, open(sys.argv[3], 'w'))
    elif mode == 'graph':
        x = next(loader).cuda()
        s = torch.cuda.Stream()
        s.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(s):
            for _ in range(3): step(x)
        torch.cuda.current_stream().wait_stream(s)
        g = torch.cuda.CUDAGraph()
        opt.zero_grad(set_to_none=True)
        with torch.cuda.graph(g):
            with torch.autocast('cuda', dtype=torch.bfloat16):
                loss = F.cross_entropy(net(x[:, :-1]).flatten(0, 1).float(), x[:, 1:].flatten())
            loss.backward()
        for i in range(steps):
            begun = time.perf_counter()
            x.copy_(next(loader), non_blocking=True); g.replay(); opt.step()
            torch.cuda.synchronize(); times.append(time.perf_counter() - begun)
        losses.append(loss.item())
    else:
        run()
    torch.cuda.synchronize()
    t = sorted(times[len(times) // 4:])
    print(json.dumps({'mode': mode, 'ms': round(1e3 * t[len(t) // 2], 3), 'p10': round(1e3 * t[len(t) // 10], 3), 'losses': losses[:4] + losses[-1:]}))
if __name__ == '__main__': main()
