# How a folder of Renga becomes a target: every .c file in it, our warnings as errors, the include root.
# A new file in a folder needs no line here or anywhere else.
include_guard(GLOBAL)
include(CheckLinkerFlag)
find_program(PKG_CONFIG pkg-config REQUIRED)
find_package(Threads REQUIRED)

# renga_package(NAME MODULE [OPTIONAL] [LIBRARIES...]): the target PkgConfig::NAME, from one call of pkg-config, which is kept in the cache.
# CMake's own pkg_check_modules makes eighteen calls for each module; with gRPC's hundred files that was three quarters of a configure.
# LIBRARIES stand in place of those that pkg-config names: a shared library names the libraries that it needs itself.
function(renga_package name module)
  cmake_parse_arguments(PARSE_ARGV 2 package OPTIONAL "" LIBRARIES)
  if(NOT DEFINED RENGA_PACKAGE_${name})
    execute_process(COMMAND ${PKG_CONFIG} --cflags --libs ${module} OUTPUT_VARIABLE flags ERROR_VARIABLE why
                    RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(failed AND package_OPTIONAL)
      return()
    elseif(failed)
      message(FATAL_ERROR "${why}deploy/install-deps installs ${module}")
    endif()
    separate_arguments(flags UNIX_COMMAND "${flags}")
    set(RENGA_PACKAGE_${name} "${flags}" CACHE INTERNAL "pkg-config --cflags --libs ${module}")
  endif()
  if(NOT TARGET PkgConfig::${name})
    add_library(PkgConfig::${name} INTERFACE IMPORTED GLOBAL)
    set(flags ${RENGA_PACKAGE_${name}})
    foreach(flag ${flags})
      if(flag MATCHES "^-I(.+)")
        target_include_directories(PkgConfig::${name} INTERFACE ${CMAKE_MATCH_1})
      elseif(flag MATCHES "^-D")
        target_compile_options(PkgConfig::${name} INTERFACE ${flag})
      elseif(NOT package_LIBRARIES AND flag MATCHES "^-[lL]")
        target_link_libraries(PkgConfig::${name} INTERFACE ${flag})
      endif()
    endforeach()
    target_link_libraries(PkgConfig::${name} INTERFACE ${package_LIBRARIES})
  endif()
endfunction()
renga_package(GRPC grpc LIBRARIES grpc gpr)

# renga_static_grpc(): where gRPC's archives are installed, a program with the property RENGA_STATIC_GRPC links those. That is forty
# shared libraries less to load at each start, a quarter of the time of `renga --version`, and 9 MiB more of program.
function(renga_static_grpc)
  list(FILTER RENGA_PACKAGE_GRPC INCLUDE REGEX "^-l(grpc|gpr|upb|re2|address_sorting|absl_.*)$")
  list(REMOVE_DUPLICATES RENGA_PACKAGE_GRPC)
  foreach(flag ${RENGA_PACKAGE_GRPC})
    string(REPLACE "-l" "lib" archive ${flag}.a)
    find_library(RENGA_ARCHIVE_${archive} ${archive} NO_CACHE)
    if(NOT RENGA_ARCHIVE_${archive})
      message(STATUS "${archive} is not installed: all programs link the shared libraries of gRPC")
      return()
    endif()
    list(APPEND archives ${RENGA_ARCHIVE_${archive}})
  endforeach()
  list(JOIN archives "," archives)
  set(static $<BOOL:$<TARGET_PROPERTY:RENGA_STATIC_GRPC>>)
  set_target_properties(PkgConfig::GRPC PROPERTIES INTERFACE_LINK_LIBRARIES
    "$<IF:${static},$<LINK_GROUP:RESCAN,${archives}>;cares;stdc++;ssl;crypto;z,grpc;gpr>")
endfunction()
if(NOT RENGA_SANITIZE) # TSan would take gRPC's code for ours
  renga_static_grpc()
endif()

renga_package(PROTOBUF_C libprotobuf-c)
renga_package(CURL libcurl LIBRARIES ${CMAKE_DL_LIBS}) # loaded late: shared/http/libcurl.c
renga_package(CJSON libcjson)
renga_package(OPENSSL libcrypto)
renga_package(LIBSSL libssl)
renga_package(ZLIB zlib)
renga_package(HIREDIS hiredis)
renga_package(SQLITE sqlite3)
renga_package(ICU icu-i18n)
renga_package(IDN2 libidn2)
renga_package(CMOCKA cmocka)

add_library(renga_flags INTERFACE)
target_compile_definitions(renga_flags INTERFACE _GNU_SOURCE RENGA_VERSION="${PROJECT_VERSION}")
target_compile_options(renga_flags INTERFACE
  -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla
  -Wformat=2 -Wundef -Wwrite-strings -Wcast-qual -Wno-unused-parameter
  -fno-common)
target_include_directories(renga_flags INTERFACE ${CMAKE_SOURCE_DIR}/shared)
target_link_libraries(renga_flags INTERFACE Threads::Threads)
if(RENGA_SANITIZE)
  # -Og is built in four fifths of the time of -O1 and takes up to 8 % more for the tests, -O0 twice as much; reports need lines alone, so -g1.
  # Their checks confuse the warnings that follow values; the release build has those.
  add_compile_options(-Og -g1 -fno-optimize-sibling-calls -Wno-format-truncation -Wno-maybe-uninitialized)
  add_compile_options(-fsanitize=${RENGA_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(RENGA_SANITIZE MATCHES "address")
    add_compile_options(-fno-sanitize=null,object-size) # ASan sees both when they are used; a build takes a tenth less without
  endif()
  add_link_options(-fsanitize=${RENGA_SANITIZE})
else()
  add_compile_options($<$<CONFIG:RelWithDebInfo,Release>:-D_FORTIFY_SOURCE=3>)
endif()

# Hardening. tests/house/binaries.py reads the programs that were built and fails where one of these is missing.
# -fPIE stands in front, so that shared modules override it. Libraries with -fPIC would lose inlining.
set(CMAKE_C_FLAGS "${CMAKE_C_FLAGS} -fPIE")
add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>)
add_compile_options(-fstack-protector-strong -fstack-clash-protection) # of generated code too
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|i[3-6]86)$")
  add_compile_options(-fcf-protection=full)
endif()
add_link_options(LINKER:-z,relro,-z,now,-z,noexecstack)

# Reproducible: no file of the build names the folder that it was built in (tests/house/reproducible.py).
add_compile_options(-ffile-prefix-map=${CMAKE_BINARY_DIR}=build -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)

# Three hundred test programs a build link the same libraries. lld takes a tenth of the usual linker's time, gold a fifth; one thread
# each, since ninja has a link for each core. What is shipped is linked as ever.
check_linker_flag(C "-fuse-ld=lld" RENGA_LLD)
check_linker_flag(C "-fuse-ld=gold" RENGA_GOLD)
set(RENGA_LINKER $<$<BOOL:${RENGA_GOLD}>:-fuse-ld=gold>)
if(RENGA_LLD)
  set(RENGA_LINKER -fuse-ld=lld LINKER:--threads=1)
endif()
if(RENGA_SANITIZE)
  add_link_options(${RENGA_LINKER})
endif()

# renga_library(NAME [LIBRARIES...]): all .c files of the calling folder and its rooms as the static library NAME.
function(renga_library name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c ${CMAKE_CURRENT_SOURCE_DIR}/*/*.c)
  list(FILTER sources EXCLUDE REGEX "/main\\.c$")
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC renga_flags ${ARGN})
endfunction()

# The longest tests begin first, so that none is left alone at the end. The table at the end of tests/run names them.
set(RENGA_LONGEST linear interview_session_five interview_session_one search_sources interview_terminal orchestrator_run_large_test
  orchestrator_run_damaged_test orchestrator_killer tool_runner_files research_terminal helpdesk_terminal kubernetes search_providers
  console_axe console_lives console_pages drill_polite rpc_stopped research_outside_one research_outside_five daemon rpc_drain rpc_node tool_runner_index helpdesk_retries_five
  orchestrator_promises orchestrator_others research_audit orchestrator_terminal llm_gateway_ledger_waiting_test renga_readme
  drill_cuts_on_redis drill_cuts drill_kills orchestrator_crash fault_garbage rpc_python_limits
  drill_rolling fault_hostile fault_hostile_door fault_hostile_edge)
function(renga_place_of name) # by RENGA_LONGEST
  list(FIND RENGA_LONGEST ${name} place)
  if(place GREATER -1)
    math(EXPR cost "1000 - ${place}")
    set_tests_properties(${name} PROPERTIES COST ${cost})
  endif()
endfunction()

# renga_test(NAME SOURCE [LIBRARIES...]): a cmocka program that is a test of its own. tests/run names those in RENGA_NOT_RUN that it
# does not run in this build: they are built on request only.
function(renga_test name source)
  add_executable(${name} ${source})
  if(name IN_LIST RENGA_NOT_RUN)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  target_link_libraries(${name} PRIVATE renga_flags PkgConfig::CMOCKA ${ARGN})
  # A test spends its time in the libraries; without optimization its own code is built in half the time, and debugged more easily.
  target_compile_options(${name} PRIVATE -O0 -U_FORTIFY_SOURCE)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  target_link_options(${name} PRIVATE ${RENGA_LINKER})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600) # for what hangs; a busy machine may take its time
  renga_place_of(${name})
endfunction()
