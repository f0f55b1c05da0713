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
What each recipe of the converter costs: forced tokens of every recipe against its bf16 source.

    .venv/bin/python benchmarks/kl_recipes.py SRC

SRC is a checkpoint folder in bfloat16. Every recipe is converted from it into a folder that is
removed again, and both are computed in float64, so that the table shows the weights' loss alone
and nothing of the arithmetic. Writes docs/receipts/kl_recipes.json and the table beside it.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import platform
import subprocess
import sys
import tempfile
from typing import Any

import torch

import gemma_node
from gemma_node.backends.identity import checkpoint_digest
from gemma_node.model.weights import load_model
from gemma_node.quant.convert import convert
from gemma_node.quant.recipes import RECIPES
from gemma_node.receipts.reference64 import ForwardPass
from gemma_node.receipts.reference64 import logits64
from gemma_node.receipts.reference64 import Weights
from gemma_node.receipts.texts import forced_token_ids

ROOT = Path(__file__).resolve().parents[1]
RECEIPTS = ROOT / 'docs' / 'receipts'
LENGTH = 640
SEQUENCES = 4
# The first tokens of a text are hardly a text.
FIRST = 8
CPU = torch.device('cpu')


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('source', type=Path, help='checkpoint folder in bfloat16')
    parser.add_argument('--out', type=Path, default=RECEIPTS, help='folder of the two files')
    parser.add_argument('--length', type=int, default=LENGTH, help='tokens of a sequence')
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with torch.inference_mode():
        result = measure(arguments.source, arguments.length)
    arguments.out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result, indent=1) + '\n'
    (arguments.out / 'kl_recipes.json').write_text(text, encoding='utf-8')
    (arguments.out / 'kl_recipes.md').write_text(page(result), encoding='utf-8')
    sys.stdout.write(page(result))


def measure(source: Path, length: int) -> dict[str, Any]:
    """Return the figures of every recipe, with what they were measured on."""
    ids = forced_token_ids(source, length * SEQUENCES)
    sequences = [ids[start : start + length] for start in range(0, len(ids), length)]
    exact = _logits(source, sequences)
    recipes = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in RECIPES:
            made = convert(source, Path(folder) / name, name)
            found = _logits(Path(folder) / name, sequences)
            recipes[name] = {
                'tensor_bytes': made.tensor_bytes,
                'quantised': made.num_quantised,
                'matrices': made.num_matrices,
                **_distance(found, exact, len(sequences)),
            }
    run = subprocess.run(
        ['git', 'rev-parse', 'HEAD'], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return {
        'what': 'forced tokens, recipe against its bfloat16 source, both in float64',
        'checkpoint_digest': checkpoint_digest(source),
        'sequences': len(sequences),
        'tokens': length,
        'positions': len(exact),
        'commit': run.stdout.strip(),
        'versions': {'gemma_node': gemma_node.__version__, 'torch': torch.__version__,
                     'python': platform.python_version()},
        'recipes': recipes,
    }  # fmt: skip


def _logits(folder: Path, sequences: list[list[int]]) -> torch.Tensor:
    """Return [positions, vocab] of all sequences."""
    model = load_model(folder)
    # Each folder is what bfloat16 makes of its embedding's factor.
    plan = ForwardPass.of(model.config, torch.bfloat16)
    weights = Weights(model, CPU)
    return torch.cat([logits64(weights, plan, ids, FIRST) for ids in sequences])


def _distance(found: torch.Tensor, exact: torch.Tensor, num_sequences: int) -> dict[str, Any]:
    wanted = exact.log_softmax(-1)
    kl = (wanted.exp() * (wanted - found.log_softmax(-1))).sum(-1).clamp(min=0.0)
    best = exact.topk(2, -1).values
    margin = best[:, 0] - best[:, 1]
    same = found.argmax(-1) == exact.argmax(-1)
    by_position = kl.view(num_sequences, -1).mean(0).tensor_split(4)
    return {
        'kl_mean': kl.mean().item(),
        'kl_p99': kl.quantile(0.99).item(),
        'kl_max': kl.max().item(),
        'kl_mean_by_quarter': [part.mean().item() for part in by_position],
        'top1_agreement': same.double().mean().item(),
        'largest_margin_lost': margin[~same].max().item() if not same.all() else 0.0,
        'smallest_margin': margin.min().item(),
    }


def page(result: dict[str, Any]) -> str:
    """Return the table as a page."""
    rows = '\n'.join(
        f'| `{name}` | {each["quantised"]} of {each["matrices"]} | {each["tensor_bytes"]:,} '
        f'| {each["kl_mean"]:.2e} | {each["kl_p99"]:.2e} | {each["kl_max"]:.2e} '
        f'| {100 * each["top1_agreement"]:.2f} % | {each["largest_margin_lost"]:.3f} |'
        for name, each in result['recipes'].items()
    )
    return f"""# What each recipe costs

Written by `benchmarks/kl_recipes.py` from a checkpoint folder in bfloat16 (digest
`{result["checkpoint_digest"][:12]}`): {result["positions"]:,} forced positions in
{result["sequences"]} sequences of {result["tokens"]} tokens of mixed robot texts, every recipe and
its source both computed in float64. KL in nats, of the source's distribution to the recipe's. The
last column is the largest margin between the source's two best tokens that a recipe turned over.
The texts are fixed and not in the demo's wording, so this says how far the distributions move and
not how many decisions change.

| recipe | quantised | bytes of tensors | KL mean | KL p99 | KL max | top-1 equal | margin lost |
|---|---|---|---|---|---|---|---|
{rows}
"""


if __name__ == '__main__':
    main()
