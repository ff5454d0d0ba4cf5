// Fast paths: what the entry points of functions with the context `quick` (mpi/table/functions.tsv)
// try first. A fast path handles only calls with valid arguments, without tracing and without check
// mode. The parameters are those of the body of the same name, and the place of a call that may
// wait. If a function returns false, the general way makes the call. Then a function that starts
// something has started nothing, and a wait has finished no request, but may have waited; or it has
// failed with an exception, which the general way reports (kept_exception.hpp).
#pragma once

#include "mpi/api/quick_collective_calls.hpp"
#include "mpi/api/quick_irregular_calls.hpp"
#include "mpi/api/quick_message_calls.hpp"
#include "mpi/api/quick_window_calls.hpp"
