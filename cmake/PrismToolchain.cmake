# Compiler cache, linker, warnings and sanitizers for every PRISM target.

find_program(PRISM_CCACHE ccache)
if(PRISM_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths relative to the source tree let every build folder and every clone
  # share one cache.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
      ${PRISM_CCACHE})
endif()

find_program(PRISM_MOLD mold)
if(PRISM_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# Linked into every target by prism_library and its siblings.
add_library(prism_options INTERFACE)
target_compile_options(prism_options INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wimplicit-fallthrough
  $<$<BOOL:${PRISM_WERROR}>:-Werror>)
# Debug information of optimised builds keeps line numbers only: gRPC's
# templates make anything more cost a third of the compile time.
target_compile_options(prism_options INTERFACE
  $<$<CONFIG:Release>:-O2> $<$<CONFIG:RelWithDebInfo>:-g1>)
if(PRISM_SANITIZE)
  target_compile_options(prism_options INTERFACE
    -fsanitize=${PRISM_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all
    # g++ 12 loses track of initialisation through the instrumentation.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(prism_options INTERFACE -fsanitize=${PRISM_SANITIZE})
endif()
