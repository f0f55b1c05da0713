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


"""Two or three tools of a kind that differ by a size, a stuff or a sort of thing: how each is described and meant."""

from __future__ import annotations

import random

from demo_data import quantities

Row = tuple[str, tuple[str, ...], tuple[str, ...]]

_UNITS: tuple[tuple[str, tuple[float, ...], str, str], ...] = (
    ('l', (0.1, 0.2, 0.25, 0.3, 0.5, 0.75, 1, 1.5, 2, 5, 10, 20, 40), '{n} l|holds {n} litres|{n} litres|of {n} litres|for {n} l', '{q}|the one of {q}|{q}, please|I need {q}|it takes {q}'),
    ('ml', (20, 50, 100, 150, 200, 250, 300, 500, 750), '{n} ml|holds {n} ml|of {n} millilitres|for {n} ml', '{q}|the one of {q}|{q}, please|I need {q}'),
    ('cm', (5, 8, 10, 12, 15, 20, 25, 30, 40, 60, 80, 120), '{n} cm wide|{n} cm|of {n} cm|{n} centimetres long', '{q}|the one of {q}|it should have {q}|{q}, please'),
    ('mm', (2, 3, 4, 5, 6, 8, 10, 12, 16, 20), '{n} mm|of {n} mm|{n} millimetres thick', '{q}|the one of {q}|with {q}'),
    ('kg', (1, 2, 3, 5, 8, 10, 15, 20, 25, 50), '{n} kg|of {n} kg|carries {n} kg', '{q}|the one of {q}|{q}, please|we need {q}'),
    ('g', (10, 20, 50, 100, 150, 200, 250, 500), '{n} g|of {n} g|portions of {n} grams', '{q}|the one of {q}|{q}, please'),
    ('m', (1, 2, 3, 4, 5, 6, 8, 10, 12), '{n} m|of {n} m|reaches {n} metres', '{q}|the one of {q}|it has to reach {q}'),
    ('min', (2, 3, 5, 10, 15, 20, 30, 45, 60), '{n} min|takes {n} minutes|of {n} minutes', '{q}|the one of {q}|for {q}|we have {q}'),
)
_SMALL = ('the small one', 'a small one', 'the little one', 'small size', 'the small size', 'the smallest', 'a tiny one', 'small is enough', 'the smallest you have', 'make it a small one', 'size small')
_MIDDLE = ('the medium one', 'a medium one', 'medium size', 'the middle size', 'the middle one', 'neither the biggest nor the smallest', 'middling, please', 'the one in between', 'size medium', 'make it a medium one')
_LARGE = ('the large one', 'a large one', 'the big one', 'a big one', 'large size', 'the largest', 'the biggest', 'the biggest you have', 'as big as it gets', 'make it a big one', 'size large')
_RANKS = (('small', 'small size|the small kind|for small ones|little', _SMALL), ('medium', 'medium size|the middle kind|of ordinary size', _MIDDLE), ('large', 'large size|the large kind|for big ones|big', _LARGE))

# Sorts of things: how a tool is described, what people say. Two or three of a row are drawn.
_SORTS: tuple[tuple[tuple[str, str, str], ...], ...] = (
    (('metal', 'metal|for metal|metals', 'steel|aluminium|copper|tin|brass|iron|a piece of steel|it is aluminium|sheet iron'), ('plastic', 'plastic|for plastics', 'acrylic|nylon|PVC|a plastic bottle|polystyrene|it is plexiglass'), ('paper', 'paper and cardboard|for cardboard', 'a carton|cartons|newspaper|an envelope|a cardboard box|wrapping paper'),
     ('wood', 'wood|for wood', 'oak|a plank|plywood|pine|a wooden board|beech'), ('glass', 'glass|for glass', 'a bottle of glass|a pane|a jar|a mirror|a wine glass'), ('cloth', 'cloth|for fabrics', 'cotton|a shirt|linen|wool|a towel|silk')),
    (('fruit', 'fruit|for fruit', 'apples|a pear|plums|cherries|bananas|grapes'), ('vegetables', 'vegetables|for vegetables', 'broccoli|carrots|a cabbage|onions|peas|leeks'), ('meat', 'meat|for meat', 'beef|a steak|pork|chicken|lamb|ham'), ('fish', 'fish|for fish', 'salmon|a trout|cod|herring|tuna'),
     ('bread', 'bread and rolls|for baked goods', 'a loaf|buns|a baguette|toast|croissants'), ('milk', 'milk products|for dairy', 'cheese|yoghurt|butter|cream|milk')),
    (('hot', 'hot drinks|for hot drinks', 'coffee|tea|cocoa|an espresso|a hot chocolate'), ('cold', 'cold drinks|for cold drinks', 'lemonade|iced tea|juice|cola|a glass of cold water'), ('soup', 'soups|for soup', 'tomato soup|broth|a bowl of stew|chowder')),
    (('pets', 'pets|for pets', 'the cat|the dog|a hamster|the rabbit|a budgie'), ('farm', 'farm animals|for farm animals', 'the cows|a sheep|the pigs|a goat|the hens'), ('wild', 'wild animals|for wild animals', 'a fox|deer|a badger|an owl|a hedgehog')),
    (('cars', 'cars|for cars', 'a sedan|my hatchback|a taxi|the estate car'), ('trucks', 'trucks|for trucks', 'a lorry|the delivery van|an eighteen-wheeler|the dumper'), ('bikes', 'bicycles|for bicycles', 'my bike|a tandem|a mountain bike|a racing bike'), ('boats', 'boats|for boats', 'a canoe|the dinghy|a yacht|the ferry')),
    (('adults', 'adults|for adults', 'a grown-up|two gentlemen|a woman of forty|my uncle'), ('children', 'children|for children', 'a child|the kids|a girl of seven|my little son'), ('babies', 'babies|for babies', 'an infant|the newborn|a toddler in a pram')),
    (('morning', 'in the morning|mornings', 'at seven a.m.|before breakfast|at sunrise|early'), ('noon', 'at noon|midday', 'at twelve|at lunch time|in the middle of the day'), ('evening', 'in the evening|evenings', 'at eight p.m.|after supper|at sunset|late'), ('night', 'at night|nights', 'at midnight|at two in the morning|while all sleep')),
    (('dust', 'dry dirt|for dry dirt', 'crumbs|dust|sand on the floor|fluff|it is dusty'), ('wet', 'wet dirt|for wet dirt', 'spilt milk|a puddle|mud|a sticky spot|coffee stains'), ('leaves', 'leaves|for leaves', 'foliage|autumn leaves|twigs')),
    (('letters', 'letters|for letters', 'a postcard|an envelope|a letter'), ('parcels', 'parcels|for parcels', 'a box|a package|a crate'), ('keys', 'keys|for keys', 'the car key|a bunch of keys|a door key')),
    (('cuts', 'wounds|for wounds', 'a cut on the finger|a graze|she is bleeding'), ('fever', 'fever|for fever', 'he is burning hot|a temperature of 39|shivering with heat'), ('pain', 'pain|against pain', 'a headache|my back hurts|toothache')),
    (('red', 'red|for red ones', 'crimson|scarlet|the colour of tomatoes|ruby'), ('blue', 'blue|for blue ones', 'navy|the colour of the sky|azure'), ('green', 'green|for green ones', 'the colour of grass|emerald|olive'), ('white', 'white|for white ones', 'the colour of snow|ivory|as pale as chalk')),
    (('round', 'round|for round ones', 'a ball|an orange|a ring|a disc'), ('square', 'square|for square ones', 'a cube|a tile|a dice|a chessboard'), ('long', 'long|for long ones', 'a rod|a pipe|a ruler|a beam')),
    (('first', 'the first|number one', 'number one|the first one|no. 1'), ('second', 'the second|number two', 'number two|the second one|no. 2'), ('third', 'the third|number three', 'number three|the third one|no. 3')),
    (('left', 'left|on the left', 'the left one|on your left|left side'), ('middle', 'centre|in the middle', 'the one in the middle|the centre one|between the two'), ('right', 'right|on the right', 'the right one|on your right|right side')),
    (('slow', 'slow|low speed', 'there is no hurry|take your time|gently'), ('normal', 'ordinary speed|normal', 'at the usual pace|as always'), ('fast', 'fast|high speed', 'hurry|as quick as you can|at top speed')),
    (('thin', 'thin|for thin ones', 'thin as paper|a fine one|a sheet'), ('thick', 'thick|for thick ones', 'a fat one|thick as a brick|a slab')),
    (('new', 'new|for new ones', 'brand new|fresh from the shop|never used'), ('old', 'old|for old ones', 'an antique|worn out|from grandmother\'s time')),
    (('short', 'short|briefly', 'in a few words|keep it brief|quickly told'), ('long', 'long|at length', 'in detail|the whole story|with all particulars')),
    (('sweet', 'sweet|for sweet things', 'cake|with honey|a dessert|chocolate'), ('salty', 'salty|for salty things', 'crisps|salted nuts|pretzels|olives'), ('sour', 'sour|for sour things', 'lemons|vinegar|gherkins')),
    (('indoor', 'indoor|inside', 'in the hall|in the living room|under the roof'), ('outdoor', 'outdoor|outside', 'in the garden|on the lawn|in the yard')),
)


def draw(rng: random.Random) -> tuple[Row, ...]:
    """Draw two or three rows: a word for a name, how tools are described, what is said for each."""
    roll = rng.random()
    if roll < 0.4:
        found = _amounts(rng)
        if found:
            return found
    if roll < 0.55:
        rows = list(_RANKS) if rng.random() < 0.6 else [_RANKS[0], _RANKS[2]]
        return tuple((word, tuple(texts.split('|')), says) for word, texts, says in rows)
    sorts = rng.choice(_SORTS)
    count = min(len(sorts), rng.choice((2, 3, 3)))
    return tuple((word, tuple(texts.split('|')), tuple(says.split('|'))) for word, texts, says in rng.sample(sorts, count))


def _amounts(rng: random.Random) -> tuple[Row, ...]:
    """Sizes in numbers, meant by the amount in any unit or by a word for the size."""
    unit, values, texts, says = rng.choice(_UNITS)
    count = rng.choice((2, 3, 3))
    chosen = sorted(rng.sample(values, count))
    ranks = _RANKS if count == 3 else (_RANKS[0], _RANKS[2])
    named = rng.random() < 0.5
    rows: list[Row] = []
    for value, (word, kinds, by_rank) in zip(chosen, ranks, strict=True):
        drawn = [quantities.draw(rng, quantities.Declared(unit, value, value)) for _ in range(5)]
        said = tuple(rng.choice(says.split('|')).format(q=d.text) for d in drawn if d is not None and float(d.value) == value and any(c.isalpha() for c in d.text))
        if not said:
            return ()
        shown = tuple(t.format(n=f'{value:g}') for t in texts.split('|'))
        if named:
            shown = tuple(f'{kinds.split("|")[0]}, {t}' for t in shown)
        rows.append((word, shown, said + (by_rank if rng.random() < 0.8 else ())))
    return tuple(rows)
