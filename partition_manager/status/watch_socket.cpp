// See watch_socket.hpp.
#include "partition_manager/status/watch_socket.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <utility>

#include "partition_manager/channel/message_codec.hpp"

namespace poe::pm {
namespace {

constexpr std::size_t kMostViewers = 16;
constexpr std::size_t kReadAtOnce = 65536;
// Maximum number of tasks in one message. The other tasks wait, and only their latest state is
// kept.
constexpr std::size_t kTasksAtOnce = 512;
constexpr std::size_t kLongestQuestion = 4096;

std::string framed(const Message& message) {
    const std::string payload = encode(message);
    std::string frame(kFrameHeaderBytes, '\0');
    write_frame_header(frame.data(), FrameKind::kControl, 0, -1, payload.size());
    return frame + payload;
}

}  // namespace

struct WatchSocket::Viewer {
    explicit Viewer(asio::io_context& loop) : socket(loop) {}
    asio::posix::stream_descriptor socket;
    FrameReader reader;
    std::unordered_set<TaskId> news;  // tasks whose latest state it has not been sent
    std::optional<TaskId> asked;      // the task whose lines it has requested
    std::string out;                  // a part of it may have been sent
    std::size_t gone = 0;
    bool writing = false;
};

WatchSocket::WatchSocket(asio::io_context& loop, uid_t owner, const std::string& job,
                         Handlers handlers)
    : loop_(loop),
      handlers_(std::move(handlers)),
      listener_(loop, owner, job, kWatchSocket, false,
                [this](UniqueFd caller) { begin(std::move(caller)); }) {}

WatchSocket::~WatchSocket() = default;

void WatchSocket::begin(UniqueFd caller) {
    if (viewers_.size() >= kMostViewers) return;
    auto viewer = std::make_shared<Viewer>(loop_);
    viewer->socket.assign(caller.release());
    viewers_.push_back(viewer);
    for (const auto& [task, known] : tasks_) viewer->news.insert(task);
    read(viewer);
    write(viewer);
    if (viewers_.size() == 1) handlers_.on_watched(true);
}

void WatchSocket::leave(const std::shared_ptr<Viewer>& viewer) {
    if (std::erase(viewers_, viewer) == 0) return;
    asio::error_code ignored;
    viewer->socket.close(ignored);
    if (!viewers_.empty()) return;
    tasks_.clear();
    handlers_.on_watched(false);
}

void WatchSocket::read(const std::shared_ptr<Viewer>& viewer) {
    viewer->socket.async_wait(
        asio::posix::stream_descriptor::wait_read, [this, viewer](const asio::error_code& error) {
            if (error) return;
            const std::span<char> room = viewer->reader.prepare(kLongestQuestion);
            const ssize_t count = ::recv(viewer->socket.native_handle(), room.data(),
                                         std::min(room.size(), kLongestQuestion), MSG_DONTWAIT);
            if (count < 0 && (errno == EAGAIN || errno == EINTR)) return read(viewer);
            if (count <= 0) return leave(viewer);
            viewer->reader.commit(static_cast<std::size_t>(count));
            Frame frame;
            FrameReader::Status status{};
            while ((status = viewer->reader.next(frame)) == FrameReader::Status::kFrame)
                if (const auto question = decode(frame.payload)) on_question(*viewer, *question);
            const bool endless = viewer->reader.rest().size() > kLongestQuestion;
            if (status == FrameReader::Status::kBad || endless) return leave(viewer);
            write(viewer);
            read(viewer);
        });
}

void WatchSocket::on_question(Viewer& viewer, const Message& question) {
    if (const auto* ask = std::get_if<AskLines>(&question)) viewer.asked = ask->task;
}

void WatchSocket::on_tasks(std::vector<WatchedTask> tasks) {
    if (viewers_.empty()) return;  // these were still on their way
    for (WatchedTask& task : tasks) {
        const TaskId number = task.state.task;
        for (const auto& viewer : viewers_) viewer->news.insert(number);
        tasks_.insert_or_assign(number, std::move(task));
    }
    for (const auto& viewer : std::vector(viewers_)) write(viewer);
}

// Sends as much as the viewer accepts.
void WatchSocket::write(const std::shared_ptr<Viewer>& viewer) {
    if (viewer->writing) return;
    while (true) {
        if (viewer->gone == viewer->out.size()) {
            viewer->out.clear();
            viewer->gone = 0;
            if (const auto task = std::exchange(viewer->asked, std::nullopt))
                viewer->out = framed(TaskLines{*task, handlers_.lines_of(*task)});
            WatchedTasks message;
            while (!viewer->news.empty() && message.tasks.size() < kTasksAtOnce) {
                const auto next = viewer->news.begin();
                message.tasks.push_back(tasks_[*next]);
                viewer->news.erase(next);
            }
            if (!message.tasks.empty()) viewer->out += framed(message);
            if (viewer->out.empty()) return;
        }
        const ssize_t count =
            ::send(viewer->socket.native_handle(), viewer->out.data() + viewer->gone,
                   viewer->out.size() - viewer->gone, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count > 0) {
            viewer->gone += static_cast<std::size_t>(count);
        } else if (errno == EAGAIN) {
            viewer->writing = true;
            viewer->socket.async_wait(asio::posix::stream_descriptor::wait_write,
                                      [this, viewer](const asio::error_code& error) {
                                          viewer->writing = false;
                                          if (!error) write(viewer);
                                      });
            return;
        } else if (errno != EINTR) {
            return;  // the end of the connection is about to be read
        }
    }
}

std::optional<WatchCall> WatchCall::to(uid_t owner, const std::string& job) {
    UniqueFd fd = call_job(owner, job, kWatchSocket);
    if (!fd) return std::nullopt;
    return WatchCall(std::move(fd));
}

std::vector<Message> WatchCall::take() {
    std::vector<Message> messages;
    while (fd_) {
        const std::span<char> room = reader_.prepare(kReadAtOnce);
        const ssize_t count = ::recv(fd_.get(), room.data(), room.size(), MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) break;
        if (count <= 0) {
            fd_.reset();
            break;
        }
        reader_.commit(static_cast<std::size_t>(count));
        Frame frame;
        FrameReader::Status status{};
        while ((status = reader_.next(frame)) == FrameReader::Status::kFrame)
            if (auto message = decode(frame.payload)) messages.push_back(std::move(*message));
        if (status == FrameReader::Status::kBad) fd_.reset();
    }
    return messages;
}

void WatchCall::ask_lines(TaskId task) {
    if (!fd_) return;
    const std::string question = framed(AskLines{task});
    // The question fits into the socket's buffer. If it does not, poe is not reading, and the
    // display asks again.
    static_cast<void>(
        ::send(fd_.get(), question.data(), question.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

}  // namespace poe::pm
