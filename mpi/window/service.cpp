// The service of windows; see service.hpp.
#include "mpi/window/service.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "mpi/point/works.hpp"
#include "mpi/window/target.hpp"

namespace poe::mpi {
namespace {

// The windows that are served, and the activity that does it.
struct Service {
    std::vector<Window*> windows;
    bool running = false;
};

Service& service() noexcept {
    static auto* const the_service = new Service;
    return *the_service;
}

// An activity that ends when there are no windows. It makes progress during waits as the operations of
// requests do, and also while the task computes, because it calls no function of the program.
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

}  // namespace

void begin_serving(comm::Runtime& runtime, Window& window) {
    window.target = std::make_shared<Target>(runtime, window);
    Service& all = service();
    all.windows.push_back(&window);
    if (!std::exchange(all.running, true)) {
        Request& request =
            make_work(runtime.messages(), std::make_unique<ServiceWork>(), nullptr, false);
        request.freed = true;
    }
    runtime.keep_moving();
}

void end_serving(comm::Runtime& runtime, Window& window) {
    std::erase(service().windows, &window);
    if (service().windows.empty()) {
        runtime.messages().help();
        end_help_if_idle(runtime.messages());
    }
}

}  // namespace poe::mpi
