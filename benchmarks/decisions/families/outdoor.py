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


"""Skills of five robots that meet weather and visitors: boat, drone, museum, cleaner, crawler."""

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
from .values import STATEMENTS

PIERS = ('heron_pier', 'plover_pier', 'fuel_jetty', 'ice_quay', 'guest_float', 'old_slipway')
PADS = ('pad_maple', 'pad_thistle', 'barn_roof', 'hill_pad')
HALLS = ('hall_of_clocks', 'whale_room', 'coin_cabinet', 'amber_gallery', 'gift_counter')
EXHIBITS = ('steam_engine', 'bronze_lion', 'silk_map', 'glass_organ', 'stone_axe')
ZONES = ('parcel_nook', 'print_corner', 'board_room', 'tea_kitchen', 'south_stairs', 'copy_niche')

BOAT = (
    Skill(
        name='keep_compass_course', description='Steer the boat on a compass course.',
        parameters={'course': integer('Course', 0, 359, 'deg')}, slots=drawn(course=whole(0, 355, 5)),
        plain=('steer course {course}', 'steer a course of {course} degrees'),
        free=('set the bow to {course} degrees', 'sail on {course} degrees'),
    ),
    Skill(
        name='boat_engine_share', description='Set the power of the engine.',
        parameters={'power': integer('Power', 0, 100, 'percent')},
        slots=drawn(power=whole(10, 100, 5)),
        plain=('set the engine to {power} percent', 'set the engine power to {power} %'),
        free=('run the engine at {power} percent', 'give the engine {power} percent'),
    ),
    Skill(
        name='let_anchor_fall', description='Let the anchor down.',
        plain=('let the anchor down', 'let down the anchor'),
        free=('drop the anchor', 'anchor here'),
    ),
    Skill(
        name='heave_anchor', description='Pull the anchor up.',
        plain=('pull the anchor up', 'pull up the anchor'),
        free=('raise the anchor', 'get the anchor out of the water'),
    ),
    Skill(
        name='moor_at', description='Go to a pier and tie up there.',
        parameters={'pier': enum('Which pier.', *PIERS)}, slots=drawn(pier=pick(*PIERS)),
        plain=('go to the {pier} and tie up there', 'tie up at the {pier}'),
        free=('moor at the {pier}', 'bring us to the {pier}', 'take the boat to the {pier}'),
    ),
    Skill(
        name='hold_station', description='Keep the boat where it is for a time.',
        parameters={'duration': integer('How long', 1, 60, 'min')},
        slots=drawn(duration=whole(2, 60, 2)),
        plain=('keep the boat here for {duration} minutes', 'keep the position for {duration} min'),
        free=('stay on this spot for {duration} minutes', 'hold position for {duration} minutes'),
    ),
    Skill(
        name='fog_horn', description='Sound the fog horn.',
        plain=('sound the fog horn',), free=('use the fog horn', 'blow the fog horn'),
    ),
)  # fmt: skip

DRONE = (
    Skill(
        name='climb_to', description='Climb or sink to a height above the ground.',
        parameters={'height': number('Height', 1, 60, 'm')}, slots=drawn(height=decimal(2, 60, 0.5)),
        plain=('climb to {height} m', 'climb to a height of {height} metres',
               'sink to {height} metres'),
        free=('fly at a height of {height} metres', 'go up to {height} m'),
    ),
    Skill(
        name='fly_leg', description='Fly a straight leg over the ground.',
        parameters={'north': number('Metres to the north', -200, 200, 'm'),
                    'east': number('Metres to the east', -200, 200, 'm')},
        slots=drawn(north=whole(10, 90, 10), east=whole(10, 90, 10)),
        plain=('fly {north} m north and {east} m east', 'fly a leg, north {north} m, east {east} m'),
        free=('go {north} metres to the north and {east} metres to the east',),
    ),
    Skill(
        name='land_on', description='Land on a pad.',
        parameters={'pad': enum('Which pad.', *PADS)}, slots=drawn(pad=pick(*PADS)),
        plain=('land on {pad}', 'land on the {pad}'),
        free=('come down on {pad}', 'touch down on {pad}', 'set yourself down on {pad}'),
    ),
    Skill(
        name='shoot_photos', description='Take photos of the field below.',
        parameters={'count': integer('How many', 1, 50)}, slots=drawn(count=whole(2, 50)),
        plain=('take {count} photos', 'take {count} photos of the field'),
        free=('take {count} pictures', 'make {count} pictures of the field below'),
    ),
    Skill(
        name='spray_row', description='Spray one row of the field.',
        parameters={'row': integer('Number of the row', 1, 80),
                    'amount': number('Amount', 0.5, 10, 'litres')},
        slots=drawn(row=whole(1, 80), amount=decimal(0.5, 10, 0.5)),
        plain=('spray row {row} with {amount} litres', 'spray {amount} litres on row {row}'),
        free=('put {amount} litres on row {row}',),
    ),
    Skill(
        name='flash_light_switch', description='Switch the strobe light on or off.',
        parameters={'on': flag('true: on, false: off.')}, slots=drawn(on=switch),
        plain=('switch the strobe light {on}', 'turn the strobe {on}'),
        free=('put the flashing light {on}',),
    ),
)  # fmt: skip

MUSEUM = (
    Skill(
        name='walk_to_hall', description='Walk to a hall of the museum.',
        parameters={'hall': enum('Which hall.', *HALLS)}, slots=drawn(hall=pick(*HALLS)),
        plain=('walk to the {hall}', 'walk over to the {hall}'),
        free=('go to the {hall}', 'head to the {hall}', 'get yourself to the {hall}'),
    ),
    Skill(
        name='explain_exhibit', description='Explain an exhibit to the visitors.',
        parameters={'exhibit': enum('Which exhibit.', *EXHIBITS)},
        slots=drawn(exhibit=pick(*EXHIBITS)),
        plain=('explain the {exhibit}', 'explain the {exhibit} to the visitors'),
        free=('tell the guests about the {exhibit}', 'talk to the group about the {exhibit}'),
    ),
    Skill(
        name='greet_group', description='Welcome a group in its language.',
        parameters={'language': enum('Language.', 'dutch', 'finnish', 'korean', 'greek')},
        slots=drawn(language=pick('dutch', 'finnish', 'korean', 'greek')),
        plain=('welcome the group in {language}', 'welcome these people in {language}'),
        free=('say hello to the group in {language}', 'greet our guests in {language}'),
    ),
    Skill(
        name='speak_aloud', description='Say a sentence so that all hear it.',
        parameters={'words': text('What to say.')}, slots=drawn(words=pick(*STATEMENTS)),
        plain=('say aloud: {words}', 'say: {words}'),
        free=('announce that {words}', 'tell everybody that {words}'),
    ),
    Skill(
        name='spot_lamp', description='Light up one exhibit with a lamp, or not any more.',
        parameters={'exhibit': enum('Which exhibit.', *EXHIBITS), 'on': flag('true: lit.')},
        slots=drawn(exhibit=pick(*EXHIBITS), on=switch),
        plain=('switch the lamp of the {exhibit} {on}', 'turn the lamp at the {exhibit} {on}'),
        free=('put the light on the {exhibit} {on}',),
    ),
    Skill(
        name='hand_out', description='Hand out something to a visitor.',
        parameters={'thing': text('What to hand out.'), 'count': integer('How many', 1, 9)},
        required=('thing',), slots=drawn(thing=pick(*ITEMS)),
        plain=('hand out the {thing}', 'hand the {thing} to the visitor'),
        free=('give the visitor the {thing}', 'pass the {thing} to this man'),
    ),
)  # fmt: skip

CLEANER = (
    Skill(
        name='scrub_zone', description='Scrub the floor of a zone.',
        parameters={'zone': enum('Which zone.', *ZONES), 'passes': integer('How often', 1, 4)},
        required=('zone',), slots=drawn(zone=pick(*ZONES)),
        plain=('scrub the floor of the {zone}', 'scrub the {zone}'),
        free=('clean the floor in the {zone}', 'wash the {zone} floor'),
    ),
    Skill(
        name='go_to_zone', description='Drive to a zone without cleaning it.',
        parameters={'zone': enum('Which zone.', *ZONES)}, slots=drawn(zone=pick(*ZONES)),
        plain=('drive to the {zone}', 'just drive to the {zone}'),
        free=('go over to the {zone}', 'head to the {zone}'),
    ),
    Skill(
        name='empty_basket', description='Empty the waste basket of a zone.',
        parameters={'zone': enum('Which zone.', *ZONES)}, slots=drawn(zone=pick(*ZONES)),
        plain=('empty the waste basket of the {zone}', 'empty the basket in the {zone}'),
        free=('take out the trash from the {zone}', 'get rid of the waste in the {zone}'),
    ),
    Skill(
        name='brush_speed', description='Set how fast the brush turns.',
        parameters={'speed': integer('Speed', 0, 100, 'percent')},
        slots=drawn(speed=whole(10, 100, 10)),
        plain=('set the brush to {speed} percent', 'set the speed of the brush to {speed} %'),
        free=('let the brush turn at {speed} percent',),
    ),
    Skill(
        name='refill_tank', description='Fill the water tank at the tap.',
        plain=('fill the water tank', 'fill the tank at the tap'),
        free=('get fresh water', 'top up the water tank'),
    ),
    Skill(
        name='dry_air', description='Blow warm air to dry the floor.',
        parameters={'duration': integer('How long', 1, 30, 'min')}, slots=drawn(duration=whole(1, 30)),
        plain=('blow warm air for {duration} minutes', 'dry the floor for {duration} minutes'),
        free=('let warm air dry the floor for {duration} minutes',),
    ),
)  # fmt: skip

CRAWLER = (
    Skill(
        name='crawl', description='Crawl along the pipe, relative to here; negative is backwards.',
        parameters={'distance': number('Distance', -20, 20, 'm')},
        slots=drawn(distance=decimal(0.5, 20, 0.5)),
        plain=('crawl {distance} m along the pipe', 'crawl {distance} metres'),
        free=('crawl on for {distance} metres', 'move {distance} m further into the pipe'),
    ),
    Skill(
        name='tilt_camera', description='Tilt the camera up; negative tilts it down.',
        parameters={'angle': integer('Angle', -45, 45, 'deg')}, slots=drawn(angle=whole(5, 45, 5)),
        plain=('tilt the camera up by {angle} degrees', 'tilt the camera up {angle} deg'),
        free=('let the camera look {angle} degrees up',),
    ),
    Skill(
        name='pipe_lamp', description='Set the brightness of the front lamp.',
        parameters={'level': integer('Brightness', 0, 100, 'percent')},
        slots=drawn(level=whole(10, 100, 10)),
        plain=('set the front lamp to {level} percent', 'set the front lamp to {level} %'),
        free=('put the front light at {level} percent',),
    ),
    Skill(
        name='mark_crack', description='Record a crack in the pipe wall.',
        parameters={'crack': record('The crack.', width=number('Width', 0, 50, 'mm'),
                                    side=enum('Where.', 'top', 'bottom', 'left', 'right'))},
        slots=lambda rng: _crack(rng),
        plain=('record a crack, {width} mm wide, at the {side}',
               'record a crack of {width} mm at the {side}'),
        free=('note down a crack of {width} mm at the {side}',),
    ),
    Skill(
        name='visit_joints', description='Inspect joints of the pipe, in the order given.',
        parameters={'joints': array('Numbers of the joints.', {'type': 'integer'})},
        slots=lambda rng: _joints(rng),
        plain=('inspect the joints {joints}', 'inspect joints {joints}'),
        free=('have a look at the joints {joints}',),
    ),
    Skill(
        name='take_sample', description='Take a water sample into a bottle.',
        parameters={'bottle': text('Label of the bottle.')},
        slots=drawn(bottle=pick('W-16', 'W-29', 'G-340', 'T-8')),
        plain=('take a water sample into bottle {bottle}', 'take a sample, bottle {bottle}'),
        free=('fill bottle {bottle} with water for the lab',),
    ),
)  # fmt: skip


def _crack(rng):
    width, side = rng.randint(1, 50), rng.choice(('top', 'bottom', 'left', 'right'))
    return {'crack': ({'width': width, 'side': side}, ''), 'width': (None, str(width)),
            'side': (None, side)}


def _joints(rng):
    joints = rng.sample(range(2, 40), rng.randint(2, 4))
    spoken = ', '.join(map(str, joints[:-1])) + f' and {joints[-1]}'
    return {'joints': (joints, spoken)}
