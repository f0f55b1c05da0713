"""The ROS interfaces: every field explained, and numbers equal to those of core.py."""

from enum import IntEnum
import importlib
from pathlib import Path
import re

import pytest

from gemma_node import core

ROOT = Path(__file__).resolve().parents[2]
INTERFACES = sorted(
    path for kind in ('msg', 'srv', 'action') for path in (ROOT / kind).glob(f'*.{kind}')
)
CONSTANT = re.compile(r'^\w+ ([A-Z][A-Z0-9_]*)=(-?\d+)')
FIELD = re.compile(r'^[\w/]+(\[\d*\])? [a-z][a-z0-9_]*\b')

# enum of core.py -> (interface, prefix of its constants)
ENUMS = {
    'AgeSource': ('msg/InputRef.msg', 'AGE_FROM_'),
    'CacheSource': ('msg/Decision.msg', 'CACHE_'),
    'CallKind': ('msg/ToolCall.msg', 'KIND_'),
    'ErrorCode': ('msg/ErrorCode.msg', ''),
    'InputState': ('msg/InputRef.msg', 'STATE_'),
    'Mode': ('msg/Decision.msg', 'MODE_'),
    'Outcome': ('msg/Decision.msg', 'OUTCOME_'),
    'Priority': ('msg/DecisionRequest.msg', 'PRIORITY_'),
    'Stage': ('action/Decide.action', 'STAGE_'),
    'ToolChoice': ('msg/DecisionRequest.msg', 'TOOL_CHOICE_'),
    'Trigger': ('msg/Decision.msg', 'TRIGGER_'),
}
# Between engine and decider only; never in an interface.
INTERNAL = {'Finish'}


def constants(text: str, prefix: str) -> dict[str, int]:
    found = {}
    for line in text.splitlines():
        match = CONSTANT.match(line)
        if match and match.group(1).startswith(prefix):
            found[match.group(1).removeprefix(prefix)] = int(match.group(2))
    return found


def uncommented_fields(text: str) -> list[str]:
    return [line for line in text.splitlines() if FIELD.match(line) and '#' not in line]


@pytest.mark.parametrize('name', sorted(ENUMS))
def test_enum_numbers_equal_the_constants_of_the_interface(name):
    path, prefix = ENUMS[name]
    members = {member.name: member.value for member in getattr(core, name)}
    assert members == constants((ROOT / path).read_text(encoding='utf-8'), prefix)


def test_every_enum_of_core_is_compared():
    enums = {
        name
        for name, value in vars(core).items()
        if isinstance(value, type) and issubclass(value, IntEnum) and value is not IntEnum
    }
    assert enums == set(ENUMS) | INTERNAL


def test_error_codes_keep_to_their_own_range():
    numbers = [code.value for code in core.ErrorCode if code]
    assert len(set(numbers)) == len(numbers)
    assert all(20000 <= number <= 20099 for number in numbers)


@pytest.mark.parametrize('path', INTERFACES, ids=lambda path: path.name)
def test_every_field_has_a_comment(path):
    assert uncommented_fields(path.read_text(encoding='utf-8')) == []


def test_a_field_without_a_comment_is_noticed():
    assert uncommented_fields('uint8 A=1\nfloat32 x\nstd_msgs/Header[] h\nbool y # yes\n') == [
        'float32 x',
        'std_msgs/Header[] h',
    ]


def test_every_enum_has_an_unknown_or_neutral_zero():
    for name in ENUMS:
        assert 0 in {member.value for member in getattr(core, name)}, name


@pytest.mark.parametrize('path', INTERFACES, ids=lambda path: path.name)
def test_the_built_interface_has_the_fields_and_constants_of_the_text(path):
    """Fails when an interface was edited after the last `pip install -e .`."""
    pytest.importorskip('rclpy')
    module = importlib.import_module(f'gemma_node.{path.parent.name}')
    interface = getattr(module, path.stem)
    parts = {
        'msg': [interface],
        'srv': [getattr(interface, name, None) for name in ('Request', 'Response')],
        'action': [getattr(interface, name, None) for name in ('Goal', 'Result', 'Feedback')],
    }[path.parent.name]
    sections = re.split(r'^---$', path.read_text(encoding='utf-8'), flags=re.MULTILINE)
    assert len(parts) == len(sections)
    for part, section in zip(parts, sections, strict=True):
        lines = [line for line in section.splitlines() if FIELD.match(line)]
        fields = [re.split(r'\s+', line)[1] for line in lines]
        generated = set(part.get_fields_and_field_types())
        assert generated - {'structure_needs_at_least_one_member'} == set(fields)
        for name, number in constants(section, '').items():
            assert getattr(part, name) == number
        part()
