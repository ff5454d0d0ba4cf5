// Index::Maker: writes an index in one walk through the trace. Private to Index.
#pragma once

#include <unordered_map>

#include "tracer/index.hpp"

namespace poe::trace {

// The first bytes of an index.
struct Index::Header {
    static constexpr std::array<char, 8> kMark{'P', 'O', 'E', 'I', 'N', 'D', 'E', 'X'};
    static constexpr std::uint64_t kVersion = 2;

    std::array<char, 8> mark = kMark;
    std::uint64_t version = kVersion;
    std::uint64_t identity = 0;  // of the trace
    std::uint64_t between = 0;
    std::uint64_t tasks = 0;
    std::uint64_t table_at = 0;  // 0: not finished
    std::uint64_t entries = 0;
    std::uint64_t definitions_at = 0;
    std::uint64_t definitions_size = 0;
};

// One use.
class Index::Maker : private Listener {
  public:
    // Writes to this file, from its begin.
    Maker(const TraceSource& source, int file, std::uint64_t between)
        : source_(source), file_(file), between_(between) {}
    // False when the file does not take it.
    bool run(const std::function<void(double)>& progress);

  private:
    void on_message(const Message& message) override;
    void keyframe(const EventMerge& merge, const Replay& replay);
    // Where it came to stand.
    std::uint64_t write(const void* bytes, std::size_t size);

    const TraceSource& source_;
    int file_;
    std::uint64_t between_;
    std::uint64_t at_ = 0;
    bool fine_ = true;
    std::vector<Entry> entries_;
    std::unordered_map<std::uint64_t, PairSum> pairs_;
    Packer packer_;
};

}  // namespace poe::trace
