// How values of control messages become CBOR and come back: what messages.cpp, message_job.cpp,
// message_spawn.cpp and message_watch.cpp share, of which the last three are about the largest
// messages. What does not fit throws; decode() catches it.
#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "partition_manager/job.hpp"
#include "partition_manager/messages.hpp"
#include "partition_manager/watched_task.hpp"

namespace poe::pm::wire {

using Json = nlohmann::json;
using Binary = Json::binary_t;

// Strings of users are bytes, not UTF-8: they travel as CBOR byte strings.
inline Json bytes(const std::string& text) {
    return Json::binary({text.begin(), text.end()});
}

inline std::string text(const Json& json) {
    const Binary& binary = json.get_binary();
    return {binary.begin(), binary.end()};
}

// The library converts what does not fit without a word; these do not.
template <typename Number>
Number number(const Json& json) {
    if (json.is_number_unsigned()) {
        const auto value = json.get<std::uint64_t>();
        if (std::in_range<Number>(value)) return static_cast<Number>(value);
    } else if (json.is_number_integer()) {
        const auto value = json.get<std::int64_t>();
        if (std::in_range<Number>(value)) return static_cast<Number>(value);
    }
    throw std::out_of_range("number");
}

// A number from 0 to `limit`.
template <typename Number>
Number number_up_to(const Json& json, Number limit) {
    const auto value = number<Number>(json);
    if (value < 0 || value > limit) throw std::out_of_range("number");
    return value;
}

// A time that can be converted to every unit and added to every clock.
template <typename Duration>
Duration duration(const Json& json, Duration limit = std::chrono::years(100)) {
    return Duration(number_up_to<std::int64_t>(json, limit.count()));
}

inline const Json& items(const Json& json) {
    if (!json.is_array()) throw std::out_of_range("array");
    return json;
}

inline Json byte_list(const std::vector<std::string>& list) {
    Json json = Json::array();
    for (const std::string& item : list) json.push_back(bytes(item));
    return json;
}

inline std::vector<std::string> text_list(const Json& json) {
    std::vector<std::string> list;
    list.reserve(json.size());
    for (const Json& item : items(json)) list.push_back(text(item));
    return list;
}

template <typename Enum>
Enum checked_enum(const Json& json, Enum last) {
    const int value = number<int>(json);
    if (value < 0 || value > static_cast<int>(last)) throw std::out_of_range("enumeration");
    return static_cast<Enum>(value);
}

// message_job.cpp
Json pack(const TraceSpec& trace);
TraceSpec unpack_trace(const Json& json);
Json pack(const JobSpec& job);
JobSpec unpack_job(const Json& json);
// message_spawn.cpp
Json pack(const CommandPlace& place);
CommandPlace unpack_place(const Json& json);
Json pack(const SpawnSpec& spawn);
SpawnSpec unpack_spawn(const Json& json);
Json pack(const JobOutline& outline);
JobOutline unpack_outline(const Json& json);
Json pack(const SpawnTasks& ask);
SpawnTasks unpack_spawn_tasks(const Json& json);
Json pack(const Asker& asker);
Asker unpack_asker(const Json& json);
// message_watch.cpp
Json pack(const TaskState& state);
TaskState unpack_state(const Json& json);
Json pack(const WatchedTask& task);
WatchedTask unpack_watched(const Json& json);

}  // namespace poe::pm::wire
