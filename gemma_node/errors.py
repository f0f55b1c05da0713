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

"""The package's errors: one root, few children, each named for what happened."""

from __future__ import annotations

from gemma_node.core import ErrorCode


class GemmaNodeError(Exception):
    """Root of every error this package raises on purpose; `code` goes into the Decision."""

    code = ErrorCode.RUNTIME_FAILURE


class ConfigError(GemmaNodeError):
    """A parameter, tools file or template is wrong; the text names the place and the remedy."""

    code = ErrorCode.INVALID_REQUEST


class CheckpointError(GemmaNodeError):
    """A checkpoint folder is missing, damaged or of a family this runtime does not serve."""


class TemplateError(GemmaNodeError):
    """A chat template breaks the rule that old text stays an exact prefix."""


class GrammarError(GemmaNodeError):
    """A tool's schema cannot be compiled into a token grammar."""


class BagError(GemmaNodeError):
    """A recording cannot be read whole."""


class FrameError(GemmaNodeError):
    """A frame between node and worker is malformed or too large."""


class RequestError(GemmaNodeError):
    """A request cannot be served; `code` says why and ends up in its Decision."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code
