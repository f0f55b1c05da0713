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
CUDA C++ compiled in process by NVRTC, and launched through the driver: no build at install.

Machine code is kept on disk under a digest of all that it depends on, so that a second process
compiles nothing. Where the compiler or the driver is missing, `problem` says what.
"""

from __future__ import annotations

import ctypes
from ctypes import byref
from ctypes import c_char_p
from ctypes import c_int
from ctypes import c_size_t
from ctypes import c_uint
from ctypes import c_void_p
from functools import cache
import hashlib
import os
from pathlib import Path
import sys
import tempfile

from gemma_node.errors import GemmaNodeError

NAMES = ('libnvrtc.so.13', 'libnvrtc.so.12')
CACHE_VARIABLE = 'GEMMA_NODE_KERNEL_CACHE'
# The driver's numbers for attributes of a function, and of a launch.
_SHARED_ATTRIBUTE = 8
_EARLY_ATTRIBUTE = 6
_STACK_LIMIT = 0


class KernelError(GemmaNodeError):
    """A kernel could not be compiled, loaded or launched."""


class _Value(ctypes.Union):
    _fields_ = (('pad', ctypes.c_char * 64), ('number', c_int))


class _Attribute(ctypes.Structure):
    _fields_ = (('id', c_int), ('pad', ctypes.c_char * 4), ('value', _Value))


class _Config(ctypes.Structure):
    _fields_ = (
        ('grid', c_uint * 3),
        ('block', c_uint * 3),
        ('shared', c_uint),
        ('stream', c_void_p),
        ('attributes', ctypes.POINTER(_Attribute)),
        ('num_attributes', c_uint),
    )


@cache
def compiler() -> ctypes.CDLL | None:
    """Return NVRTC: what is loaded already, what the loader finds, or what torch brought."""
    candidates = [*NAMES]
    for folder in sys.path:
        for name in NAMES:
            candidates += [str(each) for each in Path(folder).glob(f'nvidia/*/lib/{name}')]
    for each in candidates:
        # By its path it does not find the library of its own that lies beside it.
        for beside in Path(each).parent.glob('libnvrtc-builtins.so.*') if '/' in each else ():
            _loaded(str(beside))
        loaded = _loaded(each)
        if loaded is None:
            continue
        loaded.nvrtcGetErrorString.restype = c_char_p
        return loaded
    return None


@cache
def driver() -> ctypes.CDLL | None:
    """Return the driver's library."""
    return _loaded('libcuda.so.1')


def compiler_version() -> str:
    """Return the compiler's version, 'absent' where there is none."""
    library = compiler()
    return 'absent' if library is None else '.'.join(map(str, _version(library)))


def problem() -> str:
    """Return why kernels cannot be compiled and launched here; '' when they can."""
    if compiler() is None:
        return f'none of {", ".join(NAMES)} can be loaded'
    return '' if driver() is not None else 'libcuda.so.1 cannot be loaded'


def limit_stack(nbytes: int) -> bool:
    """
    Set the stack of a thread in the current context; return whether the driver did.

    Its default of 1 KiB is kept for every thread that the device can hold, 264 MiB on an H200. A
    kernel that needs more makes it grow when it is launched.
    """
    library = driver()
    return library is not None and not library.cuCtxSetLimit(_STACK_LIMIT, c_size_t(nbytes))


def cache_folder() -> Path:
    """Return where machine code is kept: by the environment, or in the user's cache."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen)
    base = os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache'
    return Path(base) / 'gemma_node' / 'kernels'


def cache_name(source: str, options: tuple[str, ...], version: tuple[int, int]) -> str:
    """Return the file of one piece of machine code; the target is one of the options."""
    digest = hashlib.sha256()
    for each in (source, *options, f'{version[0]}.{version[1]}'):
        digest.update(each.encode() + b'\0')
    return f'{digest.hexdigest()[:40]}.cubin'


def compiled(source: str, options: tuple[str, ...], folder: Path | None = None) -> bytes:
    """Return machine code, from the cache where it is there."""
    library = compiler()
    if library is None:
        raise KernelError(problem())
    folder = folder or cache_folder()
    path = folder / cache_name(source, options, _version(library))
    try:
        return path.read_bytes()
    except OSError:
        pass
    code = _compile(library, source, options)
    try:
        _keep(path, code)
    except OSError:
        pass  # compiled again by the next process
    return code


class Kernel:
    """A function on the device of the current context."""

    def __init__(self, code: bytes, name: str, *, shared: int) -> None:
        library = driver()
        if library is None:
            raise KernelError(problem())
        self._driver, self._shared = library, shared
        module, self._function = c_void_p(), c_void_p()
        _check(library.cuModuleLoadData(byref(module), code), 'cuModuleLoadData')
        _check(
            library.cuModuleGetFunction(byref(self._function), module, name.encode()),
            'cuModuleGetFunction',
        )
        _check(
            library.cuFuncSetAttribute(self._function, _SHARED_ATTRIBUTE, c_int(shared)),
            f'{shared} bytes of shared memory',
        )

    def launch(
        self,
        grid: tuple[int, int],
        threads: int,
        stream: int,
        job: ctypes.Structure,
        *,
        early: bool,
    ) -> None:
        """
        Launch with one argument by value.

        :param early: begin while the kernel before ends; the kernel waits for it itself
        """
        attribute = _Attribute(id=_EARLY_ATTRIBUTE, value=_Value(number=1))
        config = _Config(
            grid=(*grid, 1),
            block=(threads, 1, 1),
            shared=self._shared,
            stream=stream,
            attributes=ctypes.pointer(attribute),
            num_attributes=int(early),
        )
        arguments = (c_void_p * 1)(ctypes.addressof(job))
        _check(
            self._driver.cuLaunchKernelEx(byref(config), self._function, arguments, None),
            'cuLaunchKernelEx',
        )


def _loaded(name: str) -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(name)
    except OSError:
        return None


def _version(library: ctypes.CDLL) -> tuple[int, int]:
    major, minor = c_int(), c_int()
    library.nvrtcVersion(byref(major), byref(minor))
    return major.value, minor.value


def _compile(library: ctypes.CDLL, source: str, options: tuple[str, ...]) -> bytes:
    program = c_void_p()
    library.nvrtcCreateProgram(
        byref(program), source.encode(), b'kernel.cu', 0, None, None
    )
    given = (c_char_p * len(options))(*(each.encode() for each in options))
    try:
        failed = library.nvrtcCompileProgram(program, len(options), given)
        size = c_size_t()
        if failed:
            library.nvrtcGetProgramLogSize(program, byref(size))
            log = ctypes.create_string_buffer(size.value)
            library.nvrtcGetProgramLog(program, log)
            reason = library.nvrtcGetErrorString(failed).decode()
            raise KernelError(f'{reason}: {log.value.decode(errors="replace")[:2000]}')
        library.nvrtcGetCUBINSize(program, byref(size))
        code = ctypes.create_string_buffer(size.value)
        library.nvrtcGetCUBIN(program, code)
        return code.raw
    finally:
        library.nvrtcDestroyProgram(byref(program))


def _keep(path: Path, code: bytes) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(number, 'wb') as file:
        file.write(code)
    Path(name).replace(path)


def _check(result: int, what: str) -> None:
    if result:
        raise KernelError(f'{what}: the driver\'s error {result}')
