#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mapped.py [again]: memory by cuMemCreate and cuMemMap, and a memory pool that a second device may use. Through libcuda by ctypes.

Two pieces of memory are mapped side by side; a fill, copies and a kernel cross from one into the other. Then both are unmapped by one call.
If there is a second device, its kernel adds to memory of the first one's pool. `again`: one piece is mapped a second time.
Prints the sums that it computed. Ends with 77 where there is no GPU.
"""
import ctypes
import sys

from driver import call, made, size_t, u32, u64, void

WORDS = 1 << 10

PTX = b'''.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 words)
{
	.reg .b32 %r<8>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [words];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r4, %r1, %r2, %r3;
	mul.wide.u32 %rd2, %r4, 4;
	add.u64 %rd3, %rd1, %rd2;
	ld.global.u32 %r5, [%rd3];
	add.u32 %r5, %r5, %r4;
	st.global.u32 [%rd3], %r5;
	ret;
}
'''


class Location(ctypes.Structure):
    _fields_ = [('type', ctypes.c_int), ('id', ctypes.c_int)]


class Properties(ctypes.Structure):
    """CUmemAllocationProp."""
    _fields_ = [('type', ctypes.c_int), ('handles', ctypes.c_int), ('location', Location), ('meta', void), ('flags', ctypes.c_ubyte * 8)]


class Access(ctypes.Structure):
    """CUmemAccessDesc."""
    _fields_ = [('location', Location), ('flags', ctypes.c_int)]


def launch(module, address):
    function = made('cuModuleGetFunction', module, b'add')
    argument = u64(address)
    arguments = (void * 1)(ctypes.cast(ctypes.byref(argument), void))
    call('cuLaunchKernel', function, u32(WORDS // 128), 1, 1, u32(128), 1, 1, 0, None, arguments, None)


def total(address):
    """The sum of the words, as the host reads them."""
    words = (ctypes.c_uint32 * WORDS)()
    call('cuMemcpyDtoH_v2', words, u64(address), size_t(4 * WORDS))
    return sum(words) % (1 << 32)


def map_two(module, again):
    properties = Properties(type=1, location=Location(1, 0))
    granule = made('cuMemGetAllocationGranularity', ctypes.byref(properties), 0, kind=size_t).value
    start = made('cuMemAddressReserve', size_t(3 * granule), size_t(0), u64(0), u64(0), kind=u64).value
    pieces = [made('cuMemCreate', size_t(granule), ctypes.byref(properties), u64(0), kind=u64) for _ in range(2)]
    for i, piece in enumerate(pieces):
        call('cuMemMap', u64(start + i * granule), size_t(granule), size_t(0), piece, u64(0))
    access = Access(Location(1, 0), 3)
    call('cuMemSetAccess', u64(start), size_t(2 * granule), ctypes.byref(access), size_t(1))
    middle = start + granule - 2 * WORDS
    call('cuMemsetD32_v2', u64(middle), u32(7), size_t(WORDS))
    launch(module, middle)
    print(total(middle), flush=True)
    words = (ctypes.c_uint32 * WORDS)(*range(WORDS))
    call('cuMemcpyHtoD_v2', u64(middle), words, size_t(4 * WORDS))
    call('cuMemcpyDtoD_v2', u64(start), u64(middle), size_t(4 * WORDS))
    launch(module, start)
    print(total(start), total(middle), flush=True)
    call('cuCtxSynchronize')
    call('cuMemUnmap', u64(start), size_t(2 * granule))
    if again:
        call('cuMemMap', u64(start + 2 * granule), size_t(granule), size_t(0), pieces[0], u64(0))
        call('cuMemSetAccess', u64(start + 2 * granule), size_t(granule), ctypes.byref(access), size_t(1))
        print(total(start + 2 * granule), flush=True)
        call('cuMemUnmap', u64(start + 2 * granule), size_t(granule))
    for piece in pieces:
        call('cuMemRelease', piece)
    call('cuMemAddressFree', u64(start), size_t(3 * granule))


def share_pool():
    """The kernel of the second device works on memory of the first one's pool."""
    pool = made('cuDeviceGetDefaultMemPool', 0)
    address = made('cuMemAllocAsync', size_t(4 * WORDS), None, kind=u64).value
    call('cuMemsetD32_v2', u64(address), u32(3), size_t(WORDS))
    call('cuCtxSynchronize')
    access = Access(Location(1, 1), 3)
    call('cuMemPoolSetAccess', pool, ctypes.byref(access), size_t(1))
    first = made('cuCtxGetCurrent')
    second = made('cuDevicePrimaryCtxRetain', 1)
    call('cuCtxSetCurrent', second)
    launch(made('cuModuleLoadData', PTX), address)
    call('cuCtxSynchronize')
    call('cuCtxSetCurrent', first)
    print(total(address), flush=True)
    call('cuMemFreeAsync', u64(address), None)
    call('cuCtxSynchronize')


def main():
    call('cuInit', 0)
    context = made('cuDevicePrimaryCtxRetain', 0)
    call('cuCtxSetCurrent', context)
    map_two(made('cuModuleLoadData', PTX), 'again' in sys.argv[1:])
    if made('cuDeviceGetCount', kind=ctypes.c_int).value > 1:
        share_pool()


if __name__ == '__main__':
    main()
