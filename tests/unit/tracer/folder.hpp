// A folder for the files of one test, removed at its end.
#pragma once

#include <filesystem>
#include <string>
#include <unistd.h>

namespace poe::trace::test {

struct Folder {
    Folder()
        : path(std::filesystem::temp_directory_path() / ("vt_test_" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(path);
    }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string file(const std::string& name) const { return (path / name).string(); }

    std::filesystem::path path;
};

}  // namespace poe::trace::test
