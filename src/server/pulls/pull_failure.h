// What a client learns of a download that failed.
#pragma once

#include <exception>
#include <string>

namespace alate::server {

/// A RequestError for an exception of pull_model. It tells what the client can do, and no path, address or token: the
/// log has the reason. `name` is the model's, as the client may have written it.
std::exception_ptr pull_failure(const std::string& name, const std::exception_ptr& error);

/// For a download that ended because the server does.
std::exception_ptr pulls_stopped();

}  // namespace alate::server
