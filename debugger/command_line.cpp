// See command_line.hpp.
#include "debugger/command_line.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <readline/history.h>
#include <readline/readline.h>
#include <utility>

namespace poe::debugger {

namespace {

constexpr int kKeptLines = 1000;

// readline's functions have no argument for an object.
CommandLineEditor* the_editor = nullptr;

}  // namespace

CommandLineEditor::CommandLineEditor(std::string history, Complete complete)
    : history_(std::move(history)), complete_(std::move(complete)) {
    the_editor = this;
    rl_readline_name = "pdbx";
    rl_catch_signals = 0;
    rl_catch_sigwinch = 0;
    rl_attempted_completion_function = &attempt;
    ::using_history();
    ::stifle_history(kKeptLines);
    if (!history_.empty()) ::read_history(history_.c_str());
}

CommandLineEditor::~CommandLineEditor() {
    hide();
    if (!history_.empty()) ::write_history(history_.c_str());
    the_editor = nullptr;
}

void CommandLineEditor::show(const std::string& prompt) {
    if (!shown_) {
        shown_ = true;
        prompt_ = prompt;
        ::rl_callback_handler_install(prompt_.c_str(), &on_line);
    } else if (prompt != prompt_) {
        prompt_ = prompt;
        ::rl_clear_visible_line();
        ::rl_set_prompt(prompt_.c_str());
        ::rl_forced_update_display();
    }
}

void CommandLineEditor::hide() {
    if (!shown_) return;
    shown_ = false;
    ::rl_clear_visible_line();
    ::rl_callback_handler_remove();
}

void CommandLineEditor::print(const std::string& lines) {
    if (shown_) ::rl_clear_visible_line();
    std::fwrite(lines.data(), 1, lines.size(), stdout);
    std::fflush(stdout);
    if (shown_) ::rl_forced_update_display();
}

void CommandLineEditor::read() {
    if (shown_) ::rl_callback_read_char();
}

std::optional<CommandLineEditor::Input> CommandLineEditor::take() {
    return std::exchange(input_, std::nullopt);
}

void CommandLineEditor::discard() {
    if (!shown_) return;
    ::rl_free_line_state();
    ::rl_callback_sigcleanup();
    std::fputs("^C\n", stdout);
    ::rl_replace_line("", 0);
    ::rl_on_new_line();
    ::rl_redisplay();
}

void CommandLineEditor::on_line(char* line) {
    CommandLineEditor& self = *the_editor;
    self.shown_ = false;
    ::rl_callback_handler_remove();
    if (line == nullptr) {
        std::fputs("\n", stdout);
        self.input_ = Input{true, ""};
        return;
    }
    if (*line != '\0') {
        const HIST_ENTRY* last =
            ::history_length > 0 ? ::history_get(::history_base + ::history_length - 1) : nullptr;
        if (last == nullptr || std::strcmp(last->line, line) != 0) ::add_history(line);
    }
    self.input_ = Input{false, line};
    std::free(line);
}

char** CommandLineEditor::attempt(const char* text, int begin, int) {
    const std::string before(rl_line_buffer, static_cast<std::size_t>(begin));
    const bool first = before.find_first_not_of(" \t") == std::string::npos;
    the_editor->matches_ = the_editor->complete_(text, first);
    return the_editor->matches_.empty() ? nullptr : ::rl_completion_matches(text, &next_match);
}

// readline frees the text.
char* CommandLineEditor::next_match(const char*, int state) {
    const auto place = static_cast<std::size_t>(state);
    const std::vector<std::string>& matches = the_editor->matches_;
    return place < matches.size() ? ::strdup(matches[place].c_str()) : nullptr;
}

}  // namespace poe::debugger
