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

"""Questions for what something says: the text is given back letter by letter, whatever it says."""

from __future__ import annotations

from demo_data import coined
from demo_data import copies
from demo_data import observations as obs
from demo_data import rare
from demo_data import values
from demo_data.cases import Answer
from demo_data.cases import Case
from demo_data.cases import CaseMaker
from demo_data.observations import Inputs
from demo_data.phrases import Said

_NAMES = (
    'notes', 'sign', 'qr_code', 'whiteboard', 'label_reader', 'display', 'barcode', 'ocr', 'door_sign', 'radio', 'sticker', 'speech', 'chat', 'voice', 'screen', 'plate', 'tag', 'ticket', 'badge', 'poster', 'letter', 'inbox', 'console', 'pager', 'scanner_text', 'name_plate', 'rfid', 'teleprinter', 'headline', 'caption',
)
_ASKS = (
    'what does {n} say?', 'what is on {n}?', 'read {n} to me', 'what do you read on {n}?', 'what is written on {n}?', 'tell me what {n} says', 'what does {n} read?', 'what text is on {n}?', 'please read out {n}', 'which words are on {n}?', 'give me the text of {n}', 'what can you read on {n}?', 'quote {n}', 'what has {n} got to say?',
    'repeat what {n} says', 'what is the text on {n}?', 'can you read {n}?', 'I cannot read {n}, what does it say?', 'what stands on {n}?', 'word for word, what does {n} say?', 'what message is on {n}?', 'what did {n} say?', 'what is the content of {n}?', '{n}: what does it say?', 'let me know what {n} says', 'does {n} say anything?', 'spell out {n} for me',
    'what is {n} showing?', 'what do we have on {n}?', 'how does {n} read?', 'and {n}?', 'what about {n}, what is there?', 'tell me the words on {n}', 'what is to be read on {n}?',
)


def reading(m: CaseMaker) -> Case | None:
    """A question for one of several texts; half of them give orders."""
    rng = m.rng
    state = m.state(faults=0.0)
    if any(f.kind in ('note', 'text') for f in state.facts):
        return None
    makers = (copies.text, copies.code, copies.person, copies.place, values.text, lambda r: ' '.join(coined.coin(r) for _ in range(r.randint(1, 5))), rare.code, copies.thing)
    names = rng.sample(_NAMES, rng.choice((1, 1, 2, 3)))
    said: dict[str, str] = {}
    for name in names:
        text = m.injected() if rng.random() < 0.3 else rng.choice(makers)(rng)
        if len(text) > 120 or '"' in text or '\n' in text or not obs_added(m, state, name, text):
            return None
        said[name] = text
    rng.shuffle(state.observations)
    name = rng.choice(names)
    label = name if rng.random() < 0.3 else f'the {name.replace("_", " ")}'
    template = rng.choice(_ASKS)
    return Case('question', m.say(Said(template, {'n': label}, False), noise=0.3), Answer(reply=f'{name} says "{said[name]}".'), state=state)


def obs_added(m: CaseMaker, state: obs.State, name: str, text: str) -> bool:
    """Add a text to a state, if it has no input of that name."""
    if name in state.names:
        return False
    obs.string(Inputs(m.rng, state, 0.0), name, text, 'note')
    return True
