"""The simulated world: what its robots do, exactly."""

import math

import pytest

from gemma_node.demo.world import default_world
from gemma_node.demo.world import NUM_BEAMS
from gemma_node.demo.world import PLACES
from gemma_node.demo.world import TaskState


def run(world, task, seconds=60.0):
    for _ in range(int(seconds / 0.05)):
        if task.state is not TaskState.RUNNING:
            break
        world.step(0.05)
    return task


def test_robot_arrives_where_it_was_sent_and_pays_with_charge():
    world = default_world()
    before = world.robots['r1'].percentage
    task = run(world, world.start('r1', 'navigate_to', {'place': 'kitchen', 'speed': 0.0}))
    robot = world.robots['r1']
    assert task.state is TaskState.SUCCEEDED
    assert math.dist((robot.x, robot.y), PLACES['kitchen']) < 0.06
    assert task.travelled == pytest.approx(5.0, abs=0.1)
    assert robot.percentage < before
    assert robot.speed == 0.0


def test_pose_goal_turns_to_its_heading():
    world = default_world()
    goal = {'place': '', 'x': 2.0, 'y': 0.0, 'yaw': -1.5, 'speed': 1.0}
    assert run(world, world.start('r1', 'navigate_to', goal)).state is TaskState.SUCCEEDED
    assert world.robots['r1'].yaw == pytest.approx(-1.5, abs=0.05)


def test_unknown_place_aborts_at_once_with_a_reason():
    task = default_world().start('r1', 'navigate_to', {'place': 'moon'})
    assert (task.state, task.error) == (TaskState.ABORTED, 'UNKNOWN_PLACE')
    assert 'moon' in task.error_msg


def test_pick_needs_reach_and_free_hands_then_place_puts_it_down():
    world = default_world()
    assert world.start('r1', 'pick', {'object': 'cup'}).error == 'OUT_OF_REACH'
    assert world.start('r1', 'pick', {'object': 'unicorn'}).error == 'NOT_FOUND'
    assert world.start('r1', 'place', {'target': ''}).error == 'HANDS_EMPTY'
    run(world, world.start('r1', 'navigate_to', {'place': 'kitchen'}))
    assert run(world, world.start('r1', 'pick', {'object': 'Cup'})).state is TaskState.SUCCEEDED
    assert world.start('r1', 'pick', {'object': 'box'}).error == 'HANDS_FULL'
    run(world, world.start('r1', 'navigate_to', {'place': 'lobby'}))
    assert run(world, world.start('r1', 'place', {'target': 'lobby'})).error == 'NONE'
    assert math.dist((world.things['cup'].x, world.things['cup'].y), PLACES['lobby']) < 0.1


def test_cancel_leaves_the_robot_where_it_is():
    world = default_world()
    task = world.start('r1', 'navigate_to', {'place': 'entrance'})
    run(world, task, seconds=1.5)
    world.cancel(task)
    x = world.robots['r1'].x
    world.step(0.05)
    assert task.state is TaskState.CANCELED
    assert 0.0 < x < 7.0
    assert world.robots['r1'].x == x


def test_dock_charges_and_say_is_remembered():
    world = default_world()
    assert run(world, world.start('r2', 'dock', {})).state is TaskState.SUCCEEDED
    before = world.robots['r2'].percentage
    world.step(1.0)
    assert world.robots['r2'].percentage > before
    run(world, world.start('r2', 'say', {'text': 'hello'}))
    assert world.robots['r2'].utterances == ['hello']


def test_scan_sees_walls_and_the_other_robot():
    world = default_world()
    world.robots['r2'].x, world.robots['r2'].y = 2.0, 0.0
    ranges = world.scan('r1')
    assert len(ranges) == NUM_BEAMS
    assert ranges[NUM_BEAMS // 2] == pytest.approx(1.7, abs=0.01)
    assert ranges[0] == pytest.approx(10.0, abs=0.01)


def test_detections_are_near_and_sorted():
    seen = default_world().detections('r2')
    assert [item[0] for item in seen] == ['parcel', 'r1']
    assert seen[0][3] < seen[1][3]


def test_two_worlds_stay_equal_step_by_step():
    first, second = default_world(), default_world()
    for world in (first, second):
        world.start('r1', 'navigate_to', {'place': 'lab'})
    for _ in range(100):
        first.step(0.05)
        second.step(0.05)
        assert first.robots == second.robots
