// Control messages for tests: made at random, by the lists of their fields.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <utility>

#include "partition_manager/channel/message_fields.hpp"
#include "tests/fuzz/fuzz_driver.hpp"

namespace poe::fuzz {

// Small numbers, and those at the ends of their type, are more frequent than others.
template <typename Number>
Number random_number(Random& random) {
    const auto any = static_cast<Number>(random.next());
    switch (random.below(6)) {
        case 0:
            return std::numeric_limits<Number>::max();
        case 1:
            return std::numeric_limits<Number>::min();
        case 2:
            return any;
        default:
            return static_cast<Number>(random.below(300));
    }
}

template <typename Number>
Number random_number(Random& random, Number limit) {
    const auto any = static_cast<Number>(random.next() % (static_cast<std::uint64_t>(limit) + 1));
    return random.below(6) == 0 ? limit : any;
}

// Any bytes: NUL, line ends, no UTF-8.
inline std::string random_text(Random& random) {
    static constexpr std::size_t kLimits[] = {1, 4, 24, 300};
    std::string text(random.below(kLimits[random.below(4)]), '\0');
    for (char& c : text) c = static_cast<char>(random.below(256));
    return text;
}

// Gives each field that it visits a value that the field may have by itself.
class Filler {
  public:
    explicit Filler(Random& random) : random_(random) {}

    Filler& operator()(bool& value) {
        value = random_.below(2) == 1;
        return *this;
    }
    Filler& operator()(std::string& value) {
        value = random_text(random_);
        return *this;
    }
    template <class Count, class Unit>
    Filler& operator()(std::chrono::duration<Count, Unit>& value) {
        return (*this)(value, std::chrono::duration<Count, Unit>(std::chrono::years(100)));
    }
    template <class Count, class Unit>
    Filler& operator()(std::chrono::duration<Count, Unit>& value,
                       std::chrono::duration<Count, Unit> limit) {
        value = std::chrono::duration<Count, Unit>(random_number(random_, limit.count()));
        return *this;
    }
    template <class T>
    Filler& operator()(std::vector<T>& value) {
        value.resize(random_.below(5));
        for (T& each : value) (*this)(each);
        return *this;
    }
    template <std::size_t N>
    Filler& operator()(std::array<std::uint8_t, N>& value) {
        for (std::uint8_t& byte : value) byte = static_cast<std::uint8_t>(random_.next());
        return *this;
    }
    template <std::size_t N>
    void trimmed(std::array<std::uint8_t, N>& bytes) {
        for (std::size_t i = random_.below(N + 1); i > 0; --i)
            bytes[i - 1] = static_cast<std::uint8_t>(random_.next());
    }
    template <class T, class... Limit>
    Filler& operator()(std::optional<T>& value, const Limit&... limit) {
        if (random_.below(2) == 1) (*this)(value.emplace(), limit...);
        return *this;
    }
    template <class A, class B>
    Filler& operator()(std::pair<A, B>& value) {
        return (*this)(value.first)(value.second);
    }
    template <class T, class... Limit>
    Filler& operator()(T& value, const Limit&... limit) {
        if constexpr (std::is_enum_v<T>)
            value = static_cast<T>(random_number(random_, static_cast<int>(limit)...));
        else if constexpr (std::is_arithmetic_v<T> && sizeof...(limit) == 0)
            value = random_number<T>(random_);
        else if constexpr (std::is_arithmetic_v<T>)
            value = random_number<T>(random_, static_cast<T>(limit)...);
        else {
            using pm::fields;
            fields(*this, value);
            agree(value);
        }
        return *this;
    }
    template <class T, std::size_t N>
    void some(std::array<T, N>& elements, std::uint32_t& count) {
        count = static_cast<std::uint32_t>(random_.below(N + 1));
        for (std::uint32_t i = 0; i < count; ++i) (*this)(elements[i]);
    }

  private:
    // What pm::check() wants of several fields together.
    template <class T>
    void agree(T&) {}
    void agree(pm::LaunchSpec& launch) { launch.fanout = std::max(launch.fanout, 1u); }
    void agree(pm::TaskStop& stop) {
        if (stop.kind == StopKind::kNone) stop.kind = StopKind::kStopall;
    }
    void agree(pm::JobSummary& outline) {
        if (outline.nodes.empty()) outline.nodes.emplace_back();
        for (NodeIndex& node : outline.node_of_task)
            node = static_cast<NodeIndex>(random_.below(outline.nodes.size()));
    }
    void agree(pm::WatchedTask& task) {
        for (std::uint8_t& light : task.lights)
            light = std::min<std::uint8_t>(light, kMarkerColors);
        task.text.text.resize(std::min(task.text.text.size(), kMarkerBytes));
    }
    void agree(pm::JobSpec& job) {
        job.id = "job-" + std::to_string(random_.below(1000));
        if (job.nodes.empty()) job.nodes.emplace_back();
        if (job.commands.empty()) job.commands.emplace_back();
        for (pm::Command& command : job.commands)
            if (command.empty()) command.emplace_back();
        job.tasks.resize(random_.below(40));
        for (pm::TaskSpec& task : job.tasks)
            task = {static_cast<NodeIndex>(random_.below(job.nodes.size())),
                    static_cast<std::uint32_t>(random_.below(job.commands.size()))};
        if (!job.addresses.empty()) job.addresses.resize(job.nodes.size());
        if (!job.reserved.empty()) job.reserved.resize(job.nodes.size());
        if (!job.places.empty()) job.places.resize(job.commands.size());
        job.launch.home = static_cast<NodeIndex>(random_.below(job.nodes.size() + 1)) - 1;
    }
    void agree(pm::StartJob& start) {
        start.window = std::max<std::int64_t>(start.window, 1);
        start.node = static_cast<NodeIndex>(random_.below(start.job.nodes.size()));
    }

    Random& random_;
};

inline constexpr std::size_t kMessageKinds = std::variant_size_v<pm::Message>;

template <std::size_t Kind>
pm::Message random_of_kind(Random& random) {
    std::variant_alternative_t<Kind, pm::Message> message;
    Filler{random}(message);
    return message;
}

// Message number `which` of the variant.
inline pm::Message random_message(std::size_t which, Random& random) {
    static constexpr auto kMakers = []<std::size_t... Kinds>(std::index_sequence<Kinds...>) {
        return std::array{&random_of_kind<Kinds>...};
    }
    (std::make_index_sequence<kMessageKinds>());
    return kMakers[which](random);
}

inline pm::StartJob random_start(Random& random) {
    pm::StartJob start;
    Filler{random}(start);
    return start;
}

}  // namespace poe::fuzz
