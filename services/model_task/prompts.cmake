# cmake -D FOLDER=prompts -D TO=file.c -D NAME=table -P prompts.cmake: every file of the folder as a row of a table
# (model_client.h), named by its path without the end.
file(GLOB_RECURSE files RELATIVE ${FOLDER} ${FOLDER}/*.md)
list(SORT files)
set(texts "")
set(rows "")
set(number 0)
foreach(file ${files})
  file(READ ${FOLDER}/${file} hex HEX)
  string(REGEX REPLACE "(0a|0d)+$" "" hex "${hex}") # the prompt ends with its last letter
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  string(REGEX REPLACE "\\.md$" "" name ${file})
  string(APPEND texts "static const unsigned char text_${number}[] = {${hex}0};\n")
  string(APPEND rows "    {\"${name}\", (const char *)text_${number}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${TO} "#include \"model_task/model_client.h\"\n\n${texts}
extern const struct prompt ${NAME}[];\nconst struct prompt ${NAME}[] = {\n${rows}    {0},\n};\n")
