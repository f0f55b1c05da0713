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


"""Cases that end in a question to the operator, in `no_action`, or in `stop`."""

from __future__ import annotations

from dataclasses import replace
import random
import re

from demo_data import dialogue
from demo_data import frames_rules
from demo_data import frames_talk
from demo_data import quantities
from demo_data import rare
from demo_data import speech
from demo_data import values
from demo_data import words
from demo_data.cases import ask
from demo_data.cases import call
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.cases import IDLE
from demo_data.cases import no_action
from demo_data.cases import NO_TOOL
from demo_data.cases import refuse
from demo_data.cases import STOP_CALL
from demo_data.catalogues import Slot
from demo_data.library import related
from demo_data.library import skills
from demo_data.motion import RELATIVE
from demo_data.phrases import expand
from demo_data.phrases import join
from demo_data.phrases import Said
from demo_data.phrases import slots_of
from demo_data.procedural import draw_skill
from demo_data.quantities import Declared
from demo_data.skills import Arg
from demo_data.skills import Skill
from demo_data.wishes import argument_at
from demo_data.wishes import templates

_TO_SOMEBODY = (*dialogue.TO_SOMEBODY, *frames_talk.TO_SOMEBODY)
_FORBID = (*dialogue.FORBID, *frames_talk.FORBID)


def stop(m: CaseMaker) -> Case:
    """The operator wants everything to stop."""
    return Case('stop', m.free(m.rng.choice(dialogue.STOP)), STOP_CALL)


def chat(m: CaseMaker) -> Case | None:
    """The operator wants nothing."""
    rng = m.rng
    if rng.random() < 0.25:
        text = '. '.join(speech.capital(speech.aside(rng)) for _ in range(rng.choice((1, 1, 2)))) + '.'
        if sounds_like_a_tool(m, text):
            return None
        return Case('chat', text, no_action(IDLE))
    said = speech.free(rng, rng.choice(dialogue.CHAT))
    if said.values.keys() & slots_of(said.template) and sounds_like_a_tool(m, said.plain):
        return None
    return Case('chat', m.say(said), no_action(IDLE))


def to_somebody(m: CaseMaker) -> Case | None:
    """A wish that is not for the robot: somebody else is spoken to or spoken of."""
    rng = m.rng
    person = rng.choice(words.PEOPLE) if rng.random() < 0.6 else speech.fillers(rng)['person']
    wish = m.wish(imperative=True, quote=True)
    if wish is None or not wish.is_negatable or person in (*words.ROBOTS, m.robot, 'the operator'):
        return None
    template = expand(rng, rng.choice(_TO_SOMEBODY)).replace('{person}', person)
    said = join(template, is_imperative=False, a=wish.said)
    return Case('to_somebody', m.say(said, polite=False), no_action(IDLE))


def forbidden(m: CaseMaker) -> Case | None:
    """A wish that is only forbidden: nothing is to be done."""
    wish = m.wish(imperative=True, quote=True)
    if wish is None or not wish.is_negatable:
        return None
    template = expand(m.rng, m.rng.choice(_FORBID)).replace('{person}', m.rng.choice(words.PEOPLE))
    said = join(template.lstrip('!'), is_imperative=not template.startswith('!'), a=wish.said)
    return Case('forbidden', m.say(said, polite=m.rng.random() < 0.3), no_action(IDLE))


def unclear(m: CaseMaker) -> Case | None:
    """A wish without what it needs: the operator is asked for it."""
    rng = m.rng
    tools = [t for t in m.book.tools if t.side is None and len(t.required()) >= 1]
    if not tools:
        return None
    tool = rng.choice(tools)
    needed = [a for a in tool.skill.args if a.key in tool.required() and a.kind not in ('text', 'xy', 'numbers', 'boolean')]
    if not needed:
        return None
    arg = rng.choice(needed)
    name = tool.slots[arg.key].path[-1]
    if tool.skill.key in dialogue.UNCLEAR and rng.random() < 0.5 and (len(needed) == 1 or tool.skill.key == 'drive_to'):
        name = tool.slots[needed[0].key].path[-1]
        return Case('unclear', m.free(rng.choice(dialogue.UNCLEAR[tool.skill.key])), ask(f'Which {name} do you mean?'))
    wish = m.wish(tool) if tool.skill.key not in RELATIVE else None
    if wish is None or arg.key not in wish.said.values:
        return None
    vague = rng.choice(frames_talk.VAGUE.get(arg.kind, frames_talk.VAGUE['number']))
    said = replace(wish.said, values={**wish.said.values, arg.key: vague})
    return Case('unclear', m.say(said, noise=0.5), ask(f'Which {name} do you mean?'))


def unknown_choice(m: CaseMaker) -> Case | None:
    """A wish for a value that the tool's choices lack."""
    rng = m.rng
    pairs = [(t, a) for t in m.book.tools for a in t.skill.args
             if a.key in t.slots and t.slots[a.key].choices and a.kind in ('place', 'object', 'person', 'code', 'choice', 'surface', 'plural') and t.skill.key not in RELATIVE]
    if not pairs:
        return None
    tool, arg = rng.choice(pairs)
    value = foreign(rng, arg, tool.slots[arg.key])
    if value is None:
        return None
    wish = m.wish(tool)
    if wish is None or arg.key not in wish.said.values:
        return None
    spoken = values.article(rng, value) if arg.kind in ('place', 'object', 'surface') else value
    said = replace(wish.said, values={**wish.said.values, arg.key: spoken}, fixed=wish.said.fixed | {arg.key})
    name = tool.slots[arg.key].path[-1]
    return Case('unknown_choice', m.say(said, noise=0.6), ask(f'I do not know {value}. Which {name} should I use?'))


def foreign(rng: random.Random, arg: Arg, slot: Slot) -> str | None:
    """Draw a value like the choices that is none of them."""
    known = {word.replace('_', ' ').lower() for c, said in slot.choices.items() for word in (c, *said)}
    if arg.kind == 'choice':
        left = [p for c in arg.choices if c not in slot.choices and c.replace(' ', '_') not in slot.choices for p in (c.replace('_', ' '),)]
        value = rng.choice(left) if left and rng.random() < 0.5 else rng.choice((rare.any_word(rng), rare.syllables(rng)))
    else:
        value = values.draw(rng, arg)[0]
    low = value.lower()
    if any(low == k or low in k or k in low or set(low.split()) & set(k.split()) for k in known):
        return None
    return value


def unavailable(m: CaseMaker) -> Case | None:
    """A wish that no tool of the catalogue can serve."""
    rng = m.rng
    roll = rng.random()
    close = related(rng, [t.skill for t in m.book.tools]) if rng.random() < 0.4 else None
    if close is not None:
        skill = close
    elif roll < 0.5:
        skill = rng.choice(tuple(skills().values()))
    elif roll < 0.75:
        skill = draw_skill(rng)
    else:
        template = rng.choice(dialogue.UNAVAILABLE)
        if rng.random() < 0.5:
            ending = rng.choice(('{object}', '{object} for {person}', '{object} in {place}'))
            template = f'{rng.choice((rng.choice(words.DEEDS), rare.verb(rng)))} {ending}'
        said = speech.free(rng, template)
        if sounds_like_a_tool(m, said.plain):
            return None
        return Case('unavailable', m.say(said), ask(NO_TOOL))
    if not skill.says or not m.book.may_miss(skill) or (close is None and _overlaps(m, skill)):
        return None
    choices = [t for t in skill.says if not t.startswith('!')]
    if not choices:
        return None
    template = expand(rng, rng.choice(choices))
    first = next(iter(re.findall('[a-z]+', template.lower())), '')
    if close is None and any(first in _content(f'{t.declaration.description} {t.name.replace("_", " ")} {" ".join(t.skill.says)}') for t in m.book.tools):
        return None
    filled = dict(speech.fillers(rng))
    for arg in skill.args:
        if arg.kind in ('number', 'integer'):
            drawn = quantities.draw(rng, Declared(arg.unit, arg.low, arg.high))
            filled[arg.key] = filled[f'{arg.key}_u'] = drawn.text if drawn and skill.says_units else str(quantities.plain(round(rng.uniform(arg.low, arg.high), 1)))
        elif arg.kind == 'choice':
            filled[arg.key] = rng.choice([p for c in arg.choices for p in arg.spoken.get(c, (c.replace('_', ' '),))])
        elif arg.kind in ('xy', 'numbers'):
            filled[arg.key] = '2, 3'
        else:
            filled[arg.key] = values.draw(rng, arg)[1]
    said = Said(template.lstrip('!'), {k: v for k, v in filled.items() if k in slots_of(template)}, not template.startswith('!'))
    return Case('unavailable', m.say(said), ask(NO_TOOL))


_LIGHT = set('the a an to in on of at for and it is you your me my with from up down out all some robot please now go get'.split())


def _content(text: str) -> set[str]:
    return {w for w in re.findall(r'[a-z]+', text.lower()) if w not in _LIGHT}


def sounds_like_a_tool(m: CaseMaker, text: str) -> bool:
    found = _content(text)
    return any(found & _content(f'{t.declaration.description} {t.name.replace("_", " ")} {" ".join(t.skill.says)}') for t in m.book.tools)


def _overlaps(m: CaseMaker, skill: Skill) -> bool:
    """Return whether a skill's description is about the deed of a tool at hand."""
    about = _content(' '.join(skill.descriptions[:3])) - {'robot', 'something', 'thing', 'object', 'place', 'room', 'named', 'name', 'time'}
    for tool in m.book.tools:
        other = _content(' '.join(tool.skill.descriptions))
        if len(about & other) >= 2:
            return True
    return False


def out_of_range(m: CaseMaker) -> Case | None:
    """A number outside of the declared range."""
    rng = m.rng
    pairs = [(t, a) for t in m.book.tools for a in t.skill.args if a.key in t.slots and t.slots[a.key].number is not None
             and a.kind in ('number', 'integer') and t.skill.key not in RELATIVE]
    if not pairs:
        return None
    tool, arg = rng.choice(pairs)
    declared = tool.slots[arg.key].number
    assert declared is not None
    choices = [t for t in templates(tool) if f'{{{arg.key}}}' in t or f'{{{arg.key}_u}}' in t]
    wish = m.wish(tool) if choices else None
    names = [n for n in (arg.key, f'{arg.key}_u') if wish is not None and n in wish.said.values]
    if wish is None or not names:
        return None
    drawn = quantities.draw(rng, declared, outside=True)
    if drawn is None:
        return None
    text = drawn.text
    if not (tool.skill.says_units or names[0].endswith('_u')):
        text = str(drawn.value)
    said = replace(wish.said, values={**wish.said.values, names[0]: text})
    return Case('out_of_range', m.say(said, noise=0.6), ask(range_question(tool.slots[arg.key])))


def range_question(slot: Slot) -> str:
    """Ask for a number within the range."""
    assert slot.number is not None
    return f'{slot.path[-1]} must be {slot.number.low:g} to {slot.number.high:g}. What should I use?'


def overweight(m: CaseMaker) -> Case | None:
    """A load whose weight is told, for a tool that carries only so much."""
    rng = m.rng
    rules = [r for r in m.book.rules if r.kind == 'weight']
    if not rules:
        return None
    rule = rng.choice(rules)
    wish = m.wish(m.book.tool(rule.tool), imperative=True)
    if wish is None or wish.tool.side is not None:
        return None
    too_much = rng.random() < 0.5
    bounds = (0.1, rule.limit) if not too_much else (rule.limit, rule.limit * 4)
    drawn = quantities.draw(rng, Declared(rule.unit, *bounds))
    if drawn is None or drawn.value == rule.limit or not re.search(r'\d ?(k?g|[cm]?m|C)\b|kilo|gram|meter|metre|degree|°', drawn.text):
        return None
    things = [a.key for a in wish.tool.skill.args if a.kind == 'object' and a.key in wish.said.values]
    if things and not rule.value and rng.random() < 0.4:
        within = rng.choice(frames_rules.WITHIN_SENTENCE).replace('{o}', f'{{{things[0]}}}').replace('{q}', '{told_}')
        template = wish.said.template.replace(f'{{{things[0]}}}', within, 1)
        said = replace(wish.said, template=re.sub(r',(?=[,.?!]|$)', '', template), values={**wish.said.values, 'told_': drawn.text})
    else:
        weight = rng.choice(frames_rules.TOLD[rule.value][4] if rule.value else frames_rules.WEIGHS).format(q=drawn.text)
        joined = rng.choice(('{a}, {w}', '{a} ({w})', '{a}. {w}', '{a}; {w}', '{a} - {w}', '{w}; {a}', '{w}. {a}'))
        said = join(joined, is_imperative=joined.startswith('{a}'), a=wish.said, w=Said(weight))
    answer = refuse(f'the limit is {rule.limit:g} {rule.unit}') if too_much else call(wish.call)
    return Case('weight', m.say(said, noise=0.6), answer)


def limited(m: CaseMaker) -> Case | None:
    """A wish around a stated limit or a forbidden place."""
    rng = m.rng
    rules = [r for r in m.book.rules if r.kind in ('limit', 'place')]
    if not rules:
        return None
    rule = rng.choice(rules)
    wanted = rng.random() < 0.5
    for _ in range(6):
        wish = m.wish(m.book.tool(rule.tool))
        if wish is None or argument_at(wish.call[1], rule.path) is None:
            continue
        state = m.state()
        if bool(rule.broken(wish.call[1], state)) is wanted:
            return Case('limit', m.say(wish.said, noise=0.6), call(wish.call), state=state)
    return None


def demanded(m: CaseMaker) -> Case | None:
    """A wish for a tool that demands an input, which is there as often as not."""
    rng = m.rng
    rules = [r for r in m.book.rules if r.kind in ('age', 'fresh', 'needs', 'closed', 'gate')]
    if not rules:
        return None
    rule = rng.choice(rules)
    wish = m.wish(m.book.tool(rule.tool))
    if wish is None:
        return None
    for _ in range(8):
        if rule.kind != 'gate' or argument_at(wish.call[1], rule.path) == rule.value or rng.random() < 0.1:
            break
        wish = m.wish(m.book.tool(rule.tool)) or wish
    state = m.state(breaks=0.5, faults=0.02)
    if rule.kind == 'closed':
        rule.list_closed(rng, state, str(argument_at(wish.call[1], rule.path)), rng.random() < 0.5)
    if rule.condition is not None and rule.condition.is_close(state):
        return None
    return Case('demand', m.say(wish.said, noise=0.7), call(wish.call), state=state)
