// Recording: the steps of a collective call that are executed later, once for a non-blocking call,
// several times for a persistent one. A Sequence composes a recording (sequence.hpp), and then the
// request of the call owns it.
//
// A communicator keeps a few recordings with their memory, because most programs repeat their
// calls. In the usual case a repeated call allocates nothing; scratch memory is allocated each
// time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "collectives/engine/collective_context.hpp"
#include "mpi/collective/round.hpp"
#include "mpi/collective/typed_reduction.hpp"
#include "mpi/communicator/comm.hpp"
#include "mpi/point/request.hpp"

namespace poe::mpi {

class Recording;
// Gives the recording back to its communicator.
using RecordingPtr = std::unique_ptr<Recording, WorkRelease>;

// The recordings that a communicator keeps for reuse.
class SpareRecordings {
  public:
    // Returns a recording without content for a call of `comm`, to which this object belongs. The
    // context and the communicator must outlive the recording. `type` is the type of its messages.
    RecordingPtr take(collectives::CollectiveContext& context, Comm& comm, std::int32_t type,
                      bool persistent);

  private:
    friend class Recording;
    static constexpr std::size_t kMost = 4;
    std::vector<std::unique_ptr<Recording>> kept_;
};

class Recording final : public Work {
  public:
    Recording(collectives::CollectiveContext& context, Comm& comm, SpareRecordings& spares)
        : context_(context), comm_(comm), spares_(spares) {}
    ~Recording() override;

    // --- Composing, before the first start.

    // Adds a step: an operation of CCL. The caller completes its description; the shape must have
    // the number of members.
    collectives::CollectiveCall& add_collective();
    // Adds a step: work on memory.
    void add_local(std::function<void()> work);
    // The round to which messages are added. add_round() makes it a step, and the next round is
    // empty.
    Round& open_round();
    void add_round();
    // What the steps need stays as long as they do: memory, a datatype, the operation of the call.
    std::byte* scratch(Bytes bytes);
    void keep(Datatype& type) { types_.emplace_back(type); }
    TypedReduction& make_reduction() { return reduction_.emplace(); }
    // For a plain call (plain_call.hpp): an object that is reused from call to call.
    TypedReduction& plain_reduction() noexcept { return plain_reduction_; }

    // --- Executing. See Work.
    void start(comm::MessageLayer& messages) override;
    bool advance(comm::MessageLayer& messages) override;
    Awaited awaited(const comm::MessageLayer& messages) override;
    bool wait(comm::MessageLayer& messages) override;
    const Fault& fault() const noexcept { return fault_; }
    bool succeeded() const noexcept override { return !fault_; }
    bool calls_program() const noexcept override {
        return reduction_ && reduction_->calls_program();
    }
    Fault result() override { return fault_; }
    void release() noexcept override;

  private:
    friend class SpareRecordings;
    struct Step {
        enum class Kind : std::uint8_t { kCollective, kRound, kLocal };
        Kind kind = Kind::kLocal;
        collectives::CollectiveCall call;
        collectives::StartedCall started;   // the call goes in shared memory
        collectives::Plan* plan = nullptr;  // or by messages
        Round round;
        std::function<void()> work;
    };

    Step& add(Step::Kind kind);
    void begin(Step& step);
    bool ended(Step& step, bool look_for_ends);
    void start_in_memory();
    bool ended_in_memory(Step& step, bool look_for_ends);
    void wait_in_memory(Step& step);
    Awaited awaited_in_memory(const Step& step) const;
    TaskId lost_in_memory(const Step& step) const;
    void clear() noexcept;
    static void empty(std::unique_ptr<Step>& step) noexcept;
    static void let_go(Step& step) noexcept;

    collectives::CollectiveContext& context_;
    Comm& comm_;
    SpareRecordings& spares_;
    bool persistent_ = false;
    std::int32_t type_ = 0;  // of messages
    Fault fault_;
    std::vector<std::unique_ptr<Step>> steps_;  // the first `used_` ones have content
    std::size_t used_ = 0;
    Round open_;  // messages are added to it
    std::vector<std::unique_ptr<std::byte[]>> memory_;
    std::vector<TypeReference> types_;
    std::optional<TypedReduction> reduction_;
    TypedReduction plain_reduction_;
    std::size_t at_ = 0;  // the step that is executed
    bool begun_ = false;  // that step has begun
};

}  // namespace poe::mpi
