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
What each recipe of the converter costs: forced tokens and decisions against its bf16 source.

    .venv/bin/python benchmarks/kl_recipes.py SRC

SRC is a checkpoint folder in bfloat16. Every recipe is converted from it into a folder that is
removed again. The tokens of the prompts of some cases are forced, source and recipe both computed
in float64, so that the figures show the weights' loss alone and nothing of the arithmetic; and
many cases are asked as the node asks them. Writes docs/receipts/kl_recipes.json and the table
beside it.
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
from gemma_node.evaluation.asking import Options
from gemma_node.evaluation.asking import Subject
from gemma_node.evaluation.cases import Case
from gemma_node.evaluation.reading import read_cases
from gemma_node.evaluation.scoring import same_decision
from gemma_node.evaluation.scoring import Scored
from gemma_node.model.weights import load_model
from gemma_node.quant.convert import convert
from gemma_node.quant.recipes import RECIPES
from gemma_node.receipts.reference64 import ForwardPass
from gemma_node.receipts.reference64 import logits64
from gemma_node.receipts.reference64 import Weights
from gemma_node.text.tokenizer import Tokenizer

ROOT = Path(__file__).resolve().parents[1]
RECEIPTS = ROOT / 'docs' / 'receipts'
CASES = ROOT / 'benchmarks' / 'decisions' / 'hand.jsonl'
# Of the cases, spread over the file: how many are asked, how many prompts are forced.
ASKED = 100
SEQUENCES = 8
# The first tokens of a prompt are the same in all.
FIRST = 8
CPU = torch.device('cpu')


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('source', type=Path, help='checkpoint folder in bfloat16')
    parser.add_argument('--out', type=Path, default=RECEIPTS, help='folder of the two files')
    parser.add_argument('--source-is', default='', help='what SRC is, for the page')
    parser.add_argument('--cases', type=Path, default=CASES, help='JSON lines of cases')
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with torch.inference_mode():
        cases = read_cases(arguments.cases)
        step = max(1, len(cases) // ASKED)
        result = measure(arguments.source, cases[::step][:ASKED])
    result['cases'] |= {'file': arguments.cases.name}
    result['source'] = arguments.source_is
    arguments.out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result, indent=1) + '\n'
    (arguments.out / 'kl_recipes.json').write_text(text, encoding='utf-8')
    (arguments.out / 'kl_recipes.md').write_text(page(result), encoding='utf-8')
    sys.stdout.write(page(result))


def measure(source: Path, cases: tuple[Case, ...]) -> dict[str, Any]:
    """Return the figures of every recipe, with what they were measured on."""
    asked = _ask(source, cases)
    tokenizer = Tokenizer.from_folder(source)
    step = max(1, len(cases) // SEQUENCES)
    sequences = [
        tokenizer.encode_markup(asked[case.id].prompt) for case in cases[::step][:SEQUENCES]
    ]
    exact = _logits(source, sequences)
    recipes = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in RECIPES:
            made = convert(source, Path(folder) / name, name)
            found = _logits(Path(folder) / name, sequences)
            answers = _ask(Path(folder) / name, cases)
            recipes[name] = {
                'tensor_bytes': made.tensor_bytes,
                'quantised': made.num_quantised,
                'matrices': made.num_matrices,
                **_distance(found, exact),
                **_decisions(answers, asked),
            }
    run = subprocess.run(
        ['git', 'rev-parse', 'HEAD'], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return {
        'what': 'forced tokens (float64) and decisions, recipe against its bfloat16 source',
        'checkpoint_digest': checkpoint_digest(source),
        'cases': {'asked': len(cases), 'right': sum(_is_right(each) for each in asked.values())},
        'sequences': len(sequences),
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


def _ask(folder: Path, cases: tuple[Case, ...]) -> dict[str, Scored]:
    """Return every case as the checkpoint answers it, by its id."""
    # What the engine does is not for inference mode to decide.
    with torch.inference_mode(False):
        subject = Subject(Options(model_path=str(folder)))
        return {each.case.id: each for each in subject.ask(cases)}


def _is_right(scored: Scored) -> bool:
    return scored.verdict.is_exact


def _decisions(found: dict[str, Scored], source: dict[str, Scored]) -> dict[str, int]:
    return {
        'cases_right': sum(_is_right(each) for each in found.values()),
        'cases_as_the_source': sum(
            same_decision(each.got, source[name].got) for name, each in found.items()
        ),
    }


def _distance(found: torch.Tensor, exact: torch.Tensor) -> dict[str, Any]:
    wanted = exact.log_softmax(-1)
    kl = (wanted.exp() * (wanted - found.log_softmax(-1))).sum(-1).clamp(min=0.0)
    best = exact.topk(2, -1).values
    margin = best[:, 0] - best[:, 1]
    same = found.argmax(-1) == exact.argmax(-1)
    return {
        'kl_mean': kl.mean().item(),
        'kl_p99': kl.quantile(0.99).item(),
        'kl_max': kl.max().item(),
        'top1_agreement': same.double().mean().item(),
        'largest_margin_lost': margin[~same].max().item() if not same.all() else 0.0,
        'smallest_margin': margin.min().item(),
    }


def page(result: dict[str, Any]) -> str:
    """Return the table as a page."""
    cases, source = result['cases'], result['source']
    rows = '\n'.join(
        f'| `{name}` | {each["quantised"]} of {each["matrices"]} | {each["tensor_bytes"]:,} '
        f'| {each["kl_mean"]:.2e} | {each["kl_p99"]:.2e} | {each["kl_max"]:.2e} '
        f'| {100 * each["top1_agreement"]:.2f} % | {each["largest_margin_lost"]:.2f} '
        f'| {each["cases_as_the_source"]} | {each["cases_right"]} |'
        for name, each in result['recipes'].items()
    )
    return f"""# What each recipe costs

Written by `benchmarks/kl_recipes.py` from a checkpoint folder in bfloat16, digest
`{result["checkpoint_digest"][:12]}`{f": {source}" if source else ""}.

KL in nats, of the source's distribution to the recipe's, over {result["positions"]:,} forced
positions: the prompts of {result["sequences"]} cases, source and recipe both computed in float64.
"Lost" is the largest margin between the source's two best tokens that a recipe turned over. Then
{cases["asked"]} cases of `benchmarks/decisions/{cases["file"]}`, asked as the node asks them: how
many end in the source's decision, and how many are right (of the source: {cases["right"]}).

| recipe | quantised | bytes of tensors | KL mean | p99 | max | top-1 | lost | same | right |
|---|---|---|---|---|---|---|---|---|---|
{rows}
"""


if __name__ == '__main__':
    main()
