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

"""Hostile and damaged safetensors headers: one clear error each, no crash, no large allocation."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager
import json
from pathlib import Path
import resource
import struct
from typing import Any

from hypothesis import example
from hypothesis import given
from hypothesis import HealthCheck
from hypothesis import settings
from hypothesis import strategies as st
import pytest
from safetensors.torch import save_file
import torch

from gemma_node.cli_inspect import inspect_checkpoint
from gemma_node.errors import CheckpointError
from gemma_node.model.config import FULL
from gemma_node.model.config import ModelConfig
from gemma_node.model.config import SLIDING
from gemma_node.model.gemma4 import Gemma4
from gemma_node.model.header import read_header
from gemma_node.model.weights import load_model
from tests.fixtures import quantised
from tests.fixtures import sources
from tests.fixtures.tiny_checkpoint import write_checkpoint

SMALL = sources.TINY | {
    'vocab_size': 40,
    'vocab_size_per_layer_input': 40,
    'hidden_size': 32,
    'intermediate_size': 32,
    'num_hidden_layers': 3,
    'head_dim': 8,
    'global_head_dim': 16,
    'hidden_size_per_layer_input': 16,
    'num_kv_shared_layers': 1,
    'layer_types': [SLIDING, FULL, FULL],
}
# Any allocation of more than this fails, and then not as a CheckpointError.
ROOM = 24 << 20
HUGE = (2**31, 2**53, 2**60, 2**63 - 1, 2**63, 2**64, 10**30)


def content(header: bytes, data: bytes = b'') -> bytes:
    return struct.pack('<Q', len(header)) + header + data


def entry(dtype: str, shape: list[int], start: int, stop: int) -> dict[str, Any]:
    return {'dtype': dtype, 'shape': shape, 'data_offsets': [start, stop]}


def table(**entries: Any) -> bytes:
    return json.dumps(entries).encode()


# How the matrices are stored, by how many mutations of it are tried in each run.
FORMS: dict[str, tuple[int, quantised.Quantiser | None, dict[str, Any]]] = {
    'plain': (1000, None, {}),
    'mlx': (200, quantised.mlx(4, 32), {'quantization': {'group_size': 32, 'bits': 4}}),
    'nvfp4': (200, quantised.modelopt, {'quantization_config': {'quant_algo': 'NVFP4'}}),
    'fp8': (
        200, quantised.eight_bit_floats(by_row=True),
        {'quantization_config': {'quant_algo': 'FP8'}},
    ),
}  # fmt: skip


@pytest.fixture(scope='module', params=FORMS)
def form(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory, form: str) -> Path:
    """Return a checkpoint of at most 60 kB."""
    path = write_checkpoint(tmp_path_factory.mktemp('header') / 'plain')
    torch.manual_seed(1)
    model = Gemma4(ModelConfig.from_mapping(SMALL)).to(torch.bfloat16)
    state = {
        f'model.{name}': torch.randn(tensor.shape).to(tensor.dtype)
        for name, tensor in model.state_dict().items()
    }
    save_file(state, path / 'model.safetensors', metadata={'format': 'pt'})
    (path / 'config.json').write_text(json.dumps(SMALL))
    _, quantise, declare = FORMS[form]
    if quantise is not None:
        path = quantised.write_twin(path, path.parent / form, quantise, declare=declare)
    load_model(path)
    return path


@pytest.fixture(scope='module')
def whole(folder: Path) -> tuple[bytes, bytes]:
    """Return the header and the data of the checkpoint's file."""
    raw = (folder / 'model.safetensors').read_bytes()
    length = struct.unpack('<Q', raw[:8])[0]
    return raw[8 : 8 + length], raw[8 + length :]


@contextmanager
def bounded_memory() -> Iterator[None]:
    """Limit by how much the address space may grow."""
    pages = int(Path('/proc/self/statm').read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    limit = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


F32_4 = entry('F32', [2, 2], 0, 16)


CASES = [
    (b'', 'its header does not fit its 0 bytes'),
    (b'\0' * 7, 'its header does not fit its 7 bytes'),
    (struct.pack('<Q', 2**60) + b'{}', 'its header does not fit its 10 bytes'),
    (struct.pack('<Q', 2**64 - 1) + b'{}', 'its header does not fit'),
    (struct.pack('<Q', 3) + b'{}', 'its header does not fit'),
    (content(b''), 'not JSON'),
    (content(b'{'), 'not JSON'),
    (content(b'\xff{}'), 'not JSON'),
    (content('{}'.encode('utf-16')), 'not JSON'),
    (content(b'[' * 100_000), 'not JSON'),
    (content(b'{"a":' * 100_000), 'not JSON'),
    (content(b'1' * 10_000), 'not JSON'),
    (content(b'[]'), 'not an object'),
    (content(b'{}', b'x'), 'it announces 10 bytes, and has 11'),
    (content(table(__metadata__=3)), 'metadata that are not texts'),
    (content(table(__metadata__={'a': 3})), 'metadata that are not texts'),
    (content(table(a=F32_4), bytes(15)), 'announces 89 bytes, and has 88'),
    (content(table(a=F32_4), bytes(17)), 'announces 89 bytes, and has 90'),
    (content(table(a=3)), 'no tensor table (entry a)'),
    (content(table(a={})), 'no tensor table (entry a)'),
    (content(table(a=entry('F32', [2, 2], 16, 0)), bytes(16)), 'in -16 bytes'),
    (content(table(a=entry('F32', [2, 2], -16, 0)), bytes(16)), 'entry a'),
    (content(table(a=entry('F32', [2, -2], 0, 16)), bytes(16)), 'entry a'),
    (content(table(a=entry('F32', [True, 4], 0, 16)), bytes(16)), 'entry a'),
    (content(table(a=entry('F32', [2.0, 2], 0, 16)), bytes(16)), 'entry a'),
    (content(table(a=F32_4 | {'data_offsets': [0, 8, 16]}), bytes(16)), 'entry a'),
    (content(table(a=F32_4 | {'dtype': 'F31'}), bytes(16)), "unknown dtype 'F31'"),
    (content(table(a=F32_4 | {'dtype': ['F32']}), bytes(16)), 'unknown dtype'),
    (content(table(a=entry('F32', [2, 3], 0, 16)), bytes(16)), 'F32 [2, 3] in 16 bytes'),
    (content(table(a=entry('F32', [2**62, 2**62], 0, 16)), bytes(16)), 'in 16 bytes'),
    (content(table(a=entry('U8', [2**60], 0, 2**60)), bytes(16)), 'announces 115292150460684'),
    (content(table(a=entry('U8', [1] * 9, 0, 1)), bytes(1)), 'a has 9 dimensions'),
    (
        content(table(a=F32_4, b=entry('F32', [2], 8, 16)), bytes(16)),
        'b overlaps the tensor before it',
    ),
    (content(table(a=F32_4, b=F32_4), bytes(16)), 'overlaps the tensor before it'),
    (content(table(a=F32_4, b=entry('U8', [2], 17, 19)), bytes(19)), 'b leaves a hole'),
    (content(table(a=entry('U8', [2], 1, 3)), bytes(3)), 'a leaves a hole'),
    (
        content(b'{"a":%s,"a":%s}' % ((json.dumps(F32_4).encode(),) * 2), bytes(16)),
        "names 'a' twice",
    ),
    (content(table(**{'a\nb': F32_4}), bytes(16)), r"(name 'a\nb')"),
    (content(table(**{'\ud800': F32_4}), bytes(16)), r"(name '\ud800')"),
    (content(table(**{'x' * 5000: F32_4}), bytes(16)), '(name '),
]  # fmt: skip


@pytest.mark.parametrize(('raw', 'said'), CASES, ids=range(len(CASES)))
def test_what_is_wrong_is_named(tmp_path: Path, raw: bytes, said: str) -> None:
    file = tmp_path / 'model.safetensors'
    file.write_bytes(raw)
    with bounded_memory(), pytest.raises(CheckpointError) as caught:
        read_header(file)
    assert said in str(caught.value)
    assert '\n' not in str(caught.value) and len(str(caught.value)) < 500
    str(caught.value).encode()


def test_a_million_equal_names_end_quickly(tmp_path: Path) -> None:
    file = tmp_path / 'model.safetensors'
    names = b','.join(b'"%d":0' % number for number in range(300_000))
    file.write_bytes(content(b'{' + names + b',"299999":0}'))
    with pytest.raises(CheckpointError, match="names '299999' twice"):
        read_header(file)


def test_empty_tensors_and_scalars_are_no_damage(tmp_path: Path) -> None:
    file = tmp_path / 'model.safetensors'
    tensors = {'none': torch.zeros(0, 3), 'one': torch.ones(()), 'two': torch.ones(2)}
    save_file(tensors, file, metadata={'format': 'pt'})
    entries = read_header(file)
    assert {name: each.shape for name, each in entries.items()} == {
        'none': (0, 3),
        'one': (),
        'two': (2,),
    }
    assert {name: each.nbytes for name, each in entries.items()} == {'none': 0, 'one': 4, 'two': 8}


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match='cannot be read'):
        read_header(tmp_path)


sizes = st.one_of(st.integers(-3, 300), st.sampled_from(HUGE), st.none(), st.floats())
names = st.one_of(st.sampled_from(['', 'a', 'model.norm.weight', '__metadata__']), st.text())
dtypes = st.sampled_from(['BF16', 'F32', 'U8', 'U32', 'F8_E4M3', 'F4', 'F64', '', 'X', None, 3])
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


@st.composite
def mutations(draw: st.DrawFn) -> Callable[[bytes, bytes], bytes]:
    """Draw a change of a file with this header and these data."""
    kind = draw(st.sampled_from(['bytes', 'length', 'cut', 'table', 'table', 'table']))
    if kind == 'bytes':
        places = draw(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=6))

        def flip(header: bytes, data: bytes) -> bytes:
            raw = bytearray(content(header, data))
            for place, byte in places:
                raw[int(place * (len(header) + 7))] = byte
            return bytes(raw)

        return flip
    if kind == 'length':
        length = draw(st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 10_000)))
        return lambda header, data: struct.pack('<Q', length) + header + data
    if kind == 'cut':
        share = draw(st.floats(0, 1))
        return lambda header, data: content(header, data)[: int(share * (len(header) + 8))]
    which, field = draw(st.floats(0, 1)), draw(st.integers(0, 6))
    shape, offsets = draw(st.lists(sizes, max_size=10)), draw(st.lists(sizes, max_size=3))
    name, dtype, value = draw(names), draw(dtypes), draw(values)
    shift = draw(st.one_of(st.integers(-64, 64), st.sampled_from(HUGE)))

    def change(header: bytes, data: bytes) -> bytes:
        entries = json.loads(header)
        chosen = list(entries)[int(which * (len(entries) - 1))]
        old = entries[chosen]
        if field == 0:
            entries[name] = entries.pop(chosen)
        elif field == 1:
            entries[chosen] = value
        elif field == 2:
            entries[chosen] = {**old, 'dtype': dtype}
        elif field == 3:
            entries[chosen] = {**old, 'shape': shape}
        elif field == 4:
            entries[chosen] = {**old, 'data_offsets': offsets}
        elif field == 5 and 'data_offsets' in old:
            moved = [offset + shift for offset in old['data_offsets']]
            entries[chosen] = {**old, 'data_offsets': moved}
        else:
            entries[chosen] = {**old, **{'shape': shape, 'dtype': dtype, 'data_offsets': offsets}}
        return content(json.dumps(entries).encode('utf-8', 'surrogatepass'), data)

    return change


def outcome(folder: Path, raw: bytes) -> str:
    """Return what loading says, '' if it loads; anything but a CheckpointError is a failure."""
    (folder / 'model.safetensors').write_bytes(raw)
    try:
        with bounded_memory():
            load_model(folder)
    except CheckpointError as error:
        text = str(error)
        assert text and '\n' not in text and len(text) < 3000
        text.encode()
        return text
    return ''


def run_mutations(folder: Path, whole: tuple[bytes, bytes], count: int) -> set[str]:
    """Load `count` mutated files; return the kinds of answers that came."""
    seen = set()

    @settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(mutations())
    @example(lambda header, data: content(header, data))
    def check(mutate: Callable[[bytes, bytes], bytes]) -> None:
        text = outcome(folder, mutate(*whole))
        seen.add('loads' if not text else text.partition(': ')[0].rpartition(' ')[2])
        try:
            with bounded_memory():
                inspect_checkpoint(folder)
        except CheckpointError:
            assert text

    check()
    return seen


def test_mutated_headers_load_or_end_in_one_error(
    folder: Path, whole: tuple[bytes, bytes], form: str
) -> None:
    seen = run_mutations(folder, whole, FORMS[form][0])
    assert {'loads', 'short', 'config.json'} <= seen


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_very_many_mutated_headers_load_or_end_in_one_error(
    folder: Path, whole: tuple[bytes, bytes]
) -> None:
    run_mutations(folder, whole, 10_000)
