// See pdbx_options.hpp.
#include "debugger/pdbx_options.hpp"

namespace poe::debugger {

std::string pdbx_usage() {
    return "usage: pdbx [FLAG...] PROGRAM [ARGUMENT...] [FLAG OF poe...]\n"
           "       pdbx [FLAG...] -a JOB\n"
           "       pdbx [FLAG...] -core DIR [PROGRAM]\n"
           "\n"
           "Debugs all tasks of a parallel job.\n"
           "\n"
           "  -a JOB        attach to a running job (its id, or the pid of its poe)\n"
           "  -core DIR     examine the core files DIR/coredir.N/core of the tasks N\n"
           "  -x FILE       execute the commands of a file first\n"
           "  -batch        show answers as JSON, and leave after the last command\n"
           "  -screen       use the whole screen: source, stacks and a light for each task\n"
           "  -run          the last flag: let the job run; stop all tasks and show the prompt "
           "when\n"
           "                one fails\n"
           "  -stdin FILE   the program reads this file (default: /dev/null)\n"
           "  -h, -version\n"
           "\n"
           "pdbx then takes commands: help lists them. See pdbx(1).\n";
}

Result<PdbxOptions> parse_pdbx_options(const std::vector<std::string>& arguments) {
    PdbxOptions options;
    std::size_t next = 0;
    const auto mistake = [](const std::string& text, const std::string& expected) {
        UserError error;
        error.text = text;
        error.expected = expected;
        return error;
    };
    while (next < arguments.size()) {
        std::string flag = arguments[next];
        if (flag.starts_with("--")) flag.erase(0, 1);
        const auto value = [&](std::string& place) {
            if (next + 1 >= arguments.size()) return false;
            place = arguments[++next];
            return true;
        };
        bool complete = true;
        if (flag == "-a" || flag == "-attach") {
            complete = value(options.attach);
        } else if (flag == "-core") {
            complete = value(options.cores);
        } else if (flag == "-x") {
            complete = value(options.scripts.emplace_back());
        } else if (flag == "-stdin") {
            complete = value(options.input);
        } else if (flag == "-batch") {
            options.batch = true;
        } else if (flag == "-screen") {
            options.screen = true;
        } else if (flag == "-run") {
            // Everything after it is for poe, of which some flags have the same names.
            options.run = true;
            ++next;
            break;
        } else if (flag == "-h" || flag == "-help") {
            options.request = PdbxOptions::Request::kHelp;
        } else if (flag == "-version") {
            options.request = PdbxOptions::Request::kVersion;
        } else {
            break;
        }
        if (!complete) return mistake(flag + " needs a value", "see pdbx -h");
        ++next;
    }
    options.poe.assign(arguments.begin() + static_cast<std::ptrdiff_t>(next), arguments.end());
    if (options.request != PdbxOptions::Request::kDebug) return options;
    if (!options.attach.empty() && !options.poe.empty())
        return mistake("-a attaches to a job that runs; it takes no program",
                       "leave out \"" + options.poe.front() + "\"");
    if (!options.cores.empty() && (!options.attach.empty() || options.poe.size() > 1))
        return mistake("-core takes a directory of core files and at most the program",
                       "leave out -a, arguments of the program and flags of poe");
    if (options.attach.empty() && options.cores.empty() && options.poe.empty())
        return mistake("a program is missing",
                       "pdbx PROGRAM -procs 4, pdbx -a JOB, or pdbx -core DIR");
    if (options.run && (!options.attach.empty() || !options.cores.empty() || options.batch))
        return mistake("-run starts a job and shows the prompt when a task fails",
                       "leave out -a, -core and -batch");
    if (options.batch && options.screen)
        return mistake("-batch is for scripts and -screen for people", "leave out one of them");
    if (options.batch && options.scripts.empty())
        return mistake("-batch needs commands", "add -x FILE");
    return options;
}

}  // namespace poe::debugger
