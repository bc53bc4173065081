/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the runtime has and the virtual GPU has not. Programs link against these names, so they exist; calling one fails with
 * the vendor's error and, the first time, says on stderr what was asked for.
 */
#include "tools/vgpu/refused.h"
#include "tools/vgpu/cudart/runtime.h"

static int refuse(const char *name, atomic_bool *said)
{
	ts_vgpu_say_refused(name, said);
	error_keep(TS_CUDA_ERROR_NOT_SUPPORTED);
	return TS_CUDA_ERROR_NOT_SUPPORTED;
}

/* clang-format off */
#define REFUSED(X) \
	X(cudaArrayGetInfo) X(cudaArrayGetMemoryRequirements) X(cudaArrayGetPlane) \
	X(cudaArrayGetSparseProperties) X(cudaChooseDevice) X(cudaCreateSurfaceObject) \
	X(cudaCreateTextureObject) X(cudaCtxResetPersistingL2Cache) \
	X(cudaDestroyExternalMemory) X(cudaDestroyExternalSemaphore) \
	X(cudaDestroySurfaceObject) X(cudaDestroyTextureObject) \
	X(cudaDeviceFlushGPUDirectRDMAWrites) X(cudaDeviceGetGraphMemAttribute) \
	X(cudaDeviceGetHostAtomicCapabilities) X(cudaDeviceGetNvSciSyncAttributes) \
	X(cudaDeviceGetP2PAtomicCapabilities) X(cudaDeviceGetSharedMemConfig) \
	X(cudaDeviceGetTexture1DLinearMaxWidth) X(cudaDeviceGraphMemTrim) \
	X(cudaDeviceRegisterAsyncNotification) X(cudaDeviceSetGraphMemAttribute) \
	X(cudaDeviceSetSharedMemConfig) X(cudaDeviceUnregisterAsyncNotification) \
	X(cudaEGLStreamConsumerAcquireFrame) X(cudaEGLStreamConsumerConnect) \
	X(cudaEGLStreamConsumerConnectWithFlags) X(cudaEGLStreamConsumerDisconnect) \
	X(cudaEGLStreamConsumerReleaseFrame) X(cudaEGLStreamProducerConnect) \
	X(cudaEGLStreamProducerDisconnect) X(cudaEGLStreamProducerPresentFrame) \
	X(cudaEGLStreamProducerReturnFrame) X(cudaEventCreateFromEGLSync) \
	X(cudaExternalMemoryGetMappedBuffer) \
	X(cudaExternalMemoryGetMappedMipmappedArray) X(cudaFreeArray) \
	X(cudaFreeMipmappedArray) X(cudaFuncSetSharedMemConfig) X(cudaGLGetDevices) \
	X(cudaGLMapBufferObject) X(cudaGLMapBufferObjectAsync) \
	X(cudaGLRegisterBufferObject) X(cudaGLSetBufferObjectMapFlags) \
	X(cudaGLSetGLDevice) X(cudaGLUnmapBufferObject) X(cudaGLUnmapBufferObjectAsync) \
	X(cudaGLUnregisterBufferObject) X(cudaGetChannelDesc) \
	X(cudaGetMipmappedArrayLevel) X(cudaGetSurfaceObjectResourceDesc) \
	X(cudaGetTextureObjectResourceDesc) X(cudaGetTextureObjectResourceViewDesc) \
	X(cudaGetTextureObjectTextureDesc) X(cudaGraphAddExternalSemaphoresSignalNode) \
	X(cudaGraphAddExternalSemaphoresWaitNode) X(cudaGraphDebugDotPrint) \
	X(cudaGraphExecExternalSemaphoresSignalNodeSetParams) \
	X(cudaGraphExecExternalSemaphoresWaitNodeSetParams) \
	X(cudaGraphExternalSemaphoresSignalNodeGetParams) \
	X(cudaGraphExternalSemaphoresSignalNodeSetParams) \
	X(cudaGraphExternalSemaphoresWaitNodeGetParams) \
	X(cudaGraphExternalSemaphoresWaitNodeSetParams) \
	X(cudaGraphMemAllocNodeGetParams) X(cudaGraphMemFreeNodeGetParams) \
	X(cudaGraphReleaseUserObject) X(cudaGraphRetainUserObject) \
	X(cudaGraphicsEGLRegisterImage) X(cudaGraphicsGLRegisterBuffer) \
	X(cudaGraphicsGLRegisterImage) X(cudaGraphicsMapResources) \
	X(cudaGraphicsResourceGetMappedEglFrame) \
	X(cudaGraphicsResourceGetMappedMipmappedArray) \
	X(cudaGraphicsResourceGetMappedPointer) X(cudaGraphicsResourceSetMapFlags) \
	X(cudaGraphicsSubResourceGetMappedArray) X(cudaGraphicsUnmapResources) \
	X(cudaGraphicsUnregisterResource) X(cudaGraphicsVDPAURegisterOutputSurface) \
	X(cudaGraphicsVDPAURegisterVideoSurface) X(cudaImportExternalMemory) \
	X(cudaImportExternalSemaphore) X(cudaLibraryGetUnifiedFunction) \
	X(cudaLogsCurrent) X(cudaLogsDumpToFile) X(cudaLogsDumpToMemory) \
	X(cudaLogsRegisterCallback) X(cudaLogsUnregisterCallback) X(cudaMalloc3DArray) \
	X(cudaMallocArray) X(cudaMallocMipmappedArray) \
	X(cudaMemDiscardAndPrefetchBatchAsync) \
	X(cudaMemDiscardAndPrefetchBatchAsync_ptsz) X(cudaMemDiscardBatchAsync) \
	X(cudaMemDiscardBatchAsync_ptsz) X(cudaMemGetDefaultMemPool) \
	X(cudaMemGetMemPool) X(cudaMemPoolExportPointer) \
	X(cudaMemPoolExportToShareableHandle) X(cudaMemPoolImportFromShareableHandle) \
	X(cudaMemPoolImportPointer) X(cudaMemPrefetchBatchAsync) \
	X(cudaMemPrefetchBatchAsync_ptsz) X(cudaMemRangeGetAttribute) \
	X(cudaMemRangeGetAttributes) X(cudaMemSetMemPool) X(cudaMemcpy2DArrayToArray) \
	X(cudaMemcpy2DArrayToArray_ptds) X(cudaMemcpy2DFromArray) \
	X(cudaMemcpy2DFromArrayAsync) X(cudaMemcpy2DFromArrayAsync_ptsz) \
	X(cudaMemcpy2DFromArray_ptds) X(cudaMemcpy2DToArray) X(cudaMemcpy2DToArrayAsync) \
	X(cudaMemcpy2DToArrayAsync_ptsz) X(cudaMemcpy2DToArray_ptds) \
	X(cudaMemcpy3DBatchAsync) X(cudaMemcpy3DBatchAsync_ptsz) \
	X(cudaMemcpyArrayToArray) X(cudaMemcpyArrayToArray_ptds) X(cudaMemcpyBatchAsync) \
	X(cudaMemcpyBatchAsync_ptsz) X(cudaMemcpyFromArray) X(cudaMemcpyFromArrayAsync) \
	X(cudaMemcpyFromArrayAsync_ptsz) X(cudaMemcpyFromArray_ptds) \
	X(cudaMemcpyToArray) X(cudaMemcpyToArrayAsync) X(cudaMemcpyToArrayAsync_ptsz) \
	X(cudaMemcpyToArray_ptds) X(cudaMipmappedArrayGetMemoryRequirements) \
	X(cudaMipmappedArrayGetSparseProperties) X(cudaOccupancyMaxActiveClusters) \
	X(cudaOccupancyMaxPotentialClusterSize) X(cudaSetValidDevices) \
	X(cudaSignalExternalSemaphoresAsync) X(cudaSignalExternalSemaphoresAsync_ptsz) \
	X(cudaStreamCopyAttributes) X(cudaStreamCopyAttributes_ptsz) \
	X(cudaStreamGetAttribute) X(cudaStreamGetAttribute_ptsz) \
	X(cudaStreamSetAttribute) X(cudaStreamSetAttribute_ptsz) X(cudaUserObjectCreate) \
	X(cudaUserObjectRelease) X(cudaUserObjectRetain) X(cudaVDPAUGetDevice) \
	X(cudaVDPAUSetVDPAUDevice) X(cudaWaitExternalSemaphoresAsync) \
	X(cudaWaitExternalSemaphoresAsync_ptsz)
/* clang-format on */

/* Whatever the arguments are, the C calling convention lets a function ignore them. */
#define REFUSE(name)                         \
	API int name(void)                   \
	{                                    \
		static atomic_bool said;     \
		return refuse(#name, &said); \
	}
REFUSED(REFUSE)

/* A description alone needs no array: programs make one before they find that there are none. */
API struct ts_cuda_channel_format_desc cudaCreateChannelDesc(int32_t x, int32_t y, int32_t z,
							     int32_t w, int32_t f)
{
	return (struct ts_cuda_channel_format_desc){x, y, z, w, f};
}
