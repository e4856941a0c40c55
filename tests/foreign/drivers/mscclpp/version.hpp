/* mscclpp/version.hpp - stands for the header of this name that MSCCL++'s build writes. */
#ifndef WSDBG_TESTS_FOREIGN_MSCCLPP_VERSION_HPP
#define WSDBG_TESTS_FOREIGN_MSCCLPP_VERSION_HPP

#define MSCCLPP_MAJOR 0
#define MSCCLPP_MINOR 0
#define MSCCLPP_PATCH 0
#define MSCCLPP_VERSION 0

#endif
