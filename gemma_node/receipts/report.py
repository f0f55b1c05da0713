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
Makes a receipt: runs every check and every planted fault, and binds the result to what it is of.

The file appears whole or not at all. A receipt that did not pass is written too, and covers
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from datetime import timezone
import json
import math
import os
from pathlib import Path
import time
from typing import Any

import torch

from gemma_node import __version__
from gemma_node.backends.base import admit
from gemma_node.backends.base import BACKENDS
from gemma_node.backends.base import Envelope
from gemma_node.backends.cpu import default_num_threads
from gemma_node.backends.receipt import digest_of
from gemma_node.backends.receipt import FORMAT
from gemma_node.backends.receipt import identity
from gemma_node.backends.receipt import KIND
from gemma_node.backends.receipt import limits
from gemma_node.backends.receipt import receipts_folder
from gemma_node.engine.config import KV_DTYPES
from gemma_node.errors import CheckpointError
from gemma_node.errors import ConfigError
from gemma_node.model.config import ModelConfig
from gemma_node.model.native_size import stored_sizes
from gemma_node.model.weights import load_model
from gemma_node.receipts.bench import Bench
from gemma_node.receipts.bench import num_forced_tokens
from gemma_node.receipts.checks import Check
from gemma_node.receipts.checks import Mutation
from gemma_node.receipts.checks import NotRun
from gemma_node.receipts.registry import CHECKS
from gemma_node.receipts.texts import forced_token_ids

# As engine.context_tokens has it.
_CONTEXT = 8192
DTYPES = ('auto', 'float32', 'bfloat16')
_KV_DTYPES = ('auto', *KV_DTYPES)

# Says what runs now.
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """
    What a receipt is wanted of: a checkpoint, a device, the limits to serve within.

    Without `context_tokens` it is the node's default, or what the checkpoint has if that is less.
    """

    checkpoint: Path
    device: str = 'cpu'
    dtype: str = 'auto'
    kv_dtype: str = 'auto'
    lanes: int = 8
    context_tokens: int | None = None
    quick: bool = False

    def __post_init__(self) -> None:
        if self.device not in BACKENDS:
            raise ConfigError(f'device must be one of {", ".join(BACKENDS)}, got {self.device!r}')
        if self.dtype not in DTYPES:
            raise ConfigError(f'dtype must be one of {", ".join(DTYPES)}, got {self.dtype!r}')
        if self.kv_dtype not in _KV_DTYPES:
            raise ConfigError(
                f'kv_dtype must be one of {", ".join(_KV_DTYPES)}, got {self.kv_dtype!r}'
            )
        if self.lanes < 1 or (self.context_tokens is not None and self.context_tokens < 2):
            raise ConfigError(
                f'lanes must be >= 1 and context_tokens >= 2, got {self.lanes} and '
                f'{self.context_tokens}'
            )


def make_receipt(order: Order, on_step: Report = lambda text: None) -> dict[str, Any]:
    """Run everything and return the receipt, with its digest."""
    started = time.perf_counter()
    on_step('reading the checkpoint')
    with torch.inference_mode(), _threads():
        bench = _bench(order)
        checks, mutations, not_run = {}, [], []
        for check in CHECKS:
            reason = check.lacks(bench)
            if reason:
                not_run.append(NotRun(what=check.name, why=reason))
                continue
            on_step(check.title)
            checks[check.name] = _timed(check, bench)
            for each in check.mutations(bench):
                if isinstance(each, NotRun):
                    not_run.append(each)
                    continue
                on_step(f'{check.name} with {each.fault}')
                mutations.append(_planted(check, each))
    on_step('taking the digests')
    receipt: dict[str, Any] = {
        'kind': KIND,
        'format': FORMAT,
        'made': datetime.now(timezone.utc).isoformat(timespec='seconds'),
        'version': __version__,
        'quick': order.quick,
        'seconds': round(time.perf_counter() - started, 1),
        'model': _model_facts(bench),
        'identity': identity(
            order.checkpoint, bench.backend, BACKENDS[bench.backend].identity()
        ),
        'envelope': limits(
            lanes=order.lanes,
            context_tokens=bench.envelope.context_tokens,
            compute_dtype=str(bench.dtype).removeprefix('torch.'),
            kv_dtype=order.kv_dtype,
        ),
        'reference': 'float64, own module; eager pass in the dtype that serves, bit-equal to '
        "transformers' in the package's tests, not transformers itself",
        'checks': checks,
        'mutations': mutations,
        'not_run': [{'what': each.what, 'why': each.why} for each in not_run],
    }
    receipt['passed'] = _is_passed(receipt)
    plain: dict[str, Any] = _plain(receipt)
    return plain | {'digest': digest_of(plain)}


def write_receipt(receipt: dict[str, Any], out: Path | None) -> Path:
    """Write it to a file, by default in the folder where admission looks; return the file."""
    check_target(out)
    if out is None:
        bound = receipt['identity']
        dtype = receipt['envelope']['compute_dtype']
        name = f'{bound["checkpoint"][:12]}-{bound["backend"]}-{dtype}.json'
        out = receipts_folder() / name
        out.parent.mkdir(parents=True, exist_ok=True)
    part = out.parent / f'.{out.name}.{os.getpid()}'
    try:
        part.write_text(json.dumps(receipt, indent=1, sort_keys=True, allow_nan=False) + '\n')
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)
    return out


def check_target(out: Path | None) -> None:
    """Raise ConfigError where no receipt can be written, before minutes go into making one."""
    if out is None:
        if not receipts_folder().is_absolute():
            raise ConfigError('this user has no home folder; name a file with --out')
    elif out.is_dir():
        raise ConfigError(f'{out} is a folder; --out names the file to write')
    elif not out.parent.is_dir():
        raise ConfigError(f'there is no folder {out.parent} to write {out.name}')


def _bench(order: Order) -> Bench:
    if not order.checkpoint.is_dir():
        raise CheckpointError(f'there is no checkpoint folder at {order.checkpoint}')
    config = ModelConfig.from_folder(order.checkpoint)
    room = config.max_position_embeddings
    context = min(_CONTEXT, room) if order.context_tokens is None else order.context_tokens
    if context > room:
        raise ConfigError(f'context_tokens is {context}, the checkpoint goes to {room}')
    envelope = Envelope(
        lanes=order.lanes,
        context_tokens=context,
        state_budget_bytes=0,
        kv_dtype=order.kv_dtype,
    )
    admission = admit(
        config,
        device=order.device,
        allow_unverified=True,
        envelope=envelope,
        stored=stored_sizes(order.checkpoint, config),
    )
    token_ids = forced_token_ids(order.checkpoint, num_forced_tokens(config))
    if max(token_ids) >= config.vocab_size:
        raise CheckpointError(
            f'the tokenizer gives id {max(token_ids)}, the model has {config.vocab_size} tokens; '
            'tokenizer.json and config.json are of different checkpoints'
        )
    return Bench(
        load_model(order.checkpoint),
        token_ids,
        backend=admission.backend,
        dtype=admission.compute_dtype if order.dtype == 'auto' else order.dtype,
        envelope=envelope,
        quick=order.quick,
    )


class _threads:  # noqa: N801
    """Computes with as many threads as serving does, and puts the number back."""

    def __enter__(self) -> None:
        self._before = torch.get_num_threads()
        torch.set_num_threads(default_num_threads())

    def __exit__(self, *_: object) -> None:
        torch.set_num_threads(self._before)


def _timed(check: Check, bench: Bench) -> dict[str, Any]:
    started = time.perf_counter()
    finding = check.run(bench)
    return {
        'title': check.title,
        'passed': finding.passed,
        'measured': finding.measured,
        'bounds': finding.bounds,
        'seconds': round(time.perf_counter() - started, 2),
    }


def _planted(check: Check, mutation: Mutation) -> dict[str, Any]:
    started = time.perf_counter()
    finding = mutation.run()
    return {
        'check': check.name,
        'fault': mutation.fault,
        'planted_in': mutation.planted_in,
        'caught': not finding.passed,
        'measured': finding.measured,
        'seconds': round(time.perf_counter() - started, 2),
    }


def _model_facts(bench: Bench) -> dict[str, Any]:
    return {
        'form': bench.model.form,
        'parameters': bench.model.num_parameters,
        'layers': len(bench.plan.layers),
        'window': bench.plan.window,
        'rounding': bench.model.steps.name,
    }


def _is_passed(receipt: dict[str, Any]) -> bool:
    green = all(check['passed'] for check in receipt['checks'].values())
    caught = all(mutation['caught'] for mutation in receipt['mutations'])
    proven = {mutation['check'] for mutation in receipt['mutations']}
    return green and caught and bool(receipt['checks']) and proven == set(receipt['checks'])


def _plain(value: Any) -> Any:
    """Return a value as JSON holds it; numbers that are not finite as their names."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
