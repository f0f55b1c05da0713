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

"""Templates of the parameter file: what they can say, and what they must not be able to do."""

import pytest

from gemma_node.core import Observation
from gemma_node.errors import ConfigError
from gemma_node.text.render import render_observation
from gemma_node.text.render_template import check_template


def rendered(template, value):
    return render_observation(
        Observation(
            name='bin', topic='/bin', type='x/msg/Bin', age_s=0.5, value=value, template=template
        )
    )


def test_a_template_replaces_the_renderer():
    template = 'holds {{ msg.items | length }} things, {{ msg.load * 100 | round }} % full'
    assert rendered(template, {'items': [1, 2], 'load': 0.5}) == (
        '- bin (0.5 s ago): holds 2 things, 50.0 % full'
    )


def test_filters_write_numbers_headings_and_foreign_text():
    template = '{{ msg.x | num(1) }} m {{ msg.q | yaw }} {{ msg.t | quoted }} {{ msg.n | label }}'
    value = {'x': -0.04, 'q': {'x': 0.0, 'y': 0.0, 'z': 0.0, 'w': 1.0}, 't': 'a\nb', 'n': 'cup'}
    assert rendered(template, value) == r'- bin (0.5 s ago): 0.0 m 0 deg "a\nb" cup'


def test_the_result_stays_on_one_line():
    assert rendered('{% for i in msg.l %}\n{{ i }}\n{% endfor %}', {'l': ['a\nb', 'c']}) == (
        '- bin (0.5 s ago): a b c'
    )


def test_an_empty_result_says_so():
    assert rendered('{% if msg.x > 5 %}heavy{% endif %}', {'x': 1}) == '- bin (0.5 s ago): empty'


@pytest.mark.parametrize(
    ('template', 'word'),
    [
        ('{{ msg.missing }}', "has no attribute 'missing'"),
        ('{{ msg.x / 0 }}', 'division by zero'),
        ('{{ msg.__class__.__mro__ }}', "has no attribute '__class__'"),
        ("{{ ''.__class__ }}", 'unsafe'),
        ('{{ msg.l.append(1) }}', 'unsafe'),
        ('{{ range(9) }}', "'range' is undefined"),
        ('{{ msg.x | num("a") }}', 'template'),
    ],
)
def test_a_failing_template_is_named_in_the_line(template, word):
    line = rendered(template, {'x': 1, 'l': []})
    assert line.startswith('- bin: invalid (template: ')
    assert word in line


def test_a_template_that_does_not_compile_is_refused_with_its_line():
    with pytest.raises(ConfigError, match=r'^robots\.r1\.bin: template line 2: .+$') as caught:
        check_template('fine\n{% if %}', 'robots.r1.bin')
    assert '\n' not in str(caught.value)
    check_template('{{ msg.x }}', 'robots.r1.bin')
