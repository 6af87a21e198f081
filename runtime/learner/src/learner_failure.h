#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace agentgym {

/// An expected failure: it reaches TypeScript as an error with a code of the catalogue. Bugs are std::logic_error.
class LearnerFailure : public std::runtime_error {
 public:
  LearnerFailure(std::string code, const std::string& message, std::map<std::string, int64_t> data = {})
      : std::runtime_error(message), code(std::move(code)), data(std::move(data)) {}

  std::string code;
  std::map<std::string, int64_t> data;
};

/// Stops at a caller's bug, in release builds too.
inline void Require(bool condition, const char* what) {
  if (!condition) throw std::logic_error(std::string("learner: ") + what);
}

}  // namespace agentgym
