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


"""How people talk to robots: politeness, names, fillers, typos, what speech recognition makes."""

from __future__ import annotations

from collections.abc import Mapping
import random
import re

from demo_data import rare
from demo_data import values as made
from demo_data import words
from demo_data.phrases import capital
from demo_data.phrases import expand
from demo_data.phrases import fill
from demo_data.phrases import Said

_OPENERS = [f'{text} ' for text in """
please|please|please|could you|can you|would you|could you please|can you please|now|ok,|okay,
hey,|hey robot,|robot,|{robot},|{robot}:|I want you to|I need you to|I would like you to
I'd like you to|you should|you can|go ahead and|time to|let's|next,|then|well,|uh,|um,|so,|and now
now please|be so kind and|kindly|you need to|you have to|would you kindly|may I ask you to
will you|please go and|just|alright,|quickly|do me a favour and|we need you to
it would be great if you could|if you can,|when you are ready,|as soon as possible,|for me, please
hello,|hello {robot},|hi {robot},|listen,|attention,|your task:|task:|command:|new task:
the next job:|I'm asking you to|help me and|try to|make sure to|be a good robot and
it is time to|mission:|order:|your job is to|all right,|right,|thanks, now|good, now
would you mind if I asked you to|I was wondering whether you could|I have a small request:|your next assignment is to
somebody has to|we really need you to|it is your turn to|don't forget to|remember to|you had better|how about you
""".replace('\n', '|').strip('|').split('|')]
_STARTS = ('{robot}, ', 'hey, ', 'robot, ', 'ok, ', 'hi, ', 'excuse me, ', 'listen, ', 'well, ', 'um, ', 'so, ', 'hello, ', 'oh, ')
_ENDINGS = """
.|.|.|.|.||||!|!| please.| please| now.| now!| right away.| for me.| for me please.| thanks.
|, please.|, thanks.|, thank you.| if you can.| when you can.| as soon as possible.
|, ok?|, will you?|, would you?| then.| at once.| without delay.| if possible.| asap.| right now.
""".replace('\n', '').strip().split('|')
_PLAIN_ENDINGS = ('.', '.', '.', '.', '', '', '!', '!', ', please.', ' please', ', thanks.')
_ASIDES = """
the weather is nice today|I have a lot of work|we had a long day|it is quite late already|there is no hurry|I am in a hurry
my hands are full|sorry to bother you|I hope you are fine|we are short of staff|the phone keeps ringing|nobody else is free
as we discussed|it should not take long|the boss is watching|we are running late|{person} told me about it|{person} forgot it again
the {thing} is not important|the {place} was cleaned this morning|yesterday {person} did it|I was at the {place} all morning
my {thing} is broken|{person} likes the {thing}|we bought a new {thing}|I do not care about the {thing}|it is for {person}
the last time it took {n} minutes|there are {n} people here|I have been here since {n} o'clock|{person} says hello
nobody has seen {person} today|the {thing} at the {place} is {adj}|you are doing fine|this is the last job for today
the old robot was slower than you|I hate this {thing}|what a day|the canteen has soup today|it smells of {thing} in here
the {word} {word} was {adj}|{person} and {person} are on holiday|I will be back in {n} minutes|we sold {n} {thing}s last week
""".replace('\n', '|').strip('|').split('|')
_HOMOPHONES = {
    'to': ('too', 'two', '2'), 'for': ('four', '4', 'fore'), 'right': ('write',), 'there': ('their', "they're"), 'your': ("you're", 'yore'),
    'you': ('u', 'yew'), 'are': ('r', 'our'), 'by': ('buy', 'bye'), 'wait': ('weight',), 'here': ('hear',), 'no': ('know',), 'meet': ('meat',),
    'one': ('won',), 'would': ('wood',), 'whole': ('hole',), 'break': ('brake',), 'weigh': ('way',), 'new': ('knew',), 'floor': ('flour',),
    'it': ('hit', 'id'), 'please': ('pleas', 'plese'), 'the': ('da', 'teh', 'a'), 'and': ('an', 'end'), 'at': ('add', 'et'), 'in': ('inn', 'an'),
    'of': ('off', 'ov'), 'then': ('than',), 'see': ('sea',), 'their': ('there',), 'pick': ('pig',), 'take': ('take a',), 'drive': ('dry',),
    'go': ('goh',), 'start': ('stard',), 'open': ('oh pen',), 'close': ('clothes',), 'turn': ('tern',), 'move': ('moove',), 'bring': ('brink',),
    'find': ('fined',), 'clean': ('cleen',), 'send': ('sent',), 'with': ('width',), 'need': ('knead',), 'so': ('sew',), 'back': ('bag',),
    'which': ('witch',), 'be': ('bee',), 'through': ('threw',), 'light': ('lite',), 'could you': ('coud ya',), 'want to': ('wanna',),
}
_FILLERS = ('uh', 'um', 'erm', 'hm', 'you know', 'like', 'well', 'so', 'er', 'sort of', 'I mean', 'let me see', 'okay')
_KEYS = {
    'a': 'sq', 'b': 'vn', 'c': 'xv', 'd': 'sf', 'e': 'wr', 'f': 'dg', 'g': 'fh', 'h': 'gj', 'i': 'uo', 'j': 'hk', 'k': 'jl', 'l': 'k',
    'm': 'n', 'n': 'bm', 'o': 'ip', 'p': 'o', 'q': 'wa', 'r': 'et', 's': 'ad', 't': 'ry', 'u': 'yi', 'v': 'cb', 'w': 'qe', 'x': 'zc',
    'y': 'tu', 'z': 'x'}


def dress(rng: random.Random, said: Said, robot: str = '', *, noise: float = 1.0, polite: bool = True) -> str:
    """Say a sentence: opener, ending, noise on its words, values last, letter case."""
    text = said.template
    ends_fixed = re.search(r'\{[\w.]*\}\W?$', text) is not None and text.endswith(('text}', 'text}"', "text}'"))
    if polite:
        text = _wrapped(rng, text, is_imperative=said.is_imperative, ends_fixed=ends_fixed)
    values = dict(said.values)
    if noise and rng.random() < 0.24 * noise:
        text = _noisy(rng, text)
    for key, value in values.items():
        if key not in said.fixed and noise and rng.random() < 0.08 * noise:
            values[key] = misspell(rng, value)
    values['robot'] = robot if robot and rng.random() < 0.6 else rng.choice(words.ROBOTS)
    text = fill(text, values)
    text = re.sub(' +', ' ', text).strip()
    return _cased(rng, text, said)


def with_aside(rng: random.Random, text: str) -> str:
    """Put a sentence that does not matter before or after another one."""
    remark = capital(aside(rng)) + '.'
    if rng.random() < 0.6:
        return f'{remark} {text}'
    return f'{text.rstrip(".")}. {remark}' if not text.endswith(('?', '!')) else f'{text} {remark}'


def aside(rng: random.Random) -> str:
    """Make up a remark that asks for nothing."""
    return fill(rng.choice(_ASIDES), {
        'person': made.person(rng), 'thing': made.thing(rng), 'place': made.place(rng), 'n': str(rng.randint(2, 40)),
        'adj': rng.choice((rng.choice(words.ADJECTIVES), rare.adjective(rng))), 'word': rare.any_word(rng)})


def _wrapped(rng: random.Random, text: str, *, is_imperative: bool, ends_fixed: bool) -> str:
    opener = ''
    if is_imperative and rng.random() < 0.6:
        opener = rng.choice(_OPENERS)
    elif not is_imperative and rng.random() < 0.15:
        opener = rng.choice(_STARTS)
    ending = rng.choice(_ENDINGS if is_imperative else _PLAIN_ENDINGS)
    if ends_fixed:
        ending = rng.choice(('', '', '.', '!'))
    if text.endswith(('?', '.', '!')):
        ending = ''
    if opener.startswith(('could', 'can', 'would', 'will', 'may', 'how about')) and ending in ('.', '!'):
        ending = '?'
    return opener + text + ending


def _noisy(rng: random.Random, text: str) -> str:
    kind = rng.choices(('typo', 'typos', 'heard', 'filler', 'twice', 'bare'), (5, 2, 5, 4, 2, 3))[0]
    if kind in ('typo', 'typos'):
        for _ in range(1 if kind == 'typo' else rng.randint(2, 4)):
            text = misspell(rng, text)
        return text
    if kind == 'heard':
        return _misheard(rng, text)
    if kind == 'bare':
        return re.sub(r'[,.!?;]+(?= |$)', '', text)
    spots = [m.start() for m in re.finditer(r'(?<=[a-z},]) (?=[a-z{])', text)]
    if not spots:
        return text
    at = rng.choice(spots)
    if kind == 'filler':
        word = rng.choice(_FILLERS)
        word = f', {word},' if rng.random() < 0.4 else f' {word}'
        return f'{text[:at]}{word}{text[at:]}'
    last = re.search(r'[a-z]+$', text[:at])
    return f'{text[:at]} {last.group()}{text[at:]}' if last else text


def _misheard(rng: random.Random, text: str) -> str:
    spots = [m for m in re.finditer(r'(?<![\w{.])[a-z]+(?![\w}.])', text) if m.group() in _HOMOPHONES]
    for spot in sorted(rng.sample(spots, min(len(spots), rng.choice((1, 1, 2, 3)))), key=lambda m: -m.start()):
        text = text[:spot.start()] + rng.choice(_HOMOPHONES[spot.group()]) + text[spot.end():]
    return re.sub(r'[,.!?;]+(?= |$)', '', text) if rng.random() < 0.6 else text


def misspell(rng: random.Random, text: str) -> str:
    """Change one letter of one word outside of slots, as fingers do."""
    spots = list(re.finditer(r'(?<![\w{.])[a-z]{4,}(?![\w}.])', text))
    if not spots:
        return text
    spot = rng.choice(spots)
    word = spot.group()
    at = rng.randrange(1, len(word) - 1)
    kind = rng.randrange(5)
    if kind == 0:
        word = word[:at] + word[at + 1:]
    elif kind == 1:
        word = word[:at] + word[at + 1] + word[at] + word[at + 2:]
    elif kind == 2:
        word = word[:at] + word[at] + word[at:]
    elif kind == 3:
        word = word[:at] + rng.choice(_KEYS[word[at]]) + word[at + 1:]
    else:
        word = word[:at] + rng.choice('aeioulnrst') + word[at:]
    return text[:spot.start()] + word + text[spot.end():]


def _cased(rng: random.Random, text: str, said: Said) -> str:
    copied = ''.join(said.values[key] for key in said.fixed)
    roll = rng.random()
    if roll < 0.06 and not any(c.isalpha() for c in copied):
        return text.upper()
    if roll < 0.25:
        return text.lower() if copied == copied.lower() else text
    if roll < 0.3:
        return text.rstrip('.!')
    return capital(text)


def fillers(rng: random.Random) -> Mapping[str, str]:
    """Return values for slots that stand for nothing in particular."""
    return {
        'surface': made.article(rng, made.surface(rng)), 'group': rng.choice(words.GROUPS), 'person': made.person(rng),
        'object': made.article(rng, made.thing(rng)), 'place': made.article(rng, made.place(rng)),
        'n': str(rng.randint(2, 60)), 'n2': str(rng.randint(2, 99)), 'odd': rare.verb(rng), 'robot': rng.choice(words.ROBOTS),
        'distractor': aside(rng)}


def free(rng: random.Random, template: str) -> Said:
    """Say a template whose values matter to nobody; `!` marks what is no imperative."""
    text = expand(rng, template)
    return Said(text.lstrip('!'), fillers(rng), not text.startswith('!'))
