# SPDX-License-Identifier: Apache-2.0
"""The files of the source tree, as the style tests see them: what git tracks, else what is there."""
import os
import subprocess

SKIPPED_FOLDERS = {'.git', '__pycache__', 'subprojects'}


def root():
    """The source tree this file lies in."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _tracked(top):
    try:
        out = subprocess.run(['git', '-C', top, 'ls-files', '-z'], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, check=True).stdout.decode()
    except (OSError, subprocess.CalledProcessError):
        return None
    names = [name for name in out.split('\0') if name]
    return names or None


def _walked(top):
    names = []
    for folder, subfolders, files in os.walk(top):
        # A folder with meson-info is a build folder, wherever it was put.
        subfolders[:] = sorted(
            name for name in subfolders if name not in SKIPPED_FOLDERS
            and not os.path.isdir(os.path.join(folder, name, 'meson-info')))
        names += [os.path.relpath(os.path.join(folder, name), top) for name in sorted(files)]
    return names


def files(*suffixes):
    """Paths relative to the root, of files that end in one of the suffixes (all without any)."""
    top = root()
    names = _tracked(top) or _walked(top)
    return [name for name in names if os.path.isfile(os.path.join(top, name))
            and (not suffixes or name.endswith(suffixes))]


def lines(name):
    with open(os.path.join(root(), name), encoding='utf-8') as stream:
        return stream.read().split('\n')


def report(findings):
    """Prints each finding and returns the exit status of a test."""
    for finding in findings:
        print(finding)
    return 1 if findings else 0
