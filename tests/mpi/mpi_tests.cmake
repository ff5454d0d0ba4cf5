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
# A task is killed at some moment of its traffic: the others end, and none hangs.
foreach(moment 5000 20000 60000)
  mpi_test(random_point_kill_${moment} mpl_run -n 4 -k ${moment} $<TARGET_FILE:mpi_random_point> ${moment} 100000)
  mpi_test(random_point_nodes_kill_${moment} mpl_run -N 2 -n 4 -k ${moment}
           $<TARGET_FILE:mpi_random_point> ${moment} 100000)
endforeach()

# Random collective calls: over TCP between simulated nodes, and with announced messages only.
mpi_test(collective_random_nodes mpl_run -N 2 -n 4 $<TARGET_FILE:mpi_collective_random> 5 200)
mpi_test(collective_random_rendezvous mpl_run -n 4 -e 100 $<TARGET_FILE:mpi_collective_random> 6 200)
mpi_test(collective_inter_nodes mpl_run -N 2 -n 4 $<TARGET_FILE:mpi_collective_inter>)
foreach(program communicator_basic communicator_inter topology_all)
  mpi_test(${program}_nodes mpl_run -N 2 -n 5 $<TARGET_FILE:mpi_${program}>)
endforeach()

# Several threads per task, over TCP between simulated nodes, and with announced messages only.
foreach(program threads_point threads_collective threads_objects)
  mpi_test(${program}_nodes mpl_run -N 2 -n 4 $<TARGET_FILE:mpi_${program}>)
endforeach()
mpi_test(threads_point_rendezvous mpl_run -n 4 -e 100 $<TARGET_FILE:mpi_threads_point>)
