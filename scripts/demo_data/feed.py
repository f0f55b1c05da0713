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
Batches of rows for training, made by worker processes while the device trains.

Which chunks are made and, with a fixed number of repeats, the order they are used in depend on
seeds and step numbers only. Knows no torch: the workers need none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
import logging
import multiprocessing
from multiprocessing.pool import IMapIterator
from multiprocessing.pool import Pool
import os
from pathlib import Path
import random
from typing import Any
from typing import cast

from demo_data import packing

LOG = logging.getLogger('train_demo')
HELD_OUT_SEED = 999_983
PACKS_PER_CHUNK = 1000
POOL_SIZE = 600
# Fresh batches before older ones are used again, where these are used as needed.
_FIRST_FRESH = 4

_WRITER: list[Any] = []


@dataclass(frozen=True)
class Supply:
    """What the workers of one process make: every `stride`-th chunk from `first` on."""

    seed: int
    rows: int
    length: int
    first: int = 0
    stride: int = 1
    held_out: int = 0
    assets: Path = packing.ASSETS
    helping: int = 1
    drills_first: float = 0.0
    drills_last: float = 0.0
    drill_chunks: int = 1

    def job(self, chunk: int) -> Job:
        """Return what makes a chunk; the share of drills changes in a line over `drill_chunks`."""
        stage = min(chunk / self.drill_chunks, 1.0)
        drills = self.drills_first + (self.drills_last - self.drills_first) * stage
        return (self.assets, self.seed, chunk, self.rows, self.length, self.helping, drills, stage)


Job = tuple[Path, int, int, int, int, int, float, float]


def make_chunk(job: Job) -> packing.Rows:
    """Make one batch of rows; runs in a worker process."""
    assets, seed, chunk, rows, length, helping, drills, stage = job
    if not _WRITER:
        _WRITER.append(packing.load_writer(assets))
    made, used = packing.draw_rows(
        _WRITER[0], seed, chunk * PACKS_PER_CHUNK, rows, length, helping=helping,
        drills=drills, stage=stage)
    if used > (chunk + 1) * PACKS_PER_CHUNK:
        raise ValueError('a chunk used more packs than it may; make PACKS_PER_CHUNK larger')
    return made


def held_out_jobs(supply: Supply) -> list[Job]:
    """Return what makes the held-out batches: of the first mixture, the last mostly of drills if there are any."""
    plain = Supply(HELD_OUT_SEED, supply.rows, supply.length, assets=supply.assets)
    jobs = [plain.job(i) for i in range(supply.held_out)]
    if supply.drills_first > 0 and len(jobs) > 1:
        drilled = Supply(HELD_OUT_SEED, supply.rows, supply.length, assets=supply.assets, drills_first=0.8, drills_last=0.8)
        jobs[-1] = drilled.job(len(jobs) - 1)
    return jobs


class Feed:
    """
    The batches of one training process, step by step.

    Of every `repeats` batches one is fresh, the others are drawn from the newest; with 0 an
    older one is used whenever no fresh one is ready. Make it before the device is first used:
    its workers are forks. Packs that could not be made are counted and logged, each once.
    """

    def __init__(self, supply: Supply, *, workers: int, repeats: int, seed: int) -> None:
        self._repeats = repeats
        self._seed = seed
        self._pool: deque[packing.Rows] = deque(maxlen=POOL_SIZE)
        self.num_fresh = 0
        self.num_left_out = 0
        self._is_held_out_told = False
        self._workers: Pool | None = None
        held_out = held_out_jobs(supply)
        jobs = _jobs(supply)
        if workers:
            os.environ['TOKENIZERS_PARALLELISM'] = 'false'
            context = multiprocessing.get_context('fork')
            self._workers = context.Pool(workers, os.nice, (10,))
            self._held_out = self._workers.map_async(make_chunk, held_out, chunksize=1)
            self._fresh: Iterator[packing.Rows] = self._workers.imap(make_chunk, jobs)
        else:
            self._made = [make_chunk(job) for job in held_out]
            self._fresh = map(make_chunk, jobs)

    def held_out(self) -> Sequence[packing.Rows]:
        """Return the batches that no training step sees."""
        made = self._made if self._workers is None else self._held_out.get()
        if not self._is_held_out_told:
            self._is_held_out_told = True
            for rows in made:
                self._tell(rows)
        return made

    def batch(self, step: int) -> packing.Rows:
        """Return the batch of this step; steps must come in order."""
        if self._repeats:
            if self._pool and step % self._repeats:
                return self._older(step)
            return self._newest(next(self._fresh))
        if self._workers is None or len(self._pool) < _FIRST_FRESH:
            return self._newest(next(self._fresh))
        try:
            return self._newest(cast('IMapIterator[packing.Rows]', self._fresh).next(timeout=0))
        except multiprocessing.TimeoutError:
            return self._older(step)

    def close(self) -> None:
        """End the workers."""
        if self._workers is not None:
            self._workers.terminate()

    def _newest(self, rows: packing.Rows) -> packing.Rows:
        self.num_fresh += 1
        self._tell(rows)
        self._pool.append(rows)
        return rows

    def _tell(self, rows: packing.Rows) -> None:
        for each in rows.left_out:
            self.num_left_out += 1
            LOG.warning('left out %s', each)

    def _older(self, step: int) -> packing.Rows:
        return random.Random(f'{self._seed}/{step}').choice(self._pool)


def _jobs(supply: Supply) -> Iterator[Job]:
    chunk = supply.first
    while True:
        yield supply.job(chunk)
        chunk += supply.stride
