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
Interfaces as schemas: their texts, what values they hold, and JSON forms of these values.

``InterfaceSource`` finds texts, ``shape_of`` resolves one, ``document`` writes its JSON Schema,
``to_json`` and ``from_json`` convert. Imports no message type; see each file's head.
"""

from gemma_node.tools.interface_schema.definition import Field
from gemma_node.tools.interface_schema.definition import KINDS
from gemma_node.tools.interface_schema.definition import PARTS
from gemma_node.tools.interface_schema.definition import Section
from gemma_node.tools.interface_schema.schema import DIALECT
from gemma_node.tools.interface_schema.schema import document
from gemma_node.tools.interface_schema.schema import schema_of
from gemma_node.tools.interface_schema.shape import Bytes
from gemma_node.tools.interface_schema.shape import Items
from gemma_node.tools.interface_schema.shape import Member
from gemma_node.tools.interface_schema.shape import Record
from gemma_node.tools.interface_schema.shape import Scalar
from gemma_node.tools.interface_schema.shape import Seconds
from gemma_node.tools.interface_schema.shape import Shape
from gemma_node.tools.interface_schema.shape import shape_at
from gemma_node.tools.interface_schema.shape import shape_of
from gemma_node.tools.interface_schema.shape import without
from gemma_node.tools.interface_schema.source import format_path
from gemma_node.tools.interface_schema.source import InterfaceSource
from gemma_node.tools.interface_schema.source import is_interface_type
from gemma_node.tools.interface_schema.values import check_value
from gemma_node.tools.interface_schema.values import from_json
from gemma_node.tools.interface_schema.values import NOW_KEY
from gemma_node.tools.interface_schema.values import split_seconds
from gemma_node.tools.interface_schema.values import to_json

__all__ = [
    'DIALECT', 'KINDS', 'NOW_KEY', 'PARTS', 'Bytes', 'Field', 'InterfaceSource', 'Items',
    'Member', 'Record', 'Scalar', 'Seconds', 'Section', 'Shape', 'check_value', 'document',
    'format_path', 'from_json', 'is_interface_type', 'schema_of', 'shape_at', 'shape_of',
    'split_seconds', 'to_json', 'without',
]
