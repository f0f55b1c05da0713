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
Compile the kernels for a GPU that is not here: `compile_kernels.py [--arch 90] [--out FILE]`.

Says registers, stack (spills) and shared memory of each kernel at E4B's shapes, from the
compiler's own report. Needs Triton and no GPU; costs no device time.
"""

from __future__ import annotations

import argparse
import itertools
import json
from pathlib import Path
import re
import subprocess
import sys
import tempfile
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from gemma_node.kernels import cuda_matmul  # noqa: E402
from gemma_node.kernels import nvrtc  # noqa: E402
from gemma_node.kernels import triton_attention as attention  # noqa: E402
from gemma_node.kernels import triton_matmul as matmul  # noqa: E402
from gemma_node.kernels import triton_pick as pick  # noqa: E402
from gemma_node.kernels import triton_prompt as prompt  # noqa: E402
from gemma_node.kernels import triton_rows as rows  # noqa: E402

TOOLS = Path(triton.__file__).parent / 'backends' / 'nvidia' / 'bin'
F32, BF16, I32 = '*fp32', '*bf16', '*i32'
# Pointers and strides that are multiples of 16 at E4B's shapes.
UNALIGNED = ('table_stride', 'num_parts', 'eps', 'factor', 'cap', 'mix', 'context_factor',
             'num_blocks', 'first', 'layers')  # fmt: skip
FORMS = {
    'affine4': (0, 64, '*i16', 10),
    'affine8': (1, 64, '*i8', 40),
    'nvfp4': (2, 16, '*i16', 40),
    'fp8': (3, 256, '*u8', 10),
    'bfloat16': (4, 256, BF16, 10),
}
WEIGHTS: dict[str, str] = {'x': BF16, 'scales': BF16, 'biases': BF16, 'factors': F32,
                           'plane': F32}  # fmt: skip
CACHE = {'q': BF16, 'table': I32, 'positions': I32, 'lanes': I32, 'ends': I32}


def jobs() -> list[tuple[str, Any, dict[str, Any], dict[str, str], int, int]]:
    """Return name, kernel, constants, types of what is no int, warps and stages."""
    flags = {'WIDE': False, 'ASM': True, 'EARLY': True}
    found: list[tuple[str, Any, dict[str, Any], dict[str, str], int, int]] = []
    for form, (kind, group, data, steps) in FORMS.items():
        base = {'KIND': kind, 'GROUP': group, 'EVEN': True, 'STEPS': steps, **flags}
        for width, gated, planed in ((8, False, False), (16, False, False), (8, True, False),
                                     (8, False, True)):  # fmt: skip
            constants = {**base, 'BR': 32, 'N': width, 'GATED': gated, 'PLANED': planed,
                         'STAGES': 4, 'LINES': 8}  # fmt: skip
            out = BF16 if gated or planed else F32
            suffix = ' gated' if gated else ' planed' if planed else ''
            found.append((f'product {form} {width}{suffix}', matmul._product, constants,
                          {**WEIGHTS, 'data': data, 'out': out}, 2, 4))  # fmt: skip
        slices = 4 if kind in (0, 2) else 1
        for tokens, gated in itertools.product((64, 128), (False, True)):
            constants = {**base, 'GROUP': min(group, 64), 'BR': 128, 'BM': tokens,
                         'STAGES': 2 if kind == 0 else 3,
                         'SLICES': slices, 'FACTORED': kind in (2, 3), 'GATED': gated}  # fmt: skip
            found.append((f'prompt product {form} {tokens}{" gated" if gated else ""}',
                          prompt._prompt_product, constants,
                          {**WEIGHTS, 'data': data, 'out': BF16}, 8, 3))  # fmt: skip
        if kind != 4:
            constants = {'KIND': kind, 'GROUP': min(group, 64), 'BR': 64, 'SLICES': slices,
                         'ASM': True, 'EARLY': True}  # fmt: skip
            found.append((f'unpack {form}', prompt._unpack, constants,
                          {**WEIGHTS, 'data': data, 'out': BF16}, 4, 3))  # fmt: skip
    for rows_, tokens, warps in ((128, 256, 8), (128, 128, 8), (128, 64, 4), (64, 64, 4)):
        constants = {'BR': rows_, 'BM': tokens, 'BK': 64, 'STEPS': 40, 'WIDE': False,
                     'STAGES': 4, 'FACTORED': False, 'EARLY': True}  # fmt: skip
        types = {'x': f'tensordesc<bf16[{tokens}, 64]>',
                 'weight': f'tensordesc<bf16[{rows_}, 64]>',
                 'factors': F32, 'out': BF16}  # fmt: skip
        found.append((f'described product {rows_} {tokens}', prompt._described_product,
                      constants, types, warps, 4))  # fmt: skip
        if rows_ == 128:
            half = f'tensordesc<bf16[{rows_ // 2}, 64]>'
            types = {**types, 'gate': half, 'up': half}
            found.append((f'described gate {rows_} {tokens}', prompt._described_gate,
                          {**constants, 'BR': rows_ // 2}, types, warps, 4))  # fmt: skip
    for fp8 in (False, True):
        pool = '*u8' if fp8 else BF16
        for size, window, block, wide in ((256, 512, 32, 64), (512, 0, 64, 32)):
            base = {'D': size, 'GROUP': 4, 'HQ': 8, 'WINDOW': window, 'PAGE': 64, 'FP8': fp8,
                    **flags}  # fmt: skip
            name = f'{size}{" float8" if fp8 else ""}'
            types = {**CACHE, 'pool': pool, 'parts': F32, 'stats': F32, 'out': BF16}
            found.append((f'attend {name}', attention._attend,
                          {**base, 'NQ': 8, 'BLOCK': block}, types, 4 if window else 8, 3))
            found.append((f'attend prompt {name}', attention._attend_prompt,
                          {**base, 'NQ': 4, 'TILE': 32 if window else 16, 'BLOCK': wide},
                          types, 8, 2))
            constants = {'D': size, 'ROTATED': 128 if window else 64, 'HQ': 8, 'HKV': 2,
                         'PARTS': 5, 'PAGE': 64, 'FP8': fp8, 'EARLY': True}  # fmt: skip
            found.append((f'heads {name}', rows._heads, constants,
                          {**types, 'qkv': F32, 'norms': F32, 'cos': F32, 'sin': F32,
                           'eps': 'fp32'}, 2, 3))  # fmt: skip
    table = {'ids': I32, 'data': '*i16', 'scales': BF16, 'biases': BF16, 'weight': F32,
             'factor': 'fp32', 'eps': 'fp32', 'context_factor': 'fp32', 'mix': 'fp32'}  # fmt: skip
    found += [
        ('combine', attention._combine, {'D': 512, 'HQ': 8, 'BLOCK': 64, 'WINDOW': 0, 'JOIN': 32,
                                           'EARLY': True},
         {'parts': F32, 'stats': F32, 'positions': I32, 'out': BF16}, 4, 3),
        ('residual', rows._residual, {'PARTS': 8, 'NORM': True, 'SCALED': True, 'BLOCK': 4096,
                                       'EARLY': True},
         {'parts': F32, 'weight': F32, 'h': F32, 'scalar': F32, 'next_weight': F32, 'x': BF16,
          'eps': 'fp32'}, 8, 3),
        ('embed', rows._embed, {'KIND': 0, 'GROUP': 64, 'BLOCK': 4096, 'EARLY': True},
         {**table, 'h': F32, 'narrow': BF16, 'x': BF16}, 8, 3),
        ('per layer', rows._per_layer, {'KIND': 0, 'GROUP': 64, 'SIZE': 256, 'PARTS': 2,
                                         'EARLY': True},
         {**table, 'context': F32, 'out': F32}, 2, 3),
        ('gate', rows._gate, {'BLOCK': 256, 'PARTS': 10, 'EARLY': True},
         {'first': F32, 'second': F32, 'x': BF16}, 1, 3),
        ('look', pick._look, {'CAPPED': True, 'BLOCK': 2048, 'EARLY': True},
         {'logits': F32, 'mask': I32, 'blocks': F32, 'cap': 'fp32'}, 4, 3),
        ('choose', pick._choose, {'SIZE': 128, 'EARLY': True},
         {'blocks': F32, 'looks': F32, 'best_ids': I32}, 4, 3),
    ]  # fmt: skip
    return found


def build(job: tuple[Any, ...], arch: int) -> dict[str, Any]:
    """Compile one kernel and return the compiler's report."""
    name, kernel, constants, types, warps, stages = job
    names = kernel.arg_names
    signature = {
        each: 'constexpr' if each in constants else types.get(each, 'i32') for each in names
    }
    aligned = {
        (index,): [['tt.divisibility', 16]]
        for index, each in enumerate(names)
        if each not in constants and (signature[each][0] == '*' or each not in UNALIGNED)
    }
    source = ASTSource(
        fn=kernel, signature=signature, attrs=aligned,
        constexprs={(names.index(each),): value for each, value in constants.items()},
    )  # fmt: skip
    compiled = triton.compile(
        source, target=GPUTarget('cuda', arch, 32),
        options={'num_warps': warps, 'num_stages': stages},
    )  # fmt: skip
    return {'kernel': name, 'arch': arch, **usage_of(compiled.asm['cubin']),
            'shared': compiled.metadata.shared}  # fmt: skip


def usage_of(code: bytes) -> dict[str, int]:
    """Return registers and stack by the compiler's own report."""
    with tempfile.NamedTemporaryFile(suffix='.cubin') as file:
        file.write(code)
        file.flush()
        usage = subprocess.run(
            [TOOLS / 'cuobjdump', '-res-usage', file.name], capture_output=True, text=True,
            check=True,
        ).stdout  # fmt: skip
    registers, stack = re.search(r'REG:(\d+) STACK:(\d+)', usage).groups()
    return {'registers': int(registers), 'stack': int(stack)}


def cuda_jobs() -> list[tuple[str, str, cuda_matmul.Plan, int, int]]:
    """Return name, kind, plan, rows and mode of products in CUDA C++ at E4B's shapes."""
    plan = cuda_matmul.Plan(warps=10, parts=1, tiles=6, chunk=6)
    return [
        (f'cuda product {kind} {rows}{suffix}', kind, plan, rows, mode)
        for kind in cuda_matmul.KIND
        for mode, suffix in enumerate(('', ' gated', ' planed'))
        for rows in (1, 8, 16)
    ]


def build_cuda(job: tuple[str, str, cuda_matmul.Plan, int, int], arch: int) -> dict[str, Any]:
    """Compile one product in CUDA C++; needs NVRTC's library alone."""
    name, kind, plan, rows_, mode = job
    fit = cuda_matmul.fitted(kind, plan, rows_, cuda_matmul.H200_SHARED, gated=mode == 1) or plan
    options = cuda_matmul.options(kind, fit, rows_, mode, f'sm_{arch}')
    with tempfile.TemporaryDirectory() as folder:
        code = nvrtc.compiled(cuda_matmul.source(), options, Path(folder))
    shared = cuda_matmul.shared_bytes(kind, fit, rows_)
    return {'kernel': name, 'arch': arch, **usage_of(code), 'shared': shared}


def main() -> int:
    """Compile all; return how many did not compile or spill."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--arch', type=int, nargs='+', default=[90])
    parser.add_argument('--out', type=Path)
    parser.add_argument('--only', default='', help='part of the kernels\' names')
    arguments = parser.parse_args()
    report, wrong = [], 0
    for arch in arguments.arch:
        every = [(build, job) for job in jobs()]
        if nvrtc.compiler() is not None:
            every += [(build_cuda, job) for job in cuda_jobs()]
        for make, job in every:
            if arguments.only not in job[0]:
                continue
            try:
                entry = make(job, arch)
            except Exception as error:
                entry = {'kernel': job[0], 'arch': arch, 'error': repr(error)[-300:]}
            wrong += entry.get('stack', 1) > 0
            report.append(entry)
            sys.stdout.write(f'{json.dumps(entry)}\n')
            sys.stdout.flush()
    if nvrtc.compiler() is None:
        sys.stdout.write('products in CUDA C++ were not compiled: NVRTC cannot be loaded\n')
    if arguments.out:
        arguments.out.write_text(json.dumps(report, indent=1) + '\n')
    return wrong


if __name__ == '__main__':
    sys.exit(main())
