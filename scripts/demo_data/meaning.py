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
Skills of deeds and things that are described in some words and asked for in others.

The tables are the files of `meaning_words/`. `==` begins a field of life; `o` is a thing: words of
one meaning, after `>` what people also call it, after `<` what a description may call it. `d` is a
deed: verbs, after `>` ways that are only said; the things it is done to; after `|` what people say
that need it. Two deeds of one `#tag` do not stand beside each other for one thing. `p` is a place,
`w` a person, `m` a manner: names and sentence endings of each choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
import functools
from pathlib import Path
import random
import re

from demo_data.procedural import inflected
from demo_data.skills import Arg
from demo_data.skills import Skill

FOLDER = Path(__file__).with_name('meaning_words')
PREFIX = 'p:m'
_LIGHT = frozenset('give get put take have make let keep do bring go set turn run it the a an of to up down off out on in into with from over for at by away back some them and look its new together again one so that as is are good all'.split())
_PLURAL = frozenset('people children kids men women cattle sheep geese mice folk police fish deer poultry livestock'.split())
_SINGULAR = frozenset('bus gas glass grass dress compass canvas mattress harness chess moss hose lens iris cactus apparatus address mess class axis press abyss recess atlas bias premises news bellows crossroads works sickness darkness circus campus virus hippopotamus walrus octopus'.split())
_VERBS_PLURAL = {'is': 'are', 'has': 'have', 'was': 'were', 'does': 'do', "isn't": "aren't", "hasn't": "haven't", "doesn't": "don't", "wasn't": "weren't", 'goes': 'go', 'catches': 'catch'}
_AGREES = re.compile(r"\{o\} ((?:\w+ly |just |still |only |again )?)(isn't|hasn't|doesn't|wasn't|\w+s)\b")


@dataclass(frozen=True)
class Thing:
    """Words of one thing: those of its very meaning, narrower ones that are said, wider ones that describe it."""

    key: str
    same: tuple[str, ...]
    said: tuple[str, ...] = ()
    wider: tuple[str, ...] = ()

    @functools.cached_property
    def words(self) -> frozenset[str]:
        """Stems of all its words."""
        return frozenset(stem for text in (*self.same, *self.said, *self.wider) for stem in stems(text))


@dataclass(frozen=True)
class Deed:
    """Ways to say one deed, what it is done to, and what is said where it is needed."""

    number: int
    field: str
    tag: str
    verbs: tuple[str, ...]
    said: tuple[str, ...]
    things: tuple[str, ...]
    needs: tuple[str, ...]

    @functools.cached_property
    def words(self) -> frozenset[str]:
        """Stems of all its verbs."""
        return frozenset(stem for text in (*self.verbs, *self.said) for stem in stems(text.replace('{o}', '')))


@dataclass
class Words:
    """All tables."""

    things: dict[str, Thing] = field(default_factory=dict)
    deeds: list[Deed] = field(default_factory=list)
    places: list[tuple[str, ...]] = field(default_factory=list)
    people: list[tuple[str, ...]] = field(default_factory=list)
    manners: list[tuple[tuple[str, ...], dict[str, tuple[str, ...]]]] = field(default_factory=list)

    @functools.cached_property
    def by_thing(self) -> dict[str, list[Deed]]:
        """The deeds that may be done to each thing."""
        return {key: [d for d in self.deeds if key in d.things] for key in self.things}

    @functools.cached_property
    def by_field(self) -> dict[str, list[Deed]]:
        """The deeds of each field of life."""
        return {name: [d for d in self.deeds if d.field == name] for name in {d.field for d in self.deeds}}


def stems(text: str) -> set[str]:
    """Return the roots of the words that carry meaning."""
    found = (re.sub(r'(ing|ies|es|ed|e|s|y)$', '', w) or w for w in re.findall(r"[a-z]+", text.lower()) if w not in _LIGHT)
    return {w[:-1] if len(w) > 3 and w[-1] == w[-2] else w for w in found}


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(',') if part.strip())


@functools.cache
def tables() -> Words:
    """Load the tables; raises ValueError that names the file and the line."""
    found = Words()
    for file in sorted(FOLDER.glob('*.txt')):
        name = file.stem
        for line in filter(None, map(str.strip, file.read_text(encoding='utf-8').splitlines())):
            sort, _, rest = line.partition(' ')
            if sort == '==':
                name = rest
            elif sort == 'o':
                same, said, wider = re.fullmatch(r'([^<>]+)(?:>([^<>]*))?(?:<(.*))?', rest).groups('')
                thing = Thing(_list(same)[0].replace(' ', '_'), _list(same), _list(said), _list(wider))
                if thing.key in found.things:
                    raise ValueError(f'{file.name}: {thing.key} is there twice')
                found.things[thing.key] = thing
            elif sort == 'd':
                found.deeds.append(_deed(len(found.deeds), name, rest))
            elif sort == 'p':
                found.places.append(_list(rest))
            elif sort == 'w':
                found.people.append(_list(rest))
            elif sort == 'm':
                names, _, values = rest.partition(':')
                found.manners.append((_list(names), {key.strip(): tuple(s.strip() for s in said.split('/')) for key, _, said in (v.partition('=') for v in values.split(';'))}))
            else:
                raise ValueError(f'{file.name}: no such line: {line}')
    for deed in found.deeds:
        for key in deed.things:
            if key not in found.things:
                raise ValueError(f'{deed.field}: {deed.verbs[0]}: no thing {key!r}')
    return found


def _deed(number: int, name: str, line: str) -> Deed:
    tag, _, rest = line.partition(' ') if line.startswith('#') else ('', '', line)
    verbs, _, tail = rest.partition(':')
    things, _, needs = tail.partition('|')
    own, _, said = verbs.partition('>')
    return Deed(number, name, tag, _list(own), _list(said), tuple(things.split()), tuple(n.strip() for n in needs.split(';') if n.strip()))


def is_plural(noun: str) -> bool:
    """Return whether a noun takes `are`."""
    last = noun.split(' of ')[0].split()[-1]
    return ' and ' in noun or last in _PLURAL or (last.endswith('s') and not last.endswith('ss') and last not in _SINGULAR)


def named(noun: str) -> str:
    """Put an article before a noun that has none."""
    return noun if noun.split()[0] in ('my', 'our', 'your', 'a', 'an', 'some', 'the', 'his', 'her', 'this', 'that') else f'the {noun}'


def phrase(verb: str, thing: str) -> str:
    """Say a deed on a thing."""
    text = verb.replace('{o}', thing) if '{o}' in verb else f'{verb} {thing}'
    return text.replace('{its}', 'their').replace('{it}', 'them') if is_plural(thing) else text.replace('{its}', 'its').replace('{it}', 'it')


def _state(text: str, noun: str) -> str:
    """Say a state of a thing, the verb in its number."""
    if is_plural(noun):
        text = _AGREES.sub(lambda m: f'{{o}} {m.group(1)}{_VERBS_PLURAL.get(m.group(2), m.group(2)[:-1])}', text).replace('{it}', 'them').replace('{its}', 'their')
    text = text.replace('{it}', 'it').replace('{its}', 'its').replace('{o}', named(noun))
    return text


_FRAMES = (
    '{p}', '{p}', '{p}', '{p}', '{p}', '{p}', '!can you {p}?', '!could you {p}?', '!I want you to {p}', '!we need to {p}', '!it is time to {p}', 'go and {p}', '!would you mind {g}?', '!somebody should {p}', '!you can {p} now', '!time to {p}', 'start {g}', '!how about {g}?',
    "!let's {p}", '!please {p} when you can', '!I need you to {p}', '!first thing to do: {p}', '!I would love you to {p}', '!you had better {p}', '!it would be great if you could {p}', '!what I need is for you to {p}', '!your next job is to {p}', '!mind {g}?', '!off you go and {p}',
)
_ABOUT = ('{S}.', '{S}.', '{S}.', '{P}.', '{P}', '{S}', 'Used to {p}.', 'Makes the robot {p}.', 'Tool to {p}.', 'Will {p}.', 'For {g}.', 'Lets the robot {p}.', '{S}, once per call.', 'Call it to {p}.')


def draw_pair(rng: random.Random) -> tuple[Deed, Thing]:
    """Draw a deed and a thing it is done to."""
    deed = rng.choice(tables().deeds)
    return deed, tables().things[rng.choice(deed.things)]


def draw_skill(rng: random.Random) -> Skill:
    """Compose a skill, described in some words of its meaning and asked for in others."""
    deed, thing = draw_pair(rng)
    return compose(rng, deed, thing)


def _apart(texts: tuple[str, ...], other: str) -> list[str]:
    """Return the texts that share no root with another."""
    roots = stems(other)
    return [t for t in texts if not roots & stems(t)]


def compose(rng: random.Random, deed: Deed, thing: Thing) -> Skill:
    """Compose a skill of a deed and a thing, or of a deed and several things to choose from."""
    if len(deed.things) > 2 and rng.random() < 0.2:
        return _open(rng, deed)
    verb, verbs = _verbs(rng, deed)
    noun = rng.choice(thing.same if not thing.wider or rng.random() < 0.6 else thing.wider)
    nouns = _apart((*thing.same, *thing.said), noun) if rng.random() < 0.8 else [noun]
    nouns = nouns or [*thing.same, *thing.said]
    about = noun if rng.random() < 0.4 or noun.split()[0] in ('my', 'our') else f'the {noun}'
    says = [_say(rng, rng.choice(verbs), named(rng.choice(nouns))) for _ in range(10)]
    says += [f'!{_state(n, rng.choice(nouns))}' for n in rng.sample(deed.needs, min(3, len(deed.needs)))]
    says, args = _with_argument(rng, says) if rng.random() < 0.3 else (says, ())
    return Skill(f'{PREFIX}{deed.number}:{thing.key}', _names(verb, noun), _abouts(rng, verb, about), tuple(says), args, near=_near(deed, thing), says_units=True)


def _verbs(rng: random.Random, deed: Deed) -> tuple[str, list[str]]:
    verb = rng.choice(deed.verbs)
    apart = _apart((*deed.verbs, *deed.said), verb) if rng.random() < 0.85 else [verb]
    return verb, apart or [v for v in (*deed.verbs, *deed.said) if v != verb] or [verb]


def _say(rng: random.Random, verb: str, thing: str) -> str:
    text = phrase(verb, thing)
    return rng.choice(_FRAMES).format(p=text, g=inflected(text, 'g')) if '{' not in text else rng.choice(_FRAMES).replace('{p}', text).replace('{g}', inflected(text, 'g'))


def _abouts(rng: random.Random, verb: str, about: str) -> tuple[str, ...]:
    text = phrase(verb, about)
    own = inflected(text, 's')
    return tuple(a.format(p=text, P=text[:1].upper() + text[1:], S=own[:1].upper() + own[1:], g=inflected(text, 'g')) for a in rng.sample(_ABOUT, 3))


def _names(verb: str, noun: str) -> tuple[str, ...]:
    plain = re.sub(r'[^a-z]+', '_', phrase(verb, noun).lower()).strip('_')
    tail = re.sub(r'[^a-z]+', '_', noun.lower()).strip('_')
    head = re.sub(r'[^a-z]+', '_', verb.replace('{o}', '').lower()).strip('_')
    return (plain, plain, f'{tail}_{head}', *((head,) if stems(head.replace('_', ' ')) else ()))


def _near(deed: Deed, *things: Thing) -> tuple[str, ...]:
    return (*(f'v:{w}' for text in (*deed.verbs, *deed.said) for w in re.findall('[a-z]+', text.replace('{o}', '')) if w not in _LIGHT), *((f'v:{deed.tag}',) if deed.tag else ()),
            *dict.fromkeys(f't:{w}' for thing in things for text in (*thing.same, *thing.said, *thing.wider) for w in re.findall('[a-z]+', text) if w not in _LIGHT))


def _open(rng: random.Random, deed: Deed) -> Skill:
    """A tool whose choices are things, named in one way and said in others."""
    verb, verbs = _verbs(rng, deed)
    things: list[Thing] = []
    for key in rng.sample(deed.things, len(deed.things)):
        thing = tables().things[key]
        if not any(thing.words & t.words for t in things):
            things.append(thing)
    arg = choice_of(rng, things[:7])
    abouts = _abouts(rng, verb, rng.choice(('something', 'a thing', 'one of its things', 'what is named', 'a certain thing')))
    says = tuple(_say(rng, rng.choice(verbs), '{what}') for _ in range(7))
    return Skill(f'{PREFIX}{deed.number}:open', _names(verb, 'it'), abouts, says, (arg,), near=_near(deed, *things), says_units=True)


def choice_of(rng: random.Random, things: list[Thing]) -> Arg:
    """Let one of some things be chosen."""
    spoken: dict[str, tuple[str, ...]] = {}
    for thing in things:
        key = rng.choice(thing.same)
        apart = _apart((*thing.same, *thing.said), key) or [*thing.same, *thing.said]
        spoken[key] = tuple(named(n) for n in (*apart, *apart, key))
    return Arg('what', 'choice', ('what', 'item', 'thing', 'which', 'object', 'target'), ('What it is about.', 'Which one.', 'The thing.', 'Which of them.'), choices=tuple(spoken), spoken=spoken)


def _with_argument(rng: random.Random, says: list[str]) -> tuple[list[str], tuple[Arg, ...]]:
    """Let it be said where, for whom or how."""
    words = tables()
    plain = [s for s in says if not s.endswith('?') and not s.startswith('!')]
    if not plain:
        return says, ()
    roll = rng.random()
    spoken: dict[str, tuple[str, ...]] = {}
    if roll < 0.4:
        if rng.random() < 0.4:
            spoken = _long_places(rng)
        else:
            spoken = dict(_chosen(rng, group) for group in rng.sample(words.places, rng.randint(3, 6)))
        arg = Arg('place', 'choice', ('place', 'room', 'where', 'location', 'area'), ('Where.', 'The place.', 'In which place.', 'Where it is done.'), choices=tuple(spoken), spoken=spoken)
        tails = (' in {place}', ' at {place}', ', in {place} that is', ' over in {place}')
    elif roll < 0.6:
        spoken = dict(_chosen(rng, group) for group in rng.sample(words.people, rng.randint(3, 6)))
        arg = Arg('person', 'choice', ('person', 'for_whom', 'who', 'recipient'), ('For whom.', 'Who asked for it.', 'The person.'), choices=tuple(spoken), spoken=spoken)
        tails = (' for {person}', ', it is for {person}', ', {person} asked for it')
    elif roll < 0.85:
        names, values = rng.choice(words.manners)
        spoken = {k: tuple(v) for k, v in values.items()}
        arg = Arg('manner', 'choice', names, ('How it is done.', 'How.', 'The way to do it.', 'In what way.'), choices=tuple(spoken), spoken=spoken, keeps_all=True)
        tails = (', {manner}', ', {manner}', ' - {manner}', ', and {manner} please')
    else:
        arg = Arg('minutes', 'number', ('minutes', 'duration', 'how_long'), ('How long.', 'Time to spend on it.'), low=1, high=240, unit='min', spoken=MINUTES)
        tails = (' for {minutes_u}', ', {minutes_u} should do', ', spend {minutes_u} on it')
    return [f'{s}{rng.choice(tails)}' for s in plain for _ in range(2)], (arg,)


def _chosen(rng: random.Random, group: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    key = rng.choice(group)
    apart = _apart(group, key) or list(group)
    return key.replace("'", ''), tuple(named(n) for n in (*apart, *apart, key))


MINUTES = {'15': ('a quarter of an hour', 'fifteen minutes'), '30': ('half an hour', 'half an hour or thirty minutes'), '45': ('three quarters of an hour',), '60': ('an hour', 'one full hour', 'sixty minutes'), '90': ('an hour and a half', 'one and a half hours'),
           '120': ('a couple of hours', 'two hours'), '1': ('a minute', 'one single minute', 'sixty seconds'), '2': ('a couple of minutes', 'two minutes'), '12': ('a dozen minutes',), '20': ('a third of an hour', 'a score of minutes'), '240': ('four hours',), '180': ('three hours',)}
_SIDES = 'north south east west upper lower front rear inner outer old new left right big small first second main spare cold warm blue red green white'.split()
_MIDDLES = 'loading storage packing waiting meeting service entrance parking repair sorting delivery cleaning training control machine reading dining sleeping changing drying cooling tool paper wood metal visitor staff guest goods water steam seed grain boiler battery paint bottle'.split()
_HEADS = 'room hall gate dock bay yard door shed store corridor lobby platform ramp pool tank rack tower bench desk cabinet lift garage office kitchen cellar loft annexe hut'.split()


def _long_places(rng: random.Random) -> dict[str, tuple[str, ...]]:
    """Draw names of three words, said with one left out where that can mean no other."""
    names = [(rng.choice(_SIDES), rng.choice(_MIDDLES), rng.choice(_HEADS)) for _ in range(rng.randint(3, 6))]
    if rng.random() < 0.5:
        names[1] = (names[1][0], names[1][1], names[0][2])
    names = list(dict.fromkeys(names))
    spoken = {}
    for a, b, c in names:
        short = [x for x, count in ((f'{a} {c}', [(n[0], n[2]) for n in names].count((a, c))), (f'{b} {c}', [n[1:] for n in names].count((b, c))), (f'{a} {b}', [n[:2] for n in names].count((a, b))),
                                    (c, [n[2] for n in names].count(c))) if count == 1]
        spoken[f'{a} {b} {c}'] = tuple(f'the {s}' for s in (*short[:2], *short, f'{a} {b} {c}'))
    return spoken


def parts_of(skill: Skill) -> tuple[Deed, frozenset[str]] | None:
    """Return the deed of a composed skill and the keys of its things."""
    if not skill.key.startswith(PREFIX):
        return None
    number, _, thing = skill.key.removeprefix(PREFIX).partition(':')
    deed = tables().deeds[int(number)]
    return deed, frozenset(deed.things if thing == 'open' else (thing,))


def may_stand(skill: Skill, others: list[Skill]) -> bool:
    """Return whether a composed skill differs from all these for people."""
    deed, things = parts_of(skill)
    for other in others:
        theirs, have = parts_of(other)
        rooted = bool(things & have) or any(tables().things[a].words & tables().things[b].words for a in things for b in have)
        if rooted and (deed is theirs or bool(deed.tag and deed.tag == theirs.tag)):
            return False
    return True


def draw_rivals(rng: random.Random) -> list[Skill]:
    """Draw skills that are near each other: other deeds on a thing, a deed on other things, and more of that field."""
    words = tables()
    deed, thing = draw_pair(rng)
    found = [compose(rng, deed, thing)]
    count = rng.randint(4, 8)
    for _ in range(60):
        if len(found) >= count:
            break
        roll = rng.random()
        if roll < 0.4:
            pair = rng.choice(words.by_thing[thing.key]), thing
        elif roll < 0.6:
            pair = deed, words.things[rng.choice(deed.things)]
        else:
            other = rng.choice(words.by_field[deed.field] if roll < 0.9 else words.deeds)
            pair = other, words.things[rng.choice(other.things)]
        skill = compose(rng, *pair)
        if may_stand(skill, found):
            found.append(skill)
    return found
