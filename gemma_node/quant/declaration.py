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
What a checkpoint says of its own quantisation, in each of the spellings that exist.

MLX's `quantization`, ModelOpt's `quantization_config` or hf_quant_config.json, and
compressed-tensors' `quantization_config`. What cannot be computed is refused by name here,
before weights are read. The stored tensors decide how a matrix is read; a declaration may only
contradict them. Imports no torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from gemma_node.errors import CheckpointError

BITS = (2, 3, 4, 5, 6, 8)
GROUP_SIZES = (32, 64, 128)

PLAIN = 'plain'
AFFINE, NVFP4, FP8 = 'affine', 'nvfp4', 'fp8'
# Scales of activations and of the cache, which stay as they are here.
IGNORED_LEAVES = ('input_scale', 'input_global_scale', 'k_scale', 'v_scale')
LEAVES = (
    'weight', 'scales', 'biases', 'weight_scale', 'weight_scale_2', 'weight_packed',
    'weight_global_scale', *IGNORED_LEAVES,
)  # fmt: skip
_NVFP4_GROUP = 16
# With NVFP4 and FP8 the producer also rounds activations; here only weights are rounded.
_ALGORITHMS = {
    'W4A16_NVFP4': NVFP4,
    'NVFP4': NVFP4,
    'FP8': FP8,
    'FP8_PER_CHANNEL_PER_TOKEN': FP8,
}
_MIXED = 'MIXED_PRECISION'
_REGEX = 're:'


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """
    How matrices may be stored.

    `families` are those that may occur beside plain numbers. `modules` pairs a module's stored
    name with the format's name, or with its family, or PLAIN; `excluded` are patterns of PLAIN.
    """

    method: str
    families: frozenset[str]
    modules: tuple[tuple[str, str], ...] = ()
    excluded: tuple[str, ...] = ()

    def contradiction(self, module: str, family: str, name: str) -> str:
        """Return what is declared of a module, if it is not what is stored; else ''."""
        declared = dict(self.modules).get(module, '')
        if declared and declared not in (family, name):
            return declared
        if family == PLAIN:
            return ''
        if not declared and any(_covers(pattern, module) for pattern in self.excluded):
            return PLAIN
        return '' if family in self.families else ' or '.join(sorted(self.families)) or PLAIN


def parse_declaration(
    raw: Mapping[str, Any], separate: Mapping[str, Any] | None = None
) -> Declaration | None:
    """
    Read a parsed config.json; None if it says nothing.

    :param separate: the parsed hf_quant_config.json, used if config.json has nothing
    """
    text = raw.get('text_config')
    parts = [raw, text] if isinstance(text, Mapping) else [raw]
    for part in parts:
        if part.get('quantization') is not None:
            return _mlx(_object(part['quantization'], 'quantization'))
    for part in parts:
        if part.get('quantization_config') is not None:
            return _of_config(_object(part['quantization_config'], 'quantization_config'))
    return None if separate is None else _modelopt(separate)


def _of_config(values: Mapping[str, Any]) -> Declaration:
    method = values.get('quant_method')
    if method == 'modelopt' or (method is None and 'quant_algo' in values):
        return _modelopt(values)
    if method == 'compressed-tensors':
        return _compressed(values)
    if method is None and 'group_size' in values:
        return _mlx(values)
    raise CheckpointError(
        f'quantization_config.quant_method {method!r} is not served; served: modelopt, '
        'compressed-tensors, and MLX affine'
    )


def _mlx(values: Mapping[str, Any]) -> Declaration:
    default = _affine_name(values, 'quantization')
    modules = []
    for path, value in values.items():
        if isinstance(value, Mapping):
            modules.append((path, _affine_name(value, f'quantization.{path}')))
        elif isinstance(value, bool):
            modules.append((path, default if value else PLAIN))
    return Declaration(method='mlx', families=frozenset({AFFINE}), modules=tuple(modules))


def _affine_name(values: Mapping[str, Any], where: str) -> str:
    mode = values.get('mode', 'affine')
    if mode != 'affine':
        raise CheckpointError(f"{where}.mode {mode!r} is not served; served: 'affine'")
    bits, group_size = values.get('bits'), values.get('group_size')
    for name, value, choices in (('bits', bits, BITS), ('group_size', group_size, GROUP_SIZES)):
        if type(value) is not int or value not in choices:
            raise CheckpointError(f'{where}.{name} must be one of {choices}, found {value!r}')
    return affine_name(bits, group_size)


def affine_name(bits: Any, group_size: Any) -> str:
    """Return what a form of MLX is called."""
    return f'mlx-{bits}bit/{group_size}'


def _modelopt(values: Mapping[str, Any]) -> Declaration:
    # hf_quant_config.json nests the settings, config.json may have them flat.
    settings = _object(values.get('quantization', values), 'quantization')
    algorithm = settings.get('quant_algo')
    excluded = settings.get('exclude_modules', settings.get('ignore'))
    modules: dict[str, str] = {}
    if algorithm == _MIXED:
        layers = _object(settings.get('quantized_layers'), 'quantized_layers')
        for name, layer in layers.items():
            where = f'quantized_layers.{name}'
            modules[name] = _algorithm(_object(layer, where), where)
        families = frozenset(modules.values())
    elif algorithm is None:
        # Only the cache is quantised, which here never is.
        families = frozenset()
    else:
        families = frozenset({_algorithm(settings, 'quantization')})
    return Declaration(
        method='modelopt',
        families=families,
        modules=tuple(modules.items()),
        excluded=_patterns(excluded, 'exclude_modules'),
    )


def _algorithm(values: Mapping[str, Any], where: str) -> str:
    algorithm = values.get('quant_algo')
    family = _ALGORITHMS.get(algorithm) if isinstance(algorithm, str) else None
    if family is None:
        raise CheckpointError(
            f'{where}.quant_algo {algorithm!r} is not served; served: '
            f'{", ".join(_ALGORITHMS)}, {_MIXED}'
        )
    group_size = values.get('group_size')
    if family == NVFP4 and group_size not in (None, _NVFP4_GROUP):
        raise CheckpointError(f'{where}.group_size must be {_NVFP4_GROUP}, found {group_size!r}')
    return family


def _compressed(values: Mapping[str, Any]) -> Declaration:
    for name in ('sparsity_config', 'transform_config'):
        if values.get(name):
            raise CheckpointError(f'quantization_config.{name} is not served')
    groups = _object(values.get('config_groups'), 'quantization_config.config_groups')
    families = set()
    for name, group in groups.items():
        where = f'quantization_config.config_groups.{name}.weights'
        families.add(_group_family(_object(_object(group, where).get('weights'), where), where))
    return Declaration(
        method='compressed-tensors',
        families=frozenset(families),
        excluded=_patterns(values.get('ignore'), 'quantization_config.ignore'),
    )


def _group_family(weights: Mapping[str, Any], where: str) -> str:
    names = ('type', 'num_bits', 'strategy', 'group_size', 'symmetric')
    kind, bits, strategy, group_size, symmetric = (weights.get(name) for name in names)
    if kind == 'float' and symmetric is not False:
        if bits == 4 and group_size == _NVFP4_GROUP:
            return NVFP4
        if bits == 8 and strategy in ('tensor', 'channel'):
            return FP8
    raise CheckpointError(
        f'{where} ({bits} bits, type {kind!r}, strategy {strategy!r}, group_size {group_size!r}) '
        'is not served; served: NVFP4 and FP8 by tensor or channel'
    )


def _patterns(value: Any, where: str) -> tuple[str, ...]:
    names = [] if value is None else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise CheckpointError(f'{where} must be a list of module names, found {value!r}')
    return tuple(names)


def _covers(pattern: str, module: str) -> bool:
    """Return whether a name or glob means the module or one it is in; expressions are not run."""
    if pattern.startswith(_REGEX):
        return False
    return fnmatchcase(module, pattern) or fnmatchcase(module, f'{pattern}.*')


def _object(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise CheckpointError(f'{where} must be an object, found {type(value).__name__}')
    return value
