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
Reads a tools file into a Catalogue: declarations for the model, rules for policy and dispatch.

Every complaint is a ConfigError with file and line. Needs no ROS; installed interfaces refine
and check the types where they can be read.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import asdict
from dataclasses import dataclass
import hashlib
import json
import math
from pathlib import Path
import re
from typing import Any

from gemma_node.core import CallKind
from gemma_node.core import Mode
from gemma_node.core import ToolChoice
from gemma_node.core import ToolDeclaration
from gemma_node.errors import ConfigError
from gemma_node.errors import GrammarError
from gemma_node.tools.arguments import parameters_of
from gemma_node.tools.arguments import read_arguments
from gemma_node.tools.call_format import CallTokens
from gemma_node.tools.interface_schema import InterfaceSource
from gemma_node.tools.interface_schema import is_interface_type
from gemma_node.tools.lark import write_grammar
from gemma_node.tools.spec import ArgumentRule
from gemma_node.tools.spec import Condition
from gemma_node.tools.spec import FeedbackRule
from gemma_node.tools.spec import Inside
from gemma_node.tools.spec import Requirement
from gemma_node.tools.spec import ResultRule
from gemma_node.tools.spec import ToolSpec
from gemma_node.tools.validate import is_name
from gemma_node.tools.validate import validate_call
from gemma_node.tools.yaml_reader import read_yaml
from gemma_node.tools.yaml_reader import YamlNode

FILE_VERSION = 1
FILE_KEYS = ('version', 'defaults', 'resources', 'tools', 'builtins')
DEFAULT_KEYS = ('mode', 'timeout', 'cancel_timeout', 'approval_timeout', 'rate_limit', 'cooldown',
                'on_busy', 'on_taken_over')
KINDS = {'action': ('action', CallKind.ACTION), 'service': ('srv', CallKind.SERVICE),
         'topic': ('msg', CallKind.TOPIC)}
TOOL_KEYS = (*KINDS, *DEFAULT_KEYS, 'name', 'description', 'arguments', 'resources', 'idempotent',
             'requires', 'inside', 'feedback', 'result', 'examples')
MODES = ('shadow', 'approve', 'auto')
ON_BUSY = ('reject', 'preempt_own', 'queue')
ON_TAKEN_OVER = ('yield', 'ignore')
BUILTINS: Mapping[str, ToolDeclaration] = {
    name: ToolDeclaration(
        name=name,
        description=description,
        parameters={
            'type': 'object',
            'properties': {
                argument: {'type': 'string', 'description': text, 'minLength': 1,
                           'maxLength': 400}
                for argument, text in arguments.items()
            },
            'required': list(arguments),
            'additionalProperties': False,
        },
        is_builtin=True,
    )
    for name, description, arguments in (
        ('no_action', 'Do nothing, because nothing is asked or needed.',
         {'reason': 'Why nothing is done.'}),
        ('stop', 'Stop everything the robot is doing now.', {}),
        ('ask_operator', 'Ask the operator when the request is unclear.',
         {'question': 'What to ask.'}),
    )
}
_TOPIC_NAME = re.compile(r'/?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*')


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """All tools of a file, builtins last; `digest` is sha256 over everything it says."""

    tools: tuple[ToolSpec, ...]
    resources: tuple[str, ...]
    digest: str

    @property
    def by_name(self) -> dict[str, ToolSpec]:
        """Tools by the name that the model uses."""
        return {tool.name: tool for tool in self.tools}

    def declarations(self, names: Sequence[str] = ()) -> tuple[ToolDeclaration, ...]:
        """Return the declarations of the tools named (none = all), and of every builtin."""
        known = self.by_name
        for name in names:
            if name not in known:
                raise ConfigError(
                    f'unknown tool {name!r}; choices are: {", ".join(sorted(known))}')
        return tuple(
            tool.declaration for tool in self.tools
            if tool.is_builtin or not names or tool.name in names
        )


    @property
    def checked_after(self) -> tuple[str, ...]:
        """What the grammar cannot enforce, so that validation does: 'tool.argument: keyword'."""
        return _checked_after(tuple(tool.declaration for tool in self.tools))


def load_catalogue(path: Path | str, interfaces: InterfaceSource | None = None) -> Catalogue:
    """Read and check a tools file; `interfaces` None = those installed."""
    interfaces = InterfaceSource.installed() if interfaces is None else interfaces
    root = read_yaml(path)
    entries = root.mapping(FILE_KEYS)
    for key in ('version', 'tools'):
        if key not in entries:
            raise root.error(f'the key {key} is missing')
    if entries['version'].integer(minimum=0, maximum=1 << 30) != FILE_VERSION:
        raise entries['version'].error(f'must be {FILE_VERSION}')
    defaults = entries['defaults'].mapping(DEFAULT_KEYS) if 'defaults' in entries else {}
    resources = entries['resources'].texts() if 'resources' in entries else ()
    tools = [
        _read_tool(node, name, defaults, resources, interfaces)
        for name, node in entries['tools'].mapping().items()
    ]
    tools += _read_builtins(entries.get('builtins'))
    return Catalogue(
        tools=tuple(tools), resources=resources, digest=_digest_of(resources, tools))


def _digest_of(resources: Sequence[str], tools: Sequence[ToolSpec]) -> str:
    content = [asdict(tool) for tool in tools]
    for tool in content:
        for rule in tool['arguments']:
            # Known only where the interface is installed; the rule is the same without.
            del rule['field_type'], rule['shape']
    text = json.dumps([FILE_VERSION, list(resources), content], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _checked_after(declarations: Sequence[ToolDeclaration]) -> tuple[str, ...]:
    tokens = CallTokens(open_call=1, close_call=2, quote=3)
    return write_grammar(
        declarations, tool_choice=ToolChoice.AUTO, max_calls=1, tokens=tokens).checked_after


def _read_builtins(node: YamlNode | None) -> list[ToolSpec]:
    names: Iterable[str] = BUILTINS
    if node is not None:
        for item in node.sequence():
            item.choice(tuple(BUILTINS))
        names = node.texts()
    return [
        ToolSpec(
            name=name, description=BUILTINS[name].description, kind=CallKind.NONE,
            declaration=BUILTINS[name], mode=Mode.AUTO, idempotent=True,
            arguments=tuple(
                ArgumentRule(path=(argument,), name=argument, schema=schema)
                for argument, schema in BUILTINS[name].parameters['properties'].items()
            ),
        )
        for name in names
    ]


def _read_tool(
    node: YamlNode,
    name: str,
    defaults: Mapping[str, YamlNode],
    resources: Sequence[str],
    interfaces: InterfaceSource,
) -> ToolSpec:
    if not is_name(name):
        raise node.error(f'{name!r} is no name: [A-Za-z_][A-Za-z0-9_]*, at most 64 characters')
    if name in BUILTINS:
        raise node.error(f'{name} is a builtin; choose another name')
    entries = node.mapping(TOOL_KEYS)
    for key in ('name', 'description'):
        if key not in entries:
            raise node.error(f'the key {key} is missing')
    kind, interface_type = _read_kind(node, entries)
    arguments = read_arguments(entries.get('arguments'), interface_type, interfaces)
    declaration = ToolDeclaration(
        name=name, description=entries['description'].text(),
        parameters=parameters_of(arguments))
    try:
        _checked_after((declaration,))
    except GrammarError as error:
        raise node.error(str(error)) from error
    settings = {**defaults, **entries}
    return ToolSpec(
        name=name,
        description=declaration.description,
        kind=kind,
        declaration=declaration,
        interface_type=interface_type,
        interface_name=_read_interface_name(entries['name']),
        arguments=arguments,
        mode=Mode[_choice(settings, 'mode', MODES).upper()],
        approval_timeout_s=_seconds(settings, 'approval_timeout', 20.0),
        resources=_read_resources(entries.get('resources'), resources),
        on_busy=_choice(settings, 'on_busy', ON_BUSY),
        on_taken_over=_choice(settings, 'on_taken_over', ON_TAKEN_OVER),
        timeout_s=_seconds(settings, 'timeout', 60.0),
        cancel_timeout_s=_seconds(settings, 'cancel_timeout', 3.0),
        rate_limit_hz=_not_negative(settings, 'rate_limit'),
        cooldown_s=_not_negative(settings, 'cooldown'),
        idempotent='idempotent' in entries and entries['idempotent'].boolean(),
        requires=_read_requires(entries.get('requires')),
        inside=_read_inside(entries.get('inside'), declaration),
        feedback=_read_feedback(entries.get('feedback')),
        result=_read_result(entries.get('result'), interface_type, interfaces),
        examples=_read_examples(entries.get('examples'), declaration),
    )


def _read_kind(node: YamlNode, entries: Mapping[str, YamlNode]) -> tuple[CallKind, str]:
    named = [key for key in KINDS if key in entries]
    if len(named) != 1:
        raise node.error(f'needs exactly one of action, service, topic; '
                         f'found {", ".join(named) or "none"}')
    folder, kind = KINDS[named[0]]
    interface_type = entries[named[0]].text()
    if not is_interface_type(interface_type, folder):
        raise entries[named[0]].error(
            f'{interface_type!r} is no type like package/{folder}/Name')
    return kind, interface_type


def _read_interface_name(node: YamlNode) -> str:
    name = node.text()
    if _TOPIC_NAME.fullmatch(name) is None:
        raise node.error(f'{name!r} is no name like navigate_to or arm/pick')
    return name


def _read_resources(node: YamlNode | None, known: Sequence[str]) -> tuple[str, ...]:
    if node is None:
        return ()
    for item in node.sequence():
        item.choice(tuple(known))
    return node.texts()


def _choice(settings: Mapping[str, YamlNode], key: str, choices: Sequence[str]) -> str:
    return settings[key].choice(choices) if key in settings else choices[0]


def _seconds(settings: Mapping[str, YamlNode], key: str, default: float) -> float:
    return float(settings[key].number(above=0.0, maximum=86400.0)) if key in settings else default


def _not_negative(settings: Mapping[str, YamlNode], key: str) -> float:
    return float(settings[key].number(minimum=0.0, maximum=86400.0)) if key in settings else 0.0


def _read_requires(node: YamlNode | None) -> tuple[Requirement, ...]:
    if node is None:
        return ()
    return tuple(_read_requirement(item) for item in node.sequence())


def _read_requirement(node: YamlNode) -> Requirement:
    entries = node.mapping(('input', 'max_age', 'field', 'above', 'below', 'equals', 'otherwise',
                            'during'))
    if 'input' not in entries:
        raise node.error('the key input is missing: the name of an observation')
    tests = [key for key in ('above', 'below', 'equals') if key in entries]
    if bool(tests) != ('field' in entries):
        raise node.error('field and one of above, below, equals belong together')
    if not tests and 'max_age' not in entries:
        raise node.error('requires nothing; give max_age, or field with above, below or equals')
    above = entries['above'].number() if 'above' in entries else None
    below = entries['below'].number() if 'below' in entries else None
    if above is not None and below is not None and above >= below:
        raise node.error(f'above {above} and below {below} leave no value')
    return Requirement(
        input=entries['input'].text(),
        max_age_s=_seconds(entries, 'max_age', math.inf),
        field=entries['field'].text() if 'field' in entries else '',
        above=above,
        below=below,
        has_equals='equals' in entries,
        equals=entries['equals'].plain() if 'equals' in entries else None,
        otherwise=entries['otherwise'].text() if 'otherwise' in entries else '',
        during='during' in entries and entries['during'].boolean(),
    )


def _read_inside(node: YamlNode | None, declaration: ToolDeclaration) -> Inside | None:
    if node is None:
        return None
    entries = node.mapping(('polygon', 'x', 'y'))
    for key in ('polygon', 'x', 'y'):
        if key not in entries:
            raise node.error(f'the key {key} is missing')
    properties = declaration.parameters['properties']
    numbers = [name for name, schema in properties.items()
               if schema['type'] in ('number', 'integer')]
    corners = []
    for corner in entries['polygon'].sequence():
        values = corner.sequence()
        if len(values) != 2:
            raise corner.error('a corner is [x, y]')
        corners.append((float(values[0].number()), float(values[1].number())))
    if len(corners) < 3:
        raise entries['polygon'].error(f'a polygon has at least 3 corners, found {len(corners)}')
    return Inside(polygon=tuple(corners), x=entries['x'].choice(numbers),
                  y=entries['y'].choice(numbers))


def _read_feedback(node: YamlNode | None) -> FeedbackRule:
    if node is None:
        return FeedbackRule()
    entries = node.mapping(('progress', 'show', 'period'))
    show = entries['show'].texts() if 'show' in entries else ()
    period_s = _seconds(entries, 'period', 1.0)
    if 'progress' not in entries:
        return FeedbackRule(show=show, period_s=period_s)
    progress = entries['progress'].mapping(('field', 'from', 'to'))
    for key in ('field', 'from', 'to'):
        if key not in progress:
            raise entries['progress'].error(f'the key {key} is missing')
    start = math.nan
    if isinstance(progress['from'].value, str):
        progress['from'].choice(('first',))
    else:
        start = float(progress['from'].number())
    return FeedbackRule(
        show=show, period_s=period_s, progress_field=progress['field'].text(),
        progress_from=start, progress_to=float(progress['to'].number()))


def _read_result(
    node: YamlNode | None, interface_type: str, interfaces: InterfaceSource,
) -> ResultRule:
    if node is None:
        return ResultRule()
    entries = node.mapping(('show', 'success'))
    show = entries['show'].texts() if 'show' in entries else ()
    if 'success' not in entries:
        return ResultRule(show=show)
    success = entries['success'].mapping(('field', 'equals', 'any', 'all'))
    groups = [key for key in ('any', 'all') if key in success]
    if groups and len(success) > 1:
        raise entries['success'].error('give field and equals, or any, or all')
    nodes = success[groups[0]].sequence() if groups else [entries['success']]
    return ResultRule(
        show=show, needs_all=groups != ['any'],
        success=tuple(_read_condition(item, interface_type, interfaces) for item in nodes))


def _read_condition(
    node: YamlNode, interface_type: str, interfaces: InterfaceSource,
) -> Condition:
    entries = node.mapping(('field', 'equals'))
    if len(entries) != 2:
        raise node.error('needs field and equals')
    value = entries['equals'].plain()
    if isinstance(value, str):
        value = _constant_of(entries['equals'], value, interface_type, interfaces)
    return Condition(field=entries['field'].text(), equals=value)


def _constant_of(
    node: YamlNode, name: str, interface_type: str, interfaces: InterfaceSource,
) -> Any:
    """Return a result constant's value; text that is no constant's name stays text."""
    if re.fullmatch(r'[A-Z][A-Z0-9_]*', name) is None:
        return name
    sections = interfaces.sections(interface_type)
    if sections is None:
        raise node.error(f'{interface_type} cannot be read here; write the value of {name}')
    constants = sections[min(1, len(sections) - 1)].constants
    if name not in constants:
        raise node.error(f'{interface_type} has no result constant {name}; choices are: '
                         f'{", ".join(constants) or "none"}')
    return constants[name]


def _read_examples(
    node: YamlNode | None, declaration: ToolDeclaration,
) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    examples = []
    for item in node.sequence() if node is not None else ():
        entries = item.mapping(('say', 'call'))
        if len(entries) != 2:
            raise item.error('needs say and call')
        call = {key: value.plain() for key, value in entries['call'].mapping().items()}
        if problems := validate_call(declaration, call):
            raise entries['call'].error(problems[0])
        examples.append((entries['say'].text(), call))
    return tuple(examples)
