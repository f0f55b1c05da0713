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

import pytest

from gemma_node.tools.interface_schema import InterfaceSource


@pytest.fixture
def names(tmp_path):
    """Return a function from a message's text to the named values of its fields."""
    pytest.importorskip('rosidl_adapter', reason='rosidl_adapter is not installed')

    def read(text: str) -> dict[str, dict]:
        fields = InterfaceSource.of_definitions({'a_pkg/msg/A': text}).sections(
            'a_pkg/msg/A')[0].fields
        return {name: dict(field.names) for name, field in fields.items() if field.names}
    return read


@pytest.mark.parametrize(('text', 'expected'), [
    # The field's name leads the constants'.
    ('int8 STATUS_NO=-1\nint8 STATUS_OK=0\nfloat32 x\nint8 status', {
        'status': {'STATUS_NO': -1, 'STATUS_OK': 0}}),
    ('uint8 status\nuint8 STATUS_NO=1\nuint8 STATUS_OK=0', {
        'status': {'STATUS_NO': 1, 'STATUS_OK': 0}}),
    ('int32 STATE_A=1\nint32 STATE_ARM_UP=1\nint32 STATE_ARM_DOWN=2\nint32 STATE_B=2\n'
     'float32 x\nint32 state\nint32 state_arm', {
         'state': {'STATE_A': 1, 'STATE_B': 2},
         'state_arm': {'STATE_ARM_UP': 1, 'STATE_ARM_DOWN': 2}}),
    ('string KIND_A="a"\nstring KIND_B=b\nfloat32 x\nstring kind', {
        'kind': {'KIND_A': 'a', 'KIND_B': 'b'}}),
    # The constants' common words hold the field's last words.
    ('uint8 COVARIANCE_TYPE_X=0\nuint8 COVARIANCE_TYPE_Y=1\nfloat32 x\n'
     'uint8 position_covariance_type', {
         'position_covariance_type': {'COVARIANCE_TYPE_X': 0, 'COVARIANCE_TYPE_Y': 1}}),
    ('uint8 LOG_LEVEL_A=10\nuint8 LOG_LEVEL_B=20\nstring name\nuint32 level', {
        'level': {'LOG_LEVEL_A': 10, 'LOG_LEVEL_B': 20}}),
    # A block right before the field.
    ('byte OK=0\nbyte BAD=1  # worse\n\n# How bad.\nbyte level\nbyte other', {
        'level': {'OK': 0, 'BAD': 1}}),
    ('uint8 A=0\nuint8 B=1\nuint8 first\nuint8 C=0\nuint8 D=1\nuint8 second', {
        'first': {'A': 0, 'B': 1}, 'second': {'C': 0, 'D': 1}}),
    ('uint8 SPRAY=0\nuint8 FOG=0\nuint8 JET=1\nuint8 form', {
        'form': {'SPRAY': 0, 'FOG': 0, 'JET': 1}}),
])
def test_constants_become_the_names_of_the_field_they_belong_to(names, text, expected):
    assert names(text) == expected


@pytest.mark.parametrize('text', [
    'uint8 A=0\nuint8 B=1\nstring name\nuint8 kind', 'uint8 A=0\nuint8 B=1\nuint16 kind',
    'uint8 A=0\nuint8 B=1\nuint8[] kinds', 'uint8 A=0\nuint8 B=1\nfloat32 x',
    'float32 A=0\nfloat32 B=1\nfloat32 x', 'bool YES=true\nbool NO=false\nbool answer',
    'uint64 DEPTH_RECURSIVE=0\nuint64 depth', 'uint8 A=0\nint8 B=1\nint8 kind',
    # Bits to combine, and bounds.
    'uint8 SERVICE_NONE=0\nuint8 SERVICE_GPS=1\nuint8 SERVICE_SBAS=2\nuint8 SERVICE_COMPASS=4\n'
    'uint8 service',
    'uint8 SPEED_MIN=0\nuint8 SPEED_MAX=100\nuint8 speed', 'uint8 MIN=3\nuint8 MAX=9\nuint8 size',
    # Two fields could be meant.
    'uint8 TYPE_A=0\nuint8 TYPE_B=1\nfloat32 x\nuint8 left_type\nuint8 right_type',
    'uint8 X_TYPE_A=0\nuint8 X_TYPE_B=1\nuint8 Y_TYPE_A=0\nuint8 Y_TYPE_B=1\nbool x\nuint8 a_type',
    'string KINDA="a"\nstring KINDB=b\nstring kind',
])
def test_unclear_constants_leave_the_field_a_number(names, text):
    assert names(text) == {}


@pytest.mark.parametrize(('interface_type', 'expected'), [
    ('sensor_msgs/msg/NavSatStatus', {'status': 5}), ('sensor_msgs/msg/PointField', {}),
    ('sensor_msgs/msg/BatteryState', {
        'power_supply_status': 5, 'power_supply_health': 9, 'power_supply_technology': 9}),
    ('visualization_msgs/msg/Marker', {}), ('sensor_msgs/msg/Range', {'radiation_type': 2}),
    ('visualization_msgs/msg/InteractiveMarkerControl', {
        'orientation_mode': 3, 'interaction_mode': 10}),
    ('diagnostic_msgs/msg/DiagnosticStatus', {'level': 4}), ('rcl_interfaces/msg/Log', {}),
    ('action_msgs/msg/GoalStatus', {'status': 7}), ('lifecycle_msgs/msg/State', {'id': 11}),
])
def test_installed_interfaces_have_the_names_their_authors_meant(interface_type, expected):
    sections = InterfaceSource.installed().sections(interface_type)
    if sections is None:
        pytest.skip(f'{interface_type} is not installed')
    found = {name: len(field.names) for name, field in sections[0].fields.items() if field.names}
    assert found == expected
