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
Covering arrays: few combinations in which every pair of values of any two factors occurs.

Greedy and seeded, so that a run can be repeated. Knows nothing of what the factors mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from itertools import combinations
import random
from typing import Any

Values = Mapping[str, Sequence[Any]]
Combination = dict[str, Any]
_Pair = tuple[str, Any, str, Any]
_TRIES = 40


def pairs_of(combination: Mapping[str, Any]) -> set[_Pair]:
    """Return every pair of values that a combination has."""
    return {
        (one, combination[one], other, combination[other])
        for one, other in combinations(combination, 2)
    }


def all_pairs(factors: Values) -> set[_Pair]:
    """Return every pair of values of any two factors."""
    return {
        (one, x, other, y)
        for one, other in combinations(factors, 2)
        for x in factors[one]
        for y in factors[other]
    }


def covering_array(factors: Values, seed: int) -> Iterator[Combination]:
    """Yield combinations until every pair occurred; each is the best of some random ones."""
    rng = random.Random(seed)
    missing = all_pairs(factors)
    names = list(factors)
    while missing:
        best: Combination = {}
        gained: set[_Pair] = set()
        # One pair that is missing stands fixed, so that every round gains.
        one, x, other, y = rng.choice(sorted(missing, key=repr))
        for _ in range(_TRIES):
            tried = {name: rng.choice(list(factors[name])) for name in names}
            tried[one], tried[other] = x, y
            gain = missing & pairs_of(tried)
            if len(gain) > len(gained):
                best, gained = tried, gain
        missing -= gained
        yield best
