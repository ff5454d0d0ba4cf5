// Implementation of tuning_text.hpp.
#include "base/segment/tuning_text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>

#include "base/segment/tuning_path.hpp"
#include "base/unique_fd.hpp"

namespace poe {
namespace {

constexpr char kNotRead = '!';

TuningText failed(std::string why) {
    return {{}, std::move(why), false};
}

}  // namespace

TuningText read_tuning_text(const std::string& path) {
    // O_NONBLOCK: opening a FIFO must not wait for a writer.
    UniqueFd descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat found = {};
    if (!descriptor || ::fstat(descriptor.get(), &found) != 0)
        return {{}, std::strerror(errno), errno == ENOENT || errno == ENOTDIR};
    if (S_ISFIFO(found.st_mode)) return failed("it is a pipe");
    const std::unique_ptr<FILE, int (*)(FILE*)> file(::fdopen(descriptor.get(), "r"), std::fclose);
    if (!file) return failed(std::strerror(errno));
    descriptor.release();
    std::string text(kLongestTuning + 1, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file.get()));
    if (std::ferror(file.get()) != 0) return failed(std::strerror(errno));
    if (text.size() > kLongestTuning)
        return failed("it is longer than " + std::to_string(kLongestTuning) + " bytes");
    // A zero byte would end the value of the environment variable.
    if (text.find('\0') != std::string::npos) return failed("it has a zero byte, and is no text");
    return {std::move(text), {}, false};
}

std::string tuning_to_hand(const NamedTuning& tuning) {
    const TuningText& read = tuning.read;
    return tuning.path + "\n" + (read.failure.empty() ? read.text : kNotRead + read.failure);
}

NamedTuning handed_tuning(std::string_view value) {
    const std::size_t end = std::min(value.find('\n'), value.size());
    const std::string path(value.substr(0, end));
    const std::string text(value.substr(std::min(end + 1, value.size())));
    if (text.starts_with(kNotRead)) return {path, failed(text.substr(1))};
    return {path, {text, {}, false}};
}

}  // namespace poe
