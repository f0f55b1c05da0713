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

"""States survive a restart whole, or not at all."""

from __future__ import annotations

from collections.abc import Callable
import logging
from pathlib import Path
import random
from typing import Any

import pytest

from gemma_node.core import CacheSource
from gemma_node.core import Generation
from gemma_node.engine.keeper import SAVE_PERIOD_S


def _ask(name: str, prompt: tuple[int, ...], key: str = 'robot', **more: Any) -> Generation:
    more = {'max_tokens': 6, 'cuts': (130, 260), 'temperature': 1.0, 'seed': 2, **more}
    return Generation(id=name, state_key=key, prompt_ids=prompt, **more)


@pytest.fixture
def make(make_driver: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Return a maker of drivers that share a folder, as restarts do."""

    def make_one(**more: Any) -> Any:
        return make_driver(**{'state_dir': str(tmp_path), 'state_identity': 'model', **more})

    return make_one


def _files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def test_a_restart_resumes_where_the_last_one_ended(
    make: Callable[..., Any],
    make_driver: Callable[..., Any],
    tokens: tuple[int, ...],
    tmp_path: Path,
    grid: int,
) -> None:
    first = make()
    first.run(_ask('warm', tokens[:300]))
    assert first.engine.stats().states_written == 2
    assert len(_files(tmp_path)) == 2
    asked = _ask('g', tokens[:260] + tokens[700:733])
    (resumed,) = make().run(asked)
    assert resumed.cache_source == CacheSource.DISK
    assert resumed.cached_tokens == 260 // grid * grid
    (fresh,) = make_driver(state_budget_bytes=0).run(asked)
    assert fresh.cached_tokens == 0
    assert (resumed.token_ids, resumed.probabilities) == (fresh.token_ids, fresh.probabilities)
    # Another robot may have the shared prefix and nothing else.
    driver = make()
    (other,) = driver.run(_ask('o', tokens[:260] + tokens[700:733], key='other'))
    assert other.cached_tokens == 130 // grid * grid
    assert driver.engine.stats().states_loaded == 1


@pytest.mark.parametrize('change', [{'state_identity': 'other'}, {'kv_dtype': 'bfloat16'}])
def test_states_of_another_model_or_runner_are_not_seen(
    make: Callable[..., Any],
    tokens: tuple[int, ...],
    tmp_path: Path,
    change: dict[str, Any],
) -> None:
    make().run(_ask('warm', tokens[:300]))
    before = {path: path.read_bytes() for path in _files(tmp_path)}
    driver = make(**change)
    (result,) = driver.run(_ask('g', tokens[:280]))
    assert result.cached_tokens == 0
    assert driver.engine.stats().state_refused == 0
    assert all(path.read_bytes() == data for path, data in before.items())


def _truncated(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data))]


def _flipped(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def _garbage(data: bytes, rng: random.Random) -> bytes:
    return rng.randbytes(rng.randrange(200))


@pytest.mark.parametrize('damage', [_truncated, _flipped, _garbage])
def test_a_damaged_file_means_a_fresh_prefill_said_once_and_counted(
    make: Callable[..., Any],
    make_driver: Callable[..., Any],
    tokens: tuple[int, ...],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    damage: Callable[[bytes, random.Random], bytes],
) -> None:
    asked = _ask('g', tokens[:260] + tokens[700:733])
    (fresh,) = make_driver(state_budget_bytes=0).run(asked)
    rng = random.Random(6)
    for _ in range(8):
        make().run(_ask('warm', tokens[:300]))
        for path in _files(tmp_path):
            path.write_bytes(damage(path.read_bytes(), rng))
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            driver = make()
            (result,) = driver.run(asked)
        assert (result.token_ids, result.probabilities) == (fresh.token_ids, fresh.probabilities)
        refused = driver.engine.stats().state_refused
        assert 1 <= refused <= 2
        assert len(caplog.records) == refused
        assert all('computed afresh' in record.message for record in caplog.records)
        assert driver.engine.stats().states_on_disk <= 2


def test_half_written_files_are_never_states(
    make: Callable[..., Any], tokens: tuple[int, ...], tmp_path: Path
) -> None:
    make().run(_ask('warm', tokens[:300]))
    (tmp_path / 'tmpabc.part').write_bytes(b'GNSTATE1 half')
    driver = make()
    assert driver.engine.stats().states_on_disk == 2
    assert driver.engine.stats().state_refused == 0


def test_a_folder_that_cannot_be_written_serves_without_it(
    make_driver: Callable[..., Any], tokens: tuple[int, ...], tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    blocked = tmp_path / 'file'
    blocked.write_text('in the way')
    driver = make_driver(state_dir=str(blocked / 'states'))
    (result,) = driver.run(_ask('g', tokens[:300]))
    assert result.error_msg == ''
    assert not driver.engine.has_work
    assert sum('not written' in record.message for record in caplog.records) == 1


def test_a_key_is_written_again_only_after_a_while_and_at_the_end(
    make: Callable[..., Any], tokens: tuple[int, ...]
) -> None:
    now = [100.0]
    driver = make(clock=lambda: now[0])
    driver.run(_ask('a', tokens[:300]))
    assert driver.engine.stats().states_written == 2
    driver.run(_ask('b', tokens[:400], cuts=(130, 390)))
    assert driver.engine.stats().states_written == 2
    now[0] += SAVE_PERIOD_S
    driver.run(_ask('c', tokens[:20], key='other', cuts=()))
    assert driver.engine.stats().states_written == 3
    driver.run(_ask('d', tokens[:500], cuts=(130, 480)))
    driver.engine.close()
    assert driver.engine.stats().states_written == 4
    assert driver.engine.stats().states_on_disk == 2


def test_forget_and_clear_reach_the_folder(
    make: Callable[..., Any], tokens: tuple[int, ...], tmp_path: Path
) -> None:
    driver = make()
    driver.run(_ask('a', tokens[:300]), _ask('b', tokens[:300], key='other'))
    assert len(_files(tmp_path)) == 3
    driver.engine.forget('robot')
    assert len(_files(tmp_path)) == 2
    driver.engine.clear()
    assert _files(tmp_path) == []
    (after,) = driver.run(_ask('c', tokens[:300], key='other'))
    assert after.cached_tokens == 0


def test_the_folder_keeps_within_its_budget(
    make: Callable[..., Any], tokens: tuple[int, ...], tmp_path: Path
) -> None:
    driver = make(state_budget_bytes=600_000)
    for number in range(12):
        driver.run(_ask(f'g{number}', tokens[number : number + 300], key=f'robot{number}'))
    total = sum(path.stat().st_size for path in _files(tmp_path))
    assert 0 < total <= 4 * 600_000
    assert driver.engine.stats().states_written > driver.engine.stats().states_on_disk
