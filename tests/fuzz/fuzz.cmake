# Fuzzing of the parsers with a committed corpus, the same inputs in every run. More of them:
#   fuzz_parsers host_file tests/fuzz/corpus/host_file 10000000 42
# Included by tests/CMakeLists.txt.
set(POE_FUZZ_ITERATIONS 50000 CACHE STRING "Inputs for each fuzzed parser in a test run")
add_executable(fuzz_parsers
  ${CMAKE_CURRENT_LIST_DIR}/fuzz_driver.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fuzz_main.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fuzz_targets.cpp)
target_link_libraries(fuzz_parsers PRIVATE poe_cli poe_pm_input)
set_target_properties(fuzz_parsers PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
foreach(parser IN ITEMS host_file commands_file arguments prompt)
  add_test(NAME fuzz_${parser}
           COMMAND fuzz_parsers ${parser} ${CMAKE_CURRENT_LIST_DIR}/corpus/${parser}
                   ${POE_FUZZ_ITERATIONS})
endforeach()
