# One interface target carries the warnings; presets turn them into errors (WSDBG_WERROR).
option(WSDBG_WERROR "Treat warnings as errors" OFF)
add_library(wsdbg_warnings INTERFACE)
target_compile_options(wsdbg_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith
  -Wwrite-strings -Wundef -Wformat=2>)
if(WSDBG_WERROR)
  target_compile_options(wsdbg_warnings INTERFACE $<$<COMPILE_LANGUAGE:C>:-Werror>)
endif()
