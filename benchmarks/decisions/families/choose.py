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


"""Families about which tool: plain wishes, other words, near-duplicates, invented names."""

from __future__ import annotations

from dataclasses import replace

from .kit import call
from .kit import calm
from .kit import capital
from .kit import case
from .kit import decimal
from .kit import drawn
from .kit import enum
from .kit import flag
from .kit import integer
from .kit import mixed
from .kit import number
from .kit import order
from .kit import pick
from .kit import say
from .kit import Skill
from .kit import text
from .kit import whole
from .register import coined
from .register import family
from .register import WORLDS
from .values import ITEMS
from .values import PEOPLE

LONG = (
    'The visitors will be here soon, so {clause}.',
    'I have looked at the plan again. {Clause}.',
    'We are almost done for today. {Clause}, and thank you.',
    'Good morning. First thing today: {clause}.',
    'Listen, the others are busy, so could you {clause}?',
    'It took long enough, but now you may {clause}.',
    'If I am not mistaken it is your turn. {Clause}.',
    'My colleague forgot it, so I ask you: {clause}.',
    'Never mind the noise in here and {clause}.',
    'I would be glad if you could {clause}.',
    "Let's get going. {Clause}.",
    'Sorry to trouble you again, please {clause}.',
)


@family('tool/plain', 18)
def plain(rng):
    world = rng.choice(WORLDS)
    wish = order(rng, rng.choice(world), free=False)
    return case('', say(rng, wish.clause), call(wish), mixed(rng, [wish.skill], world, 3, 6),
                observations=calm(rng))


@family('tool/synonym', 27)
def synonym(rng):
    world = rng.choice(WORLDS)
    wish = order(rng, rng.choice(world), free=True)
    return case('', say(rng, wish.clause), call(wish), mixed(rng, [wish.skill], world, 4, 6),
                observations=calm(rng))


@family('tool/wordy', 21)
def wordy(rng):
    world = rng.choice(WORLDS)
    wish = order(rng, rng.choice(world))
    return case('', say(rng, wish.clause, LONG), call(wish),
                mixed(rng, [wish.skill], world, 4, 6), observations=calm(rng))


@family('tool/many', 18)
def many(rng):
    """Ten to twelve tools of two robots."""
    first, second = rng.sample(WORLDS, 2)
    wish = order(rng, rng.choice(first))
    others = [*first, *(s for s in second if s.name not in ('haul_to', 'visit_ward'))]
    return case('', say(rng, wish.clause), call(wish), mixed(rng, [wish.skill], others, 10, 12),
                observations=calm(rng))


def _s(name, description, clauses, **more):
    return Skill(name=name, description=description, plain=tuple(clauses), **more)


def _metres(low, high):
    return {'distance': number('Distance', low, high, 'm')}


# Groups of tools with names that say little: the description tells them apart.
PAIRS = (
    (_s('lamp_1', 'Switch the lamp at the front on.', ('switch the front lamp on', 'turn on the light at the front', 'make light in front of you')),
     _s('lamp_2', 'Switch the lamp at the back on.', ('switch the rear lamp on', 'turn on the light at the back', 'make light behind you')),
     _s('lamp_3', 'Switch all lamps off.', ('switch all lamps off', 'turn every light off', 'make it dark'))),
    (_s('flap_a', 'Open the flap on the left side.', ('open the left flap', 'open the flap on your left')),
     _s('flap_b', 'Close the flap on the left side.', ('close the left flap', 'shut the flap on your left')),
     _s('flap_c', 'Open the flap on the right side.', ('open the right flap', 'open the flap on your right')),
     _s('flap_d', 'Close the flap on the right side.', ('close the right flap', 'shut the flap on your right'))),
    (_s('step_x', 'Drive forward by a distance.', ('drive {distance} m forward', 'go {distance} metres ahead', 'move forward by {distance} m'), parameters=_metres(0.1, 6), slots=drawn(distance=decimal(0.2, 6, 0.1))),
     _s('step_y', 'Drive backward by a distance.', ('drive {distance} m backward', 'back up by {distance} metres', 'go {distance} m in reverse'), parameters=_metres(0.1, 6), slots=drawn(distance=decimal(0.2, 6, 0.1)))),
    (_s('spin_p', 'Turn to the left by an angle.', ('turn {angle} degrees to the left', 'rotate left by {angle} deg'), parameters={'angle': integer('Angle', 1, 180, 'deg')}, slots=drawn(angle=whole(10, 180, 10))),
     _s('spin_q', 'Turn to the right by an angle.', ('turn {angle} degrees to the right', 'rotate right by {angle} deg'), parameters={'angle': integer('Angle', 1, 180, 'deg')}, slots=drawn(angle=whole(10, 180, 10)))),
    (_s('tone_low', 'Play a short tone.', ('play a short tone', 'make one short beep')),
     _s('tone_mid', 'Play a long tone.', ('play a long tone', 'make one long beep')),
     _s('tone_top', 'Play music until it is stopped.', ('play some music', 'put some music on'))),
    (_s('note_in', 'Send a message to the office on the ground floor.', ('send a message to the office: {words}', 'tell the office that {words}'), parameters={'words': text('The message.')}, slots=drawn(words=pick('the box is empty', 'we are late', 'the paint is dry'))),
     _s('note_out', 'Send a message to the gate keeper.', ('send a message to the gate keeper: {words}', 'tell the gate keeper that {words}'), parameters={'words': text('The message.')}, slots=drawn(words=pick('the box is empty', 'we are late', 'a truck is coming')))),
    (_s('view_n', 'Take one photo of what is in front.', ('take one photo of what is in front of you', 'take a picture of this')),
     _s('view_s', 'Record a video of what is in front for some seconds.', ('record a video for {duration} seconds', 'film this for {duration} seconds'), parameters={'duration': integer('How long', 2, 60, 's')}, slots=drawn(duration=whole(5, 60, 5)))),
    (_s('arm_f', 'Put the thing in the gripper down on the table.', ('put it down on the table', 'set the thing down on the table')),
     _s('arm_g', 'Give the thing in the gripper to the person.', ('give it to the person', 'hand it over to the man in front of you')),
     _s('arm_h', 'Throw the thing in the gripper into the bin.', ('throw it into the bin', 'throw the thing away'))),
    (_s('pace_1', 'Set the speed of the wheels.', ('set the speed of the wheels to {value} m/s', 'drive at {value} m/s from now on'), parameters={'value': number('Speed', 0.1, 1.5, 'm/s')}, slots=drawn(value=decimal(0.1, 1.5, 0.1))),
     _s('pace_2', 'Set the speed of the belt.', ('set the speed of the belt to {value} m/s', 'let the belt run at {value} m/s'), parameters={'value': number('Speed', 0.1, 1.5, 'm/s')}, slots=drawn(value=decimal(0.1, 1.5, 0.1)))),
    (_s('heat_u', 'Heat the box to a temperature.', ('heat the box to {value} degrees', 'make the box {value} degrees warm'), parameters={'value': integer('Temperature', 25, 80, 'degrees Celsius')}, slots=drawn(value=whole(30, 80, 5))),
     _s('heat_v', 'Cool the box to a temperature.', ('cool the box to {value} degrees', 'make the box {value} degrees cold'), parameters={'value': integer('Temperature', 2, 20, 'degrees Celsius')}, slots=drawn(value=whole(2, 20, 2)))),
    (_s('pair_on', 'Follow a person.', ('follow {person}', 'stay behind {person}', 'walk after {person}'), parameters={'person': text('Name of the person.')}, slots=drawn(person=pick(*PEOPLE))),
     _s('pair_to', 'Go to a person and wait there.', ('go to {person} and wait there', 'find {person} and wait there'), parameters={'person': text('Name of the person.')}, slots=drawn(person=pick(*PEOPLE)))),
    (_s('stock_r', 'Count the things of one kind on the shelf.', ('count the {thing}s on the shelf', 'find out how many {thing}s are on the shelf'), parameters={'thing': text('Kind of thing, singular.')}, slots=drawn(thing=pick('bottle', 'candle', 'teaspoon', 'plate'))),
     _s('stock_t', 'Take one thing of a kind from the shelf.', ('take a {thing} from the shelf', 'get me a {thing} from the shelf'), parameters={'thing': text('Kind of thing, singular.')}, slots=drawn(thing=pick('bottle', 'candle', 'teaspoon', 'plate')))),
)  # fmt: skip


@family('tool/near_duplicate', 36)
def near_duplicate(rng):
    group, other = rng.sample(PAIRS, 2)
    wish = order(rng, rng.choice(group))
    tools = mixed(rng, group, other, 2, len(group) + 3)
    return case('', say(rng, wish.clause), call(wish), tools, observations=calm(rng, 1, 3))


_SHORT = _s('creep', 'Drive forward. Only for distances below 1 m.', ('drive {distance} m forward', 'go {distance} metres ahead'), parameters=_metres(0.05, 0.95), slots=drawn(distance=decimal(0.1, 0.9, 0.1)))  # fmt: skip
_FAR = _s('cruise', 'Drive forward. Only for distances of 1 m and more.', ('drive {distance} m forward', 'go {distance} metres ahead'), parameters=_metres(1, 20), slots=drawn(distance=decimal(1.5, 20, 0.5)))  # fmt: skip
_LIGHT = _s('lift_small', 'Lift a load of up to 5 kg.', ('lift the load of {mass} kg', 'lift {mass} kilograms'), parameters={'mass': integer('Mass of the load', 1, 5, 'kg')}, slots=drawn(mass=whole(1, 5)))  # fmt: skip
_HEAVY = _s('lift_large', 'Lift a load of more than 5 kg.', ('lift the load of {mass} kg', 'lift {mass} kilograms'), parameters={'mass': integer('Mass of the load', 6, 60, 'kg')}, slots=drawn(mass=whole(6, 60)))  # fmt: skip
_SIP = _s('pour_glass', 'Pour water into a glass, up to 300 ml.', ('pour {amount} ml of water', 'fill in {amount} ml of water'), parameters={'amount': integer('Amount', 10, 300, 'ml')}, slots=drawn(amount=whole(50, 300, 50)))  # fmt: skip
_GULP = _s('pour_jug', 'Pour water into a jug, for more than 300 ml.', ('pour {amount} ml of water', 'fill in {amount} ml of water'), parameters={'amount': integer('Amount', 301, 2000, 'ml')}, slots=drawn(amount=whole(400, 2000, 100)))  # fmt: skip


@family('tool/near_duplicate/size', 15)
def by_size(rng):
    pair = rng.choice(((_SHORT, _FAR), (_LIGHT, _HEAVY), (_SIP, _GULP)))
    wish = order(rng, rng.choice(pair))
    return case('', say(rng, wish.clause), call(wish),
                mixed(rng, pair, rng.choice(WORLDS[:2]), 2, 5), observations=calm(rng, 1, 2))


# Ideas for tools whose names are invented. Groups of siblings; clauses as people would say it.
IDEAS = (
    (_s('', 'Turns the head to the left.', ('turn your head to the left', 'look left', 'look to your left side')),
     _s('', 'Turns the head to the right.', ('turn your head to the right', 'look right', 'look to your right side'))),
    (_s('', 'Opens the lid.', ('open the lid', 'open your lid')),
     _s('', 'Closes the lid.', ('close the lid', 'shut the lid')),
     _s('', 'Locks the lid.', ('lock the lid', 'make sure nobody can open the lid'))),
    (_s('', 'Shows a red light.', ('show a red light', 'light up in red')),
     _s('', 'Shows a green light.', ('show a green light', 'light up in green')),
     _s('', 'Shows a blue light.', ('show a blue light', 'light up in blue'))),
    (_s('', 'Fills the tyres with air.', ('fill the tyres with air', 'pump up the tyres')),
     _s('', 'Lets air out of the tyres.', ('let air out of the tyres', 'make the tyres softer'))),
    (_s('', 'Lifts the left arm.', ('lift your left arm', 'raise the left arm')),
     _s('', 'Lifts the right arm.', ('lift your right arm', 'raise the right arm')),
     _s('', 'Lowers both arms.', ('lower both arms', 'let your arms down'))),
    (_s('', 'Counts the people in view.', ('count the people', 'find out how many people are here')),
     _s('', 'Counts the cars in view.', ('count the cars', 'find out how many cars are here'))),
    (_s('', 'Measures the temperature of the air.', ('measure the temperature of the air', 'find out how warm the air is')),
     _s('', 'Measures how loud it is.', ('measure how loud it is', 'find out how much noise there is')),
     _s('', 'Measures how bright it is.', ('measure how bright it is', 'find out how much light there is'))),
    (_s('', 'Starts the fan.', ('start the fan', 'switch the fan on')),
     _s('', 'Stops the fan.', ('switch the fan off', 'turn the fan off'))),
    (_s('', 'Wakes the second robot.', ('wake the second robot', 'wake up the other robot')),
     _s('', 'Sends the second robot to sleep.', ('send the second robot to sleep', 'let the other robot sleep'))),
    (_s('', 'Prints the last picture.', ('print the last picture', 'put the last picture on paper')),
     _s('', 'Deletes the last picture.', ('delete the last picture', 'throw away the last picture')),
     _s('', 'Sends the last picture to the office.', ('send the last picture to the office', 'let the office have the last picture'))),
    (_s('', 'Drives to the start of the line.', ('drive to the start of the line', 'go back to where the line starts')),
     _s('', 'Drives to the end of the line.', ('drive to the end of the line', 'go on to where the line ends'))),
    (_s('', 'Charges the battery at the plug.', ('charge your battery', 'get some power at the plug')),
     _s('', 'Leaves the plug.', ('leave the plug', 'come away from the plug'))),
    (_s('', 'Picks up the parcel.', ('pick up the parcel', 'take the parcel', 'grab the parcel')),
     _s('', 'Puts the parcel down.', ('put the parcel down', 'set the parcel down'))),
    (_s('', 'Rings the bell at the door.', ('ring the bell', 'ring at the door')),
     _s('', 'Knocks on the door.', ('knock on the door', 'knock at the door'))),
    (_s('', 'Wipes the window.', ('wipe the window', 'clean the window')),
     _s('', 'Sweeps the floor.', ('sweep the floor', 'clean the floor'))),
)  # fmt: skip
NUMBERS = (
    (_s('', 'Pours water into the cup.', ('pour {value} ml of water', 'pour {value} millilitres of water into the cup'), parameters={'value': integer('Amount', 10, 500, 'ml')}, slots=drawn(value=whole(20, 500, 10))),
     _s('', 'Pours milk into the cup.', ('pour {value} ml of milk', 'pour {value} millilitres of milk into the cup'), parameters={'value': integer('Amount', 10, 500, 'ml')}, slots=drawn(value=whole(20, 500, 10)))),
    (_s('', 'Drives forward.', ('drive {value} m forward', 'go {value} metres ahead'), parameters={'value': number('Distance', 0.1, 5, 'm')}, slots=drawn(value=decimal(0.1, 5, 0.1))),
     _s('', 'Drives backward.', ('drive {value} m backward', 'go back by {value} metres'), parameters={'value': number('Distance', 0.1, 5, 'm')}, slots=drawn(value=decimal(0.1, 5, 0.1)))),
    (_s('', 'Raises the platform to a floor.', ('raise the platform to floor {value}', 'bring the platform to floor {value}'), parameters={'value': integer('Floor', 1, 9)}, slots=drawn(value=whole(1, 9))),
     _s('', 'Calls the lift to a floor.', ('call the lift to floor {value}', 'get the lift to floor {value}'), parameters={'value': integer('Floor', 1, 9)}, slots=drawn(value=whole(1, 9)))),
    (_s('', 'Saves this place under a name.', ('save this place as {value}', 'remember this place as {value}'), parameters={'value': text('Name.')}, slots=drawn(value=pick('harbour view', 'spot nine', 'blue corner', 'picnic tree'))),
     _s('', 'Forgets a saved place.', ('forget the place {value}', 'delete the saved place {value}'), parameters={'value': text('Name.')}, slots=drawn(value=pick('harbour view', 'spot nine', 'blue corner', 'picnic tree')))),
    (_s('', 'Gives an item to the guest.', ('give the {value} to the guest', 'hand the guest the {value}'), parameters={'value': text('Item.')}, slots=drawn(value=pick(*ITEMS))),
     _s('', 'Takes an item from the guest.', ('take the {value} from the guest', 'get the {value} from the guest'), parameters={'value': text('Item.')}, slots=drawn(value=pick(*ITEMS)))),
    (_s('', 'Lets the belt run for a time.', ('let the belt run for {value} seconds', 'run the belt for {value} s'), parameters={'value': integer('Time', 1, 90, 's')}, slots=drawn(value=whole(5, 90, 5))),
     _s('', 'Lets the pump run for a time.', ('let the pump run for {value} seconds', 'run the pump for {value} s'), parameters={'value': integer('Time', 1, 90, 's')}, slots=drawn(value=whole(5, 90, 5)))),
    (_s('', 'Sets the colour of the sign.', ('make the sign {value}', 'set the sign to {value}'), parameters={'value': enum('Colour.', 'turquoise', 'crimson', 'ivory')}, slots=drawn(value=pick('turquoise', 'crimson', 'ivory'))),
     _s('', 'Sets the colour of the lamp.', ('make the lamp {value}', 'set the lamp to {value}'), parameters={'value': enum('Colour.', 'turquoise', 'crimson', 'ivory')}, slots=drawn(value=pick('turquoise', 'crimson', 'ivory')))),
    (_s('', 'Waves at people for a time.', ('wave at the people for {value} seconds', 'wave to these people for {value} s'), parameters={'value': integer('Time', 1, 30, 's')}, slots=drawn(value=whole(2, 30))),
     _s('', 'Smiles at people for a time.', ('smile at the people for {value} seconds', 'smile for {value} s'), parameters={'value': integer('Time', 1, 30, 's')}, slots=drawn(value=whole(2, 30)))),
)  # fmt: skip


def named(rng, skills, taken, argument=False):
    """Return skills with invented names, and with an invented argument if wanted."""
    found = []
    for skill in skills:
        word = coined(rng, taken)
        name = word if rng.random() < 0.6 else f'{word}_{coined(rng, taken)}'
        new = coined(rng, taken) if argument and skill.parameters else ''
        found.append(_rename(replace(skill, name=name), new))
    return found


def _rename(skill, new):
    if not new:
        return skill
    old = next(iter(skill.parameters))
    slots = skill.slots
    return replace(
        skill, parameters={new: skill.parameters[old]},
        slots=lambda rng: {**(given := slots(rng)), new: given[old], old: (None, given[old][1])},
    )


def _coined_case(rng, groups, extra, *, argument=False):
    taken: set[str] = set()
    chosen = rng.sample(groups, 1 + extra)
    own = named(rng, chosen[0], taken, argument)
    others = named(rng, [s for group in chosen[1:] for s in group], taken, argument)
    wish = order(rng, rng.choice(own))
    tools = mixed(rng, own, others, len(own), len(own) + 4)
    return case('', say(rng, wish.clause), call(wish), tools, made_up=True,
                observations=calm(rng, 1, 3))


@family('tool/made_up/verb', 60)
def made_up_verb(rng):
    return _coined_case(rng, IDEAS, 2)


@family('tool/made_up/argument', 60)
def made_up_argument(rng):
    return _coined_case(rng, NUMBERS, 2, argument=True)


@family('tool/made_up/among_known', 40)
def made_up_among_known(rng):
    """One invented name among ordinary ones."""
    taken: set[str] = set()
    own = named(rng, [rng.choice(rng.choice(IDEAS + NUMBERS))], taken, rng.random() < 0.5)
    wish = order(rng, own[0])
    world = rng.choice((WORLDS[1], WORLDS[5], WORLDS[3]))
    return case('', say(rng, wish.clause), call(wish), mixed(rng, own, world, 4, 7),
                made_up=True, observations=calm(rng, 1, 3))


def _two_coined(rng):
    """Return two wishes for invented tools of different groups, and tools."""
    taken: set[str] = set()
    first, second, third = rng.sample(IDEAS, 3)
    own = named(rng, [rng.choice(first), rng.choice(second)], taken)
    others = named(rng, third, taken)
    return order(rng, own[0]), order(rng, own[1]), mixed(rng, own, others, 3, 5)


@family('tool/made_up/not_but', 25)
def made_up_not_but(rng):
    no, yes, tools = _two_coined(rng)
    said = rng.choice(('Do not {n}, {y}.', 'Do not {n}, but {y}.', "Don't {n}, {y} instead.",
                       '{Y}, and do not {n}.', "Please don't {n}. {Y}."))
    said = said.format(n=no.clause, y=yes.clause, Y=capital(yes.clause))
    return case('', said, call(yes), tools, made_up=True, forbid=[no.skill.name],
                observations=calm(rng, 1, 3))


@family('tool/made_up/first_step', 20)
def made_up_first_step(rng):
    first, second, tools = _two_coined(rng)
    said = rng.choice(('{A}, then {b}.', 'First {a}, then {b}.', '{A}. After that, {b}.',
                       '{A} and then {b}.', 'Please {a} and after that {b}.'))
    said = said.format(a=first.clause, A=capital(first.clause), b=second.clause)
    return case('', said, call(first), tools, made_up=True, observations=calm(rng, 1, 3))


@family('tool/made_up/by_name', 45)
def made_up_by_name(rng):
    """The operator says the invented name."""
    taken: set[str] = set()
    words = [coined(rng, taken) for _ in range(rng.randint(3, 6))]
    kind = rng.choice(('program', 'routine', 'move', 'trick'))
    has_level = rng.random() < 0.4
    tools = []
    for word in words:
        level = {'level': integer('Level', 1, 9)} if has_level else {}
        tools.append(Skill(name=word, description=f'Runs the {kind} {word}.', parameters=level,
                           slots=drawn(level=whole(1, 9)) if has_level else (lambda _: {})))
    chosen = rng.choice(tools)
    clauses = ('run {w}', 'start {w}', f'do the {kind} {{w}}', 'do {w}', f'run the {kind} {{w}}')
    clause = rng.choice(clauses).format(w=chosen.name)
    if rng.random() < 0.4:
        wrong = rng.choice([word for word in words if word != chosen.name])
        clause = rng.choice((f'skip {wrong} and {clause}', f'forget about {wrong} and {clause}'))
    wish = order(rng, replace(chosen, plain=(clause + (' at level {level}' if has_level else ''),)))
    return case('', say(rng, wish.clause), call(wish), tools, made_up=True,
                observations=calm(rng, 1, 2))


@family('tool/made_up/noun', 45)
def made_up_noun(rng):
    """Invented things: what the verb does with them stands in the description."""
    taken: set[str] = set()
    first, second = coined(rng, taken), coined(rng, taken)
    verbs = rng.choice((
        ('Lifts', 'lift', 'raise', 'Lowers', 'lower', 'let down'),
        ('Opens', 'open', 'open up', 'Closes', 'close', 'shut'),
        ('Washes', 'wash', 'clean', 'Dries', 'dry', 'dry off'),
        ('Switches on', 'switch on', 'turn on', 'Switches off', 'switch off', 'turn off'),
        ('Brings', 'bring', 'fetch', 'Takes away', 'take away', 'carry away'),
    ))
    tools = []
    for noun in (first, second):
        for says, clauses in ((verbs[0], verbs[1:3]), (verbs[3], verbs[4:6])):
            tools.append(Skill(name=coined(rng, taken), description=f'{says} the {noun}.',
                               plain=tuple(f'{verb} the {noun}' for verb in clauses)))
    wish = order(rng, rng.choice(tools))
    rng.shuffle(tools)
    return case('', say(rng, wish.clause), call(wish), tools, made_up=True,
                observations=calm(rng, 1, 2))


@family('tool/made_up/flag', 25)
def made_up_flag(rng):
    """An invented tool that switches something."""
    taken: set[str] = set()
    things = rng.sample(('warning light', 'water pump', 'front camera', 'seat heater', 'loudspeaker',
                         'side mirror heater'), 3)
    arg = coined(rng, taken)
    tools = [
        Skill(name=coined(rng, taken), description=f'Switches the {thing} on or off.',
              parameters={arg: flag('true: on, false: off.')},
              slots=lambda r: {arg: ((v := r.random() < 0.5), ''), 'on': (None, 'on' if v else 'off')},
              plain=(f'switch the {thing} {{on}}', f'turn {{on}} the {thing}',
                     f'leave the {other} as it is and switch the {thing} {{on}}'))
        for thing, other in zip(things, things[1:] + things[:1], strict=True)
    ]
    wish = order(rng, rng.choice(tools))
    return case('', say(rng, wish.clause), call(wish), tools, made_up=True,
                observations=calm(rng, 1, 2))
