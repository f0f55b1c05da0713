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
"""Says before tests are imported how Triton runs and what Hypothesis may complain of."""

from __future__ import annotations

import os
from pathlib import Path

try:
    import hypothesis
except ImportError:
    hypothesis = None

# Triton reads this when it is first imported, also by libraries that only look for it.
if not Path('/dev/nvidiactl').exists():
    os.environ.setdefault('TRITON_INTERPRET', '1')

if hypothesis is not None:
    # How fast examples come is the machine's affair.
    hypothesis.settings.register_profile(
        'any_machine', deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
    hypothesis.settings.load_profile('any_machine')
