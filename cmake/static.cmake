# Toolchain: programs of one file that need nothing of the system but its kernel, linked with musl (Debian: musl-tools). They start
# in a third of the time that the C library of most systems takes to be loaded and to look at the processor; and can
# load nothing: no disassembly of LLVM, no symbols by libelf, no plug-ins, no server.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_HOST_SYSTEM_PROCESSOR})
set(CMAKE_C_COMPILER musl-gcc)

# Headers of the kernel, which musl leaves to the system; and none but those.
execute_process(COMMAND cc -print-multiarch OUTPUT_VARIABLE multiarch OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(kernel "${CMAKE_BINARY_DIR}/kernel")
file(MAKE_DIRECTORY "${kernel}")
foreach(folder linux asm asm-generic)
    foreach(place "/usr/include/${multiarch}" /usr/include)
        if(NOT EXISTS "${kernel}/${folder}" AND EXISTS "${place}/${folder}")
            file(CREATE_LINK "${place}/${folder}" "${kernel}/${folder}" SYMBOLIC)
        endif()
    endforeach()
endforeach()
set(CMAKE_C_FLAGS_INIT "-idirafter ${kernel}")
# musl gives threads 128 KiB of stack, unless the program says what it wants.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static -Wl,-z,stack-size=0x800000")
# No library of this system fits.
set(TW_TARGET_PKG_CONFIG "" CACHE FILEPATH "pkg-config of the target")
