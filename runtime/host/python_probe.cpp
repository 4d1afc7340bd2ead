// SPDX-License-Identifier: Apache-2.0
#include "python_probe.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "platform/host/own_process.hpp"
#include "platform/process.hpp"

namespace novaphy::host {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// Marks the line of the answer: plugins and site hooks may print, too. A macro, so that the scripts below
/// hold it.
#define NOVAPHY_ANSWER_MARK "novaphy-host answer: "

constexpr const char* kAboutItself = R"py(
import importlib.util, json, os, platform
answer = {"version": platform.python_version(), "package": "", "package_version": "", "reason": "",
          "nvrtc": []}
try:
    import novaphy
    answer["package"] = os.path.dirname(os.path.abspath(novaphy.__file__))
    answer["package_version"] = novaphy.__version__
except Exception as error:
    answer["reason"] = f"{type(error).__name__}: {error}"
try:
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations if spec else ()):
        for folder, _, names in os.walk(root):
            answer["nvrtc"] += [os.path.join(folder, name) for name in names
                                if name.startswith("libnvrtc.so")]
except Exception:
    pass
print(")py" NOVAPHY_ANSWER_MARK R"py(" + json.dumps(answer))
)py";

constexpr const char* kAboutExtension = R"py(
import importlib, importlib.machinery, importlib.util, json, os, sys
question = json.loads(sys.argv[1])
module, name, folder = question["module"], question["extension"], question["folder"]

def said(text=""):
    print(")py" NOVAPHY_ANSWER_MARK R"py(" + json.dumps({"text": text}), flush=True)
    sys.exit(0)

def extension():
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        path = os.path.join(folder, name + suffix)
        if os.path.exists(path):
            spec = importlib.util.spec_from_file_location(name, path)
            loaded = importlib.util.module_from_spec(spec)
            sys.modules[name] = loaded
            spec.loader.exec_module(loaded)
            return loaded
    return importlib.import_module(name)

from novaphy import plugins
others = [os.path.dirname(os.path.dirname(manifest)) for manifest in question["manifests"]]
options = {"paths": [os.path.dirname(folder), *others], "allow_writable": question["allow_writable"]}
if question["config"]:
    options["config"] = question["config"]
if question["mode"] == "refuses":
    plugins.configure(disable=[module], **options)
    try:
        extension()
    except ImportError as error:
        missing = getattr(error, "name", None)
        if isinstance(error, ModuleNotFoundError) and missing and (name + ".").startswith(missing + "."):
            said(f"{name} cannot be found, neither as a file in {folder} nor as a module that can be "
                 "imported; build it, or correct 'python' in the manifest")
        reasons, at = [], error
        while at is not None:  # pybind11 raises "initialization failed" from what happened
            reasons.append(str(at))
            at = at.__cause__
        if any(module in reason for reason in reasons):
            said()
        said(f"while module '{module}' is disabled the import of {name} fails without naming it: {error}; "
             "define the extension with NOVAPHY_PYTHON_MODULE")
    except BaseException as error:
        said(f"while module '{module}' is disabled the import of {name} raises {type(error).__name__} "
             f"instead of ImportError: {error}; define the extension with NOVAPHY_PYTHON_MODULE")
    said(f"{name} can be imported while module '{module}' is disabled; define it with NOVAPHY_PYTHON_MODULE")
plugins.configure(**options)
try:
    plugins.load(module)
    loaded = extension()
except Exception as error:
    said(f"{name} cannot be imported: {type(error).__name__}: {error}")
for public, names in question["exports"].items():
    missing = [attribute for attribute in names if not hasattr(loaded, attribute)]
    if missing:
        said(f"{name} has no {', '.join(missing)}, which the manifest exports to {public}")
    if public.startswith("novaphy."):
        for attribute in names:
            try:
                getattr(importlib.import_module(public), attribute)
            except Exception as error:
                said(f"{public}.{attribute} raises {type(error).__name__}: {error}")
said()
)py";

/// A file of that name in one of the folders of PATH.
fs::path on_path(const std::string& name) {
  std::istringstream folders(platform::environment("PATH").value_or(""));
  std::error_code error;
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder) / name;
    if (candidate.is_absolute() && fs::exists(candidate, error) && !fs::is_directory(candidate, error))
      return candidate;
  }
  return {};
}

/// The folder that PYTHONPATH must name for the package of this program: <build>/python beside <build>/bin,
/// or the folder that holds the package in which this program lies.
fs::path folder_of_package() {
  const fs::path bin = platform::own_program().parent_path();
  std::error_code error;
  for (const fs::path& folder : {bin.parent_path() / "python", bin.parent_path().parent_path()})
    if (fs::exists(folder / "novaphy" / "__init__.py", error)) return folder;
  return {};
}

/// The answer of a script, or null with what went wrong in `reason`.
json ask(const PythonFound& python, const char* script, const std::vector<std::string>& arguments,
         double limit, std::string& reason) {
  platform::ChildCommand command;
  command.program = python.program;
  command.arguments = {"-c", script};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.environment = python.environment;
  command.limit = std::chrono::milliseconds(static_cast<long>(1e3 * limit));
  const platform::ChildResult result = platform::run_child(command);
  const std::size_t at = result.output.rfind(NOVAPHY_ANSWER_MARK);
  if (result.exit_code == 0 && at != std::string::npos)
    return json::parse(result.output.substr(at + std::string_view(NOVAPHY_ANSWER_MARK).size()), nullptr,
                       false);
  reason =
      result.start_error.empty() ? "Python " + result.ending() : "cannot be started: " + result.start_error;
  if (const std::string words = result.last_words(); !words.empty()) reason += "; it said: " + words;
  return nullptr;
}

}  // namespace

PythonFound find_python(const std::string& wanted, double limit) {
  PythonFound out;
  fs::path program =
      wanted.empty() ? fs::path(platform::environment("NOVAPHY_PYTHON").value_or("")) : fs::path(wanted);
  if (program.empty()) program = on_path("python3");
  if (!program.empty() && !program.has_parent_path()) program = on_path(program.string());
  if (program.empty()) {
    out.reason = "no python3 on PATH; name one with --python or NOVAPHY_PYTHON";
    return out;
  }
  out.program = fs::absolute(program).lexically_normal();  // a virtual environment is known by its links
  if (const fs::path package = folder_of_package(); !package.empty()) {
    const std::string before = platform::environment("PYTHONPATH").value_or("");
    out.environment = {{"PYTHONPATH", package.string() + (before.empty() ? "" : ":" + before)}};
  }
  const json answer = ask(out, kAboutItself, {}, limit, out.reason);
  if (!answer.is_object()) {
    out.reason = out.program + " " + out.reason;
    return out;
  }
  out.version = answer.value("version", "");
  out.package = answer.value("package", "");
  out.package_version = answer.value("package_version", "");
  out.nvrtc = answer.value("nvrtc", std::vector<std::string>());
  if (out.package.empty())
    out.reason = out.program + " cannot import novaphy: " + answer.value("reason", "") +
                 "; name another with --python or NOVAPHY_PYTHON";
  return out;
}

Outcome ask_python_about_extension(const PythonFound& python, const json& question, double limit) {
  std::string reason;
  const json answer = ask(python, kAboutExtension, {question.dump()}, limit, reason);
  if (!answer.is_object()) return Outcome::failure(reason);
  const std::string text = answer.value("text", "");
  return text.empty() ? Outcome{} : Outcome::failure(text);
}

}  // namespace novaphy::host
