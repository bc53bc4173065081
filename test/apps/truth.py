# SPDX-License-Identifier: Apache-2.0
"""truth.h for Python: the same layout, read by the tests and written by Python programs."""
import ctypes
import mmap
import os

MAGIC = 0x31485455525453
KERNELS, STREAMS, CALLS, NAME_BYTES = 16, 64, 32, 32
H2D, D2H, D2D, PEER = range(4)
DEVICE, PINNED = range(2)
DIRECTIONS = ('h2d', 'd2h', 'd2d', 'peer')
FIRST_CREATED_STREAM = 16


class Truth(ctypes.Structure):
    _fields_ = [
        ('magic', ctypes.c_uint64),
        ('n_bytes', ctypes.c_uint32),
        ('pid', ctypes.c_uint32),
        ('finished', ctypes.c_uint64),
        ('threads', ctypes.c_uint64),
        ('devices', ctypes.c_uint64),
        ('copies', ctypes.c_uint64 * 4),
        ('copy_bytes', ctypes.c_uint64 * 4),
        ('sets', ctypes.c_uint64),
        ('set_bytes', ctypes.c_uint64),
        ('allocs', ctypes.c_uint64 * 2),
        ('alloc_bytes', ctypes.c_uint64 * 2),
        ('frees', ctypes.c_uint64 * 2),
        ('launches', (ctypes.c_uint64 * STREAMS) * KERNELS),
        ('kernel_names', (ctypes.c_char * NAME_BYTES) * KERNELS),
        ('calls', ctypes.c_uint64 * CALLS),
        ('call_names', (ctypes.c_char * NAME_BYTES) * CALLS),
    ]

    def launches_by_kernel(self):
        """{kernel: sorted launches of each of its streams}."""
        found = {}
        for name, streams in zip(self.kernel_names, self.launches):
            counts = sorted(count for count in streams if count)
            if counts:
                found[name.value.decode()] = counts
        return found

    def calls_by_name(self):
        found = {}
        for name, count in zip(self.call_names, self.calls):
            if count:
                key = name.value.decode()
                found[key] = found.get(key, 0) + count
        return found

    def n_launches(self):
        return sum(sum(streams) for streams in self.launches)


def read(path):
    """The truth a program left at `path`."""
    with open(path, 'rb') as stream:
        data = stream.read()
    truth = Truth.from_buffer_copy(data)
    if truth.magic != MAGIC or truth.n_bytes != ctypes.sizeof(Truth):
        raise ValueError('%s: not a truth file of this layout' % path)
    return truth


def open_for_writing():
    """The truth of this process: the file $TS_TRUTH, or private memory."""
    path = os.environ.get('TS_TRUTH')
    size = ctypes.sizeof(Truth)
    if path:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        os.ftruncate(fd, size)
        memory = mmap.mmap(fd, size)
        os.close(fd)
    else:
        memory = mmap.mmap(-1, size)
    truth = Truth.from_buffer(memory)
    truth.n_bytes = size
    truth.pid = os.getpid()
    truth.magic = MAGIC
    return truth
