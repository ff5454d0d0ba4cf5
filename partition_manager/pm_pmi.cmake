# Hosting other people's MPI libraries: PMI-1 inside pmd, PMIx in the helper program pmd-pmix, which
# alone links libpmix.
pkg_check_modules(PMIX REQUIRED IMPORTED_TARGET pmix)

add_library(poe_pm_pmi STATIC
  pmi1_server.cpp
  pmi1_spawn.cpp
  pmix_activation.cpp
  pmix_environment.cpp
  pmix_messages.cpp
  pmix_peer.cpp)
target_compile_definitions(poe_pm_pmi PRIVATE POE_PMIX_VERSION="${PMIX_VERSION}")
target_link_libraries(poe_pm_pmi PUBLIC poe_pm_channel nlohmann_json::nlohmann_json)

add_executable(pmd-pmix
  pmd_pmix_main.cpp
  pmix_adoption.cpp
  pmix_host.cpp
  pmix_info.cpp
  pmix_names.cpp
  pmix_spawn.cpp
  pmix_upcalls.cpp)
target_link_libraries(pmd-pmix PRIVATE poe_pm_pmi poe_program PkgConfig::PMIX Threads::Threads)
install(TARGETS pmd-pmix RUNTIME)
