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
Invents words as many languages and trades would: no two systems sound alike.

`coin` gives a plain lower-case word; `name` dresses words up as names of tools and arguments.
"""

from __future__ import annotations

from collections.abc import Callable
import random

# Systems of syllables: beginnings; middles; endings. A word is one of each, or two middles.
_SYSTEMS = tuple(tuple(part.split() for part in line.split(';')) for line in """
vor cal lum ser tor pal nov mir dor fen gal hes; ant id er ul in or am ec ili ati; us um is ia or ax ent alis ium ura
ka mo shi ta no ri ha su ke yo na mi ko; ri ko mu ta shi no ke ra so hi; ma ko ro ta ki mi no shi ya bu
hyl kor mak tuo pel sav ran tik vil lat; li ma ku pi lo ti ne su ra; kki nen la sto ri kko tta nta vi
brz vla str kur dob mil rad zel svo gra; i o a e u av ov en; nik ka vec sko mir slav tsa kov zhen ik
llan gwy pen aber tre caer dol myn; w y e a wy ed or; th dd n ll wen wyth gan lys nog ryn
qa sa ra ta na ha fa ja za ma ba; sir mil rab dim lat zar had kub; a ab un in ah ir ad aq um
tla chi nah xo coa tez te qui; za lo ti ma co pa ca hua; tl tli can pan co lin xin yotl
mao la ki hoa nui pu ka lei ale; la ki mo ha na pu lo ke; ki nu la hi ma ne lu ao
schn kr pf gr w st tr kn z fl; u a o e i ie ei au; rfel cker nkel tz pper lle mpf sel bber nsch
flu gri wu spro dri mu bu cro fra ski; m n f b z g d ng; ble gle ffle ckle zzle ddle mper nder bbet llow
tra gly phen oxi meth car bro nit sul; o i a e; lase xine phane dol stat cide gen lite mer trix
el ae ny thi lo ara ce fi gal; la ri na the lo wy mi ra; dil riel wen nor loth mir dis las thas
xq zr kh vr gh dz tk; u a o i; rt kk gh lth zh mb xt rr ggh
bo wa ngu mba ti ku ze nya; mba ngo ti la ku wa ni; zi le ni ko ba sha ta ndu
jö å fi vi ska bre lø; n r l g; dal vik ska gen berg ling ti nor
quo ub re ali per inter sub; ti vi du mo fa; bus tur mus rix net dam cit
ping zing bong tock plin dra wham splo; ; go le ker ster ette ball tron ox ity boo
""".strip().split('\n'))
_BITS_A = 'cr tr pl gr sn sw fl br sl sk dw kw thr shr spl gl bl cl'.split()
_BITS_B = 'ang elb isk omp unt arv ilm ost erg ulk adge ench irl osk umph atch ewn oom oy aze'.split()
_CODAS = ('', '', '', 'le', 'er', 'y', 'o', 'et', 'ish', 'en', 'ock', 'ify', 'ling', 'a')


def _system(rng: random.Random) -> str:
    first, middle, last = rng.choice(_SYSTEMS)
    parts = [rng.choice(first), *(rng.choice(middle) for _ in range(rng.choice((0, 1, 1, 1, 2))) if middle), rng.choice(last)]
    return ''.join(parts)


def _closed(rng: random.Random) -> str:
    return rng.choice('bdfghjklmnprstvwz') + rng.choice('aeiou') + rng.choice(('b', 'x', 'g', 'zz', 'p', 'ck', 'm', 'rt', 'lk', 'nt', 'ff', 'd', 'sh', 'v'))


def _blend(rng: random.Random) -> str:
    return rng.choice(_BITS_A) + rng.choice(_BITS_B) + rng.choice(_CODAS)


def _doubled(rng: random.Random) -> str:
    head, tail = rng.choice('bdfghklmnptvz'), rng.choice(('b', 'g', 'm', 'p', 'ng', 'ck', 'zz', 'l'))
    return f'{head}{rng.choice("ie")}{tail}{head}{rng.choice("aou")}{tail}'


def _letters(rng: random.Random) -> str:
    """Alternate consonants and vowels at will."""
    groups = ('bcdfghjklmnpqrstvwxyz', 'aeiou')
    turn, word = rng.randrange(2), ''
    for _ in range(rng.randint(4, 9)):
        word += rng.choice(groups[turn])
        turn = 1 - turn if rng.random() < 0.85 else turn
    return word


_MAKERS: tuple[tuple[float, Callable[[random.Random], str]], ...] = ((6, _system), (3, _closed), (3, _blend), (1, _doubled), (1.5, _letters))


def coin(rng: random.Random) -> str:
    """Invent a word of plain letters."""
    while True:
        word = rng.choices([make for _, make in _MAKERS], [weight for weight, _ in _MAKERS])[0](rng)
        if 3 <= len(word) <= 12 and word.isascii():
            return word


def foreign(rng: random.Random) -> str:
    """Invent a word that may have letters of other languages."""
    word = _system(rng)
    if rng.random() < 0.4:
        plain, marked = rng.choice((('a', 'ä'), ('o', 'ö'), ('u', 'ü'), ('e', 'é'), ('a', 'å'), ('n', 'ñ'), ('c', 'ç'), ('e', 'è'), ('i', 'í'), ('s', 'š'), ('o', 'ø'), ('l', 'ł')))
        word = word.replace(plain, marked, 1)
    return word


def alike(rng: random.Random, word: str) -> str:
    """Return a word that differs in one letter, or by one."""
    at = rng.randrange(1, len(word))
    roll = rng.random()
    if roll < 0.6 or len(word) < 5:
        pool = 'aeiou' if word[at] in 'aeiou' else 'bdfgklmnprstvz'
        return word[:at] + rng.choice([c for c in pool if c != word[at]]) + word[at + 1:]
    return word[:at] + rng.choice('aeilnorst') + word[at:] if roll < 0.8 else word[:at] + word[at + 1:]


def name(rng: random.Random) -> str:
    """Compose a tool's name of invented words, in snake case; a style may change its case."""
    word, roll = coin(rng), rng.random()
    if roll < 0.5:
        return word
    if roll < 0.62:
        return f'{word}_{coin(rng)}'
    if roll < 0.7:
        return f'{word}{rng.randint(2, 99)}'
    if roll < 0.76:
        return f'{word}_{rng.randint(1, 9)}'
    if roll < 0.84:
        return f'{word}{coin(rng).capitalize()}'
    if roll < 0.9:
        return f'{rng.choice(("do", "my", "the", "un", "re", "de", "pre", "auto"))}_{word}'
    if roll < 0.94:
        return f'{word}_{rng.choice("abcdxyz")}'
    return f'{rng.choice("abcdfgkmprstxz")}{rng.choice("abcdfgkmprstxz")}{rng.randint(1, 999)}' if roll < 0.97 else word.upper()
