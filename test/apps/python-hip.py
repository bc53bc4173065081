#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python-hip.py BUNDLE [LAUNCHES]: Python that drives libamdhip64 through ctypes.

Two threads launch the kernel `plain` of the bundle (test/apps/hip-code.ptx), which adds 1 to a number for each launch. Ends with
77 where there is no GPU.
"""
import ctypes
import sys
import threading

DEVICE_TO_HOST = 2  # hipMemcpyDeviceToHost


def load():
    for major in (6, 7):
        try:
            return ctypes.CDLL('libamdhip64.so.%d' % major)
        except OSError as error:
            reason = error
    print('skipped: %s' % reason, file=sys.stderr)
    sys.exit(77)


hip = load()
hip.hipGetErrorName.restype = ctypes.c_char_p


def call(name, *arguments):
    result = getattr(hip, name)(*arguments)
    if result:
        print('%s: %s' % (name, hip.hipGetErrorName(result).decode()), file=sys.stderr)
        sys.exit(9)


def launch(function, stream, number):
    arguments = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(number), ctypes.c_void_p))
    call('hipModuleLaunchKernel', function, 1, 1, 1, 32, 1, 1, 0, stream, arguments, None)


def work(launches, function, number):
    stream = ctypes.c_void_p()
    call('hipSetDevice', 0)
    call('hipStreamCreateWithFlags', ctypes.byref(stream), 1)
    for _ in range(launches):
        launch(function, stream, number)
    call('hipStreamSynchronize', stream)
    call('hipStreamDestroy', stream)


def main():
    launches = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    count = ctypes.c_int()
    if hip.hipGetDeviceCount(ctypes.byref(count)) or not count.value:
        print('skipped: HIP has no device', file=sys.stderr)
        return 77
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call('hipModuleLoad', ctypes.byref(module), sys.argv[1].encode())
    call('hipModuleGetFunction', ctypes.byref(function), module, b'plain')
    numbers = [ctypes.c_void_p() for _ in range(2)]
    for number in numbers:
        call('hipMalloc', ctypes.byref(number), ctypes.c_size_t(4))
        call('hipMemset', number, 0, ctypes.c_size_t(4))
    threads = [threading.Thread(target=work, args=(launches, function, number)) for number in numbers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in numbers:
        result = ctypes.c_uint32()
        call('hipMemcpy', ctypes.byref(result), number, ctypes.c_size_t(4), DEVICE_TO_HOST)
        if result.value != launches:
            print('python-hip: %d of %d' % (result.value, launches))
            return 1
        call('hipFree', number)
    print('python-hip: %d launches' % launches)
    return 0


if __name__ == '__main__':
    sys.exit(main())
