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
What robots can be asked to do: the skills that the package's own tools.yaml has, in many words.

A skill is a meaning with several possible names, descriptions and argument names, and the
sentences that ask for it. Catalogues draw their tools from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field


@dataclass(frozen=True)
class Arg:
    """
    One argument of a skill; `kind` says how values are made and spoken.

    `keeps_all` is for choices that the description tells of: a tool declares all of them; for numbers
    whose range is what it is.
    """

    key: str
    kind: str
    names: tuple[str, ...]
    descriptions: tuple[str, ...]
    optional: bool = False
    low: float = 0.0
    high: float = 1.0
    step: float = 1.0
    unit: str = ''
    choices: tuple[str, ...] = ()
    spoken: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    says_true: tuple[str, ...] = ()
    says_false: tuple[str, ...] = ()
    keeps_all: bool = False


@dataclass(frozen=True, eq=False)
class Skill:
    """
    A meaning: how tools that do it may be called and described, and how people ask for it.

    `gloss` is what the system text must say for that to be understood. `sets` gives for sentences
    what they mean without a word for it: arguments in the skill's own units and choices.
    """

    key: str
    names: tuple[str, ...]
    descriptions: tuple[str, ...]
    says: tuple[str, ...]
    args: tuple[Arg, ...] = ()
    is_motion: bool = False
    near: tuple[str, ...] = ()
    opposite: tuple[str, ...] = ()
    nest: tuple[str, ...] = ()
    nested: tuple[str, ...] = ()
    says_units: bool = False
    gloss: str = ''
    sets: Mapping[str, Mapping[str, str | float | bool]] = field(default_factory=dict)


_GO = '[go|go over|drive|move|head|navigate|travel|roll|make your way|proceed|walk|get|run|come]'

GO_TO = Skill(
    key='go_to',
    names=('go_to', 'navigate_to', 'goto_place', 'drive_to_place', 'move_to', 'visit', 'head_to',
           'go_to_room', 'travel_to', 'send_base_to', 'navigate', 'go', 'goto', 'base_go'),
    descriptions=('Drive to a named place.', 'Drive the base to a named place.',
                  'Go to a place on the map.', 'Navigate to a known location.',
                  'Move the robot to one of the places it knows.', 'Travel to a room.',
                  'Send the robot to a station by its name.', 'Drive to a destination by name.'),
    args=(Arg('place', 'place', ('place', 'location', 'destination', 'room', 'where', 'goal',
                                 'station', 'name', 'target', 'waypoint'),
              ('Name of the place.', 'Where to go.', 'Place name', 'Destination', 'Known place.',
               'The room to drive to.')),),
    says=(
        f'{_GO} to {{place}}', f'{_GO} to {{place}}', f'{_GO} to {{place}}',
        f'{_GO} [over|back|straight|directly|all the way|down|up|quickly|slowly] to {{place}}',
        '[return|go back|come back|drive back|get back|head back] to {place}',
        '[visit|reach|approach|enter|find|get into|see|head for|aim for|make for] {place}',
        '[get|bring|take|move|drive|send] yourself [to|over to] {place}',
        '[come|go|drive] [here |over |]to {place}[, I am waiting| where I am| and wait there|]',
        'meet [me|us|him|her|them|the guests|the visitors] [at|in] {place}',
        '!I am [waiting |standing |sitting |]in {place}, [come here|come over|join me|come to me]',
        '![you are|we need you|they need you|people need you|you are needed|I need you] [in|at] {place}',
        '!your next [stop|destination|goal|target|place|station] is {place}',
        '!the [visitors|guests|customers|people] are [at|in] {place}, [go there|drive there|go to them|meet them]',
        '!{place}[ please|, please|, quickly|]',
        '!next [stop|destination|goal] [is |]{place}',
        '!to {place}',
        '[show up|be|appear|wait|park|stand|stop by|drop by|check in] [at|in] {place}',
        'leave [this room|here|the room|now] and go to {place}',
        '[have a look|look|take a look|check what happens|see what is going on] [in|at] {place}',
        '!the robot should [go to|be in|drive to|move to|wait in] {place}',
        '!I want [you|the robot] [in|at] {place}',
        '!there is [work|a job|something] for you [in|at] {place}, go there',
        '[start|begin] driving to {place}', 'set off for {place}', 'set course for {place}',
        'deliver yourself to {place}', 'continue to {place}', 'move on to {place}',
        '[clear|vacate] this room and [go|move|drive] to {place}', '[make a trip|take a trip|make a run|take a ride] to {place}', '[swing|pop|come|go|drive] by {place}',
        '!let us meet [at|in] {place}', '!someone is [waiting|standing] [at|in] {place}, [go there|drive there|drive over]', '!off [you go |]to {place}', '[relocate|transfer|shift] [yourself |]to {place}',
        '[position|place|station] yourself [in|at] {place}', '!the people in {place} [could use|need] [your help|you], [go there|drive there]', '!we are expecting you [in|at] {place}',
        '[guide|take|lead|escort|accompany|walk|show] [me|us|him|her|them|this lady|this gentleman|the visitor|the guest|my guest|our visitors|the children|the inspector|my mother|these people|Mr Kern|Mrs Ola] to {place}',
        '[guide|take|lead|escort] [me|us|her|him|them] [over |along |safely |quickly |]to {place}', 'bring [us|her|him|them|the visitor|our guests|this lady|my son] to {place}', 'bring me [over|along|straight|safely|quickly] to {place}', '[show|tell] [me|us|him|her|them|the guests|our visitor] the way to {place}', 'show [me|us|the lady|the group|him] where {place} is',
        '[lead|show] the way to {place}', 'go ahead to {place}[, I follow| and I follow you|, we come after you|]', '[walk|come|go|roll] with [me|us|him|her] to {place}', 'go with [the visitor|the guest|them|her|him] to {place}', 'see [the guests|them|her|the gentleman] to {place}',
        '!I [have to|need to|must|want to|would like to] get to {place}[, show me the way|, take me there|, lead me|, guide me]', '!we are looking for {place}[, guide us|, show us|, lead us there]', '!where is {place}? [Take me there|Lead me there|Show me the way|Bring us there]', '!how do I get to {place}? [Guide me|Show me|Lead the way]',
        '!the [visitor|lady|delivery man|new colleague|electrician|inspector] [wants|has] to go to {place}, [take him there|guide them|bring her|go with them]', '!can you [take|guide|lead] [me|us|them] to {place}?', '!can you bring [us|them|her] to {place}?', '!would you [show|walk] [me|us] to {place}?',
        '[come|go|drive|roll|get] to {place} and [wait|wait there|stay|stay there|stay until I come|wait for me|wait for further orders|stand by|remain there|park|park there]', '[wait|stay|stand by|park|stop] for [me|us|the guests|further orders] [in|at] {place}', '[park|station|place] yourself [in|at|near|by] {place} and wait',
        '!I will be [in|at] {place}, [come|wait for me|meet me there]', '!somebody [rang|is|knocked|is calling] at {place}, [see to it|go there|go and look]', '!have a look at what is going on in {place}', '[drop in|look in|turn up|report] at {place}', '[pay a visit|return|retreat|withdraw|advance] to {place}', '[nip|trot|hop|dash|rush|hurry|scurry|speed|cruise] [over |]to {place}',
        'make [a beeline|a dash|a run|haste|straight|your way|a move] for {place}', '[strike out|push off|press on|bear|steer|start out|set out|take off|set sail] for {place}', '[lay|plot] a course [for|to] {place}[ and follow it|]',
        '[mosey|toddle|trundle|wander|stroll|amble|saunter|glide|zoom|whizz|jog|march|scoot|steer|potter|bustle|zip|slip|swoop|wheel|waltz|meander] [over |along |on |across |]to {place}', '[leg|hoof|hotfoot|step|peg] it [over |]to {place}',
        '[get|take|move|haul|shift] your [wheels|base|good self|metal self|gears] [over |]to {place}', '[direct|bend|turn] your [wheels|steps] [to|towards] {place}', '[hit|take] the road to {place}', '[wend|wind|find|pick] your way to {place}',
        '[betake|bestir|present|deliver] yourself to {place}', '!be off to {place}', '!away with you to {place}', '[get going|get moving|get rolling|get started|get a move on] [to|towards] {place}', 'pay {place} a [visit|call]', 'put in an appearance [in|at] {place}', 'grace {place} with your presence', 'call [in|by] at {place}', 'run along to {place}', 'take a [walk|stroll|turn|spin] to {place}',
        '!{place} [is where you should be|is your place now|is where I want you|next]', '!you are wanted [in|at] {place}', '!they are [calling|asking] for you [in|at] {place}', '!would you be so good as to go to {place}?', '!I would be [glad|happy] if you came to {place}', '!{person} is waiting for you [in|at] {place}', '!you [must|should|have to|need to] be [in|at] {place}[ now| in a minute| soon|]',
    ),
    is_motion=True,
)

DRIVE_TO = Skill(
    key='drive_to',
    names=('drive_to', 'go_to_xy', 'move_to_point', 'navigate_xy', 'goto_pose', 'drive_to_pose',
           'go_to_coordinates', 'move_base', 'send_to_point', 'drive_xy'),
    descriptions=('Drive to coordinates in the map. Prefer go_to for a named place.',
                  'Drive the base to coordinates in the map.', 'Drive to a point x, y.',
                  'Move to a position given in metres.', 'Navigate to map coordinates.',
                  'Go to a point in the map frame.'),
    args=(
        Arg('x', 'number', ('x', 'x_m', 'goal_x', 'pos_x'), ('Target x.', 'x in metres', 'Metres along x.'),
            low=-10, high=10, step=0.01, unit='m'),
        Arg('y', 'number', ('y', 'y_m', 'goal_y', 'pos_y'), ('Target y.', 'y in metres', 'Metres along y.'),
            low=-10, high=10, step=0.01, unit='m'),
        Arg('heading', 'number', ('heading', 'yaw', 'angle', 'direction', 'theta'),
            ('Heading on arrival.', 'Final heading', 'Yaw at the goal.'),
            optional=True, low=-180, high=180, step=1, unit='deg'),
        Arg('speed', 'number', ('speed', 'velocity', 'max_speed', 'v'),
            ('Cruising speed.', 'Speed limit', 'How fast to drive.'),
            optional=True, low=0.1, high=1.0, step=0.01, unit='m/s'),
    ),
    says=(
        f'{_GO} to x = {{x}}[,| and|] y = {{y}}', '[place|position|put|station|park] yourself at x[ =|:|] {x}[,| and| and at|] y[ =|:|] {y}',
        f'{_GO} to [the |][spot|place|point|location|position|coordinates] [at |][x |]{{x}} [/|;|and|,] [y |]{{y}}',
        '!I [need|want] you at x[ =|] {x}[,| and|] y[ =|] {y}', '!coordinates: {x} and {y}', '!x {x}, y {y}', '!{x}, {y}', '!position x {x} y {y}',
        f'{_GO} to x {{x}} and y {{y}} and [end up|finish|arrive|stop there|be] facing {{heading}} degrees',
        f'{_GO} to x {{x}}[,| and|] y {{y}}[,| and|] [turn to|look to|point to|rotate to|orient yourself to|face] {{heading}} degrees [there|at the end|on arrival|]',
        '!I [need|want] you at x {x}, y {y}, heading {heading}[ degrees|]',
        f'{_GO} [with a speed of|at|with|using] {{speed}} m/s [over |]to [the point |]{{x}}[,| /| and] {{y}}',
        f'{_GO} to x {{x}}[,| and|] y {{y}}[,| and|] [do not drive faster than|not faster than|use|drive at|keep to|at most|limit the speed to] {{speed}} m/s',
        f'{_GO} to x {{x}}[,| and|] y {{y}}', f'{_GO} to x={{x}}[,|] y={{y}}',
        f'{_GO} to ({{x}}, {{y}})', f'{_GO} to [point|position|coordinates|the point|the coordinates|the position] {{x}}[,| and|, and] {{y}}',
        f'{_GO} to [map |]coordinates x {{x}}[ m| metres|] and y {{y}}[ m| metres|]',
        f'{_GO} to [position |point |] [x |]{{x}}[ m|], [y |]{{y}}[ m|]',
        f'{_GO} to {{x}} {{y}}', f'{_GO} to x: {{x}}, y: {{y}}',
        '!your [next |]target is [x |]{x}[,| and] [y |]{y}', '!goal: {x}, {y}',
        '[reach|approach|visit] the point [at |]({x}, {y})', '[reach|approach|visit] the point [at |][x |]{x}, {y}',
        '!the [target|goal|destination|waypoint] is at x {x} and y {y}',
        f'{_GO} to x {{x}} y {{y}} [with heading|heading|facing|looking at|at an angle of|and turn to|with a heading of|and face] {{heading}}[ deg| degrees|]',
        f'{_GO} to {{x}}, {{y}}[ with| and|,] [heading|yaw|orientation] {{heading}}[ deg| degrees|]',
        f'{_GO} to ({{x}}, {{y}}, {{heading}}[ deg| degrees|°])',
        f'{_GO} to x {{x}} y {{y}} [at|with|at a speed of|with a speed of|, speed] {{speed_u}}', f'{_GO} to x {{x_u}}[,| and] y {{y_u}}', f'{_GO} to x {{x_u}}, y {{y_u}} at {{speed_u}}',
        f'{_GO} to {{x}}, {{y}} [with|at|no faster than] {{speed_u}}', f'[at|with] {{speed_u}} {_GO} to x {{x}}, y {{y}}',
        f'{_GO} to x {{x}} y {{y}} [at|with|at a speed of|with a speed of|, speed] {{speed}}[ m/s| metres per second|]',
        f'{_GO} to {{x}}, {{y}} [at|with] {{speed}} m/s',
        f'{_GO} [at|with] {{speed}} m/s to x {{x}}, y {{y}}',
        f'{_GO} to x {{x}}, y {{y}}, heading {{heading}}[ degrees|], [speed|at] {{speed}}[ m/s|]',
        f'{_GO} to point {{x}}, {{y}} facing {{heading}} degrees at {{speed}} m/s',
    ),
    is_motion=True,
)

_PICK = '[pick up|grab|take|get|collect|lift|grasp|fetch|pick|hold|seize|catch|retrieve|lift up|gather|acquire|snatch]'

PICK = Skill(
    key='pick',
    names=('pick', 'grasp', 'pick_up', 'grab', 'take_object', 'pick_object', 'collect', 'grip',
           'lift_object', 'fetch_object'),
    descriptions=('Pick up an object within reach.', 'Pick up an object.', 'Grasp a thing with the arm.',
                  'Take an object from where it lies.', 'Grab something near the robot.',
                  'Close the gripper on an object and lift it.'),
    args=(Arg('object', 'object', ('object', 'item', 'thing', 'what', 'object_name', 'label', 'target'),
              ('Name of the object.', 'What to pick up.', 'Object to grasp', 'The thing to take.')),),
    says=(
        f'{_PICK} {{object}}', f'{_PICK} {{object}}', f'{_PICK} {{object}}',
        '[scoop up|pluck|snap up|hoist|heave|nab|fish out|get hold of|{odd} up] {object}', '[see if you can|try and|go and] lift {object}', 'get {object} with your [arm|gripper|hand]',
        f'{_PICK} {{object}} [from the {{surface}}|off the {{surface}}|on the {{surface}}|over there|in front of you|next to you|lying there|that lies there|for us]',
        'pick {object} up', '[take|get] hold of {object}', '[use your arm to|use the gripper to|with your arm,] pick up {object}',
        '[close the gripper around|put your gripper on|reach for|lay your hand on|load up] {object}',
        '!I [need|want|would like] {object}, [pick it up|take it|grab it|get it]',
        '![there is|you see|look, there is] {object}, [pick it up|take it|grab it|lift it]',
        '!{object} [is|lies] on the {surface}, [pick it up|take it|grab it|please take it]',
        '!{object}: [pick it up|take it|grab it]', '![you should be holding|I want you to hold] {object}',
        'bring {object} into your [gripper|hand|arm]', 'clear {object} from the {surface}',
        '[fetch|get|bring|hand|pass|give] me {object}', '[fetch|get|bring|hand|pass|give] [us|her|him|them|the lady] {object}', 'go get {object}', 'get a [grip|hold] on {object}', '!could you [fetch|get|hand|pass|grab] [me |us |]{object}?', '!I dropped {object}, [get it|pick it up|lift it]', '!{object} [fell down|fell off|fell off the {surface}|lies on the floor|rolled under the {surface}], [get it|pick it up|can you get it?]',
        '!I need {object}[, fetch it|, hand it to me|, get it for me]', '!can I have {object}? [Pick it up|Grab it|Take it]', 'carry {object}', 'help [me|her|him] with {object}, [lift it|take it|pick it up]', '[pick|lift|raise|heave] {object} [up|off the floor|from the floor|off the ground]', '!that is {object}, [take it|grab it]', 'take {object} [with you|along|in your gripper|in your hand]', 'hold {object} for [me|a moment|us]', '!{person} [wants|needs] {object}, [take it|fetch it|pick it up]', 'remove {object} from the {surface}', 'pick up {object} and hold [it|on to it|it tight]',
    ),
)

_PUT = '[put|place|set|lay|drop|leave|deposit|put down|set down|store|rest|release]'

PLACE = Skill(
    key='place',
    names=('place', 'put_down', 'drop', 'put', 'place_object', 'release', 'set_down', 'deposit', 'put_on'),
    descriptions=('Put down the held object.', 'Put the object in the gripper down somewhere.',
                  'Place what the arm holds on a surface.', 'Release the held thing at a target.',
                  'Set down the object that was picked.'),
    args=(Arg('target', 'surface', ('target', 'surface', 'where', 'onto', 'spot', 'destination', 'place'),
              ('Where to put it.', 'Surface or container', 'Where the object goes.', 'Spot for the object.')),),
    says=(
        f'{_PUT} [it|the object|that|what you hold|the thing|this|the item|your load] [on|onto|in|into|down on] {{target}}',
        f'{_PUT} [it|the object|that] [on|onto|in|into|down on|on top of] {{target}}',
        f'{_PUT} {{object}} [on|onto|in|into|down on|inside|on top of] {{target}}',
        f'{_PUT} {{object}} [on|onto|in|into] {{target}}',
        '!{target} is [free|empty], put [it|the object] there', '!{object} [belongs|goes|should go] [on|in|into|onto] {target}',
        'put {object} down on {target}', '[open the gripper over|let go of it over|unload onto|unload it on] {target}',
        'put [it|that] back [on|in|into|onto] {target}', 'throw {object} into {target}',
        '!{target} is [fine|good|the right place] for it, put it there', '!it [belongs|goes|should go|must go] [on|in|into|onto] {target}', '[set|put|lay] [it|that|the thing] down [on|in|at|by] {target}', 'leave it [on|in|at|by] {target}', '[drop|throw|toss|chuck] it [in|into|onto] {target}', '[hand it over|unload it|get rid of it] [at|on|onto|into] {target}', '!you can [leave|put|set down] [it|that] [on|in|at] {target}', '!I want it [on|in|at] {target}', '!free your hands, put it [on|in] {target}',
        '!put down what you carry, {target} is [free|good]', 'stow {object} in {target}', '[return|take|bring|give] it [back |]to {target}', '[stand|hang|rest|balance|stack] {object} [on|in|at] {target}', '{odd} it [on|onto|into] {target}',
        '!{object} should be [put|laid|placed] [on|in] {target}[ now|]', f'{_PUT} it [next to|beside|near|under|behind|close to|against] {{target}}',
        f'[you may|now] {_PUT} [it|{{object}}|that] [down |][gently |carefully |][on|onto|in] {{target}}', 'leave {object} [on|in|at] {target}',
        f'{_PUT} [what you carry|what is in your gripper|your cargo|the load|what you are holding] [on|in|onto|into] {{target}}', '!{target} is where {object} [belongs|should be], put it there',
    ),
)

DOCK = Skill(
    key='dock',
    names=('dock', 'charge', 'go_charge', 'return_to_dock', 'recharge', 'dock_robot', 'go_home_and_charge',
           'return_to_base'),
    descriptions=('Drive to the charger and charge.', 'Dock at the charging station.',
                  'Return to the charger.', 'Go to the charging dock and recharge the battery.',
                  'Connect to the charging station.'),
    says=(
        '[charge|recharge|dock|go charge|go and charge|go charging|start charging|begin charging|plug in|go dock|dock yourself|charge up|top up]',
        '[charge|recharge|fill up|top up|load] [your|the] [battery|batteries|power]',
        '[go|drive|return|head|get|move|come|go back|drive back] [back |]to [your|the] [charger|charging station|charging dock|charging pad|charge point|power station|docking station|charging spot]',
        '[connect|attach|hook yourself up|plug yourself in] to the [charger|charging station|power|docking station]',
        '!your battery is [low|nearly empty|almost empty|running out|getting low|weak], [go charge|please charge|charge it|dock|go to the charger|recharge]',
        '!you [look tired|need power|need energy|must be hungry|need to charge|should charge now|will run out of power soon], [go charge|charge|dock|recharge]',
        '[get|find|fetch] [some power|power|some energy|some electricity|the charger|your charger]',
        '[dock|charge|recharge] [now|yourself|the robot|until you are full|for a while|for the night|over night|again]',
        '!time [to charge|to dock|to recharge|for charging|for a recharge|for the charger]',
        '[finish|end the work] for today and [charge|dock|go to the charger|recharge]',
        '!back to [the charger|your charger|the charging station|the docking station]',
        'let your battery [charge|load|fill up]', 'park [on|at|in] [your|the] [charger|charging station|charging pad]',
        'go home and charge', 'get back on the charger', '[spend|stay] the night at the charger', '!you are running [low|out of battery|out of power], [charge|go and charge|dock]',
        'go plug yourself in', '[return to|drive to|go to] the charging station and stay there', '!no more work, [charge|dock|go to the charger]',
        '!you [look tired|seem tired|look exhausted|must be tired|are slow today|have worked hard], [rest|have a rest|take a rest|get some rest] [at|on] [the charger|your charger|the charging station]', '!your [battery|accumulator|power] [must be|is|seems|looks] [nearly |almost |quite |][flat|empty|low|drained|dead|gone], [load it|fill it up|see that it gets full|get it charged|charge up]',
        '[go|drive|head|return] home', 'go [back |]home[ now|, please| and rest| and sleep| and load|]', '[go|off] to [bed|sleep|your bed]', '!it is [late|evening|bedtime], [go home|go to your station|off to the charging station]', '!that is [it|all|enough] for today, [go home|charge|recharge|back to your station|go and load]',
        '!you [have done enough|have worked enough|may rest|can rest|deserve a rest|are off duty|are done for today], [go charge|go home|go to your station|recharge|back to base]', '[get|take|grab|have|suck] some [juice|power|current|electricity|energy][ into your batteries| at the station|]', '[fill up|tank up|stock up|refuel|juice up|power up]', '[refill|replenish|feed|top off] [your|the] [battery|batteries|cells]',
        'have a [nap|break|rest] [on|at] [the charger|your station|the charging station]', '!you need [a charge|charging|a recharge|current|power|juice]', '!I do not need you [any more|now|until tomorrow], [go home|go and charge|charge|to the charging station with you]', '[back|return|retreat] to [base|your base|your station|the base|your corner]', 'go where you [charge|get your power|sleep|live]', 'see that your battery gets [full|charged|loaded]',
        '!the [battery|charge|power] [is|gets] low, [do something about it|take care of it|charge]', '!you have finished your shift, [charge|go home|recharge]', '!we [close|finish|stop] for today, [go home|charge|back to the charging station]', '!before you run [dry|flat|empty], [go charge|charge up]', '[put yourself|get yourself|sit down] on the [charger|charging pad|dock]', 'go and get [charged|loaded|powered|recharged]', 'charge to [full|the full|a hundred percent]', 'restore your battery',
    ),
    is_motion=True,
)

SAY = Skill(
    key='say',
    names=('say', 'speak', 'announce', 'tell', 'talk', 'speech', 'say_text', 'tts', 'voice'),
    descriptions=('Say a sentence aloud.', 'Speak a sentence through the loudspeaker.', 'Say a text.',
                  'Announce something to the people around.', 'Talk: turn a text into speech.'),
    args=(Arg('text', 'text', ('text', 'sentence', 'message', 'words', 'utterance', 'what', 'speech'),
              ('What to say.', 'Text to speak', 'The words.', 'Sentence to say aloud.')),),
    says=(
        "say: {text}", 'say {text}', "say '{text}'", 'say "{text}"', 'say "{text}"', 'say {text}',
        '[announce|tell everyone|tell the people|inform everyone|let everyone know|make an announcement|inform the people|let people know|announce loudly|tell us|tell them|inform them|remind everyone|explain] that {text}',
        'tell [the {group}|the {group}|{person}|everybody|them|us] that {text}',
        'tell [the {group}|{person}|them]: {text}', 'speak the [words|sentence|text] [:|]"{text}"',
        '[say|speak|announce] [loudly|aloud|clearly|out loud|in a friendly voice|to the {group}|to {person}|to everyone]: {text}',
        '[read|read out|repeat|pronounce|shout|call out|whisper] "{text}"', 'repeat after me: {text}',
        'let [the {group}|{person}] know that {text}', '[inform|remind|warn|notify] [the {group}|{person}] that {text}',
        'announce: {text}', 'announce "{text}"', 'say to [the {group}|{person}]: {text}',
        'use your [voice|speaker|loudspeaker] to say {text}', 'make the announcement "{text}"',
        '[announce|say|tell] to the [room|crowd|hall|people]: {text}', 'let the {group} know: {text}', '[speak|say] [this|the following|the] [sentence|words|text]: {text}', 'speak up and say {text}', 'speak up and say "{text}"', 'say \'{text}\' to the {group}', 'say "{text}" to [the {group}|{person}]',
        'say {text} to [the {group}|{person}|everyone|us]', 'say {text} to [the {group}|{person}|them]',
        '[greet|welcome] [the {group}|{person}|everybody|them|our {group}]',
    ),
)

DEMO_SKILLS = (GO_TO, DRIVE_TO, PICK, PLACE, DOCK, SAY)
