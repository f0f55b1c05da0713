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
The native CPU step: ctypes mirrors of cpu/step.h and the one place that loads its library.

The library is built with the package, by colcon and pip alike; where it is missing the model
runs on plain PyTorch. Which values it computes with: float32 throughout, bfloat16 weights as
they are, 4-bit codes times float32 scales, summed by group. With AVX-512 VNNI what codes are
multiplied with is rounded to 24 bits of its group's power of two, and summed exactly.
"""

from __future__ import annotations

import ctypes
from ctypes import c_float
from ctypes import c_int32
from ctypes import c_void_p
from functools import cache
from pathlib import Path

ABI = 2
PAGE = 64
WIDTH = 16
LIBRARY = 'libgemma_node__cpu_step.so'

KIND_F32, KIND_BF16, KIND_Q4 = range(3)
KV_F32, KV_BF16, KV_FP8 = range(3)
TABLE_F32, TABLE_BF16, TABLE_AFFINE, TABLE_NONE = range(4)


class Matrix(ctypes.Structure):
    """A projection in blocks of 16 rows."""

    _fields_ = (
        ('kind', c_int32),
        ('rows', c_int32),
        ('columns', c_int32),
        ('group', c_int32),
        ('data', c_void_p),
        ('scales', c_void_p),
        ('biases', c_void_p),
    )


class Table(ctypes.Structure):
    """A table that is only gathered."""

    _fields_ = (
        ('kind', c_int32),
        ('columns', c_int32),
        ('bits', c_int32),
        ('group', c_int32),
        ('data', c_void_p),
        ('scales', c_void_p),
        ('biases', c_void_p),
        ('wide_scales', c_int32),
        ('factor', c_float),
    )


class Layer(ctypes.Structure):
    """Weights of one layer."""

    _fields_ = (
        ('qkv', Matrix),
        ('output', Matrix),
        ('gate_up', Matrix),
        ('down', Matrix),
        ('ple_gate', Matrix),
        ('ple_projection', Matrix),
        ('input_norm', c_void_p),
        ('head_norms', c_void_p),
        ('post_attention_norm', c_void_p),
        ('pre_feedforward_norm', c_void_p),
        ('post_feedforward_norm', c_void_p),
        ('post_ple_norm', c_void_p),
        ('scalar', c_float),
        ('is_sliding', c_int32),
        ('head_dim', c_int32),
        ('num_kv_heads', c_int32),
        ('owns', c_int32),
        ('page_slot', c_int32),
    )


class Model(ctypes.Structure):
    """Shape and weights of a model."""

    _fields_ = (
        ('hidden', c_int32),
        ('num_heads', c_int32),
        ('ple_dim', c_int32),
        ('vocab', c_int32),
        ('num_layers', c_int32),
        ('num_owners', c_int32),
        ('window', c_int32),
        ('kv_kind', c_int32),
        ('eps', c_float),
        ('softcap', c_float),
        ('ple_context_scale', c_float),
        ('ple_mix_scale', c_float),
        ('embedding', Table),
        ('ple_table', Table),
        ('ple_owners', Matrix),
        ('ple_shared', Matrix),
        ('head', Matrix),
        ('ple_norm', c_void_p),
        ('norm', c_void_p),
        ('cos', c_void_p * 2),
        ('sin', c_void_p * 2),
        ('layers', c_void_p),
        ('kv_scales', c_void_p * 2),
    )


class Batch(ctypes.Structure):
    """Rows of one forward pass."""

    _fields_ = (
        ('rows', c_int32),
        ('outputs', c_int32),
        ('ids', c_void_p),
        ('positions', c_void_p),
        ('lanes', c_void_p),
        ('output_rows', c_void_p),
        ('pages', c_void_p * 2),
        ('page_stride', c_int32 * 2),
        ('embedded', c_void_p),
        ('ple_tokens', c_void_p),
        ('logits', c_void_p),
    )


class Row(ctypes.Structure):
    """What a draw needs of one row of logits."""

    _fields_ = (
        ('total', ctypes.c_double),
        ('kept', ctypes.c_double),
        ('best', c_int32),
        ('count', c_int32),
        ('best_value', c_float),
    )


@cache
def library() -> ctypes.CDLL | None:
    """Return the loaded library, or None where it was not built or cannot be loaded."""
    path = Path(__file__).parents[1] / LIBRARY
    if not path.is_file():
        return None
    try:
        loaded = ctypes.CDLL(str(path))
    except OSError:
        return None
    if loaded.gn_abi() != ABI:
        return None
    loaded.gn_isa.restype = ctypes.c_char_p
    loaded.gn_create.restype = c_void_p
    loaded.gn_create.argtypes = (c_void_p, c_int32)
    loaded.gn_destroy.argtypes = (c_void_p,)
    loaded.gn_destroy.restype = None
    loaded.gn_forward.argtypes = (c_void_p, c_void_p)
    loaded.gn_matmul.argtypes = (c_void_p, c_void_p, c_void_p, c_int32, c_void_p)
    loaded.gn_matmul.restype = None
    loaded.gn_look.argtypes = (c_void_p, c_int32, c_void_p, c_void_p)
    loaded.gn_look.restype = None
    return loaded


def knows_kv(kind: int) -> bool:
    """Return whether the library that was built can keep keys and values of this kind."""
    loaded = library()
    if loaded is None or not hasattr(loaded, 'gn_kv_kinds'):
        return loaded is not None and kind < KV_FP8
    return bool(kind < loaded.gn_kv_kinds())


def isa() -> str:
    """Return the instruction set in use: avx512vnni to plain; '' without the library."""
    loaded = library()
    return loaded.gn_isa().decode() if loaded is not None else ''
