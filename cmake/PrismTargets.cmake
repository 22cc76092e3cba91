# One call form for every target of the tree.

# prism_library(NAME name HDRS ... SRCS ... DEPS ...)
#
# Adds the library prism_<name> with the alias prism::<name>. DEPS are public.
function(prism_library)
  cmake_parse_arguments(ARG "" "NAME" "HDRS;SRCS;DEPS" ${ARGN})
  add_library(prism_${ARG_NAME} STATIC ${ARG_SRCS} ${ARG_HDRS})
  add_library(prism::${ARG_NAME} ALIAS prism_${ARG_NAME})
  set_target_properties(prism_${ARG_NAME} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(prism_${ARG_NAME} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(prism_${ARG_NAME}
    PUBLIC ${ARG_DEPS} PRIVATE prism_options)
endfunction()

# prism_binary(NAME name SRCS ... DEPS ...)
function(prism_binary)
  cmake_parse_arguments(ARG "" "NAME" "SRCS;DEPS" ${ARGN})
  add_executable(${ARG_NAME} ${ARG_SRCS})
  target_include_directories(${ARG_NAME} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_DEPS} prism_options)
endfunction()

# prism_test(NAME name SRCS ... DEPS ... [TIMEOUT seconds])
#
# A GoogleTest binary, run as one ctest entry. Tests find their data through
# the compile definitions PRISM_SOURCE_DIR and PRISM_BINARY_DIR.
function(prism_test)
  if(NOT PRISM_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "NAME;TIMEOUT" "SRCS;DEPS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  prism_binary(NAME ${ARG_NAME} SRCS ${ARG_SRCS}
    DEPS ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${ARG_NAME} PRIVATE
    PRISM_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    PRISM_BINARY_DIR="${CMAKE_BINARY_DIR}/bin")
  add_test(NAME ${ARG_NAME} COMMAND ${ARG_NAME})
  set_tests_properties(${ARG_NAME} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
endfunction()

# prism_benchmark(NAME name SRCS ... DEPS ...): a Google Benchmark binary.
# Benchmarks are built with the tests and never run by them.
function(prism_benchmark)
  if(NOT PRISM_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "NAME" "SRCS;DEPS" ${ARGN})
  prism_binary(NAME ${ARG_NAME} SRCS ${ARG_SRCS}
    DEPS ${ARG_DEPS} benchmark::benchmark benchmark::benchmark_main)
  target_compile_definitions(${ARG_NAME} PRIVATE
    PRISM_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    PRISM_BINARY_DIR="${CMAKE_BINARY_DIR}/bin")
endfunction()
