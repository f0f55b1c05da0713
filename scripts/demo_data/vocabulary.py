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


"""All closed word lists that training draws from, for tests that other sets share none of them."""

from __future__ import annotations

from demo_data import clocks
from demo_data import defined
from demo_data import extras
from demo_data import frames_sites
from demo_data import frames_states
from demo_data import measured
from demo_data import rare
from demo_data import robots
from demo_data import scenes
from demo_data import sorts
from demo_data import watch_kinds as watches
from demo_data import words
from demo_data.catalogues import demo_catalogue
from demo_data.library import skills
from demo_data.machines import machines


def vocabulary() -> dict[str, set[str]]:
    """
    Return the closed pools by what they name; composed and invented words are not among them.

    `tool_names` are those of the skills before a catalogue changes their case or prefix;
    `demo_*` are what the package's own catalogue has, which every set may use.
    """
    demo = demo_catalogue().declarations()
    choices = {c for d in demo for p in d.parameters['properties'].values() for c in p.get('enum', ())}
    worked = (s for table in (scenes.scenes(), machines()) for each in table.values() for s in each.skills)
    own = (*skills().values(), *worked)
    pools = rare.pools()
    return {
        'tool_names': {name for skill in own for name in skill.names} | measured.names() | clocks.names(),
        'argument_names': {name for skill in own for arg in skill.args for name in arg.names} | extras.argument_names() | measured.argument_names(),
        'choices': {choice for skill in own for arg in skill.args for choice in arg.choices} | extras.choices() | sorts.choices(),
        'descriptions': {text for skill in own for text in skill.descriptions},
        'places': set(words.PLACES), 'objects': set(words.OBJECTS), 'surfaces': set(words.SURFACES),
        'persons': set(words.PEOPLE), 'robots': set(words.ROBOTS), 'groups': set(words.GROUPS),
        'definitions': {line for table in (defined.NOUNS, defined.DEEDS, defined.MANNERS) for line, *_ in table},
        'texts': {*words.STATEMENTS, *words.GREETINGS}, 'errors': set(words.DIAGNOSES),
        'modes': {*robots.MODES, *watches.MODES}, 'flags': {*robots.FLAGS, *frames_states.input_names(), *frames_sites.input_names()},
        'numbers': {*(n[0] for n in robots.NUMBERS), *watches.INPUTS},
        'first_names': pools['first_names'], 'things': pools['things'], 'place_parts': pools['place_parts'],
        'name_parts': pools['name_parts'], 'adjectives': pools['adjectives'], 'verbs': pools['verbs'],
        'demo_tool_names': {d.name for d in demo}, 'demo_places': choices,
    }
