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
The recipes of the converter: which matrix gets which form, and how config.json says it.

`mlx-*` are folders for mlx-lm and this package; `nvfp4a16` is compressed-tensors' layout of the
text model; `bf16` is that without quantisation. A matrix whose columns are no whole blocks stays
bfloat16, as in the libraries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from typing import Literal

from gemma_node.errors import ConfigError
from gemma_node.quant.affine import AffineFormat
from gemma_node.quant.nvfp4 import BLOCK
from gemma_node.quant.nvfp4 import Nvfp4Format
from gemma_node.quant.packed import Format
from gemma_node.quant.packed import PlainFormat

_GROUP = 64
_PLAIN = PlainFormat()
_FOUR = AffineFormat(4, _GROUP)
_EIGHT = AffineFormat(8, _GROUP)
_ATTENTION = ('q_proj', 'k_proj', 'v_proj', 'o_proj')
_PER_LAYER = ('per_layer_input_gate', 'per_layer_projection')
_TABLES = ('embed_tokens', 'embed_tokens_per_layer')
# Servers join these, so each group has one tensor scale.
_FUSED = (('q_proj', 'k_proj', 'v_proj'), ('gate_proj', 'up_proj'))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """
    Forms of a checkpoint's matrices.

    `exceptions` pairs a module's last name with a form of its own. Layout `mlx` keeps names and
    config as mlx-lm writes them, `hf` is a text model of transformers.
    """

    name: str
    layout: Literal['mlx', 'hf']
    form: Format
    exceptions: tuple[tuple[str, Format], ...] = ()

    def form_of(self, module: str, columns: int) -> Format:
        """Return the form of a matrix of the module at this path."""
        form = dict(self.exceptions).get(module.rpartition('.')[2], self.form)
        return _PLAIN if columns % form.block else form

    def scale_group(self, module: str) -> tuple[str, ...]:
        """Return the modules, itself included, that share this one's tensor scale."""
        parent, _, name = module.rpartition('.')
        group = next((names for names in _FUSED if name in names), (name,))
        return tuple(f'{parent}.{each}' if parent else each for each in group)

    def declaration(self, forms: Mapping[str, Format]) -> dict[str, Any]:
        """Return what config.json says, given the forms by stored module name."""
        if isinstance(self.form, AffineFormat):
            return _declare_mlx(self.form, forms)
        if isinstance(self.form, Nvfp4Format):
            return {'quantization_config': _declare_compressed(forms)}
        return {}


def _recipe(name: str, form: Format, exceptions: Mapping[str, Format] | None = None) -> Recipe:
    layout: Literal['mlx', 'hf'] = 'mlx' if isinstance(form, AffineFormat) else 'hf'
    return Recipe(
        name=name, layout=layout, form=form, exceptions=tuple((exceptions or {}).items())
    )


_PER_LAYER_PLAIN: dict[str, Format] = dict.fromkeys(_PER_LAYER, _PLAIN)
RECIPES = {
    recipe.name: recipe
    for recipe in (
        _recipe('mlx-4bit', _FOUR),
        _recipe('mlx-4bit-ple-bf16', _FOUR, _PER_LAYER_PLAIN),
        _recipe(
            'mlx-4bit-ple-bf16-attn8',
            _FOUR,
            {**_PER_LAYER_PLAIN, **dict.fromkeys(_ATTENTION, _EIGHT)},
        ),
        _recipe('mlx-8bit', _EIGHT),
        _recipe('nvfp4a16', Nvfp4Format('compressed-tensors'), dict.fromkeys(_TABLES, _PLAIN)),
        _recipe('bf16', _PLAIN),
    )
}


def recipe_named(name: str) -> Recipe:
    """Return a recipe; raises ConfigError with the choices."""
    recipe = RECIPES.get(name)
    if recipe is None:
        raise ConfigError(f'unknown recipe {name!r}; recipes are: {", ".join(RECIPES)}')
    return recipe


def _declare_mlx(default: AffineFormat, forms: Mapping[str, Format]) -> dict[str, Any]:
    values: dict[str, Any] = _affine_values(default)
    for module, form in forms.items():
        if isinstance(form, AffineFormat):
            if form != default:
                values[module] = _affine_values(form)
        else:
            values[module] = False
    # mlx-lm writes it twice, for readers of either name.
    return {'quantization': values, 'quantization_config': values}


def _affine_values(form: AffineFormat) -> dict[str, Any]:
    return {'group_size': form.group_size, 'bits': form.bits, 'mode': 'affine'}


def _declare_compressed(forms: Mapping[str, Format]) -> dict[str, Any]:
    linear = {name: form for name, form in forms.items() if not name.endswith(_TABLES)}
    plain = [name for name, form in linear.items() if isinstance(form, PlainFormat)]
    weights = {
        'num_bits': 4,
        'type': 'float',
        'strategy': 'tensor_group',
        'group_size': BLOCK,
        'symmetric': True,
        'dynamic': False,
        'scale_dtype': 'torch.float8_e4m3fn',
        'zp_dtype': 'torch.float8_e4m3fn',
    }
    group = {
        'targets': ['Linear'],
        'weights': weights,
        'input_activations': None,
        'output_activations': None,
        'format': 'nvfp4-pack-quantized',
    }
    return {
        'quant_method': 'compressed-tensors',
        'format': 'nvfp4-pack-quantized',
        'quantization_status': 'compressed',
        'config_groups': {'group_0': group},
        'ignore': ['lm_head', *plain],
        'kv_cache_scheme': None,
    }
