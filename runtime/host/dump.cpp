// SPDX-License-Identifier: Apache-2.0
#include "dump.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "novaphy_commit.hpp"

namespace novaphy::host {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

const char* extension(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return ".f32";
    case DType::i32:
      return ".i32";
    case DType::u32:
      return ".u32";
    case DType::u8:
      return ".u8";
  }
  return ".raw";
}

void write_file(const fs::path& path, const char* data, std::size_t size) {
  std::ofstream out(path, std::ios::binary);
  out.write(data, static_cast<std::streamsize>(size));
  out.close();
  NOVAPHY_REQUIRE(out, ErrorKind::generic, "cannot write ", path.string(),
                  "; is the folder writable and the disk not full?");
}

json provenance(const DumpOrigin& origin, const Runtime& runtime, const Common& common) {
  json plugins = json::object();
  for (const ReportRow& row : runtime.report())
    if (row.state == PluginState::loaded) plugins[row.module] = row.version;
  return {{"version", Runtime::version()},   {"commit", kCommit},
          {"platform", Runtime::platform()}, {"plugins", plugins},
          {"command", common.command},       {"demo", origin.demo},
          {"iterations", origin.iterations}};
}

}  // namespace

void dump_arrays(const fs::path& folder, const std::vector<DemoArray>& arrays, const DumpOrigin& origin,
                 const Runtime& runtime, const Common& common) {
  std::error_code error;
  fs::create_directories(folder, error);
  NOVAPHY_REQUIRE(!error, ErrorKind::generic, "cannot make the folder ", folder.string(), ": ",
                  error.message());
  json described = json::object();
  for (const DemoArray& item : arrays) {
    const std::string file = item.name + extension(item.array.dtype());
    NOVAPHY_REQUIRE(item.array.device().is_cpu(), ErrorKind::device_mismatch, "array '", item.name,
                    "' lies on ", to_string(item.array.device()),
                    "; a demo must hand the host arrays on the CPU");
    const auto* bytes =
        item.array.storage() ? static_cast<const char*>(item.array.storage()->data()) : nullptr;
    write_file(folder / file, bytes, item.array.bytes());
    const auto extents = item.array.shape().extents();
    described[item.name] = {{"file", file},
                            {"shape", std::vector<std::int64_t>(extents.begin(), extents.end())},
                            {"dtype", to_string(item.array.dtype())}};
  }
  const json out = {{"arrays", described}, {"provenance", provenance(origin, runtime, common)}};
  const std::string text = printed(out);
  write_file(folder / "states.json", text.data(), text.size());
}

}  // namespace novaphy::host
