#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command as systemd would run the service of a unit file: its user, capabilities, mounts, limits, system calls.

    unit.py [--drop-in FILE ...] [--uid UID] [--group GID ...] [--write DIRECTORY ...] [--bind FILE:PLACE ...] UNIT COMMAND [ARGUMENT ...]

For tests on machines where systemd is not process 1. The user and the group are numbers, for the unit's need not exist. --group: a
supplementary group. --bind: a file that lies over another one. Of the unit's file systems only --write's directories can be written; the caller gives them their owner.
PrivateTmp= is left out, since tests keep their files there. The process keeps its pid. Needs root, libseccomp, and systemd-analyze
for the names in SystemCallFilter=; status 77 and a line on stderr say what is missing.
"""
import argparse
import ctypes
import ctypes.util
import os
import resource
import shutil
import subprocess
import sys

SKIPPED = 77
UID = 65010
CAPABILITIES = {'CAP_SYS_PTRACE': 19, 'CAP_SYS_RESOURCE': 24, 'CAP_PERFMON': 38, 'CAP_BPF': 39}
LAST_CAPABILITY = 40
PR_SET_KEEPCAPS, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 8, 24, 38, 47, 2
CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWNET = 0x20000, 0x4000000, 0x40000000
NAMESPACES = (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
AT_RECURSIVE, MOUNT_ATTR_RDONLY, SYS_MOUNT_SETATTR, SYS_CAPSET = 0x8000, 1, 442, 126
ALLOW, EPERM, EAFNOSUPPORT, ENOSYS = 0x7fff0000, 0x50001, 0x50000 + 97, 0x50000 + 38
NOT_EQUAL, MASKED_EQUAL = 1, 7

libc = ctypes.CDLL(None, use_errno=True)


class Missing(Exception):
    """Something that this machine does not have."""


def check(result, what):
    if result < 0:
        raise OSError(ctypes.get_errno(), '%s: %s' % (what, os.strerror(ctypes.get_errno())))
    return result


def settings(paths):
    """{name: [value, ...]} of [Service] in a unit and its drop-ins, in their order."""
    found = {}
    for path in paths:
        section = None
        with open(path, encoding='utf-8') as stream:
            for line in stream:
                line = line.strip()
                if line.startswith('['):
                    section = line
                elif section == '[Service]' and '=' in line and not line.startswith('#'):
                    name, value = line.split('=', 1)
                    found.setdefault(name, []).append(value)
    return found


class Unit:
    def __init__(self, paths):
        self.settings = settings(paths)

    def last(self, name, default=''):
        return self.settings.get(name, [default])[-1]

    def words(self, name):
        """All values together; an empty one forgets those before it."""
        words = []
        for value in self.settings.get(name, []):
            words = words + value.split() if value else []
        return words

    def is_on(self, name):
        return self.last(name) in ('yes', 'true', '1', 'on')


# ---- mounts ----------------------------------------------------------------------------------------

def mount(source, target, kind, flags=0, data=None):
    check(libc.mount(source.encode(), target.encode(), kind and kind.encode(), ctypes.c_ulong(flags),
                     data and data.encode()), 'mount ' + target)


def set_read_only(path, is_set, recursive=0):
    attributes = (ctypes.c_uint64 * 4)(MOUNT_ATTR_RDONLY if is_set else 0, 0 if is_set else MOUNT_ATTR_RDONLY, 0, 0)
    check(libc.syscall(SYS_MOUNT_SETATTR, -100, path.encode(), recursive, attributes, ctypes.sizeof(attributes)),
          'mount_setattr ' + path)


def hide_devices():
    nodes = [(name, os.stat('/dev/' + name)) for name in ('null', 'zero', 'full', 'random', 'urandom', 'tty')]
    mount('tmpfs', '/dev', 'tmpfs', 0, 'mode=755')
    for name, status in nodes:
        os.mknod('/dev/' + name, 0o20666, status.st_rdev)
        os.chmod('/dev/' + name, 0o666)
    os.mkdir('/dev/shm', 0o1777)


def set_mounts(unit, writable, binds):
    check(libc.unshare(CLONE_NEWNS | (CLONE_NEWUTS if unit.is_on('ProtectHostname') else 0) |
                       (CLONE_NEWNET if unit.is_on('PrivateNetwork') else 0)), 'unshare')
    mount('none', '/', None, MS_REC | MS_PRIVATE)
    for path in writable:
        mount(path, path, None, MS_BIND)
    for bind in binds:
        mount(*bind.split(':'), None, MS_BIND)
    if unit.last('ProtectSystem') == 'strict':
        set_read_only('/', True, AT_RECURSIVE)
        for path in writable:
            set_read_only(path, False)
    if unit.last('ProtectHome') in ('yes', 'tmpfs'):
        for path in ('/home', '/root', '/run/user'):
            if os.path.isdir(path):
                mount('tmpfs', path, 'tmpfs', 0, 'mode=000')
    hidepid = {'invisible': 'hidepid=2', 'noaccess': 'hidepid=1'}.get(unit.last('ProtectProc'))
    mount('proc', '/proc', 'proc', 0, hidepid)
    if unit.is_on('PrivateDevices'):
        hide_devices()


# ---- system calls ----------------------------------------------------------------------------------

def groups_of_calls():
    """{group: [system call or group, ...]}, as systemd-analyze has them."""
    groups, group = {}, None
    for line in subprocess.run(['systemd-analyze', '--no-pager', 'syscall-filter'], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, encoding='utf-8', check=True).stdout.split('\n'):
        if line.startswith('@'):
            group = groups.setdefault(line.strip(), [])
        elif not line.startswith(' '):
            group = None
        elif group is not None and not line.strip().startswith('#'):
            group.append(line.strip())
    return groups


def expand(groups, names):
    result = set()
    for name in names:
        result |= expand(groups, groups[name]) if name.startswith('@') else {name}
    return result


class Comparison(ctypes.Structure):
    _fields_ = [('argument', ctypes.c_uint), ('how', ctypes.c_int), ('a', ctypes.c_uint64), ('b', ctypes.c_uint64)]


class Filter:
    def __init__(self, default):
        name = ctypes.util.find_library('seccomp') or 'libseccomp.so.2'
        try:
            self.library = ctypes.CDLL(name)
        except OSError as error:
            raise Missing('libseccomp: %s' % error) from error
        self.library.seccomp_init.restype = ctypes.c_void_p
        self.context = ctypes.c_void_p(self.library.seccomp_init(ctypes.c_uint32(default)))

    def add(self, action, name, *comparisons):
        number = self.library.seccomp_syscall_resolve_name(name.encode())
        # What this machine does not know it cannot call.
        if number < 0:
            return
        rules = (Comparison * max(len(comparisons), 1))(*(Comparison(*c) for c in comparisons))
        if self.library.seccomp_rule_add_array(self.context, ctypes.c_uint32(action), number, len(comparisons), rules):
            raise OSError('no rule for ' + name)

    def load(self):
        if self.library.seccomp_load(self.context):
            raise OSError('the filter of system calls cannot be loaded')


def allowed_calls(unit):
    groups, allowed = groups_of_calls(), set()
    for value in unit.settings.get('SystemCallFilter', []):
        names = expand(groups, value.lstrip('~').split())
        allowed = allowed - names if value.startswith('~') else allowed | names
    return allowed | expand(groups, ['@default']) | {'execve', 'exit', 'exit_group', 'rt_sigreturn'}


def restrictions(unit):
    """A second filter, which forbids: the kernel takes the stricter of two."""
    filters = Filter(ALLOW)
    if unit.last('RestrictAddressFamilies') == 'AF_UNIX':
        filters.add(EAFNOSUPPORT, 'socket', (0, NOT_EQUAL, 1, 0))
    if unit.is_on('RestrictNamespaces'):
        for flag in NAMESPACES:
            for call in ('clone', 'unshare'):
                filters.add(EPERM, call, (0, MASKED_EQUAL, flag, flag))
        filters.add(EPERM, 'setns')
        filters.add(ENOSYS, 'clone3')
    if unit.is_on('MemoryDenyWriteExecute'):
        filters.add(EPERM, 'mmap', (2, MASKED_EQUAL, 6, 6))
        for call in ('mprotect', 'pkey_mprotect'):
            filters.add(EPERM, call, (2, MASKED_EQUAL, 4, 4))
    return filters


# ---- rights ----------------------------------------------------------------------------------------

def set_limits(unit):
    for name, which in (('LimitNOFILE', resource.RLIMIT_NOFILE), ('LimitMEMLOCK', resource.RLIMIT_MEMLOCK)):
        value = unit.last(name)
        if not value:
            continue
        number = resource.RLIM_INFINITY if value == 'infinity' else int(value)
        try:
            resource.setrlimit(which, (number, number))
        except ValueError:
            # The system itself allows no more (fs.nr_open).
            pass
    os.umask(int(unit.last('UMask', '0022'), 8))


def set_user(unit, uid, groups):
    bounding = {CAPABILITIES[name] for name in unit.words('CapabilityBoundingSet')}
    ambient = {CAPABILITIES[name] for name in unit.words('AmbientCapabilities')}
    for number in range(LAST_CAPABILITY + 1):
        if number not in bounding:
            libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)
    check(libc.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0), 'PR_SET_KEEPCAPS')
    os.setgroups(groups)
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    sets = [0] * 6
    for number in ambient:
        for kind in range(3):
            sets[number // 32 * 3 + kind] |= 1 << number % 32
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(*sets)
    check(libc.syscall(SYS_CAPSET, header, data), 'capset')
    for number in ambient:
        check(libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, number, 0, 0), 'PR_CAP_AMBIENT_RAISE')
    if unit.is_on('NoNewPrivileges'):
        check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 'PR_SET_NO_NEW_PRIVS')


def missing():
    """What keeps this machine from it; None: nothing."""
    if os.geteuid():
        return 'needs root'
    if not shutil.which('systemd-analyze'):
        return 'systemd-analyze is not installed'
    if not ctypes.util.find_library('seccomp'):
        return 'libseccomp is not installed'
    return None


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--drop-in', action='append', default=[])
    parser.add_argument('--uid', type=int, default=UID)
    parser.add_argument('--group', type=int, action='append', default=[])
    parser.add_argument('--write', action='append', default=[])
    parser.add_argument('--bind', action='append', default=[])
    parser.add_argument('unit')
    parser.add_argument('command', nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if missing():
        raise Missing(missing())
    unit = Unit([options.unit] + options.drop_in)
    allowed = Filter(EPERM)
    for name in allowed_calls(unit):
        allowed.add(ALLOW, name)
    forbidden = restrictions(unit)
    set_mounts(unit, options.write, options.bind)
    set_limits(unit)
    set_user(unit, options.uid, options.group)
    # Leaks are looked for by ptrace(), which the unit forbids.
    if 'ASAN_OPTIONS' in os.environ:
        os.environ['ASAN_OPTIONS'] += ':detect_leaks=0'
    if 'LISTEN_FDS' in os.environ:
        os.environ['LISTEN_PID'] = str(os.getpid())
    forbidden.load()
    allowed.load()
    os.execv(options.command[0], options.command)


if __name__ == '__main__':
    try:
        main()
    except Missing as why:
        print('unit.py: %s' % why, file=sys.stderr)
        sys.exit(SKIPPED)
