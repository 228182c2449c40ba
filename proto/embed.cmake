# cmake -D FROM=file -D TO=file.c -D NAME=symbol -P embed.cmake: the bytes of a file as constants in C.
file(READ ${FROM} hex HEX)
string(LENGTH ${hex} digits)
math(EXPR size "${digits} / 2")
string(REPEAT "[0-9a-f]" 64 line)
string(REGEX REPLACE "(${line})" "\\1\n" hex ${hex})
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex ${hex})
file(WRITE ${TO} "#include \"proto/descriptor_set.h\"\n
const unsigned char ${NAME}[] = {\n${hex}\n};\nconst size_t ${NAME}_size = ${size};\n")
