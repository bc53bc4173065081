#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tinygrad.py FILE: runs one file of tinygrad's tests, in tinygrad's folder, on the device in DEV.

FAILS and POISONS are the tests that are expected to fail on the virtual GPU, with the reason. A test of FAILS runs, and a pass is an error.
A test of POISONS does not run, because its fault stays in the CUDA context and fails every later test of the file.
Needs Debian's python3-pytest, python3-pytest-timeout, python3-numpy, python3-torch, python3-hypothesis and python3-z3.
"""
import os
import sys

sys.path.insert(0, os.getcwd())
import pytest  # noqa: E402

NO_NUMPY_POW = "Debian's NumPy 1.24 has no numpy.pow; fails on the CPU backend too"
OLD_NUMPY = "Debian's NumPy 1.24 widens an unsigned number that overflows in the reference; fails on the CPU backend too"
OLD_TORCH = "Debian's PyTorch 1.13 cannot compute the reference, or computes another; fails on the CPU backend too"
NO_TORCH_CUDA = "Debian's PyTorch is built without CUDA; tinygrad skips the test on its CPU backend"
ZERO_GRID = 'tinygrad adds the graph node with a grid of 0 blocks; a launch needs at least 1, so cuGraphAddKernelNode refuses it'
MISALIGNED = 'reads or writes 8 bytes at an address that is 4 modulo 8; a misaligned access is an error on NVIDIA GPUs'

FAILS = {
    'test_dtype.py::TestBFloat16Type::test_bitcast': OLD_TORCH,
    'test_dtype.py::TestBitCast::test_shape_change_bitcast': OLD_TORCH,
    'test_dtype.py::TestDoubleDType::test_bitcast': OLD_TORCH,
    'test_dtype.py::TestEmulatedBFloat16Type::test_bitcast': OLD_TORCH,
    'test_dtype.py::TestEmulatedFp8e4m3::test_bitcast': OLD_TORCH,
    'test_dtype.py::TestEmulatedFp8e5m2::test_bitcast': OLD_TORCH,
    'test_dtype.py::TestEmulatedHalf::test_bitcast': OLD_TORCH,
    'test_dtype.py::TestEmulatedInt64DType::test_bitcast': OLD_TORCH,
    'test_dtype.py::TestEmulatedUInt64DType::test_bitcast': OLD_TORCH,
    'test_dtype.py::TestEmulatedUInt64DType::test_uint_overflow': OLD_NUMPY,
    'test_dtype.py::TestFloatDType::test_bitcast': OLD_TORCH,
    'test_dtype.py::TestFp8e4m3::test_bitcast': OLD_TORCH,
    'test_dtype.py::TestFp8e5m2::test_bitcast': OLD_TORCH,
    'test_dtype.py::TestFp8sConversions::test_float_to_fp8e4m3': OLD_TORCH,
    'test_dtype.py::TestFp8sConversions::test_float_to_fp8e4m3fnuz': OLD_TORCH,
    'test_dtype.py::TestFp8sConversions::test_float_to_fp8e4m3fnuz_extreme_values': OLD_TORCH,
    'test_dtype.py::TestFp8sConversions::test_float_to_fp8e5m2': OLD_TORCH,
    'test_dtype.py::TestFp8sConversions::test_float_to_fp8e5m2_extreme_values': OLD_TORCH,
    'test_dtype.py::TestFp8sConversions::test_float_to_fp8e5m2fnuz': OLD_TORCH,
    'test_dtype.py::TestFp8sConversions::test_float_to_fp8e5m2fnuz_extreme_values': OLD_TORCH,
    'test_dtype.py::TestFp8sConversions::test_fp8e4m3_to_float': OLD_TORCH,
    'test_dtype.py::TestFp8sConversions::test_fp8e4m3fnuz_to_float': OLD_TORCH,
    'test_dtype.py::TestFp8sConversions::test_fp8e5m2_to_float': OLD_TORCH,
    'test_dtype.py::TestFp8sConversions::test_fp8e5m2fnuz_to_float': OLD_TORCH,
    'test_dtype.py::TestHalfDType::test_bitcast': OLD_TORCH,
    'test_dtype.py::TestInt16DType::test_bitcast': OLD_TORCH,
    'test_dtype.py::TestInt32DType::test_bitcast': OLD_TORCH,
    'test_dtype.py::TestInt64DType::test_bitcast': OLD_TORCH,
    'test_dtype.py::TestInt8DType::test_bitcast': OLD_TORCH,
    'test_dtype.py::TestUint16DType::test_bitcast': OLD_TORCH,
    'test_dtype.py::TestUint16DType::test_uint_overflow': OLD_NUMPY,
    'test_dtype.py::TestUint32DType::test_bitcast': OLD_TORCH,
    'test_dtype.py::TestUint32DType::test_uint_overflow': OLD_NUMPY,
    'test_dtype.py::TestUint64DType::test_bitcast': OLD_TORCH,
    'test_dtype.py::TestUint64DType::test_uint_overflow': OLD_NUMPY,
    'test_dtype.py::TestUint8DType::test_bitcast': OLD_TORCH,
    'test_dtype.py::TestUint8DType::test_uint_overflow': OLD_NUMPY,
    'test_interop.py::TestInterop::test_torch_interop': NO_TORCH_CUDA,
    'test_interop.py::TestInterop::test_torch_interop_write': NO_TORCH_CUDA,
    'test_ops.py::TestOps::test_all_axis': OLD_TORCH,
    'test_ops.py::TestOps::test_all_zero_axis': OLD_TORCH,
    'test_ops.py::TestOps::test_any_axis': OLD_TORCH,
    'test_ops.py::TestOps::test_any_zero_axis': OLD_TORCH,
    'test_ops.py::TestOps::test_cummax': OLD_TORCH,
    'test_ops.py::TestOps::test_cummin': OLD_TORCH,
    'test_ops.py::TestOps::test_gemm_fp16': OLD_TORCH,
    'test_ops.py::TestOps::test_linspace': OLD_TORCH,
    'test_ops.py::TestOps::test_max_pool2d_padding_int': OLD_TORCH,
    'test_ops.py::TestOps::test_max_pool2d_return_indices': OLD_TORCH,
    'test_ops.py::TestOps::test_scaled_dot_product_attention': OLD_TORCH,
    'test_ops.py::TestOps::test_scaled_dot_product_attention_causal': OLD_TORCH,
    'test_ops.py::TestOps::test_scaled_dot_product_attention_gqa': OLD_TORCH,
    'test_ops.py::TestOps::test_scaled_dot_product_attention_gqa_errors': OLD_TORCH,
    'test_ops.py::TestOps::test_scaled_dot_product_attention_mismatch_ls': OLD_TORCH,
    'test_ops.py::TestOps::test_std': OLD_TORCH,
    'test_ops.py::TestOps::test_std_keepdim': OLD_TORCH,
    'test_ops.py::TestOps::test_std_mean': OLD_TORCH,
    'test_ops.py::TestOps::test_var': OLD_TORCH,
    'test_ops.py::TestOps::test_var_keepdim': OLD_TORCH,
    'test_ops.py::TestOpsUint8::test_interpolate_bilinear': OLD_TORCH,
    'test_symbolic_jit.py::TestSymbolicJit::test_attention': ZERO_GRID,
    'test_symbolic_jit.py::TestSymbolicJit::test_var': ZERO_GRID,
    'test_symbolic_jit.py::TestSymbolicJit::test_var_2d': ZERO_GRID,
    'test_transcendental.py::TestTranscendentalVectorized::test_pow_vectorized': NO_NUMPY_POW,
}
POISONS = {
    'test_uops.py::TestBitcastBufferView::test_load': MISALIGNED,
    'test_uops.py::TestBitcastBufferView::test_store': MISALIGNED,
}
LIMIT = 300


class Expected:
    """A plugin of pytest that marks the expected failures."""

    @staticmethod
    def pytest_collection_modifyitems(items):
        for item in items:
            name = item.nodeid.rpartition('/')[2]
            if name in POISONS:
                item.add_marker(pytest.mark.skip(reason=POISONS[name]))
            elif name in FAILS:
                item.add_marker(pytest.mark.xfail(reason=FAILS[name], strict=True))


def main():
    return pytest.main(['-q', '-rfEX', '--tb=short', '--noconftest', '-p', 'no:cacheprovider', '--hypothesis-seed=0', '--timeout=%d' % LIMIT,
                        sys.argv[1]], plugins=[Expected()])


if __name__ == '__main__':
    sys.exit(main())
