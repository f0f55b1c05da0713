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


"""A wish: a sentence that asks for one call of one tool, and that call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace
from fractions import Fraction
from functools import cache
import random
import re
from typing import Any

from demo_data import listing
from demo_data import motion
from demo_data import quantities
from demo_data import speech
from demo_data import values
from demo_data import words
from demo_data.catalogues import Slot
from demo_data.catalogues import Tool
from demo_data.phrases import expand
from demo_data.phrases import join
from demo_data.phrases import Said
from demo_data.phrases import slots_of
from demo_data.procedural import inflected
from demo_data.quantities import Declared
from demo_data.skills import Arg

CallValue = tuple[str, dict[str, Any]]
_FREE = ('place', 'object', 'surface', 'person', 'plural', 'text', 'code', 'places', 'objects')
_STATES = re.compile(r"\b(is|are|was|were|has|have|had|isn't|aren't|lies?|stands?|smells?|looks?|feels?|hurts?|knows?|likes?|keeps?|grows?|lacks?)\b|'s\b|'re\b")
_WISHES = re.compile(r"\b(want|wants|need|needs|should|must|please|would|could|can|shall|wish|like|time|let|may|will|your|you|due|ordered|asks?|wanted|needed|to be)\b|\?|'d\b|'ll\b", re.IGNORECASE)
_NEGATIONS = ("don't", 'do not', 'never', 'let ', "let's", 'stop', 'no ')


@dataclass(frozen=True)
class Wish:
    """A sentence and the call it asks for; `spoken` gives the words of each argument."""

    said: Said
    call: CallValue
    tool: Tool

    @property
    def is_negatable(self) -> bool:
        """Whether `do not` before it makes a sentence."""
        return self.said.is_imperative and not self.said.template.lower().startswith(_NEGATIONS)


def put(arguments: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    """Write a value at its place in the arguments."""
    for key in path[:-1]:
        arguments = arguments.setdefault(key, {})
    arguments[path[-1]] = value


def templates(tool: Tool, *, imperative: bool = False) -> list[str]:
    """Return the sentences of a skill that this tool can serve as it is declared."""
    have, required = frozenset(tool.slots), tool.required()
    keys = {a.key for a in tool.skill.args}
    found = []
    for template in tool.skill.says:
        if imperative and template.startswith('!'):
            continue
        asked = {s.removesuffix('_u') for s in slots_of(template)} & keys | tool.skill.sets.get(template, {}).keys()
        if asked <= have and required <= asked:
            found.append(template)
    return found


@cache
def is_plain_statement(template: str) -> bool:
    """Whether a sentence only says how things are, so that one must guess what is wished."""
    return template.startswith('!') and _STATES.search(template) is not None and _WISHES.search(template) is None


def make_wish(
    rng: random.Random, tool: Tool, *, imperative: bool = False, quote: bool = False, by_state: bool = False, named: bool = False, described: bool = False,
) -> Wish | None:
    """Draw a sentence for a tool; None where this draw gives none. `by_state`: the caller sees to the state; `named`: the tool is called by its name, or `described`: by its description."""
    if tool.side is not None and tool.side.condition is not None and not by_state:
        return None
    if tool.skill.key in motion.RELATIVE and not named:
        return relative_wish(rng, tool)
    choices = templates(tool, imperative=imperative) if not named else [_named(rng, tool, described=described)]
    if not choices:
        return None
    picked = rng.choice(choices)
    if not named and is_plain_statement(picked) and rng.random() < (0.2 if tool.skill.key.startswith(('s:', 'p:m')) else 0.75):
        picked = rng.choice([t for t in choices if not is_plain_statement(t)] or choices)
    told = tool.skill.sets.get(picked, {}) if not named else {}
    template = expand(rng, picked)
    if not named and not told:
        template = _with_optional(rng, tool, template)
    is_imperative = not template.startswith('!')
    template = template.lstrip('!')
    if quote and '{text}' in template and '"{text}"' not in template:
        template = template.replace("'{text}'", '{text}').replace('{text}', '"{text}"')
    asked = slots_of(template)
    said: dict[str, str] = dict(speech.fillers(rng)) if any(s not in {a.key for a in tool.skill.args} for s in asked) else {}
    arguments: dict[str, Any] = {}
    fixed = set()
    if named:
        said['tool_'] = _deed(rng, tool) if described else tool.name if rng.random() < 0.6 else tool_as_words(tool.name)
        if not said['tool_']:
            return None
        said['tool_g'] = inflected(tool_as_words(tool.name), 'g')
        fixed |= {'tool_', 'tool_g'}
    for arg in tool.skill.args:
        slot = tool.slots.get(arg.key)
        names = [n for n in (arg.key, f'{arg.key}_u') if n in asked]
        if slot is not None and arg.key in told:
            meant = _meant(arg, slot, told[arg.key])
            if meant is None:
                return None
            put(arguments, slot.path, meant)
            continue
        if slot is None or not names:
            if slot is not None and arg.kind == 'boolean':
                flag = _told(rng, arg)
                if flag is not None and template.endswith(('{text}', '{text}"', '?')):
                    if not arg.optional:
                        return None
                elif flag is not None:
                    template = f'{template} {flag[1]}'
                    put(arguments, slot.path, flag[0])
            continue
        drawn = spoken_value(rng, arg, slot, with_unit=names[0].endswith('_u') or tool.skill.says_units)
        if drawn is None:
            return None
        value, said[names[0]] = drawn
        if arg.kind == 'text' and '{text} to ' in template:
            value = said['text'] = rng.choice(words.GREETINGS)
        put(arguments, slot.path, value)
        if not slot.choices and arg.kind in _FREE:
            fixed.add(names[0])
    for arg in tool.skill.args:
        slot = tool.slots.get(arg.key)
        if slot is not None and arg.kind == 'boolean' and not arg.optional and arg.key not in asked and argument_at(arguments, slot.path) is None:
            put(arguments, slot.path, False)
    result = Said(template, {k: v for k, v in said.items() if k in asked}, is_imperative, frozenset(fixed & asked))
    return Wish(result if named else _with_side(rng, result, tool), (tool.name, arguments), tool)


_CALLS = ('call', 'use', 'run', 'start', 'do', 'execute', 'perform', 'trigger', 'launch', 'do a', 'make a', '!time for', '!I want', '!we need', '!', 'apply', 'begin with', 'do the')
_PARTS = ('{l} {s}', '{l}: {s}', '{l} = {s}', '{l} set to {s}', 'a {l} of {s}', '{l} {s}', '{s} as {l}', 'the {l} is {s}', 'the {l} being {s}', '{l}={s}', '{s} for the {l}', '{l} should be {s}', 'let the {l} be {s}', 'take {s} as the {l}', 'with {s} as {l}', '{l}, {s}', '{l} - {s}', 'its {l} {s}', 'the {l} {s}', '{l} at {s}')


_DEEDS = ('{tool_}', '{tool_}', '{tool_}', '!I want you to {tool_}', '!can you {tool_}?', '!I need this: {tool_}', '!your task: {tool_}', '!what I want: {tool_}', 'do this: {tool_}', '!could you {tool_}', '!we need you to {tool_}', '!it is time to {tool_}',
          '!use the tool that can {tool_}', '!there should be something to {tool_}', 'find a way to {tool_}')
_PREFIXED = re.compile(r'^(\[.*?\] |(Action|Skill|Tool): |(Lets|Makes) the robot |(Used|The way|Tool|Call it) to |Asks the robot to |For when somebody wants the robot to |With this the robot can |Will |The robot |It )', re.IGNORECASE)
_DEFINES = re.compile(r"\b(means?|is|are|stands|call|names|calls|say|told|hear)\b|'")
_SKIPPED = frozenset('the a an some its their'.split())


def _deed(rng: random.Random, tool: Tool) -> str:
    """Say what a tool's description says, some little words left out; empty where it cannot be said."""
    if tool.side is not None:
        return ''
    text = _PREFIXED.sub('', tool.declaration.description.split('. ')[0].rstrip('.'))
    if len(text) > 70 or len(text) < 4 or any(c in text for c in '{}():="') or _DEFINES.search(text):
        return ''
    found = text.split(' ')
    if rng.random() < 0.4:
        found = [w for w in found if w not in _SKIPPED or rng.random() < 0.4]
    if len(found) > 5 and rng.random() < 0.25:
        found = found[:rng.randint(4, len(found) - 1)]
    return ' '.join((found[0][:1].lower() + found[0][1:], *found[1:]))


_BARE = ('{tool_}', 'let us {tool_}', '!can you {tool_}?', '!{tool_} is what I want', 'do the {tool_} thing', '!{tool_}, that is all', 'go and {tool_}', '!I would like a {tool_}', '!{tool_} it is', 'give us a {tool_}', '!the tool is {tool_}',
         'choose {tool_}', '!what we need is {tool_}', '!it is {tool_} that I want', '!{tool_}, please', '!please {tool_}', '!I want a {tool_}', 'do a {tool_} for me', '!time to {tool_}', '!it is time for {tool_}', '!{tool_} now', 'try {tool_}', '!one {tool_}, please', 'get {tool_} going',
         'fire up {tool_}', '!we could do with a {tool_}', 'go ahead with {tool_}', '!now comes {tool_}', '!would you {tool_}?', 'activate {tool_}', 'invoke {tool_}', 'pick {tool_}', 'take the tool called {tool_}', 'use the one named {tool_}', 'do what {tool_} does', '!the next thing is {tool_}', '!{tool_}! go!',
         '!how about {tool_}?', '!my choice is {tool_}', '!{tool_} would be good', '!{tool_} is due', 'carry out {tool_}', 'proceed with {tool_}', 'kick off {tool_}', '!run the {tool_} job', 'do one round of {tool_}', '!ready for {tool_}?', 'let {tool_} happen', '!a {tool_}, if you please', 'make use of {tool_}',
         '!once more {tool_}', '!{tool_} again', '!another {tool_}', '!a second {tool_}, please', '!{tool_} as always', '!{tool_} like yesterday', '!only {tool_}, nothing else', '!nothing but {tool_}', '!{tool_} and that is it', '!that {tool_} of yours', '!a quick {tool_}', '!a good long {tool_}',
         '!straight to {tool_}', '!next: {tool_}', '!{tool_}, go on', '!we have to {tool_}', '!somebody has to {tool_}', '!you may {tool_} now', '!I am ready for {tool_}', '!{tool_} it all', '{tool_} it', '{tool_} them', '{tool_} this', '{tool_} everything', '{tool_} the whole lot', '{tool_} here', '{tool_} over there', 'show me a {tool_}',
         'let me see the {tool_}', '!the usual {tool_}', '!{tool_} time', '!{tool_}, chop chop', '!your turn: {tool_}', '!today it is {tool_}', '!{tool_} before lunch', '!all I ask for is {tool_}', '!everyone is waiting for {tool_}', '!can we have {tool_}?', '!may I have a {tool_}?', '!so, {tool_} then',
         '!{tool_g} is what we need', 'start {tool_g}', '!it is time for {tool_g}', 'do some {tool_g}', '!I feel like {tool_g}', '!how about {tool_g}?', '!no more talk, start {tool_g}', '!a bit of {tool_g}, please', 'get on with the {tool_g}', '!we are waiting for the {tool_g}')
_ONE = ('{tool_} {s}', '{tool_} {s}', '{tool_} with {s}', '{call} {tool_} for {s}', '{call} {tool_} with {s}', '{call} {tool_} on {s}', '!{s}: {tool_} it', '{tool_}, {s}', '!I want {tool_} for {s}', '{call} {tool_} - {s}', '!{tool_}: {s}',
        'go and {tool_} {s}', '{call} {tool_}, the value is {s}', 'use {s} for {tool_}', 'give {tool_} {s}', 'use {tool_} on {s}', 'do the {tool_} thing with {s}', '!{s} is for {tool_}', '!I want a {tool_} of {s}', 'do a {tool_} with {s}', '!it is time for {tool_} and {s}', '!{tool_} should get {s}', '{tool_}: {s}', '{tool_} - {s}',
        'let {tool_} have {s}', '!take {s} and {tool_} it', '!could you {tool_} {s}?', '!{s}, {tool_}', 'apply {tool_} to {s}', 'run {tool_}, {s}', 'have {tool_} done with {s}', '!{s} wants {tool_g}', 'start {tool_g} with {s}', '!{tool_g} with {s}, please', '!how about {tool_g} {s}?', 'pass {s} to {tool_}', 'feed {s} to {tool_}', '{tool_}({s})',
        'hand {s} over to {tool_}', '!as for {s}, {tool_}', '!what about {s}? {tool_}', '!{tool_} please, {s} that is', 'try {tool_} on {s}')


def _told(rng: random.Random, arg: Arg) -> tuple[bool, str] | None:
    """Say whether something is wanted; None where nothing is said of it."""
    if not arg.says_false:
        return (True, rng.choice(arg.says_true)) if rng.random() < 0.35 else None
    if arg.optional and rng.random() < 0.4:
        return None
    value = rng.random() < 0.5
    return value, rng.choice(arg.says_true if value else arg.says_false)


def _meant(arg: Arg, slot: Slot, value: str | float | bool) -> Any:
    """Return as it is declared what a sentence means without a word for it; None where it cannot be declared."""
    if slot.choices:
        plain = str(value).replace('_', ' ')
        return next((c for c, said in slot.choices.items() if plain in said), None)
    if slot.number is None:
        return value
    family = quantities.FAMILIES.get(quantities.FAMILY_OF.get(arg.unit, ''), {arg.unit: Fraction(1)})
    number = Fraction(str(value)) * family[arg.unit] / family[slot.number.unit]
    if not Fraction(str(slot.number.low)) <= number <= Fraction(str(slot.number.high)) or (slot.number.is_integer and number.denominator != 1) or quantities.is_tie(number):
        return None
    return int(number) if slot.number.is_integer else quantities.plain(number)


def tool_as_words(name: str) -> str:
    """Return a name of a tool or argument as it is spoken."""
    return re.sub(r'(?<=[a-z0-9])(?=[A-Z])', ' ', name).replace('_', ' ').lower()


def _named(rng: random.Random, tool: Tool, *, described: bool = False) -> str:
    """Ask for a tool by its name, and for arguments by theirs."""
    parts = [_part(rng, tool, a) for a in tool.skill.args
             if a.key in tool.slots and a.kind != 'boolean' and not (a.optional and rng.random() < 0.6)]
    if rng.random() < 0.4:
        rng.shuffle(parts)
    if described:
        lead = rng.choice(_DEEDS)
        return lead if not parts else f'{lead.rstrip("?")}{rng.choice((", ", ", ", ": ", " - ", " with "))}{rng.choice((", ", " and ", ", ")).join(parts)}'
    if not parts:
        return f'{rng.choice(_CALLS)} {{tool_}}' if rng.random() < 0.6 else rng.choice(_BARE)
    asked = [a for a in tool.skill.args if a.key in tool.slots and not a.optional]
    if len(asked) == 1 and asked[0].kind not in ('boolean', 'text') and rng.random() < 0.4:
        number = tool.slots[asked[0].key].number
        name = f'{asked[0].key}_u' if number is not None and number.unit and asked[0].kind in ('number', 'integer') else asked[0].key
        return rng.choice(_ONE).replace('{s}', f'{{{name}}}').replace('{call}', rng.choice(_CALLS))
    return f'{rng.choice(_CALLS)} {{tool_}}{rng.choice((" with ", ", ", ", ", ": "))}{rng.choice((", ", " and ", ", ")).join(parts)}'


def _part(rng: random.Random, tool: Tool, arg: Arg) -> str:
    slot = tool.slots[arg.key]
    name = f'{arg.key}_u' if slot.number is not None and slot.number.unit and arg.kind in ('number', 'integer') and rng.random() < 0.6 else arg.key
    value = f'"{{{name}}}"' if arg.kind == 'text' else f'{{{name}}}'
    label = slot.path[-1] if rng.random() < 0.4 else tool_as_words(slot.path[-1])
    return rng.choice(_PARTS).replace('{l}', label).replace('{s}', value)


def _with_optional(rng: random.Random, tool: Tool, template: str) -> str:
    """Add an optional argument by its name at times."""
    asked = {s.removesuffix('_u') for s in slots_of(template)}
    left = [a for a in tool.skill.args if a.optional and a.key in tool.slots and a.key not in asked and a.kind not in ('boolean', 'text')]
    if not left or rng.random() > 0.3 or template.endswith(('{text}', '{text}"', '?')):
        return template
    joint = ' with ' if not template.endswith('}') and rng.random() < 0.4 else ', '
    return f'{template}{joint}{_part(rng, tool, rng.choice(left))}'


def _with_side(rng: random.Random, said: Said, tool: Tool) -> Said:
    """Say which of two twins is meant."""
    if tool.side is None or not tool.side.says:
        return said
    phrase = rng.choice(tool.side.says)
    template = said.template
    forms = [f'{template}, {phrase}', f'{template}. {phrase[:1].upper()}{phrase[1:]}', f'{template} - {phrase}', f'{template} and mind: {phrase}']
    if not said.is_imperative or rng.random() < 0.35:
        forms = [f'{phrase[:1].upper()}{phrase[1:]}. {template[:1].upper()}{template[1:]}', f'{phrase}, {template}', f'{phrase}: {template}']
        return replace(said, template=rng.choice(forms), is_imperative=False)
    return replace(said, template=rng.choice(forms))


def spoken_value(rng: random.Random, arg: Arg, slot: Slot, *, with_unit: bool) -> tuple[Any, str] | None:
    """Draw a value for an argument as it is declared, and how a person says it."""
    if arg.kind in ('xy', 'numbers'):
        return _numbers(rng, arg, slot)
    if arg.kind == 'boolean':
        value = rng.random() < 0.5
        return value, rng.choice(arg.says_true if value else arg.says_false)
    if slot.number is not None:
        return spoken_number(rng, slot.number, arg, with_unit=with_unit)
    if arg.kind in ('places', 'objects'):
        return _list(rng, arg, slot)
    if slot.choices:
        value = rng.choice(tuple(slot.choices))
        return value, say_choice(rng, arg, slot, value)
    return values.draw(rng, arg)


def say_choice(rng: random.Random, arg: Arg, slot: Slot, value: str) -> str:
    """Say one of the choices."""
    spoken = rng.choice(slot.choices[value])
    if arg.kind in ('place', 'object', 'surface', 'places', 'objects'):
        return values.article(rng, spoken.replace('_', ' '))
    return spoken


def _list(rng: random.Random, arg: Arg, slot: Slot) -> tuple[list[str], str] | None:
    count = rng.choice((1, 2, 2, 2, 3, 3, 3, 4, 5, 6))
    arg = replace(arg, kind=arg.unit) if arg.unit in ('person', 'code', 'choice') else arg
    if slot.choices:
        found = rng.sample(tuple(slot.choices), min(count, len(slot.choices))) if rng.random() < 0.85 else rng.choices(tuple(slot.choices), k=count)
        said = [say_choice(rng, arg, slot, v) for v in found]
    else:
        pairs = [values.draw(rng, arg) for _ in range(count)]
        found, said = [v for v, _ in pairs], [s for _, s in pairs]
    if any(' and ' in s for s in said):
        return None
    return found, listing.enumerated(rng, said)


def _numbers(rng: random.Random, arg: Arg, slot: Slot) -> tuple[list[Any], str]:
    assert slot.number is not None
    low, high = slot.number.low, slot.number.high
    if arg.kind == 'numbers' and arg.step >= 1:
        return _integers(rng, int(low), int(high), arg.spoken.get('noun', ()))
    count = 2 if arg.kind == 'xy' else rng.randint(2, 6)
    found = [quantities.plain(round(rng.uniform(low, high), rng.choice((0, 1, 1, 2)))) for _ in range(count)]
    share = 0.25 if rng.random() < 0.3 else 0.0
    texts = [quantities.number_text(rng, Fraction(str(v)), words=share) if share else str(v) for v in found]
    if arg.kind == 'xy':
        return found, rng.choice((f'{texts[0]}, {texts[1]}', f'{texts[0]} and {texts[1]}', f'x {texts[0]}, y {texts[1]}', f'({texts[0]}, {texts[1]})', f'x {texts[0]} and y {texts[1]}',
                                  f'x = {texts[0]}, y = {texts[1]}', f'[{texts[0]}, {texts[1]}]', f'x: {texts[0]}, y: {texts[1]}', f'{texts[0]} / {texts[1]}', f'y {texts[1]} and x {texts[0]}', f'x is {texts[0]} and y is {texts[1]}'))
    return found, listing.numbers(rng, texts)


def _integers(rng: random.Random, low: int, high: int, nouns: tuple[str, ...]) -> tuple[list[Any], str]:
    """Draw whole numbers, said one by one or from one to another."""
    if rng.random() < 0.2 and high - low > 8:
        start = rng.randint(low, high - 5)
        found = list(range(start, start + rng.randint(3, 6)))
        in_words = rng.random() < 0.4
        a, b = (quantities.number_text(rng, Fraction(v), words=float(in_words)) for v in (found[0], found[-1]))
        said = rng.choice(('{a} to {b}', '{a} to {b}', 'from {a} to {b}', '{a} through {b}', '{a} up to {b}', '{a} to {b} inclusive', 'all from {a} to {b}')).format(a=a, b=b)
        return found, f'{nouns[0]}s {said}' if nouns else said
    found = rng.sample(range(low, high + 1), rng.choice((1, 2, 2, 3, 3, 3, 4, 5, 6)))
    if len(found) > 2 and rng.random() < 0.1:
        found[-1] = found[0]
    if rng.random() < 0.5:
        found.sort()
    words = rng.choice((0.0, 0.0, 1.0, 0.3))
    texts = [quantities.number_text(rng, Fraction(v), words=words) for v in found]
    if not nouns:
        return found, listing.numbers(rng, texts) if len(texts) > 1 else texts[0]
    if len(texts) == 1 or rng.random() < 0.3:
        return found, listing.enumerated(rng, [f'{nouns[0]} {t}' for t in texts])
    return found, f'{nouns[0]}s {listing.numbers(rng, texts)}'


def spoken_number(rng: random.Random, declared: Declared, arg: Arg, *, with_unit: bool) -> tuple[Any, str] | None:
    """Draw a number within the declared range."""
    if arg.spoken and arg.kind == 'number' and rng.random() < 0.6:
        return _number_in_words(rng, declared, arg)
    if with_unit and declared.unit:
        drawn = quantities.draw(rng, declared)
        return None if drawn is None else (drawn.value, drawn.text)
    decimals = 0 if declared.is_integer or arg.kind == 'integer' or arg.step >= 1 else rng.choice((0, 1, 1, 2, 2))
    value = Fraction(str(round(rng.uniform(declared.low, declared.high), decimals)))
    if declared.unit == 'deg' and rng.random() < 0.5:
        value = Fraction(rng.choice((0, 45, 90, 135, 180, -45, -90, -135, -180, 30, 60)))
    if not declared.low <= value <= declared.high:
        return None
    text = quantities.number_text(rng, value, words=0.1)
    if text in ('-0', '-0.0'):
        text = '0'
    return (int(value) if declared.is_integer else quantities.plain(value)), text


def _number_in_words(rng: random.Random, declared: Declared, arg: Arg) -> tuple[Any, str] | None:
    """Say a number in one of the ways that the argument lists for it."""
    text = rng.choice(tuple(arg.spoken))
    family = quantities.FAMILIES.get(quantities.FAMILY_OF.get(arg.unit, ''), {})
    value = Fraction(text) * (family[arg.unit] / family[declared.unit] if declared.unit != arg.unit else 1)
    if not Fraction(str(declared.low)) <= value <= Fraction(str(declared.high)) or (declared.is_integer and value.denominator != 1) or quantities.is_tie(value):
        return None
    return (int(value) if declared.is_integer else quantities.plain(value)), rng.choice(arg.spoken[text])


def scales(tool: Tool) -> dict[str, Fraction]:
    """Return for each number the native value of one declared unit."""
    found = {}
    for arg in tool.skill.args:
        slot = tool.slots.get(arg.key)
        if slot is None or slot.number is None or arg.kind not in ('number', 'integer'):
            continue
        family = quantities.FAMILIES.get(quantities.FAMILY_OF.get(slot.number.unit, ''), {})
        if family and arg.unit in family:
            found[arg.key] = family[slot.number.unit] / family[arg.unit]
    return found


def relative_wish(rng: random.Random, tool: Tool, *, fitting: bool = True) -> Wish | None:
    """Draw a wish for a tool that takes distances or angles as seen from the robot."""
    key = tool.skill.key
    if key in ('turn_by', 'turn_side'):
        move = motion.draw_turn(rng)
    else:
        ways = {'drive_straight': ('forward', 'backward'), 'step_side': ('left', 'right')}.get(key, ('forward', 'backward', 'left', 'right'))
        move = motion.draw_move(rng, ways, 5.0, two=key == 'move_by')
    arguments = motion.relative_arguments(key, move, scales(tool))
    if arguments is None:
        return None
    placed: dict[str, Any] = {}
    inside = True
    for name, value in arguments.items():
        slot = tool.slots.get(name)
        if slot is None:
            return None
        if slot.number is not None:
            inside = inside and Fraction(str(slot.number.low)) <= value <= Fraction(str(slot.number.high))
            if slot.number.is_integer and Fraction(value).denominator != 1:
                return None
            rounded = quantities.plain(Fraction(value))
            if quantities.is_tie(Fraction(value)):
                return None
            value = int(rounded) if slot.number.is_integer else rounded
        elif value not in slot.choices:
            match = [c for c, said in slot.choices.items() if value in said]
            if not match:
                return None
            value = match[0]
        put(placed, slot.path, value)
    if not placed or inside is not fitting:
        return None
    text = expand(rng, move.text)
    said = Said(text.lstrip('!'), {}, not text.startswith('!'))
    return Wish(_with_side(rng, said, tool), (tool.name, placed), tool)


def plain_of(wish: Wish) -> str:
    """Return a wish without any noise, as it can stand within another sentence."""
    return re.sub(r'[.!?]+$', '', wish.said.plain)


def both(template: str, first: Wish, second: Wish, *, is_imperative: bool = True) -> Said:
    """Join two wishes."""
    return join(template, is_imperative=is_imperative, a=first.said, b=second.said)


def argument_at(arguments: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    """Return the value at a path, or None."""
    found: Any = arguments
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found
