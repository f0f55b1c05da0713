"""The demo's script and the judgement of what is sensible."""

import pytest

from gemma_node.demo.script import Given
from gemma_node.demo.script import is_sensible
from gemma_node.demo.script import load_steps
from gemma_node.demo.script import Step
from gemma_node.errors import ConfigError

KITCHEN = Step(robot='r1', say='x', accept=({'tool': 'go_to', 'arguments': {'place': 'kitchen'}},))


def test_shipped_script_covers_what_the_demo_promises():
    steps = load_steps()
    assert len(steps) >= 10
    assert {step.robot for step in steps} == {'r1', 'r2'}
    assert all(step.accept for step in steps)
    assert any(step.stop_after_s for step in steps)
    assert any(step.silence for step in steps)
    assert len({step.say for step in steps}) == len(steps)


@pytest.mark.parametrize(
    ('given', 'sensible'),
    [
        (Given(outcome='TOOL_CALL', calls=(('go_to', {'place': 'Kitchen'}),)), True),
        (Given(outcome='TOOL_CALL', calls=(('go_to', {'place': 'office'}),)), False),
        (Given(outcome='TOOL_CALL', calls=(('go_to', {}),)), False),
        (Given(outcome='TOOL_CALL', calls=(('dock', {'place': 'kitchen'}),)), False),
        (Given(outcome='REPLY'), False),
        (
            Given(
                outcome='REFUSED', error='STALE_INPUT', calls=(('go_to', {'place': 'kitchen'}),)
            ),
            False,
        ),
    ],
)
def test_call_must_name_tool_and_arguments(given, sensible):
    assert is_sensible(KITCHEN, given) is sensible


def test_numbers_have_a_small_tolerance_and_articles_do_not_count():
    step = Step(robot='r', say='s', accept=({'tool': 't', 'arguments': {'x': 2.5, 'o': 'cup'}},))
    assert is_sensible(step, Given(outcome='', calls=(('t', {'x': 2.504, 'o': 'the cup'}),)))
    assert not is_sensible(step, Given(outcome='', calls=(('t', {'x': 2.52, 'o': 'cup'}),)))


def test_unknown_key_in_a_script_is_named(tmp_path):
    path = tmp_path / 'mine.yaml'
    path.write_text('steps:\n- {robot: r1, sya: hello}\n')
    with pytest.raises(ConfigError, match=r"step 0: unknown key 'sya'"):
        load_steps(path)
