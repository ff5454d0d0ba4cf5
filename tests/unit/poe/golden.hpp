// Compares a text with the file that holds what it was when somebody last looked at it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace poe::test {

// The content of tests/golden/<name>. With POE_UPDATE_GOLDEN set, writes `actual` there first: look
// at the difference before you keep it.
inline std::string golden_text(const std::string& name, const std::string& actual) {
    const auto path = std::filesystem::path(POE_SOURCE) / "tests" / "golden" / name;
    if (std::getenv("POE_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << actual;
    std::ifstream file(path);
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
}

}  // namespace poe::test
