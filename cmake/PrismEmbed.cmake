# prism_embed(NAME name NAMESPACE a::b FOLDER folder FILES ...)
#
# Adds the source <name>.cc in the build tree, for the caller's target: the
# texts of FILES, paths under FOLDER, as
#
#   std::span<const std::pair<std::string_view, std::string_view>> Files();
#
# of NAMESPACE, path and text of each, in the order given. Sets <name>_SOURCE
# to its path.
function(prism_embed)
  cmake_parse_arguments(ARG "" "NAME;NAMESPACE;FOLDER" "FILES" ${ARGN})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${ARG_NAME}.cc)
  list(TRANSFORM ARG_FILES PREPEND ${ARG_FOLDER}/ OUTPUT_VARIABLE paths)
  string(REPLACE ";" "|" files "${ARG_FILES}")
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${source} -DNAMESPACE=${ARG_NAMESPACE}
      -DFOLDER=${ARG_FOLDER} "-DFILES=${files}"
      -P ${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake
    DEPENDS ${paths} ${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake
    COMMENT "Embedding ${ARG_NAME}" VERBATIM)
  set(${ARG_NAME}_SOURCE ${source} PARENT_SCOPE)
endfunction()
