# Other people's MPI programs under a small pmd. Compilers that are not there leave their cases out.
pkg_check_modules(PMIX REQUIRED IMPORTED_TARGET pmix)

add_executable(pmi_pmix_client multiproc/pmi_pmix_client.c)
target_link_libraries(pmi_pmix_client PRIVATE PkgConfig::PMIX)
add_executable(pmi_spawn_client multiproc/pmi_spawn_client.c)

add_executable(pmi_test multiproc/pmi_test.cpp multiproc/pmi_launcher.cpp)
target_link_libraries(pmi_test PRIVATE pm_pmi pm_status ${CATCH2_MAIN})
target_compile_definitions(pmi_test PRIVATE
  PMI_TEST_HELPER="$<TARGET_FILE:pmd-pmix>"
  PMI_TEST_CLIENT="$<TARGET_FILE:pmi_pmix_client>")
add_dependencies(pmi_test pmd-pmix pmi_pmix_client)

foreach(mpi OPENMPI MPICH)
  string(TOLOWER ${mpi} flavour)
  find_program(MPICC_${mpi} mpicc.${flavour})
  set(program)
  if(MPICC_${mpi})
    set(program ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/pmi_allreduce.${flavour})
    add_custom_command(OUTPUT ${program}
      COMMAND ${MPICC_${mpi}} -O1 -o ${program} ${CMAKE_CURRENT_SOURCE_DIR}/multiproc/pmi_allreduce.c
      DEPENDS multiproc/pmi_allreduce.c)
    add_custom_target(pmi_allreduce_${flavour} DEPENDS ${program})
    add_dependencies(pmi_test pmi_allreduce_${flavour})
  else()
    message(STATUS "mpicc.${flavour} is not installed: its tests are left out")
  endif()
  target_compile_definitions(pmi_test PRIVATE PMI_TEST_${mpi}="${program}")
endforeach()

# It compares public folders before and after.
add_test(NAME pmi COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/private_node $<TARGET_FILE:pmi_test>)
set_tests_properties(pmi PROPERTIES TIMEOUT ${short_test} RUN_SERIAL TRUE
  ENVIRONMENT "POE_BUILD=${CMAKE_BINARY_DIR};POE_SOURCE=${CMAKE_SOURCE_DIR}")
