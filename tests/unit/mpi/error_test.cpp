// Error classes, codes, texts and handlers.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mpi.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/mpi/process.hpp"

using namespace poe::mpi;

namespace {

std::string text_of(int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length = -1;
    REQUIRE(MPI_Error_string(code, text, &length) == MPI_SUCCESS);
    REQUIRE(length == static_cast<int>(std::string(text).size()));
    return text;
}

int class_of(int code) {
    int error_class = -1;
    REQUIRE(MPI_Error_class(code, &error_class) == MPI_SUCCESS);
    return error_class;
}

int last_used_code() {
    int* value = nullptr;
    int flag = 0;
    REQUIRE(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag) == MPI_SUCCESS);
    REQUIRE(flag == 1);
    return *value;
}

int handled_code = 0;
MPI_Comm handled_comm = MPI_COMM_NULL;
int handler_calls = 0;
void note_error(MPI_Comm* comm, int* code, ...) {
    handled_comm = *comm;
    handled_code = *code;
    ++handler_calls;
}

void ignore_error(MPI_Win*, int*, ...) {}

void note_file_error(MPI_File*, int* code, ...) {
    handled_code = *code;
}

MPI_Session handled_session = MPI_SESSION_NULL;
void note_session_error(MPI_Session* session, int*, ...) {
    handled_session = *session;
}

MPI_Errhandler freed_inside = MPI_ERRHANDLER_NULL;
void free_itself(MPI_Comm*, int*, ...) {
    MPI_Errhandler_free(&freed_inside);
    ++handler_calls;
}

// Runs `work` in a child process and returns its exit status and what it wrote to standard error.
template <typename Work>
std::pair<int, std::string> in_child(Work&& work) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::dup2(ends[1], 2);
        ::close(ends[0]);
        ::close(ends[1]);
        work();
        ::_exit(0);
    }
    ::close(ends[1]);
    std::string text;
    char buffer[512];
    for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<std::size_t>(n));
    ::close(ends[0]);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return {WEXITSTATUS(status), text};
}

}  // namespace

TEST_CASE("Every class of the standard is its own code and has a text with its name") {
    const Process process;
    for (int code = MPI_SUCCESS; code <= MPI_ERR_ABI; ++code) {
        CHECK(class_of(code) == code);
        CHECK(text_of(code).starts_with(code == MPI_SUCCESS ? "MPI_SUCCESS: " : "MPI_ERR_"));
    }
    for (int code = MPI_T_ERR_CANNOT_INIT; code <= MPI_T_ERR_PVAR_NO_ATOMIC; ++code) {
        CHECK(text_of(code).starts_with("MPI_T_ERR_"));
    }
    CHECK(text_of(MPI_ERR_RANK) == "MPI_ERR_RANK: invalid rank");
    int ignored = 0;
    char text[MPI_MAX_ERROR_STRING];
    CHECK(MPI_Error_class(63, &ignored) == MPI_ERR_ARG);
    CHECK(MPI_Error_class(-1, &ignored) == MPI_ERR_ARG);
    CHECK(MPI_Error_string(99999, text, &ignored) == MPI_ERR_ARG);
}

TEST_CASE("A program adds classes, codes and texts, and removes them in the reverse order") {
    const Process process;
    const int before = last_used_code();
    CHECK(before >= MPI_ERR_LASTCODE);
    int error_class = 0;
    int code = 0;
    int of_standard = 0;
    REQUIRE(MPI_Add_error_class(&error_class) == MPI_SUCCESS);
    CHECK(error_class > MPI_ERR_LASTCODE);
    CHECK(last_used_code() == error_class);
    REQUIRE(MPI_Add_error_code(error_class, &code) == MPI_SUCCESS);
    REQUIRE(MPI_Add_error_code(MPI_ERR_IO, &of_standard) == MPI_SUCCESS);
    CHECK(last_used_code() == of_standard);
    CHECK(class_of(error_class) == error_class);
    CHECK(class_of(code) == error_class);
    CHECK(class_of(of_standard) == MPI_ERR_IO);
    CHECK(text_of(code).empty());

    REQUIRE(MPI_Add_error_string(code, "the pump is off") == MPI_SUCCESS);
    CHECK(text_of(code) == "the pump is off");
    REQUIRE(MPI_Add_error_string(code, "the pump is on") == MPI_SUCCESS);
    CHECK(text_of(code) == "the pump is on");
    CHECK(MPI_Add_error_string(MPI_ERR_RANK, "mine") == MPI_ERR_ARG);
    CHECK(MPI_Add_error_string(code, std::string(MPI_MAX_ERROR_STRING, 'x').c_str()) ==
          MPI_ERR_ARG);
    CHECK(MPI_Add_error_string(code, std::string(MPI_MAX_ERROR_STRING - 1, 'x').c_str()) ==
          MPI_SUCCESS);

    int ignored = 0;
    CHECK(MPI_Add_error_code(code, &ignored) == MPI_ERR_ARG);   // a code is no class
    CHECK(MPI_Remove_error_class(error_class) == MPI_ERR_ARG);  // it has a code
    CHECK(MPI_Remove_error_code(code) == MPI_ERR_ARG);          // it has a text
    CHECK(MPI_Remove_error_class(code) == MPI_ERR_ARG);
    CHECK(MPI_Remove_error_code(error_class) == MPI_ERR_ARG);
    CHECK(MPI_Remove_error_string(error_class) == MPI_ERR_ARG);
    CHECK(MPI_Remove_error_class(MPI_ERR_RANK) == MPI_ERR_ARG);
    CHECK(MPI_Remove_error_code(MPI_ERR_RANK) == MPI_ERR_ARG);

    CHECK(MPI_Remove_error_string(code) == MPI_SUCCESS);
    CHECK(MPI_Remove_error_code(of_standard) == MPI_SUCCESS);
    CHECK(MPI_Remove_error_code(code) == MPI_SUCCESS);
    CHECK(MPI_Remove_error_class(error_class) == MPI_SUCCESS);
    CHECK(MPI_Error_class(code, &ignored) == MPI_ERR_ARG);
    CHECK(last_used_code() == before);
}

TEST_CASE("Threads make, use and free objects at the same time") {
    const Process process;
    std::atomic<int> wrong{0};
    const auto work = [&](int thread) {
        const std::string key = "key" + std::to_string(thread);
        for (int i = 0; i < 300; ++i) {
            MPI_Info info = MPI_INFO_NULL;
            int number = 0;
            int error_class = 0;
            int keys = 0;
            if (MPI_Info_create(&info) || MPI_Info_set(info, key.c_str(), "x") ||
                MPI_Info_get_nkeys(info, &keys) || keys != 1 || MPI_Add_error_code(3, &number) ||
                MPI_Error_class(number, &error_class) || error_class != 3 ||
                MPI_Remove_error_code(number) || MPI_Info_free(&info)) {
                ++wrong;
            }
        }
    };
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) threads.emplace_back(work, thread);
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK(environment().infos.in_use() == 0);
}

TEST_CASE("An error handler of the program gets the communicator and the code") {
    Process process;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    REQUIRE(MPI_Comm_create_errhandler(note_error, &handler) == MPI_SUCCESS);
    REQUIRE(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler) == MPI_SUCCESS);

    // The object keeps the handler, and what is returned is a reference of its own.
    const MPI_Errhandler same = handler;
    REQUIRE(MPI_Errhandler_free(&handler) == MPI_SUCCESS);
    CHECK(handler == MPI_ERRHANDLER_NULL);
    REQUIRE(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler) == MPI_SUCCESS);
    CHECK(handler == same);
    REQUIRE(MPI_Errhandler_free(&handler) == MPI_SUCCESS);

    handler_calls = 0;
    CHECK(MPI_Comm_set_attr(MPI_COMM_WORLD, 12345, nullptr) == MPI_ERR_KEYVAL);
    CHECK(handler_calls == 1);
    CHECK(handled_comm == MPI_COMM_WORLD);
    CHECK(handled_code == MPI_ERR_KEYVAL);

    CHECK(MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_IO) == MPI_SUCCESS);
    CHECK(handler_calls == 2);
    CHECK(handled_code == MPI_ERR_IO);

    // Errors without a valid object belong to MPI_COMM_WORLD until MPI_COMM_SELF gets a handler.
    CHECK(MPI_Comm_set_attr(MPI_COMM_NULL, 12345, nullptr) == MPI_ERR_COMM);
    CHECK(handler_calls == 3);
    CHECK(handled_comm == MPI_COMM_WORLD);
    REQUIRE(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_attr(MPI_COMM_NULL, 12345, nullptr) == MPI_ERR_COMM);
    CHECK(handler_calls == 3);

    REQUIRE(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, same) == MPI_ERR_ERRHANDLER);
    CHECK(environment().errhandlers.in_use() == 0);
}

TEST_CASE("An error handler may free itself while it runs") {
    Process process;
    REQUIRE(MPI_Comm_create_errhandler(free_itself, &freed_inside) == MPI_SUCCESS);
    process.world().errhandler = freed_inside;  // takes over the reference
    handler_calls = 0;
    CHECK(MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_IO) == MPI_SUCCESS);
    CHECK(handler_calls == 1);
    CHECK(freed_inside == MPI_ERRHANDLER_NULL);
    CHECK(environment().errhandlers.in_use() == 0);
    process.world().errhandler = MPI_ERRORS_RETURN;
}

TEST_CASE("Error handlers belong to a kind of objects, and predefined ones can be freed") {
    const Process process;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    REQUIRE(MPI_Win_create_errhandler(ignore_error, &handler) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler) == MPI_ERR_ERRHANDLER);
    REQUIRE(MPI_Errhandler_free(&handler) == MPI_SUCCESS);
    CHECK(MPI_Errhandler_free(&handler) == MPI_ERR_ERRHANDLER);
    CHECK(MPI_Comm_create_errhandler(nullptr, &handler) == MPI_ERR_ARG);
    REQUIRE(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler) == MPI_SUCCESS);
    CHECK(handler == MPI_ERRORS_RETURN);
    CHECK(MPI_Errhandler_free(&handler) == MPI_SUCCESS);
    CHECK(handler == MPI_ERRHANDLER_NULL);
    CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL) == MPI_ERR_ERRHANDLER);
}

TEST_CASE("The handler of MPI_FILE_NULL is that of files that are not open yet") {
    const Process process;
    MPI_Errhandler before = MPI_ERRHANDLER_NULL;
    REQUIRE(MPI_File_get_errhandler(MPI_FILE_NULL, &before) == MPI_SUCCESS);
    CHECK(before == MPI_ERRORS_RETURN);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    REQUIRE(MPI_File_create_errhandler(note_file_error, &handler) == MPI_SUCCESS);
    REQUIRE(MPI_File_set_errhandler(MPI_FILE_NULL, handler) == MPI_SUCCESS);
    REQUIRE(MPI_Errhandler_free(&handler) == MPI_SUCCESS);
    handled_code = 0;
    REQUIRE(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_NO_SUCH_FILE) == MPI_SUCCESS);
    CHECK(handled_code == MPI_ERR_NO_SUCH_FILE);
    REQUIRE(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    CHECK(environment().errhandlers.in_use() == 0);
    CHECK(MPI_File_set_errhandler(nullptr, MPI_ERRORS_RETURN) == MPI_ERR_FILE);
}

TEST_CASE("Sessions and windows have error handlers of their own") {
    struct Owner : ErrorHandlerOwner {
        void reset() noexcept {}
    };
    const Process process;
    static Pool<Owner> sessions(Kind::kSession);
    Owner& owner = sessions.make();
    owner.errhandler = MPI_ERRORS_RETURN;
    const auto session = handle_of<MPI_Session>(owner);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    REQUIRE(MPI_Session_create_errhandler(note_session_error, &handler) == MPI_SUCCESS);
    REQUIRE(MPI_Session_set_errhandler(session, handler) == MPI_SUCCESS);
    handled_session = MPI_SESSION_NULL;
    REQUIRE(MPI_Session_call_errhandler(session, MPI_ERR_OTHER) == MPI_SUCCESS);
    CHECK(handled_session == session);
    REQUIRE(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    REQUIRE(MPI_Errhandler_free(&handler) == MPI_SUCCESS);
    sessions.release(owner);
    CHECK(MPI_Session_get_errhandler(session, &handler) == MPI_ERR_SESSION);
    CHECK(MPI_Win_get_errhandler(MPI_WIN_NULL, &handler) == MPI_ERR_WIN);
    CHECK(MPI_Win_call_errhandler(MPI_WIN_NULL, MPI_ERR_OTHER) == MPI_ERR_WIN);
}

TEST_CASE("A fatal error prints one message with function, communicator, argument and remedy") {
    const auto [status, text] = in_child([] {
        const Process process(MPI_ERRORS_ARE_FATAL);
        const int ranks[] = {0, 7};
        MPI_Group group = MPI_GROUP_NULL;
        MPI_Group_incl(group_of({1, 2, 3}), 2, ranks, &group);
    });
    CHECK(status == MPI_ERR_RANK);
    CHECK(text.starts_with("ERROR: 0032-206 MPI_Group_incl"));
    CHECK(text.find("argument ranks: rank 7 is not in the group, which has 3 members") !=
          std::string::npos);
    CHECK(text.find("; use ranks from 0 to 2.\n") != std::string::npos);
    CHECK(std::count(text.begin(), text.end(), '\n') == 1);

    const auto [status2, text2] = in_child([] {
        const Process process(MPI_ERRORS_ARE_FATAL);
        MPI_Comm_set_attr(MPI_COMM_WORLD, 1, nullptr);
    });
    CHECK(status2 == MPI_ERR_KEYVAL);
    CHECK(text2.find("with communicator MPI_COMM_WORLD") != std::string::npos);
}

TEST_CASE("Before MPI_Init a function that needs MPI is a fatal error, others work") {
    const auto [status, text] = in_child([] {
        int size = 0;
        MPI_Group_size(MPI_GROUP_EMPTY, &size);
    });
    CHECK(status == MPI_ERR_OTHER);
    CHECK(text.find("MPI is not initialized") != std::string::npos);
    int version = 0;
    int subversion = 0;
    CHECK(MPI_Get_version(&version, &subversion) == MPI_SUCCESS);
    CHECK(version == 5);
    CHECK(subversion == 0);
}

TEST_CASE("An operation on files that failed returns, because of the handler of MPI_FILE_NULL") {
    const Process process(MPI_ERRORS_ARE_FATAL);
    MPI_File file = MPI_FILE_NULL;
    const int code = MPI_File_open(MPI_COMM_SELF, "x", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    // This process has no messages, which opening a file needs.
    CHECK(code == MPI_ERR_OTHER);
}
