# Component `runtime`: the program with its manual page, completions and documents. Component
# `development`: the library, its headers, and the package for find_package(strongroom).
include(CMakePackageConfigHelpers)

# Licences of this project, of what is linked, and of what the model was learnt from, in one file.
file(GLOB linked CONFIGURE_DEPENDS licenses/*.txt)
file(GLOB learnt CONFIGURE_DEPENDS models/licenses/*.txt)
set(copyright_inputs LICENSE ${linked} ${learnt})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${copyright_inputs})
set(rule "\n----------------------------------------------------------------------\n")
set(copyright "Strongroom\nCopyright the Strongroom authors\nLicence: Apache-2.0\n\n"
  "Its text stands first. Then come the licences of the libraries that the program is linked\n"
  "with, and of the models and texts that the built-in model was learnt from.\n")
list(JOIN copyright "" copyright)
foreach(part IN LISTS copyright_inputs)
  file(READ ${part} text)
  get_filename_component(name ${part} NAME)
  string(REGEX REPLACE "\\.txt$" "" name ${name})
  if(part IN_LIST linked)
    string(APPEND copyright "${rule}Linked: ${name}\n\n${text}")
  elseif(part IN_LIST learnt)
    string(APPEND copyright "${rule}Learnt from: ${name}\n\n${text}")
  else()
    string(APPEND copyright "${rule}Strongroom\n\n${text}")
  endif()
endforeach()
file(CONFIGURE OUTPUT copyright CONTENT "@copyright@" @ONLY)

set(made ${PROJECT_BINARY_DIR}/cli/share)
install(TARGETS strongroom RUNTIME COMPONENT runtime)
if(STRONGROOM_ANSWERS)
  install(FILES ${made}/strongroom.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime)
  install(FILES ${made}/strongroom.bash RENAME strongroom
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT runtime)
  install(FILES ${made}/_strongroom
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT runtime)
  install(FILES ${made}/strongroom.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT runtime)
else()
  message(STATUS "Not installed from this build: the manual page and completions "
    "(strongroom manual and strongroom completion print them)")
endif()
install(FILES ${PROJECT_BINARY_DIR}/copyright CHANGELOG.md SECURITY.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime
  FILES_MATCHING PATTERN *.md PATTERN *.svg)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/strongroom)
install(TARGETS strongroom_library EXPORT strongroom ARCHIVE COMPONENT development)
install(DIRECTORY ${PROJECT_BINARY_DIR}/public/strongroom
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT strongroom NAMESPACE strongroom:: FILE strongroomTargets.cmake
  DESTINATION ${package_folder} COMPONENT development)
configure_package_config_file(cmake/strongroomConfig.cmake.in strongroomConfig.cmake
  INSTALL_DESTINATION ${package_folder})
# Before 1.0 a minor version may change the API.
write_basic_package_version_file(strongroomConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/strongroomConfig.cmake
  ${PROJECT_BINARY_DIR}/strongroomConfigVersion.cmake
  DESTINATION ${package_folder} COMPONENT development)
