# Turns INPUT, one file or several behind one another, into the C file OUTPUT that defines `const char SYMBOL[]`,
# zero-terminated.
set(bytes "")
foreach(file ${INPUT})
  file(READ ${file} more HEX)
  string(APPEND bytes "${more}")
endforeach()
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "extern const char ${SYMBOL}[];\nconst char ${SYMBOL}[] = {\n${bytes}0x00};\n")
