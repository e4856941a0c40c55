/* cutlass_check.h - shared by the drivers that launch their kernels through CUTLASS's own host code. */
#ifndef WSDBG_TESTS_FOREIGN_CUTLASS_CHECK_H
#define WSDBG_TESTS_FOREIGN_CUTLASS_CHECK_H

#include "cutlass/cutlass.h"
#include "cutlass/kernel_hardware_info.hpp"

#include "check.h"

/* Ends the program if the call failed. */
inline void must(cutlass::Status status)
{
    must(status == cutlass::Status::kSuccess ? cudaSuccess : cudaErrorNotSupported);
}

inline cutlass::KernelHardwareInfo whole_chip()
{
    cutlass::KernelHardwareInfo info;
    info.device_id = 0;
    info.sm_count = cutlass::KernelHardwareInfo::query_device_multiprocessor_count(0);
    return info;
}

/* The operation's functions in the order in which CUTLASS wants them. */
template <typename Operation> void carry_out(Operation &operation, const typename Operation::Arguments &arguments)
{
    must(operation.can_implement(arguments));
    must(
        operation.initialize(arguments, on_device(std::vector<uint8_t>(Operation::get_workspace_size(arguments) + 1))));
    must(operation.run());
}

#endif
