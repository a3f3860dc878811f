# What a builder may choose, and the compiler flags that follow from it.

# AUTO takes what is found; ON fails the configuration when it is missing.
foreach(option TW_WITH_ELF TW_WITH_DW TW_WITH_ZSTD TW_WITH_LLVM TW_WITH_HTTP TW_TESTS TW_OPENCSD_COMPAT TW_QEMU_PLUGIN TW_PYTHON_PACKAGE
    TW_LOAD_LATER)
    set(${option} AUTO CACHE STRING "AUTO, ON or OFF")
    set_property(CACHE ${option} PROPERTY STRINGS AUTO ON OFF)
endforeach()
# (TW_LOAD_LATER: libelf, libdw and zstd are loaded when they are needed, not with the program.)
# What is built and installed; what another part needs is built for it all the same.
option(TW_SHARED "The shared library" ON)
option(TW_STATIC "The static library" ON)
option(TW_TOOL "The command" ON)
option(TW_HARDEN "Programs and libraries made hard to attack; not with sanitizers, nor for debugging" ON)
option(TW_WERROR "Warnings are errors" OFF)
option(TW_FUZZ "Build the fuzz targets with libFuzzer (needs clang)" OFF)
option(TW_COVERAGE "Count which lines and branches run (needs clang; scripts/coverage)" OFF)
option(TW_BENCH "Build the benchmarks" OFF)
option(TW_ONE_LIBRARY "Tests and the tool use the shared library, which shows all (scripts/mutate)" OFF)
set(TW_SANITIZE "" CACHE STRING "Sanitizers, comma-separated: address,undefined or thread")

# What programs of this tree link. Where one library serves them all, a change to a source file
# costs one compilation and one link, whatever the number of programs.
set(TW_LIBRARY trackway_static)
if(TW_ONE_LIBRARY)
    set(TW_LIBRARY trackway_shared)
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

# Every target of ours links this: warnings and sanitizers in one place.
add_library(tw_flags INTERFACE)
if(MSVC)
    target_compile_options(tw_flags INTERFACE /W4 $<$<BOOL:${TW_WERROR}>:/WX>)
else()
    target_compile_options(tw_flags INTERFACE
        -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wundef -Wvla -Wcast-qual
        -Wstrict-prototypes -Wmissing-prototypes $<$<BOOL:${TW_WERROR}>:-Werror>)
endif()
if(TW_BENCH AND NOT MSVC)
    # Files and lines, by which bench/bench_answer.py shares out host instructions; the code is the same.
    target_compile_options(tw_flags INTERFACE -g)
endif()
if(UNIX OR MINGW)
    # Strict C11 hides what the file readers need of POSIX.
    target_compile_definitions(tw_flags INTERFACE _POSIX_C_SOURCE=200809L _FILE_OFFSET_BITS=64)
endif()
if(MINGW)
    # printf as C11 has it; programs and libraries that need no other file.
    target_compile_definitions(tw_flags INTERFACE __USE_MINGW_ANSI_STDIO=1)
    target_link_options(tw_flags INTERFACE -static)
endif()
if(TW_SANITIZE)
    set(sanitizers -fsanitize=${TW_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_compile_options(tw_flags INTERFACE ${sanitizers})
    target_link_options(tw_flags INTERFACE ${sanitizers})
endif()
if(TW_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "TW_FUZZ needs clang: cmake --preset fuzz")
    endif()
    target_compile_options(tw_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(TW_COVERAGE)
    if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "TW_COVERAGE needs clang: cmake --preset coverage")
    endif()
    # Counters lie in the file itself (%c), one file for each program (%m): what a program did counts even if it is
    # killed or may no longer open files.
    target_compile_options(tw_flags INTERFACE -fcoverage-mapping "SHELL:-mllvm -runtime-counter-relocation=true")
    foreach(kind COMPILE LINK)
        set_property(TARGET tw_flags APPEND PROPERTY INTERFACE_${kind}_OPTIONS
            "-fprofile-instr-generate=${PROJECT_BINARY_DIR}/profiles/tests/%m%c.profraw")
    endforeach()
endif()
