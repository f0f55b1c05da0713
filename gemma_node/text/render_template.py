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
Renders an observation by a Jinja2 template of the parameter file, in a sandbox.

The template is trusted configuration, the message is not: what comes out is one bounded line.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined
from jinja2 import Template
from jinja2 import TemplateError
from jinja2 import TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from gemma_node.core import Observation
from gemma_node.errors import ConfigError
from gemma_node.text.render_values import degrees_text
from gemma_node.text.render_values import fixed
from gemma_node.text.render_values import InvalidValueError
from gemma_node.text.render_values import label
from gemma_node.text.render_values import quoted
from gemma_node.text.render_values import yaw_degrees


class _FieldsFirst(ImmutableSandboxedEnvironment):
    """Reads `msg.values` as the field, as messages have fields named like dict methods."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return a message's field, or undefined; other objects as Jinja2 does."""
        if not isinstance(obj, Mapping):
            return super().getattr(obj, attribute)
        return obj[attribute] if attribute in obj else self.undefined(obj=obj, name=attribute)


def _environment() -> _FieldsFirst:
    environment = _FieldsFirst(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    environment.globals.clear()
    environment.filters['num'] = lambda value, decimals=2: fixed(float(value), decimals)
    environment.filters['yaw'] = lambda value: degrees_text(yaw_degrees({'q': value}, 'q'))
    environment.filters['quoted'] = lambda value: quoted(str(value))
    environment.filters['label'] = lambda value: label(str(value))
    return environment


_ENVIRONMENT = _environment()


def check_template(source: str, place: str) -> None:
    """Refuse a template that does not compile; `place` says where it stands."""
    try:
        _compile(source)
    except TemplateSyntaxError as error:
        raise ConfigError(f'{place}: template line {error.lineno}: {error.message}') from error


def render_template(observation: Observation) -> str:
    """Render `msg` (also `name`, `topic`, `type`, `age`); InvalidValueError in one line."""
    try:
        text = _compile(observation.template).render(
            msg=observation.value,
            name=observation.name,
            topic=observation.topic,
            type=observation.type,
            age=observation.age_s,
        )
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as error:
        raise InvalidValueError(f'template: {_one_line(str(error))}') from error
    return _one_line(text) or 'empty'


@lru_cache(maxsize=256)
def _compile(source: str) -> Template:
    return _ENVIRONMENT.from_string(source)


def _one_line(text: Any) -> str:
    return ' '.join(''.join(c if c.isprintable() else ' ' for c in str(text)).split())
