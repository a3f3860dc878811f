# Installation: libraries, headers, tool, pkg-config, find_package(trackway), manual, completions.
include(CMakePackageConfigHelpers)

set(libraries "")
if(TW_STATIC)
    list(APPEND libraries trackway_static)
endif()
if(TW_SHARED)
    list(APPEND libraries trackway_shared)
endif()
if(libraries)
    install(TARGETS ${libraries} EXPORT trackway
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
if(TARGET trackway_tool)
    install(TARGETS trackway_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    # Where `trackway gdb` looks for it, seen from the tool.
    install(FILES tool/gdb/trackway-gdb.py DESTINATION share/trackway)
endif()
if(TW_HAVE_QEMU_PLUGIN)
    # Where `trackway record` looks for it, seen from the tool.
    install(TARGETS trackway_qemu LIBRARY DESTINATION lib/trackway)
endif()
if(libraries)
    install(DIRECTORY include/trackway DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

    set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/trackway)
    install(EXPORT trackway NAMESPACE trackway:: FILE trackway-targets.cmake DESTINATION ${package_dir})
    configure_package_config_file(cmake/trackway-config.cmake.in trackway-config.cmake
        INSTALL_DESTINATION ${package_dir})
    write_basic_package_version_file(trackway-config-version.cmake COMPATIBILITY SameMinorVersion)
    install(FILES
        "${CMAKE_CURRENT_BINARY_DIR}/trackway-config.cmake"
        "${CMAKE_CURRENT_BINARY_DIR}/trackway-config-version.cmake"
        DESTINATION ${package_dir})

    set(pc_requires "")
    set(pc_libs "-pthread")
    if(NOT TW_LOADS_LATER)
        foreach(feature ELF DW ZSTD)
            if(feature IN_LIST TW_FEATURES)
                string(TOLOWER "lib${feature}" library)
                list(APPEND pc_requires ${library})
            endif()
        endforeach()
    endif()
    if("LLVM" IN_LIST TW_FEATURES)
        foreach(library ${TW_LLVM_LIBRARIES})
            list(APPEND pc_libs "-l${library}")
        endforeach()
    endif()
    list(JOIN pc_requires ", " pc_requires)
    list(JOIN pc_libs " " pc_libs)
    set(pc_public "") # without a shared library everyone needs what the static one needs
    if(NOT TW_SHARED)
        set(pc_public " ${pc_libs}")
    endif()
    # Relative to the file itself, so that the installed tree may be moved.
    file(RELATIVE_PATH pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
    string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
    configure_file(cmake/trackway.pc.in trackway.pc @ONLY)
    install(FILES "${CMAKE_CURRENT_BINARY_DIR}/trackway.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

set(sections "")
if(libraries)
    list(APPEND sections 3)
endif()
if(TARGET trackway_tool)
    list(APPEND sections 1)
endif()
foreach(section ${sections})
    install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section}
        FILES_MATCHING PATTERN "*.${section}" PATTERN commands EXCLUDE)
endforeach()
if(TARGET trackway_tool)
    install(DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/man1" DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)
endif()
install(FILES docs/formats.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
# "man tw_tree_next" leads to the page of its header, which has it in its synopsis.
set(pages "")
if(libraries)
    file(GLOB pages docs/man/trackway_*.3)
endif()
foreach(page ${pages})
    get_filename_component(name ${page} NAME)
    file(STRINGS ${page} lines REGEX "^[.]B \".*[ *]tw_[a-z0-9_]+\\(")
    foreach(line ${lines})
        if(line MATCHES "[ *](tw_[a-z0-9_]+)\\(")
            set(link "${CMAKE_CURRENT_BINARY_DIR}/man3/${CMAKE_MATCH_1}.3")
            file(WRITE "${link}" ".so man3/${name}\n")
            install(FILES "${link}" DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
        endif()
    endforeach()
endforeach()
if(TARGET trackway_tool)
    install(FILES tool/completion/trackway.bash OPTIONAL RENAME trackway
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES tool/completion/_trackway OPTIONAL
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()
