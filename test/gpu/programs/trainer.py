# SPDX-License-Identifier: Apache-2.0
"""PyTorch Lightning: a fit with two loader processes."""
import torch, logging, warnings
warnings.filterwarnings('ignore'); logging.getLogger('pytorch_lightning').setLevel(logging.ERROR)
import pytorch_lightning as pl
class M(pl.LightningModule):
    def __init__(s): super().__init__(); s.l = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
    def training_step(s, b, i): return torch.nn.functional.mse_loss(s.l(b[0]), b[1])
    def configure_optimizers(s): return torch.optim.Adam(s.parameters(), 1e-3)
d = torch.utils.data.TensorDataset(torch.randn(2048, 32), torch.randn(2048, 1))
t = pl.Trainer(max_epochs=1, accelerator='gpu', devices=1, logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
t.fit(M(), torch.utils.data.DataLoader(d, 64, num_workers=2)); print('fit', t.global_step)
