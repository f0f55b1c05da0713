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
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import asdict
from dataclasses import dataclass
import hashlib
import json
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
from gemma_node.tools.rules import absent_fields
from gemma_node.tools.rules import read_examples
from gemma_node.tools.rules import read_feedback
from gemma_node.tools.rules import read_inside
from gemma_node.tools.rules import read_requires
from gemma_node.tools.rules import read_result
from gemma_node.tools.rules import seconds
from gemma_node.tools.spec import ArgumentRule
from gemma_node.tools.spec import ToolSpec
from gemma_node.tools.stream import longest
from gemma_node.tools.stream import read_stream
from gemma_node.tools.validate import is_name
from gemma_node.tools.yaml_reader import read_yaml
from gemma_node.tools.yaml_reader import YamlNode

FILE_VERSION = 1
FILE_KEYS = ('version', 'defaults', 'resources', 'tools', 'builtins')
DEFAULT_KEYS = ('mode', 'timeout', 'cancel_timeout', 'approval_timeout', 'rate_limit', 'cooldown',
                'on_busy', 'on_taken_over')
KINDS = {'action': ('action', CallKind.ACTION), 'service': ('srv', CallKind.SERVICE),
         'topic': ('msg', CallKind.TOPIC)}
TOOL_KEYS = (*KINDS, *DEFAULT_KEYS, 'name', 'description', 'arguments', 'resources', 'idempotent',
             'requires', 'inside', 'feedback', 'result', 'examples', 'stream', 'limits')
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
# ROS takes 247 for the whole, with namespace and /_action/cancel_goal and the like.
MAX_NAME_CHARACTERS = 160
_TOPIC_NAME = re.compile(r'/?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*')


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """
    All tools of a file, builtins last; `digest` is sha256 over everything it says.

    `warnings` say what of the file has no effect with the interfaces that are installed here.
    """

    tools: tuple[ToolSpec, ...]
    resources: tuple[str, ...]
    digest: str
    warnings: tuple[str, ...] = ()

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
    catalogue, problems = check_catalogue(path, interfaces)
    for problem in problems.values():
        raise problem
    return catalogue


def check_catalogue(
    path: Path | str, interfaces: InterfaceSource | None = None,
) -> tuple[Catalogue, dict[str, ConfigError]]:
    """Return the tools that can be used, and what is wrong with each of the others by name."""
    interfaces = InterfaceSource.installed() if interfaces is None else interfaces
    root = read_yaml(path)
    entries = root.mapping(FILE_KEYS)
    for key in ('version', 'tools'):
        if key not in entries:
            raise root.error(f'the key {key} is missing')
    if entries['version'].integer(minimum=0, maximum=1 << 30) != FILE_VERSION:
        raise entries['version'].error(f'must be {FILE_VERSION}')
    defaults = entries['defaults'].mapping(DEFAULT_KEYS) if 'defaults' in entries else {}
    _read_policy(defaults)
    resources = entries['resources'].texts() if 'resources' in entries else ()
    tools: list[ToolSpec] = []
    problems: dict[str, ConfigError] = {}
    for name, node in entries['tools'].mapping().items():
        try:
            tools.append(_read_tool(node, name, defaults, resources, interfaces))
        except ConfigError as error:
            problems[name] = error
    tools += _read_builtins(entries.get('builtins'))
    return Catalogue(
        tools=tuple(tools), resources=resources, digest=_digest_of(resources, tools),
        warnings=tuple(_warnings(tools, interfaces))), problems


def _warnings(tools: Sequence[ToolSpec], interfaces: InterfaceSource) -> Iterator[str]:
    for tool in tools:
        if tool.kind not in (CallKind.ACTION, CallKind.SERVICE):
            continue
        for field in absent_fields(tool.result, tool.interface_type, interfaces):
            yield (f'{tool.name}: the result of {tool.interface_type} has no field {field!r} '
                   'here; what the file says of it is skipped')


def _digest_of(resources: Sequence[str], tools: Sequence[ToolSpec]) -> str:
    content = [asdict(tool) for tool in tools]
    for tool in content:
        for rule in tool['arguments']:
            # Known only where the interface is installed; the rule is the same without.
            del rule['field_type'], rule['shape']
        if tool['stream'] is None:
            # So that files without streams or frames keep the digests of audited decisions.
            del tool['stream']
        if tool['inside'] is not None and not tool['inside']['frame']:
            del tool['inside']['frame'], tool['inside']['max_age_s']
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
    _check_parts(kind, entries)
    stream = read_stream(entries.get('stream'), entries.get('limits'), arguments)
    duration = stream.duration if stream is not None else None
    declaration = ToolDeclaration(
        name=name, description=entries['description'].text(),
        parameters=parameters_of(arguments if duration is None else (*arguments, duration)))
    try:
        _checked_after((declaration,))
    except GrammarError as error:
        raise node.error(str(error)) from error
    policy = _read_policy({**defaults, **entries})
    if stream is not None and longest(stream) >= policy['timeout_s']:
        raise entries['stream'].error(f'lasts up to {longest(stream):g} s, but the timeout is '
                                      f'{policy["timeout_s"]:g} s')
    return ToolSpec(
        name=name,
        description=declaration.description,
        kind=kind,
        declaration=declaration,
        interface_type=interface_type,
        interface_name=_read_interface_name(entries['name']),
        arguments=arguments,
        resources=_read_resources(entries.get('resources'), resources),
        **policy,
        idempotent='idempotent' in entries and entries['idempotent'].boolean(),
        requires=read_requires(entries.get('requires')),
        inside=read_inside(entries.get('inside'), declaration),
        feedback=read_feedback(entries.get('feedback')),
        result=read_result(entries.get('result'), interface_type, interfaces),
        examples=read_examples(entries.get('examples'), declaration),
        stream=stream,
    )


def _read_policy(entries: Mapping[str, YamlNode]) -> dict[str, Any]:
    """Read what `defaults` may hold as well; what is missing gets the default of the format."""
    return {
        'mode': Mode[_choice(entries, 'mode', MODES).upper()],
        'approval_timeout_s': seconds(entries, 'approval_timeout', 20.0),
        'on_busy': _choice(entries, 'on_busy', ON_BUSY),
        'on_taken_over': _choice(entries, 'on_taken_over', ON_TAKEN_OVER),
        'timeout_s': seconds(entries, 'timeout', 60.0),
        'cancel_timeout_s': seconds(entries, 'cancel_timeout', 3.0),
        'rate_limit_hz': _not_negative(entries, 'rate_limit'),
        'cooldown_s': _not_negative(entries, 'cooldown'),
    }


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


def _check_parts(kind: CallKind, entries: Mapping[str, YamlNode]) -> None:
    """Refuse parts that this kind of interface does not have."""
    owners = {'feedback': (CallKind.ACTION,), 'stream': (CallKind.TOPIC,),
              'limits': (CallKind.TOPIC,), 'result': (CallKind.ACTION, CallKind.SERVICE)}
    for key, kinds in owners.items():
        if key in entries and kind not in kinds:
            names = ' and '.join(f'{owner.name.lower()}s' for owner in kinds)
            raise entries[key].error(
                f'only {names} have {key}; this is of kind {kind.name.lower()}')


def _read_interface_name(node: YamlNode) -> str:
    name = node.text()
    if _TOPIC_NAME.fullmatch(name) is None:
        raise node.error(f'{name!r} is no name like navigate_to or arm/pick')
    if len(name) > MAX_NAME_CHARACTERS:
        raise node.error(f'is a name of {len(name)} characters; at most {MAX_NAME_CHARACTERS}, '
                         'for ROS adds namespace and suffix')
    return name


def _read_resources(node: YamlNode | None, known: Sequence[str]) -> tuple[str, ...]:
    if node is None:
        return ()
    for item in node.sequence():
        item.choice(tuple(known))
    return node.texts()


def _choice(settings: Mapping[str, YamlNode], key: str, choices: Sequence[str]) -> str:
    return settings[key].choice(choices) if key in settings else choices[0]


def _not_negative(settings: Mapping[str, YamlNode], key: str) -> float:
    return float(settings[key].number(minimum=0.0, maximum=86400.0)) if key in settings else 0.0
