// Facts about this process from the system and from the environment of poe's tasks.
#include "mpi/process/start_facts.hpp"

#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/utsname.h>
#include <unistd.h>
#include <vector>

#include <climits>

namespace poe::mpi {
namespace {

StartFacts facts_without_arguments() {
    StartFacts facts;
    if (const char* procs = std::getenv("MP_PROCS")) facts.maxprocs = procs;
    facts.host = host_name();
    utsname system{};
    if (::uname(&system) == 0) facts.arch = system.machine;
    char folder[PATH_MAX];
    if (::getcwd(folder, sizeof folder) != nullptr) facts.wdir = folder;
    return facts;
}

void take_arguments(StartFacts& facts, std::vector<std::string> words) {
    if (words.empty()) return;
    facts.command = std::move(words.front());
    words.erase(words.begin());
    facts.arguments = std::move(words);
}

}  // namespace

StartFacts own_start_facts() {
    StartFacts facts = facts_without_arguments();
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> words;
    for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
    take_arguments(facts, std::move(words));
    return facts;
}

StartFacts start_facts(int argument_count, char** arguments) {
    if (argument_count < 1 || arguments == nullptr) return own_start_facts();
    StartFacts facts = facts_without_arguments();
    take_arguments(facts, std::vector<std::string>(arguments, arguments + argument_count));
    return facts;
}

bool started_by_poe() {
    return std::getenv("MP_CHILD") != nullptr && std::getenv("MP_SEGMENT") != nullptr;
}

std::string host_name() {
    char name[HOST_NAME_MAX + 1] = "";
    ::gethostname(name, sizeof name - 1);
    return name;
}

}  // namespace poe::mpi
