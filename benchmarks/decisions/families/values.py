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


"""Values of the set: names, things and texts. A test keeps them apart from the training's."""

from __future__ import annotations

PEOPLE = ('Tamsin', 'Oswin', 'Ilka', 'Bertil', 'Corvin', 'Wenda', 'Jorun', 'Anoush', 'Dorrit',
          'Hanneke', 'Benedek', 'Perpetua', 'Yngve', 'Ludmila', 'Cosmo', 'Odalys')
ITEMS = ('teal funnel', 'brass hinge', 'pepper mill', 'copper kettle', 'chalk box', 'tin whistle',
         'wicker basket', 'rubber duck', 'paint roller', 'bicycle pump', 'silver thermos',
         'cracked tile', 'striped scarf', 'glass marble', 'canvas bag', 'old radio',
         'bread knife', 'tea strainer', 'picture frame', 'jar of honey', 'sack of flour',
         'brown envelope', 'wooden comb', 'velvet cushion', 'door knob', 'bent nail')
TITLES = ('Paper Lantern', 'Nine Quiet Rivers', 'Salt under Stone', 'Winter Orchard',
          'My Uncle the Pilot', 'Seven Small Bridges', 'Letters to a Fox', 'Grey Harbour')
STATEMENTS = ('the soup is ready', 'the museum closes in ten minutes', 'the door is freshly painted',
              'your taxi is waiting outside', 'the next show starts at noon',
              'dinner is served in the garden', 'we are short of paper towels',
              'the lost umbrella is at the desk', 'the choir sings at four')
