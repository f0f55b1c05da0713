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

"""What the model is told of a call after its Decision: one short line of data, never markup."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gemma_node.policy.fields import as_text
from gemma_node.policy.fields import lookup
from gemma_node.tools.spec import ResultRule

MAX_CHARACTERS = 400


def done_text(rule: ResultRule, result: Mapping[str, Any]) -> str:
    """Return the line for a call that worked: ``done, travelled 3.2``."""
    fields = {name: lookup(result, name) for name in rule.show}
    details = [f'{name} {as_text(value)}' for name, value in fields.items()
               if value not in (None, '') and not name.startswith('error_')]
    return ', '.join(['done', *details])[:MAX_CHARACTERS]


def failed_text(what: str, why: str = '') -> str:
    """Return the line for one that did not: ``failed: the way is blocked``."""
    return (f'{what}: {why}' if why else what)[:MAX_CHARACTERS]
