/* faults.cu - the cases of stands.def that an error of the GPU ends: each prints which error every later call gives,
 * and ends with status 1.
 *
 * Prints a line a call, `call: error's name`.  Nothing here checks with CHECK what comes after the fault: which call
 * says it first is what is wanted.
 */
#include <cassert>
#include <string.h>
#include <unistd.h>

#include <cuda.h>

#include "common/sync.cuh"
#include "stands.cuh"

__global__ void nothing(void)
{
}

__global__ void spend_twice(void)
{
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        mbarrier_init(&full, 1);
        mbarrier_init_fence();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect_tx(&full, 100);
        mbarrier_arrive_expect_tx(&full, 100);
    }
    mbarrier_wait(&full, 0);
}

__global__ void store_to(uint64_t address)
{
    if (threadIdx.x == 5)
        asm volatile("st.global.u32 [%0], 1;" ::"l"(address) : "memory");
}

__global__ void load_from(uint64_t address, uint32_t *out)
{
    uint32_t value;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
    out[threadIdx.x] = value;
}

/* An address of shared memory where one of global memory is wanted. */
__global__ void add_to_shared_as_global(uint32_t *out)
{
    __shared__ uint32_t word;
    uint32_t before;
    asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(&word) : "memory");
    out[threadIdx.x] = before;
}

__global__ void trap_in_lane(uint32_t lane)
{
    if (threadIdx.x == lane)
        asm volatile("trap;");
}

__global__ void assert_below(uint32_t limit)
{
    assert(threadIdx.x < limit);
}

static void say(const char *call, cudaError_t error)
{
    printf("%s: %s\n", call, cudaGetErrorName(error));
    fflush(stdout);
}

static cudaError_t launch_nothing(cudaStream_t stream)
{
    nothing<<<1, 1, 0, stream>>>();
    return cudaPeekAtLastError();
}

/* The kernel that faults is launched.  What each call says, in this order. */
static int say_errors(cudaStream_t stream)
{
    void *memory;
    say("cudaStreamSynchronize", cudaStreamSynchronize(stream));
    say("cudaMalloc", cudaMalloc(&memory, 4096));
    say("launch", launch_nothing(stream));
    say("cudaDeviceSynchronize", cudaDeviceSynchronize());
    say("cudaGetLastError", cudaGetLastError());
    return STATUS_FAULT;
}

static cudaStream_t begin(const void *kernel)
{
    load_code(kernel);
    load_code((const void *)nothing);
    return new_stream();
}

int stand_mbarrier_719(const struct options *)
{
    begin((const void *)spend_twice);
    spend_twice<<<1, 64>>>();
    say("cudaDeviceSynchronize", cudaDeviceSynchronize());
    say("launch", launch_nothing(NULL));
    say("cudaGetLastError", cudaGetLastError());
    return STATUS_FAULT;
}

int stand_fault_address(const struct options *)
{
    cudaStream_t stream = begin((const void *)store_to);
    store_to<<<1, 64, 0, stream>>>(0x10);
    return say_errors(stream);
}

/* ---- an instruction that does not exist ---- */

#define IMAGE_MAX (1 << 20)

static const uint32_t number_in_code = 0x5eedc0de; /* unknown.cu */

/* The image of unknown.cu, beside this program. */
static size_t read_image(unsigned char *image)
{
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof ".unknown.cubin");
    if (length <= 0)
        return 0;
    strcpy(path + length, ".unknown.cubin");
    FILE *const file = fopen(path, "rb");
    if (!file)
        return 0;
    const size_t bytes = fread(image, 1, IMAGE_MAX, file);
    fclose(file);
    return bytes;
}

/* The instruction's number is in its bytes 4 to 7, its operation in the lowest 12 bits; the guard above those stays
 * "always". */
static bool spoil_instruction(unsigned char *image, size_t bytes)
{
    size_t found = 0, at = 0;
    for (size_t i = 4; i + sizeof number_in_code <= bytes; i += 4)
        if (memcmp(image + i, &number_in_code, sizeof number_in_code) == 0) {
            found++;
            at = i - 4;
        }
    if (found != 1)
        return false;
    image[at] = 0xff;
    image[at + 1] |= 0x0f;
    return true;
}

int stand_fault_instruction(const struct options *)
{
    static unsigned char image[IMAGE_MAX];
    cudaLibrary_t library;
    cudaKernel_t kernel;
    if (!spoil_instruction(image, read_image(image))) {
        fprintf(stderr, "stands: stands.unknown.cubin is not as it should be\n");
        return STATUS_USAGE;
    }
    CHECK(cudaLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cudaLibraryGetKernel(&kernel, library, "run_unknown"));
    cudaStream_t stream = begin((const void *)nothing);
    uint32_t *out = (uint32_t *)new_zeroed(64 * sizeof(uint32_t));
    void *arguments[] = {&out};
    CHECK(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(64), arguments, 0, stream));
    return say_errors(stream);
}

int stand_fault_misaligned(const struct options *)
{
    cudaStream_t stream = begin((const void *)store_to);
    const uint64_t word = (uint64_t)(uintptr_t)new_zeroed(64);
    store_to<<<1, 64, 0, stream>>>(word + 1);
    return say_errors(stream);
}

int stand_fault_load(const struct options *)
{
    cudaStream_t stream = begin((const void *)load_from);
    load_from<<<1, 64, 0, stream>>>(0x10, (uint32_t *)new_zeroed(64 * sizeof(uint32_t)));
    return say_errors(stream);
}

int stand_fault_space(const struct options *)
{
    cudaStream_t stream = begin((const void *)add_to_shared_as_global);
    add_to_shared_as_global<<<1, 64, 0, stream>>>((uint32_t *)new_zeroed(64 * sizeof(uint32_t)));
    return say_errors(stream);
}

int stand_fault_trap(const struct options *)
{
    cudaStream_t stream = begin((const void *)trap_in_lane);
    trap_in_lane<<<1, 64, 0, stream>>>(7);
    return say_errors(stream);
}

int stand_fault_assert(const struct options *)
{
    cudaStream_t stream = begin((const void *)assert_below);
    assert_below<<<1, 64, 0, stream>>>(40);
    return say_errors(stream);
}
