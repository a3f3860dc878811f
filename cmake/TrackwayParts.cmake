# How a folder of src/ becomes part of the library and a test program.
#
#   tw_add_part(frame FILES unpack.c pack.c)    files named here; test.c, if there, is test_frame,
#                                               and a further test_x.c is test_frame_x
#   tw_add_protocol(etmv4 [EXTRA more.c])       the file names that every protocol uses

set(TW_PROTOCOL_FILES protocol.c packet.c encode.c print.c decode.c unit.c index.c batch.c split.c)

# Tests of rights and links, with <elf.h>, or that look through folders in order or start programs.
set(TW_TESTS_OF_POSIX base/test_beside.c base/test_inside.c image/test_files.c image/test_symbols.c hart/test_corpus.c hart/test_logs.c
    etrace/test_corpus.c ntrace/test_corpus.c)

function(tw_add_part folder)
    cmake_parse_arguments(PARSE_ARGV 1 part "" "" "FILES")
    tw_take_folder(${folder} "${part_FILES}")
endfunction()

function(tw_add_protocol folder)
    cmake_parse_arguments(PARSE_ARGV 1 part "" "" "EXTRA")
    set(files ${part_EXTRA})
    foreach(name ${TW_PROTOCOL_FILES})
        if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/${name}")
            list(APPEND files ${name})
        endif()
    endforeach()
    list(REMOVE_DUPLICATES files)
    tw_take_folder(${folder} "${files}")
endfunction()

function(tw_take_folder folder files)
    set(path "${CMAKE_CURRENT_SOURCE_DIR}/${folder}")
    # CONFIGURE_DEPENDS: a file that appears or goes away makes the next build configure again.
    file(GLOB present RELATIVE "${path}" CONFIGURE_DEPENDS "${path}/*.c")
    if(NOT present)
        return()
    endif()
    foreach(name ${present})
        if(NOT name MATCHES "^test(_.*)?\\.c$" AND NOT name IN_LIST files)
            message(WARNING "src/${folder}/${name} is in no list: add it in src/CMakeLists.txt")
        endif()
    endforeach()
    list(TRANSFORM files PREPEND "${path}/")
    target_sources(tw_objects PRIVATE ${files})
    list(FILTER present INCLUDE REGEX "^test(_.*)?\\.c$")
    foreach(name ${present})
        if(TW_HAVE_TESTS AND NOT (WIN32 AND "${folder}/${name}" IN_LIST TW_TESTS_OF_POSIX))
            string(REGEX REPLACE "^test(.*)\\.c$" "test_${folder}\\1" target ${name})
            tw_add_test(${target} "${path}/${name}")
        endif()
    endforeach()
endfunction()

add_custom_target(tw_unit_tests)

# A cmocka program, linked with the library: it sees internal headers and symbols.
function(tw_add_test name)
    add_executable(${name} ${ARGN})
    target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(${name} PRIVATE tw_flags tw_features ${TW_LIBRARY} tw_test_support)
    target_link_libraries(${name} PRIVATE ${TW_ZSTD_LIBRARIES}) # of which the library itself only reads
    add_test(NAME ${name} COMMAND ${name})
    add_dependencies(tw_unit_tests ${name})
endfunction()
