# Run by CPack on what was installed, before it is packed: names and forms of Debian's policy.
# `gzip -n` writes no time, so that the same tree gives the same bytes.
cmake_minimum_required(VERSION 3.25)
set(runtime ${CPACK_TEMPORARY_DIRECTORY}/runtime/usr/share)
set(development ${CPACK_TEMPORARY_DIRECTORY}/development/usr/share)

file(RENAME ${runtime}/doc/strongroom/CHANGELOG.md ${runtime}/doc/strongroom/changelog)
execute_process(COMMAND gzip -9n ${runtime}/doc/strongroom/changelog ${runtime}/man/man1/strongroom.1
  COMMAND_ERROR_IS_FATAL ANY)

file(MAKE_DIRECTORY ${runtime}/zsh/vendor-completions)
file(RENAME ${runtime}/zsh/site-functions/_strongroom ${runtime}/zsh/vendor-completions/_strongroom)
file(REMOVE_RECURSE ${runtime}/zsh/site-functions)

foreach(name copyright changelog.gz)
  file(COPY ${runtime}/doc/strongroom/${name} DESTINATION ${development}/doc/libstrongroom-dev)
endforeach()
