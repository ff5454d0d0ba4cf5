// See child_daemons.hpp.
#include "partition_manager/launch/child_daemons.hpp"

#include <algorithm>
#include <sys/wait.h>
#include <utility>

#include <asio/post.hpp>

#include "base/error.hpp"
#include "partition_manager/channel/stream_window.hpp"
#include "partition_manager/launch/remote_launcher.hpp"

namespace poe::pm {

namespace {

using Clock = std::chrono::steady_clock;

// Each level of the tree may take this long to end, in addition to the grace that tasks have to
// clean up.
constexpr std::chrono::seconds kEndPatience{4};

std::size_t stream_index(FrameKind stream) {
    return stream == FrameKind::kStdout ? 0 : stream == FrameKind::kStderr ? 1 : 2;
}

}  // namespace

ChildDaemons::ChildDaemons(asio::io_context& loop, const JobSpec& job, std::string local_pmd,
                           const InheritedSignals& heritage, char* const* environment,
                           Handlers handlers)
    : loop_(loop),
      job_(job),
      local_pmd_(std::move(local_pmd)),
      heritage_(heritage),
      environment_(environment),
      handlers_(std::move(handlers)),
      tree_(static_cast<NodeIndex>(job.nodes.size()), job.launch.fanout, job.launch.home),
      pulse_timer_(loop),
      patience_(loop) {}

void ChildDaemons::launch(NodeIndex node, std::size_t share) {
    auto link = std::make_unique<Link>();
    link->node = node;
    link->window =
        std::max(kStreamWindow / static_cast<std::int64_t>(std::max<std::size_t>(share, 1)),
                 kSmallestWindow);
    link->heard = Clock::now();
    Link& made = *link;
    links_.push_back(std::move(link));
    try {
        LaunchedDaemon daemon =
            node == job_.launch.home
                ? launch_local(local_pmd_, heritage_, environment_)
                : launch_remote(job_.launch, job_.nodes[static_cast<std::size_t>(node)], heritage_,
                                environment_);
        made.branch = std::make_unique<ChildDaemon>(
            loop_, node, std::move(daemon),
            ChildDaemon::Handlers{[this, &made](NodeIndex from, Message message) {
                                      on_message(made, from, std::move(message));
                                  },
                                  [this, &made](const Frame& frame) {
                                      made.heard = Clock::now();
                                      if (frame.kind == FrameKind::kStdout ||
                                          frame.kind == FrameKind::kStderr ||
                                          frame.kind == FrameKind::kTrace)
                                          handlers_.on_output(made.node, frame);
                                  },
                                  [this, &made](const std::string& why) { on_end(made, why); }});
        // The daemon of this node belongs to this installation, so its version need not be checked
        // first.
        if (node == job_.launch.home) begin(made);
    } catch (const Error& error) {
        asio::post(loop_, [this, &made, text = std::string(error.what())] { on_end(made, text); });
    }
}

ChildDaemons::Link* ChildDaemons::link_to(NodeIndex node) {
    for (; node != LaunchTree::kRoot; node = tree_.above(node))
        for (const auto& link : links_)
            if (link->node == node && !link->gone) return link.get();
    return nullptr;
}

void ChildDaemons::send(const Message& message, NodeIndex to) {
    if (to != kAllNodes) {
        Link* link = link_to(to);
        if (link != nullptr && link->branch) link->branch->channel().send(message, to);
        return;
    }
    for (const auto& link : links_)
        if (link->branch && link->state != State::kComing) link->branch->channel().send(message);
}

void ChildDaemons::send_stdin(std::string_view data, NodeIndex to) {
    Link* one = to == kAllNodes ? nullptr : link_to(to);
    for (const auto& link : links_)
        if (link->branch && link->state != State::kComing && (to == kAllNodes || link.get() == one))
            link->branch->channel().send_data(FrameKind::kStdin, 0, to, data);
}

void ChildDaemons::add_credit(NodeIndex branch, FrameKind stream, std::size_t bytes) {
    for (const auto& link : links_)
        if (link->node == branch) link->owed[stream_index(stream)] += bytes;
}

void ChildDaemons::flush_credit(FrameKind stream) {
    for (const auto& link : links_) {
        std::uint64_t& owed = link->owed[stream_index(stream)];
        if (!link->branch || owed < static_cast<std::uint64_t>(link->window / kCreditPortions))
            continue;
        link->branch->channel().send_credit(stream, owed);
        owed = 0;
    }
}

void ChildDaemons::on_message(Link& link, NodeIndex from, Message message) {
    link.heard = Clock::now();
    if (const auto* hello = std::get_if<Hello>(&message)) {
        on_hello(link, *hello);
    } else if (auto* prepared = std::get_if<Prepared>(&message)) {
        for (NodeFacts& node : prepared->nodes) facts_.push_back(std::move(node));
        advance(link, State::kPrepared);
    } else if (std::get_if<Started>(&message)) {
        advance(link, State::kStarted);
    } else if (std::get_if<Done>(&message)) {
        link.branch->let_go();
        advance(link, State::kOver);
    } else if (auto* up = std::get_if<NodesUp>(&message)) {
        handlers_.on_up(std::move(up->nodes));
    } else if (!std::get_if<Pulse>(&message)) {
        handlers_.on_message(link.node, from, std::move(message));
    }
}

void ChildDaemons::begin(Link& link) {
    link.state = State::kPreparing;
    link.branch->channel().send(StartJob{job_, link.node, link.window}, link.node);
    if (ending_) link.branch->channel().send(EndJob{true});
}

void ChildDaemons::on_hello(Link& link, const Hello& hello) {
    if (link.greeted || link.state == State::kOver) return;
    link.greeted = true;
    if (hello.version != kChannelVersion)
        return lose(link, "is of another version of POE (its channel has version " +
                              std::to_string(hello.version) + ", ours " +
                              std::to_string(kChannelVersion) +
                              "); install the same POE on all nodes");
    if (link.state == State::kComing) begin(link);
    handlers_.on_up({link.node});
    if (!pulsing_) on_pulse();
}

void ChildDaemons::advance(Link& link, State state) {
    if (link.state >= state) return;
    link.state = state;
    handlers_.on_change();
}

void ChildDaemons::on_end(Link& link, const std::string& why) {
    const bool unexpected = link.state != State::kOver;
    link.gone = true;
    link.branch.reset();
    if (!unexpected) return handlers_.on_change();
    const bool reached = link.greeted;
    link.state = State::kOver;
    const std::string& name = job_.nodes[static_cast<std::size_t>(link.node)];
    if (reached)
        handlers_.on_lost(link.node, "the daemon pmd on " + name + " is gone: " + why);
    else if (link.node == job_.launch.home)
        handlers_.on_unreached(link.node,
                               "the daemon pmd (" + local_pmd_ + ") cannot be started: " + why);
    else
        handlers_.on_unreached(link.node, "cannot start the daemon pmd on node " + name + " by " +
                                              job_.launch.remote_shell.front() + ": " + why);
    handlers_.on_change();
}

void ChildDaemons::lose(Link& link, const std::string& text) {
    if (link.state == State::kOver) return;
    link.state = State::kOver;
    link.branch->kill();
    link.branch->let_go();
    handlers_.on_lost(link.node, "the daemon pmd on " +
                                     job_.nodes[static_cast<std::size_t>(link.node)] + " " + text);
    handlers_.on_change();
}

// Requests a sign of life twice per pulse. If this timer fires late, this process was stopped
// itself and has not read the answers; the time of all daemons then starts again.
void ChildDaemons::on_pulse() {
    if (job_.launch.pulse.count() <= 0) return;
    const auto interval = std::chrono::milliseconds(job_.launch.pulse) / 2;
    const Clock::time_point now = Clock::now();
    const bool was_stopped = pulsing_ && now - next_pulse_ > interval / 2;
    pulsing_ = true;
    for (const auto& link : links_) {
        if (!link->branch || !link->greeted || link->state == State::kOver) continue;
        if (was_stopped) link->heard = now;
        if (now - link->heard > job_.launch.pulse)
            lose(*link, "has not answered for " + std::to_string(job_.launch.pulse.count()) +
                            " s (MP_PULSE)");
        else
            link->branch->channel().send(Pulse{});
    }
    next_pulse_ = now + interval;
    pulse_timer_.expires_at(next_pulse_);
    pulse_timer_.async_wait([this](const asio::error_code& error) {
        if (!error) on_pulse();
    });
}

void ChildDaemons::expect_end() {
    if (ending_) return;
    ending_ = true;
    ending_since_ = Clock::now();
    for (const auto& link : links_)
        if (link->branch && link->state == State::kComing) link->branch->kill();
    on_patience_over({});
}

// Lower levels have less time, so the daemon next to a silent node reports it.
void ChildDaemons::on_patience_over(std::chrono::milliseconds after) {
    std::chrono::milliseconds next{0};
    for (const auto& link : links_) {
        if (link->state == State::kOver || !link->branch) continue;
        // A daemon that still sends data (a trace may be long) gets more time.
        const auto heard = std::chrono::duration_cast<std::chrono::milliseconds>(
            std::max(link->heard, ending_since_) - ending_since_);
        const auto patience = heard + job_.kill_grace + kEndPatience * tree_.height(link->node);
        if (patience <= after)
            lose(*link, "did not end its part of the job in time");
        else if (next.count() == 0 || patience < next)
            next = patience;
    }
    if (next.count() == 0) return;
    patience_.expires_at(ending_since_ + next);
    patience_.async_wait([this, next](const asio::error_code& error) {
        if (!error) on_patience_over(next);
    });
}

void ChildDaemons::give_up() {
    for (const auto& link : links_) {
        link->state = State::kOver;
        if (link->branch) link->branch->kill();
    }
}

void ChildDaemons::drain(std::chrono::milliseconds patience) {
    for (const auto& link : links_)
        if (link->branch) link->branch->channel().drain(patience);
}

std::size_t ChildDaemons::alive() const {
    return static_cast<std::size_t>(
        std::count_if(links_.begin(), links_.end(), [](const auto& link) { return !link->gone; }));
}

bool ChildDaemons::at_least(State state) const {
    return std::all_of(links_.begin(), links_.end(),
                       [state](const auto& link) { return link->state >= state; });
}

bool ChildDaemons::all_prepared() const {
    return at_least(State::kPrepared);
}

bool ChildDaemons::all_started() const {
    return at_least(State::kStarted);
}

bool ChildDaemons::all_over() const {
    return std::all_of(links_.begin(), links_.end(), [](const auto& link) { return link->gone; });
}

std::vector<std::string> ChildDaemons::waiting_for() const {
    std::vector<std::string> names;
    for (const auto& link : links_) {
        if (link->greeted || link->state == State::kOver) continue;
        std::string name = job_.nodes[static_cast<std::size_t>(link->node)];
        if (const std::string said = link->branch ? link->branch->said() : ""; !said.empty())
            name += " (" + said + ")";
        names.push_back(std::move(name));
    }
    return names;
}

std::vector<pid_t> ChildDaemons::pids() const {
    std::vector<pid_t> found;
    for (const auto& link : links_)
        if (link->branch && link->branch->pid() > 0) found.push_back(link->branch->pid());
    return found;
}

void ChildDaemons::reap() {
    for (const pid_t pid : pids()) {
        int status = 0;
        if (::waitpid(pid, &status, WNOHANG) == pid) on_child_exit(pid, status);
    }
}

bool ChildDaemons::on_child_exit(pid_t pid, int status) {
    for (const auto& link : links_) {
        if (!link->branch || link->branch->pid() != pid) continue;
        link->branch->on_exit(status);
        return true;
    }
    return false;
}

}  // namespace poe::pm
