/* fake_cuda.h - what the tests know about the fake GPU. */
#ifndef WSDBG_TESTS_FAKE_CUDA_H
#define WSDBG_TESTS_FAKE_CUDA_H

#define FAKE_SM_COUNT 4
#define FAKE_WARPS_PER_SM 64
#define FAKE_REGISTERS 168

#define FAKE_FATBIN_BYTES 24 /* the header of a fatbin that holds one of these images */
#define FAKE_PLAIN_IMAGE "//fake\nfunction plain\nfunction slow\nfunction hang\nfunction fault\n"
#define FAKE_PROBED_IMAGE "//fake\nfunction probed\nprobes\nnames producer consumer\n"

/* Two producers overrun a barrier made for one arrival; the same kernel with right rounds dies too. */
#define FAKE_FAULT_IMAGE "//fake\nfunction overrun\nfunction fault\nprobes\nnames producer consumer\n"

/* The first descriptor of what stands for the GPU's files. */
#define FAKE_DEVICE_FILE 200

/* The name of memory that outlives its context, in /proc/PID/maps. */
#define FAKE_GPU_MEMORY "fake-gpu-memory"

#endif
