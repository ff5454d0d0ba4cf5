// See terminal.hpp.
#include "tests/terminal/terminal.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

namespace poe::test {
namespace {

constexpr std::chrono::seconds kLong{60};
constexpr int kQuietMilliseconds = 250;

void append_utf8(std::string& out, std::uint32_t c) {
    if (c < 0x80) {
        out += static_cast<char>(c);
    } else if (c < 0x800) {
        out += static_cast<char>(0xc0u | c >> 6);
        out += static_cast<char>(0x80u | (c & 0x3fu));
    } else {
        out += static_cast<char>(0xe0u | (c >> 12 & 0xfu));
        out += static_cast<char>(0x80u | (c >> 6 & 0x3fu));
        out += static_cast<char>(0x80u | (c & 0x3fu));
    }
}

}  // namespace

int Terminal::on_property(VTermProp property, VTermValue* value, void* self) {
    auto& terminal = *static_cast<Terminal*>(self);
    if (property == VTERM_PROP_ALTSCREEN) terminal.other_screen_ = value->boolean != 0;
    if (property == VTERM_PROP_CURSORVISIBLE) terminal.cursor_visible_ = value->boolean != 0;
    if (property == VTERM_PROP_MOUSE) terminal.mouse_mode_ = value->number;
    return 1;
}

Terminal::Terminal(int lines, int columns, const std::vector<std::string>& command,
                   const std::map<std::string, std::string>& environment)
    : vterm_(::vterm_new(lines, columns)), lines_(lines), columns_(columns) {
    ::vterm_set_utf8(vterm_, 1);
    screen_ = ::vterm_obtain_screen(vterm_);
    static VTermScreenCallbacks callbacks{};
    callbacks.settermprop = on_property;
    ::vterm_screen_set_callbacks(screen_, &callbacks, this);
    ::vterm_screen_enable_altscreen(screen_, 1);
    ::vterm_screen_reset(screen_, 1);
    std::map<std::string, std::string> all{
        {"TERM", "xterm-256color"}, {"LC_ALL", "C.UTF-8"}, {"PATH", "/usr/bin:/bin"}};
    // What a sanitizer's preset says of known leaks.
    if (const char* leaks = std::getenv("LSAN_OPTIONS")) all["LSAN_OPTIONS"] = leaks;
    for (const auto& [name, value] : environment) all[name] = value;
    std::vector<std::string> entries;
    entries.reserve(all.size());
    for (const auto& [name, value] : all) entries.push_back(name + "=" + value);
    std::vector<char*> envp;
    envp.reserve(entries.size() + 1);
    for (std::string& entry : entries) envp.push_back(entry.data());
    envp.push_back(nullptr);
    std::vector<char*> argv;
    argv.reserve(command.size() + 1);
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    winsize size{};
    size.ws_row = static_cast<unsigned short>(lines);
    size.ws_col = static_cast<unsigned short>(columns);
    int master = -1;
    int slave = -1;
    if (::openpty(&master, &slave, nullptr, nullptr, &size) != 0) return;
    master_.reset(master);
    slave_.reset(slave);
    ::tcgetattr(slave, &before_);
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::login_tty(slave);
    ::close(master);
    ::execve(argv[0], argv.data(), envp.data());
    ::_exit(127);
}

Terminal::~Terminal() {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    ::vterm_free(vterm_);
}

// False when nothing came for that long.
bool Terminal::take_in(int milliseconds) {
    pollfd input{master_.get(), POLLIN, 0};
    if (::poll(&input, 1, milliseconds) <= 0) return false;
    char buffer[4096];
    const ssize_t count = ::read(master_.get(), buffer, sizeof buffer);
    if (count <= 0) return false;
    bytes_ += static_cast<std::size_t>(count);
    ::vterm_input_write(vterm_, buffer, static_cast<std::size_t>(count));
    return true;
}

bool Terminal::wait_until(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + kLong;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        take_in(20);
    }
    return true;
}

bool Terminal::wait_until_stopped() {
    return wait_until([this] {
        std::ifstream status("/proc/" + std::to_string(pid_) + "/stat");
        const std::string line(std::istreambuf_iterator<char>(status), {});
        const std::size_t name = line.rfind(')');
        return name != std::string::npos && line.substr(name, 3) == ") T";
    });
}

bool Terminal::wait_for(const std::string& text) {
    return wait_until([&] { return find(text).first >= 0; });
}

void Terminal::settle() {
    const auto deadline = std::chrono::steady_clock::now() + kLong;
    while (take_in(kQuietMilliseconds) && std::chrono::steady_clock::now() < deadline) {
    }
}

void Terminal::type(const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
        const ssize_t count = ::write(master_.get(), text.data() + at, text.size() - at);
        if (count <= 0) return;
        at += static_cast<std::size_t>(count);
    }
}

void Terminal::resize(int lines, int columns) {
    lines_ = lines;
    columns_ = columns;
    ::vterm_set_size(vterm_, lines, columns);
    winsize size{};
    size.ws_row = static_cast<unsigned short>(lines);
    size.ws_col = static_cast<unsigned short>(columns);
    ::ioctl(master_.get(), TIOCSWINSZ, &size);
}

void Terminal::signal(int number) const {
    ::kill(pid_, number);
}

VTermScreenCell Terminal::cell(int line, int column) const {
    VTermScreenCell cell{};
    ::vterm_screen_get_cell(screen_, VTermPos{line, column}, &cell);
    return cell;
}

std::string Terminal::line(int number) const {
    std::string text;
    for (int column = 0; column < columns_; ++column) {
        const std::uint32_t character = cell(number, column).chars[0];
        if (character == 0xffffffffu) continue;  // the right half of a wide one
        append_utf8(text, character == 0 ? ' ' : character);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

std::string Terminal::text() const {
    std::string all;
    for (int number = 0; number < lines_; ++number) all += line(number) + "\n";
    return all;
}

std::pair<int, int> Terminal::find(const std::string& text) const {
    for (int number = 0; number < lines_; ++number) {
        const std::string one = line(number);
        const std::size_t at = one.find(text);
        if (at == std::string::npos) continue;
        int column = 0;
        for (std::size_t i = 0; i < at; ++i)
            if ((static_cast<unsigned char>(one[i]) & 0xc0u) != 0x80u) ++column;
        return {number, column};
    }
    return {-1, -1};
}

bool Terminal::settings_as_before() const {
    termios now{};
    if (::tcgetattr(slave_.get(), &now) != 0) return false;
    return now.c_iflag == before_.c_iflag && now.c_oflag == before_.c_oflag &&
           now.c_cflag == before_.c_cflag && now.c_lflag == before_.c_lflag &&
           std::equal(std::begin(now.c_cc), std::end(now.c_cc), std::begin(before_.c_cc));
}

int Terminal::end() {
    const auto deadline = std::chrono::steady_clock::now() + kLong;
    int status = -1;
    while (::waitpid(pid_, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > deadline) return -1;
        take_in(20);
    }
    pid_ = -1;
    while (take_in(0)) {
    }
    return status;
}

}  // namespace poe::test
