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


"""Cases whose answer is a call: commands, several wishes, corrections, conditions, relative wishes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
import random
import re
from typing import Any

from demo_data import conditions
from demo_data import dialogue
from demo_data import motion
from demo_data import quantities
from demo_data import values
from demo_data.cases import ask
from demo_data.cases import call
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.cases import IDLE
from demo_data.cases import no_action
from demo_data.cases import refuse
from demo_data.catalogues import Tool
from demo_data.conditions import Condition
from demo_data.observations import State
from demo_data.phrases import expand
from demo_data.phrases import join
from demo_data.phrases import Said
from demo_data.wishes import make_wish
from demo_data.wishes import put
from demo_data.wishes import say_choice
from demo_data.wishes import Wish
from gemma_node.core import InputState


def command(m: CaseMaker) -> Case | None:
    """A sentence that asks for one call; at times with words that do not matter."""
    wish = m.wish()
    if wish is None:
        return None
    text = m.say(wish.said, aside=0.14 if 'text' not in wish.said.values else 0.0)
    return Case('twin' if wish.tool.side else 'command', text, call(wish.call))


def by_name(m: CaseMaker) -> Case | None:
    """A tool is asked for by its name."""
    if not m.book.tools:
        return None
    wish = make_wish(m.rng, m.rng.choice(m.book.tools), named=True)
    return None if wish is None else Case('by_name', m.say(wish.said, noise=0.5), call(wish.call))


def by_description(m: CaseMaker) -> Case | None:
    """A tool is asked for in the words of its description."""
    if not m.book.tools:
        return None
    tool = m.rng.choice(m.book.tools)
    if sum(t.declaration.description[:24] == tool.declaration.description[:24] for t in m.book.tools) > 1:
        return None
    wish = make_wish(m.rng, tool, named=True, described=True)
    return None if wish is None else Case('by_name', m.say(wish.said, noise=0.7), call(wish.call))


def twin(m: CaseMaker) -> Case | None:
    """A sentence for one of two tools that only their descriptions tell apart."""
    tools = [t for t in m.book.tools if t.side is not None]
    if not tools:
        return None
    tool = m.rng.choice(tools)
    wish = make_wish(m.rng, tool, by_state=True)
    if wish is None or tool.side is None:
        return None
    case = Case('twin', m.say(wish.said), call(wish.call))
    if tool.side.condition is None:
        return case
    if any(r.condition is not None or r.kind == 'age' for r in m.book.rules):
        return None
    case.state = m.state(faults=0.0)
    fault = m.rng.choice((InputState.STALE, InputState.MISSING)) if m.rng.random() < 0.08 else None
    conditions.arrange(m.rng, case.state, tool.side.condition, truth=tool.side.truth, fault=fault)
    if fault is not None:
        case.answer = refuse(f'{tool.side.condition.label} is {tool.side.condition.problem(case.state)}')
    case.kind = 'twin_state'
    return case


def converted(m: CaseMaker) -> Case | None:
    """A quantity in another unit than the declared one."""
    rng = m.rng
    pairs = [(t, a) for t in m.book.tools for a in t.skill.args if a.kind in ('number', 'integer') and a.key in t.slots and t.skill.says_units and t.skill.key not in motion.RELATIVE]
    if not pairs:
        return None
    tool, arg = rng.choice(pairs)
    slot = tool.slots[arg.key]
    wish = m.wish(tool)
    drawn = quantities.draw(rng, slot.number, other=True) if slot.number is not None else None
    if wish is None or drawn is None or arg.key not in wish.said.values:
        return None
    put(wish.call[1], slot.path, drawn.value)
    said = replace(wish.said, values={**wish.said.values, arg.key: drawn.text})
    return Case('converted', m.say(said, aside=0.08), call(wish.call))


def first_step(m: CaseMaker) -> Case | None:
    """A sentence that asks for several calls: the first one is made."""
    plan = steps(m)
    return plan and Case('first_step', plan[0], call(plan[1][0]))


def steps(m: CaseMaker) -> tuple[str, list[Any]] | None:
    """Say several wishes in one sentence; the calls come in the order they are to happen."""
    rng = m.rng
    if rng.random() < 0.25:
        return errand(m)
    count = 3 if len(m.book.tools) > 2 and rng.random() < 0.2 else 2
    found = m.wishes(count)
    if found is None:
        return None
    joined = expand(rng, rng.choice(dialogue.JOINS if count == 2 else dialogue.JOINS_THREE))
    said = join(joined.lstrip('!'), is_imperative=not joined.startswith('!'), **{k: w.said for k, w in zip('abc', found, strict=False)})
    return m.say(said), [w.call for w in found]


def several(m: CaseMaker) -> Case | None:
    """Wishes that are to happen at once: all the calls, in the order said."""
    rng = m.rng
    count = 3 if len(m.book.tools) > 2 and rng.random() < 0.15 else 2
    found = m.wishes(count)
    if found is None:
        return None
    joined = expand(rng, rng.choice(dialogue.TOGETHER if count == 2 else dialogue.TOGETHER_THREE))
    said = join(joined.lstrip('!'), is_imperative=not joined.startswith('!'), **{k: w.said for k, w in zip('abc', found, strict=False)})
    return Case('several', m.say(said), call(found[0].call, *(w.call for w in found[1:])))


def correction(m: CaseMaker) -> Case | None:
    """The operator changes his mind within the sentence: the last value counts."""
    rng = m.rng
    wish = m.wish()
    if wish is None:
        return None
    if rng.random() < 0.35:
        other = m.wish(imperative=True)
        if other is None or other.call == wish.call or not wish.said.is_imperative or 'text' in other.said.values or other.tool.name == wish.tool.name:
            return None
        text = rng.choice(('{a}, no, {b}', '{a} - wait, no, {b}', '{a}. No, scratch that, {b}', '{a}, or rather {b}', '{a}... sorry, I meant {b}', '{a}. On second thought, {b}',
                           '{a}, actually no, {b}', '{a}, forget it, {b} instead', '{a}, hm, better {b}'))
        return Case('correction', m.say(join(text, a=other.said, b=wish.said)), call(wish.call))
    keys = [a for a in wish.tool.skill.args if a.key in wish.said.values and a.key in wish.tool.slots and a.kind in ('place', 'object', 'surface', 'person', 'code', 'choice', 'plural')]
    if len(keys) != 1:
        return None
    arg, slot = keys[0], wish.tool.slots[keys[0].key]
    if slot.choices:
        value = rng.choice(tuple(slot.choices))
        other_text = say_choice(rng, arg, slot, value)
    else:
        other_text = values.draw(rng, arg)[1]
    if other_text in wish.said.values[arg.key] or wish.said.values[arg.key] in other_text:
        return None
    both = expand(rng, rng.choice(dialogue.CORRECTIONS)).replace('{b}', f'{{{arg.key}}}').replace('{a}', '{wrong}')
    template = wish.said.template.replace(f'{{{arg.key}}}', both, 1)
    if template.count(f'{{{arg.key}}}') != 1:
        return None
    said = replace(wish.said, template=template, values={**wish.said.values, 'wrong': other_text})
    return Case('correction', m.say(said), call(wish.call))


def instead(m: CaseMaker) -> Case | None:
    """One thing is forbidden and another one asked for in the same sentence."""
    rng = m.rng
    wish, other = m.wish(imperative=True, quote=True), m.wish(imperative=True, quote=True)
    if wish is None or other is None or not wish.is_negatable or not other.is_negatable or other.call == wish.call:
        return None
    template = expand(rng, rng.choice(dialogue.INSTEAD))
    said = join(template.lstrip('!'), is_imperative=not template.startswith('!'), a=other.said, b=wish.said)
    return Case('instead', m.say(said), call(wish.call))


def condition(m: CaseMaker) -> Case | None:
    """A wish that depends on the state."""
    rng = m.rng
    state = m.state(faults=0.1)
    found = conditions.draw_condition(rng, state)
    wish, other = m.wish(imperative=True, quote=True), m.wish(imperative=True, quote=True)
    if found is None or wish is None or other is None or not wish.said.is_imperative or wish.call == other.call:
        return None
    if rng.random() < 0.06:
        state.drop(next(f.name for f in state.facts if f.kind == found.kind or (found.kind in ('x', 'y') and f.kind == 'pose')))
    problem = found.problem(state)
    if not problem and found.is_close(state):
        return None
    return conditional(m, state, found, wish, other)


def conditional(m: CaseMaker, state: State, found: Condition, wish: Wish, other: Wish) -> Case:
    """Say a wish under a condition, at times with another one for when it does not hold."""
    rng = m.rng
    problem = found.problem(state)
    words = found.words(rng)
    has_else = rng.random() < 0.5
    if has_else:
        template = rng.choice(('in case {c}, {a}; in any other case {b}', '{a} when {c} and {b} when not', 'provided that {c}, {a}. Otherwise {b}', 'supposing {c}, {a}; failing that, {b}', 'assuming {c}, {a} - if not, {b}',
                               '{a} if {c}; if that is not the case, {b}', '{b} - but if {c}, {a}', 'normally {b}, but {a} if {c}', 'if {c}, {a}. If not, {b}', 'if {c} {a}, in the other case {b}', 'as long as {c}, {a}, and {b} when that is over',
                               'if {c}, {a}, otherwise {b}', 'if {c}, {a}, else {b}', '{a} if {c}, otherwise {b}', 'if {c} then {a}, if not {b}', 'when {c}, {a}; otherwise {b}',
                               'should it be that {c}, {a}, or else {b}', 'check whether {c}: if so, {a}, if not, {b}'))
    else:
        template = rng.choice(('provided {c}, {a}', 'should {c}, {a}', '{a}, supposing that {c}', 'on condition that {c}, {a}', '{a}, assuming {c}', 'in the event that {c}, {a}', '{a} - but not unless {c}', 'if {c}, {a}, else do nothing',
                               'if {c}, {a}', '{a} if {c}', 'only if {c}, {a}', '{a}, but only if {c}', 'in case {c}, {a}', '{a} in case {c}', 'when {c}, {a}', '{a} provided that {c}',
                               'unless it is wrong that {c}, {a}', 'as long as {c}, {a}'))
    if not has_else and template.startswith('unless'):
        template = 'if it is true that {c}, {a}'
    is_inverse = not has_else and rng.random() < 0.08
    if is_inverse:
        template = rng.choice(('unless {c}, {a}', '{a} unless {c}', '{a}, unless {c}', '{a}, but not if {c}', '{a}, except when {c}'))
    clause = Said('{w}', {'w': words}, False, frozenset(('w',)))
    said = join(template, is_imperative=False, a=wish.said, b=other.said, c=clause)
    text = m.say(said, noise=0.6)
    if problem:
        answer = refuse(f'{found.label} is {problem}')
    elif found.holds(state) is not is_inverse:
        answer = call(wish.call)
    else:
        answer = call(other.call) if has_else else no_action(IDLE)
    return Case('condition', text, answer, state=state)


def relative(m: CaseMaker) -> Case | None:
    """A wish seen from the robot, for a tool that takes coordinates or headings of the map."""
    rng = m.rng
    tools = [t for t in m.book.tools if t.skill.key in motion.BY_MAP]
    if not tools:
        return None
    tool = rng.choice(tools)
    turning = tool.skill.key == 'face_heading'
    if any(t.skill.key in (('turn_by', 'turn_side', 'rotate') if turning else motion.RELATIVE) for t in m.book.tools):
        return None
    state = m.state(faults=0.02)
    fact = _with_pose(m, state)
    move = motion.draw_turn(rng) if turning else motion.draw_move(rng, ('forward', 'forward', 'backward', 'left', 'right'), rng.choice((2.0, 5.0, 10.0)), two=True)
    text = expand(rng, move.text)
    if tool.side is not None:
        return None
    sentence = m.say(Said(text.lstrip('!'), {}, not text.startswith('!')), aside=0.08)
    if fact is None or not fact.is_usable:
        return Case('no_pose', sentence, refuse('I do not know where I am'), state=state)
    if turning:
        slot = tool.slots['heading']
        heading: Any = motion.wrapped(fact.value[2] + move.turn)
        if slot.number is None or slot.number.unit != 'deg' or abs(heading) > slot.number.high:
            return None
        arguments: dict[str, Any] = {}
        put(arguments, slot.path, heading)
        return Case('relative', sentence, call((tool.name, arguments)), state=state)
    reached = motion.reach(fact.value, move)
    if reached is None:
        return None
    case = to_point(m, tool, sentence, state, reached, 'relative')
    return None if case is not None and case.kind == 'out_of_range' and rng.random() < 0.85 else case


def _with_pose(m: CaseMaker, state: State) -> Any:
    """Return the pose of a state, given one mostly where there is none."""
    fact = state.fact('pose')
    if fact is None and m.rng.random() < 0.85:
        conditions.arrange(m.rng, state, conditions.Condition('pose', '>', 0), truth=True)
        fact = state.fact('pose')
    elif fact is not None and fact.is_usable and m.rng.random() < 0.08:
        state.drop(fact.name)
        return None
    return fact


def to_point(m: CaseMaker, tool: Tool, sentence: str, state: State, reached: tuple[Fraction, Fraction], kind: str) -> Case | None:
    """Answer with a drive to a point of the map, or a refusal where it is out of range."""
    x, y = (quantities.plain(v) for v in reached)
    arguments: dict[str, Any] = {}
    if tool.skill.key == 'move_target':
        slot = tool.slots['point']
        put(arguments, slot.path, [x, y])
        pairs = []
    else:
        pairs = [(x, tool.slots['x']), (y, tool.slots['y'])]
        for value, slot in pairs:
            if slot.number is None or slot.number.unit != 'm':
                return None
            put(arguments, slot.path, value)
    for value, slot in pairs:
        assert slot.number is not None
        if not slot.number.low <= value <= slot.number.high:
            return Case('out_of_range', sentence, ask(f'{slot.path[-1]} must be {slot.number.low:g} to {slot.number.high:g}. What should I use?'), state=state)
    return Case(kind, sentence, call((tool.name, arguments)), state=state)


def approach(m: CaseMaker) -> Case | None:
    """Drive to a thing that the camera sees: its coordinates are in the observations."""
    rng = m.rng
    tool = next((t for t in m.book.tools if t.skill.key in ('drive_to', 'goto_pose', 'move_target') and t.side is None), None)
    if tool is None:
        return None
    state = m.state()
    seen = state.value('seen')
    names = [d['name'] for d in seen or () if d['name'] not in state.injected]
    if not names:
        return None
    name = rng.choice(names)
    if any(name != n and (name in n or n in name) for n in names):
        return None
    thing = next(d for d in seen if d['name'] == name)
    template = rng.choice(dialogue.APPROACH)
    if not template.startswith('=') and any(not s.choices and s.number is None and t is not tool for t in m.book.tools for s in t.slots.values()):
        return None
    said = Said(expand(rng, template.lstrip('=')), {'object': values.article(rng, name)}, True, frozenset(('object',)))
    reached = Fraction(str(thing['x'])), Fraction(str(thing['y']))
    return to_point(m, tool, m.say(said), state, reached, 'approach')


def approach_unseen(m: CaseMaker) -> Case | None:
    """Drive to a thing that no camera sees: nobody knows where it is."""
    rng = m.rng
    if not any(t.skill.key in ('drive_to', 'goto_pose', 'move_target') and t.side is None for t in m.book.tools):
        return None
    if any(not s.choices and s.number is None and t.skill.key not in motion.BY_MAP for t in m.book.tools for s in t.slots.values()):
        return None
    state = m.state()
    names = [d['name'] for d in state.value('seen') or ()]
    name = values.thing(rng)
    if any(name in n or n in name for n in names):
        return None
    template = expand(rng, rng.choice(dialogue.APPROACH).lstrip('='))
    said = Said(template, {'object': values.article(rng, name)}, True, frozenset(('object',)))
    return Case('no_thing', m.say(said), refuse(f'I do not see {name}'), state=state)


def seen(m: CaseMaker) -> Case | None:
    """A wish about what the camera sees, named only by the observations."""
    rng = m.rng
    tool = m.book.by_skill('pick')
    if tool is None or tool.side is not None or tool.slots['object'].choices or len(tool.required()) != 1:
        return None
    state = m.state()
    found = state.value('seen')
    if not found or found[0]['name'] in state.injected:
        return None
    arguments: dict[str, Any] = {}
    put(arguments, tool.slots['object'].path, found[0]['name'])
    only = len(found) == 1
    template = rng.choice(dialogue.SEEN_ONLY if only and rng.random() < 0.4 else dialogue.SEEN_NEAREST)
    return Case('seen', m.free(template), call((tool.name, arguments)), state=state)


def bring(m: CaseMaker) -> Case | None:
    """Fetching and carrying: the first step is to pick, or to drive where the thing is."""
    plan = errand(m)
    return plan and Case('bring', plan[0], call(plan[1][0]))


def errand(m: CaseMaker) -> tuple[str, list[Any]] | None:
    """Fetch, carry and bring with the demo's go_to, pick and place."""
    rng = m.rng
    go, pick, place = (m.book.by_skill(k) for k in ('go_to', 'pick', 'place'))
    if go is None or pick is None or place is None or any(len(t.required()) != 1 for t in (go, pick, place)) or pick.slots['object'].choices or place.slots['target'].choices or (not m.book.is_demo and len(m.book.tools) > 7):
        return None
    keys = {t.skill.key for t in m.book.tools} - {'go_to', 'pick', 'place', 'drive_to', 'dock', 'say'}
    if keys and not m.book.is_demo:
        return None
    at, there = _named(rng, go, 'place'), _named(rng, go, 'place')
    thing, on = _named(rng, pick, 'object'), _named(rng, place, 'target')
    if at[0] == there[0] or any(t.side for t in (go, pick, place)):
        return None
    goes, goes_there = _one(go, 'place', at[0]), _one(go, 'place', there[0])
    picks, puts, puts_there = _one(pick, 'object', thing[0]), _one(place, 'target', on[0]), _one(place, 'target', there[0].replace('_', ' '))
    template, plan = rng.choice(dialogue.ERRANDS)
    calls = {'at': goes, 'there': goes_there, 'pick': picks, 'put': puts, 'put_there': puts_there}
    said = Said(expand(rng, template.lstrip('!')), {'thing': thing[1], 'at': at[1], 'there': there[1], 'on': on[1]}, not template.startswith('!'), frozenset(('thing', 'on')))
    return m.say(said), [calls[step] for step in plan.split()]


def _named(rng: random.Random, tool: Tool, key: str) -> tuple[str, str]:
    arg = next(a for a in tool.skill.args if a.key == key)
    slot = tool.slots[key]
    if slot.choices:
        value = rng.choice(tuple(slot.choices))
        return value, say_choice(rng, arg, slot, value)
    return values.draw(rng, arg)


def _one(tool: Tool, key: str, value: str) -> tuple[str, dict[str, Any]]:
    arguments: dict[str, Any] = {}
    put(arguments, tool.slots[key].path, value)
    return tool.name, arguments


def quoted(m: CaseMaker) -> Case | None:
    """A wish beside a quotation that gives orders: the quotation is data."""
    rng = m.rng
    wish = m.wish(quote=True)
    if wish is None:
        return None
    text = re.sub(r'["\n]', '', m.injected())
    before = expand(rng, rng.choice(dialogue.QUOTING)).format(person=values.person(rng), place=values.place(rng)) + f' "{text}"'
    sentence = m.say(wish.said)
    full = f'{before}. {sentence}' if rng.random() < 0.6 else f'{sentence.rstrip(".!")}. {before}.'
    return Case('quoted', full, call(wish.call))


