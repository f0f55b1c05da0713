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


"""Skills of five robots that work under a roof: greenhouse, library, store, ward, workbench."""

from __future__ import annotations

from .kit import array
from .kit import decimal
from .kit import drawn
from .kit import enum
from .kit import flag
from .kit import integer
from .kit import number
from .kit import pick
from .kit import record
from .kit import Skill
from .kit import switch
from .kit import text
from .kit import whole
from .values import ITEMS
from .values import PEOPLE
from .values import TITLES

BENCHES = ('fern_bench', 'moss_table', 'cactus_row', 'seed_rack', 'rain_barrel', 'compost_gate')
SECTIONS = ('sea_charts', 'poetry', 'atlases', 'folk_tales', 'old_newspapers', 'sheet_music')
DOORWAYS = ('ramp_9', 'ramp_11', 'cold_cellar', 'wrapping_desk', 'label_corner', 'gate_walnut')
WARDS = ('ward_aspen', 'ward_birch', 'ward_cedar', 'blood_lab', 'linen_room', 'night_desk')
TRAYS = ('left_tray', 'right_tray', 'scrap_tray', 'parts_tray')

GREENHOUSE = (
    Skill(
        name='roll_to_bench', description='Drive the cart to a named spot in the greenhouse.',
        parameters={'spot': enum('Name of the spot.', *BENCHES)}, slots=drawn(spot=pick(*BENCHES)),
        plain=('drive to the {spot}', 'drive the cart to the {spot}', 'go to the {spot}'),
        free=('head for the {spot}', 'move over to the {spot}', 'make your way to the {spot}',
              'come to the {spot}'),
    ),
    Skill(
        name='water_bed', description='Water one bed of plants for a time.',
        parameters={'bed': integer('Number of the bed', 1, 24),
                    'duration': integer('How long', 1, 120, 's')},
        slots=drawn(bed=whole(1, 24), duration=whole(5, 120, 5)),
        plain=('water bed {bed} for {duration} seconds', 'water bed number {bed} for {duration} s'),
        free=('give bed {bed} water for {duration} seconds',
              'pour water on bed {bed} for {duration} seconds'),
    ),
    Skill(
        name='set_roof_vents', description='Open the roof vents this far; 0 closes them.',
        parameters={'opening': integer('How far they are open', 0, 100, 'percent')},
        slots=drawn(opening=whole(5, 100, 5)),
        plain=('open the roof vents to {opening} percent', 'set the vents to {opening} %'),
        free=('let some air in with the vents at {opening} percent',
              'bring the vents to {opening} percent'),
    ),
    Skill(
        name='grow_lamps', description='Switch the grow lamps on or off.',
        parameters={'on': flag('true: on, false: off.')}, slots=drawn(on=switch),
        plain=('switch the grow lamps {on}', 'turn {on} the grow lamps'),
        free=('put the lamps over the plants {on}', 'turn the lamps for the plants {on}'),
    ),
    Skill(
        name='test_soil', description='Measure how wet the soil of one bed is.',
        parameters={'bed': integer('Number of the bed', 1, 24)}, slots=drawn(bed=whole(1, 24)),
        plain=('measure how wet the soil of bed {bed} is', 'measure the soil of bed {bed}'),
        free=('check the soil in bed {bed}', 'find out if the soil of bed {bed} is dry'),
    ),
    Skill(
        name='plant_note', description='Write a note about a plant into the garden diary.',
        parameters={'plant': text('Name of the plant.'), 'note': text('What to write.')},
        slots=drawn(plant=pick('tall basil', 'lemon tree', 'blue iris', 'chili seedling'),
                    note=pick('needs a bigger pot', 'has yellow leaves', 'looks healthy again')),
        plain=('write a note about the {plant}: {note}',),
        free=('put into the diary about the {plant}: {note}',),
    ),
)  # fmt: skip

LIBRARY = (
    Skill(
        name='fetch_volume', description='Bring a book from the stacks to the reading desk.',
        parameters={'title': text('Title of the book.')}, slots=drawn(title=pick(*TITLES)),
        plain=('bring the book {title}', 'bring the book {title} to the reading desk'),
        free=('get the book {title}', 'fetch the book {title}', 'come back with the book {title}'),
    ),
    Skill(
        name='reshelve_title', description='Put a returned book back on a shelf.',
        parameters={'title': text('Title of the book.'), 'shelf': text('Code of the shelf.')},
        slots=drawn(title=pick(*TITLES), shelf=pick('QK-14', 'RV-208', 'LM-77', 'XB-5', 'HW-331')),
        plain=('put the book {title} back on shelf {shelf}', 'put {title} on shelf {shelf}'),
        free=('return {title} to shelf {shelf}', 'store the book {title} on shelf {shelf} again'),
    ),
    Skill(
        name='lead_reader', description='Lead a visitor to a section of the library.',
        parameters={'section': enum('Section.', *SECTIONS)}, slots=drawn(section=pick(*SECTIONS)),
        plain=('lead the visitor to the {section} section', 'lead this visitor to {section}'),
        free=('show this guest the way to {section}', 'guide the reader to {section}',
              'take this lady to the {section} section'),
    ),
    Skill(
        name='hush', description='Ask the people around to be quiet.',
        plain=('ask the people to be quiet', 'ask everybody around to be quiet'),
        free=('tell the people to keep their voices down', 'get the people here to be silent'),
    ),
    Skill(
        name='count_free_seats', description='Count the free seats on one floor.',
        parameters={'floor': integer('Floor', 0, 6)}, slots=drawn(floor=whole(0, 6)),
        plain=('count the free seats on floor {floor}', 'count free seats on floor {floor}'),
        free=('find out how many seats on floor {floor} are empty',),
    ),
    Skill(
        name='reading_lights', description='Set the brightness of the reading lights.',
        parameters={'level': integer('Brightness', 0, 100, 'percent')},
        slots=drawn(level=whole(10, 100, 10)),
        plain=('set the reading lights to {level} percent',
               'set the brightness of the reading lights to {level} %'),
        free=('put the lights for the readers at {level} percent',),
    ),
)  # fmt: skip

STORE = (
    Skill(
        name='haul_to', description='Drive the fork truck to a named door or desk.',
        parameters={'target': enum('Door or desk.', *DOORWAYS)},
        slots=drawn(target=pick(*DOORWAYS)),
        plain=('drive to {target}', 'drive the truck to {target}'),
        free=('go to {target}', 'head over to {target}', 'get the truck to {target}'),
    ),
    Skill(
        name='fork_elevation', description='Raise or lower the forks to a height above the floor.',
        parameters={'height': number('Height', 0, 3, 'm')}, slots=drawn(height=decimal(0.1, 3, 0.1)),
        plain=('raise the forks to {height} m', 'lower the forks to {height} metres',
               'bring the forks to a height of {height} m'),
        free=('put the forks at {height} metres',),
    ),
    Skill(
        name='read_label', description='Read the label of a pallet with the scanner.',
        parameters={'pallet': text('Code of the pallet.')},
        slots=drawn(pallet=pick('PX-204', 'PX-871', 'ZU-33', 'ZU-918', 'KW-5002')),
        plain=('read the label of pallet {pallet}', 'read the label on pallet {pallet}'),
        free=('scan pallet {pallet}', 'scan the sticker of pallet {pallet}'),
    ),
    Skill(
        name='weigh_load', description='Weigh what lies on the forks.',
        plain=('weigh the load', 'weigh what lies on the forks'),
        free=('find out how heavy the load is', 'tell how many kilos are on the forks'),
    ),
    Skill(
        name='stack_on', description='Set the pallet that is carried on top of another one.',
        parameters={'below': text('Code of the pallet below.')},
        slots=drawn(below=pick('PX-310', 'PX-655', 'ZU-12', 'KW-4100')),
        plain=('set the pallet on top of {below}', 'set this pallet on {below}'),
        free=('stack it on pallet {below}', 'put the pallet that you carry on top of {below}'),
    ),
    Skill(
        name='blow_horn', description='Blow the horn some times.',
        parameters={'times': integer('How often', 1, 5)}, slots=drawn(times=whole(2, 5)),
        plain=('blow the horn {times} times', 'blow your horn {times} times'),
        free=('honk {times} times', 'give {times} honks'),
    ),
)  # fmt: skip

WARD = (
    Skill(
        name='visit_ward', description='Drive to a ward or room of the hospital.',
        parameters={'ward': enum('Ward or room.', *WARDS)}, slots=drawn(ward=pick(*WARDS)),
        plain=('drive to {ward}', 'drive to the {ward}'),
        free=('go to {ward}', 'go over to {ward}', 'make a trip to {ward}'),
    ),
    Skill(
        name='release_drawer', description='Unlock one drawer so that a nurse can reach in.',
        parameters={'drawer': integer('Number of the drawer', 1, 8)},
        slots=drawn(drawer=whole(1, 8)),
        plain=('unlock drawer {drawer}', 'unlock drawer number {drawer}'),
        free=('open drawer {drawer}', 'let the nurse reach into drawer {drawer}'),
    ),
    Skill(
        name='page_person', description='Send a short message to a person of the staff.',
        parameters={'person': text('Name of the person.'), 'message': text('The message.')},
        slots=drawn(person=pick(*PEOPLE), message=pick(
            'the samples are ready', 'room 14 needs a blanket', 'the lift is out of order',
            'your tea is cold', 'the visitor has arrived')),
        plain=('send a message to {person}: {message}', 'send {person} the message: {message}'),
        free=('tell {person} that {message}', 'let {person} know that {message}'),
    ),
    Skill(
        name='deliver_tray', description='Bring a meal tray to a patient room.',
        parameters={'room': integer('Number of the room', 100, 499)},
        slots=drawn(room=whole(101, 499)),
        plain=('bring a meal tray to room {room}', 'bring the tray to room {room}'),
        free=('deliver the meal for room {room}', 'take the food to room {room}'),
    ),
    Skill(
        name='quiet_hours', description='Switch the quiet night mode on or off.',
        parameters={'on': flag('true: on, false: off.')}, slots=drawn(on=switch),
        plain=('switch night mode {on}', 'turn the quiet night mode {on}'),
        free=('put night mode {on}',),
    ),
    Skill(
        name='clean_hands', description='Give out hand cleaning gel.',
        parameters={'portions': integer('How many portions', 1, 4)},
        slots=drawn(portions=whole(2, 4)),
        plain=('give out {portions} portions of cleaning gel', 'give {portions} portions of gel'),
        free=('hand out {portions} portions of gel for the hands',),
    ),
)  # fmt: skip

BENCH = (
    Skill(
        name='grip_item', description='Grip an item that lies on the bench.',
        parameters={'item': text('Name of the item.')}, slots=drawn(item=pick(*ITEMS)),
        plain=('grip the {item}', 'grip the {item} on the bench'),
        free=('pick up the {item}', 'take the {item}', 'grab the {item}', 'get hold of the {item}'),
    ),
    Skill(
        name='drop_into', description='Put the item in the gripper into a tray.',
        parameters={'tray': enum('Which tray.', *TRAYS)}, slots=drawn(tray=pick(*TRAYS)),
        plain=('put it into the {tray}', 'put the item into the {tray}'),
        free=('let go of it over the {tray}', 'set it down in the {tray}', 'place it in the {tray}'),
    ),
    Skill(
        name='joint_turn', description='Turn one joint by an angle, relative to where it is.',
        parameters={'joint': enum('Which joint.', 'shoulder', 'elbow', 'wrist'),
                    'angle': integer('Angle', -180, 180, 'deg')},
        slots=drawn(joint=pick('shoulder', 'elbow', 'wrist'), angle=whole(10, 90, 10)),
        plain=('turn the {joint} by {angle} degrees', 'turn the {joint} joint by {angle} deg'),
        free=('rotate the {joint} by {angle} degrees', 'move the {joint} {angle} degrees on'),
    ),
    Skill(
        name='tip_to', description='Move the tip of the arm to a point of the bench.',
        parameters={'point': record('The point.', x=number('Right', -50, 50, 'cm'),
                                    y=number('Forward', 0, 80, 'cm'))},
        slots=lambda rng: _point(rng),
        plain=('move the tip to x {x} cm, y {y} cm', 'move the tip of the arm to x {x}, y {y} cm'),
        free=('bring the arm to x {x} cm and y {y} cm',),
    ),
    Skill(
        name='drive_screws', description='Tighten screws, in the order given.',
        parameters={'screws': array('Codes of the screws.', {'type': 'string'})},
        slots=lambda rng: _screws(rng),
        plain=('tighten the screws {screws}', 'tighten screws {screws}'),
        free=('fasten the screws {screws}',),
    ),
    Skill(
        name='arm_to_rest', description='Fold the arm into its rest position.',
        plain=('fold the arm', 'fold the arm into its rest position'),
        free=('put the arm away', 'bring the arm to rest'),
    ),
)  # fmt: skip


def _point(rng):
    x, y = rng.randrange(-40, 41, 5), rng.randrange(5, 80, 5)
    return {'point': ({'x': x, 'y': y}, ''), 'x': (None, str(x)), 'y': (None, str(y))}


def _screws(rng):
    codes = rng.sample(('S2', 'S3', 'S5', 'S7', 'S8', 'S11', 'S14'), rng.randint(2, 4))
    return {'screws': (codes, ', '.join(codes[:-1]) + ' and ' + codes[-1])}
