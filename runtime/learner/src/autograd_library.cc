#include "autograd_library.h"

#include <dlfcn.h>

#include <string>

#include "learner_failure.h"

namespace agentgym {

namespace {

std::string PathBesideAddon() {
  Dl_info addon;
  if (dladdr(reinterpret_cast<const void*>(&LoadAutogradLibrary), &addon) == 0) return "agentgym_autograd.so";
  const std::string path = addon.dli_fname;
  return path.substr(0, path.rfind('/') + 1) + "agentgym_autograd.so";
}

const AutogradLibrary& Load() {
  void* library = dlopen(PathBesideAddon().c_str(), RTLD_NOW | RTLD_LOCAL);
  void* entry = library == nullptr ? nullptr : dlsym(library, "agentgym_autograd");
  if (entry == nullptr) {
    throw LearnerFailure("setup_incomplete", std::string("libtorch's engine cannot be loaded: ") + dlerror());
  }
  return *reinterpret_cast<const AutogradLibrary* (*)()>(entry)();
}

}  // namespace

const AutogradLibrary& LoadAutogradLibrary() {
  static const AutogradLibrary& library = Load();
  return library;
}

}  // namespace agentgym
