# Fuzzing of the channel between poe and pmd, the same inputs in every run. More of them:
#   fuzz_channel decode tests/fuzz/corpus/channel 10000000 42
# Included by tests/CMakeLists.txt, behind fuzz.cmake, whose POE_FUZZ_ITERATIONS it shares.
add_executable(fuzz_channel
  ${CMAKE_CURRENT_LIST_DIR}/channel_main.cpp
  ${CMAKE_CURRENT_LIST_DIR}/channel_targets.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fuzz_driver.cpp)
target_link_libraries(fuzz_channel PRIVATE poe_pm_channel poe_pm_input)
set_target_properties(fuzz_channel PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
foreach(target IN ITEMS frames decode mutated round_trip)
  add_test(NAME fuzz_channel_${target}
           COMMAND fuzz_channel ${target} ${CMAKE_CURRENT_LIST_DIR}/corpus/channel
                   ${POE_FUZZ_ITERATIONS})
endforeach()
