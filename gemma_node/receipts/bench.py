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
What the checks of a receipt work with: a model, a device, forced tokens, and their logits.

Logits of the reference, of the eager pass and of what serves are computed once and kept, as far
as a few GiB hold them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import replace
from functools import cached_property

import torch
from torch import Tensor

from gemma_node.backends.base import Envelope
from gemma_node.engine.config import EngineConfig
from gemma_node.engine.runner import dense
from gemma_node.engine.runner import make_runner
from gemma_node.engine.runner import Rows
from gemma_node.engine.runner import Runner
from gemma_node.model.cache_shape import TILE
from gemma_node.model.config import ModelConfig
from gemma_node.model.gemma4 import Gemma4
from gemma_node.model.linear import QuantEmbedding
from gemma_node.model.linear import QuantLinear
from gemma_node.model.weights import empty_model
from gemma_node.receipts.reference64 import ForwardPass
from gemma_node.receipts.reference64 import logits64
from gemma_node.receipts.reference64 import Weights

_SHORT = 48
# Bytes of logits that are kept.
_KEPT = 4 << 30


@dataclass(frozen=True, slots=True)
class Forced:
    """
    Tokens that are fed whatever the logits say; rows from `first` on are compared.

    `crosses_window` says that some of these rows no longer see the first token in sliding layers.
    """

    name: str
    ids: tuple[int, ...]
    first: int
    crosses_window: bool


class Bench:
    """
    One model on one device in one dtype, with the limits it is to serve within.

    :param token_ids: of texts, at least `num_forced_tokens` of them
    """

    def __init__(
        self,
        model: Gemma4,
        token_ids: list[int],
        *,
        backend: str,
        dtype: str,
        envelope: Envelope,
        quick: bool = False,
    ) -> None:
        self.model = model
        self.backend = backend
        self.device = torch.device(backend)
        self.dtype = getattr(torch, dtype)
        self.envelope = envelope
        self.quick = quick
        self.plan = ForwardPass.of(model.config, self.dtype)
        self.forced = _forced(model.config, token_ids, envelope, quick=quick)
        self._kept: OrderedDict[tuple[object, ...], Tensor] = OrderedDict()

    @cached_property
    def weights(self) -> Weights:
        """The weights in float64, on the device."""
        return Weights(self.model, self.device)

    def reference(self, forced: Forced, plan: ForwardPass) -> Tensor:
        """Return the float64 logits of the compared rows, on the CPU."""
        return self._keep(
            ('reference', forced.name, plan),
            lambda: logits64(self.weights, plan, list(forced.ids), forced.first),
        )

    def eager(self, forced: Forced) -> Tensor:
        """
        Return those of the full pass in the dtype that serves.

        It is transformers' eager pass: the tests hold it to that bit for bit.
        """

        def run() -> Tensor:
            ids = torch.tensor([forced.ids], device=self.device)
            hidden = self._eager_model.hidden(ids)[:, forced.first :]
            return self._eager_model.head(hidden)[0]

        return self._keep(('eager', forced.name), run)

    def served(
        self, forced: Forced, fault: str = '', plant: Callable[[], Gemma4] | None = None
    ) -> Tensor:
        """
        Return those that serving gives, prefill for the first row, decode for the others.

        :param fault: the name of what `plant` changes in the model
        """

        def run() -> Tensor:
            return self._serve(forced, self.model if plant is None else plant())

        return self._keep(('served', forced.name, fault), run)

    def runner(self, model: Gemma4 | None = None) -> Runner:
        """Return what runs rows, as the engine makes it."""
        config = EngineConfig(
            lanes=self.envelope.lanes,
            context_tokens=self.envelope.context_tokens,
            device=self.backend,
            compute_dtype=str(self.dtype).removeprefix('torch.'),
            # As the worker makes it of the setting.
            kv_dtype='float32' if self.envelope.kv_dtype == 'auto' else self.envelope.kv_dtype,
        )
        return make_runner(self.model if model is None else model, config)

    @cached_property
    def _eager_model(self) -> Gemma4:
        model = twin(self.model).to(self.device, self.dtype)
        for module in model.modules():
            if isinstance(module, QuantLinear | QuantEmbedding):
                module.packed = module.packed.to(self.device)
            if isinstance(module, QuantEmbedding):
                module.dtype = self.dtype
        return model

    def _serve(self, forced: Forced, model: Gemma4) -> Tensor:
        runner = self.runner(model)
        rows = [prefill(runner, 0, forced.ids[: forced.first + 1])]
        for position in range(forced.first + 1, len(forced.ids)):
            rows.append(decode(runner, 0, forced.ids[position], position))
        return torch.stack(rows)

    def _keep(self, key: tuple[object, ...], compute: Callable[[], Tensor]) -> Tensor:
        if key not in self._kept:
            self._kept[key] = compute().cpu().double()
        self._kept.move_to_end(key)
        # A large vocabulary's logits are many; those used longest ago are computed again.
        while len(self._kept) > 1 and sum(each.nbytes for each in self._kept.values()) > _KEPT:
            self._kept.popitem(last=False)
        return self._kept[key]


def prefill(runner: Runner, lane: int, ids: tuple[int, ...], start: int = 0) -> Tensor:
    """Run tokens from a grid line to the end of `ids` as prefill; return the last row's logits."""
    logits = None
    for line in range(start, len(ids), TILE):
        tile = ids[line : line + TILE]
        outputs = (len(tile) - 1,) if line + TILE >= len(ids) else ()
        (logits,) = runner.forward([
            Rows(lane=lane, start=line, token_ids=tile, num_prompt=len(ids), outputs=outputs)
        ])
    assert logits is not None
    return torch.from_numpy(dense(logits)[0].copy())


def decode(runner: Runner, lane: int, token_id: int, position: int) -> Tensor:
    """Run one token after a prompt; return its logits."""
    rows = Rows(lane=lane, start=position, token_ids=(token_id,), num_prompt=0, outputs=(0,))
    (logits,) = runner.forward([rows])
    return torch.from_numpy(dense(logits)[0].copy())


def twin(model: Gemma4, config: ModelConfig | None = None) -> Gemma4:
    """Return the same weights, shared and not copied, in modules of their own."""
    made = empty_model(config or model.config)
    for name, module in model.named_modules():
        if isinstance(module, QuantLinear | QuantEmbedding):
            parent, _, leaf = name.rpartition('.')
            if isinstance(module, QuantEmbedding):
                new: torch.nn.Module = QuantEmbedding(
                    module.packed, module.form, scale=module.scale, dtype=module.dtype
                )
            else:
                new = QuantLinear(module.packed, module.form)
            setattr(made.get_submodule(parent), leaf, new)
    made.load_state_dict(model.state_dict(), assign=True)
    return made.follow(model.steps).requires_grad_(False).eval()


def num_forced_tokens(config: ModelConfig) -> int:
    """Return how many tokens of text a bench for a model wants."""
    return 2 * _long_length(config, quick=False)


def _long_length(config: ModelConfig, *, quick: bool) -> int:
    return config.sliding_window + (24 if quick else TILE + 24)


def _forced(
    config: ModelConfig, token_ids: list[int], envelope: Envelope, *, quick: bool
) -> tuple[Forced, ...]:
    """Return short sequences from the start, and long ones across the window where it fits."""
    room = min(envelope.context_tokens, config.max_position_embeddings)
    short = min(_SHORT, room)
    made = [Forced('start', tuple(token_ids[:short]), 1, config.sliding_window < short)]
    length = _long_length(config, quick=quick)
    if length <= room:
        first = config.sliding_window - 16 if config.sliding_window > 16 else 1
        made.append(Forced('window', tuple(token_ids[-length:]), first, True))
    if not quick:
        other = tuple(reversed(token_ids[:short]))
        made.append(replace(made[0], name='start reversed', ids=other))
    return tuple(made)
