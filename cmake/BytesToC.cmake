# SPDX-License-Identifier: MIT
# cmake -DFROM=FILE -DTO=FILE.c -DNAME=ARRAY -P BytesToC.cmake: the bytes of a file as a C array.
file(READ "${FROM}" bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
file(WRITE "${TO}" "extern const unsigned char ${NAME}[];\n_Alignas(64) const unsigned char ${NAME}[] = {\n${bytes}\n};\n")
