# Tests of MPI: jobs of real tasks under mpl_run. Every tests/mpi/*.c is a program that checks one
# area with any number of tasks and without arguments; the tests of a program begin with its name.
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/mpi/*.c)
foreach(source IN LISTS sources)
  get_filename_component(name ${source} NAME_WE)
  add_executable(mpi_${name} ${source})
  target_include_directories(mpi_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/mpi)
  target_link_libraries(mpi_${name} PRIVATE mpi_abi m)
  foreach(tasks 1 2 3 4 7 8)
    add_test(NAME mpi_${name}_${tasks} COMMAND mpl_run -n ${tasks} $<TARGET_FILE:mpi_${name}>)
    set_tests_properties(mpi_${name}_${tasks} PROPERTIES TIMEOUT ${short_test})
  endforeach()
endforeach()

function(mpi_test name)
  add_test(NAME mpi_${name} COMMAND ${ARGN})
  set_tests_properties(mpi_${name} PROPERTIES TIMEOUT ${short_test})
endfunction()

# More communicators than a program usually makes.
foreach(tasks 2 4)
  mpi_test(communicator_many_200000_${tasks} mpl_run -n ${tasks} -t 300 $<TARGET_FILE:mpi_communicator_many> 200000)
  set_tests_properties(mpi_communicator_many_200000_${tasks} PROPERTIES TIMEOUT 330)
endforeach()
mpi_test(communicator_many_nodes mpl_run -N 2 -n 4 $<TARGET_FILE:mpi_communicator_many>)

# Random traffic: finite buffer memory, long messages fetched, streamed, and fetching forbidden; over
# TCP between simulated nodes.
mpi_test(random_point_buffers mpl_run -n 4 -b 16384 $<TARGET_FILE:mpi_random_point> 1000 4)
mpi_test(random_point_rendezvous mpl_run -n 4 -e 100 $<TARGET_FILE:mpi_random_point> 2000 4)
mpi_test(random_point_streamed mpl_run -n 4 -e 100 -s $<TARGET_FILE:mpi_random_point> 3000 4)
mpi_test(random_point_no_fetching mpl_run -n 4 -e 100 -f $<TARGET_FILE:mpi_random_point> 4000 4)
foreach(tasks 2 4 7)
  mpi_test(random_point_nodes_${tasks} mpl_run -N 2 -n ${tasks} $<TARGET_FILE:mpi_random_point> ${tasks}60 4)
endforeach()
foreach(program point_blocking point_requests)
  mpi_test(${program}_nodes mpl_run -N 2 -n 4 $<TARGET_FILE:mpi_${program}>)
  mpi_test(${program}_rendezvous mpl_run -n 4 -e 100 $<TARGET_FILE:mpi_${program}>)
endforeach()
# Repeated collective calls allocate nothing. A sanitizer has a malloc of its own.
if(NOT POE_SANITIZE)
  add_executable(mpi_allocations multiproc/mpi_allocations.c)
  target_include_directories(mpi_allocations PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/mpi)
  target_link_libraries(mpi_allocations PRIVATE mpi_abi)
  foreach(tasks 2 5)
    mpi_test(collective_allocations_${tasks} mpl_run -n ${tasks} $<TARGET_FILE:mpi_allocations>)
  endforeach()
endif()
# A task is killed at some moment of its traffic: the others end, and none hangs.
foreach(moment 5000 20000 60000)
  mpi_test(random_point_kill_${moment} mpl_run -n 4 -k ${moment} $<TARGET_FILE:mpi_random_point> ${moment} 100000)
  mpi_test(random_point_nodes_kill_${moment} mpl_run -N 2 -n 4 -k ${moment}
           $<TARGET_FILE:mpi_random_point> ${moment} 100000)
endforeach()

# Random collective calls on random communicators: over TCP between simulated nodes and between all tasks, with
# announced messages only, and with finite buffer memory.
foreach(tasks 2 4 7)
  mpi_test(random_collective_nodes_${tasks} mpl_run -N 2 -n ${tasks} $<TARGET_FILE:mpi_random_collective> ${tasks}00 4)
endforeach()
mpi_test(random_collective_tcp mpl_run -i -n 3 $<TARGET_FILE:mpi_random_collective> 1000 4)
mpi_test(random_collective_rendezvous mpl_run -n 4 -e 100 $<TARGET_FILE:mpi_random_collective> 2000 4)
mpi_test(random_collective_buffers mpl_run -n 4 -b 16384 $<TARGET_FILE:mpi_random_collective> 3000 4)
foreach(tasks 2 5)
  mpi_test(collective_long_blocks_nodes_${tasks} mpl_run -N 2 -n ${tasks} $<TARGET_FILE:mpi_collective_long_blocks>)
endforeach()
# Short and long irregular calls in shared memory, of more tasks; and with messages only.
mpi_test(collective_irregular_16 mpl_run -n 16 $<TARGET_FILE:mpi_collective_irregular>)
mpi_test(collective_irregular_tcp mpl_run -i -n 4 $<TARGET_FILE:mpi_collective_irregular>)
mpi_test(collective_in_place_16 mpl_run -n 16 $<TARGET_FILE:mpi_collective_in_place>)
mpi_test(collective_in_place_nodes mpl_run -N 2 -n 4 $<TARGET_FILE:mpi_collective_in_place>)
# Plain calls are made within a node only.
mpi_test(collective_plain_nodes mpl_run -N 2 -n 4 $<TARGET_FILE:mpi_collective_plain>)
mpi_test(collective_plain_16 mpl_run -n 16 $<TARGET_FILE:mpi_collective_plain>)
mpi_test(tool_variables_nodes mpl_run -N 2 -n 4 $<TARGET_FILE:mpi_tool_variables>)
mpi_test(tool_variables_tcp mpl_run -i -n 3 $<TARGET_FILE:mpi_tool_variables>)
mpi_test(tool_events_nodes mpl_run -N 2 -n 4 $<TARGET_FILE:mpi_tool_events>)
mpi_test(tool_events_tcp mpl_run -i -n 3 $<TARGET_FILE:mpi_tool_events>)
mpi_test(tool_events_streamed mpl_run -n 2 -e 100 -s $<TARGET_FILE:mpi_tool_events>)
mpi_test(threads_tool_events_nodes mpl_run -N 2 -n 4 $<TARGET_FILE:mpi_threads_tool_events>)
mpi_test(collective_inter_nodes mpl_run -N 2 -n 4 $<TARGET_FILE:mpi_collective_inter>)
foreach(program communicator_basic communicator_inter hardware_split topology_all)
  mpi_test(${program}_nodes mpl_run -N 2 -n 5 $<TARGET_FILE:mpi_${program}>)
endforeach()

# Windows: between simulated nodes, between all tasks by TCP, and with announced messages only. A task is killed at
# some moment: the others end.
foreach(program window_objects window_epochs random_window)
  mpi_test(${program}_nodes mpl_run -N 2 -n 5 $<TARGET_FILE:mpi_${program}>)
  mpi_test(${program}_tcp mpl_run -i -n 3 $<TARGET_FILE:mpi_${program}>)
  mpi_test(${program}_rendezvous mpl_run -n 4 -i -e 100 $<TARGET_FILE:mpi_${program}>)
endforeach()
foreach(seed 10 11 12 13)
  mpi_test(random_window_long_${seed} mpl_run -n 4 $<TARGET_FILE:mpi_random_window> ${seed}00 16)
  mpi_test(random_window_long_tcp_${seed} mpl_run -i -n 4 $<TARGET_FILE:mpi_random_window> ${seed}00 16)
endforeach()
# Two tasks have a core each, so they use mailboxes.
foreach(seed 20 21)
  mpi_test(random_window_pair_${seed} mpl_run -n 2 $<TARGET_FILE:mpi_random_window> ${seed}00 32)
endforeach()
mpi_test(random_window_buffers mpl_run -i -n 4 -b 16384 $<TARGET_FILE:mpi_random_window> 20 4)
foreach(moment 5000 20000 60000)
  mpi_test(random_window_kill_${moment} mpl_run -n 4 -k ${moment} $<TARGET_FILE:mpi_random_window> ${moment} 100000)
  mpi_test(random_window_pair_kill_${moment} mpl_run -n 2 -k ${moment} $<TARGET_FILE:mpi_random_window> ${moment} 100000)
  mpi_test(random_window_tcp_kill_${moment} mpl_run -i -n 4 -k ${moment} $<TARGET_FILE:mpi_random_window> ${moment} 100000)
  mpi_test(random_window_nodes_kill_${moment} mpl_run -N 2 -n 4 -k ${moment}
           $<TARGET_FILE:mpi_random_window> ${moment} 100000)
endforeach()

# Files: between simulated nodes, between all tasks by TCP, with announced messages only, and with little buffer
# memory. A task is killed at some moment: the others end.
foreach(program file_objects random_file)
  mpi_test(${program}_nodes mpl_run -N 2 -n 5 $<TARGET_FILE:mpi_${program}>)
  mpi_test(${program}_tcp mpl_run -i -n 3 $<TARGET_FILE:mpi_${program}>)
  mpi_test(${program}_rendezvous mpl_run -n 4 -i -e 100 $<TARGET_FILE:mpi_${program}>)
endforeach()
foreach(seed 10 11 12 13)
  mpi_test(random_file_long_${seed} mpl_run -n 4 $<TARGET_FILE:mpi_random_file> ${seed}00 20)
  mpi_test(random_file_long_tcp_${seed} mpl_run -i -n 4 $<TARGET_FILE:mpi_random_file> ${seed}00 20)
endforeach()
mpi_test(random_file_buffers mpl_run -i -n 4 -b 16384 $<TARGET_FILE:mpi_random_file> 20 5)
foreach(moment 5000 20000 60000)
  mpi_test(random_file_kill_${moment} mpl_run -n 4 -k ${moment} $<TARGET_FILE:mpi_random_file> ${moment} 100000)
  mpi_test(random_file_tcp_kill_${moment} mpl_run -i -n 4 -k ${moment} $<TARGET_FILE:mpi_random_file> ${moment} 100000)
  mpi_test(random_file_nodes_kill_${moment} mpl_run -N 2 -n 4 -k ${moment}
           $<TARGET_FILE:mpi_random_file> ${moment} 100000)
endforeach()

# Partitioned communication: between simulated nodes, between all tasks by TCP, and with announced messages only.
foreach(program partitioned threads_partitioned)
  mpi_test(${program}_nodes mpl_run -N 2 -n 5 $<TARGET_FILE:mpi_${program}>)
  mpi_test(${program}_tcp mpl_run -i -n 3 $<TARGET_FILE:mpi_${program}>)
  mpi_test(${program}_rendezvous mpl_run -n 4 -e 0 $<TARGET_FILE:mpi_${program}>)
  mpi_test(${program}_buffers mpl_run -n 4 -b 16384 $<TARGET_FILE:mpi_${program}>)
endforeach()
foreach(moment 5000 20000 60000)
  mpi_test(partitioned_kill_${moment} mpl_run -n 4 -k ${moment} $<TARGET_FILE:mpi_partitioned> 100000)
  mpi_test(partitioned_nodes_kill_${moment} mpl_run -N 2 -n 4 -k ${moment} $<TARGET_FILE:mpi_partitioned> 100000)
endforeach()

# Sessions and ports: between simulated nodes, between all tasks by TCP; and process sets.
foreach(program sessions threads_sessions ports)
  mpi_test(${program}_nodes mpl_run -N 2 -n 5 $<TARGET_FILE:mpi_${program}>)
  mpi_test(${program}_tcp mpl_run -i -n 3 $<TARGET_FILE:mpi_${program}>)
endforeach()
mpi_test(sessions_sets_5 ${CMAKE_COMMAND} -E env "MP_PSETS=test://odd=1,3 test://last=4"
         $<TARGET_FILE:mpl_run> -N 2 -n 5 $<TARGET_FILE:mpi_sessions>)
mpi_test(sessions_sets_2 ${CMAKE_COMMAND} -E env "MP_PSETS=test://odd=1 test://last=1-1"
         $<TARGET_FILE:mpl_run> -n 2 $<TARGET_FILE:mpi_sessions>)

# Several hosts that mount a file system: cluster/cluster_files.py.
add_executable(mpi_two_mounts multiproc/mpi_two_mounts.c)
target_include_directories(mpi_two_mounts PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/mpi)
target_link_libraries(mpi_two_mounts PRIVATE mpi_abi)

# Tasks that start tasks need poe: the tests are in multiproc/poe_mpi_spawn.py and cluster/cluster_mpi_spawn.py.
add_executable(mpi_spawn_tasks multiproc/mpi_spawn_tasks.c)
target_include_directories(mpi_spawn_tasks PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/mpi)
target_link_libraries(mpi_spawn_tasks PRIVATE mpi_abi Threads::Threads)

# Check mode: over TCP between simulated nodes, and with announced messages only. It finds nothing in correct programs.
mpi_test(check_mode_nodes mpl_run -N 2 -n 4 $<TARGET_FILE:mpi_check_mode>)
mpi_test(check_mode_rendezvous mpl_run -n 4 -e 100 $<TARGET_FILE:mpi_check_mode>)
mpi_test(check_mode_16 mpl_run -n 16 $<TARGET_FILE:mpi_check_mode>)
function(mpi_checked_test name)
  add_test(NAME mpi_checked_${name} COMMAND ${CMAKE_COMMAND} -E env MP_MPICHECK=yes ${ARGN})
  set_tests_properties(mpi_checked_${name} PROPERTIES TIMEOUT ${short_test}
    FAIL_REGULAR_EXPRESSION "ATTENTION: 0032-2;ERROR: 0032-2")
endfunction()
foreach(tasks 1 2 3 4 7 8 16)
  foreach(program random_point random_collective)
    mpi_checked_test(${program}_${tasks} $<TARGET_FILE:mpl_run> -n ${tasks} $<TARGET_FILE:mpi_${program}> 5${tasks}0 4)
  endforeach()
endforeach()
foreach(program random_point random_collective)
  mpi_checked_test(${program}_nodes $<TARGET_FILE:mpl_run> -N 2 -n 4 $<TARGET_FILE:mpi_${program}> 6000 4)
  mpi_checked_test(${program}_rendezvous $<TARGET_FILE:mpl_run> -n 4 -e 100 $<TARGET_FILE:mpi_${program}> 7000 4)
endforeach()
foreach(program collective_inter collective_neighbor point_requests threads_point threads_collective window_objects
                window_epochs random_window file_objects random_file partitioned threads_partitioned)
  mpi_checked_test(${program} $<TARGET_FILE:mpl_run> -n 4 $<TARGET_FILE:mpi_${program}>)
endforeach()
# Rules that only check mode enforces.
add_executable(mpi_window_rules mpi/checked/window_rules.c)
target_include_directories(mpi_window_rules PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/mpi)
target_link_libraries(mpi_window_rules PRIVATE mpi_abi)
foreach(tasks 1 2 5)
  mpi_checked_test(window_rules_${tasks} $<TARGET_FILE:mpl_run> -n ${tasks} $<TARGET_FILE:mpi_window_rules>)
endforeach()
mpi_checked_test(window_rules_nodes $<TARGET_FILE:mpl_run> -N 2 -n 4 $<TARGET_FILE:mpi_window_rules>)
# A sample: each call is some hand-overs of a processor, and on a busy computer each of these takes milliseconds.
mpi_checked_test(collective_operations $<TARGET_FILE:mpl_run> -n 4 $<TARGET_FILE:mpi_collective_operations> 13)

# Fortran. Each program of tests/mpi/fortran is compiled for each of the three interfaces, and sections.F90 for
# module mpi_f08 only. A program may have further files.
set(fortran_folder ${CMAKE_CURRENT_SOURCE_DIR}/mpi/fortran)
function(mpi_fortran_test program interface)
  string(TOLOWER mpi_fortran_${program}_${interface} name)
  add_executable(${name} ${fortran_folder}/${program}.F90 ${fortran_folder}/check.f90 ${ARGN})
  target_compile_definitions(${name} PRIVATE WITH_${interface})
  # Without interfaces one call may get integers and the next one reals.
  target_compile_options(${name} PRIVATE
    $<$<COMPILE_LANGUAGE:Fortran>:-ffree-line-length-none -fallow-argument-mismatch -fcheck=bounds -w>)
  # The functions of a tool are visible.
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE Fortran C_VISIBILITY_PRESET default
    Fortran_MODULE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/modules/${name})
  target_include_directories(${name} PRIVATE ${fortran_folder})
  target_link_libraries(${name} PRIVATE mpifort_abi mpi_abi)
  foreach(tasks 1 3 8)
    mpi_test(fortran_${program}_${interface}_${tasks} mpl_run -n ${tasks} $<TARGET_FILE:${name}>)
  endforeach()
endfunction()
foreach(interface MPIF_H MPI MPI_F08)
  foreach(program point collective types objects files windows)
    mpi_fortran_test(${program} ${interface})
  endforeach()
  mpi_fortran_test(tool ${interface} ${fortran_folder}/tool_barrier.f90 ${fortran_folder}/tool_calls.c)
endforeach()
mpi_fortran_test(sections MPI_F08)
mpi_fortran_test(threads MPI_F08)
target_compile_options(mpi_fortran_threads_mpi_f08 PRIVATE -fopenmp)
target_link_options(mpi_fortran_threads_mpi_f08 PRIVATE -fopenmp)
mpi_test(fortran_sections_nodes mpl_run -N 2 -n 4 $<TARGET_FILE:mpi_fortran_sections_mpi_f08>)
# Several threads per task, over TCP between simulated nodes, and with announced messages only.
foreach(program threads_point threads_collective threads_objects threads_window threads_file threads_ports)
  mpi_test(${program}_nodes mpl_run -N 2 -n 4 $<TARGET_FILE:mpi_${program}>)
endforeach()
mpi_test(threads_file_tcp mpl_run -i -n 3 $<TARGET_FILE:mpi_threads_file>)
mpi_test(threads_point_rendezvous mpl_run -n 4 -e 100 $<TARGET_FILE:mpi_threads_point>)

# The extension of CC-MPI, a library of its own.
add_executable(mpi_cc_groups mpi/cc/cc_groups.c)
target_include_directories(mpi_cc_groups PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/mpi)
target_link_libraries(mpi_cc_groups PRIVATE mpi_cc mpi_abi)
foreach(tasks 1 2 3 5 8)
  mpi_test(cc_groups_${tasks} mpl_run -n ${tasks} $<TARGET_FILE:mpi_cc_groups>)
endforeach()
mpi_test(cc_groups_nodes mpl_run -N 2 -n 5 $<TARGET_FILE:mpi_cc_groups>)
mpi_test(cc_groups_rendezvous mpl_run -n 4 -e 100 $<TARGET_FILE:mpi_cc_groups>)
add_executable(mpi_cc_fortran mpi/cc/cc_fortran.F90)
# A subroutine without an interface gets buffers of several types.
target_compile_options(mpi_cc_fortran PRIVATE -fallow-argument-mismatch -w)
set_target_properties(mpi_cc_fortran PROPERTIES LINKER_LANGUAGE Fortran)
target_link_libraries(mpi_cc_fortran PRIVATE mpi_cc mpifort_abi mpi_abi)
foreach(tasks 1 4)
  mpi_test(cc_fortran_${tasks} mpl_run -n ${tasks} $<TARGET_FILE:mpi_cc_fortran>)
endforeach()
