#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tinygrad-train.py: trains a small convolutional network with tinygrad on synthetic images, on the device in DEV and on the CPU backend.

Runs in tinygrad's folder. Images, weights and batches come from one fixed seed. The images show a bright square in one of four corners.
Prints the loss of each step on both devices, and `same` if no loss differs by more than 1e-4.
"""
import os
import sys

sys.path.insert(0, os.getcwd())
import numpy  # noqa: E402
from tinygrad import Context, Device, Tensor, TinyJit, nn  # noqa: E402

STEPS = 8
BATCH = 16
TOLERANCE = 1e-4


def images(random, n):
    """(images of 12x12, labels 0 to 3)."""
    labels = random.integers(0, 4, n)
    pixels = random.normal(0, 0.3, (n, 1, 12, 12)).astype(numpy.float32)
    for image, label in zip(pixels, labels):
        y, x = 6 * (label // 2), 6 * (label % 2)
        image[0, y:y + 6, x:x + 6] += 1
    return pixels, labels.astype(numpy.int32)


class Net:
    def __init__(self, random, device):
        def weight(*shape):
            scale = (2 / numpy.prod(shape[1:])) ** 0.5
            return Tensor(random.normal(0, scale, shape).astype(numpy.float32), device=device)

        self.first, self.second, self.last = weight(8, 1, 3, 3), weight(16, 8, 3, 3), weight(4, 16 * 9)

    def __call__(self, x):
        x = x.conv2d(self.first, padding=1).relu().max_pool2d()
        x = x.conv2d(self.second, padding=1).relu().max_pool2d()
        return x.flatten(1).linear(self.last.transpose())


def train(device):
    """(loss of each step, share of test images that are right)"""
    random = numpy.random.default_rng(42)
    net = Net(random, device)
    optimizer = nn.optim.SGD([net.first, net.second, net.last], lr=0.05, momentum=0.9)

    @TinyJit
    def step(x, y):
        optimizer.zero_grad()
        loss = net(x).sparse_categorical_crossentropy(y)
        return loss.backward().realize(*optimizer.schedule_step())

    losses = []
    with Context(TRAINING=1):
        for _ in range(STEPS):
            pixels, labels = images(random, BATCH)
            losses.append(step(Tensor(pixels, device=device), Tensor(labels, device=device)).item())
    pixels, labels = images(random, 64)
    guess = net(Tensor(pixels, device=device)).argmax(axis=1).numpy()
    return losses, float((guess == labels).mean())


def main():
    losses, right = train(Device.DEFAULT)
    reference, reference_right = train('CPU')
    for i, (loss, other) in enumerate(zip(losses, reference)):
        print('step %d: loss %.6f on %s, %.6f on CPU' % (i, loss, Device.DEFAULT, other))
    print('right after training: %.3f on %s, %.3f on CPU' % (right, Device.DEFAULT, reference_right))
    furthest = max(abs(loss - other) for loss, other in zip(losses, reference))
    print('training: %s, furthest %.1e' % ('same' if furthest <= TOLERANCE and right == reference_right else 'different', furthest))


if __name__ == '__main__':
    main()
