// Tasks that start more tasks (spawned_job.hpp), and what tasks of several jobs have to do with
// each other. Requests are served one after the other, so that each new job can be told of all
// that run, and they of it.
#include <algorithm>
#include <utility>

#include <asio/post.hpp>

#include "base/error.hpp"
#include "partition_manager/home/partition.hpp"
#include "partition_manager/job/task_ranges.hpp"

namespace poe::pm {

namespace {

// Of an answer about a task that is gone; PMIX_ERROR.
constexpr int kNoSuchTask = -1;

// Requests that wait for their turn.
constexpr std::size_t kMostRequests = 4096;

// Of a job's name, what may stand before "-s65536".
constexpr std::size_t kOwnName = 40 - 7;

std::string words_of(const StartFailed& failed) {
    std::string text = failed.text;
    for (const LaunchFailure& failure : failed.failures)
        if (text.find(failure.text) == std::string::npos)
            text += (text.empty() ? "" : "; ") + failure.text;
    return text;
}

}  // namespace

// Of tasks of any job; `job` and `from` are what only we know of certain.
void Partition::on_question(const JobSpec& job, NodeIndex from, Message message) {
    if (auto* ask = std::get_if<AskKeys>(&message)) {
        ask->asker.job = job.id;
        if (ask->job.empty()) ask->job = job.id;
        on_keys_asked(*ask);
    } else if (const auto* tell = std::get_if<TellKeys>(&message)) {
        answer(tell->asker, *tell);
    } else if (auto* names = std::get_if<AskNames>(&message)) {
        names->asker.job = job.id;
        for (const TellNames& told : names_.ask(std::move(*names))) answer(told.asker, told);
    } else if (auto* spawn = std::get_if<SpawnTasks>(&message)) {
        spawn->asker.job = job.id;
        spawn->asker.node = from;
        if (spawn_requests_.size() == kMostRequests)
            return refuse_spawn(*spawn, "too many requests wait for their turn");
        spawn_requests_.push_back(std::move(*spawn));
        spawn_next();
    } else if (const auto* part = std::get_if<Exchange>(&message)) {
        if (const auto all = joint_exchanges_.add(*part))
            for (const std::string& one : part->jobs)
                if (const auto place = find_job(one))
                    place->branches->send(Exchanged{all->key, all->data});
    }
}

std::optional<Partition::Place> Partition::find_job(const std::string& id) {
    if (id == first_job().id) return Place{branches_.get(), &first_job()};
    for (const auto& spawned : spawned_)
        if (spawned->job().id == id) return Place{&spawned->branches(), &spawned->job()};
    return std::nullopt;
}

void Partition::answer(const Asker& asker, const Message& message) {
    const auto place = find_job(asker.job);
    if (place && asker.node >= 0 && static_cast<std::size_t>(asker.node) < place->job->nodes.size())
        place->branches->send(message, asker.node);
}

void Partition::on_keys_asked(const AskKeys& ask) {
    const auto place = find_job(ask.job);
    const auto task = static_cast<std::size_t>(ask.task);
    if (!place || ask.task < 0 || task >= place->job->tasks.size() || place->branches->all_over())
        return answer(ask.asker, TellKeys{ask.asker, kNoSuchTask, {}});
    place->branches->send(ask, place->job->tasks[task].node);
}

void Partition::refuse_spawn(const SpawnTasks& ask, const std::string& why) {
    const auto place = find_job(ask.asker.job);
    if (place && options_.on_attention)
        options_.on_attention("task " + std::to_string(public_number(*place->job, ask.task)) +
                              " asked to start more tasks (MPI_Comm_spawn), which failed: " + why);
    answer(ask.asker, TasksSpawned{ask.asker, "", why});
}

// All that poe has by task gets as many as job_ has.
void Partition::set_tasks() {
    const auto tasks = static_cast<TaskId>(job_.tasks.size());
    judge_.set_tasks(tasks);
    if (ordered_) ordered_->set_tasks(tasks);
    for (const Output* output : {&stdout_, &stderr_})
        if (output->files) output->files->set_tasks(job_);
}

void Partition::add_tasks(const JobSpec& job) {
    const auto commands = static_cast<std::uint32_t>(job_.commands.size());
    job_.commands.insert(job_.commands.end(), job.commands.begin(), job.commands.end());
    for (const TaskSpec& task : job.tasks) {
        const std::string& node = job.nodes[static_cast<std::size_t>(task.node)];
        const auto at = std::find(job_.nodes.begin(), job_.nodes.end(), node);
        job_.tasks.push_back(
            {static_cast<NodeIndex>(at - job_.nodes.begin()), commands + task.command});
    }
    set_tasks();
}

// The last that were added.
void Partition::remove_tasks(const JobSpec& job) {
    job_.tasks.resize(job_.tasks.size() - job.tasks.size());
    job_.commands.resize(job_.commands.size() - job.commands.size());
    set_tasks();
}

void Partition::spawn_next() {
    while (spawning_ == nullptr && !spawn_requests_.empty() && !judge_.ending() && !finished_) {
        std::erase_if(spawned_, [](const auto& one) { return one->given_up() && one->over(); });
        spawn_ask_ = std::move(spawn_requests_.front());
        spawn_requests_.pop_front();
        const auto place = find_job(spawn_ask_.asker.job);
        if (!place || place->branches->all_over()) continue;  // nobody waits for it any more
        try {
            spawn(spawn_ask_);
        } catch (const Error& error) {
            refuse_spawn(spawn_ask_, error.what());
        }
    }
}

void Partition::spawn(const SpawnTasks& ask) {
    if (spawn_number_ == kMostSpawned) throw Error("the tasks of this job have asked too often");
    if (!first_job_) first_job_ = job_;
    SpawnPlan plan;
    plan.id = first_job_->id.substr(0, kOwnName) + "-s" + std::to_string(++spawn_number_);
    plan.first = static_cast<TaskId>(job_.tasks.size());
    plan.spawned_before = job_.tasks.size() - first_job_->tasks.size();
    plan.next_node = next_spawn_node_;
    plan.make_key = options_.make_key;
    plan.others.push_back(outline_of(*first_job_));
    for (const auto& spawned : spawned_)
        if (!spawned->given_up()) plan.others.push_back(outline_of(spawned->job()));
    JobSpec base = *first_job_;
    base.stdout_mode = job_.stdout_mode;  // a flush may have changed it
    JobSpec job = make_spawned_job(base, ask, plan);
    try {
        add_tasks(job);
    } catch (const Error&) {
        remove_tasks(job);
        throw;
    }
    next_spawn_node_ = plan.next_node;
    spawned_.push_back(std::make_unique<SpawnedJob>(
        loop_, std::move(job), ask.asker, options_.pmd, heritage_, environment_,
        SpawnedJob::Handlers{[this](SpawnedJob& from, NodeIndex node, Message message) {
                                 on_spawned_message(from, node, std::move(message));
                             },
                             [this](SpawnedJob& from, NodeIndex branch, const Frame& frame) {
                                 on_spawned_output(from, branch, frame);
                             },
                             [this](SpawnedJob& from) { on_spawned_change(from); },
                             [this](SpawnedJob& from, NodeIndex node, const std::string& text) {
                                 on_spawned_trouble(from, node, text);
                             }}));
    spawning_ = spawned_.back().get();
    if (options_.timeout.count() > 0) {
        spawn_timer_.expires_after(options_.timeout);
        spawn_timer_.async_wait([this, one = spawning_](const asio::error_code& error) {
            if (!error && spawning_ == one)
                fail_spawn(*one, "they did not start within " +
                                     std::to_string(options_.timeout.count()) + " s (MP_TIMEOUT)");
        });
    }
    spawning_->launch();
}

void Partition::fail_spawn(SpawnedJob& spawned, const std::string& why) {
    if (spawned.given_up()) return;
    spawn_timer_.cancel();
    spawned.give_up();
    refuse_spawn(spawn_ask_, why);
}

// Before a task of any job hears of the new one, its server knows it.
void Partition::on_spawn_done(SpawnedJob& spawned) {
    spawn_timer_.cancel();
    spawning_ = nullptr;
    const KnowJob known{outline_of(spawned.job())};
    branches_->send(known);
    for (const auto& other : spawned_)
        if (other.get() != &spawned) other->branches().send(known);
    answer(spawned.asker(), TasksSpawned{spawned.asker(), spawned.job().id, ""});
    if (!options_.on_info) return;
    std::vector<TaskId> tasks;
    for (std::size_t task = 0; task < spawned.job().tasks.size(); ++task)
        tasks.push_back(spawned.first() + static_cast<TaskId>(task));
    options_.on_info(tasks_in_words(tasks) + " run, which a task has started, as job " +
                     spawned.job().id);
}

void Partition::on_spawned_change(SpawnedJob& spawned) {
    if (!judge_.ending() && spawned.advance()) on_spawn_done(spawned);
    if (spawned.over() && spawning_ == &spawned && !judge_.ending()) {
        fail_spawn(spawned, "their daemons have ended");
        remove_tasks(spawned.job());
        spawning_ = nullptr;
    }
    if (all_over()) return on_change();
    // Not from here: it may remove this job.
    if (spawning_ == nullptr && !spawn_requests_.empty())
        asio::post(loop_, [this] { spawn_next(); });
}

void Partition::on_spawned_trouble(SpawnedJob& spawned, NodeIndex node, const std::string& text) {
    if (node == spawned.job().launch.home) lost_own_daemons_.push_back(spawned.job().id);
    if (!spawned.started() && !judge_.ending()) return fail_spawn(spawned, text);
    end_job(judge_.on_lost_daemon(text));
}

void Partition::on_spawned_output(SpawnedJob& from, NodeIndex branch, const Frame& frame) {
    if (!from.is_task(frame.task) || from.given_up()) return;
    Frame renamed = frame;
    renamed.task += from.first();
    on_data(from.branches(), branch, renamed);
}

// Its tasks get the numbers that people know.
void Partition::on_spawned_message(SpawnedJob& from, NodeIndex node, Message message) {
    if (from.given_up()) return;
    const TaskId first = from.first();
    const auto* part = std::get_if<Exchange>(&message);
    if (auto* exit = std::get_if<TaskExit>(&message)) {
        if (!from.is_task(exit->task)) return;
        const bool flushed = from.flush_round().on_exit(exit->task);
        exit->task += first;
        exit->after += from.launched() - start_time_;  // people know one start
        end_job(judge_.on_exit(*exit));
        if (flushed) on_spawned_flush(from);
    } else if (const auto* mark = std::get_if<StdoutMark>(&message)) {
        if (from.is_task(mark->task) && from.flush_round().on_mark(mark->task, mark->mode))
            on_spawned_flush(from);
    } else if (auto* failed = std::get_if<StartFailed>(&message)) {
        if (!from.started() && !judge_.ending()) return fail_spawn(from, words_of(*failed));
        for (LaunchFailure& failure : failed->failures) failure.task += first;
        end_job(judge_.on_start_failed(std::move(failed->failures), failed->text), true);
    } else if (const auto* abort = std::get_if<TaskAbort>(&message)) {
        end_job(judge_.on_abort(first + abort->task, abort->code, abort->text));
    } else if (const auto* left = std::get_if<TaskLeft>(&message)) {
        from.branches().send(*left);
        end_job(judge_.on_left(first + left->task));
    } else if (const auto* lost = std::get_if<NodeLost>(&message)) {
        on_spawned_trouble(from, lost->node, lost->text);
    } else if (const auto* unreached = std::get_if<NodeUnreached>(&message)) {
        on_spawned_trouble(from, unreached->node, unreached->text);
    } else if (part != nullptr && part->jobs.empty()) {
        if (auto all = from.exchanges().add(*part))
            from.branches().send(Exchanged{std::move(all->key), std::move(all->data)});
    } else if (const auto* bad = std::get_if<NodeFailed>(&message)) {
        end_job(judge_.on_node_failed(bad->text));
    } else if (const auto* attention = std::get_if<Attention>(&message)) {
        if (options_.on_attention) options_.on_attention(attention->text);
    } else {
        on_question(from.job(), node, std::move(message));
    }
}

// They share their output with tasks that are not asked how it is to come out.
void Partition::on_spawned_flush(SpawnedJob& from) {
    const FlushRound::Result result = from.flush_round().finish();
    from.branches().send(StdoutFlushed{result.agreed && !result.mode, from.job().stdout_mode});
}

void Partition::send_all(const Message& message) {
    branches_->send(message);
    for (const auto& spawned : spawned_) spawned->branches().send(message);
}

void Partition::end_all(bool at_once) {
    send_all(EndJob{at_once});
    branches_->expect_end();
    for (const auto& spawned : spawned_) spawned->branches().expect_end();
}

bool Partition::all_over() const {
    const auto over = [](const auto& spawned) { return spawned->over(); };
    return branches_->all_over() && std::all_of(spawned_.begin(), spawned_.end(), over);
}

}  // namespace poe::pm
