# cmake -DWEB=DIR -DOUT=FILE.c -P embed.cmake: web/ joined to one HTML page, and that as an array of C.
# web/page.html says by <!--STYLE NAME--> and <!--SCRIPT NAME--> which file goes where.
file(READ "${WEB}/page.html" page)
string(REGEX MATCHALL "<!--(STYLE|SCRIPT) [a-z_.]+-->" marks "${page}")
foreach(mark ${marks})
    string(REGEX REPLACE "<!--[A-Z]+ ([a-z_.]+)-->" "\\1" name "${mark}")
    file(READ "${WEB}/${name}" text)
    string(REPLACE "${mark}" "${text}" page "${page}")
endforeach()
file(WRITE "${OUT}.html" "${page}")
file(READ "${OUT}.html" hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
string(LENGTH "${hex}" digits)
math(EXPR size "${digits} / 2")
file(WRITE "${OUT}" "/* Made by cmake/embed.cmake out of web/. */
#include \"report/page.h\"

const size_t web_page_size = ${size};
const unsigned char web_page[] = {
${bytes}
};
")
