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
Tiny template language for sentences: `[a|b|]` picks one alternative, `{slot}` takes a value.

Also dresses sentences the way people speak to robots: politeness, names, fillers, typos.
"""

from __future__ import annotations

from collections.abc import Mapping
import random
import re

from demo_data import words

_CHOICE = re.compile(r'\[([^\[\]]*)\]')
_SLOT = re.compile(r'\{(\w+)\}')
_OPENERS = """
NONE|NONE|NONE|NONE|NONE|NONE|NONE|please |please |could you |can you |would you |could you please |can you please |now |ok, |okay,
hey, |hey robot, |robot, |{robot}, |{robot}: |I want you to |I need you to |I would like you to
I'd like you to |you should |you can |go ahead and |time to |let's |next, |then |well, |uh, |um, |so, |and now
now please |be so kind and |kindly |you need to |you have to |would you kindly |may I ask you to
will you |please go and |just |alright, |quickly |first of all, |do me a favour and |we need you to
it would be great if you could |if you can, |when you are ready, |as soon as possible, |for me, please
hello, |hello {robot}, |hi {robot}, |listen, |attention, |your task: |task: |command: |new task:
the next job: |I'm asking you to |help me and |try to |make sure to |be a good robot and
it is time to |mission: |order: |your job is to |all right, |right, |thanks, now |good, now
""".replace('\n', '|').strip('|').split('|')
_OPENERS = ['' if text == 'NONE' else f'{text.strip()} ' for text in _OPENERS]
_ENDINGS = """
.|.|.|.|.||||!|!| please.| please| now.| now!| now| right away.| for me.| for me please.| thanks.
|, please.|, thanks.|, thank you.| if you can.| when you can.| as soon as possible.| quickly.
|, ok?|, will you?| then.| next.| first.| immediately.| at once.| carefully.| slowly and carefully.
| today.| before lunch.| without delay.| if possible.| again.|, would you?| asap.| right now.
""".replace('\n', '').strip().split('|')


def expand(rng: random.Random, template: str) -> str:
    """Pick one alternative of every bracket, innermost first."""
    while True:
        found = _CHOICE.search(template)
        if found is None:
            return template
        picked = rng.choice(found.group(1).split('|'))
        template = template[: found.start()] + picked + template[found.end() :]


def slots_of(template: str) -> frozenset[str]:
    """Name the slots a template has."""
    return frozenset(_SLOT.findall(template))


def fill(template: str, values: Mapping[str, str]) -> str:
    """Put values into slots; text of values is never expanded again."""
    return _SLOT.sub(lambda found: values[found.group(1)], template)


def speak(rng: random.Random, template: str, values: Mapping[str, str], robot: str = '') -> str:
    """
    Say a template as a sentence. A leading `!` marks what is no imperative: no opener.

    Typos and letter case touch only the template's own words, never the values.
    """
    text = expand(rng, template)
    quotes = text.endswith('{text}')
    plain = text.startswith('!')
    text = text.lstrip('!')
    opener = '' if plain else rng.choice(_OPENERS)
    ending = rng.choice(_ENDINGS[:11]) if plain else rng.choice(_ENDINGS)
    if plain and text.endswith('?'):
        ending = ''
    if quotes:
        ending = rng.choice(('', '', '.', '!'))
    if opener.startswith(('could', 'can', 'would', 'will', 'may')) and ending in ('.', '!'):
        ending = '?'
    if plain and rng.random() < 0.12:
        opener = rng.choice(('{robot}, ', 'hey, ', 'robot, ', 'ok, ', 'hi, ', 'excuse me, '))
    text = opener + text + ending
    if rng.random() < 0.06:
        text = misspell(rng, text)
    if '{text}' not in text and rng.random() < 0.08:
        text = _pad(rng, text)
    name = robot if robot and rng.random() < 0.5 else rng.choice(words.ROBOTS)
    text = fill(text, {**values, 'robot': name})
    if rng.random() < 0.75:
        text = text[:1].upper() + text[1:]
    if rng.random() < 0.03:
        text = text.rstrip('.!?')
    if slots_of(template) <= {'place', 'seconds', 'angle', 'floor'}:
        roll = rng.random()
        text = text.upper() if roll < 0.05 else text.lower() if roll < 0.12 else text
    return re.sub(' +', ' ', text).strip()


def _pad(rng: random.Random, text: str) -> str:
    """Insert a word that does not matter between two words of the template."""
    gaps = [m.start() for m in re.finditer(r'(?<=[a-z}]) (?=[a-z{])', text)]
    if not gaps:
        return text
    at = rng.choice(gaps)
    return f'{text[:at]} {rng.choice(words.SOFT)}{text[at:]}'


def misspell(rng: random.Random, text: str) -> str:
    """Change one letter of one word outside the slots."""
    spots = list(re.finditer(r'(?<![\w{])[a-z]{4,}(?![\w}])', text))
    if not spots:
        return text
    spot = rng.choice(spots)
    word = spot.group()
    at = rng.randrange(1, len(word) - 1)
    kind = rng.randrange(3)
    if kind == 0:
        word = word[:at] + word[at + 1 :]
    elif kind == 1:
        word = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    else:
        word = word[:at] + word[at] + word[at:]
    return text[: spot.start()] + word + text[spot.end() :]


def nonce(rng: random.Random) -> str:
    """Invent a word: of syllables, or halves of two real words."""
    if rng.random() < 0.5:
        first, second = (rng.choice((*words.GENERAL, *words.OBJECTS)) for _ in range(2))
        return first.split()[0][: rng.randint(2, 5)] + second.split()[-1][-rng.randint(2, 5) :]
    return ''.join(rng.choice(words.SYLLABLES) for _ in range(rng.randint(2, 3))) + rng.choice(
        words.CODAS
    )


def article(rng: random.Random, noun: str, common: str = 'the') -> str:
    """Put an article before a noun phrase, as people do."""
    if noun[:1].isupper() or noun.startswith('the ') or any(c.isdigit() for c in noun):
        return noun
    roll = rng.random()
    if roll < 0.72:
        return f'{common} {noun}'
    if roll < 0.8:
        return f'{"an" if noun[0] in "aeiou" else "a"} {noun}'
    if roll < 0.88:
        return f'{rng.choice(("that", "this", "my", "our", "your"))} {noun}'
    return noun if roll < 0.94 else f'{common} {noun}'


def any_word(rng: random.Random) -> str:
    """Return any word: known from a list, or invented; values must be copied, not known."""
    roll = rng.random()
    if roll < 0.45:
        return rng.choice(words.GENERAL)
    if roll < 0.6:
        return rng.choice(words.OBJECTS)
    if roll < 0.68:
        return rng.choice(words.ADJECTIVES)
    return nonce(rng)


def object_phrase(rng: random.Random) -> str:
    """Name a thing: noun, often with colour or adjective, at times any or an invented word."""
    noun = rng.choice(words.OBJECTS)
    roll = rng.random()
    if roll < 0.16:
        noun = nonce(rng)
    elif roll < 0.32:
        noun = rng.choice(words.GENERAL)
    elif roll < 0.4:
        noun = f'{any_word(rng)} {noun}'
    roll = rng.random()
    if roll < 0.28:
        return f'{rng.choice(words.COLOURS)} {noun}'
    if roll < 0.42:
        return f'{rng.choice(words.ADJECTIVES)} {noun}'
    if roll < 0.48:
        return f'{rng.choice(words.ADJECTIVES)} {rng.choice(words.COLOURS)} {noun}'
    if roll < 0.52:
        return f'{noun} {rng.randint(1, 99)}'
    if roll < 0.56:
        return f'{any_word(rng)} {noun}'
    return noun


def place_phrase(rng: random.Random) -> str:
    """Name a place: known, numbered, lettered or invented."""
    roll = rng.random()
    if roll < 0.6:
        return rng.choice(words.PLACES)
    if roll < 0.68:
        return f'{any_word(rng)} {rng.choice(words.PLACES)}'
    if roll < 0.72:
        return rng.choice(words.GENERAL)
    if roll < 0.8:
        return f'{rng.choice(words.PLACE_NUMBERED)} {rng.randint(1, 40)}'
    if roll < 0.88:
        return f'{rng.choice(words.PLACE_NUMBERED)} {rng.choice("ABCDEFGHJKLMNPQRSTUVWXYZ")}'
    if roll < 0.94:
        return f'{nonce(rng)} {rng.choice(words.PLACE_NUMBERED)}'
    return nonce(rng)


def _free_text(rng: random.Random) -> str:
    """String any words together, so that a text can only be copied."""
    parts = [any_word(rng) for _ in range(rng.choice((1, 2, 3, 3, 4, 4, 5, 6, 8, 11)))]
    for index, part in enumerate(parts):
        roll = rng.random()
        if roll < 0.06:
            parts[index] = str(rng.randint(0, 2000))
        elif roll < 0.14:
            parts[index] = part.capitalize()
        elif roll < 0.18:
            parts[index] = rng.choice(words.PEOPLE)
        elif roll < 0.22 and index + 1 < len(parts):
            parts[index] = part + ','
    return ' '.join(parts)


def statement(rng: random.Random) -> str:
    """Make up something to say aloud."""
    if rng.random() < 0.5:
        return _free_text(rng)
    roll = rng.random()
    if roll < 0.16:
        return rng.choice(words.GREETINGS)
    text = rng.choice(words.STATEMENTS)
    if roll < 0.3:
        text = f'{rng.choice(words.GREETINGS)} {rng.choice(words.GROUPS)}, {text}'
    elif roll < 0.4:
        text = f'{text} and {rng.choice(words.STATEMENTS)}'
    values = {
        'n': str(rng.randint(2, 60)),
        'place': place_phrase(rng),
        'object': object_phrase(rng),
        'person': rng.choice(words.PEOPLE),
        'adj': rng.choice(words.ADJECTIVES),
    }
    return fill(text, values)
