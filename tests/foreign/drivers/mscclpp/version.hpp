/* mscclpp/version.hpp - stands for the header of this name that MSCCL++'s build writes. */
#define MSCCLPP_MAJOR 0
#define MSCCLPP_MINOR 0
#define MSCCLPP_PATCH 0
#define MSCCLPP_VERSION 0
