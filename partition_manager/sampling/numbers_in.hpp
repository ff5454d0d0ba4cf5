// The processes or threads that a folder of /proc lists.
#pragma once

#include <charconv>
#include <filesystem>
#include <string>
#include <sys/types.h>
#include <system_error>
#include <vector>

namespace poe::pm {

// The names in the folder that are numbers. Empty if the folder cannot be read.
inline std::vector<pid_t> numbers_in(const std::string& folder) {
    std::vector<pid_t> numbers;
    std::error_code fault;
    for (std::filesystem::directory_iterator entry(folder, fault), end; !fault && entry != end;
         entry.increment(fault)) {
        const std::string name = entry->path().filename().string();
        pid_t number = 0;
        std::from_chars(name.data(), name.data() + name.size(), number);
        if (number > 0) numbers.push_back(number);
    }
    return numbers;
}

}  // namespace poe::pm
