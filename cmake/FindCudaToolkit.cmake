# Finds nvcc and the driver header without enabling CMake's CUDA language (kernels are compiled by custom
# commands so that one source gives several cubins).  Sets WSDBG_NVCC, WSDBG_CUDA_ROOT, WSDBG_CUDA_INCLUDE;
# empty when there is no toolkit.
find_program(WSDBG_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin $ENV{CUDA_PATH}/bin PATHS /usr/local/cuda/bin)
set(WSDBG_CUDA_ROOT "")
if(WSDBG_NVCC)
  file(REAL_PATH ${WSDBG_NVCC} nvcc_real)
  cmake_path(GET nvcc_real PARENT_PATH nvcc_bin)
  cmake_path(GET nvcc_bin PARENT_PATH WSDBG_CUDA_ROOT)
  find_path(WSDBG_CUDA_INCLUDE cuda.h PATHS ${WSDBG_CUDA_ROOT}/include ${WSDBG_CUDA_ROOT}/targets/x86_64-linux/include NO_DEFAULT_PATH)
  message(STATUS "CUDA toolkit: ${WSDBG_CUDA_ROOT}")
else()
  set(WSDBG_CUDA_INCLUDE "") # not before find_path, which keeps a variable that is already set
  message(STATUS "CUDA toolkit: not found. Lost: the demo kernels and their register checks, the CUPTI observer.")
endif()
