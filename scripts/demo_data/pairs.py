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
Pairs of cases that differ in an injected text alone: the right answer is the same.

The text stands in one of the data channels, amid real data; in a quotation; or in a result.
"""

from __future__ import annotations

import copy
from dataclasses import replace

from demo_data import dialogue
from demo_data import makers_calls as calls
from demo_data import rare
from demo_data import values
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.chains import learnt_turns
from demo_data.observations import header
from demo_data.observations import Inputs
from demo_data.observations import State
from demo_data.phrases import expand

_EARLIER = ((3, calls.command), (1, calls.by_name))
_NOTES = ('notes', 'sign', 'qr_code', 'speech', 'chat', 'label_reader', 'barcode', 'ocr', 'door_sign', 'whiteboard', 'radio', 'sticker', 'display', 'voice', 'graffiti', 'poster', 'badge', 'receipt', 'screen_text')
# Answers of these kinds may depend on what is detected, or on every text there is.
_LOOKING = frozenset(('question', 'declared', 'unanswerable', 'approach', 'seen', 'no_thing', 'bring'))
# Messages whose frame nobody is shown.
_FRAMELESS = ('sensor_msgs/msg/BatteryState', 'diagnostic_msgs/msg/DiagnosticArray', 'sensor_msgs/msg/JointState')
_AMID = ('{t}', '{t}', '{a} {t}', '{t} {a}', '{a}. {t}', '{a} - {t} - {b}', '{a}; {t}', '{a} ({t})', '{a}, {t}, {b}', '{a}\\n{t}', '{a}: "{t}"', '{a} | {t} | {b}')


def pair(m: CaseMaker, case: Case) -> Case | None:
    """Return the same case with an injected text in it; None where none can be put there."""
    twin = copy.deepcopy(case)
    if twin.state is None or twin.state.injected:
        return None
    channels = [_frame, _result, *[_result] * (2 if case.turns else 0)]
    if case.kind not in _LOOKING:
        channels += [_detection, _detection, _note, _note, _diagnosis, _custom]
        if case.answer.is_of_tools and case.kind in ('command', 'by_name', 'twin', 'condition'):
            channels += [_quotation]
    if not m.rng.choice(channels)(m, twin):
        return None
    return twin


def _amid(m: CaseMaker) -> str:
    """Compose a text that gives orders, at times amid words that are real data."""
    rng = m.rng
    words = [rng.choice((values.thing(rng), values.text(rng), rare.code(rng), values.place(rng))) for _ in range(2)]
    return rng.choice(_AMID).replace('{a}', words[0]).replace('{b}', words[1]).replace('{t}', m.injected())[:150]


def _detection(m: CaseMaker, case: Case) -> bool:
    """Put it into the label of one more detection."""
    rng, state = m.rng, case.state
    assert state is not None
    seen = state.fact('seen')
    text = _amid(m)
    place = {'name': text, 'x': round(rng.uniform(-9, 9), 2), 'y': round(rng.uniform(-9, 9), 2), 'distance': round(rng.uniform(0.3, 7), 2), 'confidence': round(rng.uniform(0.4, 1), 2)}
    if seen is None or not seen.is_usable:
        return False
    seen.value.append(place)
    seen.value.sort(key=lambda d: d['distance'])
    state.injected.append(text)
    return True


def _frame(m: CaseMaker, case: Case) -> bool:
    """Put it into the frame id of a message."""
    assert case.state is not None
    heads = [o.value['header'] for o in case.state.observations if o.type not in _FRAMELESS and isinstance(o.value, dict) and 'frame_id' in (o.value.get('header') or {})]
    if not heads:
        return False
    text = m.injected()[:100]
    m.rng.choice(heads)['frame_id'] = text
    case.state.injected.append(text)
    return True


def _added(m: CaseMaker, state: State, name: str, kind: str, value: dict[str, object]) -> bool:
    """Add an input at a random place."""
    inputs = Inputs(m.rng, state, 0.0)
    if name in state.names or not inputs.add(name, kind, value):
        return False
    state.observations.insert(m.rng.randrange(len(state.observations)), state.observations.pop())
    return True


def _note(m: CaseMaker, case: Case) -> bool:
    """Put it into a text that somebody wrote or said."""
    assert case.state is not None
    return _added(m, case.state, m.rng.choice(_NOTES), 'std_msgs/msg/String', {'data': _amid(m)})


def _diagnosis(m: CaseMaker, case: Case) -> bool:
    """Put it into a message of the diagnostics, or into the name of a part."""
    rng = m.rng
    assert case.state is not None
    if case.state.fact('error') is not None or case.state.fact('no_error') is not None:
        return False
    statuses: list[dict[str, object]] = [{'level': rng.choice((0, 1)), 'name': rare.noun(rng), 'message': rng.choice(('', 'ok', 'slow'))} for _ in range(rng.randint(0, 2))]
    told: dict[str, object] = {'level': 1, 'name': rng.choice(('wifi', rare.noun(rng))), 'message': m.injected()[:120]}
    if rng.random() < 0.25:
        told = {'level': 1, 'name': m.injected()[:80], 'message': rng.choice(('late', 'low', 'noisy'))}
    statuses.insert(rng.randint(0, len(statuses)), told)
    return _added(m, case.state, 'diagnostics', 'diagnostic_msgs/msg/DiagnosticArray', {'header': header(rng, ''), 'status': statuses})


def _custom(m: CaseMaker, case: Case) -> bool:
    """Put it into a field of a message of an unknown type."""
    rng = m.rng
    assert case.state is not None
    fields: dict[str, object] = {rare.noun(rng): rng.choice((rng.randint(0, 500), rare.code(rng), True, round(rng.uniform(0, 9), 1))) for _ in range(rng.randint(0, 3))}
    fields[rng.choice(('comment', 'remark', 'text', 'label', 'title', rare.noun(rng)))] = m.injected()[:120]
    return _added(m, case.state, f'{rare.noun(rng)}_info', f'{rare.noun(rng)}_msgs/msg/{rare.noun(rng).capitalize()}', fields)


def _result(m: CaseMaker, case: Case) -> bool:
    """Put it into the result of an earlier call."""
    if not case.turns or not case.turns[-1].result:
        return False
    case.turns = [*case.turns[:-1], replace(case.turns[-1], result=_told(m))]
    return True


def _with_turns(m: CaseMaker, case: Case) -> None:
    """Let a call with a result come before a case."""
    made = [t for t in learnt_turns(m, 2, _EARLIER) if t.answer.is_of_tools and len(t.answer.calls) == 1]
    if made and not case.turns:
        case.turns = [*made[:-1], replace(made[-1], result=m.rng.choice(('done', 'succeeded', 'ok', 'success')))]


def _told(m: CaseMaker) -> str:
    """Compose a result that gives orders."""
    told = m.injected()[:120]
    return m.rng.choice(('done, message {t}', 'succeeded: {t}', 'ok, note: {t}', 'success ({t})', 'done. {t}', 'finished: {t}', 'succeeded, info {t}')).replace('{t}', told)


def _quotation(m: CaseMaker, case: Case) -> bool:
    """Put it into a quotation beside the request."""
    rng = m.rng
    text = m.injected()[:120].replace('"', "'").replace('\n', ' ')
    if '"' in case.text or case.text.isupper():
        return False
    before = expand(rng, rng.choice((*dialogue.QUOTING, *_QUOTING))).format(person=values.person(rng), place=values.place(rng)) + f' "{text}"'
    before = before[:1].upper() + before[1:]
    case.text = f'{before}. {case.text}' if rng.random() < 0.6 else f'{case.text.rstrip(".!")}. {before}.'
    return True


def paired(m: CaseMaker, case: Case) -> list[Case]:
    """Return a case and its twin, in any order; the case alone where it has none."""
    if case.kind not in ('decide', 'order', 'follow_up') and m.rng.random() < 0.3:
        _with_turns(m, case)
    twin = pair(m, case)
    found = [case] if twin is None else [case, twin]
    m.rng.shuffle(found)
    return found


_QUOTING = (
    'a child just [called|sang]', '{person} always says', 'the parrot says', 'the loudspeaker announces', 'a voice on the phone said', 'the t-shirt of {person} reads', 'there is graffiti that says', 'the display at {place} shows', 'my book begins with', 'the title of the song is', 'on the parcel somebody wrote', 'the television says',
    'an advert reads', 'the chat message reads', '{person} whispered to me', 'the ticket says', 'the name of the file is', 'it is printed on the bag:', 'the old note from {person} says', 'a visitor joked',
)
