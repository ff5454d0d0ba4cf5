// See job_services.hpp.
#include "comm/bootstrap/job_services.hpp"

#include <charconv>
#include <cstdlib>
#include <map>
#include <string_view>
#include <sys/socket.h>

#include "base/error.hpp"
#include "base/parse.hpp"
#include "comm/bootstrap/pmi1_client.hpp"

namespace poe::comm {
namespace {

// The descriptor of the connection; -1 if there is none.
int connection() noexcept {
    const char* text = std::getenv("PMI_FD");
    if (text == nullptr || std::getenv("MP_CHILD") == nullptr) return -1;
    const int fd = parse_number<int>(text).value_or(-1);
    int type = 0;
    socklen_t size = sizeof type;
    return fd >= 0 && ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 ? fd : -1;
}

Pmi1Client& client() {
    static Pmi1Client the_client(connection());
    return the_client;
}

// The jobs that have failed after their start, with the reasons.
std::map<std::string, std::string>& failed_jobs() {
    static auto* const jobs = new std::map<std::string, std::string>;
    return *jobs;
}

// The next line that answers a command; empty if it has not arrived. Notes news of jobs that have
// failed.
std::optional<std::string> try_read_answer() {
    while (auto line = client().try_read_line()) {
        if (pmi1_field(*line, "cmd").value_or("") != "spawn_failed") return line;
        failed_jobs()[pmi1_field(*line, "job").value_or("")] =
            pmi1_field(*line, "value").value_or("a task has ended too early");
    }
    return std::nullopt;
}

// Names contain blanks, but the values of the protocol end at one.
std::optional<char> parse_hexadecimal(std::string_view digits) {
    int code = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return static_cast<char>(code);
}

std::string as_word(std::string_view text) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string word;
    for (const char letter : text) {
        const auto byte = static_cast<unsigned char>(letter);
        if (byte > ' ' && byte < 0x7f && byte != '%' && byte != '=') {
            word += letter;
        } else {
            word += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
        }
    }
    return word;
}

std::string from_word(std::string_view word) {
    std::string text;
    for (std::size_t i = 0; i < word.size(); ++i) {
        const std::optional<char> code = word[i] == '%' && i + 2 < word.size()
                                             ? parse_hexadecimal(word.substr(i + 1, 2))
                                             : std::nullopt;
        text += code ? *code : word[i];
        if (code) i += 2;
    }
    return text;
}

void add_line(std::string& lines, const std::string& key, const std::string& value) {
    if (value.find('\n') != std::string::npos)
        throw Error("a line feed in \"" + value + "\" cannot be passed on");
    if (key.size() + value.size() > JobServices::kLongestLine)
        throw Error("\"" + value.substr(0, 40) + "...\" is longer than " +
                    std::to_string(JobServices::kLongestLine) + " bytes");
    lines += key + "=" + value + "\n";
}

std::string request_of(const ProgramToSpawn& program, std::size_t number, std::size_t total,
                       const std::string& key, const std::string& value) {
    std::string lines = "mcmd=spawn\n";
    add_line(lines, "nprocs", std::to_string(program.tasks));
    add_line(lines, "execname", program.program);
    add_line(lines, "totspawns", std::to_string(total));
    add_line(lines, "spawnssofar", std::to_string(number));
    for (std::size_t i = 0; i < program.arguments.size(); ++i)
        add_line(lines, "arg" + std::to_string(i + 1), program.arguments[i]);
    add_line(lines, "argcnt", std::to_string(program.arguments.size()));
    add_line(lines, "preput_num", "1");
    add_line(lines, "preput_key_0", key);
    add_line(lines, "preput_val_0", value);
    for (std::size_t i = 0; i < program.info.size(); ++i) {
        add_line(lines, "info_key_" + std::to_string(i), program.info[i].first);
        add_line(lines, "info_val_" + std::to_string(i), program.info[i].second);
    }
    add_line(lines, "info_num", std::to_string(program.info.size()));
    add_line(lines, "poe_own", "1");
    return lines + "endcmd\n";
}

JobServices::NameResult result_of(const std::string& answer) {
    using Result = JobServices::NameResult;
    if (pmi1_field(answer, "rc").value_or("") == "0") return Result::kDone;
    const std::string message = pmi1_field(answer, "msg").value_or("");
    return message == "key_already_present" ? Result::kTaken
           : message == "service_not_found" ? Result::kUnknown
                                            : Result::kFailed;
}

}  // namespace

std::optional<JobServices> JobServices::find(Wait wait) {
    if (connection() < 0) return std::nullopt;
    return JobServices(std::move(wait));
}

// True while a thread waits for an answer.
bool& JobServices::exchange_is_busy() {
    static bool busy = false;
    return busy;
}

// poe answers in order, and a thread that waits for an answer may give the turn up. So one request
// is made at a time.
std::string JobServices::exchange(std::string_view lines) {
    bool& busy = exchange_is_busy();
    wait_(client().fd(), [&busy] { return !busy; });
    busy = true;
    std::optional<std::string> answer;
    try {
        client().send(lines);
        wait_(client().fd(), [&] {
            answer = try_read_answer();
            return answer.has_value();
        });
    } catch (...) {
        busy = false;
        throw;
    }
    busy = false;
    return std::move(*answer);
}

JobServices::Spawned JobServices::spawn(const std::vector<ProgramToSpawn>& programs,
                                        const std::string& key, const std::string& value) {
    std::string lines;
    for (std::size_t i = 0; i < programs.size(); ++i)
        lines += request_of(programs[i], i + 1, programs.size(), key, value);
    const std::string answer = exchange(lines);
    if (pmi1_field(answer, "rc").value_or("") == "0")
        return {pmi1_field(answer, "job").value_or(""), ""};
    return {"", pmi1_field(answer, "value").value_or("poe has refused it")};
}

std::string JobServices::failure_of(const std::string& job) {
    if (!exchange_is_busy() && try_read_answer())
        throw_pmi1_failure("it has answered a command that was not sent");
    const auto failed = failed_jobs().extract(job);
    return failed ? failed.mapped() : "";
}

std::optional<std::string> JobServices::value_from_spawner(const std::string& key) {
    if (std::getenv("PMI_SPAWNED") == nullptr) return std::nullopt;
    const auto space = pmi1_field(exchange("cmd=get_my_kvsname\n"), "kvsname");
    if (!space) return std::nullopt;
    const std::string answer = exchange("cmd=get kvsname=" + *space + " key=" + key + "\n");
    if (pmi1_field(answer, "rc").value_or("") != "0") return std::nullopt;
    return pmi1_field(answer, "value");
}

JobServices::NameResult JobServices::publish(const std::string& name, const std::string& value) {
    return result_of(
        exchange("cmd=publish_name service=" + as_word(name) + " port=" + as_word(value) + "\n"));
}

JobServices::NameResult JobServices::look_up(const std::string& name, std::string& value) {
    const std::string answer = exchange("cmd=lookup_name service=" + as_word(name) + "\n");
    value = from_word(pmi1_field(answer, "port").value_or(""));
    return result_of(answer);
}

JobServices::NameResult JobServices::withdraw(const std::string& name) {
    return result_of(exchange("cmd=unpublish_name service=" + as_word(name) + "\n"));
}

}  // namespace poe::comm
