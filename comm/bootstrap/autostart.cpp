// Decides whether this process must become poe, and finds poe.
#include "comm/bootstrap/autostart.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <limits.h>
#include <string_view>
#include <unistd.h>

namespace poe::comm {
namespace {

constexpr std::array<std::string_view, 6> kFlags{"-procs", "-nodes",   "-hostfile",
                                                 "-hfile", "-cmdfile", "-rmpool"};

std::string_view value_of(char** environment, std::string_view name) {
    for (char** at = environment; at != nullptr && *at != nullptr; ++at) {
        const std::string_view entry(*at);
        if (entry.size() > name.size() && entry[name.size()] == '=' &&
            entry.substr(0, name.size()) == name) {
            return entry.substr(name.size() + 1);
        }
    }
    return {};
}

std::string own_program() {
    std::array<char, PATH_MAX> path{};
    const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
    return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : std::string();
}

// Returns <directory of the library or program with this code>/../bin/poe; empty if not there.
std::string poe_beside_library() {
    Dl_info info{};
    if (::dladdr(reinterpret_cast<const void*>(&wants_poe), &info) == 0 ||
        info.dli_fname == nullptr) {
        return {};
    }
    std::array<char, PATH_MAX> real{};
    if (::realpath(info.dli_fname, real.data()) == nullptr) return {};
    const std::string library(real.data());
    const std::string directory = library.substr(0, library.rfind('/'));
    // The library may be one directory deeper, in lib/<architecture>.
    for (const char* up : {"/../bin/poe", "/../../bin/poe"}) {
        std::string candidate = directory + up;
        if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    }
    return {};
}

[[noreturn]] void refuse(const std::string& why) {
    std::fprintf(stderr,
                 "ERROR: 0032-190 cannot start this program as a job: %s. Start it as "
                 "`poe <program> ...`, or set MP_POE to the path of poe.\n",
                 why.c_str());
    ::_exit(1);
}

}  // namespace

bool wants_poe(const std::vector<std::string>& arguments, char** environment) {
    if (!value_of(environment, "MP_CHILD").empty()) return false;
    const bool launched =
        !value_of(environment, "PMIX_RANK").empty() || !value_of(environment, "PMI_RANK").empty();
    for (const char* name : {"MP_PROCS", "MP_HOSTFILE", "MP_NODES"}) {
        if (!launched && !value_of(environment, name).empty()) return true;
    }
    if (value_of(environment, "MP_NOARGLIST") == "yes") return false;
    const std::string_view fence = value_of(environment, "MP_FENCE");
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        if (!fence.empty() && arguments[i] == fence) return false;
        if (std::find(kFlags.begin(), kFlags.end(), arguments[i]) != kFlags.end()) return true;
    }
    return false;
}

void become_poe(const std::vector<std::string>& arguments) {
    const std::string program = own_program();
    if (program.empty()) refuse("its own path cannot be read from /proc/self/exe");
    std::vector<char*> words;
    words.push_back(const_cast<char*>("poe"));
    words.push_back(const_cast<char*>(program.c_str()));
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        words.push_back(const_cast<char*>(arguments[i].c_str()));
    }
    words.push_back(nullptr);
    const char* chosen = std::getenv("MP_POE");
    if (chosen != nullptr && *chosen != '\0') {
        ::execv(chosen, words.data());
        refuse(std::string("MP_POE is \"") + chosen + "\": " + std::strerror(errno));
    }
    const std::string beside = poe_beside_library();
    if (!beside.empty()) ::execv(beside.c_str(), words.data());
    ::execvp("poe", words.data());
    refuse("poe was found neither next to the MPL library nor on PATH");
}

}  // namespace poe::comm
