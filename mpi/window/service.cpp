// The service of windows; see service.hpp.
#include "mpi/window/service.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mpi.h>
#include <utility>
#include <vector>

#include "base/copy_block.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/point/works.hpp"
#include "mpi/window/elements.hpp"
#include "mpi/window/shared_memory.hpp"
#include "mpi/window/target.hpp"

namespace poe::mpi {
namespace {

// The windows that are served, and the activity that does it.
struct Service {
    std::vector<Window*> windows;
    bool running = false;
    // Those of which this task has a mailbox.
    std::vector<Window*> with_mailbox;
    std::size_t next = 0;  // of with_mailbox
};

// Mailboxes that are looked at in one poll, because programs may have many windows.
constexpr std::size_t kMailboxesPerPoll = 4;
// An origin often sends its next operation when it has the answer to one, about 100 ns later.
constexpr unsigned kLooksForNext = 64;
// Then other messages have their turn.
constexpr unsigned kMostMailPerPoll = 32;

Service& service() noexcept {
    static auto* const the_service = new Service;
    return *the_service;
}

// An activity that ends when there are no windows. It makes progress during waits as the operations
// of requests do, and also while the task computes, because it calls no function of the program.
class ServiceWork final : public Work {
  public:
    void start(comm::MessageLayer&) override {}
    bool advance(comm::MessageLayer& messages) override {
        for (std::size_t i = 0; i < service().windows.size(); ++i)
            service().windows[i]->target->serve(messages);
        if (!service().windows.empty()) return false;
        service().running = false;
        return true;
    }
    bool calls_program() const noexcept override { return false; }
};

bool has_mailbox(Window& window) noexcept {
    return window.member(window.rank()).mailbox != nullptr;
}

void carry_out_mail(Window& window, const Mail& mail, std::byte* data);

void carry_out_all_mail(Window& window, const Mail& mail, std::byte* data) {
    Batch::for_each({data, mail.bytes}, [&](const Mail& each, const std::byte* its_data) {
        carry_out_mail(window, each, const_cast<std::byte*>(its_data));
    });
}

void carry_out_mail(Window& window, const Mail& mail, std::byte* data) {
    if (mail.batch) return carry_out_all_mail(window, mail, data);
    const WindowMember& own = window.member(window.rank());
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    auto* const memory = reinterpret_cast<std::byte*>(own.base + mail.displacement);
    if (mail.kind == AccessKind::kPut) return copy_block(memory, data, mail.bytes);
    if (mail.kind == AccessKind::kGet) return copy_block(data, memory, mail.bytes);
    std::byte* const fetched = data + mail.sent();
    const AccumulateLock lock(window, window.rank(), true);
    if (mail.kind == AccessKind::kCompareAndSwap)
        return swap_if_equal(memory, data, data + mail.bytes, fetched, mail.bytes);
    if (gives_data(mail.kind)) copy_elements(fetched, memory, mail.bytes);
    if (takes_data(mail.kind))
        repeated_change(mail.operation, mail.element).apply(data, memory, mail.bytes);
}

class MailboxInput final : public comm::OtherInput {
  public:
    bool poll() override { return empty_own_mailboxes(); }
};

// Never destroyed, because the progress thread polls until the process has ended.
MailboxInput& mailbox_input() {
    static auto* const input = new MailboxInput;
    return *input;
}

}  // namespace

bool empty_own_mailboxes() noexcept {
    Service& all = service();
    bool any = false;
    const std::size_t known = all.with_mailbox.size();
    for (std::size_t i = 0; i < std::min(known, kMailboxesPerPoll); ++i) {
        if (all.next >= known) all.next = 0;
        Window& window = *all.with_mailbox[all.next++];
        Mailbox& box = *window.member(window.rank()).mailbox;
        const auto carry_out = [&](const Mail& mail, std::byte* data) {
            carry_out_mail(window, mail, data);
        };
        if (!empty_mailbox(box, carry_out)) continue;
        any = true;
        unsigned served = 1;
        for (unsigned looks = 0; looks < kLooksForNext && served < kMostMailPerPoll; ++looks) {
            if (!empty_mailbox(box, carry_out)) continue;
            ++served;
            looks = 0;
        }
    }
    return any;
}

void begin_serving(comm::Runtime& runtime, Window& window) {
    window.target = std::make_shared<Target>(runtime, window);
    Service& all = service();
    all.windows.push_back(&window);
    if (has_mailbox(window)) {
        if (all.with_mailbox.empty()) runtime.messages().add_input(mailbox_input());
        all.with_mailbox.push_back(&window);
    }
    if (!std::exchange(all.running, true)) {
        Request& request = make_work(runtime, std::make_unique<ServiceWork>(), nullptr, false);
        request.freed = true;
    }
    runtime.keep_moving();
}

void end_serving(comm::Runtime& runtime, Window& window) {
    std::erase(service().windows, &window);
    std::erase(service().with_mailbox, &window);
    if (service().with_mailbox.empty()) runtime.messages().remove_input(mailbox_input());
    if (service().windows.empty()) runtime.messages().help();
}

}  // namespace poe::mpi
