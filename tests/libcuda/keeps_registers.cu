/* keeps_registers.cu - a kernel in which ptxas ignores setmaxnreg, because its launch bounds say no number of CTAs.  By its
 * PTX it would wait for registers that nobody gives back.
 */
extern "C" __global__ void __launch_bounds__(384) asks(unsigned *out)
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    out[threadIdx.x] = threadIdx.x + 1;
}
