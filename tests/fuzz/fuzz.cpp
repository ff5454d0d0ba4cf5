// Runs one fuzz target: fuzz NAME CORPUS [ITERATIONS [SEED]], or makes the corpus of the channel,
// of TCP or of traces: fuzz --corpus channel|tcp|trace FOLDER. Ends with 0 when all promises hold,
// 1 with the offending input when not, 2 when called wrongly.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/fuzz/channel_targets.hpp"
#include "tests/fuzz/debugger_targets.hpp"
#include "tests/fuzz/parser_targets.hpp"
#include "tests/fuzz/tcp_targets.hpp"
#include "tests/fuzz/trace_targets.hpp"

namespace {

using poe::fuzz::FuzzTarget;

constexpr std::uint64_t kDefaultIterations = 50000;
constexpr std::uint64_t kDefaultSeed = 1995;

// The files of a folder, by name, so that the same corpus always comes in the same order.
std::vector<std::string> read_corpus(const std::filesystem::path& folder) {
    std::set<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        paths.insert(entry.path());
    std::vector<std::string> corpus;
    for (const auto& path : paths) {
        std::ifstream file(path, std::ios::binary);
        std::ostringstream content;
        content << file.rdbuf();
        corpus.push_back(content.str());
    }
    return corpus;
}

const FuzzTarget* find_target(const std::string& name) {
    for (const auto* targets :
         {&poe::fuzz::parser_targets(), &poe::fuzz::channel_targets(), &poe::fuzz::tcp_targets(),
          &poe::fuzz::trace_targets(), &poe::fuzz::debugger_targets()})
        for (const FuzzTarget& target : *targets)
            if (target.name == name) return &target;
    return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3 || argc > 5) {
        std::fprintf(stderr,
                     "usage: fuzz NAME CORPUS [ITERATIONS [SEED]]\n"
                     "       fuzz --corpus channel|tcp|trace FOLDER\n");
        return 2;
    }
    if (std::string(argv[1]) == "--corpus" && argc == 4) {
        const std::string what = argv[2];
        (what == "tcp"     ? poe::fuzz::write_tcp_corpus
         : what == "trace" ? poe::fuzz::write_trace_corpus
                           : poe::fuzz::write_channel_corpus)(argv[3]);
        return 0;
    }
    const std::uint64_t iterations =
        argc > 3 ? std::strtoull(argv[3], nullptr, 10) : kDefaultIterations;
    const std::uint64_t seed = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : kDefaultSeed;
    const FuzzTarget* target = find_target(argv[1]);
    if (target == nullptr) {
        std::fprintf(stderr, "fuzz: nothing is called %s\n", argv[1]);
        return 2;
    }
    const std::vector<std::string> corpus = read_corpus(argv[2]);
    if (corpus.empty()) {
        std::fprintf(stderr, "fuzz: there is no corpus in %s\n", argv[2]);
        return 2;
    }
    return poe::fuzz::run_target(*target, corpus, seed, iterations);
}
