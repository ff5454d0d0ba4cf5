// See copy_program.hpp.
#include "poe/copy_program.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

#include "base/fold.hpp"
#include "base/unique_fd.hpp"
#include "comm/api/mpproto.h"

namespace poe::copy {

namespace {

constexpr int kType = 1;

void check(int result) {
    if (result >= 0) return;
    std::fprintf(stderr, "ERROR: a message was lost (MPL error 0032-%03d)\n", mperrno);
    mpc_stopall(1);
}

void say(const Program& program, const std::string& text) {
    std::fprintf(stderr, "%s: %s\n", program.name.c_str(), text.c_str());
}

[[noreturn]] void leave(int status) {
    meet();
    std::exit(status);
}

}  // namespace

Program begin(int argc, char** argv, std::string_view allowed, std::size_t least,
              const std::string& usage) {
    Program program;
    program.name = last_name(argv[0]);
    check(mpc_environ(&program.tasks, &program.me));
    bool flags_over = false;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (!flags_over && (word == "--help" || word == "-h" || word == "--version")) {
            if (program.me == 0)
                std::printf("%s", word == "--version"
                                      ? (program.name + " " POE_VERSION "\n").c_str()
                                      : folded_help(usage, STDOUT_FILENO).c_str());
            leave(0);
        }
        if (!flags_over && word == "--") {
            flags_over = true;
        } else if (!flags_over && word.size() > 1 && word[0] == '-') {
            if (word.find_first_not_of(allowed, 1) != std::string::npos) {
                if (program.me == 0)
                    say(program, "unknown flag " + word + "\n" + folded_help(usage, STDERR_FILENO));
                leave(2);
            }
            program.flags += word.substr(1);
        } else {
            program.operands.push_back(word);
        }
    }
    if (program.operands.size() < least) {
        if (program.me == 0) std::fputs(folded_help(usage, STDERR_FILENO).c_str(), stderr);
        leave(2);
    }
    return program;
}

void meet() {
    check(mpc_sync(ALLGRP));
}

Link to_all() {
    return {[](const void* data, std::size_t size) {
                check(mpc_bcast(const_cast<void*>(data), size, 0, ALLGRP));
            },
            [](void* data, std::size_t size) { check(mpc_bcast(data, size, 0, ALLGRP)); }};
}

Link to_task(int other) {
    return {
        [other](const void* data, std::size_t size) { check(mpc_bsend(data, size, other, kType)); },
        [other](void* data, std::size_t size) {
            int from = other;
            int type = kType;
            std::size_t bytes = 0;
            check(mpc_brecv(data, size, &from, &type, &bytes));
        }};
}

std::vector<std::string> send_here_too(const Link& others, const ReceiveOptions& options,
                                       const std::function<void(const Link&)>& send) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        std::perror("pipe");
        mpc_stopall(1);
    }
    const UniqueFd out(ends[0]);
    UniqueFd in(ends[1]);
    const Link here{[&in](const void* data, std::size_t size) {
                        const auto* from = static_cast<const char*>(data);
                        while (size > 0) {
                            const ssize_t count = ::write(in.get(), from, size);
                            if (count < 0 && errno == EINTR) continue;
                            if (count < 0) std::abort();  // this process has the read end
                            from += count;
                            size -= static_cast<std::size_t>(count);
                        }
                    },
                    [&out](void* data, std::size_t size) {
                        auto* into = static_cast<char*>(data);
                        while (size > 0) {
                            const ssize_t count = ::read(out.get(), into, size);
                            if (count < 0 && errno == EINTR) continue;
                            if (count <= 0) std::abort();
                            into += count;
                            size -= static_cast<std::size_t>(count);
                        }
                    }};
    std::vector<std::string> troubles;
    std::thread receiver([&] { troubles = receive_entries(here, options); });
    send({[&](const void* data, std::size_t size) {
              here.put(data, size);
              if (others.put) others.put(data, size);
          },
          {}});
    receiver.join();
    return troubles;
}

int finish(const Program& program, const std::vector<std::string>& troubles) {
    for (const std::string& trouble : troubles)
        say(program, "task " + std::to_string(program.me) + ": " + trouble);
    meet();
    return troubles.empty() ? 0 : 1;
}

std::string last_name(const std::string& path) {
    const std::size_t end = path.find_last_not_of('/');
    if (end == std::string::npos) return path;
    const std::size_t slash = path.rfind('/', end);
    return path.substr(slash + 1, end - slash);
}

}  // namespace poe::copy
