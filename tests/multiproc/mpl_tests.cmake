# Tests of the MPL library: unit tests of comm and collectives, and jobs of real tasks under
# mpl_run.
unit_tests(comm mpl_static)
unit_tests(collectives poe_schedules mptune_parts)

add_executable(mpl_run multiproc/mpl_run.cpp)
target_link_libraries(mpl_run PRIVATE poe_base)
target_compile_definitions(mpl_run PRIVATE MPL_RUN_SECONDS=${mpl_run_seconds})

# --- the programs that run as tasks
function(mpl_program name)
  add_executable(${name} multiproc/${ARGN})
  target_link_libraries(${name} PRIVATE mpl)
endfunction()

mpl_program(mpl_allocations mpl_allocations.c)
mpl_program(mpl_bench mpl_bench.c)
mpl_program(mpl_collectives mpl_collectives.cpp)
mpl_program(mpl_control mpl_control.c)
mpl_program(mpl_flush mpl_flush.c)
mpl_program(mpl_interrupts mpl_interrupts.c)
mpl_program(mpl_groups mpl_groups.c)
mpl_program(mpl_modes mpl_modes.c)
mpl_program(mpl_isolation mpl_isolation.c)
mpl_program(mpl_long_calls mpl_long_calls.c)
mpl_program(mpl_nonblocking mpl_nonblocking.c)
mpl_program(mpl_paper mpl_paper.c)
mpl_program(mpl_random mpl_random.cpp multiproc/mpl_random_mixed.cpp)
mpl_program(mpl_reductions mpl_reductions.c)
mpl_program(mpl_semantics mpl_semantics.c)
mpl_program(mpl_unexpected mpl_unexpected.c)
add_executable(layer_random multiproc/layer_random.cpp)
target_link_libraries(layer_random PRIVATE mpl_static)
# Loads libraries that it does not link (poe_mpl.py).
add_executable(engine_copies multiproc/engine_copies.c)
target_link_libraries(engine_copies PRIVATE ${CMAKE_DL_LIBS})
add_dependencies(engine_copies mpl)
foreach(standard 90 99 11)
  mpl_program(mpl_dispatch_c${standard} mpl_dispatch.c)
  set_target_properties(mpl_dispatch_c${standard} PROPERTIES C_STANDARD ${standard})
endforeach()
configure_file(${CMAKE_CURRENT_SOURCE_DIR}/multiproc/mpl_dispatch.c
               ${CMAKE_CURRENT_BINARY_DIR}/mpl_dispatch.cpp COPYONLY)
add_executable(mpl_dispatch_cxx ${CMAKE_CURRENT_BINARY_DIR}/mpl_dispatch.cpp)
target_include_directories(mpl_dispatch_cxx PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/multiproc)
target_link_libraries(mpl_dispatch_cxx PRIVATE mpl)
mpl_program(mpl_old_c mpl_old_c.c)
target_compile_options(mpl_old_c PRIVATE -std=gnu89 -w)

# Fortran with the module's interfaces, and without any.
foreach(style module external)
  mpl_program(mpl_${style} mpl_${style}.f90)
  add_dependencies(mpl_${style} mpl_fortran)
endforeach()
# As mpfort does: without interfaces one call may get integers and the next one reals.
target_compile_options(mpl_external PRIVATE -fallow-argument-mismatch -w)

# --- the tests
function(mpl_test name)
  add_test(NAME mpl_${name} COMMAND ${ARGN})
  set_tests_properties(mpl_${name} PROPERTIES TIMEOUT ${short_test})
endfunction()

# What tasks leave in TMPDIR goes with the job.
mpl_test(run_leaves_nothing sh -c [=[folder=$("$0" -n 2 sh -c 'touch "${TMPDIR:?}/$MP_CHILD" && echo "$TMPDIR"' | sort -u) &&
  test -n "$folder" && ! test -e "$folder"]=] $<TARGET_FILE:mpl_run>)

foreach(tasks 1 2 3 4 7 8 16)
  mpl_test(semantics_${tasks} mpl_run -n ${tasks} $<TARGET_FILE:mpl_semantics>)
  mpl_test(nonblocking_${tasks} mpl_run -n ${tasks} $<TARGET_FILE:mpl_nonblocking>)
  # More tasks take longer for each seed.
  math(EXPR seeds "100 / (${tasks} + 3)")
  mpl_test(random_${tasks} mpl_run -n ${tasks} $<TARGET_FILE:mpl_random> ${tasks}00 ${seeds} 20)
  mpl_test(old_c_${tasks} mpl_run -n ${tasks} $<TARGET_FILE:mpl_old_c>)
endforeach()
mpl_test(semantics_alone $<TARGET_FILE:mpl_semantics>)

# Finite buffer memory, small eager limit, every way to wait.
mpl_test(random_ordered mpl_run -n 4 -b 16384 $<TARGET_FILE:mpl_random> 5000 10 20 ordered)
mpl_test(random_ordered_16 mpl_run -n 16 -b 65536 $<TARGET_FILE:mpl_random> 5100 3 10 ordered)
# Long messages fetched, streamed, and fetching forbidden by the system.
mpl_test(random_rendezvous mpl_run -n 4 -e 100 $<TARGET_FILE:mpl_random> 6000 10 10)
mpl_test(random_streamed mpl_run -n 4 -e 100 -s $<TARGET_FILE:mpl_random> 6100 10 10)
mpl_test(random_no_fetching mpl_run -n 4 -e 100 -f $<TARGET_FILE:mpl_random> 6200 10 10)
mpl_test(nonblocking_greedy ${CMAKE_COMMAND} -E env MP_COLL_INDEX=greedy $<TARGET_FILE:mpl_run> -n 4
         $<TARGET_FILE:mpl_nonblocking>)
mpl_test(nonblocking_rendezvous mpl_run -n 4 -e 100 $<TARGET_FILE:mpl_nonblocking>)
mpl_test(nonblocking_no_fetching mpl_run -n 4 -e 100 -f $<TARGET_FILE:mpl_nonblocking>)
foreach(mode poll yield sleep)
  mpl_test(random_${mode} mpl_run -n 2 -w ${mode} $<TARGET_FILE:mpl_random> 7000 10 10)
  mpl_test(semantics_${mode} mpl_run -n 2 -w ${mode} $<TARGET_FILE:mpl_semantics>)
endforeach()
mpl_test(random_sleep_crowd mpl_run -n 8 -w sleep $<TARGET_FILE:mpl_random> 7100 5 10)
# As on a machine with a core for every task.
mpl_test(random_uncrowded mpl_run -n 2 -c 16 $<TARGET_FILE:mpl_random> 7200 10 10)
mpl_test(random_uncrowded_4 mpl_run -n 4 -c 16 $<TARGET_FILE:mpl_random> 7300 5 10)
mpl_test(random_uncrowded_no_fetching mpl_run -n 2 -c 16 -f $<TARGET_FILE:mpl_random> 7400 10 10)
mpl_test(semantics_uncrowded mpl_run -n 2 -c 16 $<TARGET_FILE:mpl_semantics>)
mpl_test(semantics_uncrowded_no_fetching mpl_run -n 2 -c 16 -f $<TARGET_FILE:mpl_semantics>)
mpl_test(background_uncrowded mpl_run -n 2 -c 16 $<TARGET_FILE:mpl_interrupts> background)
foreach(moment 9000 25000)
  mpl_test(uncrowded_kill_${moment} mpl_run -n 2 -c 16 -k ${moment} $<TARGET_FILE:mpl_random>
           ${moment} 100000 10)
endforeach()

# The message layer beyond what MPL uses of it. POE_RANDOM_SEEDS=5000 ctest -R layer_random runs more.
foreach(tasks 1 2 3 4 7 8 16)
  math(EXPR seeds "100 / (${tasks} + 3)")
  mpl_test(layer_random_${tasks} mpl_run -n ${tasks} $<TARGET_FILE:layer_random> ${tasks}10 ${seeds} 20)
endforeach()
mpl_test(layer_random_rendezvous mpl_run -n 4 -e 100 $<TARGET_FILE:layer_random> 9000 10 20)
mpl_test(layer_random_streamed mpl_run -n 4 -e 100 -s $<TARGET_FILE:layer_random> 9100 10 20)
mpl_test(layer_random_no_fetching mpl_run -n 4 -e 100 -f $<TARGET_FILE:layer_random> 9200 10 20)
mpl_test(layer_random_small_buffers mpl_run -n 4 -b 16384 $<TARGET_FILE:layer_random> 9300 10 20)
mpl_test(layer_random_uncrowded mpl_run -n 2 -c 16 $<TARGET_FILE:layer_random> 9400 10 20)
foreach(tasks 2 4 8)
  mpl_test(layer_random_ip_${tasks} mpl_run -i -n ${tasks} $<TARGET_FILE:layer_random> ${tasks}50 5 20)
  mpl_test(layer_random_nodes_${tasks} mpl_run -N 2 -n ${tasks} $<TARGET_FILE:layer_random> ${tasks}60 5 20)
endforeach()

mpl_test(unexpected_2 mpl_run -n 2 $<TARGET_FILE:mpl_unexpected> keep)
mpl_test(unexpected_8 mpl_run -n 8 $<TARGET_FILE:mpl_unexpected> keep)
mpl_test(unexpected_flood mpl_run -n 3 -b 65536 $<TARGET_FILE:mpl_unexpected> flood)

foreach(tasks 2 3 8)
  mpl_test(paper_${tasks} mpl_run -n ${tasks} $<TARGET_FILE:mpl_paper>)
endforeach()
mpl_test(paper_small_limits mpl_run -n 2 -e 200 -b 16384 $<TARGET_FILE:mpl_paper>)
mpl_test(paper_streamed mpl_run -n 2 -e 200 -s $<TARGET_FILE:mpl_paper>)

foreach(standard c90 c99 c11 cxx)
  mpl_test(dispatch_${standard} $<TARGET_FILE:mpl_dispatch_${standard}>)
endforeach()

foreach(style module external)
  foreach(tasks 1 2 4)
    mpl_test(fortran_${style}_${tasks} mpl_run -n ${tasks} $<TARGET_FILE:mpl_${style}>)
  endforeach()
endforeach()
mpl_test(control_alone $<TARGET_FILE:mpl_control> 0 0)
mpl_test(control_4 mpl_run -n 4 $<TARGET_FILE:mpl_control> 0 0)
mpl_test(control_settings ${CMAKE_COMMAND} -E env MP_CSS_INTERRUPT=Yes MP_INTRDELAY=70
         $<TARGET_FILE:mpl_control> 1 70)
mpl_test(control_wrong_settings ${CMAKE_COMMAND} -E env MP_CSS_INTERRUPT=maybe MP_INTRDELAY=-70x
         $<TARGET_FILE:mpl_control> 0 0)

# Progress while tasks compute: by interrupts, by timer, over shared memory and TCP; and all of MPL
# with a progress thread beside it.
set(interrupts ${CMAKE_COMMAND} -E env MP_CSS_INTERRUPT=yes)
foreach(tasks 2 3 8)
  mpl_test(interrupts_${tasks} ${interrupts} $<TARGET_FILE:mpl_run> -n ${tasks}
           $<TARGET_FILE:mpl_interrupts> handlers)
endforeach()
mpl_test(interrupts_enabled mpl_run -n 2 $<TARGET_FILE:mpl_interrupts> enable)
mpl_test(interrupts_ip ${interrupts} $<TARGET_FILE:mpl_run> -i -n 3 $<TARGET_FILE:mpl_interrupts>)
mpl_test(interrupts_nodes ${interrupts} $<TARGET_FILE:mpl_run> -N 2 -n 4
         $<TARGET_FILE:mpl_interrupts>)
mpl_test(interrupts_sleep ${interrupts} $<TARGET_FILE:mpl_run> -w sleep -n 2
         $<TARGET_FILE:mpl_interrupts>)
mpl_test(timer ${CMAKE_COMMAND} -E env MP_POLLING_INTERVAL=300 $<TARGET_FILE:mpl_run> -n 2
         $<TARGET_FILE:mpl_interrupts> timer)
foreach(tasks 2 3 8)
  mpl_test(background_${tasks} mpl_run -n ${tasks} $<TARGET_FILE:mpl_interrupts> background)
endforeach()
mpl_test(background_streamed mpl_run -s -n 2 $<TARGET_FILE:mpl_interrupts> background)
mpl_test(background_ip mpl_run -i -n 3 $<TARGET_FILE:mpl_interrupts> background)
mpl_test(background_nodes mpl_run -N 2 -n 4 $<TARGET_FILE:mpl_interrupts> background)
foreach(tasks 2 4 8)
  mpl_test(interrupts_random_${tasks} ${interrupts} $<TARGET_FILE:mpl_run> -n ${tasks}
           $<TARGET_FILE:mpl_random> ${tasks}70 10 20)
  mpl_test(interrupts_ip_random_${tasks} ${interrupts} $<TARGET_FILE:mpl_run> -i -n ${tasks}
           $<TARGET_FILE:mpl_random> ${tasks}80 5 20)
endforeach()
foreach(program semantics nonblocking paper)
  mpl_test(interrupts_${program} ${interrupts} $<TARGET_FILE:mpl_run> -n 4
           $<TARGET_FILE:mpl_${program}>)
endforeach()
foreach(moment 7000 21000 60000)
  mpl_test(interrupts_kill_${moment} ${interrupts} $<TARGET_FILE:mpl_run> -n 4 -k ${moment}
           $<TARGET_FILE:mpl_random> ${moment} 100000 10)
endforeach()

# Collective calls: groups, modes, and random calls against an oracle, with each algorithm.
foreach(tasks 1 2 3 4 7 8 16)
  mpl_test(groups_${tasks} mpl_run -n ${tasks} $<TARGET_FILE:mpl_groups>)
  mpl_test(reductions_${tasks} mpl_run -n ${tasks} $<TARGET_FILE:mpl_reductions>)
  mpl_test(collectives_${tasks} mpl_run -n ${tasks} $<TARGET_FILE:mpl_collectives> ${tasks}00 30 10)
endforeach()
foreach(tasks 2 3 5)
  mpl_test(long_calls_${tasks} ${CMAKE_COMMAND} -E env MP_COLL_INDEX=shared-memory
           MP_COLL_SHIFT=shared-memory $<TARGET_FILE:mpl_run> -n ${tasks}
           $<TARGET_FILE:mpl_long_calls>)
endforeach()
function(collectives_with name environment)
  mpl_test(collectives_${name} ${CMAKE_COMMAND} -E env ${environment}
           $<TARGET_FILE:mpl_run> ${ARGN} $<TARGET_FILE:mpl_collectives> 900 15 10)
endfunction()
foreach(moment 9000 26000 70000)
  mpl_test(collectives_kill_${moment} mpl_run -n 4 -k ${moment} $<TARGET_FILE:mpl_collectives> ${moment} 100000 10)
  mpl_test(collectives_nodes_kill_${moment} mpl_run -N 2 -n 6 -k ${moment} $<TARGET_FILE:mpl_collectives> ${moment} 100000 10)
endforeach()
collectives_with(barrier MP_CCL_MODE=barrier -n 7)
collectives_with(develop MP_EUIDEVELOP=yes -n 4)
collectives_with(ip "" -i -n 4)
collectives_with(nodes "" -N 2 -n 7)
collectives_with(nodes_of_3 "" -N 3 -n 8)
# What blocking calls of several nodes are made of shared memory for.
collectives_with(nodes_schedules
                 "MP_COLL_SYNC=two-level;MP_COLL_COMBINE=two-level;MP_COLL_CONCAT=two-level;MP_COLL_BCAST=two-level"
                 -N 2 -n 7)
collectives_with(rendezvous "" -n 7 -e 100)
collectives_with(no_fetching "" -n 4 -e 100 -f)
collectives_with(a3_square "MP_COLL_INDEX=a3:1" -n 9)
collectives_with(small_buffers "" -n 4 -b 16384)
foreach(choice bcast=alpha bcast=lambda bcast=greedy bcast=edst:3 bcast=chain:3 bcast=circulant:3 bcast=scatter-concat
        reduce=lambda reduce=halving reduce=edst:2 reduce=chain:3 reduce=circulant:3 combine=tree combine=hybrid:1
        combine=circulant combine=census:2.6 combine=halving combine=ring prefix=butterfly prefix=tree
        scatter=direct scatter=lambda gather=direct gather=lambda concat=circulant concat=direct concat=ring concat=pieces:3 concat=multiport:2 bcast=fibonacci:5
        index=radix:2 index=radix:3 index=pairwise:1 index=a2:0 index=a2:2 index=a3:1 index=multiport:2 index=a4:0 index=a4:1 index=a4:2
        index=pieces:3 index=phased:0 index=phased:200 index=phased-barrier:100 index=greedy:2 index=all-to-all:0
        sync=tree bcast=shared-memory reduce=direct-memory combine=direct-memory gather=direct-memory index=shared-memory
        shift=direct-memory)
  string(TOUPPER "MP_COLL_${choice}" variable)
  string(REGEX REPLACE "=.*" "" variable ${variable})
  string(REGEX REPLACE ".*=" "" algorithm ${choice})
  string(MAKE_C_IDENTIFIER ${choice} name)
  collectives_with(${name} ${variable}=${algorithm} -n 8)
endforeach()
# With buffer memory that is soon full: a program's messages and its collective calls do not wait
# for each other.
foreach(tasks 2 5)
  mpl_test(isolation_${tasks} mpl_run -n ${tasks} -b 16384 $<TARGET_FILE:mpl_isolation>)
  mpl_test(isolation_ip_${tasks} mpl_run -i -n ${tasks} -b 16384 $<TARGET_FILE:mpl_isolation>)
endforeach()
mpl_test(isolation_streamed mpl_run -n 3 -b 16384 -e 100 -s $<TARGET_FILE:mpl_isolation>)
# A sanitizer has a malloc of its own.
if(NOT POE_SANITIZE)
  foreach(tasks 2 5)
    mpl_test(allocations_${tasks} mpl_run -n ${tasks} $<TARGET_FILE:mpl_allocations>)
    mpl_test(allocations_ip_${tasks} mpl_run -i -n ${tasks} $<TARGET_FILE:mpl_allocations>)
  endforeach()
  mpl_test(allocations_nodes mpl_run -N 2 -n 4 $<TARGET_FILE:mpl_allocations>)
  foreach(tasks 2 4)
    mpl_test(allocations_multicast_${tasks} ${CMAKE_COMMAND} -E env MP_MULTICAST=yes
             $<TARGET_FILE:mpl_run> -N 2 -n ${tasks} $<TARGET_FILE:mpl_allocations>)
  endforeach()
endif()
foreach(mode barrier nonbarrier)
  mpl_test(modes_${mode} ${CMAKE_COMMAND} -E env MP_CCL_MODE=${mode}
           $<TARGET_FILE:mpl_run> -n 3 $<TARGET_FILE:mpl_modes> ${mode})
endforeach()
# Also between nodes, and by messages.
mpl_test(modes_barrier_nodes ${CMAKE_COMMAND} -E env MP_CCL_MODE=barrier
         $<TARGET_FILE:mpl_run> -N 2 -n 3 $<TARGET_FILE:mpl_modes> barrier)
mpl_test(modes_barrier_ip ${CMAKE_COMMAND} -E env MP_CCL_MODE=barrier
         $<TARGET_FILE:mpl_run> -i -n 3 $<TARGET_FILE:mpl_modes> barrier)
# What is the mode when nobody says.
mpl_test(modes_develop_has_barriers ${CMAKE_COMMAND} -E env MP_EUIDEVELOP=yes
         $<TARGET_FILE:mpl_run> -n 3 $<TARGET_FILE:mpl_modes> barrier)
mpl_test(modes_run_has_none mpl_run -n 3 $<TARGET_FILE:mpl_modes> nonbarrier)
mpl_test(modes_disagree ${CMAKE_COMMAND} -E env MP_EUIDEVELOP=yes
         $<TARGET_FILE:mpl_run> -n 8 $<TARGET_FILE:mpl_modes> disagree)
mpl_test(modes_disagree_text ${CMAKE_COMMAND} -E env MP_EUIDEVELOP=yes
         $<TARGET_FILE:mpl_run> -n 8 $<TARGET_FILE:mpl_modes> disagree)
set_tests_properties(mpl_modes_disagree_text PROPERTIES PASS_REGULAR_EXPRESSION
  "task 4 calls mpc_bcast with root 2, tasks 0-3,5-7 with root 0")
foreach(text
        "root=task 2 calls mpc_bcast with wrong arguments, which its own message explains, tasks 0,1,3 mpc_bcast"
        "buffer=task 2 calls mpc_icombine with wrong arguments, which its own message explains, tasks 0,1,3 mpc_icombine"
        "operation=task 2 calls mpc_concat without a function, tasks 0,1,3 mpc_combine with i_vadd"
        "length=task 2 calls mpc_concat with 2 bytes, tasks 0,1,3 with 4 bytes"
        "function=task 2 calls mpc_combine with i_vmax, tasks 0,1,3 with i_vadd"
        "lengths=task 2 calls mpc_concatv with other lengths of blocks, tasks 0,1,3 with other lengths of blocks"
        "step=task 2 calls mpc_shift with step 2, tasks 0,1,3 with step 1"
        "matrix=task 0 sends 4 bytes to task 2, which expects 8"
        "grid=task 2 calls mpc_form2dgrid of 2 x 2, tasks 0,1,3 of 1 x 4"
        "making=task 2 calls mpc_sync, tasks 0,1,3 mpc_partition"
        "list=task 2 calls mpc_group of tasks 0,3,2,1, tasks 0,1,3 of tasks 0-3"
        "set=task [01] calls mpc_group of tasks 0-3, task 2 of tasks 0-2"
        "refused-list=task 2 calls mpc_group with wrong arguments, which its own message explains"
        "refused-grid=task 2 calls mpc_form2dgrid with wrong arguments, which its own message explains"
        "refused-partition=task 2 calls mpc_partition with wrong arguments, which its own message explains"
        "refused-cube=task 2 calls mpc_formsubcube with wrong arguments, which its own message explains"
        "group=task 2 calls mpc_concat on group [0-9]+, tasks 0,1,3 on group 0")
  string(REGEX REPLACE "=.*" "" how ${text})
  string(REGEX REPLACE "^[a-z-]+=" "" text ${text})
  mpl_test(modes_differ_${how} ${CMAKE_COMMAND} -E env MP_EUIDEVELOP=yes
           $<TARGET_FILE:mpl_run> -n 4 $<TARGET_FILE:mpl_modes> differ ${how})
  set_tests_properties(mpl_modes_differ_${how} PROPERTIES PASS_REGULAR_EXPRESSION ${text})
endforeach()
mpl_test(modes_differ_long_list ${CMAKE_COMMAND} -E env MP_EUIDEVELOP=yes
         $<TARGET_FILE:mpl_run> -n 16 $<TARGET_FILE:mpl_modes> differ long-list)
set_tests_properties(mpl_modes_differ_long_list PROPERTIES PASS_REGULAR_EXPRESSION
  "task 2 calls mpc_group of tasks 15,14,13,.*[.][.][.] .*, tasks 0,1,3-15 of tasks 15,14,13,")
foreach(tasks 3 8)
  mpl_test(modes_random_lists_${tasks} ${CMAKE_COMMAND} -E env MP_EUIDEVELOP=yes
           $<TARGET_FILE:mpl_run> -n ${tasks} $<TARGET_FILE:mpl_modes> lists)
endforeach()
mpl_test(modes_random_lists_nodes ${CMAKE_COMMAND} -E env MP_EUIDEVELOP=yes
         $<TARGET_FILE:mpl_run> -N 2 -n 5 $<TARGET_FILE:mpl_modes> lists)
mpl_test(groups_wrong_choice ${CMAKE_COMMAND} -E env MP_COLL_BCAST=fastest
         $<TARGET_FILE:mpl_run> -n 2 $<TARGET_FILE:mpl_groups>)
set_tests_properties(mpl_groups_wrong_choice PROPERTIES PASS_REGULAR_EXPRESSION
  "MP_COLL_BCAST: \"fastest\" is not allowed; expected one of the algorithms for bcast: binomial")

# A task killed at any moment: the others neither crash nor receive anything wrong.
foreach(tasks 2 4 8 16)
  foreach(moment 3000 11000 17000 29000 53000 90000)
    mpl_test(kill_${tasks}_${moment} mpl_run -n ${tasks} -k ${moment}
             $<TARGET_FILE:mpl_random> ${moment} 100000 10)
  endforeach()
endforeach()

# The same over TCP: all of it (-i), or between nodes and beside shared memory (-N).
foreach(tasks 2 3 4 8 16)
  mpl_test(ip_semantics_${tasks} mpl_run -i -n ${tasks} $<TARGET_FILE:mpl_semantics>)
  mpl_test(ip_random_${tasks} mpl_run -i -n ${tasks} $<TARGET_FILE:mpl_random> ${tasks}50 20 20)
endforeach()
foreach(tasks 2 4 7 16)
  mpl_test(nodes_semantics_${tasks} mpl_run -N 2 -n ${tasks} $<TARGET_FILE:mpl_semantics>)
  mpl_test(nodes_random_${tasks} mpl_run -N 2 -n ${tasks} $<TARGET_FILE:mpl_random> ${tasks}60 20 20)
endforeach()
mpl_test(nodes_random_of_3 mpl_run -N 3 -n 8 $<TARGET_FILE:mpl_random> 8070 10 20)
mpl_test(ip6_random mpl_run -i -6 -n 4 $<TARGET_FILE:mpl_random> 8080 10 20)
mpl_test(ip_random_ordered mpl_run -i -n 4 -b 16384 $<TARGET_FILE:mpl_random> 8100 5 20 ordered)
mpl_test(nodes_random_ordered mpl_run -N 2 -n 8 -b 65536 $<TARGET_FILE:mpl_random> 8200 3 10 ordered)
mpl_test(ip_random_rendezvous mpl_run -i -n 4 -e 100 $<TARGET_FILE:mpl_random> 8300 10 10)
foreach(mode poll yield sleep)
  mpl_test(ip_random_${mode} mpl_run -i -n 2 -w ${mode} $<TARGET_FILE:mpl_random> 8400 5 10)
  mpl_test(nodes_random_${mode} mpl_run -N 2 -n 4 -w ${mode} $<TARGET_FILE:mpl_random> 8500 3 10)
endforeach()
mpl_test(ip_random_uncrowded mpl_run -i -n 2 -c 16 $<TARGET_FILE:mpl_random> 8600 10 10)
mpl_test(ip_unexpected mpl_run -i -n 4 $<TARGET_FILE:mpl_unexpected> keep)
mpl_test(ip_unexpected_flood mpl_run -i -n 3 -b 65536 $<TARGET_FILE:mpl_unexpected> flood)
foreach(tasks 2 8)
  foreach(moment 5000 17000 53000)
    mpl_test(ip_kill_${tasks}_${moment} mpl_run -i -n ${tasks} -k ${moment}
             $<TARGET_FILE:mpl_random> ${moment} 100000 10)
  endforeach()
endforeach()

# A full file system.
mpl_test(full ${CMAKE_CURRENT_SOURCE_DIR}/multiproc/mpl_full.sh $<TARGET_FILE:mpl_run>
         $<TARGET_FILE:mpl_random> $<TARGET_FILE:mpl_long_calls>)
set_tests_properties(mpl_full PROPERTIES SKIP_RETURN_CODE 77)

# ./program -procs 2 is poe ./program -procs 2.
mpl_test(autostart ${CMAKE_COMMAND} -E env MP_POE=/bin/echo $<TARGET_FILE:mpl_semantics> x -procs 2)
set_tests_properties(mpl_autostart PROPERTIES PASS_REGULAR_EXPRESSION "mpl_semantics x -procs 2")
mpl_test(autostart_variable ${CMAKE_COMMAND} -E env MP_POE=/bin/echo MP_PROCS=3
         $<TARGET_FILE:mpl_semantics> y)
set_tests_properties(mpl_autostart_variable PROPERTIES PASS_REGULAR_EXPRESSION "mpl_semantics y")
mpl_test(autostart_no_poe ${CMAKE_COMMAND} -E env MP_POE=/nonexistent/poe
         $<TARGET_FILE:mpl_semantics> -procs 2)
set_tests_properties(mpl_autostart_no_poe PROPERTIES
  PASS_REGULAR_EXPRESSION "0032-190.*MP_POE is \"/nonexistent/poe\"")
