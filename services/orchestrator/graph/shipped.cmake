# cmake -D FOLDER=agents -D AGENTS=a,b -D TO=file.c -P shipped.cmake: every file of these agents as a row of a table
# (shipped.h), in the order of their names.
string(REPLACE "," ";" agents "${AGENTS}")
set(texts "")
set(rows "")
set(number 0)
foreach(agent ${agents})
  file(GLOB_RECURSE files RELATIVE ${FOLDER}/${agent} ${FOLDER}/${agent}/*.json ${FOLDER}/${agent}/*.md)
  list(SORT files)
  foreach(file ${files})
    file(READ ${FOLDER}/${agent}/${file} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
    string(APPEND texts "static const unsigned char text_${number}[] = {${hex}0};\n")
    string(APPEND rows "    {\"${agent}\", \"${file}\", (const char *)text_${number}, sizeof text_${number} - 1},\n")
    math(EXPR number "${number} + 1")
  endforeach()
endforeach()
file(WRITE ${TO} "#include \"graph/shipped.h\"\n\n${texts}
const struct shipped_file shipped_files[] = {\n${rows}    {0},\n};\n")
