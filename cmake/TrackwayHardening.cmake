# What makes a flaw harder to use, and what makes two builds of the same sources the same bytes.
#
# For what is installed: tw_harden(TARGET). Tests and benchmarks are built without. Each flag is asked of the compiler
# and the linker first: what one of them lacks is left out.
include(CheckCCompilerFlag)
include(CheckLinkerFlag)
include(CheckPIESupported)

add_library(tw_hardened INTERFACE)

# Not in builds that are there to find flaws: sanitizers and debug builds see the program as it is written.
set(TW_HARDENED OFF)
if(TW_HARDEN AND NOT TW_SANITIZE AND NOT TW_FUZZ AND NOT MSVC AND NOT MINGW AND NOT EMSCRIPTEN
        AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    set(TW_HARDENED ON)
endif()

# tw_harden_compiler(FLAG): for every file.
function(tw_harden_compiler flag)
    string(MAKE_C_IDENTIFIER "TW_COMPILER_TAKES${flag}" known)
    set(CMAKE_REQUIRED_FLAGS -Werror) # clang only warns of a flag that its target lacks
    check_c_compiler_flag(${flag} ${known})
    if(${known})
        target_compile_options(tw_hardened INTERFACE ${flag})
    endif()
endfunction()

# tw_harden_linker(FLAG): for every program and shared library.
function(tw_harden_linker flag)
    string(MAKE_C_IDENTIFIER "TW_LINKER_TAKES${flag}" known)
    check_linker_flag(C ${flag} ${known})
    if(${known})
        target_link_options(tw_hardened INTERFACE ${flag})
    endif()
endfunction()

if(TW_HARDENED)
    tw_harden_compiler(-fstack-protector-strong)
    tw_harden_compiler(-fstack-clash-protection)
    tw_harden_compiler(-fcf-protection)              # x86: calls and jumps land where they may
    tw_harden_compiler(-mbranch-protection=standard) # AArch64: the same, and signed return addresses
    # Whoever builds may have chosen another level, as distributions do.
    if(NOT "${CMAKE_C_FLAGS} $ENV{CPPFLAGS}" MATCHES "_FORTIFY_SOURCE")
        target_compile_options(tw_hardened INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
    endif()
    tw_harden_linker(LINKER:-z,relro)
    tw_harden_linker(LINKER:-z,now)
    tw_harden_linker(LINKER:-z,noexecstack)
    check_pie_supported(LANGUAGES C)
endif()

# The same bytes wherever the tree lies: no path of this machine in debug information, libraries of the build
# tree found from where their user is, no times in archives. Of two maps that fit, the later one counts.
if(NOT MSVC AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    check_c_compiler_flag(-ffile-prefix-map=/a=/b TW_COMPILER_MAPS_PATHS)
    if(TW_COMPILER_MAPS_PATHS)
        target_compile_options(tw_hardened INTERFACE
            "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=." "-ffile-prefix-map=${PROJECT_BINARY_DIR}=./build")
    endif()
endif()
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set(CMAKE_C_ARCHIVE_CREATE "<CMAKE_AR> qcD <TARGET> <LINK_FLAGS> <OBJECTS>")
    set(CMAKE_C_ARCHIVE_APPEND "<CMAKE_AR> qD <TARGET> <LINK_FLAGS> <OBJECTS>")
    set(CMAKE_C_ARCHIVE_FINISH "<CMAKE_RANLIB> -D <TARGET>")
endif()

function(tw_harden target)
    target_link_libraries(${target} PRIVATE tw_hardened)
    if(TW_HARDENED)
        set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endif()
endfunction()
