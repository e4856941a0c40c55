# wsdbg_demo_image(NAME SOURCE [NO_LINES] [FOLDER images/shape] flags...): compiles SOURCE to images/NAME.fatbin, which holds the machine code
# for sm_90a and the PTX, and line information unless NO_LINES is said.  What ptxas says (registers, spills, ignored instructions) is kept in images/NAME.ptxas for the tests.
# The names are collected in the directory property DEMO_IMAGES.
function(wsdbg_demo_image name source)
  cmake_parse_arguments(PARSE_ARGV 2 image NO_LINES FOLDER "")
  set(lines -lineinfo)
  if(image_NO_LINES)
    set(lines "")
  endif()
  if(NOT image_FOLDER)
    set(image_FOLDER images)
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${image_FOLDER})
  set(output ${folder}/${name}.fatbin)
  file(MAKE_DIRECTORY ${folder})
  # --no-compress: the test of the machine code reads it out of the fatbin.  The source's name is relative, so that
  # recordings carry no path of the machine that built them.
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DLOG=${folder}/${name}.ptxas -P ${CMAKE_CURRENT_SOURCE_DIR}/compile.cmake --
            ${WSDBG_NVCC} -fatbin --no-compress -std=c++17 -O3 ${lines} -Xptxas -v
            -gencode arch=compute_90a,code=[sm_90a,compute_90a] -I${PROJECT_SOURCE_DIR}/instr/include
            "-DWSDBG_SOURCE_FILE=\"demo_kernels/${source}\""
            ${image_UNPARSED_ARGUMENTS} -MMD -MF ${output}.d -MT ${output} -o ${output} ${CMAKE_CURRENT_SOURCE_DIR}/${source}
    DEPENDS ${source} compile.cmake
    DEPFILE ${output}.d
    COMMENT "Kernel image ${image_FOLDER}/${name}" VERBATIM)
  set_property(DIRECTORY APPEND PROPERTY DEMO_IMAGES ${output})
endfunction()
