# SPDX-License-Identifier: Apache-2.0
"""transformers: a GPT-2 with random weights generates text."""
import torch
from transformers import GPT2Config, GPT2LMHeadModel
torch.manual_seed(0)
m = GPT2LMHeadModel(GPT2Config(n_layer=4, n_embd=256, n_head=4, vocab_size=1000)).cuda().eval()
out = m.generate(torch.randint(0, 1000, (2, 16), device='cuda'), max_new_tokens=40, do_sample=False, pad_token_id=0)
print(out.shape, int(out.sum()))
