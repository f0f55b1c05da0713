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

"""Questions about the state and the tools, with the replies that the prompt supports."""

from __future__ import annotations

import random

from demo_data.catalogues import Book
from demo_data.observations import State
from demo_data.phrases import article
from demo_data.phrases import expand
from demo_data.phrases import object_phrase
from gemma_node.core import InputState

Asked = tuple[str, dict[str, str], str]

_BATTERY = (
    'what is [your|the] battery[ level| charge| status| state|]?', 'how [full|charged] is [your|the] battery?',
    'how much [charge|battery|power|energy|juice] [do you have|is left|do you have left|remains]?', '[battery|battery level|battery status|charge level|power level|charge status]?',
    'tell me [your|the] [battery level|charge|battery|battery charge]', 'report [your|the] [battery|battery level|charge]',
    'how [is|are] your [battery|batteries]?', 'what percentage is [your|the] battery [at|on]?', 'how many percent do you have[ left|]?',
    'what does the battery say?', "what's your battery?", 'battery please', 'give me the battery [level|value|percentage]',
)
_LOW = ('is [your|the] battery [low|nearly empty|weak|almost empty]?', 'do you need [to charge|charging|power]?', 'are you [low on power|running out of power|hungry]?')
_WHERE = (
    'where are you at the moment?', 'what position are you at?', 'where have you got to?', 'what are your current coordinates?',
    'where are you[ now| right now|]?', 'what is your [position|location|pose|current position]?', 'tell me [where you are|your position|your location]',
    '[report|give] [me |][your|the] [position|pose|location|coordinates]', 'where is the robot?', 'which [position|coordinates] are you at?',
    'what are your coordinates?', "what's your position?", 'your position[ please|]?', 'where do you stand?',
)
_HEADING = ('what is your [heading|yaw|orientation|direction]?', 'which [way|direction] are you facing?', 'where are you looking?', 'your heading?', 'tell me your [heading|yaw]')
_SPEED = ('at what speed [do you drive|are you going|are you moving]?', 'your [speed|velocity][ please|]?', 'how fast are you[ going| driving| moving|]?', 'what is your [speed|current speed|velocity]?', 'report your speed', 'tell me [your|the] speed', 'speed?')
_MOVING = ('are you [moving|driving|in motion|rolling]?', 'is the robot [moving|driving]?', 'do you move[ right now|]?')
_SEE = (
    'what [do|can] you see[ now| right now|]?', 'what is [in front of you|around you|there]?', 'which [objects|things] [do|can] you see?', 'what objects are [there|near you|visible]?',
    'tell me what you see', 'list [the|all] [objects|things|detections|items]', 'what does [your|the] camera [see|show]?', 'describe what you see', 'do you see [anything|something]?',
    'what is in view?', 'any objects [there|around|in sight]?', 'report [the|your] detections',
)
_COUNT = ('how many [things|objects|items] [do|can] you see?', 'how many [objects|things] are [there|in view]?', 'count what you see')
_NEAREST = ('what is [the |][nearest|closest] [object|thing|item|to you]?', 'which [object|thing] is [nearest|closest]?', "what's [closest|nearest] to you?")
_HAVE = ('do you see {object}?', 'can you see {object}?', 'is {object} [there|visible|in view|near you|around]?', 'is there {object}[ somewhere| near you|]?', 'have you seen {object}?')
_FAR = ('how far [away |]is {object}?', 'what is the distance to {object}?', 'distance to {object}?')
_FRONT = (
    'how far is the [nearest|closest|next] obstacle?', 'what is in front of you in metres?', 'how much [room|space] is in front of you?', 'is the way [free|clear]?',
    'is there an obstacle in front[ of you|]?', 'how close is the [wall|obstacle] in front?', 'distance to the front?', 'how far can you drive forward?', 'what does the [scan|laser|lidar] say[ in front|]?',
)
_MODE = ('what [mode|state] are you in?', 'which mode [is active|are you in|is on]?', 'what is [your|the] [mode|state]?', 'mode?')
_ERROR = ('are there [any |]errors?', 'do you have [any |][errors|problems|faults]?', 'is something [wrong|broken]?', 'any [problems|faults|errors|warnings]?', 'what is the error?', 'are you ok?', 'is everything ok[ with you|]?')
_TOOLS = ('what can you do?', 'which tools do you have?', 'list your [tools|functions|abilities|skills]', 'what are you able to do?', 'how can you help[ me| us|]?', 'what are your [tools|abilities]?', 'help')
_PLACES = ('where can you go?', 'which [places|rooms|locations|destinations] do you know?', 'list [the|all|your] [places|rooms|locations|destinations]', 'what places are there?', 'what [rooms|places] can you reach?')


def ask_state(rng: random.Random, state: State, book: Book) -> Asked | None:
    """Return question template, slot values and reply; None if this draw fits no input."""
    makers = (_ask_battery, _ask_battery, _ask_pose, _ask_pose, _ask_motion, _ask_seen, _ask_seen,
              _ask_one_thing, _ask_front, _ask_report, _ask_tools)
    return rng.choice(makers)(rng, state, book)


def _stale(state: State, *types: str) -> bool:
    return any(o.state is InputState.STALE and o.type.endswith(types) for o in state.observations)


def _ask_battery(rng: random.Random, state: State, _: Book) -> Asked:
    if state.battery is None:
        return rng.choice((*_BATTERY, *_LOW)), {}, 'There is no battery reading.'
    old = _stale(state, 'BatteryState')
    tense = 'was' if old else 'is'
    tail = ', but the reading is stale.' if old else '.'
    if rng.random() < 0.75:
        return rng.choice(_BATTERY), {}, f'Battery {tense} at {state.battery} %{tail}'
    word = 'Yes' if state.battery < 20 else 'No'
    return rng.choice(_LOW), {}, f'{word}, battery {tense} at {state.battery} %{tail}'


def _ask_pose(rng: random.Random, state: State, _: Book) -> Asked:
    if state.pose is None:
        return rng.choice((*_WHERE, *_HEADING)), {}, 'There is no position reading.'
    x, y, yaw = state.pose
    old = ', but the reading is stale.' if _stale(state, 'Odometry') else '.'
    verb = 'was' if old != '.' else 'am'
    if rng.random() < 0.75:
        return rng.choice(_WHERE), {}, f'I {verb} at x {_two(x)} m, y {_two(y)} m, yaw {yaw} deg{old}'
    return rng.choice(_HEADING), {}, f'My heading {"was" if verb == "was" else "is"} {yaw} deg{old}'


def _ask_motion(rng: random.Random, state: State, _: Book) -> Asked:
    if state.speed is None:
        return rng.choice((*_SPEED, *_MOVING)), {}, 'There is no speed reading.'
    if rng.random() < 0.6:
        return rng.choice(_SPEED), {}, f'My speed is {_two(state.speed)} m/s.'
    moving = f'Yes, at {_two(state.speed)} m/s.' if state.speed else 'No, I am standing still.'
    return rng.choice(_MOVING), {}, moving


def _ask_seen(rng: random.Random, state: State, _: Book) -> Asked:
    if state.seen is None:
        return rng.choice(_SEE), {}, 'There is no camera reading.'
    count = len(state.seen)
    roll = rng.random()
    if roll < 0.6:
        return rng.choice(_SEE), {}, f'I see {", ".join(state.seen)}.' if count else 'I see nothing.'
    if roll < 0.8:
        return rng.choice(_COUNT), {}, f'I see {count} object{"" if count == 1 else "s"}.'
    nearest = f'The nearest object is {state.seen[0]}.' if count else 'I see nothing.'
    return rng.choice(_NEAREST), {}, nearest


def _ask_one_thing(rng: random.Random, state: State, _: Book) -> Asked | None:
    if state.seen is None:
        return None
    distances = _distances(state)
    if state.seen and rng.random() < 0.6:
        thing = rng.choice(state.seen)
        away = distances[thing]
        values = {'object': article(rng, thing)}
        if rng.random() < 0.5:
            return rng.choice(_HAVE), values, f'Yes, {thing} is {_two(away)} m away.'
        return rng.choice(_FAR), values, f'{thing} is {_two(away)} m away.'
    thing = object_phrase(rng)
    if any(thing in other or other in thing for other in state.seen):
        return None
    return rng.choice((*_HAVE, *_FAR)), {'object': article(rng, thing)}, f'No, I do not see {thing}.'


def _distances(state: State) -> dict[str, float]:
    for observation in state.observations:
        if observation.type.endswith('DetectionArray') and observation.value:
            return {d['name']: d['distance'] for d in observation.value['detections']}
    return {}


def _ask_front(rng: random.Random, state: State, _: Book) -> Asked | None:
    if state.front is None:
        return rng.choice(_FRONT), {}, 'There is no distance reading.'
    if any(o.type.endswith('Range') for o in state.observations):
        return None
    if state.front == float('inf'):
        return rng.choice(_FRONT), {}, 'In front it is clear.'
    return rng.choice(_FRONT), {}, f'In front the nearest obstacle is at {_two(state.front)} m.'


def _ask_report(rng: random.Random, state: State, _: Book) -> Asked | None:
    if rng.random() < 0.4:
        if state.mode is None:
            return None
        return rng.choice(_MODE), {}, f'The mode is {state.mode}.'
    reply = f'The robot reports {state.error}.' if state.error else 'No errors are reported.'
    return rng.choice(_ERROR), {}, reply


def _ask_tools(rng: random.Random, _: State, book: Book) -> Asked | None:
    if rng.random() < 0.5:
        go = book.by_skill.get('go_to')
        if go is None or 'place' not in go.choices:
            return None
        return rng.choice(_PLACES), {}, f'I know {", ".join(go.choices["place"])}.'
    return rng.choice(_TOOLS), {}, f'I can {", ".join(tool.name for tool in book.tools)}.'


def _two(value: float) -> str:
    return f'{value:.2f}'


def expand_question(rng: random.Random, template: str) -> str:
    """Pick one alternative of every bracket of a question."""
    return expand(rng, template)
