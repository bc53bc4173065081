#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python-package.py FOLDER: puts the Python package into a folder of Debian's, as its wheel has it; the command `tracesmith` is left out."""
import os
import sys
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, 'tools', 'python'))
sys.dont_write_bytecode = True

import build_backend  # noqa: E402


def main():
    with tempfile.TemporaryDirectory() as folder:
        wheel = zipfile.ZipFile(os.path.join(folder, build_backend.build_wheel(folder, {'tree': 'none'})))
        # RECORD lists the files of an installation by pip, which must not remove Debian's.
        wheel.extractall(sys.argv[1], [name for name in wheel.namelist() if not name.endswith(('/RECORD', '/entry_points.txt'))])
    return 0


if __name__ == '__main__':
    sys.exit(main())
