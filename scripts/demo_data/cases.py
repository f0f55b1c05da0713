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
Works out what a robot should do: one training case = history, observations, request, target.

Every rule the model is to learn is here: what a sentence asks for, what a state calls for, what
follows from a tool's result. Nothing here knows of tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
import random
from typing import Any

from demo_data import dialogue
from demo_data import words
from demo_data.catalogues import Book
from demo_data.catalogues import spoken_value
from demo_data.catalogues import Tool
from demo_data.observations import State
from demo_data.observations import StateMaker
from demo_data.phrases import any_word
from demo_data.phrases import article
from demo_data.phrases import expand
from demo_data.phrases import fill
from demo_data.phrases import nonce
from demo_data.phrases import object_phrase
from demo_data.phrases import place_phrase
from demo_data.phrases import slots_of
from demo_data.phrases import speak
from demo_data.questions import ask_state

LOW_BATTERY = 20
NEAR_M = 0.3
MOVING_MPS = 0.1
DONE = 'The task is done.'
IDLE = 'Nothing to do.'
NO_TOOL = 'I have no tool for that. What should I do instead?'
UNKNOWN_ANSWER = 'I do not know that.'
_VERBS = ('is', 'was', 'looks', 'has', 'needs', 'likes', 'and the', 'of the', 'became', 'stays')

CallValue = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Answer:
    """What the model should say: one call, or a reply."""

    call: CallValue | None = None
    reply: str = ''


@dataclass(frozen=True)
class Turn:
    """A finished turn: the request, the answer, and the result if the call has one by now."""

    text: str
    answer: Answer
    result: str = ''


@dataclass
class Case:
    """One thing to learn."""

    kind: str
    text: str
    answer: Answer
    turns: list[Turn] = field(default_factory=list)
    state: State | None = None


@dataclass(frozen=True)
class Wish:
    """A sentence's core that asks for one call."""

    template: str
    values: Mapping[str, str]
    call: CallValue


def no_action(reason: str) -> Answer:
    """Answer with the builtin no_action."""
    return Answer(call=('no_action', {'reason': reason}))


def ask(question: str) -> Answer:
    """Answer with the builtin ask_operator."""
    return Answer(call=('ask_operator', {'question': question}))


STOP_CALL = Answer(call=('stop', {}))


class CaseMaker:
    """Draws cases for one catalogue."""

    def __init__(self, rng: random.Random, book: Book, robot: str) -> None:
        self.rng = rng
        self.book = book
        self.robot = robot
        self._makers = (
            (30, self.command), (8, self.first_step), (13, self.follow_up), (13, self.decide),
            (13, self.question), (4.5, self.stop), (3, self.chat), (3.5, self.unclear),
            (3.5, self.unknown_choice), (3, self.unavailable), (1.5, self.unanswerable),
            (2, self.correction), (2.5, self.instead), (4, self.condition), (1.5, self.again), (3, self.seen),
            (2.5, self.bring), (1.5, self.approach),
        )

    def draw(self) -> Case:
        """Make one case of any kind that this catalogue allows."""
        rng = self.rng
        weights = [weight for weight, _ in self._makers]
        case = None
        while case is None:
            make = rng.choices(self._makers, weights)[0][1]
            case = make()
        if case.kind not in ('follow_up', 'again') and rng.random() < 0.45:
            case.turns = self._history(rng.choice((1, 1, 2, 2, 3, 4, 6)))
        if case.state is None:
            case.state = self._state()
        return case

    def command(self) -> Case | None:
        """A sentence that asks for one call; at times with words that do not matter."""
        wish = self._wish()
        return None if wish is None else Case('command', self._say(wish), Answer(wish.call))

    def first_step(self) -> Case | None:
        """A sentence that asks for several calls: the first one is made."""
        steps = self._steps()
        return steps and Case('first_step', steps[0], Answer(steps[1][0]))

    def follow_up(self) -> Case | None:
        """What follows from a result: the next step, the end, or a question."""
        rng = self.rng
        plan = self._steps() if rng.random() < 0.65 else self._one_step()
        if plan is None:
            return None
        text, calls = plan
        done = rng.randint(1, len(calls))
        turns = self._history(rng.choice((0, 0, 0, 1, 2)))
        for index in range(done):
            result = self._success(calls[index])
            asked = text if index == 0 else rng.choice(dialogue.FOLLOW_UPS)
            turns.append(Turn(asked, Answer(calls[index]), result))
        name = calls[done - 1][0]
        answer = Answer(calls[done]) if done < len(calls) else no_action(DONE)
        if rng.random() < 0.3:
            result, why = self._failure()
            answer = ask(f'{name} failed{why}. What should I do?')
            if rng.random() < 0.2:
                result, answer = rng.choice(dialogue.CANCELS), no_action(f'{name} was canceled.')
            turns[-1] = Turn(turns[-1].text, turns[-1].answer, result)
        return Case('follow_up', rng.choice(dialogue.FOLLOW_UPS), answer, turns)

    def decide(self, *, of_any_robot: bool = False) -> Case:
        """The autonomous question: only the state tells what to do."""
        trouble = self.rng.choice((0.1, 0.35, 0.35))
        state = self._state(trouble=trouble)
        if of_any_robot:
            state = StateMaker(self.rng, is_demo=False, trouble=trouble).draw()
        text = expand(self.rng, self.rng.choice(dialogue.DECIDE))
        return Case('decide', text, self._judge(state), state=state)

    def question(self) -> Case | None:
        """A question that the observations or the declarations answer."""
        state = self._state()
        asked = ask_state(self.rng, state, self.book)
        if asked is None:
            return None
        template, values, reply = asked
        text = speak(self.rng, '!' + template, values, self.robot)
        return Case('question', text, Answer(reply=reply), state=state)

    def stop(self) -> Case:
        """The operator wants everything to stop."""
        return Case('stop', speak(self.rng, self.rng.choice(dialogue.STOP), self._fillers(), self.robot),
                    STOP_CALL)

    def chat(self) -> Case:
        """The operator wants nothing."""
        rng = self.rng
        wish = self._wish(imperative=True)
        values = self._fillers() | {'negated': 'move'}
        if wish is not None:
            values['negated'] = fill(expand(rng, wish.template), wish.values)
        return Case('chat', speak(rng, rng.choice(dialogue.CHAT), values, self.robot),
                    no_action(IDLE))

    def unclear(self) -> Case | None:
        """A wish without what it needs: the operator is asked for it."""
        rng = self.rng
        tools = [t for t in self.book.tools if t.skill.key in dialogue.UNCLEAR]
        if not tools:
            return None
        tool = rng.choice(tools)
        template = rng.choice(dialogue.UNCLEAR[tool.skill.key])
        name = tool.names[tool.skill.args[0].key]
        return Case('unclear', speak(rng, template, self._fillers(), self.robot),
                    ask(f'Which {name} do you mean?'))

    def unknown_choice(self) -> Case | None:
        """A wish for a value that the tool's choices lack."""
        rng = self.rng
        tools = [t for t in self.book.tools
                 if any(t.choices.get(a.key) and a.kind in ('place', 'object', 'person', 'code')
                        for a in t.skill.args)]
        if not tools:
            return None
        tool = rng.choice(tools)
        arg = next(a for a in tool.skill.args if a.key in tool.choices)
        known = {value.replace('_', ' ').lower() for value in tool.choices[arg.key]}
        value = {'place': place_phrase, 'object': object_phrase}.get(
            arg.kind, lambda r: r.choice(words.PEOPLE) + str(r.randint(2, 9)))(rng)
        if value.lower() in known or any(value.lower() in k or k in value.lower() for k in known):
            return None
        wish = self._wish(tool)
        if wish is None:
            return None
        spoken = article(rng, value) if arg.kind in ('place', 'object') else value
        values = {**wish.values, arg.key: spoken}
        text = speak(rng, wish.template, values, self.robot)
        name = tool.names[arg.key]
        return Case('unknown_choice', text, ask(f'I do not know {value}. Which {name} should I use?'))

    def unavailable(self) -> Case | None:
        """A wish that no tool of the catalogue can serve."""
        rng = self.rng
        missing = self.book.missing_skills()
        if missing and rng.random() < 0.6:
            skill = rng.choice(missing)
            template = rng.choice(skill.says)
            values = self._fillers()
            for arg in skill.args:
                values[arg.key] = spoken_value(rng, Tool(skill, self.book.declarations[0], {}, {}), arg)[1]
        else:
            template, values = rng.choice(dialogue.UNAVAILABLE), self._fillers()
            if rng.random() < 0.5:
                ending = rng.choice(('{object}', '{object} for {person}', '{object} in {place}'))
                template = f'{rng.choice(words.DEEDS)} {ending}'
        return Case('unavailable', speak(rng, template, values, self.robot), ask(NO_TOOL))

    def unanswerable(self) -> Case:
        """A question that nothing in the prompt answers."""
        template = self.rng.choice(dialogue.UNANSWERABLE)
        return Case('unanswerable', speak(self.rng, template, self._fillers(), self.robot),
                    Answer(reply=UNKNOWN_ANSWER))

    def correction(self) -> Case | None:
        """The operator changes his mind within the sentence: the last value counts."""
        rng = self.rng
        wish = self._wish()
        keys = [k for k in (wish.values if wish else ()) if k in ('place', 'object', 'target')]
        if wish is None or len(keys) != 1:
            return None
        tool = next(t for t in self.book.tools if t.name == wish.call[0])
        arg = next((a for a in tool.skill.args if a.key == keys[0]), None)
        if arg is None:
            return None
        _, other = spoken_value(rng, tool, arg)
        both = fill(expand(rng, rng.choice(dialogue.CORRECTIONS)),
                    {'a': other, 'b': wish.values[keys[0]]})
        if other == wish.values[keys[0]]:
            return None
        text = speak(rng, wish.template, {**wish.values, keys[0]: both}, self.robot)
        return Case('correction', text, Answer(wish.call))

    def instead(self) -> Case | None:
        """One thing is forbidden and another one asked for in the same sentence."""
        rng = self.rng
        wish, other = self._wish(imperative=True), self._wish(imperative=True)
        if wish is None or other is None:
            return None
        template = expand(rng, rng.choice((
            '![do not|don\'t|never] {a}, {b}', '![do not|don\'t] {a}, but {b}', '![do not|don\'t] {a}. {b}', '{b}, do not {a}',
            '{b} instead of that, [do not|don\'t] {a}', '!you should not {a}, [you should |please |]{b}', '!no need to {a}, {b}')))
        values = {'a': fill(expand(rng, other.template), other.values),
                  'b': fill(expand(rng, wish.template), wish.values)}
        return Case('instead', speak(rng, template, values, self.robot), Answer(wish.call))

    def condition(self) -> Case | None:
        """A wish that depends on the state."""
        rng = self.rng
        state = self._state()
        wish, other = self._wish(imperative=True), self._wish(imperative=True)
        if state.battery is None or wish is None or other is None:
            return None
        limit = rng.choice((20, 30, 40, 50, 60, 70, rng.randint(5, 95)))
        below = rng.random() < 0.5
        holds = state.battery < limit if below else state.battery > limit
        if state.battery == limit:
            return None
        phrase = expand(rng, '[the|your] battery is [{s}] {n}[ percent| %|]').format(
            s='[below|under|less than|lower than]' if below else '[above|over|more than|higher than]',
            n=limit)
        phrase = expand(rng, phrase.replace('[[', '[').replace(']]', ']'))
        first = fill(expand(rng, wish.template), wish.values)
        second = fill(expand(rng, other.template), other.values)
        if rng.random() < 0.5:
            text, fallback = f'!if {phrase}, {first}, otherwise {second}', Answer(other.call)
        else:
            text = f'!if {phrase}, {first}' if rng.random() < 0.5 else f'!{first} if {phrase}'
            fallback = no_action(IDLE)
        text = speak(rng, text.replace('{', '(').replace('}', ')'), {}, self.robot)
        return Case('condition', text, Answer(wish.call) if holds else fallback, state=state)

    def again(self) -> Case | None:
        """The operator wants the last call once more."""
        turns = self._history(self.rng.choice((1, 2, 3)))
        last = turns[-1].answer.call if turns else None
        if last is None or last[0] in ('no_action', 'ask_operator', 'stop'):
            return None
        text = speak(self.rng, self.rng.choice(dialogue.AGAIN), {}, self.robot)
        return Case('again', text, Answer(last), turns)

    def seen(self) -> Case | None:
        """A wish about what the camera sees, named only by the observations."""
        rng = self.rng
        tool = self.book.by_skill.get('pick')
        state = self._state()
        if tool is None or not state.seen or 'object' in tool.choices:
            return None
        template = rng.choice((
            '[pick up|grab|take|get] [what you see|the thing you see|the object you see|what is in front of you]',
            '[pick up|grab|take] the [nearest|closest] [thing|object|item]', '[pick up|take] whatever is [nearest|closest][ to you|]',
            'take the [object|thing|item] that is [closest|nearest][ to you|]', 'pick up the detected object'))
        nearest = state.seen[0]
        return Case('seen', speak(rng, template, {}, self.robot),
                    Answer((tool.name, {tool.names['object']: nearest})), state=state)

    def approach(self) -> Case | None:
        """Drive to a thing that the camera sees: its coordinates are in the observations."""
        rng = self.rng
        tool = self.book.by_skill.get('drive_to')
        state = self._state()
        found = [d for o in state.observations if o.type.endswith('DetectionArray') and o.value
                 for d in o.value['detections']]
        if tool is None or not found:
            return None
        thing = rng.choice(found)
        template = rng.choice((
            '[drive|go|move|head|come|get] [over |up |]to {object}', '[approach|reach|drive up to|get close to] {object}',
            'go to where {object} is', '[drive|move] to the position of {object}', 'get next to {object}'))
        text = speak(rng, template, {'object': article(rng, thing['name'])}, self.robot)
        call = (tool.name, {tool.names['x']: _plain(thing['x']), tool.names['y']: _plain(thing['y'])})
        return Case('approach', text, Answer(call), state=state)

    def bring(self) -> Case | None:
        """Fetching and carrying: the first step is to pick, or to drive where the thing is."""
        plan = self._errand()
        return plan and Case('bring', plan[0], Answer(plan[1][0]))

    def _judge(self, state: State) -> Answer:
        if state.front is not None and state.front < NEAR_M:
            return STOP_CALL
        if state.error and state.drive >= MOVING_MPS:
            return STOP_CALL
        if state.error:
            return ask(f'The robot reports {state.error}. What should I do?')
        if state.battery is not None and state.battery < LOW_BATTERY and not state.is_charging:
            tool = self.book.by_skill.get('dock')
            if tool is not None:
                return Answer((tool.name, {}))
            return ask(f'Battery is at {state.battery} %. What should I do?')
        if state.battery is not None:
            return no_action(f'Battery is at {state.battery} %. Nothing to do.')
        return no_action(IDLE)

    def _state(self, trouble: float = 0.12) -> State:
        is_demo = self.book.is_demo and self.rng.random() < 0.7
        return StateMaker(self.rng, is_demo=is_demo, trouble=trouble).draw()

    def _fillers(self) -> dict[str, str]:
        rng = self.rng
        values = {
            'surface': rng.choice(words.SURFACES), 'group': rng.choice(words.GROUPS),
            'person': rng.choice(words.PEOPLE), 'object': article(rng, object_phrase(rng)),
            'place': article(rng, place_phrase(rng)), 'n': str(rng.randint(2, 60)),
            'n2': str(rng.randint(2, 99)), 'odd': nonce(rng),
        }
        values['distractor'] = fill(rng.choice(words.DISTRACTORS), values)
        if rng.random() < 0.2:
            values['distractor'] = f'the {any_word(rng)} {rng.choice(_VERBS)} {any_word(rng)}'
        return values

    def _wish(self, tool: Tool | None = None, *, imperative: bool = False) -> Wish | None:
        """Choose a tool and a sentence for it, and the call it asks for."""
        rng = self.rng
        tool = tool or (rng.choice(self.book.tools) if self.book.tools else None)
        if tool is None:
            return None
        have = frozenset(tool.names)
        keys = {arg.key for arg in tool.skill.args}
        says = [t for t in tool.skill.says if slots_of(t) & keys <= have]
        if imperative:
            says = [t for t in says if not t.startswith('!')]
        template = rng.choice(says)
        values = self._fillers()
        arguments: dict[str, Any] = {}
        for arg in tool.skill.args:
            if arg.key in slots_of(template):
                value, spoken = spoken_value(rng, tool, arg)
                if arg.kind == 'text' and '{text} to ' in template:
                    value = spoken = rng.choice(words.GREETINGS)
                values[arg.key] = spoken
                arguments[tool.names[arg.key]] = value
            elif arg.kind == 'text' and tool.skill.key == 'say':
                arguments[tool.names[arg.key]] = 'hello'
        required = {tool.names[a.key] for a in tool.skill.args if not a.optional and a.key in have}
        if not required <= set(arguments):
            return None
        return Wish(template, values, (tool.name, arguments))

    def _say(self, wish: Wish) -> str:
        """Say a wish, at times between sentences that do not matter."""
        rng = self.rng
        text = speak(rng, wish.template, wish.values, self.robot)
        if rng.random() < 0.12 and 'text' not in wish.values:
            aside = self._fillers()['distractor']
            aside = aside[:1].upper() + aside[1:] + '.'
            text = f'{aside} {text}' if rng.random() < 0.6 else f'{text.rstrip(".")}. {aside}'
        return text

    def _one_step(self) -> tuple[str, list[CallValue]] | None:
        wish = self._wish()
        return None if wish is None else (self._say(wish), [wish.call])

    def _steps(self) -> tuple[str, list[CallValue]] | None:
        """Say several wishes in one sentence; the calls come in the order they are to happen."""
        rng = self.rng
        if rng.random() < 0.3:
            return self._errand()
        tools = [t for t in self.book.tools if t.skill.key != 'say' or rng.random() < 0.7]
        if len(tools) < 2:
            return None
        count = 3 if len(tools) > 2 and rng.random() < 0.2 else 2
        wishes = [self._wish(t, imperative=True) for t in rng.sample(tools, count)]
        if any(w is None for w in wishes):
            return None
        found = [w for w in wishes if w is not None]
        parts = [fill(expand(rng, w.template), w.values).rstrip('.') for w in found]
        if any(' and ' in part or ':' in part for part in parts[:-1]) and rng.random() < 0.7:
            return None
        joined = expand(rng, rng.choice(dialogue.JOINS if count == 2 else dialogue.JOINS_THREE))
        values = dict(zip('abc', parts, strict=False))
        return speak(rng, joined, values, self.robot), [w.call for w in found]

    def _errand(self) -> tuple[str, list[CallValue]] | None:
        """Fetch, carry and bring with go_to, pick and place."""
        rng = self.rng
        go, pick, put = (self.book.by_skill.get(k) for k in ('go_to', 'pick', 'place'))
        if go is None or pick is None or put is None or 'object' in pick.choices:
            return None
        if 'deliver' in self.book.by_skill or 'hand_over' in self.book.by_skill:
            return None
        place_arg, thing_arg = go.skill.args[0], pick.skill.args[0]
        place, at = spoken_value(rng, go, place_arg)
        other, there = spoken_value(rng, go, place_arg)
        thing, named = spoken_value(rng, pick, thing_arg)
        surface, on = spoken_value(rng, put, put.skill.args[0])
        if place == other:
            return None
        goes, goes_other = (go.name, {go.names['place']: place}), (go.name, {go.names['place']: other})
        picks = (pick.name, {pick.names['object']: thing})
        puts = (put.name, {put.names['target']: surface})
        puts_there = (put.name, {put.names['target']: other.replace('_', ' ')})
        template, calls = rng.choice((
            ('[fetch|get|collect|grab|bring me|pick up|retrieve] {thing} [from|in|at] {at}', [goes, picks]),
            ('go to {at} [and|to] [fetch|get|collect|grab|pick up|take] {thing}', [goes, picks]),
            ('!{thing} is in {at}, [fetch it|bring it|get it|pick it up|go and get it]', [goes, picks]),
            ('[bring|give|hand|pass|fetch|get] me {thing}', [picks]),
            ('[fetch|bring] {thing}', [picks]),
            ('[pick up|take|grab|get] {thing} and [bring|take|carry|move] it to {there}', [picks, goes_other]),
            ('[take|carry] {thing} [over |]to {there}', [picks, goes_other, puts_there]),
            ('[bring|deliver|transport] {thing} to {there}', [picks, goes_other, puts_there]),
            ('[bring|take|carry|move|transport|deliver] {thing} from {at} to {there}', [goes, picks, goes_other, puts_there]),
            ('[pick up|take|grab|get|lift] {thing} and [put|place|set|lay|drop] it [on|in|onto|into] {on}', [picks, puts]),
            ('[move|transfer] {thing} [onto|into|on to] {on}', [picks, puts]),
            ('go to {at}, [pick up|take|grab] {thing} and [put|place] it [on|in] {on}', [goes, picks, puts]),
            ('[get|fetch|take] {thing} from {at} and [put|place] it [on|in] {on}', [goes, picks, puts]),
        ))
        values = {'thing': named, 'at': at, 'there': there, 'on': on}
        return speak(rng, template, values, self.robot), list(calls)

    def _success(self, call: CallValue) -> str:
        rng = self.rng
        fields = rng.choice((
            f'travelled {rng.uniform(0.2, 12):.1f}', f'travelled {rng.uniform(0.2, 12):.2f}', 'percentage 1',
            f'percentage {rng.uniform(0.2, 1):.2f}', f'distance {rng.randint(1, 9)}', 'error_code 0', 'ok true', 'message fine'))
        return rng.choice(dialogue.SUCCESSES).format(fields=fields)

    def _failure(self) -> tuple[str, str]:
        """Return a failed result and what a question says of it: the reason, when one is given."""
        rng = self.rng
        template = rng.choice(dialogue.FAILURES)
        why = rng.choice(dialogue.FAILURE_REASONS)
        text = template.format(state=rng.choice(dialogue.FAILURE_STATES), why=why,
                               code=rng.choice(dialogue.FAILURE_CODES), n=rng.randint(1, 9))
        return text, f': {why}' if '{why}' in template else ''

    def _history(self, count: int) -> list[Turn]:
        turns: list[Turn] = []
        rng = self.rng
        while len(turns) < count:
            roll = rng.random()
            if roll < 0.75:
                step = self._one_step()
                if step is None:
                    break
                result = self._success(step[1][0]) if rng.random() < 0.6 else ''
                turns.append(Turn(step[0], Answer(step[1][0]), result))
                if result and rng.random() < 0.5:
                    turns.append(Turn(rng.choice(dialogue.FOLLOW_UPS), no_action(DONE)))
                continue
            case = rng.choice((self.stop, self.chat, self.question, self.decide, self.unclear))()
            if case is not None:
                turns.append(Turn(case.text, case.answer))
        return turns


def _plain(value: float) -> float | int:
    return int(value) if value == int(value) else value
