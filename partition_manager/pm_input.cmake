# What the Partition Manager reads: host file, commands file, the map made of them. No process, no
# socket. Included by partition_manager/CMakeLists.txt.
add_library(poe_pm_input STATIC
  ${CMAKE_CURRENT_LIST_DIR}/allocation.cpp
  ${CMAKE_CURRENT_LIST_DIR}/command_lines.cpp
  ${CMAKE_CURRENT_LIST_DIR}/commands_file.cpp
  ${CMAKE_CURRENT_LIST_DIR}/host_file.cpp
  ${CMAKE_CURRENT_LIST_DIR}/loadleveler.cpp
  ${CMAKE_CURRENT_LIST_DIR}/local_names.cpp
  ${CMAKE_CURRENT_LIST_DIR}/name_pattern.cpp
  ${CMAKE_CURRENT_LIST_DIR}/name_service.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pools.cpp
  ${CMAKE_CURRENT_LIST_DIR}/slurm.cpp
  ${CMAKE_CURRENT_LIST_DIR}/suggest.cpp
  ${CMAKE_CURRENT_LIST_DIR}/task_map.cpp
  ${CMAKE_CURRENT_LIST_DIR}/text_file.cpp)
