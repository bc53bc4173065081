# SPDX-License-Identifier: Apache-2.0
"""What tests of eBPF programs share: what there is here; a daemon, its programs and attachments, waiting for it, its end."""
import ctypes
import os
import subprocess
import time

import harness
import service

PROGRAM, MAP = 13, 14  # bpf(BPF_PROG_GET_FD_BY_ID), bpf(BPF_MAP_GET_FD_BY_ID)


def held(pid):
    """Numbers of the eBPF programs and maps, and how many attachments, that a process has."""
    programs, links = set(), 0
    for fd in os.listdir('/proc/%d/fd' % pid):
        try:
            name = os.readlink('/proc/%d/fd/%s' % (pid, fd))
            for kind, part, key in ((PROGRAM, 'bpf-prog', 'prog_id'), (MAP, 'bpf-map', 'map_id')):
                if part not in name:
                    continue
                with open('/proc/%d/fdinfo/%s' % (pid, fd), encoding='ascii') as info:
                    programs.update((kind, int(line.split()[1])) for line in info if line.startswith(key))
            links += 'bpf_link' in name or 'bpf-link' in name or 'perf_event' in name
        except OSError:
            continue
    return programs, links


def exists(thing):
    kind, number = thing
    attributes = ctypes.create_string_buffer(128)
    ctypes.c_uint32.from_buffer(attributes).value = number
    fd = ctypes.CDLL(None, use_errno=True).syscall(321, kind, attributes, 128)
    if fd >= 0:
        os.close(fd)
    return fd >= 0


def end(process):
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(harness.SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for stream in (process.stdin, process.stdout):
        if stream:
            stream.close()


def wait(what, daemon):
    limit = time.monotonic() + harness.SECONDS
    while not what():
        assert daemon.poll() is None, 'the daemon ended with %s' % daemon.returncode
        assert time.monotonic() < limit
        time.sleep(0.02)


def available():
    """What of kernel events this machine gives; what it says of others, in whole or in part."""
    result = harness.run([harness.DAEMON, '--kernel-events-check'])
    assert result.status == 0, result
    lines = [line for line in result.out.splitlines() if not line.startswith('system')]
    return ({line.split(' without ')[0] for line in lines if ': ' not in line or ' without ' in line.split(': ')[0]},
            [line for line in lines if ': ' in line])


def in_namespaces():
    """Whether namespaces of all kinds can be had here, and mounts in them."""
    return not harness.run(['sh', '-c', 'unshare --user --map-root-user --mount --pid --fork --mount-proc true && '
                                        'unshare --mount mount -t tmpfs none /sys/kernel']).status


def start_service(case, events, inject, control, **env):
    daemon = subprocess.Popen(
        service.command(case.folder, '--inject-socket', inject, '--control-socket', control, '--directory', case.folder,
                        events), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=harness.environment(**env))
    case.addCleanup(end, daemon)
    wait(lambda: os.path.exists(control), daemon)
    return daemon
