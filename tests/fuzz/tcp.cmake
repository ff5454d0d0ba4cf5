# Fuzzing of what a TCP pipe receives, the same inputs in every run. More of them:
#   fuzz_tcp tests/fuzz/corpus/tcp 10000000 42
# Included by tests/CMakeLists.txt, behind fuzz.cmake, whose POE_FUZZ_ITERATIONS it shares.
add_executable(fuzz_tcp
  ${CMAKE_CURRENT_LIST_DIR}/fuzz_driver.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tcp_main.cpp)
target_link_libraries(fuzz_tcp PRIVATE mpl_static poe_pm_input)
set_target_properties(fuzz_tcp PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME fuzz_tcp
         COMMAND fuzz_tcp ${CMAKE_CURRENT_LIST_DIR}/corpus/tcp ${POE_FUZZ_ITERATIONS})
