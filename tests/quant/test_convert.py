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

"""The converter: bytes of the libraries' own, the same each time, all of it or nothing."""

from contextlib import ExitStack
import errno
from itertools import pairwise
import json
import os
from pathlib import Path
import shutil
import signal
import subprocess
import sys

import pytest
from safetensors.torch import load_file
from safetensors.torch import save_file
import torch

from gemma_node.errors import CheckpointError
from gemma_node.errors import ConfigError
from gemma_node.model.config import ModelConfig
from gemma_node.model.weights import load_model
from gemma_node.model.weights import load_weights
from gemma_node.model.weights import read_layout
from gemma_node.quant import affine
from gemma_node.quant import nvfp4
from gemma_node.quant.convert import convert
from gemma_node.quant.packed import dense
from gemma_node.quant.plan import make_plan
from gemma_node.quant.recipes import RECIPES
from tests.fixtures import sources

MLX_RECIPES = [name for name in RECIPES if name.startswith('mlx')]
PART = 'gemma_node.quant.convert.PART_ELEMENTS'


@pytest.fixture(scope='module')
def multimodal(tmp_path_factory):
    return sources.write_multimodal(tmp_path_factory.mktemp('multimodal') / 'source')


@pytest.fixture(scope='module')
def standalone(tmp_path_factory):
    return sources.write_standalone(tmp_path_factory.mktemp('standalone') / 'source')


@pytest.fixture(scope='module')
def ours(multimodal, tmp_path_factory):
    """Return the folder with one conversion of the multimodal source by recipe."""
    folder = tmp_path_factory.mktemp('ours')
    for name in RECIPES:
        convert(multimodal, folder / name, name)
    return folder


@pytest.fixture(scope='module')
def theirs(multimodal, ours, run_oracle, tmp_path_factory):
    """Return mlx-lm's own conversions, beside them what mlx-lm read from both."""
    folder = tmp_path_factory.mktemp('theirs')
    run_oracle('mlx_folder.py', 'mlx_lm', multimodal, folder, ours, *MLX_RECIPES)
    return folder


def files(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def raw(tensor):
    return tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def same(one, other):
    assert one.keys() == other.keys()
    wrong = [
        name
        for name in one
        if one[name].dtype != other[name].dtype or raw(one[name]) != raw(other[name])
    ]
    assert wrong == []


def unpacked(folder):
    """Return all weights as our loader reads them, in bfloat16."""
    model = load_model(folder)
    values = dict(model.state_dict())
    for name, module in model.named_modules():
        if hasattr(module, 'packed'):
            values[f'{name}.weight'] = dense(module.packed, torch.bfloat16)
    return values


@pytest.mark.parametrize('recipe', MLX_RECIPES)
def test_tensors_equal_those_of_mlx_lms_own_converter(ours, theirs, recipe):
    same(
        load_file(ours / recipe / 'model.safetensors'),
        load_file(theirs / recipe / 'model.safetensors'),
    )


@pytest.mark.parametrize('recipe', MLX_RECIPES)
def test_what_mlx_lm_reads_of_ours_and_we_of_theirs_is_the_same_bytes(ours, theirs, recipe):
    in_mlx = load_file(ours / f'{recipe}.safetensors')
    same(in_mlx, load_file(theirs / f'{recipe}.safetensors'))
    prefix = 'language_model.model.'
    for folder in (ours, theirs):
        mine = {f'{prefix}{name}': tensor for name, tensor in unpacked(folder / recipe).items()}
        same(mine, in_mlx)


def test_the_config_of_mlx_4bit_says_what_mlx_lm_says(ours, theirs):
    for recipe in ('mlx-4bit', 'mlx-8bit'):
        one, other = (
            json.loads((folder / recipe / 'config.json').read_text()) for folder in (ours, theirs)
        )
        for key in ('model_type', 'quantization', 'quantization_config'):
            assert one[key] == other[key], key
        assert 'vision_config' not in one


def test_transformers_loads_nvfp4_and_computes_our_logits_bit_for_bit(ours, run_oracle, tmp_path):
    ids = torch.randint(0, 512, (1, 30), generator=torch.Generator().manual_seed(9))
    save_file({'ids': ids}, tmp_path / 'ids.safetensors')
    folder, out = ours / 'nvfp4a16', tmp_path / 'out.safetensors'
    run_oracle(
        'compressed_folder.py', 'compressed_tensors', folder, tmp_path / 'ids.safetensors', out
    )
    read = load_file(out)
    mine = unpacked(folder)
    weights = {f'model.{name}': each for name, each in mine.items() if name.endswith('.weight')}
    same(weights, {name: read[name] for name in weights})
    with torch.inference_mode():
        assert torch.equal(load_model(folder)(ids), read['logits'])


def test_nvfp4_matrices_that_are_fused_share_a_scale_and_tables_stay(ours, multimodal):
    stored = load_file(ours / 'nvfp4a16' / 'model.safetensors')
    plain = unpacked(multimodal)
    for layer, group in ((0, ('q_proj', 'k_proj', 'v_proj')), (5, ('gate_proj', 'up_proj'))):
        at = f'layers.{layer}.{"self_attn" if layer == 0 else "mlp"}'
        largest = max(plain[f'{at}.{name}.weight'].abs().max() for name in group)
        scale = nvfp4.tensor_scale_of(largest)
        for name in group:
            assert stored[f'model.{at}.{name}.weight_global_scale'] == scale
            made = nvfp4.quantize(plain[f'{at}.{name}.weight'], scale)
            assert torch.equal(stored[f'model.{at}.{name}.weight_packed'], made.codes)
    assert raw(stored['model.embed_tokens.weight']) == raw(plain['embed_tokens.weight'])
    assert 'model.per_layer_model_projection.weight_packed' in stored


def test_bf16_is_the_text_model_alone_with_the_same_numbers(ours, multimodal):
    same(unpacked(ours / 'bf16'), unpacked(multimodal))
    config = json.loads((ours / 'bf16' / 'config.json').read_text())
    assert config['model_type'] == 'gemma4_text'
    assert config['architectures'] == ['Gemma4ForCausalLM']
    assert config['eos_token_id'] == [1, 106]
    assert not {'text_config', 'vision_config', 'quantization_config'} & config.keys()


def test_files_of_the_text_model_go_along_and_no_others(ours):
    expected = {
        'chat_template.jinja', 'config.json', 'generation_config.json', 'model.safetensors',
        'tokenizer.json', 'tokenizer_config.json',
    }  # fmt: skip
    for recipe in RECIPES:
        assert set(files(ours / recipe)) == expected


@pytest.mark.parametrize('recipe', ['mlx-4bit-ple-bf16-attn8', 'nvfp4a16', 'bf16'])
def test_the_same_bytes_each_time_whatever_the_size_of_the_parts(
    ours, multimodal, tmp_path, monkeypatch, recipe
):
    monkeypatch.setattr(PART, 1000)
    convert(multimodal, tmp_path / 'again', recipe)
    assert files(tmp_path / 'again') == files(ours / recipe)


def test_large_results_are_sharded_and_load(standalone, tmp_path, monkeypatch):
    monkeypatch.setattr('gemma_node.quant.plan.MAX_FILE_BYTES', 60_000)
    made = convert(standalone, tmp_path / 'out', 'mlx-4bit')
    shards = sorted((tmp_path / 'out').glob('*.safetensors'))
    assert len(shards) > 3
    index = json.loads((tmp_path / 'out' / 'model.safetensors.index.json').read_text())
    assert index['metadata']['total_size'] == made.tensor_bytes
    assert set(index['weight_map'].values()) == {shard.name for shard in shards}
    whole = convert(standalone, tmp_path / 'whole', 'mlx-4bit')
    assert whole.num_tensors == len(index['weight_map'])
    monkeypatch.undo()
    same(unpacked(tmp_path / 'out'), unpacked(tmp_path / 'whole'))


# Recipe, matrices that are quantised, bytes of all tensors.
SIZES = [
    ('mlx-4bit', 345, 4_198_750_292),
    ('mlx-4bit-ple-bf16', 261, 4_277_885_012),
    ('mlx-4bit-ple-bf16-attn8', 261, 4_571_486_292),
    ('mlx-8bit', 345, 7_929_976_916),
    ('nvfp4a16', 343, 9_215_139_248),
    ('bf16', 0, 14_926_026_836),
]


@pytest.fixture(scope='module')
def e4b(tmp_path_factory):
    """Return the plans of every recipe for E4B, made of headers alone."""
    return plans(tmp_path_factory.mktemp('e4b') / 'source', sources.E4B)


def plans(folder, raw):
    sources.write_headers(folder, raw)
    config = ModelConfig.from_folder(folder)
    with ExitStack() as stack:
        stored = read_layout(folder, config, stack)
        return {
            name: make_plan(folder, config, stored, recipe, 'cpu')
            for name, recipe in RECIPES.items()
        }


@pytest.mark.parametrize(('recipe', 'quantised', 'nbytes'), SIZES)
def test_e4b_has_the_bytes_that_its_arithmetic_says(e4b, recipe, quantised, nbytes):
    plan = e4b[recipe]
    assert plan.num_quantised == quantised
    assert plan.tensor_bytes == nbytes
    outputs = [each for unit in plan.units for each in unit.outputs.values()]
    for output in outputs:
        assert output.start % {'U32': 4, 'F32': 4, 'BF16': 2}.get(output.dtype, 1) == 0
    for file, size in plan.sizes.items():
        spans = sorted((o.start, o.start + o.nbytes) for o in outputs if o.file == file)
        assert spans[0][0] == len(plan.headers[file])
        assert all(a[1] == b[0] for a, b in pairwise(spans))
        assert spans[-1][1] == size


def test_e2b_with_its_double_wide_shared_layers_is_laid_out_by_the_same_arithmetic(tmp_path):
    made = plans(tmp_path / 'source', sources.E2B)
    norms, matrices = 285_987, 4_628_283_392
    assert made['bf16'].tensor_bytes == 2 * (matrices + norms)
    assert made['mlx-4bit'].num_quantised == 278
    # Half a byte a number, and a scale and a bias of two bytes each a group of 64.
    assert made['mlx-4bit'].tensor_bytes == matrices // 2 + matrices // 64 * 4 + 2 * norms
    assert made['mlx-4bit-ple-bf16'].num_quantised == 278 - 2 * 35
    wide = {unit.name: unit for unit in made['bf16'].units}
    for layer, width in ((14, 6144), (15, 12288)):
        weight = wide[f'layers.{layer}.mlp.down_proj'].outputs['weight']
        assert weight.shape == (1536, width)


class Interrupter:
    """Raises KeyboardInterrupt at the n-th report."""

    def __init__(self, after):
        self.left = after

    def __call__(self, done, total):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize('recipe', ['mlx-4bit', 'nvfp4a16'])
def test_an_interrupted_conversion_goes_on_and_gives_the_same_bytes(
    ours, multimodal, tmp_path, recipe
):
    target = tmp_path / 'out'
    partial = tmp_path / '.out.partial'
    for after in (5, 20):
        with pytest.raises(KeyboardInterrupt):
            convert(multimodal, target, recipe, on_progress=Interrupter(after))
        assert not target.exists()
        assert partial.is_dir()
    made = convert(multimodal, target, recipe)
    assert 15 < made.num_resumed < 100
    assert files(target) == files(ours / recipe)
    assert sorted(tmp_path.iterdir()) == [target]


def test_what_was_damaged_since_the_interrupt_is_written_again(ours, multimodal, tmp_path):
    target, partial = tmp_path / 'out', tmp_path / '.out.partial'
    with pytest.raises(KeyboardInterrupt):
        convert(multimodal, target, 'mlx-4bit', on_progress=Interrupter(20))
    file = partial / 'model.safetensors'
    content = bytearray(file.read_bytes())
    content[5000:9000] = bytes(4000)
    file.write_bytes(content[: len(content) // 2])
    with (partial / 'journal.jsonl').open('a') as journal:
        journal.write('{"unit": "norm.wei')
    convert(multimodal, target, 'mlx-4bit')
    assert files(target) == files(ours / 'mlx-4bit')


def test_a_conversion_of_something_else_starts_over(ours, multimodal, standalone, tmp_path):
    target = tmp_path / 'out'
    for source, recipe in ((standalone, 'mlx-4bit'), (multimodal, 'mlx-8bit')):
        with pytest.raises(KeyboardInterrupt):
            convert(source, target, recipe, on_progress=Interrupter(20))
    made = convert(multimodal, target, 'mlx-4bit')
    assert made.num_resumed == 0
    assert files(target) == files(ours / 'mlx-4bit')


def test_a_killed_process_leaves_no_half_folder_and_is_resumed(ours, multimodal, tmp_path):
    target = tmp_path / 'out'
    program = (
        'import sys, time\n'
        'from pathlib import Path\n'
        'from gemma_node.quant.convert import convert\n'
        'count = 0\n'
        'def slow(done, total):\n'
        '    global count\n'
        '    count += 1\n'
        '    if count == 30:\n'
        "        print('here', flush=True)\n"
        '        time.sleep(60)\n'
        "convert(Path(sys.argv[1]), Path(sys.argv[2]), 'mlx-4bit', on_progress=slow)\n"
    )
    root = Path(__file__).resolve().parents[2]
    child = subprocess.Popen(
        [sys.executable, '-c', program, multimodal, target],
        stdout=subprocess.PIPE,
        env={**os.environ, 'PYTHONPATH': str(root)},
    )
    assert child.stdout.readline() == b'here\n'
    with pytest.raises(CheckpointError, match='another conversion is writing'):
        convert(multimodal, target, 'mlx-4bit')
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert not target.exists()
    made = convert(multimodal, target, 'mlx-4bit')
    assert made.num_resumed >= 25
    assert files(target) == files(ours / 'mlx-4bit')


@pytest.mark.parametrize('kind', ['folder', 'file', 'link'])
def test_nothing_is_overwritten(standalone, tmp_path, kind):
    target = tmp_path / 'out'
    make = {
        'folder': target.mkdir,
        'file': target.touch,
        'link': lambda: target.symlink_to(tmp_path / 'absent'),
    }
    make[kind]()
    before = target.lstat()
    with pytest.raises(CheckpointError, match='exists and is not overwritten'):
        convert(standalone, target, 'mlx-4bit')
    assert target.lstat() == before
    assert sorted(tmp_path.iterdir()) == [target]


def test_a_destination_that_appears_meanwhile_is_not_overwritten(standalone, tmp_path):
    target = tmp_path / 'out'

    def appear(done, total):
        target.mkdir(exist_ok=True)

    with pytest.raises(CheckpointError, match='exists and is not overwritten'):
        convert(standalone, target, 'mlx-4bit', on_progress=appear)
    assert list(target.iterdir()) == []


def test_a_folder_in_the_way_is_left_alone(standalone, tmp_path):
    partial = tmp_path / '.out.partial'
    partial.mkdir()
    (partial / 'mine').touch()
    with pytest.raises(CheckpointError, match='is in the way'):
        convert(standalone, tmp_path / 'out', 'mlx-4bit')
    assert (partial / 'mine').exists()


@pytest.mark.parametrize('kind', ['file', 'link', 'dangling', 'folder of folders', 'pipe'])
def test_what_is_no_workspace_is_in_the_way_and_left_alone(standalone, tmp_path, kind):
    partial, other = tmp_path / '.out.partial', tmp_path / 'other'
    if kind == 'file':
        partial.write_text('mine')
    elif kind in ('link', 'dangling'):
        partial.symlink_to(other)
        if kind == 'link':
            other.mkdir()
    else:
        partial.mkdir()
        make = os.mkfifo if kind == 'pipe' else os.mkdir
        make(partial / 'journal.jsonl')
    before = sorted(tmp_path.rglob('*'))
    with pytest.raises(CheckpointError, match=r'\.out\.partial is in the way'):
        convert(standalone, tmp_path / 'out', 'mlx-4bit')
    assert sorted(tmp_path.rglob('*')) == before


def test_a_journal_of_any_bytes_starts_over(standalone, tmp_path):
    (tmp_path / '.out.partial').mkdir()
    (tmp_path / '.out.partial' / 'journal.jsonl').write_bytes(b'\xff\xfe\0')
    assert convert(standalone, tmp_path / 'out', 'mlx-4bit').num_resumed == 0
    assert [each.name for each in tmp_path.iterdir()] == ['out']


def test_a_result_may_have_a_name_that_is_no_utf8_a_source_is_told_to_be_renamed(
    standalone, tmp_path
):
    named = tmp_path / os.fsdecode(b'd\xff')
    try:
        named.mkdir()
    except OSError:
        pytest.skip('this file system wants UTF-8')
    named.rmdir()
    convert(standalone, named, 'mlx-4bit')
    assert (named / 'config.json').is_file()
    with pytest.raises(CheckpointError, match=r"d\\udcff' is no UTF-8.*rename the folder"):
        convert(named, tmp_path / 'out', 'bf16')
    assert list(tmp_path.iterdir()) == [named]


def test_a_missing_parent_and_a_full_disk_are_said_before_anything_is_written(
    standalone, tmp_path, monkeypatch
):
    with pytest.raises(CheckpointError, match='there is no folder'):
        convert(standalone, tmp_path / 'a' / 'out', 'mlx-4bit')
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, 'disk_usage', lambda _: usage)
    with pytest.raises(CheckpointError, match=r'would take [\d,]+ bytes, and .* has 1,000 free'):
        convert(standalone, tmp_path / 'out', 'mlx-4bit')
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize('after', [0, 1, 40, 150])
def test_a_disk_that_fills_up_meanwhile_is_one_error_and_leaves_nothing(
    standalone, tmp_path, monkeypatch, after
):
    pwrite, left = os.pwrite, [after]

    def full(descriptor, data, position):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return pwrite(descriptor, data, position)

    monkeypatch.setattr(os, 'pwrite', full)
    with pytest.raises(CheckpointError, match='No space left on device; nothing is left of it'):
        convert(standalone, tmp_path / 'out', 'mlx-4bit')
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_full_when_the_small_files_are_copied_leaves_nothing(
    standalone, tmp_path, monkeypatch
):
    def full(source, target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))

    monkeypatch.setattr(shutil, 'copyfile', full)
    with pytest.raises(CheckpointError, match='No space left on device; nothing is left of it'):
        convert(standalone, tmp_path / 'out', 'mlx-4bit')
    assert list(tmp_path.iterdir()) == []


def test_a_limit_of_the_system_is_one_error_and_leaves_nothing(standalone, tmp_path):
    program = (
        'import resource, sys\n'
        'from pathlib import Path\n'
        'from gemma_node.errors import CheckpointError\n'
        'from gemma_node.quant.convert import convert\n'
        'resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n'
        'try:\n'
        "    convert(Path(sys.argv[1]), Path(sys.argv[2]), 'bf16')\n"
        'except CheckpointError as error:\n'
        '    print(error)\n'
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, '-c', program, standalone, tmp_path / 'out'],
        capture_output=True,
        text=True,
        env={**os.environ, 'PYTHONPATH': str(root)},
        timeout=60,
    )
    assert 'File too large; nothing is left of it' in done.stdout, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_weights_that_are_not_finite_are_counted_and_nothing_is_left(standalone, tmp_path):
    source = shutil.copytree(standalone, tmp_path / 'source')
    tensors = load_file(source / 'model.safetensors')
    tensors = {name: tensor.clone() for name, tensor in tensors.items()}
    tensors['model.layers.2.mlp.up_proj.weight'].view(-1)[::1000] = float('nan')
    save_file(tensors, source / 'model.safetensors')
    count = len(range(0, 192 * 128, 1000))
    for recipe in ('mlx-4bit', 'nvfp4a16', 'bf16'):
        with pytest.raises(CheckpointError, match=f'layers.2.mlp.up_proj holds {count} values'):
            convert(source, tmp_path / 'out', recipe)
    assert list(tmp_path.iterdir()) == [source]


def test_a_source_that_is_cut_meanwhile_is_one_error_and_leaves_nothing(standalone, tmp_path):
    source = shutil.copytree(standalone, tmp_path / 'source')

    def cut(done, total):
        os.truncate(source / 'model.safetensors', 20_000)

    with pytest.raises(CheckpointError, match='became shorter while it was read'):
        convert(source, tmp_path / 'out', 'mlx-4bit', on_progress=cut)
    assert list(tmp_path.iterdir()) == [source]


def test_a_quantised_source_is_only_unpacked(ours, tmp_path):
    for recipe in ('mlx-4bit', 'nvfp4a16'):
        with pytest.raises(CheckpointError, match='is quantised already'):
            convert(ours / recipe, tmp_path / 'x', 'mlx-8bit')
        convert(ours / recipe, tmp_path / recipe, 'bf16')
        same(unpacked(tmp_path / recipe), unpacked(ours / recipe))


def test_float32_is_rounded_to_bfloat16_once(tmp_path):
    wide = sources.write_standalone(tmp_path / 'wide', dtype=torch.float32)
    stored = load_file(wide / 'model.safetensors')
    made = convert(wide, tmp_path / 'out', 'bf16')
    assert made.num_quantised == 0
    narrow = load_file(tmp_path / 'out' / 'model.safetensors')
    same(narrow, {name: tensor.bfloat16() for name, tensor in stored.items()})


def test_metal_rounding_is_that_of_the_quantiser_and_is_written_down(standalone, tmp_path):
    convert(standalone, tmp_path / 'metal', 'mlx-4bit', rounding='metal')
    stored = load_file(tmp_path / 'metal' / 'model.safetensors')
    plain = load_file(standalone / 'model.safetensors')
    name = 'model.embed_tokens'
    made = affine.quantize(plain[f'{name}.weight'], bits=4, group_size=64, rounding='metal')
    assert raw(stored[f'{name}.weight']) == raw(made.words)
    other = affine.quantize(plain[f'{name}.weight'], bits=4, group_size=64)
    assert raw(other.words) != raw(made.words)
    head = (tmp_path / 'metal' / 'model.safetensors').read_bytes()[:300]
    assert b'"recipe":"mlx-4bit","rounding":"metal"' in head
    with pytest.raises(ConfigError, match='rounding metal is of the mlx recipes'):
        convert(standalone, tmp_path / 'x', 'bf16', rounding='metal')


def test_unknown_names_list_the_choices(standalone, tmp_path):
    with pytest.raises(ConfigError, match="unknown recipe 'q4'; recipes are: mlx-4bit, "):
        convert(standalone, tmp_path / 'x', 'q4')
    with pytest.raises(ConfigError, match="unknown rounding 'up'; choices: cpu, metal"):
        convert(standalone, tmp_path / 'x', 'bf16', rounding='up')


def test_every_recipe_loads_with_the_unused_tensors_gone(ours):
    for recipe in RECIPES:
        model = load_model(ours / recipe)
        names = load_weights(ours / recipe, model.config)
        assert not any('layers.5.self_attn.k' in name for name in names)


def test_memory_stays_that_of_a_part(tmp_path, monkeypatch):
    """The table alone has 64 MiB; parts have half a million numbers."""
    source = sources.write_standalone(tmp_path / 'source', vocab_size=1 << 17)
    monkeypatch.setattr(PART, 1 << 19)
    start, peak = anonymous_bytes(), [0]

    def watch(done, total):
        peak[0] = max(peak[0], anonymous_bytes())

    convert(source, tmp_path / 'out', 'mlx-4bit', on_progress=watch)
    assert (source / 'model.safetensors').stat().st_size > 100 << 20
    assert peak[0] - start < 32 << 20


def test_threads_of_torch_are_as_before_also_after_a_failure(standalone, tmp_path):
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    seen = []
    try:
        convert(standalone, tmp_path / 'out', 'mlx-4bit',
                on_progress=lambda done, total: seen.append(torch.get_num_threads()))
        with pytest.raises(KeyboardInterrupt):
            convert(standalone, tmp_path / 'new', 'mlx-4bit', on_progress=Interrupter(2))
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
    assert set(seen) == {1}


def anonymous_bytes():
    for line in Path('/proc/self/status').read_text().splitlines():
        if line.startswith('RssAnon:'):
            return int(line.split()[1]) * 1024
    pytest.skip('the system does not say')
