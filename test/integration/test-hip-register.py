#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""AMD's own librocprofiler-register between HIP and the shim: all of test-hip.py and test-hip-sdk.py passes with it.

TS_REGISTER_SOURCE names a folder with the source of rocprofiler-register, or several folders with a colon between them (0.4.0 and
0.5.0 are tried). The test compiles the library with g++ and Debian's libgoogle-glog-dev and libfmt-dev. Without the variable, the
compiler or these packages it is skipped by name.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import unittest

import harness

SOURCES = [path for path in os.environ.get('TS_REGISTER_SOURCE', '').split(':') if path]
NAME = 'librocprofiler-register.so.0'
COMPILER = shutil.which('g++')
HEADERS = ['/usr/include/glog/logging.h', '/usr/include/fmt/core.h']
# The library's own tests of its build; none of them is a feature that this test needs.
FLAGS = ['-std=c++17', '-O1', '-fPIC', '-shared', '-fvisibility=hidden', '-w', '-Drocprofiler_register_EXPORTS=1', '-Wl,-soname,' + NAME]


def missing():
    """Why the library cannot be built here; None if it can."""
    if not SOURCES:
        return 'TS_REGISTER_SOURCE names no source of rocprofiler-register'
    if not COMPILER:
        return 'no g++'
    absent = [path for path in HEADERS if not os.path.exists(path)]
    return 'no ' + ', '.join(absent) if absent else None


def write_version(source, folder):
    """The header that cmake would make of version.h.in. Returns the version."""
    with open(os.path.join(source, 'VERSION'), encoding='utf-8') as file:
        version = file.read().strip()
    major, minor, patch = version.split('.')[:3]
    values = {'PROJECT_VERSION_MAJOR': major, 'PROJECT_VERSION_MINOR': minor, 'PROJECT_VERSION_PATCH': patch,
              'FULL_VERSION_STRING': version}
    with open(os.path.join(source, 'source/include/rocprofiler-register/version.h.in'), encoding='utf-8') as file:
        text = re.sub('@([A-Za-z_]+)@', lambda match: values.get(match.group(1), ''), file.read())
    os.makedirs(os.path.join(folder, 'rocprofiler-register'))
    with open(os.path.join(folder, 'rocprofiler-register', 'version.h'), 'w', encoding='utf-8') as file:
        file.write(text)
    return version


def build(source, folder):
    """Compiles the library into the folder, beside a copy of the library that depends on it. Returns the version."""
    include = os.path.join(folder, 'include')
    version = write_version(source, include)
    code = os.path.join(source, 'source/lib/rocprofiler-register')
    subprocess.run([COMPILER] + FLAGS + ['-I' + path for path in (code, os.path.join(source, 'source'),
                                                                 os.path.join(source, 'source/include'), include)] +
                   [os.path.join(code, 'rocprofiler_register.cpp')] + sorted(glob.glob(os.path.join(code, 'details/*.cpp'))) +
                   ['-o', os.path.join(folder, NAME), '-lglog', '-lfmt', '-ldl', '-lstdc++fs'], check=True, timeout=250)
    shutil.copy(os.path.join(harness.APPS, 'libhip-linked.so'), folder)
    return version


@unittest.skipIf(missing(), missing())
class Register(harness.Case):
    def test_all(self):
        for i, source in enumerate(SOURCES):
            folder = self.path('register-%d' % i)
            os.makedirs(folder)
            version = build(source, folder)
            print('rocprofiler-register', version, flush=True)
            # The prefix of glog's lines has a time and a thread.
            env = dict(os.environ, TS_REGISTER=folder, GLOG_log_prefix='0')
            for name in ('test-hip.py', 'test-hip-sdk.py'):
                program = [sys.executable, os.path.join(harness.SOURCE, 'test', 'integration', name)]
                result = subprocess.run(program, env=env, timeout=250, check=False)
                self.assertEqual(result.returncode, 0, (name, version))


if __name__ == '__main__':
    harness.main()
