/* unknown.cu - the kernel of fault-instruction: faults.cu turns the instruction that makes this number into one that
 * does not exist. */
#include <cstdint>

extern "C" __global__ void run_unknown(uint32_t *out)
{
    out[threadIdx.x] = 0x5eedc0deu;
}
