# Emitted CSL as a target of a CMake build. `collc --cmake-dir` prints this folder:
#
#     execute_process(COMMAND collc --cmake-dir OUTPUT_VARIABLE dir OUTPUT_STRIP_TRAILING_WHITESPACE)
#     find_package(collc CONFIG REQUIRED PATHS ${dir} NO_DEFAULT_PATH)
#     collc_add_collective(total total.coll PARAMS P=64 B=256)
#
# makes a target `total`; its files are in the target's property COLLC_OUTPUTS, their folder in
# COLLC_DIRECTORY, which a kernel gives to cslc as an import path.

cmake_minimum_required(VERSION 3.20) # DEPFILE of add_custom_command with any generator
find_program(COLLC_EXECUTABLE collc REQUIRED)

# collc_add_collective(TARGET FILE [PARAMS NAME=VALUE...] [LIBRARY NAME] [ARCH wse2|wse3]
#                      [DIRECTORY DIR] [OPTIONS ...])
#
# LIBRARY names the library and so its modules, which are otherwise called as FILE is.
# What outputs there are is asked of collc when CMake configures, again whenever FILE changes. Files
# that come out the same keep their times, so what is made of them is made only when they change.
function(collc_add_collective target file)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "LIBRARY;ARCH;DIRECTORY" "PARAMS;OPTIONS")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "collc_add_collective: unknown arguments ${arg_UNPARSED_ARGUMENTS}")
    endif()
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    if(file MATCHES ";")
        message(FATAL_ERROR "collc_add_collective: ${file} has a semicolon, which ends a word of a list")
    endif()
    if(NOT arg_DIRECTORY)
        set(arg_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${target})
    endif()
    cmake_path(ABSOLUTE_PATH arg_DIRECTORY BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} NORMALIZE)
    set(command ${COLLC_EXECUTABLE} build ${file} -o ${arg_DIRECTORY} ${arg_OPTIONS})
    foreach(definition IN LISTS arg_PARAMS)
        list(APPEND command -D ${definition})
    endforeach()
    if(arg_LIBRARY)
        list(APPEND command --name ${arg_LIBRARY})
    endif()
    if(arg_ARCH)
        list(APPEND command --target ${arg_ARCH})
    endif()

    execute_process(
        COMMAND ${command} --list-outputs
        OUTPUT_VARIABLE outputs
        ERROR_VARIABLE problem
        RESULT_VARIABLE status
        OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "collc: ${file}\n${problem}")
    endif()
    string(REPLACE "\n" ";" outputs "${outputs}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})

    set(stamp ${CMAKE_CURRENT_BINARY_DIR}/${target}.collc)
    add_custom_command(
        OUTPUT ${stamp}
        BYPRODUCTS ${outputs}
        COMMAND ${command} --stamp ${stamp} --depfile ${stamp}.d
        DEPENDS ${file}
        DEPFILE ${stamp}.d
        COMMENT "collc ${target}"
        VERBATIM)
    add_custom_target(${target} ALL DEPENDS ${stamp})
    set_target_properties(${target} PROPERTIES
        COLLC_OUTPUTS "${outputs}" COLLC_DIRECTORY "${arg_DIRECTORY}")
endfunction()
