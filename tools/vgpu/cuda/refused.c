/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the driver has and the virtual GPU has not. Programs link against these names, so they exist; calling one fails with
 * the vendor's error and, the first time, says on stderr what was asked for. Asked for by name (cuGetProcAddress) they are not
 * found, as in a driver that is too old: programs that ask so have another way.
 */
#include <string.h>

#include "tools/vgpu/cuda/driver.h"
#include "tools/vgpu/refused.h"

static int refuse(const char *name, atomic_bool *said)
{
	int r = check_ready();

	if (r)
		return r;
	ts_vgpu_say_refused(name, said);
	return TS_CU_ERROR_NOT_SUPPORTED;
}

/* clang-format off */
#define REFUSED(X) \
	X(cuArray3DCreate) X(cuArray3DCreate_v2) X(cuArray3DGetDescriptor) \
	X(cuArray3DGetDescriptor_v2) X(cuArrayCreate) X(cuArrayCreate_v2) \
	X(cuArrayDestroy) X(cuArrayGetDescriptor) X(cuArrayGetDescriptor_v2) \
	X(cuArrayGetMemoryRequirements) X(cuArrayGetPlane) X(cuArrayGetSparseProperties) \
	X(cuCheckpointProcessCheckpoint) X(cuCheckpointProcessGetRestoreThreadId) \
	X(cuCheckpointProcessGetState) X(cuCheckpointProcessLock) \
	X(cuCheckpointProcessRestore) X(cuCheckpointProcessUnlock) \
	X(cuCoredumpGetAttribute) X(cuCoredumpGetAttributeGlobal) \
	X(cuCoredumpSetAttribute) X(cuCoredumpSetAttributeGlobal) X(cuCtxAttach) \
	X(cuCtxCreate) X(cuCtxDetach) X(cuCtxFromGreenCtx) X(cuCtxGetDevResource) \
	X(cuCtxGetExecAffinity) X(cuCtxGetSharedMemConfig) X(cuCtxRecordEvent) \
	X(cuCtxResetPersistingL2Cache) X(cuCtxSetSharedMemConfig) X(cuCtxWaitEvent) \
	X(cuDestroyExternalMemory) X(cuDestroyExternalSemaphore) \
	X(cuDevResourceGenerateDesc) X(cuDevSmResourceSplitByCount) \
	X(cuDeviceGetDevResource) X(cuDeviceGetExecAffinitySupport) \
	X(cuDeviceGetGraphMemAttribute) X(cuDeviceGetHostAtomicCapabilities) \
	X(cuDeviceGetLuid) X(cuDeviceGetNvSciSyncAttributes) \
	X(cuDeviceGetP2PAtomicCapabilities) X(cuDeviceGetProperties) \
	X(cuDeviceGetTexture1DLinearMaxWidth) X(cuDeviceGraphMemTrim) \
	X(cuDeviceRegisterAsyncNotification) X(cuDeviceSetGraphMemAttribute) \
	X(cuDeviceTotalMem) X(cuDeviceUnregisterAsyncNotification) \
	X(cuExternalMemoryGetMappedBuffer) X(cuExternalMemoryGetMappedMipmappedArray) \
	X(cuFlushGPUDirectRDMAWrites) X(cuFuncSetBlockShape) X(cuFuncSetSharedMemConfig) \
	X(cuFuncSetSharedSize) X(cuGraphAddBatchMemOpNode) \
	X(cuGraphAddExternalSemaphoresSignalNode) \
	X(cuGraphAddExternalSemaphoresWaitNode) X(cuGraphBatchMemOpNodeGetParams) \
	X(cuGraphBatchMemOpNodeSetParams) X(cuGraphDebugDotPrint) \
	X(cuGraphExecBatchMemOpNodeSetParams) \
	X(cuGraphExecExternalSemaphoresSignalNodeSetParams) \
	X(cuGraphExecExternalSemaphoresWaitNodeSetParams) \
	X(cuGraphExternalSemaphoresSignalNodeGetParams) \
	X(cuGraphExternalSemaphoresSignalNodeSetParams) \
	X(cuGraphExternalSemaphoresWaitNodeGetParams) \
	X(cuGraphExternalSemaphoresWaitNodeSetParams) X(cuGraphMemAllocNodeGetParams) \
	X(cuGraphMemFreeNodeGetParams) X(cuGraphReleaseUserObject) \
	X(cuGraphRetainUserObject) X(cuGraphicsMapResources) \
	X(cuGraphicsMapResources_ptsz) X(cuGraphicsResourceGetMappedMipmappedArray) \
	X(cuGraphicsResourceGetMappedPointer) X(cuGraphicsResourceGetMappedPointer_v2) \
	X(cuGraphicsResourceSetMapFlags) X(cuGraphicsResourceSetMapFlags_v2) \
	X(cuGraphicsSubResourceGetMappedArray) X(cuGraphicsUnmapResources) \
	X(cuGraphicsUnmapResources_ptsz) X(cuGraphicsUnregisterResource) \
	X(cuGreenCtxCreate) X(cuGreenCtxDestroy) X(cuGreenCtxGetDevResource) \
	X(cuGreenCtxGetId) X(cuGreenCtxRecordEvent) X(cuGreenCtxStreamCreate) \
	X(cuGreenCtxWaitEvent) X(cuImportExternalMemory) X(cuImportExternalSemaphore) \
	X(cuLaunch) X(cuLaunchCooperativeKernelMultiDevice) X(cuLaunchGrid) \
	X(cuLaunchGridAsync) X(cuLibraryGetUnifiedFunction) X(cuLinkAddData) \
	X(cuLinkAddData_v2) X(cuLinkAddFile) X(cuLinkAddFile_v2) X(cuLinkComplete) \
	X(cuLinkCreate) X(cuLinkCreate_v2) X(cuLinkDestroy) X(cuLogsCurrent) \
	X(cuLogsDumpToFile) X(cuLogsDumpToMemory) X(cuLogsRegisterCallback) \
	X(cuLogsUnregisterCallback) X(cuMemAdvise) X(cuMemAlloc) X(cuMemAllocHost) \
	X(cuMemAllocPitch) X(cuMemBatchDecompressAsync) \
	X(cuMemBatchDecompressAsync_ptsz) X(cuMemDiscardAndPrefetchBatchAsync) \
	X(cuMemDiscardAndPrefetchBatchAsync_ptsz) X(cuMemDiscardBatchAsync) \
	X(cuMemDiscardBatchAsync_ptsz) X(cuMemFree) X(cuMemGetAddressRange) \
	X(cuMemGetDefaultMemPool) X(cuMemGetHandleForAddressRange) X(cuMemGetInfo) \
	X(cuMemGetMemPool) X(cuMemHostGetDevicePointer) X(cuMemPoolExportPointer) \
	X(cuMemPoolExportToShareableHandle) X(cuMemPoolImportFromShareableHandle) \
	X(cuMemPoolImportPointer) X(cuMemPrefetchAsync) X(cuMemPrefetchAsync_ptsz) \
	X(cuMemPrefetchBatchAsync) X(cuMemPrefetchBatchAsync_ptsz) \
	X(cuMemRangeGetAttribute) X(cuMemRangeGetAttributes) X(cuMemSetMemPool) \
	X(cuMemcpy2D) X(cuMemcpy2DAsync) X(cuMemcpy2DUnaligned) X(cuMemcpy3D) \
	X(cuMemcpy3DAsync) X(cuMemcpy3DBatchAsync) X(cuMemcpy3DBatchAsync_ptsz) \
	X(cuMemcpy3DBatchAsync_v2) X(cuMemcpy3DBatchAsync_v2_ptsz) X(cuMemcpyAtoA) \
	X(cuMemcpyAtoA_v2) X(cuMemcpyAtoA_v2_ptds) X(cuMemcpyAtoD) X(cuMemcpyAtoD_v2) \
	X(cuMemcpyAtoD_v2_ptds) X(cuMemcpyAtoH) X(cuMemcpyAtoHAsync) \
	X(cuMemcpyAtoHAsync_v2) X(cuMemcpyAtoHAsync_v2_ptsz) X(cuMemcpyAtoH_v2) \
	X(cuMemcpyAtoH_v2_ptds) X(cuMemcpyBatchAsync) X(cuMemcpyBatchAsync_ptsz) \
	X(cuMemcpyBatchAsync_v2) X(cuMemcpyBatchAsync_v2_ptsz) X(cuMemcpyDtoA) \
	X(cuMemcpyDtoA_v2) X(cuMemcpyDtoA_v2_ptds) X(cuMemcpyDtoD) X(cuMemcpyDtoDAsync) \
	X(cuMemcpyDtoH) X(cuMemcpyDtoHAsync) X(cuMemcpyHtoA) X(cuMemcpyHtoAAsync) \
	X(cuMemcpyHtoAAsync_v2) X(cuMemcpyHtoAAsync_v2_ptsz) X(cuMemcpyHtoA_v2) \
	X(cuMemcpyHtoA_v2_ptds) X(cuMemcpyHtoD) X(cuMemcpyHtoDAsync) X(cuMemsetD16) \
	X(cuMemsetD2D16) X(cuMemsetD2D32) X(cuMemsetD2D8) X(cuMemsetD32) X(cuMemsetD8) \
	X(cuMipmappedArrayCreate) X(cuMipmappedArrayDestroy) X(cuMipmappedArrayGetLevel) \
	X(cuMipmappedArrayGetMemoryRequirements) X(cuMipmappedArrayGetSparseProperties) \
	X(cuModuleGetGlobal) X(cuModuleGetSurfRef) X(cuModuleGetTexRef) \
	X(cuMulticastAddDevice) X(cuMulticastBindAddr) X(cuMulticastBindMem) \
	X(cuMulticastCreate) X(cuMulticastGetGranularity) X(cuMulticastUnbind) \
	X(cuOccupancyMaxActiveClusters) X(cuOccupancyMaxPotentialClusterSize) \
	X(cuParamSetSize) X(cuParamSetTexRef) X(cuParamSetf) X(cuParamSeti) \
	X(cuParamSetv) X(cuProfilerInitialize) X(cuSignalExternalSemaphoresAsync) \
	X(cuSignalExternalSemaphoresAsync_ptsz) X(cuStreamBatchMemOp) \
	X(cuStreamBatchMemOp_ptsz) X(cuStreamBatchMemOp_v2) \
	X(cuStreamBatchMemOp_v2_ptsz) X(cuStreamCopyAttributes) \
	X(cuStreamCopyAttributes_ptsz) X(cuStreamGetAttribute) \
	X(cuStreamGetAttribute_ptsz) X(cuStreamGetGreenCtx) X(cuStreamSetAttribute) \
	X(cuStreamSetAttribute_ptsz) X(cuStreamWaitValue32) X(cuStreamWaitValue32_ptsz) \
	X(cuStreamWaitValue32_v2) X(cuStreamWaitValue32_v2_ptsz) X(cuStreamWaitValue64) \
	X(cuStreamWaitValue64_ptsz) X(cuStreamWaitValue64_v2) \
	X(cuStreamWaitValue64_v2_ptsz) X(cuStreamWriteValue32) \
	X(cuStreamWriteValue32_ptsz) X(cuStreamWriteValue32_v2) \
	X(cuStreamWriteValue32_v2_ptsz) X(cuStreamWriteValue64) \
	X(cuStreamWriteValue64_ptsz) X(cuStreamWriteValue64_v2) \
	X(cuStreamWriteValue64_v2_ptsz) X(cuSurfObjectCreate) X(cuSurfObjectDestroy) \
	X(cuSurfObjectGetResourceDesc) X(cuSurfRefGetArray) X(cuSurfRefSetArray) \
	X(cuTensorMapEncodeIm2col) X(cuTensorMapEncodeIm2colWide) \
	X(cuTensorMapEncodeTiled) X(cuTensorMapReplaceAddress) X(cuTexObjectCreate) \
	X(cuTexObjectDestroy) X(cuTexObjectGetResourceDesc) \
	X(cuTexObjectGetResourceViewDesc) X(cuTexObjectGetTextureDesc) X(cuTexRefCreate) \
	X(cuTexRefDestroy) X(cuTexRefGetAddress) X(cuTexRefGetAddressMode) \
	X(cuTexRefGetAddress_v2) X(cuTexRefGetArray) X(cuTexRefGetBorderColor) \
	X(cuTexRefGetFilterMode) X(cuTexRefGetFlags) X(cuTexRefGetFormat) \
	X(cuTexRefGetMaxAnisotropy) X(cuTexRefGetMipmapFilterMode) \
	X(cuTexRefGetMipmapLevelBias) X(cuTexRefGetMipmapLevelClamp) \
	X(cuTexRefGetMipmappedArray) X(cuTexRefSetAddress) X(cuTexRefSetAddress2D) \
	X(cuTexRefSetAddress2D_v2) X(cuTexRefSetAddress2D_v3) X(cuTexRefSetAddressMode) \
	X(cuTexRefSetAddress_v2) X(cuTexRefSetArray) X(cuTexRefSetBorderColor) \
	X(cuTexRefSetFilterMode) X(cuTexRefSetFlags) X(cuTexRefSetFormat) \
	X(cuTexRefSetMaxAnisotropy) X(cuTexRefSetMipmapFilterMode) \
	X(cuTexRefSetMipmapLevelBias) X(cuTexRefSetMipmapLevelClamp) \
	X(cuTexRefSetMipmappedArray) X(cuUserObjectCreate) X(cuUserObjectRelease) \
	X(cuUserObjectRetain) X(cuWaitExternalSemaphoresAsync) \
	X(cuWaitExternalSemaphoresAsync_ptsz)
/* clang-format on */

/* Whatever the arguments are, the C calling convention lets a function ignore them. */
#define REFUSE(name)                         \
	API int name(void)                   \
	{                                    \
		static atomic_bool said;     \
		return refuse(#name, &said); \
	}
REFUSED(REFUSE)

bool is_refused(const char *symbol)
{
#define NAME(name) #name,
	static const char *const names[] = {REFUSED(NAME)};
	size_t low = 0, high = sizeof(names) / sizeof(names[0]);

	while (low < high) {
		size_t at = (low + high) / 2;
		int order = strcmp(symbol, names[at]);

		if (!order)
			return true;
		if (order < 0)
			high = at;
		else
			low = at + 1;
	}
	return false;
}
