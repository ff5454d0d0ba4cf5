// Unwinds a stopped process with libdw; see process_stacks.hpp.
#include "partition_manager/core/process_stacks.hpp"

#include <algorithm>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <memory>

#include "base/demangled.hpp"
#include "base/error.hpp"
#include "base/proc_files.hpp"

namespace poe::pm {

namespace {

constexpr std::size_t kMaxFrames = 256;

std::string last_part(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

int add_frame(Dwfl_Frame* state, void* argument) {
    auto& stack = *static_cast<ThreadStack*>(argument);
    Dwarf_Addr address = 0;
    bool is_activation = false;
    if (!dwfl_frame_pc(state, &address, &is_activation)) return DWARF_CB_ABORT;
    StackFrame frame;
    frame.address = address;
    // A return address is one past the call, and may belong to the next line or function.
    if (!is_activation) --address;
    Dwfl* dwfl = dwfl_thread_dwfl(dwfl_frame_thread(state));
    if (Dwfl_Module* module = dwfl_addrmodule(dwfl, address); module != nullptr) {
        const char* path =
            dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
        if (path != nullptr) frame.module = path;
        const char* name = dwfl_module_addrname(module, address);
        if (name != nullptr) frame.function = demangled(name);
        if (Dwfl_Line* line = dwfl_module_getsrc(module, address); line != nullptr) {
            const char* file = dwfl_lineinfo(line, nullptr, &frame.line, nullptr, nullptr, nullptr);
            if (file != nullptr) frame.file = file;
        }
    }
    stack.frames.push_back(std::move(frame));
    return stack.frames.size() < kMaxFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

[[noreturn]] void throw_dwfl(const std::string& what) {
    const char* why = dwfl_errmsg(-1);
    throw Error(what + ": " + (why != nullptr ? why : "no reason is given"));
}

}  // namespace

std::vector<ThreadStack> stacks_of(pid_t process, pid_t first) {
    Dwfl_Callbacks callbacks = {};
    callbacks.find_elf = dwfl_linux_proc_find_elf;
    callbacks.find_debuginfo = dwfl_standard_find_debuginfo;
    const std::unique_ptr<Dwfl, void (*)(Dwfl*)> dwfl(dwfl_begin(&callbacks), dwfl_end);
    if (!dwfl) throw_dwfl("libdw cannot begin");
    if (dwfl_linux_proc_report(dwfl.get(), process) != 0 ||
        dwfl_report_end(dwfl.get(), nullptr, nullptr) != 0)
        throw_dwfl("the memory map of process " + std::to_string(process) + " cannot be read");
    if (dwfl_linux_proc_attach(dwfl.get(), process, true) != 0)
        throw_dwfl("process " + std::to_string(process) + " cannot be looked at");
    std::vector<pid_t> threads = threads_of(process);
    std::stable_partition(threads.begin(), threads.end(),
                          [first](pid_t thread) { return thread == first; });
    std::vector<ThreadStack> stacks;
    for (const pid_t thread : threads) {
        ThreadStack stack;
        stack.thread = thread;
        if (dwfl_getthread_frames(dwfl.get(), thread, add_frame, &stack) != 0)
            if (const char* why = dwfl_errmsg(-1); why != nullptr) stack.trouble = why;
        stacks.push_back(std::move(stack));
    }
    return stacks;
}

std::string frame_in_words(const StackFrame& frame) {
    char address[32];
    std::snprintf(address, sizeof address, "%#lx", frame.address);
    std::string text = frame.function.empty() ? address : frame.function;
    if (!frame.file.empty())
        text += " (" + last_part(frame.file) + ":" + std::to_string(frame.line) + ")";
    else if (!frame.module.empty())
        text += " (" + last_part(frame.module) + ")";
    return text;
}

}  // namespace poe::pm
