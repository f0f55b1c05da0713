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

"""The `receipts` verb: measures a checkpoint on a device, says what was found, writes the file."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table


def add_receipts(verbs: Any) -> None:
    """Add the verb to the command's parser."""
    verb = verbs.add_parser(
        'receipts',
        help='measure a checkpoint on a device against float64',
        description='Run the exactness checks of a checkpoint on a device, each also with faults '
        'planted that must turn it red, and write what was found. A device other than the CPU '
        'serves only with such a receipt. Exit code 1: a check is red or a fault was missed.',
    )
    verb.add_argument('checkpoint', type=Path, metavar='CKPT', help='checkpoint folder')
    verb.add_argument('--device', choices=('cpu', 'cuda', 'xpu'), default='cpu')
    verb.add_argument(
        '--out', type=Path, metavar='FILE', help='JSON file (default: where the node looks)'
    )
    verb.add_argument('--quick', action='store_true', help='fewer tokens, layers and lengths')
    verb.add_argument(
        '--dtype', choices=('auto', 'float32', 'bfloat16'), default='auto', help='what computes'
    )
    verb.add_argument(
        '--kv-dtype', choices=('auto', 'float32', 'bfloat16', 'float8'), default='auto',
        help='engine.kv_dtype (auto)',
    )  # fmt: skip
    verb.add_argument('--lanes', type=int, default=8, metavar='N', help='engine.lanes (8)')
    verb.add_argument(
        '--context-tokens', type=int, metavar='N',
        help='engine.context_tokens (8192, or what the checkpoint has)',
    )  # fmt: skip
    verb.add_argument('--json', action='store_true', help='print the receipt as JSON')
    verb.set_defaults(verb=run_receipts)


def run_receipts(arguments: argparse.Namespace, console: Console) -> int:
    """Make one receipt; return 0 if it passed."""
    from gemma_node.receipts.report import check_target
    from gemma_node.receipts.report import make_receipt
    from gemma_node.receipts.report import Order
    from gemma_node.receipts.report import write_receipt

    order = Order(
        checkpoint=arguments.checkpoint,
        device=arguments.device,
        dtype=arguments.dtype,
        kv_dtype=arguments.kv_dtype,
        lanes=arguments.lanes,
        context_tokens=arguments.context_tokens,
        quick=arguments.quick,
    )
    check_target(arguments.out)
    with Console(stderr=True).status('starting') as status:
        receipt = make_receipt(order, lambda text: status.update(escape(text)))
    file = write_receipt(receipt, arguments.out)
    if arguments.json:
        text = json.dumps(receipt, allow_nan=False, indent=2)
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    else:
        _show(receipt, file, console)
    return 0 if receipt['passed'] else 1


def _show(receipt: dict[str, Any], file: Path, console: Console) -> None:
    table = Table('check', 'result', 'faults caught', 's', box=None)
    for name, check in receipt['checks'].items():
        planted = [each for each in receipt['mutations'] if each['check'] == name]
        caught = sum(each['caught'] for each in planted)
        seconds = check['seconds'] + sum(each['seconds'] for each in planted)
        table.add_row(
            f'{name}: {check["title"]}',
            '[green]green' if check['passed'] else '[red]red',
            f'{caught} of {len(planted)}',
            f'{seconds:.1f}',
        )
    console.print(table)
    for each in receipt['mutations']:
        if not each['caught']:
            console.print(f'[red]missed[/] {escape(each["check"])}: {escape(each["fault"])}')
    for each in receipt['not_run']:
        console.print(f'[yellow]not run[/] {escape(each["what"])}: {escape(each["why"])}')
    verdict = '[green]passed' if receipt['passed'] else '[red]did not pass, covers nothing'
    bound = receipt['identity']
    console.print(
        f'{verdict}[/] {bound["backend"]} {receipt["envelope"]["compute_dtype"]} '
        f'{escape(bound["device"]["name"])}, {receipt["seconds"]} s -> {escape(str(file))}',
        highlight=False,
        soft_wrap=True,
    )
