# A room is a static library that links only the rooms before it.  An include "model/x.h" is found only through a
# room that was linked: the link order is the data flow.
function(wsdbg_room name)
  cmake_parse_arguments(room "" "" "SOURCES;LINKS" ${ARGN})
  add_library(wsdbg_${name} STATIC ${room_SOURCES})
  target_include_directories(wsdbg_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/rooms/${name}>)
  target_link_libraries(wsdbg_${name} PUBLIC ${room_LINKS} PRIVATE wsdbg_warnings)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/rooms/${name})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_BINARY_DIR}/rooms/${name}/${name} SYMBOLIC)
endfunction()
