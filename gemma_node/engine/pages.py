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
Pages of keys and values: who holds which, and copy on write.

Knows page numbers, counts and addresses; nothing of layers, lanes or positions.
"""

from __future__ import annotations

import torch

_PAGES_PER_SLAB = 16


class PagePool:
    """
    Hands out pages of one size and counts who holds each; grows by slabs, never shrinks.

    A page with more than one holder is read only. Engine thread only.
    """

    def __init__(self, num_elements: int, dtype: torch.dtype) -> None:
        self.num_elements = num_elements
        self.dtype = dtype
        self.page_bytes = num_elements * dtype.itemsize
        self._slabs: list[torch.Tensor] = []
        self._holders: list[int] = []
        self._free: list[int] = []

    @property
    def num_used(self) -> int:
        """Pages that somebody holds."""
        return len(self._holders) - len(self._free)

    def take(self) -> int:
        """Return a page with one holder and unknown content; MemoryError changes nothing."""
        if not self._free:
            self._grow()
        page = self._free.pop()
        self._holders[page] = 1
        return page

    def hold(self, page: int) -> None:
        """Add a holder."""
        self._holders[page] += 1

    def drop(self, page: int) -> None:
        """Take a holder away; a page without one is free."""
        self._holders[page] -= 1
        if not self._holders[page]:
            self._free.append(page)

    def is_shared(self, page: int) -> bool:
        """Return whether more than one holds it."""
        return self._holders[page] > 1

    def own(self, page: int) -> int:
        """Return the page, or a copy of it where others hold it too, to one holder alone."""
        if not self.is_shared(page):
            return page
        copy = self.take()
        self.view(copy).copy_(self.view(page))
        self.drop(page)
        return copy

    def view(self, page: int) -> torch.Tensor:
        """Return its numbers."""
        return self._slabs[page // _PAGES_PER_SLAB][page % _PAGES_PER_SLAB]

    def address(self, page: int) -> int:
        """Return where it lies."""
        return self.view(page).data_ptr()

    def fill_free(self, value: float) -> None:
        """Write a number into every page without a holder, at least into one slab of them."""
        if not self._free:
            self._grow()
        for page in self._free:
            self.view(page).fill_(value)

    def _grow(self) -> None:
        try:
            slab = torch.empty((_PAGES_PER_SLAB, self.num_elements), dtype=self.dtype)
        except RuntimeError as error:
            # torch reports a failed allocation on a CPU as a plain RuntimeError.
            raise MemoryError(f'no memory for {_PAGES_PER_SLAB} cache pages') from error
        first = len(self._holders)
        self._slabs.append(slab)
        self._holders += [0] * _PAGES_PER_SLAB
        self._free += range(first + _PAGES_PER_SLAB - 1, first - 1, -1)
