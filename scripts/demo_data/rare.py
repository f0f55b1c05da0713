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
Words that training sees too seldom to learn by heart: they must be copied as they are read.

Composed from parts, so that names, places and things of a conversation are hardly ever the same
twice. Plain functions of a random generator.
"""

from __future__ import annotations

import random

from demo_data import coined

_FIRST = """
abigail adrian agnes aidan aisha alba albert alina amara amir anders andrea anita anton aron arthur
astrid aya beatriz bela bernard bianca birgit boris brenda bruno camille carmen casper cecilia chen
chloe claude clara cyril dafne dagmar damian daria deepak delia denis diego dilan dmitri dora edgar
edith eileen elif elisa elmar elsa emil enrique erik esther eva fabian fatima fergus fiona flora
florian franka frederik gabor gemma georgia gerald gisela giulia gregor greta gustav hana hannes
harriet hassan heidi helena henrik hiroshi holly ian ibrahim ida igor ilse imogen ingrid irena isaac
isabel ivan jada jakub jana jasper javier jelena joanna joel johan jorge josef judith julio jung
kaito karim karin kasimir katya keiko kenji kirsten klaus kofi lara lars laszlo latifa leif leon
leila liam lidia linus lisbeth lorenzo lotte lucas luisa magda malik malte manuel margot mariam
marius marta martin matteo maud maxim mei mehmet melissa mikael milena mina miriam mohan monika
moritz nadia naomi natalia nils nikolai nora odette olaf olga olivia oscar otto pablo pascal patrick
pavel pedro peter petra philip pia pierre priya rafael rahul ramona ravi rebecca regina reza ricardo
rita robin rolf roman ruben rudi ruth sabine said samira sandra santiago sara selma sergio shira
silas silvia simon sonja stefan stella sven tamara tariq tatiana teresa theo thilo thomas timur tobias
tuomas ulla ulrich urs valentina vera viktor vincent vivian walter wanda willem xavier yana yara yuki
yvonne zainab zofia zoltan
""".split()
_LAST_A = """
acker alder arm asp bach bal bart beck berg blom bor brand bren bur cal car chand col cor crom dal dav
del dorn dun eck eich ell fair fal fen ferr fisch flor frie gal gar gold gran gros had hal ham hart hav
hein hol horn hul ing jan jar kal kau kess klei kov kram lam lan lau lem lind lor mal man mar mei mon
mor nav neu nor oak ols pal par per pet pol quin rad ram red ren rich ros rud sal san schu sel sil sol
stein sud tan thor tor ulm val var vog wal wein wes win wol zan zeh zim
""".split()
_LAST_B = """
a ado an ano ard as au bach bauer berg bert borg by court dal dale den dini dorf eau el ell en er es ez
feld ford gar gren haus hav heim holt ic ich ides iker ina ing ini itz ka ke kin ko lan ley lin low lund
man mann mark mer mont more moto ner ney ni o off ola one ong oni or os ova owicz quist rath ric ro rup
sen sk ski smith son stad stein stone ström ton tti ura vall vic way well wick witz wood worth y yama
""".split()
_PLACE_A = """
alder amber ash aspen badger bank barley beacon beech birch black bluebell bramble brass briar bridge
bright brook canal cedar chalk chapel cherry cinder clay cliff clover copper coral cotton cress crown
dahlia dawn drift eagle east elder elm ember fern ferry finch flint fox frost garnet glass grain granite
gravel green hawk hazel heather heron hollow holly honey indigo iris iron ivory ivy jade jasper juniper
kestrel king kite lake lantern larch lark laurel lavender ledger lilac lime linden lion loam lotus lower
magnet maple marble marsh meadow mill mint mirror mist moon moss moth mulberry myrtle nettle new north
oak ochre old olive onyx opal orchard orchid osprey otter owl pearl pepper pine plum pond poplar poppy
prism quarry quartz quince rail raven reed ridge river robin rose rowan ruby rust saffron sage sail salt
sand shell silver slate sloe smith snow south sparrow spruce star stone storm straw summer sun swan
tanner thistle thorn tide timber topaz tulip turf turquoise upper valley velvet violet walnut water
weaver west wheat white willow wind winter wolf wood wren yarrow yew zinc
""".split()
_PLACE_B = """
annex alcove arcade atelier bay berth block boulevard bower bureau burrow cabin camp cell chamber
chapel close corner cottage court cove crossing deck den depot dome drive end estate field foyer fork
gallery gate glade green grove hall harbour haven heights hideout hill house hut junction kiosk landing
lane lawn ledge loft lodge lookout mews mezzanine nook orchard outpost park passage path patio pavilion
pier place plaza point pool porch port post quarter quay ramp refuge rise road room row sector shed shop
spot square stand stall station street studio suite terrace tower track trail tunnel vault veranda
vestibule villa walk wall ward wharf wing workshop yard zone
""".split()
_NOUNS = """
abacus accordion acorn adapter almanac amplifier anchor anklet antenna anvil apricot apron aquarium
armband armchair artichoke ashtray atlas avocado awl axle backrest bagel balloon bandana banjo banner
barometer baton bead beanbag beret biscuit blender blowtorch bobbin bodice bollard bonnet bookend boot
bouquet bowtie bracelet bracket brioche brooch bugle bun buoy burner button cactus calculator canister
canteen capsule carafe carburettor cardigan casserole castor catapult cauldron cello chalice chandelier
chestnut chisel chopstick cigar clamp clarinet clasp cleaver clipboard clog coaster coconut coil colander
collar compass cork cornet corset cotter cradle crank crayon croissant crowbar crucible crutch cuff
cushion cutter cymbal dagger dart decanter denture dial dice dinghy dongle doorknob doorstop doughnut
dowel drawbridge dumbbell dustpan easel earmuff earplug eggcup elastic emblem encoder eraser espresso
eyepiece fan faucet feather fender ferrule fiddle fig figurine flagpole flange flask flute fob foil
footstool fork forceps frisbee fuse gadget garland garlic gasket gauge gauntlet gavel gearbox ginger
girdle globe goblet goggles gong gourd grapefruit grater grindstone grommet guitar gumboot hairpin
halter hamper handbag handcart handrail harness harp harpoon hatbox hatchet headband headset heater
hinge hoe holster honeycomb hook hoop horseshoe hourglass hubcap icepick icon inkwell insole insulator
jack jackhammer javelin jerrycan jigsaw joystick jug kazoo keg kettle kimono knapsack knob lace ladle
lancet lantern lasso lathe lattice leaflet lectern leek lever lighter locket loom lozenge lute magnet
magnifier mallet mandolin mango mannequin manometer maraca marble mattock medal megaphone metronome
microscope mitten modem monocle mooring mortar mousetrap muffin muffler musket muzzle napkin necklace
nectarine nightgown nozzle nutmeg oar oboe ocarina odometer ointment omelette opener orchid ornament
ottoman oven overall oximeter paddle padlock pail paintbrush palette pan pancake parachute parasol
parchment parka parsley patch peg pendant pendulum pennant peppermill perfume periscope petal petticoat
pestle pickaxe pillbox pinafore pinecone pipette piston pitchfork placard plank plectrum plinth pliers
plough plunger pocketknife podium poncho porcelain postcard potholder pouch prism probe propeller
protractor pulley pumice pumpkin puppet purse quiver quill quilt racket radish raft rake raisin ramrod
rattle razor receipt recorder relay resistor ribbon rivet rosary rotor router rucksack rudder sabre
saddle safe sandal sash satchel saucepan saucer sawhorse scabbard scale scarf sceptre scooter scraper
screen scroll scythe seashell sextant shackle shawl sheath shim shovel shuttlecock sickle sieve siphon
skateboard skewer skillet sledge sleeve slingshot slipper snorkel snowshoe socket solenoid spade spanner
spatula spectacles spindle spigot splint spring sprocket squeegee stamp stencil stethoscope stirrup stool
stopwatch strainer strap streamer stylus suitcase sundial swatch switchblade tablecloth tablet tambourine
tankard tarpaulin tassel teapot telescope thermos thermostat thimble ticket tiara timer toaster toboggan
tongs toothbrush torch tractor transistor trapdoor trellis triangle trinket trombone trowel trumpet tuba
tunic turbine turban tweezers typewriter ukulele urn valise vase veil velcro violin viper visor vise
waffle wand wardrobe washboard waterwheel weathervane wedge whisk whistle wicker wig windmill winch wok
wreath wristband xylophone yoke yoyo zipper zither
""".split()
_ADJECTIVES = """
ancient azure beige bent bitter blunt brittle bronze bulky burnt checkered chipped chrome coarse cobalt
compact cracked creased crimson crooked crumpled curved dented dotted dusty enamel engraved faded faulty
flat floral fluffy folded foreign frosted frozen fuzzy gilded glossy grimy hairy hollow humble jagged
khaki knitted lacquered leaky leather lilac loose magnetic maroon matte mauve mended mint moist muddy
narrow navy numbered oblong odd oily opaque oval padded painted pale patched peculiar pleated pointed
polished powdered purple quilted ragged rigid rubber rusty salty sandy scarlet scratched shabby shiny
shredded silky slanted slender slim slippery smooth speckled sticky stiff stray striped sturdy tangled
tattered teal thick thin torn transparent turquoise twisted velvet vintage warped waxed woollen woven
wrinkled zigzag
""".split()
_VERBS = """
align anneal arrange balance bind bleach bolster braid brew buff burnish calibrate carve catalogue chill
clamp coat compress crush decant defrost degrease descale dilute disinfect distil drain dredge dye emboss
engrave etch fasten filter flatten fold fumigate gild glaze graft grate grind hem hoist hone imprint
inflate insulate knead lacquer laminate level lubricate magnetise marinate mend meter mince mould mulch
navigate notch oil pad peel perforate pickle plait plane plaster polish prime prune pulverise punch purge
quench rack rake ream recoil refill reheat rewind rinse rivet roast rotate sand scour scrape screen seal
sharpen shear shred shuffle sieve sift skim slice smoke soak solder splice spool sprinkle stack stain
stamp steam stencil sterilise stitch strain straighten stretch strip swab tally tamp temper thaw thread
tilt tint toast trim tune twist unclog varnish vent wax weave weld whittle winch wind wring zip
""".split()
_ONSETS = """
b bl br c ch cl cr d dr f fl fr g gl gr h j k kl kr l m n p ph pl pr qu r s sc sh sk sl sm sn sp st str
sw t th tr tw v w wh x y z
""".split()
_VOWELS = 'a a a e e e i i o o o u u ai au ea ee ei ia ie io oa oi oo ou y'.split()
_ENDS = [''] * 14 + """
b ck d f g k l ll m n nd ng nk nt p r rd rk rm rn rt s sh sk ss st t th x z
""".split()
_LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ'


_SIMPLE = 'b d f g h j k l m n p r s t v w z'.split()
_CLUSTERS = 'bl br cr dr fl fr gl gr kl kr pl pr qu sk sl sm sn sp spl spr st str sw thr tr tw vl vr zl zw'.split()
_CODAS = 'b ck d ff ft g k lb ld lk lm lp lt m mp n nd ng nk nt p ps r rb rd rf rg rk rm rn rp rt sh sk sp ss st t x zz'.split()
_TAILS = 'a o i y u el en er et ic id ig il im in ip ix le ock oid ol on oo op or um us ette ling mer nix ple ston tron zle'.split()


def _plain_word(rng: random.Random) -> str:
    """Invent a word as stories and tests invent them: closed syllables, short vowels, a tail."""
    def start() -> str:
        return rng.choice(_SIMPLE if rng.random() < 0.55 else _CLUSTERS)

    first = start() + rng.choice('aeiou')
    roll = rng.random()
    if roll < 0.25:
        return first + rng.choice(_CODAS)
    if roll < 0.6:
        return first + rng.choice(_CODAS) + rng.choice(_TAILS)
    if roll < 0.85:
        return first + rng.choice(_SIMPLE) + rng.choice('aeiou') + rng.choice(_CODAS)
    return first + rng.choice(_CODAS) + start() + rng.choice('aeiou') + rng.choice(_CODAS)


def syllables(rng: random.Random) -> str:
    """Invent a word of one to three syllables, or as another language would."""
    if rng.random() < 0.4:
        return coined.coin(rng)
    if rng.random() < 0.45:
        return _plain_word(rng)
    count = rng.choices((1, 2, 3), (1, 5, 2))[0]
    word = ''.join(
        rng.choice(_ONSETS if i == 0 or rng.random() < 0.85 else [''])
        + rng.choice(_VOWELS) + (rng.choice(_ENDS) if i == count - 1 or rng.random() < 0.25 else '')
        for i in range(count))
    return word if len(word) > 2 else word + rng.choice(('ro', 'nix', 'bel', 'ta'))


def first_name(rng: random.Random) -> str:
    """Name a person by a first name."""
    name = rng.choice(_FIRST) if rng.random() < 0.75 else syllables(rng)
    return name.capitalize()


def last_name(rng: random.Random) -> str:
    """Compose a family name."""
    return (rng.choice(_LAST_A) + rng.choice(_LAST_B)).capitalize()


def full_name(rng: random.Random) -> str:
    """Name a person in one of the usual ways."""
    roll = rng.random()
    if roll < 0.45:
        return first_name(rng)
    if roll < 0.65:
        return f'{first_name(rng)} {last_name(rng)}'
    title = rng.choice(('Mr', 'Mrs', 'Ms', 'Dr', 'Professor', 'Nurse', 'Doctor', 'Captain'))
    return f'{title} {last_name(rng)}' if roll < 0.9 else last_name(rng)


def place_name(rng: random.Random) -> str:
    """Compose the name of a place: `heron gallery`, `Ashford wharf`, `willow court`."""
    first = rng.choice(_PLACE_A)
    roll = rng.random()
    if roll < 0.15:
        first = (rng.choice(_LAST_A) + rng.choice(_LAST_B)).lower()
    elif roll < 0.3:
        first = syllables(rng)
    elif roll < 0.4:
        first = rng.choice(_ADJECTIVES)
    return f'{first} {rng.choice(_PLACE_B)}'


def thing(rng: random.Random) -> str:
    """Name a thing that is seldom spoken of, or none that exists."""
    roll = rng.random()
    if roll < 0.15:
        return syllables(rng)
    noun = rng.choice(_NOUNS)
    if roll < 0.4:
        return f'{rng.choice(_ADJECTIVES)} {noun}'
    if roll < 0.5:
        return f'{rng.choice(_NOUNS)} {noun}'
    return f'{rng.choice(_PLACE_A)} {noun}' if roll < 0.58 else noun


def adjective(rng: random.Random) -> str:
    """Return a rarer adjective."""
    return rng.choice(_ADJECTIVES)


def verb(rng: random.Random) -> str:
    """Return a verb of some craft."""
    return rng.choice(_VERBS)


def noun(rng: random.Random) -> str:
    """Return a plain rare noun."""
    return rng.choice(_NOUNS)


def any_word(rng: random.Random) -> str:
    """Return any rare or invented word."""
    roll = rng.random()
    if roll < 0.3:
        return syllables(rng)
    pool = (_NOUNS, _ADJECTIVES, _PLACE_A, _PLACE_B, _VERBS)[rng.randrange(5)]
    return rng.choice(pool)


def code(rng: random.Random) -> str:
    """Return a code of letters and digits, as labels and part numbers are."""
    letters = ''.join(rng.choice(_LETTERS) for _ in range(rng.randint(1, 3)))
    digits = ''.join(rng.choice('0123456789') for _ in range(rng.randint(1, 4)))
    style = rng.randrange(7)
    if style == 0:
        return f'{letters}-{digits}'
    if style == 1:
        return f'{letters}{digits}'
    if style == 2:
        return f'{digits}{letters}'
    if style == 3:
        return f'{syllables(rng)}_{digits}'
    if style == 4:
        return f'{letters}{digits}-{rng.choice(_LETTERS)}'
    return f'{letters}-{digits}-{rng.randint(1, 99)}' if style == 5 else f'{letters.lower()}{digits}'


def pools() -> dict[str, set[str]]:
    """Return the closed lists that words are composed from."""
    return {
        'first_names': set(_FIRST), 'name_parts': {*_LAST_A, *_LAST_B},
        'place_parts': {*_PLACE_A, *_PLACE_B}, 'things': set(_NOUNS),
        'adjectives': set(_ADJECTIVES), 'verbs': set(_VERBS),
    }
