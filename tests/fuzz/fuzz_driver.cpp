// Mutations and the loop.
#include "tests/fuzz/fuzz_driver.hpp"

#include <algorithm>
#include <cstdio>
#include <signal.h>
#include <unistd.h>

#include "base/suggest.hpp"

namespace poe::fuzz {
namespace {

constexpr std::size_t kLongestInput = 16384;

void insert_word(std::string& text, std::string_view word, Random& random) {
    text.insert(random.below(text.size() + 1), word);
}

void mutate_once(std::string& text, const std::vector<std::string>& corpus,
                 const std::vector<std::string_view>& dictionary, Random& random) {
    const std::size_t at = random.below(text.size() + 1);
    const std::size_t length = std::min(text.size() - at, random.below(16) + 1);
    switch (random.below(8)) {
        case 0:  // another byte
            if (at < text.size()) text[at] = static_cast<char>(random.below(256));
            break;
        case 1:  // one bit
            if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random.below(8)));
            break;
        case 2:
            text.erase(at, length);
            break;
        case 3:  // once more, or many times
            for (std::size_t i = random.below(4) == 0 ? 64 : 1; i > 0; --i)
                text.insert(at, text.substr(at, length));
            break;
        case 4:
        case 5:
            insert_word(text, dictionary[random.below(dictionary.size())], random);
            break;
        case 6:
            text.insert(at, 1, static_cast<char>(random.below(256)));
            break;
        default: {  // the tail of another file
            const std::string& other = corpus[random.below(corpus.size())];
            text = text.substr(0, at) + other.substr(random.below(other.size() + 1));
            break;
        }
    }
    if (text.size() > kLongestInput) text.resize(kLongestInput);
}

// For the handler of crashes only, which may do little.
struct Position {
    const char* target = "";
    volatile std::uint64_t iteration = 0;
} g_position;

void tell_crash(int signal_number) {
    char text[160];
    const int length = std::snprintf(text, sizeof text, "fuzz %s: signal %d in iteration %llu\n",
                                     g_position.target, signal_number,
                                     static_cast<unsigned long long>(g_position.iteration));
    if (::write(2, text, static_cast<std::size_t>(length)) < 0) ::_exit(3);
    ::signal(signal_number, SIG_DFL);
    ::raise(signal_number);
}

int tell_failure(const FuzzTarget& target, std::uint64_t seed, std::uint64_t iteration,
                 const std::string& input, const std::string& wrong) {
    std::string shown;
    for (std::size_t i = 0; i < input.size(); i += 64)
        shown += "  " + in_quotes(std::string_view(input).substr(i, 64)) + "\n";
    std::fprintf(stderr, "fuzz %s: seed %llu, iteration %llu: %s\ninput, %zu bytes:\n%s",
                 std::string(target.name).c_str(), static_cast<unsigned long long>(seed),
                 static_cast<unsigned long long>(iteration), wrong.c_str(), input.size(),
                 shown.c_str());
    return 1;
}

}  // namespace

std::string mutated(const std::vector<std::string>& corpus,
                    const std::vector<std::string_view>& dictionary, Random& random) {
    std::string text = corpus[random.below(corpus.size())];
    for (std::size_t i = random.below(8) + 1; i > 0; --i)
        mutate_once(text, corpus, dictionary, random);
    return text;
}

int run_target(const FuzzTarget& target, const std::vector<std::string>& corpus, std::uint64_t seed,
               std::uint64_t iterations) {
    const std::string name(target.name);
    g_position.target = name.c_str();
    for (const int fatal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) ::signal(fatal, tell_crash);
    for (std::uint64_t i = 0; i < corpus.size() + iterations; ++i) {
        g_position.iteration = i;
        Random random(seed + i * 0x100000001b3u);
        const std::string input =
            i < corpus.size() ? corpus[i] : mutated(corpus, target.dictionary, random);
        const std::string wrong = target.run(input);
        if (!wrong.empty()) return tell_failure(target, seed, i, input, wrong);
    }
    for (const int fatal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) ::signal(fatal, SIG_DFL);
    return 0;
}

}  // namespace poe::fuzz
