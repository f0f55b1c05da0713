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
Measures prefill, decode and memory of a checkpoint on a device, through what serves.

Bandwidth and matrix rate come from the same run, so that shares of a ceiling compare like with
like. Tokens are random: nothing here depends on what they are. Nothing is verified by it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from datetime import timezone
import json
import os
from pathlib import Path
import platform
import resource
import statistics
import time
from typing import Any

import numpy as np
import torch

from gemma_node import __version__
from gemma_node.backends.base import BACKENDS
from gemma_node.backends.cpu import default_num_threads
from gemma_node.backends.identity import checkpoint_digest
from gemma_node.backends.identity import kernel_digest
from gemma_node.backends.identity import libraries
from gemma_node.engine.config import EngineConfig
from gemma_node.engine.runner import make_runner
from gemma_node.engine.runner import Rows
from gemma_node.engine.runner import Runner
from gemma_node.errors import ConfigError
from gemma_node.model.gemma4 import Gemma4
from gemma_node.model.linear import QuantLinear
from gemma_node.model.weights import load_model

FORMAT = 1
STEPS = ('auto', 'device')
PROMPTS = (128, 512, 1500, 2048, 8192, 32768)
CONTEXTS = (128, 2048, 8192, 32768)
LANES = (1, 2, 4, 8, 16)
_REPEATS = 16
_TIMES = 3

# Says what runs now.
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to measure; `step` device is the step that no receipt covers yet."""

    checkpoint: Path
    device: str = 'cpu'
    step: str = 'auto'
    context_tokens: int = 2048
    lanes: int = 4
    seconds: float = 120.0

    def __post_init__(self) -> None:
        if self.device not in BACKENDS:
            raise ConfigError(f'device must be one of {", ".join(BACKENDS)}, got {self.device!r}')
        if self.step not in STEPS:
            raise ConfigError(f'step must be one of {", ".join(STEPS)}, got {self.step!r}')
        if self.lanes < 1 or self.context_tokens < 64 or not self.seconds > 0:
            raise ConfigError(
                'lanes must be >= 1, context_tokens >= 64 and seconds > 0, got '
                f'{self.lanes}, {self.context_tokens} and {self.seconds}'
            )
        if not BACKENDS[self.device].is_present():
            raise ConfigError(
                f'torch {torch.__version__} finds no {self.device} device here; use device cpu'
            )


def measure(order: Order, on_step: Report = lambda text: None) -> dict[str, Any]:
    """Return everything that was measured before the time was up, and what was not."""
    end = time.monotonic() + order.seconds
    on_step('reading the checkpoint')
    started = time.perf_counter()
    model = load_model(order.checkpoint)
    load_s = time.perf_counter() - started
    on_step('preparing the step')
    if order.device == 'cpu':
        torch.set_num_threads(default_num_threads())
    started = time.perf_counter()
    with torch.inference_mode():
        runner = _runner(model, order)
        prepare_s = time.perf_counter() - started
        on_step('measuring the ceilings')
        ceilings = _ceilings(torch.device(order.device))
        meter = _Meter(runner, model.config.vocab_size, order)
        skipped: list[str] = []
        prefill = []
        for length in PROMPTS:
            if length >= order.context_tokens:
                continue
            if time.monotonic() > end:
                skipped.append(f'prefill of {length}')
                continue
            on_step(f'prefill of {length}')
            prefill.append(meter.prefill(length))
        num_bytes = bytes_per_step(model)
        decode = []
        for context in (each for each in CONTEXTS if each + _REPEATS < order.context_tokens):
            for lanes in (each for each in LANES if each <= order.lanes):
                if time.monotonic() > end:
                    skipped.append(f'decode of {lanes} lanes at {context}')
                    continue
                on_step(f'decode of {lanes} lanes at {context}')
                entry = meter.decode(context, lanes)
                share = num_bytes / (entry['step_ms'] * 1e-3) / ceilings['copy_bytes_per_s']
                decode.append({**entry, 'share_of_copy': round(share, 4)})
    return {
        'format': FORMAT,
        'made': datetime.now(timezone.utc).isoformat(timespec='seconds'),
        'package': __version__,
        'checkpoint': order.checkpoint.name,
        'checkpoint_digest': checkpoint_digest(order.checkpoint),
        'kernel_digest': kernel_digest(),
        'form': model.form,
        'device': BACKENDS[order.device].identity(),
        'machine': platform.machine(),
        'libraries': libraries(),
        'runner': runner.identity,
        'threads': torch.get_num_threads(),
        'cpus': os.cpu_count(),
        'load_s': round(load_s, 3),
        'prepare_s': round(prepare_s, 3),
        'ceilings': ceilings,
        'bytes_per_step': num_bytes,
        'prefill': prefill,
        'decode': decode,
        'not_measured': skipped,
        'memory': _memory(runner, order),
    }


def write(report: dict[str, Any], file: Path) -> Path:
    """Write it as JSON; the file appears when it is complete."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f'{file.name}.part')
    part.write_text(json.dumps(report, allow_nan=False, indent=1) + '\n', encoding='utf-8')
    part.replace(file)
    return file


def bytes_per_step(model: Gemma4) -> int:
    """Return bytes of the matrices that a decode step must read once, as they are stored."""
    total = model.embed_tokens.packed.nbytes
    for name, module in model.named_modules():
        if 'embed_tokens' in name:
            continue
        if isinstance(module, QuantLinear):
            total += module.packed.nbytes
        else:
            total += sum(each.nbytes for each in module.parameters(recurse=False))
    return total


def _runner(model: Gemma4, order: Order) -> Runner:
    config = EngineConfig(
        lanes=order.lanes,
        context_tokens=order.context_tokens,
        state_budget_bytes=0,
        device=order.device,
        num_threads=torch.get_num_threads(),
        compute_dtype='auto' if order.device == 'cpu' else 'bfloat16',
    )
    if order.step == 'auto':
        return make_runner(model, config)
    # Triton is imported where it is asked for only.
    from gemma_node.engine.device_runner import DeviceRunner
    from gemma_node.kernels import plain_ops

    if order.device == 'cpu':
        return DeviceRunner(model, config, plain_ops)
    from gemma_node.kernels import triton_ops

    return DeviceRunner(model, config, triton_ops)


class _Meter:
    """Runs random tokens through a runner and looks at the clock."""

    def __init__(self, runner: Runner, vocab_size: int, order: Order) -> None:
        self._runner = runner
        self._device = order.device
        self._rng = np.random.default_rng(1)
        self._vocab_size = vocab_size

    def prefill(self, length: int) -> dict[str, Any]:
        """Return the time until a prompt's logits are on the host."""
        found = [self._fill(0, length) for _ in range(_TIMES)]
        # The first may compile.
        best = min(found)
        return {
            'tokens': length,
            'first_ms': round(1e3 * found[0], 3),
            'ms': round(1e3 * best, 3),
            'tokens_per_s': round(length / best, 2),
        }

    def decode(self, context: int, lanes: int) -> dict[str, Any]:
        """Return the time of passes with one row a lane, logits on the host."""
        for lane in range(lanes):
            self._fill(lane, context)
        found = []
        for step in range(_REPEATS):
            batch = [self._rows(lane, context + step, 1, context, (0,)) for lane in range(lanes)]
            started = time.perf_counter()
            self._runner.forward(batch)
            found.append(time.perf_counter() - started)
        for lane in range(lanes):
            self._runner.leave(lane)
        step_s = statistics.median(found[2:])
        return {
            'context': context,
            'lanes': lanes,
            'step_ms': round(1e3 * step_s, 4),
            'slowest_ms': round(1e3 * max(found[2:]), 4),
            'tokens_per_s': round(lanes / step_s, 2),
        }

    def _fill(self, lane: int, length: int) -> float:
        self._runner.leave(lane)
        started = time.perf_counter()
        chunk = self._runner.chunk
        for start in range(0, length, chunk):
            count = min(chunk, length - start)
            outputs = (count - 1,) if start + count == length else ()
            self._runner.forward([self._rows(lane, start, count, length, outputs)])
        return time.perf_counter() - started

    def _rows(
        self, lane: int, start: int, count: int, num_prompt: int, outputs: tuple[int, ...]
    ) -> Rows:
        ids = self._rng.integers(0, self._vocab_size, count).tolist()
        return Rows(
            lane=lane, start=start, token_ids=tuple(ids), num_prompt=num_prompt, outputs=outputs
        )


def _ceilings(device: torch.device) -> dict[str, float]:
    """Return bytes a second of a large copy, read and written, and a product's operations."""
    is_cpu = device.type == 'cpu'
    size, side = (1 << 28, 1024) if is_cpu else (1 << 31, 8192)
    source = torch.ones(size, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    dtype = torch.float32 if is_cpu else torch.bfloat16
    a, b = (torch.randn(side, side, device=device).to(dtype) for _ in range(2))

    def fastest(body: Callable[[], object]) -> float:
        found = []
        for _ in range(4):
            started = time.perf_counter()
            body()
            if not is_cpu:
                torch.accelerator.synchronize()
            found.append(time.perf_counter() - started)
        return min(found)

    copy_s = fastest(lambda: target.copy_(source))
    product_s = fastest(lambda: torch.mm(a, b))
    return {
        'copy_bytes_per_s': round(2 * size / copy_s),
        'product_flops': round(2 * side**3 / product_s),
    }


def _memory(runner: Runner, order: Order) -> dict[str, int]:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    found = {'host_peak_bytes': peak, 'lanes_bytes': runner.nbytes}
    if order.device == 'cuda':
        # What was freed is kept for reuse by this process alone.
        torch.cuda.empty_cache()
        free, total = torch.cuda.mem_get_info()
        found['device_used_bytes'] = total - free
        found['torch_peak_bytes'] = torch.cuda.max_memory_allocated()
    return found
