/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA's errors for faults of kernels. Each fault makes its context unusable (CUDA Driver API,
 * CUresult).
 */
#pragma once

#include <stdbool.h>

#include "proto/abi/vendor/cuda_driver.h"
#include "replay/vgpu/vgpu.h"

/*
 * True if the error of a call reports a kernel's fault. CUresult and cudaError_t have the same
 * numbers.
 */
static inline bool ts_exec_is_fault(int error)
{
	switch (error) {
	case TS_CU_ERROR_ILLEGAL_ADDRESS:
	case TS_CU_ERROR_LAUNCH_TIMEOUT:
	case TS_CU_ERROR_ASSERT:
	case TS_CU_ERROR_HARDWARE_STACK_ERROR:
	case TS_CU_ERROR_ILLEGAL_INSTRUCTION:
	case TS_CU_ERROR_MISALIGNED_ADDRESS:
	case TS_CU_ERROR_INVALID_ADDRESS_SPACE:
	case TS_CU_ERROR_INVALID_PC:
	case TS_CU_ERROR_LAUNCH_FAILED:
		return true;
	default:
		return false;
	}
}

/* Converts a fault of the virtual GPU to CUDA's error; 0 if `r` is no fault. */
static inline int ts_exec_fault_of_vgpu(int r)
{
	switch (r) {
	case TS_VGPU_E_FAULTED:
	case TS_VGPU_E_FAULT_TRAP:
		return TS_CU_ERROR_LAUNCH_FAILED;
	case TS_VGPU_E_FAULT_ADDRESS:
		return TS_CU_ERROR_ILLEGAL_ADDRESS;
	case TS_VGPU_E_FAULT_MISALIGNED:
		return TS_CU_ERROR_MISALIGNED_ADDRESS;
	case TS_VGPU_E_FAULT_ASSERT:
		return TS_CU_ERROR_ASSERT;
	case TS_VGPU_E_FAULT_ILLEGAL:
		return TS_CU_ERROR_ILLEGAL_INSTRUCTION;
	case TS_VGPU_E_FAULT_PC:
		return TS_CU_ERROR_INVALID_PC;
	case TS_VGPU_E_FAULT_STACK:
		return TS_CU_ERROR_HARDWARE_STACK_ERROR;
	case TS_VGPU_E_FAULT_TIMEOUT:
		return TS_CU_ERROR_LAUNCH_TIMEOUT;
	case TS_VGPU_E_FAULT_RESOURCES:
		return TS_CU_ERROR_LAUNCH_OUT_OF_RESOURCES;
	default:
		return 0;
	}
}
