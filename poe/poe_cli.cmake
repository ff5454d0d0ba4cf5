# What poe reads and says: options, arguments, help, prompt. Included by poe/CMakeLists.txt.
add_library(poe_cli STATIC
  ${CMAKE_CURRENT_LIST_DIR}/apply_value.cpp
  ${CMAKE_CURRENT_LIST_DIR}/arguments.cpp
  ${CMAKE_CURRENT_LIST_DIR}/help.cpp
  ${CMAKE_CURRENT_LIST_DIR}/option_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/option_words.cpp
  ${CMAKE_CURRENT_LIST_DIR}/options.cpp
  ${CMAKE_CURRENT_LIST_DIR}/program_prompt.cpp
  ${CMAKE_CURRENT_LIST_DIR}/values.cpp)
target_link_libraries(poe_cli PUBLIC poe_pm_input poe_diagnostics PRIVATE CLI11::CLI11)
