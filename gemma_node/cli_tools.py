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
The verb `tools`: draft a tools file from what runs, and show what becomes of one.

`check` needs no ROS, only the interfaces' texts; `init` looks at the live graph.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
import json
import os
from pathlib import Path
import time
from typing import Any
from typing import TYPE_CHECKING

from rich.console import Console

from gemma_node.cli_values import positive_seconds
from gemma_node.errors import ConfigError
from gemma_node.errors import GemmaNodeError
from gemma_node.errors import RequestError
from gemma_node.ros_env import prepare_ros
from gemma_node.ros_env import share_folder

if TYPE_CHECKING:
    from gemma_node.tools.catalogue import Catalogue
    from gemma_node.tools.interface_schema import InterfaceSource
    from gemma_node.tools.spec import ToolSpec

EMBEDDED_CHECKPOINT = Path(__file__).resolve().parent / 'assets' / 'demo'


def add_tools(verbs: Any) -> None:
    """Add the verb to the command's parser."""
    verb = verbs.add_parser(
        'tools', help='draft or check a tools file',
        description='Draft a tools file from a running robot, or show what becomes of one.')
    parts = verb.add_subparsers(title='parts', metavar='init|check', required=True)
    init = parts.add_parser(
        'init', help='draft a file from the live graph',
        description='Write a tools file of what a robot offers now: its actions, services and '
        'velocity topics. It loads as it is, in shadow mode.')
    init.add_argument('--robot', required=True, metavar='NAMESPACE', help='such as r1')
    init.add_argument('--out', type=Path, metavar='FILE', help='a new file (default: print it)')
    init.add_argument('--timeout', type=positive_seconds, default=3.0, metavar='S',
                      help='longest look at the graph (3)')
    init.set_defaults(verb=_init)
    check = parts.add_parser(
        'check', help='show prompt, grammar, cost and a goal of each tool',
        description="Read a tools file with the interfaces installed here. Exit code 1: some "
        'tool cannot be used.')
    check.add_argument('file', type=Path, nargs='?', metavar='FILE',
                       help="default: the package's config/tools.yaml")
    check.add_argument('--model', type=Path, default=EMBEDDED_CHECKPOINT, metavar='FOLDER',
                       help='checkpoint whose tokenizer counts (default: the embedded one)')
    check.add_argument('--from', dest='origin', type=Path, metavar='PATH',
                       help='look into this package, workspace or recording first')
    check.add_argument('--json', action='store_true', help='print JSON')
    check.set_defaults(verb=_check)


def _init(arguments: argparse.Namespace, console: Console) -> int:
    if arguments.out is not None and arguments.out.exists():
        raise ConfigError(f'{arguments.out} exists; name a new file with --out')
    prepare_ros()
    try:
        from gemma_node.ros.graph import offers_of
    except ImportError as error:
        raise ConfigError(f'ROS 2 cannot be imported ({error}): source your ROS 2, or install '
                          "the wheels with pip install '.[ros]'") from error
    from gemma_node.tools.draft import draft
    from gemma_node.tools.interface_schema import InterfaceSource

    text = draft(offers_of(arguments.robot, timeout_s=arguments.timeout),
                 InterfaceSource.installed())
    if arguments.out is None:
        console.print(text, markup=False, highlight=False, soft_wrap=True, end='')
        return 0
    part = arguments.out.with_name(f'.{arguments.out.name}.{os.getpid()}')
    try:
        part.write_text(text, encoding='utf-8')
        # Unlike a rename, this never replaces a file that came meanwhile.
        os.link(part, arguments.out)
    finally:
        part.unlink(missing_ok=True)
    console.print(f'wrote {arguments.out}', markup=False, highlight=False, soft_wrap=True)
    return 0


def _check(arguments: argparse.Namespace, console: Console) -> int:
    file = arguments.file or share_folder() / 'config' / 'tools.yaml'
    report = check_tools(file, model=arguments.model, origin=arguments.origin)
    if arguments.json:
        text = json.dumps(report, allow_nan=False, ensure_ascii=False, indent=2)
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    else:
        console.print(as_text(report), markup=False, highlight=False, soft_wrap=True)
    return 1 if report['problems'] else 0


def check_tools(file: Path, *, model: Path, origin: Path | None = None) -> dict[str, Any]:
    """Return what becomes of a tools file; raises ConfigError when it cannot be read at all."""
    from gemma_node.cli_schema import source_of
    from gemma_node.tools.catalogue import check_catalogue

    interfaces = source_of(origin)
    catalogue, problems = check_catalogue(file, interfaces)
    missing = _missing(file, interfaces)
    report: dict[str, Any] = {
        'file': str(file), 'digest': catalogue.digest,
        'problems': [*(str(problem) for problem in problems.values()), *missing],
        'warnings': list(catalogue.warnings), 'checked_after': list(catalogue.checked_after),
    }
    language = _language(catalogue, model)
    report['problems'] += [f'{tool["name"]}: this sample cannot be sent: {tool["goal_problem"]}'
                           for tool in language['tools'] if tool['goal_problem']]
    return {**report, **language}


def _missing(file: Path, interfaces: InterfaceSource) -> list[str]:
    """Return one sentence for each interface of the file that cannot be read here."""
    from gemma_node.tools.yaml_reader import read_yaml

    found = []
    for node in read_yaml(file).mapping()['tools'].mapping().values():
        for kind in ('action', 'service', 'topic'):
            entry = node.mapping().get(kind)
            if entry is None or not isinstance(entry.value, str):
                continue
            try:
                interfaces.required(entry.value)
            except ConfigError as error:
                found.append(str(error))
    return list(dict.fromkeys(found))


def _language(catalogue: Catalogue, model: Path) -> dict[str, Any]:
    """Return prompt, grammar, cost and samples, by the checkpoint's tokenizer."""
    from gemma_node.core import RobotSettings
    from gemma_node.core import ToolChoice
    from gemma_node.decision.prompt import PromptWriter
    from gemma_node.policy.settings import DEFAULT_SYSTEM_PROMPT
    from gemma_node.text.chat_template import ChatTemplate
    from gemma_node.text.tokenizer import Tokenizer
    from gemma_node.tools.grammar import GrammarFactory

    tokenizer = Tokenizer.from_folder(model)
    writer = PromptWriter(tokenizer, ChatTemplate.from_folder(model))

    def prefix(names: tuple[str, ...]) -> tuple[int, ...]:
        tools = tuple(tool.declaration for tool in catalogue.tools if tool.name in names)
        settings = RobotSettings(
            name='robot', system_prompt=DEFAULT_SYSTEM_PROMPT, tools=tools)
        return tuple(writer.prefix(settings).ids)

    names = tuple(tool.name for tool in catalogue.tools)
    ids = prefix(names)

    def cost(name: str) -> int:
        # A declaration begins and ends with a marker, so its tokens do not depend on the others.
        other = names[:1] if name != names[0] else names[1:2]
        return len(prefix((name, *other))) - len(prefix(other))
    factory = GrammarFactory(
        tokenizer.inner.to_str(), vocab_size=tokenizer.vocab_size, stop_ids=tokenizer.stop_ids,
        special_ids=tokenizer.special_ids)
    started_s = time.perf_counter()
    source = factory.compile(catalogue.declarations(), ToolChoice.AUTO)
    compile_ms = 1000.0 * (time.perf_counter() - started_s)
    tools = []
    for tool in catalogue.tools:
        constraint = factory.constraint((tool.declaration,), ToolChoice.REQUIRED, 1)
        tools.append({'tokens': cost(tool.name), **sample(tool, writer.call_ids, constraint)})
    return {
        'prompt_tokens': len(ids), 'prompt': tokenizer.decode(ids), 'tools': tools,
        'grammar': source.text, 'grammar_digest': source.digest,
        'grammar_compile_ms': round(compile_ms, 3),
    }


def sample(tool: ToolSpec, call_ids: Any, constraint: Any) -> dict[str, Any]:
    """Return one call of a tool with its goal; raises ConfigError if the grammar refuses it."""
    from gemma_node.tools.overlay import to_message
    from gemma_node.tools.sample import sample_arguments

    found: dict[str, Any] = {
        'name': tool.name, 'kind': tool.kind.name.lower(), 'type': tool.interface_type,
        'interface': tool.interface_name, 'mode': tool.mode.name.lower(),
        'description': tool.description, 'parameters': dict(tool.declaration.parameters),
        'sample': None, 'goal': None, 'goal_problem': '',
    }
    try:
        arguments = dict(tool.examples[0][1]) if tool.examples else sample_arguments(
            tool.declaration.parameters)
    except ConfigError as error:
        return {**found, 'goal_problem': str(error)}
    found['sample'] = arguments
    if not all(constraint.accept(token_id) for token_id in call_ids([(tool.name, arguments)])):
        raise ConfigError(f'the grammar does not take the call {tool.name} {arguments}')
    try:
        found['goal'] = _plain(to_message(tool, arguments, frame_prefix='robot/', kept={
            rule.name: {'x': 0.0, 'y': 0.0, 'z': 0.0, 'w': 1.0}
            for rule in tool.arguments if rule.is_kept}))
        found['goal_problem'] = _unsendable(tool, arguments)
    except RequestError as error:
        found['goal_problem'] = str(error)
    return found


def _unsendable(tool: ToolSpec, arguments: Mapping[str, Any]) -> str:
    """Return what of the sample no message of this machine takes; '' also where there is none."""
    if tool.is_builtin:
        return ''
    from gemma_node.tools.overlay import to_message

    try:
        from gemma_node.ros.messages import fill
        from gemma_node.ros.messages import interface_class
        found = interface_class(tool.interface_type)
    except (ImportError, GemmaNodeError):
        return ''
    part = {'action': 'Goal', 'srv': 'Request'}.get(tool.interface_type.split('/')[1])
    message = (getattr(found, part) if part else found)()
    kept = {rule.name: {'w': 1.0} for rule in tool.arguments if rule.is_kept}
    try:
        from builtin_interfaces.msg import Time

        fill(message, to_message(tool, arguments, kept=kept), now=Time())
    except (ImportError, GemmaNodeError) as error:
        return str(error)
    return ''


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return 'now' if value == {'__now__': True} else {
            key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return list(value) if isinstance(value, bytes) else value


def as_text(report: Mapping[str, Any]) -> str:
    """Return a report as a person reads it."""
    lines = [f'prompt ({report["prompt_tokens"]} tokens before the first request):', '',
             report['prompt'], '', f'grammar (sha256 {report["grammar_digest"][:12]}…, compiled '
             f'in {report["grammar_compile_ms"]:.1f} ms):', '', report['grammar']]
    if report['checked_after']:
        lines += ['checked after the grammar: ' + ', '.join(report['checked_after']), '']
    for tool in report['tools']:
        lines.append(f'{tool["name"]}: {tool["tokens"]} tokens, {tool["mode"]}')
        lines.append(f'  call {json.dumps(tool["sample"], ensure_ascii=False)}')
        if tool['type']:
            lines.append(f'  {tool["kind"]} {tool["type"]} at {tool["interface"]}: '
                         f'{json.dumps(tool["goal"], ensure_ascii=False)}')
    lines += ['', *(f'warning: {sentence}' for sentence in report['warnings'])]
    lines += [f'problem: {sentence}' for sentence in report['problems']]
    usable = sum(not tool['goal_problem'] for tool in report['tools'])
    lines.append(f'{usable} tools can be used, {len(report["problems"])} problems')
    return '\n'.join(lines)
