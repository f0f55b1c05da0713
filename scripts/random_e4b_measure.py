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
Run a random checkpoint with transformers and say whether it is fit for rehearsals.

Fit: logits with a standard deviation of 3 to 6, a mean entropy of 1 to 4 nats, and greedy replies
that all differ and do not repeat themselves. What was measured goes into the checkpoint's folder.
"""

from __future__ import annotations

import json
from pathlib import Path
import tempfile
import time
from typing import Any

import torch

PROMPT_TOKENS = 8
REPLY_TOKENS = 48
MIN_DISTINCT = 20
STD_RANGE = (3.0, 6.0)
ENTROPY_RANGE = (1.0, 4.0)
_FIRST_PLAIN_ID = 512


def load(folder: Path, device: str) -> Any:
    """Return the text model in bfloat16, its weights memory-mapped where they stay on the CPU."""
    from transformers import Gemma4ForCausalLM

    config = json.loads((folder / 'config.json').read_text())
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        text = {'architectures': ['Gemma4ForCausalLM'], **config['text_config']}
        (work / 'config.json').write_text(json.dumps(text))
        (work / 'model.safetensors').symlink_to((folder / 'model.safetensors').resolve())
        model, report = Gemma4ForCausalLM.from_pretrained(
            work, dtype=torch.bfloat16, attn_implementation='eager', output_loading_info=True,
            key_mapping={r'^model\.language_model\.': 'model.'})
    missing = sorted(set(report['missing_keys']) - {'lm_head.weight'})
    if missing:
        raise ValueError(f'transformers misses {missing[:5]} in {folder}')
    return model.to(device).eval()


@torch.inference_mode()
def measure(folder: Path, device: str, replies: int) -> dict[str, Any]:
    """Measure logits and greedy replies, write both to random_e4b.json; raises where unfit."""
    began = time.monotonic()
    model = load(folder, device)
    vocab = model.config.vocab_size
    source = torch.Generator().manual_seed(5)
    ids = torch.randint(_FIRST_PLAIN_ID, 250_000 if vocab > 250_000 else vocab,
                        (replies, PROMPT_TOKENS), generator=source).to(device)
    std, entropy, tokens, cache = [], [], [], None
    for _ in range(REPLY_TOKENS):
        out = model(ids, past_key_values=cache, use_cache=True, logits_to_keep=1)
        cache = out.past_key_values
        logits = out.logits[:, -1].float()
        logs = torch.log_softmax(logits, -1)
        std.append(logits.std(-1).mean().item())
        entropy.append(-(logs.exp() * logs).sum(-1).mean().item())
        ids = logits.argmax(-1, keepdim=True)
        tokens.append(ids.cpu())
    made = [tuple(row) for row in torch.cat(tokens, 1).tolist()]
    found = {
        'replies': replies, 'reply_tokens': REPLY_TOKENS, 'different_replies': len(set(made)),
        'least_distinct_ids': min(len(set(row)) for row in made),
        'logit_std': round(sum(std) / len(std), 3),
        'entropy_nats': round(sum(entropy) / len(entropy), 3),
        'device': device, 'wall_s': round(time.monotonic() - began, 1),
    }
    file = folder / 'random_e4b.json'
    report = json.loads(file.read_text()) | {'measured': found}
    file.write_text(json.dumps(report, indent=1) + '\n')
    check(found)
    return found


def check(found: dict[str, Any]) -> None:
    """Raise ValueError where a measured figure lies outside what rehearsals need."""
    wrong = []
    for key, (low, high) in (('logit_std', STD_RANGE), ('entropy_nats', ENTROPY_RANGE)):
        if not low <= found[key] <= high:
            wrong.append(f'{key} is {found[key]}, expected {low} to {high}')
    if found['different_replies'] < found['replies']:
        wrong.append(f'only {found["different_replies"]} of {found["replies"]} replies differ')
    if found['least_distinct_ids'] < MIN_DISTINCT:
        wrong.append(f'a reply has {found["least_distinct_ids"]} distinct ids, '
                     f'expected {MIN_DISTINCT}')
    if wrong:
        raise ValueError('; '.join(wrong))
