# SPDX-License-Identifier: Apache-2.0
"""A PyTorch training script as people write it: a small network, Adam, a loss that falls. Skipped where torch is not.

Prints what it knows of itself as a line of JSON: steps, and the bytes that it copied each way.
"""
import json
import sys

SKIPPED = 77
STEPS = 20


def main():
    try:
        import torch
    except ImportError as error:
        print('skipped: no torch: %s' % error, file=sys.stderr)
        return SKIPPED
    if not torch.cuda.is_available():
        print('skipped: torch finds no CUDA device', file=sys.stderr)
        return SKIPPED
    torch.manual_seed(1)
    points = torch.randn(512, 16)
    labels = (points[:, 0] * points[:, 1] > 0).long()
    network = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.Tanh(), torch.nn.Linear(64, 2))
    weights = sum(p.numel() * p.element_size() for p in network.parameters())
    network = network.cuda()
    device_points, device_labels = points.cuda(), labels.cuda()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.03)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(network(device_points), device_labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    # The same network, now on the host, has to say the same.
    here = network(device_points).cpu()
    there = network.cpu()(points)
    if not torch.allclose(here, there, atol=1e-2):
        print('the device and the host disagree by %g' % (here - there).abs().max(), file=sys.stderr)
        return 1
    if not losses[-1] < losses[0]:
        print('nothing learned: %r' % losses, file=sys.stderr)
        return 1
    print(json.dumps({'steps': STEPS,
                      'least_htod_bytes': weights + points.numel() * 4 + labels.numel() * 8,
                      'least_dtoh_bytes': weights + here.numel() * 4 + STEPS * 4}))
    return 0


if __name__ == '__main__':
    sys.exit(main())
