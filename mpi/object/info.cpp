// Info: limits, search and truncation.
#include "mpi/object/info.hpp"

#include <algorithm>
#include <cstring>

namespace poe::mpi {
namespace {

auto with_key(std::string_view key) {
    return [key](const auto& entry) { return entry.first == key; };
}

}  // namespace

Fault check_info_key(const char* key) {
    if (key == nullptr) return {MPI_ERR_INFO_KEY, "key", "the key is a null pointer", ""};
    if (*key == '\0') return {MPI_ERR_INFO_KEY, "key", "the key is empty", ""};
    const std::size_t length = ::strnlen(key, MPI_MAX_INFO_KEY);
    if (length < MPI_MAX_INFO_KEY) return {};
    return {MPI_ERR_INFO_KEY, "key",
            "the key has more than " + std::to_string(MPI_MAX_INFO_KEY - 1) + " characters",
            "use a shorter key"};
}

Fault Info::set(std::string_view key, std::string_view value) {
    if (Fault fault = check_info_key(std::string(key).c_str())) return fault;
    if (value.size() >= MPI_MAX_INFO_VAL) {
        return {MPI_ERR_INFO_VALUE, "value",
                "the value of key " + std::string(key) + " has " + std::to_string(value.size()) +
                    " characters and the limit is " + std::to_string(MPI_MAX_INFO_VAL - 1),
                "use a shorter value"};
    }
    const auto found = std::ranges::find_if(entries_, with_key(key));
    if (found != entries_.end()) {
        found->second = value;
    } else {
        entries_.emplace_back(key, value);
    }
    return {};
}

Fault Info::remove(std::string_view key) {
    const auto found = std::ranges::find_if(entries_, with_key(key));
    if (found == entries_.end()) {
        return {MPI_ERR_INFO_NOKEY, "key", "the key " + std::string(key) + " is not set", ""};
    }
    entries_.erase(found);
    return {};
}

const std::string* Info::find(std::string_view key) const noexcept {
    const auto found = std::ranges::find_if(entries_, with_key(key));
    return found == entries_.end() ? nullptr : &found->second;
}

void copy_info_value(std::string_view value, std::span<char> buffer) noexcept {
    if (buffer.empty()) return;
    const std::size_t length = std::min(value.size(), buffer.size() - 1);
    std::memcpy(buffer.data(), value.data(), length);
    buffer[length] = '\0';
}

void describe_start(const StartFacts& facts, Info& info) {
    std::string arguments;
    for (const std::string& argument : facts.arguments) {
        arguments += (arguments.empty() ? "" : " ") + argument;
    }
    const auto put = [&](const char* key, const std::string& value) {
        if (!value.empty()) info.set(key, std::string_view(value).substr(0, MPI_MAX_INFO_VAL - 1));
    };
    put("command", facts.command);
    put("argv", arguments);
    put("maxprocs", facts.maxprocs);
    put("host", facts.host);
    put("arch", facts.arch);
    put("wdir", facts.wdir);
    put("thread_level", facts.thread_level);
}

}  // namespace poe::mpi
