# Optional libraries. Each one found defines its macro (test it with #ifdef) for the library's
# sources, and TW_FEATURES names it. Nothing here is needed by the core.

find_package(Threads REQUIRED)
# A cross build takes the target's libraries or none: without a pkg-config that speaks of the target, none.
if(CMAKE_CROSSCOMPILING AND NOT PKG_CONFIG_EXECUTABLE AND NOT DEFINED ENV{PKG_CONFIG_LIBDIR} AND NOT DEFINED ENV{PKG_CONFIG})
    execute_process(COMMAND ${CMAKE_C_COMPILER} -dumpmachine OUTPUT_VARIABLE machine OUTPUT_STRIP_TRAILING_WHITESPACE
        ERROR_QUIET)
    find_program(TW_TARGET_PKG_CONFIG ${machine}-pkg-config)
    set(PKG_CONFIG_EXECUTABLE "${TW_TARGET_PKG_CONFIG}" CACHE FILEPATH "pkg-config of the target" FORCE)
endif()
if(NOT CMAKE_CROSSCOMPILING OR PKG_CONFIG_EXECUTABLE OR DEFINED ENV{PKG_CONFIG_LIBDIR} OR DEFINED ENV{PKG_CONFIG})
    find_package(PkgConfig QUIET)
endif()

set(TW_FEATURES "")
add_library(tw_features INTERFACE)

# tw_feature(ELF "libelf-dev" FOUND INCLUDES LIBRARIES...) switches TW_WITH_ELF on or says why not.
function(tw_feature name package found includes)
    if(TW_WITH_${name} STREQUAL "OFF")
        return()
    endif()
    if(NOT found)
        if(TW_WITH_${name} STREQUAL "ON")
            message(FATAL_ERROR "TW_WITH_${name}=ON, but it was not found (Debian: ${package})")
        endif()
        return()
    endif()
    target_compile_definitions(tw_features INTERFACE TW_WITH_${name}=1)
    if(includes)
        target_include_directories(tw_features SYSTEM INTERFACE ${includes})
    endif()
    set(TW_FEATURES "${TW_FEATURES};${name}" PARENT_SCOPE)
    set(TW_${name}_LIBRARIES "${ARGN}" PARENT_SCOPE)
endfunction()

if(PkgConfig_FOUND)
    pkg_check_modules(LIBELF QUIET libelf)
    pkg_check_modules(LIBDW QUIET libdw)
    pkg_check_modules(LIBZSTD QUIET libzstd)
    pkg_check_modules(CMOCKA QUIET IMPORTED_TARGET cmocka)
endif()
if(EMSCRIPTEN)
    tw_feature(ELF "" TRUE "${PROJECT_SOURCE_DIR}/web/wasm") # a reader in the page, which looks like libelf
else()
    tw_feature(ELF libelf-dev "${LIBELF_FOUND}" "${LIBELF_INCLUDE_DIRS}" elf)
endif()
if("ELF" IN_LIST TW_FEATURES)
    tw_feature(DW libdw-dev "${LIBDW_FOUND}" "${LIBDW_INCLUDE_DIRS}" dw)
endif()
tw_feature(ZSTD libzstd-dev "${LIBZSTD_FOUND}" "${LIBZSTD_INCLUDE_DIRS}" zstd)

# LLVM's library is loaded when it is needed, not linked, which would make each start of a program slow; what is
# used of its interface is declared where it is called. So nothing of it has to be there to build.
set(llvm_found FALSE)
if(UNIX AND NOT APPLE)
    set(llvm_found TRUE)
endif()
tw_feature(LLVM libllvm19 ${llvm_found} "" ${CMAKE_DL_LIBS})
if("LLVM" IN_LIST TW_FEATURES)
    # As Debian calls it, and as LLVM's own packages did.
    target_compile_definitions(tw_features INTERFACE
        "TW_LLVM_SONAME=\"libLLVM.so.19.1\"" "TW_LLVM_LIBRARY=\"libLLVM-19.so.1\"")
endif()

# So are the others (see src/base/library.h), unless a program is linked without shared libraries or goes to a machine that
# has none of them; nor with sanitizers, of which that for leaks fails now and then where a library comes late.
set(TW_LINKED_LIBRARIES ${TW_LLVM_LIBRARIES})
if(TW_LOAD_LATER STREQUAL "AUTO")
    set(TW_LOADS_LATER OFF)
    if(UNIX AND NOT APPLE AND NOT EMSCRIPTEN AND TW_SHARED AND NOT TW_FUZZ AND NOT TW_SANITIZE)
        set(TW_LOADS_LATER ON)
    endif()
else()
    set(TW_LOADS_LATER ${TW_LOAD_LATER})
endif()
if(TW_LOADS_LATER)
    target_compile_definitions(tw_features INTERFACE TW_LOAD_LATER=1)
    list(APPEND TW_LINKED_LIBRARIES ${CMAKE_DL_LIBS})
else()
    list(APPEND TW_LINKED_LIBRARIES ${TW_DW_LIBRARIES} ${TW_ELF_LIBRARIES} ${TW_ZSTD_LIBRARIES})
endif()

set(TW_HAVE_TESTS FALSE)
# Where the target has no cmocka, what our tests use of it is in tests/portable.
set(TW_CMOCKA_STANDIN FALSE)
if(CMAKE_CROSSCOMPILING AND NOT CMOCKA_FOUND AND TW_TESTS STREQUAL "ON")
    set(TW_CMOCKA_STANDIN TRUE)
endif()
if((CMOCKA_FOUND OR TW_CMOCKA_STANDIN) AND NOT TW_TESTS STREQUAL "OFF" AND NOT TW_FUZZ)
    set(TW_HAVE_TESTS TRUE)
elseif(TW_TESTS STREQUAL "ON")
    message(FATAL_ERROR "TW_TESTS=ON, but cmocka was not found (Debian: libcmocka-dev)")
endif()

# The drop-in for OpenCSD: its layout is that of 64-bit little-endian hosts, and what it exports is said
# by a version script.
include(CheckLinkerFlag)
include(TestBigEndian)
set(TW_HAVE_OPENCSD_COMPAT FALSE)
if(NOT TW_OPENCSD_COMPAT STREQUAL "OFF")
    file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/check.map" "{ local: *; };\n")
    check_linker_flag(C "LINKER:--version-script=${CMAKE_CURRENT_BINARY_DIR}/check.map" TW_HAS_VERSION_SCRIPT)
    test_big_endian(TW_BIG_ENDIAN)
    if(UNIX AND NOT APPLE AND TW_HAS_VERSION_SCRIPT AND NOT TW_BIG_ENDIAN AND CMAKE_SIZEOF_VOID_P EQUAL 8)
        set(TW_HAVE_OPENCSD_COMPAT TRUE)
    elseif(TW_OPENCSD_COMPAT STREQUAL "ON")
        message(FATAL_ERROR "TW_OPENCSD_COMPAT=ON, but it needs ELF, version scripts and a 64-bit little-endian host")
    endif()
endif()

list(REMOVE_ITEM TW_FEATURES "")
message(STATUS "Trackway ${PROJECT_VERSION}: features [${TW_FEATURES}], tests ${TW_HAVE_TESTS}")

# The plug-in that records in QEMU, on Linux. One with sanitizers is for a test that loads their library into QEMU
# before it; `record` does not find it by itself.
set(TW_HAVE_QEMU_PLUGIN FALSE)
set(TW_HAVE_SANITIZED_PLUGIN FALSE)
if(NOT TW_QEMU_PLUGIN STREQUAL "OFF" AND NOT TW_FUZZ AND (TW_COVERAGE OR NOT TW_ONE_LIBRARY))
    if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT TW_SANITIZE)
        set(TW_HAVE_QEMU_PLUGIN TRUE)
    elseif(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND TW_SANITIZE MATCHES "address" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
        set(TW_HAVE_SANITIZED_PLUGIN TRUE)
    elseif(TW_QEMU_PLUGIN STREQUAL "ON")
        message(FATAL_ERROR "TW_QEMU_PLUGIN=ON, but it needs Linux and a build without sanitizers")
    endif()
endif()

# The Python package: one extension for all versions from 3.11 on.
set(TW_HAVE_PYTHON FALSE)
if(TW_PYTHON_PACKAGE STREQUAL "ON" AND NOT TW_SHARED)
    message(FATAL_ERROR "TW_PYTHON_PACKAGE=ON, but it needs TW_SHARED=ON")
endif()
if(TW_SHARED AND NOT TW_PYTHON_PACKAGE STREQUAL "OFF" AND NOT TW_FUZZ AND NOT TW_ONE_LIBRARY AND NOT CMAKE_CROSSCOMPILING)
    # Debian's modules belong to Debian's Python; another one may come first on the PATH.
    if(NOT Python3_EXECUTABLE AND EXISTS /usr/bin/python3)
        set(Python3_EXECUTABLE /usr/bin/python3)
    endif()
    find_package(Python3 3.11 QUIET COMPONENTS Interpreter Development.Module)
    if(Python3_Development.Module_FOUND)
        set(TW_HAVE_PYTHON TRUE)
    elseif(TW_PYTHON_PACKAGE STREQUAL "ON")
        message(FATAL_ERROR "TW_PYTHON_PACKAGE=ON, but the headers of Python 3.11 are missing (python3-dev)")
    endif()
endif()
