#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""packaged.py use|service|read: uses the installed packages, inside a root file system that has nothing else of TraceSmith.

use: records on the virtual GPU, and reads the trace by tsctl, by Python and by Studio. service: starts the service as its unit does, for there is
no systemd here, and records a preloaded program of another user. read: reads all traces again. Prints one line of JSON. test-deb.py
copies this file, unit.py, browse.py and test/apps/python-ctypes.py into the root.
"""
import glob
import json
import os
import pwd
import re
import signal
import socket
import subprocess
import sys
import time

import unit

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = [sys.executable, os.path.join(HERE, 'python-ctypes.py'), '3']
KERNELS = 6
STATE, RUN = '/var/lib/tracesmith', '/run/tracesmith'
STRANGER = 4711
SECONDS = 120


def output(*command, **more):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8', timeout=SECONDS, check=False, **more)
    if result.returncode:
        raise SystemExit('%s: status %d: %s%s' % (' '.join(command), result.returncode, result.stdout, result.stderr))
    return result.stdout


def info(path):
    found = json.loads(output('tsctl', 'info', '--json', path))
    if found['counts'].get('kernel') != KERNELS or found['lost']:
        raise SystemExit('%s: %s' % (path, found))
    output('tsctl', 'verify', path)
    return found


def wait_for(path):
    """Waits until the daemon has finished the file."""
    end = time.monotonic() + SECONDS
    while not os.path.exists(path) or not json.loads(output('tsctl', 'info', '--json', path))['finished']:
        if time.monotonic() > end:
            raise SystemExit('%s is not finished' % path)
        time.sleep(0.1)


def vgpu():
    folder, = glob.glob('/usr/lib/*/tracesmith/vgpu')
    return folder


def use():
    path = '/root/run.sbt'
    output('tsctl', 'record', '--vgpu', '-o', path, '--', *PROGRAM, cwd='/root')
    found = info(path)
    # Preload alone: a daemon of its own.
    output(*PROGRAM, cwd='/root', env={**os.environ, 'LD_PRELOAD': 'libtsinject.so', 'LD_LIBRARY_PATH': vgpu(),
                                       'TRACESMITH_OUTPUT': '/root/alone.sbt'})
    wait_for('/root/alone.sbt')
    info('/root/alone.sbt')
    read = output(sys.executable, '-c', 'import tracesmith; trace = tracesmith.open("/root/run.sbt"); '
                  'print(tracesmith.__version__, len(trace.kernels), len(trace.info().sessions))')
    lanes = int(output(sys.executable, os.path.join(HERE, 'browse.py'), 'tsctl', path))
    return {'version': output('tsctl', 'version').split()[1], 'python': read.split(), 'lanes': lanes, 'sessions': len(found['sessions']),
            'daemon': output('tracesmithd', '--version').strip()}


# ---- the service -----------------------------------------------------------------------------------

def unit_file(name):
    path, = [path for path in ('/lib/systemd/system/' + name, '/usr/lib/systemd/system/' + name) if os.path.exists(path)][:1]
    return path


def environment(settings):
    """The variables of Environment= and of EnvironmentFile=."""
    found = {'PATH': '/usr/bin:/bin'}
    for line in ' '.join(settings['Environment']).split():
        name, value = line.split('=', 1)
        found[name] = value
    with open(settings['EnvironmentFile'][-1].lstrip('-'), encoding='utf-8') as file:
        for line in file:
            match = re.match(r'(\w+)="?([^"]*)"?$', line.strip())
            if match:
                found[match.group(1)] = match.group(2)
    return found


def listen():
    """The sockets of the socket unit, in its order."""
    sockets, mode = [], 0o666
    with open(unit_file('tracesmithd.socket'), encoding='utf-8') as file:
        for line in file:
            name, _, path = line.strip().partition('=')
            kind = {'ListenSequentialPacket': socket.SOCK_SEQPACKET, 'ListenStream': socket.SOCK_STREAM}.get(name)
            if kind:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                made = socket.socket(socket.AF_UNIX, kind)
                made.bind(path)
                os.chmod(path, mode)
                made.listen(128)
                sockets.append(made)
    return sockets


def start():
    """The process of the service, as its unit's user, by its unit's command."""
    settings = unit.settings([unit_file('tracesmithd.service')])
    user = pwd.getpwnam(settings['User'][-1])
    status = os.stat(STATE)
    if (status.st_uid, status.st_mode & 0o7777) != (user.pw_uid, int(settings['StateDirectoryMode'][-1], 8)):
        raise SystemExit('%s: uid %d, mode %o' % (STATE, status.st_uid, status.st_mode & 0o7777))
    variables = environment(settings)
    command = [word for part in settings['ExecStart'][-1].split()
               for word in (variables.get(part[1:], '').split() if part.startswith('$') else [part])]
    sockets, notify = listen(), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notify.bind('\0tracesmith-notify')
    notify.settimeout(SECONDS)
    pid = os.fork()
    if not pid:
        for number, made in enumerate(sockets, 3):
            os.dup2(os.dup(made.fileno()), number)
            os.set_inheritable(number, True)
        os.setgroups([])
        os.setresgid(user.pw_gid, user.pw_gid, user.pw_gid)
        os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)
        os.umask(0o077)
        os.execve(command[0], command, {**variables, 'LISTEN_FDS': str(len(sockets)), 'LISTEN_PID': str(os.getpid()),
                                        'NOTIFY_SOCKET': '@tracesmith-notify'})
    while b'READY=1' not in notify.recv(4096):
        pass
    return pid, command


def service():
    before = set(glob.glob(STATE + '/*/*.sbt'))
    pid, command = start()
    with open('/etc/default/tracesmithd', encoding='utf-8') as file:
        defaults = file.read()

    def become():
        os.setgroups([])
        os.setresgid(STRANGER, STRANGER, STRANGER)
        os.setresuid(STRANGER, STRANGER, STRANGER)
    output(*PROGRAM, cwd='/tmp', preexec_fn=become, env={'PATH': '/usr/bin:/bin', 'LD_PRELOAD': 'libtsinject.so', 'LD_LIBRARY_PATH': vgpu()})
    made, = set(glob.glob(STATE + '/*/*.sbt')) - before
    wait_for(made)
    text = output('tsctl', 'status')
    os.kill(pid, signal.SIGTERM)
    _, code = os.waitpid(pid, 0)
    if code:
        raise SystemExit('the service ended with status %d' % code)
    info(made)
    for name in os.listdir(RUN):
        os.unlink(os.path.join(RUN, name))
    os.rmdir(RUN)
    return {'command': command, 'trace': made, 'status': text.splitlines()[0], 'defaults': defaults}


def read():
    paths = sorted(glob.glob(STATE + '/*/*.sbt')) + sorted(glob.glob('/root/*.sbt'))
    for path in paths:
        info(path)
    return {'traces': paths}


if __name__ == '__main__':
    print(json.dumps({'use': use, 'service': service, 'read': read}[sys.argv[1]]()))
