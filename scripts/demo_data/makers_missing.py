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

"""Wishes that lack what their tool needs, or name what is no choice, next to complete ones."""

from __future__ import annotations

from dataclasses import replace
import functools
import random
import re

from demo_data import frames_talk as frames
from demo_data import makers_drills as drills
from demo_data import makers_refusals as refusals
from demo_data import quantities
from demo_data import rare
from demo_data import speech
from demo_data import values
from demo_data import words
from demo_data.cases import Answer
from demo_data.cases import ask
from demo_data.cases import call
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.cases import IDLE
from demo_data.cases import no_action
from demo_data.catalogues import Slot
from demo_data.catalogues import Tool
from demo_data.motion import RELATIVE
from demo_data.phrases import expand
from demo_data.phrases import join
from demo_data.phrases import Said
from demo_data.skills import Arg
from demo_data.wishes import argument_at
from demo_data.wishes import make_wish
from demo_data.wishes import say_choice
from demo_data.wishes import Wish

_SKIPPED = ('text', 'xy', 'numbers', 'boolean')
_TAIL = re.compile(r"[ ,:=(]*((to|at|in|on|into|onto|for|from|of|by|with|the|a|an|as|is|are|near|next|over|up|off|under|and|its|towards|called|named|about|around|behind|through|against|like|than)\b[ ,:=(]*)*$", re.IGNORECASE)
_TENS = re.compile(r'\d+')


def _needed(tool: Tool) -> list[Arg]:
    return [a for a in tool.skill.args if a.key in tool.required() and a.kind not in _SKIPPED]


def _wanting(m: CaseMaker) -> tuple[Wish, Arg, str] | None:
    """Draw a wish and one of the arguments that it needs, with the slot that says it."""
    tools = [t for t in m.book.tools if t.side is None and _needed(t) and t.skill.key not in RELATIVE]
    if not tools:
        return None
    tool = m.rng.choice(tools)
    arg = m.rng.choice(_needed(tool))
    wish = m.wish(tool)
    names = [n for n in (arg.key, f'{arg.key}_u') if wish is not None and n in wish.said.values]
    return (wish, arg, names[0]) if wish is not None and names else None


def left_out(m: CaseMaker) -> Case | None:
    """A wish without a needed argument: a pronoun in its place, or the sentence breaks off there."""
    rng = m.rng
    found = _wanting(m)
    if found is None:
        return None
    wish, arg, slot = found
    roll = rng.random()
    said = _trimmed(wish.said, slot) if roll < 0.4 else None
    if said is None and roll < 0.7:
        said = _broken_off(rng, wish.said, slot)
    if said is None:
        number = arg.kind in ('number', 'integer')
        vague = rng.choice(frames.VAGUE['number' if number else arg.kind])
        template = wish.said.template
        if re.search(r'(the|a|an|this|that) \{' + slot + r'\}', template, re.IGNORECASE):
            return None
        told = {**wish.said.values, slot: vague}
        for other in _needed(wish.tool):
            if other.key != arg.key and other.key in told and other.kind in frames.VAGUE and rng.random() < 0.35:
                told[other.key] = rng.choice(frames.VAGUE[other.kind])
        said = replace(wish.said, values=told)
    text = m.say(_wrapped(m, said), noise=0.4)
    return Case('unclear', text, _which(wish.tool, arg))


def _which(tool: Tool, arg: Arg) -> Answer:
    return ask(f'Which {tool.slots[arg.key].path[-1]} do you mean?')


def _trimmed(said: Said, slot: str) -> Said | None:
    """Leave out where, whom, with what or how much within a sentence, which goes on as if nothing lacked."""
    template, count = _phrase(slot).subn('', said.template)
    if count != 1 or len(template.split()) < 2 or f'{{{slot}}}' in template or template.endswith((' and', ' or', ' the', ' a')):
        return None
    left = {k: v for k, v in said.values.items() if f'{{{k}}}' in template}
    return Said(template, left, said.is_imperative, said.fixed & frozenset(left))


@functools.lru_cache(maxsize=256)
def _phrase(slot: str) -> re.Pattern[str]:
    return re.compile(r'[,:]? (to|in|at|on|for|from|of|by|with|into|onto|around|over|near|towards|toward|until|within|inside|under|behind|beside|through|called|named|number|no|as|until|up to|down to|out of|all over|in front of|next to) (the |a |an |its )?\{' + slot + r'\}(?=$|[ ,.;?!])')


def _broken_off(rng: random.Random, said: Said, slot: str) -> Said | None:
    """End a sentence where the value would come."""
    template = said.template
    at = template.find(f'{{{slot}}}')
    if at < 3:
        return None
    start, rest = template[:at], template[at + len(slot) + 2:]
    if rest.strip(' .?!') and '{' in rest:
        return None
    kept = start if rng.random() < 0.4 else _TAIL.sub('', start)
    rest = rest if rest.startswith(' ') and rng.random() < 0.3 and '?' not in rest else ''
    kept = f'{kept.rstrip(" ,:=(")}{rest}'.strip()
    if len(kept.split()) < 2 or not re.match('[a-zA-Z]', kept):
        return None
    form = rng.choice(frames.BROKEN_OFF) if rng.random() < 0.45 else '{s}'
    left = {k: v for k, v in said.values.items() if f'{{{k}}}' in kept}
    return Said(form.replace('{s}', kept), left, said.is_imperative, said.fixed & frozenset(left))


def _wrapped(m: CaseMaker, said: Said) -> Said:
    """Say a wish through somebody, or as a statement, at times."""
    rng = m.rng
    if not said.is_imperative or rng.random() > 0.3 or said.template.endswith(('.', '-', '?')):
        return said
    person = rng.choice(words.PEOPLE) if rng.random() < 0.6 else speech.fillers(rng)['person']
    template = expand(rng, rng.choice(frames.INDIRECT)).replace('{person}', person).replace('{robot}', m.robot)
    return join(template, is_imperative=False, a=said)


def bare_call(m: CaseMaker) -> Case | None:
    """A tool called by its name without what it needs, or one that needs nothing."""
    rng = m.rng
    tools = [t for t in m.book.tools if t.side is None and (not t.required() or (len(_needed(t)) == 1 and len(t.required()) == 1))]
    if not tools:
        return None
    tool = rng.choice(tools)
    shown = tool.name if rng.random() < 0.6 else tool.name.replace('_', ' ')
    text = rng.choice(frames.BARE_CALLS).replace('{t}', shown) + rng.choice(('', '', '.', ' please', ' now.'))
    if tool.required():
        return Case('unclear', text, _which(tool, _needed(tool)[0]))
    return Case('by_name', text, call((tool.name, {})))


def described_only(m: CaseMaker) -> Case | None:
    """A tool asked for in the words of its description, which leave out what it needs."""
    rng = m.rng
    tools = [t for t in m.book.tools if t.side is None and _needed(t) and t.skill.key not in RELATIVE]
    if not tools:
        return None
    tool = rng.choice(tools)
    wish = make_wish(rng, tool, named=True, described=True)
    if wish is None or sum(t.declaration.description[:24] == tool.declaration.description[:24] for t in m.book.tools) > 1:
        return None
    start = wish.said.template.partition('{tool_}')[0]
    said = Said(f'{start}{{tool_}}', {'tool_': wish.said.values['tool_']}, wish.said.is_imperative, frozenset(('tool_',)))
    return Case('unclear', m.say(said, noise=0.5), _which(tool, _needed(tool)[0]))


def complete(m: CaseMaker) -> Case | None:
    """A wish with all that its tool needs, said in as many ways as the incomplete ones."""
    found = _wanting(m)
    if found is None:
        return None
    wish = found[0]
    return Case('command', m.say(_wrapped(m, wish.said), noise=0.4), call(wish.call))


def choices(m: CaseMaker) -> Case | None:
    """A value close to a choice that is none, or one said oddly that is it."""
    rng = m.rng
    pairs = [(t, a) for t in m.book.tools for a in t.skill.args
             if a.key in t.slots and len(t.slots[a.key].choices) > 1 and a.kind in drills.NAMED_KINDS and t.skill.key not in RELATIVE and t.side is None]
    if not pairs:
        return None
    tool, arg = rng.choice(pairs)
    slot = tool.slots[arg.key]
    wish = m.wish(tool)
    if wish is None or arg.key not in wish.said.values:
        return None
    value = str(argument_at(wish.call[1], slot.path))
    if value not in slot.choices:
        return None
    spoken = rng.choice(slot.choices[value]).replace('_', ' ')
    known = {word.replace('_', ' ').lower() for c, said in slot.choices.items() for word in (c, *said)}
    if rng.random() < 0.5:
        heard = _odd(rng, spoken)
        if heard is None or (heard.lower() in known and heard.lower() != spoken.lower()):
            return None
        said = replace(wish.said, values={**wish.said.values, arg.key: _with_article(rng, arg, heard)})
        return Case('member', m.say(_wrapped(m, said), noise=0.2), call(wish.call))
    foreign = _beside(rng, arg, slot, spoken)
    if foreign is None or any(foreign.lower() == k or foreign.lower() in k or (k in foreign.lower() and len(k) > 3) for k in known):
        return None
    said = replace(wish.said, values={**wish.said.values, arg.key: _with_article(rng, arg, foreign)}, fixed=wish.said.fixed | {arg.key})
    return Case('unknown_choice', m.say(_wrapped(m, said), noise=0.3), ask(f'I do not know {foreign}. Which {slot.path[-1]} should I use?'))


def _with_article(rng: random.Random, arg: Arg, value: str) -> str:
    return values.article(rng, value) if arg.kind in ('place', 'object', 'surface') and rng.random() < 0.8 else value


def _odd(rng: random.Random, spoken: str) -> str | None:
    """Say a choice so that it is still that choice."""
    roll = rng.random()
    if roll < 0.25:
        return spoken
    if roll < 0.4 and _TENS.search(spoken):
        number = int(_TENS.findall(spoken)[-1])
        return re.sub(r'\d+(?!.*\d)', f' {quantities.words_of(number)}' if number < 100 else str(number), spoken).replace('  ', ' ').strip()
    if roll < 0.5:
        return rng.choice((spoken.upper(), spoken.title(), spoken.capitalize()))
    if roll < 0.6 and ' ' in spoken:
        return spoken.replace(' ', rng.choice(('-', '_', '')), 1)
    heard = drills.misheard(rng, spoken) if roll < 0.82 else speech.misspell(rng, spoken)
    return heard if heard != spoken else None


def _beside(rng: random.Random, arg: Arg, slot: Slot, spoken: str) -> str | None:
    """Name something near a choice that is another thing."""
    roll = rng.random()
    parts = spoken.split()
    others = [c.replace('_', ' ').split() for c in slot.choices]
    alike = _alike(rng, slot)
    if alike and rng.random() < 0.7:
        return alike
    if roll < 0.3:
        return drills.neighbour(rng, spoken) or None
    if roll < 0.5 and len(parts) > 1:
        return ' '.join((*parts[:-1], rng.choice((rare.noun(rng), rng.choice(words.SURFACES).split()[-1], rare.place_name(rng).split()[-1]))))
    if roll < 0.65 and len(parts) > 1:
        mixed = [f'{o[0]} {parts[-1]}' for o in others if len(o) > 1 and o[0] != parts[0]]
        return rng.choice(mixed) if mixed else None
    return refusals.foreign(rng, arg, slot)


def _alike(rng: random.Random, slot: Slot) -> str:
    """Name another member of the set that some choice belongs to, or nothing."""
    known = {w for c, said in slot.choices.items() for text in (c, *said) for w in re.split(r'[ _-]', text.lower())}
    sets = [group for group in frames.ALIKE if len(known & set(group)) > 0]
    left = [w for group in sets for w in group if w not in known]
    return rng.choice(left) if left else ''


def news(m: CaseMaker) -> Case | None:
    """A statement that asks for nothing."""
    said = speech.free(m.rng, m.rng.choice(frames.NEWS))
    if refusals.sounds_like_a_tool(m, said.plain):
        return None
    return Case('chat', m.say(said, noise=0.6), no_action(IDLE))


def mention(m: CaseMaker) -> Case | None:
    """A statement that names what a tool could be used on, and asks for nothing."""
    rng = m.rng
    pairs = [(t, a) for t in m.book.tools for a in t.skill.args if a.key in t.slots and frames.MENTIONS.get(a.kind)]
    if not pairs:
        return None
    tool, arg = rng.choice(pairs)
    slot = tool.slots[arg.key]
    value = say_choice(rng, arg, slot, rng.choice(tuple(slot.choices))) if slot.choices else values.draw(rng, arg)[1]
    person = rng.choice(words.PEOPLE) if rng.random() < 0.6 else speech.fillers(rng)['person']
    said = Said(rng.choice(frames.MENTIONS[arg.kind]), {'v': value, 'person': person}, False, frozenset(('v', 'person')))
    return Case('chat', m.say(said, noise=0.4, polite=rng.random() < 0.5), no_action(IDLE))


def cancelled(m: CaseMaker) -> Case | None:
    """A wish that is taken back."""
    wish = m.wish(imperative=True, quote=True)
    if wish is None or not wish.is_negatable:
        return None
    template = m.rng.choice(frames.CANCELLED).lstrip('!')
    person = m.rng.choice(words.PEOPLE) if m.rng.random() < 0.6 else speech.fillers(m.rng)['person']
    said = join(template.replace('{person}', person), is_imperative=False, a=wish.said)
    return Case('forbidden', m.say(said, polite=False, noise=0.6), no_action(IDLE))
