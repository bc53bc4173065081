# SPDX-License-Identifier: Apache-2.0
"""Processes found by what they are, and ended; and what a test's own command line says of how much it is to do."""
import collections
import glob
import os
import signal
import sys


def option(name, default):
    """The value of an option of this script, taken out of what unittest sees."""
    if name not in sys.argv:
        return default
    at = sys.argv.index(name)
    value = int(sys.argv[at + 1])
    del sys.argv[at:at + 2]
    return value


def descendants(pid):
    """Every process below `pid`, by /proc."""
    children = collections.defaultdict(list)
    for stat in glob.glob('/proc/[0-9]*/stat'):
        try:
            with open(stat, encoding='utf-8', errors='replace') as stream:
                fields = stream.read().rsplit(')', 1)[1].split()
        except OSError:
            continue
        children[int(fields[1])].append(int(stat.split('/')[2]))
    found, todo = [], [pid]
    while todo:
        below = children[todo.pop()]
        found += below
        todo += below
    return found


def words_of(pid):
    """The command line of a process; none where it is over."""
    try:
        with open('/proc/%d/cmdline' % pid, 'rb') as stream:
            return stream.read().split(b'\0')
    except OSError:
        return [b'']


def processes_with(*arguments):
    """Pids of processes whose command line holds these arguments."""
    words = {argument.encode() for argument in arguments}
    return [pid for pid in (int(path.split('/')[2]) for path in glob.glob('/proc/[0-9]*')) if words <= set(words_of(pid))]


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
