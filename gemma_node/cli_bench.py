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
"""The `bench` verb: measures how fast a checkpoint is on a device, and writes the figures."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table


def add_bench(verbs: Any) -> None:
    """Add the verb to the command's parser."""
    verb = verbs.add_parser(
        'bench',
        help='measure how fast a checkpoint is on a device',
        description='Measure prefill, decode and memory of a checkpoint on a device, with '
        'bandwidth and matrix rate from the same run. Measures speed and verifies nothing: that '
        'is what receipts are for.',
    )
    verb.add_argument('checkpoint', type=Path, metavar='CKPT', help='checkpoint folder')
    verb.add_argument('--device', choices=('cpu', 'cuda', 'xpu'), default='cpu')
    verb.add_argument('--out', type=Path, metavar='FILE', required=True, help='JSON file')
    verb.add_argument(
        '--step', choices=('auto', 'device'), default='auto',
        help='what computes: what serves, or the device step, which no receipt covers yet',
    )  # fmt: skip
    verb.add_argument('--lanes', type=int, default=4, metavar='N', help='most lanes (4)')
    verb.add_argument(
        '--context-tokens', type=int, default=2112, metavar='N', help='longest context (2112)'
    )
    verb.add_argument(
        '--seconds', type=float, default=120.0, metavar='S',
        help='begin nothing new after this time (120)',
    )  # fmt: skip
    verb.set_defaults(verb=run_bench)


def run_bench(arguments: argparse.Namespace, console: Console) -> int:
    """Measure, write the file and show a table."""
    from gemma_node.bench.measure import measure
    from gemma_node.bench.measure import Order
    from gemma_node.bench.measure import write

    order = Order(
        checkpoint=arguments.checkpoint,
        device=arguments.device,
        step=arguments.step,
        lanes=arguments.lanes,
        context_tokens=arguments.context_tokens,
        seconds=arguments.seconds,
    )
    with Console(stderr=True).status('starting') as status:
        report = measure(order, lambda text: status.update(escape(text)))
    file = write(report, arguments.out)
    table = Table('what', 'ms', 'tokens/s', 'share of copy', box=None)
    for each in report['prefill']:
        name = f'prefill {each["tokens"]}'
        table.add_row(name, f'{each["ms"]:.2f}', f'{each["tokens_per_s"]:.0f}', '')
    for each in report['decode']:
        table.add_row(
            f'decode {each["lanes"]} at {each["context"]}',
            f'{each["step_ms"]:.3f}',
            f'{each["tokens_per_s"]:.1f}',
            f'{each["share_of_copy"]:.1%}',
        )
    console.print(table)
    for each in report['not_measured']:
        console.print(f'[yellow]no time for[/] {escape(each)}')
    console.print(f'-> {escape(str(file))}', highlight=False, soft_wrap=True)
    return 0
