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

"""The checks that a receipt runs, in their order."""

from __future__ import annotations

from gemma_node.receipts.checks import Check
from gemma_node.receipts.edges import Edges
from gemma_node.receipts.exactness import Exactness
from gemma_node.receipts.forced import ForcedTokens
from gemma_node.receipts.forced import KnownFaults
from gemma_node.receipts.projections import Projections
from gemma_node.receipts.reach import Reach
from gemma_node.receipts.scalars import Scalars

# A new check is one more instance here; gemma_node.receipts.checks says what it must have.
CHECKS: tuple[Check, ...] = (
    ForcedTokens(),
    KnownFaults(),
    Reach(),
    Scalars(),
    Projections(),
    Edges(),
    Exactness(),
)
