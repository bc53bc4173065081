# SPDX-License-Identifier: Apache-2.0
"""The version. The source tree has it in meson.build; the build backend replaces this file by a line with the version."""
import os
import re


def _version() -> str:
    tree = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..')
    try:
        with open(os.path.join(tree, 'meson.build'), encoding='utf-8') as file:
            found = re.search(r"^    version: '(.*)',$", file.read(), re.MULTILINE)
    except OSError:
        found = None
    return found.group(1) if found else '0+unknown'


__version__ = _version()
