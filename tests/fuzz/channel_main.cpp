// Runs one of the channel's fuzzers: fuzz_channel NAME CORPUS [ITERATIONS [SEED]], or makes the
// corpus: fuzz_channel --corpus FOLDER. Ends with 0 when all promises hold, 1 with the offending
// input when not, 2 when called wrongly.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/fuzz/channel_targets.hpp"

namespace {

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

int usage() {
    std::fprintf(stderr,
                 "usage: fuzz_channel NAME CORPUS [ITERATIONS [SEED]]\n"
                 "       fuzz_channel --corpus FOLDER\n");
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3 || argc > 5) return usage();
    if (std::string(argv[1]) == "--corpus") {
        poe::fuzz::write_channel_corpus(argv[2]);
        return 0;
    }
    const std::uint64_t iterations =
        argc > 3 ? std::strtoull(argv[3], nullptr, 10) : kDefaultIterations;
    const std::uint64_t seed = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : kDefaultSeed;
    for (const poe::fuzz::Parser& target : poe::fuzz::channel_targets()) {
        if (target.name != argv[1]) continue;
        const auto corpus = read_corpus(argv[2]);
        if (corpus.empty()) {
            std::fprintf(stderr, "fuzz_channel: there is no corpus in %s\n", argv[2]);
            return 2;
        }
        return poe::fuzz::run_parser(target, corpus, seed, iterations);
    }
    std::fprintf(stderr, "fuzz_channel: nothing is called %s\n", argv[1]);
    return 2;
}
