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

"""Message objects of rosbags -> plain nested values, bounded as `core.Observation` says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from dataclasses import is_dataclass
import re
from typing import Any

import numpy as np

MAX_ARRAY = 4096
# Constants of an interface come as attributes too; only fields are lower case.
_FIELD = re.compile(r'[a-z]')
_NANOSECONDS = 1_000_000_000


def to_plain(value: Any) -> Any:
    """Convert a message: fields to dict, arrays to lists, bytes to their length."""
    if is_dataclass(value):
        names = (field.name for field in fields(value))
        return {name: to_plain(getattr(value, name)) for name in names if _FIELD.match(name)}
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (bytes, bytearray)):
        return {'__bytes__': len(value)}
    if isinstance(value, (list, tuple)):
        head = [to_plain(item) for item in value[:MAX_ARRAY]]
        return head if len(value) <= MAX_ARRAY else {'__array__': len(value), 'head': head}
    return value


def header_stamp(plain: Any) -> int:
    """Return the header stamp in nanoseconds, 0 where there is none."""
    header = plain.get('header') if isinstance(plain, Mapping) else None
    stamp = header.get('stamp') if isinstance(header, Mapping) else None
    if not isinstance(stamp, Mapping):
        return 0
    return int(stamp.get('sec', 0)) * _NANOSECONDS + int(stamp.get('nanosec', 0))


def _array(value: np.ndarray[Any, Any]) -> Any:
    if value.dtype.itemsize == 1 and value.dtype != np.bool_:
        return {'__bytes__': int(value.size)}
    if value.size <= MAX_ARRAY:
        return value.tolist()
    return {'__array__': int(value.size), 'head': value[:MAX_ARRAY].tolist()}
