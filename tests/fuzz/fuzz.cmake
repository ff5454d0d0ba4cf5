# Fuzzing of the parsers, of the channel between poe and pmd and of TCP pipes, with a committed corpus, the same
# inputs in every run. More of them:
#   build/release/tests/fuzz host_file tests/fuzz/corpus/host_file 10000000 42
# Included by tests/CMakeLists.txt.
set(POE_FUZZ_ITERATIONS 50000 CACHE STRING "Inputs for each fuzz target in a test run")
add_executable(fuzz
  ${CMAKE_CURRENT_LIST_DIR}/channel_targets.cpp
  ${CMAKE_CURRENT_LIST_DIR}/debugger_targets.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fuzz.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fuzz_driver.cpp
  ${CMAKE_CURRENT_LIST_DIR}/parser_targets.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tcp_targets.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trace_targets.cpp)
target_link_libraries(fuzz PRIVATE poe_cli pm_status pm_job mpl_static trace_diagnosis trace_exchange debugger_parts)
set_target_properties(fuzz PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

function(fuzz_test target corpus)
  add_test(NAME fuzz_${target} COMMAND fuzz ${target} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/corpus/${corpus}
                                       ${POE_FUZZ_ITERATIONS})
endfunction()
foreach(parser IN ITEMS host_file commands_file arguments prompt)
  fuzz_test(${parser} ${parser})
endforeach()
foreach(target IN ITEMS frames decode mutated round_trip)
  fuzz_test(${target} channel)
endforeach()
fuzz_test(tcp tcp)
foreach(target IN ITEMS mi debugger_command debugger_core_file)
  fuzz_test(${target} ${target})
endforeach()
fuzz_test(trace trace)
fuzz_test(trace_export trace)
