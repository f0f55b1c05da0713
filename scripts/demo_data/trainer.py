# Copyright 2026 The gemma_node authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
The training step: model, optimizers, schedule, and what several devices tell each other.

One process drives one device. Every process holds the whole model and takes the same steps; only
gradients and the schedule's pace cross between them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import distributed

from demo_data import packing
from demo_data.muon import BatchedMuon
from demo_data.packed_model import block_mask
from demo_data.packed_model import dense_mask
from demo_data.packed_model import Layout
from demo_data.packed_model import packed_loss
from demo_data.packed_model import PackedModel
from demo_data.packed_model import softening
from demo_data.packed_model import wanted_of
from demo_data.qat import Quantised
from gemma_node.model.config import ModelConfig
from gemma_node.model.gemma4 import Gemma4

MAX_POSITION = 8192
# The first tokens of an answer, which say what is done; `decision_weight` is theirs.
DECIDING = 9


@dataclass(frozen=True)
class Plan:
    """
    All that decides a training run.

    `rows` are of one process; `helping` is which mixture of data, `drills_*` how much of it are
    drills; `decision_smoothing` is the share of a deciding token's target that its rivals get. The
    rate is held for the share `hold`, then falls in a line to `floor`; from the share `qat_from`
    on, the model computes with its weights as stored.
    """

    steps: int = 3000
    rows: int = 32
    length: int = 4096
    seed: int = 1
    data_seed: int = 1
    helping: int = 1
    drills_first: float = 0.0
    drills_last: float = 0.0
    drill_chunks: int = 10000
    repeats: int = 2
    lr: float = 3e-3
    matrix_lr: float = 4e-3
    warmup: int = 100
    hold: float = 0.3
    floor: float = 0.003
    qat_from: float = 0.6
    weight_decay: float = 0.05
    other_weight: float = 0.2
    decision_weight: int = 1
    decision_smoothing: float = 0.0
    head_share: float = 0.25
    held_out: int = 1
    eval_every: int = 500


@dataclass(frozen=True)
class Group:
    """This process among those that train together."""

    rank: int = 0
    size: int = 1

    def add(self, tensors: Sequence[torch.Tensor]) -> None:
        """Replace tensors by their mean over all processes."""
        if self.size == 1:
            return
        flat = torch.cat([t.flatten() for t in tensors])
        distributed.all_reduce(flat)
        flat /= self.size
        parts = flat.split([t.numel() for t in tensors])
        torch._foreach_copy_(
            list(tensors), [p.view_as(t) for p, t in zip(parts, tensors, strict=True)])

    def first(self, number: float) -> float:
        """Return the first process's number."""
        if self.size == 1:
            return number
        held = torch.tensor([number], dtype=torch.float64)
        distributed.broadcast(held, 0)
        return held.item()


class Trainer:
    """Model, optimizers and the compiled step of one process."""

    def __init__(
        self, plan: Plan, config: ModelConfig, device: str, group: Group, *, compiles: bool
    ) -> None:
        torch.manual_seed(plan.seed)
        self.plan = plan
        self.device = device
        self.group = group
        self.uses_flex = device.startswith('cuda')
        self.model = Gemma4(config, fused=True).to(device)
        self.packed = PackedModel(self.model, MAX_POSITION, uses_flex=self.uses_flex).to(device)
        self.window = config.sliding_window
        self.optimizers = self._optimizers()
        self.quantised = Quantised(self.model)
        self.progress = 0.0
        shape = (plan.rows, plan.length)
        self.layout = Layout(*(torch.zeros(shape, dtype=torch.int32, device=device)
                               for _ in range(3)))
        self.loss = packed_loss
        if compiles:
            # Layer by layer: the whole model as one graph takes minutes to compile.
            torch._dynamo.config.recompile_limit = 64
            self.packed.run_layer = torch.compile(self.packed.run_layer)
            self.packed.run_inputs = torch.compile(self.packed.run_inputs)
            self.loss = torch.compile(packed_loss)
        torch.manual_seed(plan.seed * 1000 + group.rank)

    @property
    def is_stored(self) -> bool:
        """Whether the model computes with its weights as stored by now."""
        return self.progress >= self.plan.qat_from

    def step(self, rows: packing.Rows, step: int) -> torch.Tensor:
        """Take one step; returns the loss, still on the device."""
        rate = self._rate(step)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group['lr'] = group['peak'] * rate
        if self.is_stored:
            self.quantised.put_in()
        loss, _, _ = self._run(rows)
        loss.backward()
        if self.is_stored:
            self.quantised.take_out()
        parameters = list(self.model.parameters())
        self.group.add([p.grad for p in parameters])
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    def evaluate(self, batches: Sequence[packing.Rows]) -> dict[str, float]:
        """
        Return the share of answers whose every token is the likeliest, by kind of case.

        Runs the very graph of training, gradients included, so that nothing compiles twice.
        """
        right: dict[str, list[bool]] = defaultdict(list)
        if self.is_stored:
            self.quantised.put_in()
        for rows in batches:
            _, predicted, at = self._run(rows)
            ids = torch.from_numpy(rows.ids.astype(np.int64)).to(self.device)
            same = torch.zeros(ids.numel() + 1, dtype=torch.bool, device=self.device)
            same[at + 1] = predicted == ids.flatten().roll(-1)[at]
            found = same[:-1].view(ids.shape).cpu().numpy()
            for row, start, end, kind in rows.spans:
                right[kind].append(bool(found[row, start:end].all()))
        if self.is_stored:
            self.quantised.take_out()
        scores = {kind: sum(v) / len(v) for kind, v in sorted(right.items())}
        everything = [ok for v in right.values() for ok in v]
        return {'all': sum(everything) / len(everything), **scores}

    def save(self, folder: Path, step: int) -> None:
        """Write a checkpoint to resume from."""
        folder.mkdir(parents=True, exist_ok=True)
        torch.save({'step': step, 'progress': self.progress, 'model': self.model.state_dict(),
                    'optimizers': [o.state_dict() for o in self.optimizers]},
                   folder / 'state.tmp')
        (folder / 'state.tmp').replace(folder / 'state.pt')

    def resume(self, folder: Path) -> int:
        """Load a checkpoint if there is one; returns the next step."""
        file = folder / 'state.pt'
        if not file.is_file():
            return 0
        state = torch.load(file, map_location=self.device, weights_only=True)
        self.model.load_state_dict(state['model'])
        for optimizer, saved in zip(self.optimizers, state['optimizers'], strict=True):
            optimizer.load_state_dict(saved)
        self.progress = float(state['progress'])
        return int(state['step'])

    def _run(self, rows: packing.Rows) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the loss, the predicted ids, and after which flat places they come."""
        ids, parts, homes, positions, targets = self._moved(rows)
        self.layout.copy_(Layout(parts, homes, positions))
        make = block_mask if self.uses_flex else dense_mask
        full, sliding = make(self.layout, None), make(self.layout, self.window)
        wanted = wanted_of(ids, self.layout, targets, other_weight=self.plan.other_weight,
                           share=self.plan.head_share)
        with torch.autocast(self.device.partition(':')[0], torch.bfloat16,
                            enabled=self.uses_flex):
            hidden = self.packed(ids, self.layout.positions, full, sliding)
            loss, predicted = self.loss(
                self.model, hidden.index_select(0, wanted.at), wanted.labels, wanted.weights)
            if self.plan.decision_smoothing and len(rows.rivals):
                loss = loss + softening(self.model, hidden, *self._rivals(rows, targets))
        return loss, predicted, wanted.at

    def _moved(self, rows: packing.Rows) -> tuple[torch.Tensor, ...]:
        """Return ids, layout and targets on the device, without waiting for its work."""
        targets = rows.targets.astype(np.int32)
        if self.plan.decision_weight != 1:
            for row, start, end, _ in rows.spans:
                targets[row, start:min(start + DECIDING, end)] *= self.plan.decision_weight
        arrays = (rows.ids, rows.parts, rows.homes, rows.positions, targets)
        held = torch.from_numpy(np.stack([array.astype(np.int32) for array in arrays]))
        if self.uses_flex:
            held = held.pin_memory()
        ids, *others = held.to(self.device, non_blocking=True)
        return ids.long(), *others

    def _rivals(self, rows: packing.Rows, targets: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return places, right tokens, rivals and shares of the loss of the deciding tokens."""
        share = np.minimum(rows.rival_weights * self.plan.decision_smoothing, 0.5)
        held, weights = torch.from_numpy(rows.rivals), torch.from_numpy(share.astype(np.float32))
        if self.uses_flex:
            held, weights = held.pin_memory(), weights.pin_memory()
        held = held.to(self.device, non_blocking=True).long()
        weights = weights.to(self.device, non_blocking=True)
        worth = targets.flatten()[held[:, 0]] / targets.sum()
        return held[:, 0] - 1, held[:, 1], held[:, 2:], weights * worth

    def _optimizers(self) -> list[torch.optim.Optimizer]:
        """Muon for the matrices of the layers, AdamW for everything else."""
        plan = self.plan
        matrices, tables, vectors = [], [], []
        for name, parameter in self.model.named_parameters():
            if parameter.ndim < 2:
                vectors.append(parameter)
            elif 'embed' in name:
                tables.append(parameter)
            else:
                matrices.append(parameter)
        muon = BatchedMuon(
            [{'params': matrices, 'lr': plan.matrix_lr, 'peak': plan.matrix_lr}],
            weight_decay=plan.weight_decay)
        groups: list[dict[str, Any]] = [
            {'params': each, 'weight_decay': 0.0, 'lr': plan.lr, 'peak': plan.lr}
            for each in (tables, vectors)]
        adam = torch.optim.AdamW(groups, betas=(0.9, 0.95), eps=1e-8, fused=self.uses_flex)
        return [muon, adam]

    def _rate(self, step: int) -> float:
        plan = self.plan
        share = max(self.progress - plan.hold, 0.0) / (1.0 - plan.hold)
        falling = plan.floor + (1.0 - plan.floor) * (1.0 - min(share, 1.0))
        return min((step + 1) / max(plan.warmup, 1), 1.0) * falling
