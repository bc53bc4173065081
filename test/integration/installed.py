# SPDX-License-Identifier: Apache-2.0
"""A folder of programs and libraries as an installation has them, made of the build tree: for tests of what moves and what is packed."""
import json
import os
import shutil
import subprocess

import harness


def libdir():
    """Where the build expects its libraries, relative to the prefix."""
    options = json.loads(harness.run(['meson', 'introspect', '--buildoptions', harness.BUILD]).out)
    return next(option['value'] for option in options if option['name'] == 'libdir')


def make(folder):
    """Fills the folder, without debug information, which would make it large; returns the folder of its libraries."""
    libraries = os.path.join(folder, libdir())
    vgpu = os.path.join(libraries, 'tracesmith', 'vgpu')
    for path, inside in ((harness.TSCTL, os.path.join(folder, 'bin')), (harness.DAEMON, os.path.join(folder, 'bin')),
                         (os.path.join(harness.BUILD, 'daemon', 'worker', 'tracesmith-worker'), os.path.join(folder, 'libexec', 'tracesmith')),
                         (harness.LIBRARY, libraries), (harness.SHIM, libraries), (harness.PTI_SHIM, libraries),
                         *((os.path.join(harness.VGPU, name), vgpu) for name in ('libcuda.so.1', 'libcudart.so.13', 'libcupti.so.13'))):
        os.makedirs(inside, exist_ok=True)
        copy = os.path.join(inside, os.path.basename(path))
        shutil.copy(path, copy)
        if not harness.SANITIZER:
            subprocess.run(['strip', copy], check=True)
    return libraries
