add_library(strongroom_options INTERFACE)
target_include_directories(strongroom_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(strongroom_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual
  # g++ 12 reports an overlap in std::string's operator+ that is not there (GCC PR 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${STRONGROOM_WERROR}>:-Werror>
  -fstack-protector-strong)
target_compile_definitions(strongroom_options INTERFACE
  $<$<CONFIG:Release,RelWithDebInfo>:_FORTIFY_SOURCE=2> STRONGROOM_VERSION="${PROJECT_VERSION}")
# No fused multiply-add behind our back: ranked results must have the same bits everywhere.
target_compile_options(strongroom_options INTERFACE -ffp-contract=off)
if(STRONGROOM_SANITIZE)
  target_compile_options(strongroom_options INTERFACE
    -fsanitize=${STRONGROOM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(strongroom_options INTERFACE -fsanitize=${STRONGROOM_SANITIZE})
endif()
target_link_options(strongroom_options INTERFACE -Wl,-z,relro,-z,now -Wl,--as-needed)

# strongroom_layer(NAME SOURCES a.cpp ... DEPENDS target ... [PRIVATE target ...])
function(strongroom_layer name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;PRIVATE" ${ARGN})
  add_library(strongroom_${name} STATIC ${arg_SOURCES})
  add_library(strongroom::${name} ALIAS strongroom_${name})
  target_link_libraries(strongroom_${name} PUBLIC strongroom_options ${arg_DEPENDS}
                        PRIVATE ${arg_PRIVATE})
  # What cmake/library.cmake puts together.
  set_property(GLOBAL APPEND PROPERTY STRONGROOM_LAYERS ${name})
  set_property(GLOBAL APPEND PROPERTY STRONGROOM_PACKAGES ${arg_PRIVATE})
endfunction()
