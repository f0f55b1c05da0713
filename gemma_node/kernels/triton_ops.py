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
The device step's kernels in Triton, one namespace; `plain_ops` has a twin of each.

Importing this imports Triton.
"""

from gemma_node.kernels.products import product
from gemma_node.kernels.triton_attention import attend
from gemma_node.kernels.triton_attention import attend_prompt
from gemma_node.kernels.triton_pick import choose
from gemma_node.kernels.triton_prompt import prompt_product
from gemma_node.kernels.triton_rows import embed
from gemma_node.kernels.triton_rows import gate
from gemma_node.kernels.triton_rows import heads
from gemma_node.kernels.triton_rows import per_layer
from gemma_node.kernels.triton_rows import residual
from gemma_node.kernels.triton_warm import compiling

NAME = 'triton'

__all__ = [
    'NAME',
    'attend',
    'attend_prompt',
    'choose',
    'compiling',
    'embed',
    'gate',
    'heads',
    'per_layer',
    'product',
    'prompt_product',
    'residual',
]
