# SPDX-License-Identifier: Apache-2.0
"""torchvision: ResNet-18 in half precision, with cuDNN choosing its kernels by trial."""
import torch, torchvision
torch.manual_seed(0); torch.backends.cudnn.benchmark = True
m = torchvision.models.resnet18(num_classes=10).cuda().to(memory_format=torch.channels_last)
o = torch.optim.SGD(m.parameters(), 0.01, momentum=0.9); sc = torch.amp.GradScaler()
x = torch.randn(32, 3, 96, 96); y = torch.randint(0, 10, (32,))
for i in range(20):
    a, b = x.pin_memory().cuda(non_blocking=True).to(memory_format=torch.channels_last), y.cuda()
    with torch.autocast('cuda', dtype=torch.float16): l = torch.nn.functional.cross_entropy(m(a), b)
    o.zero_grad(); sc.scale(l).backward(); sc.step(o); sc.update()
print(float(l) == float(l))
