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
The composition root: settings in, a decider with its engine out.

The only file that knows all layers of the worker. Called by the engine thread, which owns what
it returns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
import time

from gemma_node import __version__
from gemma_node import ahead
from gemma_node.backends.base import Admission
from gemma_node.backends.base import admit
from gemma_node.backends.base import Envelope
from gemma_node.backends.cpu import default_num_threads
from gemma_node.backends.identity import checkpoint_digest
from gemma_node.backends.identity import cpu_name
from gemma_node.backends.identity import kernel_digest
from gemma_node.backends.receipt import Evidence
from gemma_node.core import Finish
from gemma_node.core import Generation
from gemma_node.core import GenerationResult
from gemma_node.core import RuntimeFacts
from gemma_node.core import WorkerSettings
from gemma_node.decision.decider import Decider
from gemma_node.decision.generator import Generator
from gemma_node.engine import runner
from gemma_node.engine.config import EngineConfig
from gemma_node.engine.engine import Engine
from gemma_node.errors import CheckpointError
from gemma_node.errors import ConfigError
from gemma_node.errors import GemmaNodeError
from gemma_node.model.config import ModelConfig
from gemma_node.model.gemma4 import Gemma4
from gemma_node.model.native_size import stored_sizes
from gemma_node.model.weights import load_model
from gemma_node.text.chat_template import ChatTemplate
from gemma_node.text.tokenizer import Tokenizer

Report = Callable[[float, str], None]
Relay = Callable[[Generator], Generator]

EMBEDDED_CHECKPOINT = Path(__file__).parent / 'assets' / 'demo'
# Rows that a model may have beyond its tokenizer's, to round the vocabulary up.
MAX_PADDING_ROWS = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """A worker's parts, wired and warm; `step_s` is the longest step of the warm-up."""

    decider: Decider
    engine: Engine
    facts: RuntimeFacts
    step_s: float


def assemble(
    settings: WorkerSettings, report: Report, *, relay: Relay | None = None
) -> Assembly:
    """
    Build everything that the settings ask for, or raise a GemmaNodeError with one sentence.

    `report` is told the share done and what comes next; it may raise to end the load. `relay`
    may put something between decider and engine.
    """
    report(0.02, 'reading the tokenizer')
    folder = checkpoint_folder(settings.model_path)
    # A worker has begun it already.
    ahead.begin(str(folder), device='')
    runner.begin(settings.device)
    config = ModelConfig.from_folder(folder)
    tokenizer = Tokenizer.from_folder(folder)
    template = ChatTemplate.from_folder(folder, thinking=settings.max_thinking_tokens > 0)
    _check_fit(settings, tokenizer, config)
    admission = _admit(settings, config, folder)
    report(0.1, 'reading the weights')
    model = load_model(folder, allow_not_finite=settings.allow_not_finite)
    report(0.4, 'preparing the engine')
    identity = ''
    if settings.state_dir:
        identity = f'{checkpoint_digest(folder)} {model.form} {kernel_digest()}'
    engine = Engine(model, _engine_config(settings, admission, identity))
    report(0.6, 'compiling the tools')
    generator = relay(engine) if relay else engine
    decider = Decider(tokenizer, template, settings, generator, vocab_size=config.vocab_size)
    report(0.8, 'warming up')
    engine.warm_up()
    step_s = _warm_up(engine, tokenizer)
    digest = checkpoint_digest(folder)
    facts = _facts(settings, digest, model, decider.prompt_digest, admission, engine)
    report(1.0, 'ready')
    return Assembly(decider=decider, engine=engine, facts=facts, step_s=step_s)


def checkpoint_folder(model_path: str) -> Path:
    """Return the folder that `model.path` means; '' is the embedded checkpoint."""
    folder = Path(model_path).expanduser() if model_path else EMBEDDED_CHECKPOINT
    if not folder.is_dir():
        raise CheckpointError(
            f'{folder} is no folder; model.path names a folder with config.json, tokenizer.json '
            f"and safetensors, or is '' for the embedded checkpoint"
        )
    return folder


def _admit(settings: WorkerSettings, config: ModelConfig, folder: Path) -> Admission:
    envelope = Envelope(
        lanes=settings.lanes,
        context_tokens=settings.context_tokens,
        state_budget_bytes=settings.state_budget_mb << 20,
        kv_dtype=settings.kv_dtype,
    )
    return admit(
        config,
        device=settings.device,
        allow_unverified=settings.allow_unverified,
        envelope=envelope,
        stored=stored_sizes(folder, config),
        evidence=Evidence.of(folder),
    )


def _engine_config(
    settings: WorkerSettings, admission: Admission, identity: str
) -> EngineConfig:
    return EngineConfig(
        lanes=settings.lanes,
        context_tokens=settings.context_tokens,
        state_budget_bytes=settings.state_budget_mb << 20,
        max_slice_s=settings.max_slice_ms / 1e3,
        num_threads=settings.num_threads or default_num_threads(),
        kv_dtype='float32' if settings.kv_dtype == 'auto' else settings.kv_dtype,
        device=admission.device,
        compute_dtype=admission.compute_dtype,
        state_dir=settings.state_dir,
        state_identity=identity,
    )


def _check_fit(settings: WorkerSettings, tokenizer: Tokenizer, config: ModelConfig) -> None:
    padding = max(MAX_PADDING_ROWS, config.vocab_size // 16)
    if not config.vocab_size - padding <= tokenizer.vocab_size <= config.vocab_size:
        raise CheckpointError(
            f'the tokenizer has {tokenizer.vocab_size} tokens, the model {config.vocab_size}; '
            f'tokenizer.json and config.json are of different checkpoints'
        )
    known = {
        '<pad>': (config.pad_token_id,),
        '<bos>': (config.bos_token_id,),
        '<eos>': config.eos_token_ids,
    }
    for name, ids in known.items():
        found = tokenizer.special_ids.get(name)
        if found is not None and found not in ids:
            raise CheckpointError(
                f'{name} is {found} in the tokenizer and {" or ".join(map(str, ids))} in '
                'config.json; the two are of different checkpoints'
            )
    if settings.context_tokens > config.max_position_embeddings:
        raise ConfigError(
            f'engine.context_tokens is {settings.context_tokens}, the checkpoint goes to '
            f'{config.max_position_embeddings}'
        )


def _warm_up(engine: Engine, tokenizer: Tokenizer) -> float:
    """Do what only the first steps do before requests come; return the longest step's time."""
    longest_s = 0.0
    prompt_ids = (tokenizer.stop_ids[0],)
    engine.submit(Generation(id='warm-up', state_key='', prompt_ids=prompt_ids, max_tokens=2))
    while engine.has_work:
        started = time.perf_counter()
        events = engine.step()
        longest_s = max(longest_s, time.perf_counter() - started)
        for event in events:
            if isinstance(event, GenerationResult) and event.finish is Finish.FAILED:
                raise GemmaNodeError(f'the model cannot run: {event.error_msg}')
    return longest_s


def _facts(
    settings: WorkerSettings,
    digest: str,
    model: Gemma4,
    prompt_digest: str,
    admission: Admission,
    engine: Engine,
) -> RuntimeFacts:
    stored, computed = model.form, admission.compute_dtype
    recipe = stored
    if engine.is_native:
        recipe += f', computed as stored in {computed}'
    elif model.is_quantised:
        recipe += f', unpacked at load and computed in {computed}'
    elif stored != computed:
        recipe += f' computed in {computed}'
    if model.num_not_finite:
        recipe += f', {model.num_not_finite} values NaN or infinite'
    return RuntimeFacts(
        package_version=__version__,
        model=settings.model_path or 'embedded',
        checkpoint_digest=digest,
        recipe=recipe,
        rounding=model.steps.name,
        backend=admission.backend,
        device=cpu_name() if admission.backend == 'cpu' else admission.device,
        driver=admission.driver,
        kernel_digest=kernel_digest(),
        prompt_digest=prompt_digest,
        verified=admission.verified,
        not_verified=admission.not_verified,
        lanes=settings.lanes,
        context_tokens=settings.context_tokens,
        num_parameters=model.num_parameters,
    )
