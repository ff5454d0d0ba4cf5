// Build-time program that writes the completions for shells into a directory. Usage:
// make_completions DIRECTORY
#include <cstdio>
#include <fstream>
#include <string>

#include "poe/completions.hpp"

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: make_completions DIRECTORY\n");
        return 1;
    }
    const std::string directory = std::string(argv[1]) + "/";
    const auto write = [&](const std::string& name, const std::string& text) {
        std::ofstream out(directory + name);
        out << text << std::flush;
        if (!out) std::fprintf(stderr, "make_completions: cannot write %s\n", name.c_str());
        return static_cast<bool>(out);
    };
    using namespace poe::cli;
    bool good = write("poe.bash", bash_completions()) && write("_poe", zsh_completions()) &&
                write("poe.fish", fish_completions_of_poe());
    for (const char* command : {"poestat", "poekill", "pmarray"})
        good = good && write(command + std::string(".fish"), fish_completions_of_jobs(command));
    return good ? 0 : 1;
}
