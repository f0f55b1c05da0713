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

"""What speech recognition makes of words: homophones, joined and parted words, lost sounds."""

from __future__ import annotations

import random
import re

_PAIRS = """
ail ale|aisle isle|allowed aloud|ant aunt|arc ark|ball bawl|bare bear|base bass|beach beech|bean been|beat beet|bell belle|berry bury|berth birth|blew blue|board bored|boar bore|bolder boulder|bow bough|brake break|bread bred|bridal bridle|broach brooch|buoy boy|cell sell|cellar seller|cent scent|cereal serial
chord cord|chute shoot|cite site|clause claws|coarse course|core corps|creak creek|cruise crews|currant current|cymbal symbol|dear deer|dew due|die dye|doe dough|draft draught|ewe you|fair fare|feat feet|fir fur|flair flare|flea flee|flour flower|foul fowl|gate gait|gilt guilt|grate great|groan grown|guest guessed
hail hale|hair hare|hall haul|hangar hanger|heal heel|hear here|heard herd|higher hire|hoarse horse|hole whole|idle idol|jam jamb|key quay|knight night|knot not|lain lane|lead led|leak leek|loan lone|made maid|mail male|main mane|maize maze|mantel mantle|meat meet|medal metal|mind mined|miner minor|missed mist|moor more
morning mourning|mussel muscle|naval navel|nose knows|oar ore|one won|packed pact|pail pale|pain pane|pair pear|pause paws|pea pee|peace piece|peak peek|peal peel|pedal peddle|peer pier|plain plane|pole poll|poor pour|pray prey|prince prints|profit prophet|rain reign|raise rays|rap wrap|read red|reed read|rest wrest
right write|ring wring|road rode|roll role|root route|rose rows|rote wrote|sail sale|sauce source|saw sore|scene seen|sea see|seam seem|sew so|shear sheer|shoe shoo|side sighed|sink sync|soar sore|sole soul|some sum|son sun|stair stare|stake steak|stationary stationery|steal steel|straight strait|sweet suite|tail tale
tea tee|team teem|tide tied|tire tyre|toad towed|toe tow|told tolled|tray trey|vain vein|vale veil|waist waste|wait weight|ware wear|warn worn|way weigh|weak week|weather whether|wheel weal|which witch|wine whine|wood would|yoke yolk|lab lap|office of is|kitchen chicken|dock duck|desk disk|shelf self|box fox|cup cap|mug muck
bin been|pan ban|pot pod|bag back|bed bet|rack wreck|lamp lamb|loft lost|attic addict|garden guard in|gallery galley|bottle battle|table tabel|tablet table it|bucket buck it|carpet car pet|hammer ham her|ladder latter|letter later|locker lock her|mirror mere or|napkin nap kin|pillow pill oh|printer print her|scanner scan her
station stay shun|storage store age|trolley trawl he|window win dough|wrench ranch|corridor corry door|elevator alleviator|entrance entrants|workshop work shop|warehouse where house|greenhouse green house|storeroom store room|bathroom bath room|toolbox tool box|notebook note book|headlight head light|mailbox mail box|backyard back yard
alpha alfa|bravo brave oh|delta dealt a|echo eco|normal norm all|manual man you all|silent sigh lent|quick quack|slow slough|fast fest|eco echo|auto otto|high hi|low lo|medium median|deep deeper|gentle gental|strong strung|fine find|left lift|front frond|green grin|yellow yell oh|purple purr pull|orange or inch|black block|white wide|brown browne|silver sliver|gold cold
brew brue|mow moe|knead need|weave we of|weave weeve|wring rink|wipe wife|wash watch|water what are|weld well|wind whined|wax whacks|whip weep|whisk wisk|vacuum back you|stir steer|stir store|sweep sleep|scrub scrap|scrape scrip|shake shaik|sharpen sharp pen|shine sign|shut shot|sift swift|slice lice|smooth smooths|soak sock|sort sought|spray prey|squeeze squeeze it|stack stag|stamp stem|stitch ditch|tighten titan
fold fault|fold foal|fill feel|fill phil|file vile|fetch vetch|feed feet|freeze frees|fry free|grease greece|grill girl|grind grinned|grind crimed|glue blue|guide guy|hang hank|heat heed|hoist voiced|hold old|hook huck|iron i earn|lay lei|level lever|lift left|lift lived|load loathe|lock log|loosen lucent|lower lore|lower low are|measure major|melt felt|mend meant|mix mics|mop map|oil all|open hoping|pack back|paint pained
park bark|paste paced|pile pyle|plant planned|plough plow|polish polite|pull pool|pump bump|push bush|raise race|rake break|rinse rins|rinse prince|roast roost|rock rogue|rub rob|salt sold|seal seel|search church|serve surf|shave save|shovel shuffle|sink think|spin spine|spread spred|start star|stretch stress|tape tip|tilt till it|trim dream|turn torn|unlock and lock|unload and load|wake weak|warm worm|weigh whey|wrap rep
dough though|cloth clothe|clothes close|flower flow her|milk milch|bread brad|cheese jeez|butter batter|sugar shook her|coffee copy|juice use|soup soap|salad salaried|plate played|glass class|knife nice|spoon spawn|fork folk|towel tower|blanket blank it|curtain certain|carpet car bed|candle handle|basket bask it|barrel bear all|ladder lather|hose whose|rope robe|chain change|valve velvet|nozzle nuzzle|filter felt her
engine injun|motor mortar|battery bad tree|screen scream|camera camber|antenna and tenor|radar raider|anchor anger|crane grain|hatch hedge|ramp ram|gate gait|fence fens|roof proof|cellar sell her|nursery nurse ree|porch poach|hallway hall way|balcony bell co knee|shed shad|barn born|field filled|pond bond|hedge edge|lawn lorn|tree three|leaf leave|soil soy all|seed cede|goat coat|sheep ship|cow how|hen hand|pig big|mare mayor
two to|four for|eight ate|six sicks|ten tan|five hive|three free|seven sever|nine mine|hundred hundert|half have|quarter quota|metre meter|degree decree|minute minuet|second sekund
""".replace('\n', '|').strip('|').split('|')
HOMOPHONES: dict[str, list[str]] = {}
for _pair in _PAIRS:
    _one, _, _two = _pair.partition(' ')
    HOMOPHONES.setdefault(_one, []).append(_two)
    if ' ' not in _two:
        HOMOPHONES.setdefault(_two, []).append(_one)


def by_ear(rng: random.Random, text: str) -> str:
    """Write one word as another that sounds alike, or lose a sound; the same where nothing fits."""
    words = text.split(' ')
    known = [i for i, word in enumerate(words) if word in HOMOPHONES]
    if known:
        at = rng.choice(known)
        words[at] = rng.choice(HOMOPHONES[words[at]])
        return ' '.join(words)
    at = rng.randrange(len(words))
    words[at] = _worn(rng, words[at])
    return ' '.join(words)


def _worn(rng: random.Random, word: str) -> str:
    """Lose or double a letter, or part a word, where that keeps its sound nearly."""
    if len(word) < 5 or not word.isalpha():
        return word
    roll = rng.random()
    if roll < 0.3:
        return re.sub(r'(.)\1', r'\1', word, count=1) if re.search(r'(.)\1', word) else re.sub('(?<=.)[aeiou](?=.)', lambda m: rng.choice('aeiou'), word, count=1)
    if roll < 0.5:
        spots = [m.start() for m in re.finditer('(?<=[aeiou])[bdfgklmnprst](?=[aeiou])', word)]
        at = rng.choice(spots) if spots else 0
        return word[:at] + word[at] * 2 + word[at + 1:] if spots else word
    if roll < 0.7:
        at = rng.randrange(2, len(word) - 2)
        return f'{word[:at]} {word[at:]}'
    if roll < 0.85:
        return word[:-1] if word[-1] in 'detrshgn' else f'{word}s'
    return word[1:] if word[0] in 'haeiou' else f'{word[0]}h{word[1:]}' if word[0] in 'wrg' else word
