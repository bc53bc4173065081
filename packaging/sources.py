#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sources.py: prints a digest of the tree's files, by which build products know whether they are of these sources.

tarball.sh writes the digest beside the tree that it makes, and tools/python/build_backend.py compares it before it packs that tree. The
digest is of names and contents. It leaves out the folder test/, because nothing of it is installed. The files are those that git knows,
changed or not: a new file counts with the changed meson.build that names it. Without git they are all files but build folders and wheels.
"""
import hashlib
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def names(top):
    """The paths of the tree's files; of a tree in another project's git, too."""
    found = subprocess.run(['git', '-C', top, 'ls-files', '-z'], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, check=False) if os.path.exists(os.path.join(top, '.git')) else None
    if found and not found.returncode:
        return sorted(set(found.stdout.decode().split('\0')) - {''})
    paths = []
    for folder, inside, own in os.walk(top):
        inside[:] = [name for name in inside if name != '.git' and name != '__pycache__' and not (folder == top and name.startswith('build'))]
        paths += [os.path.relpath(os.path.join(folder, name), top) for name in own if not name.endswith('.whl')]
    return sorted(paths)


def digest(top=TOP):
    total = hashlib.sha256()
    for name in names(top):
        path = os.path.join(top, name)
        if not name.startswith('test/') and os.path.isfile(path):
            with open(path, 'rb') as file:
                total.update(name.encode() + b'\0' + hashlib.sha256(file.read()).digest())
    return total.hexdigest()


if __name__ == '__main__':
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    print(digest())
