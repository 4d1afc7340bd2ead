// SPDX-License-Identifier: Apache-2.0
#include "platform/host/elf_file.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "platform/files.hpp"
#include "platform/processor_name.hpp"

namespace novaphy::platform {
namespace {

#if defined(__x86_64__)
constexpr int kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr int kMachine = EM_AARCH64;
#else
constexpr int kMachine = EM_NONE;
#endif
constexpr std::uintmax_t kLargest = std::uintmax_t{1} << 30;

/// The bytes of a file; every read is checked against its end.
class Bytes {
 public:
  explicit Bytes(std::string bytes) : bytes_(std::move(bytes)) {}

  template <class T>
  T at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) throw ElfError{"is cut off"};
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  /// The text that begins at `offset` and ends at a NUL before `end`.
  std::string text(std::uint64_t offset, std::uint64_t end) const {
    end = std::min<std::uint64_t>(end, bytes_.size());
    if (offset >= end) throw ElfError{"is cut off"};
    const std::size_t stop = bytes_.find('\0', offset);
    return bytes_.substr(offset, std::min<std::uint64_t>(stop, end) - offset);
  }

 private:
  std::string bytes_;
};

Elf64_Ehdr read_header(const Bytes& file) {
  const auto header = file.at<Elf64_Ehdr>(0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    throw ElfError{"is built for another kind of machine (32 bits, or big-endian)"};
  if (header.e_machine != kMachine)
    throw ElfError{"is built for " + processor_name(header.e_machine) + ", this is " + processor_name(kMachine)};
  if (header.e_type != ET_DYN) throw ElfError{"is no shared library"};
  if (header.e_shnum > 0 && header.e_shentsize != sizeof(Elf64_Shdr)) throw ElfError{"is cut off"};
  return header;
}

std::vector<Elf64_Shdr> read_sections(const Bytes& file) {
  const Elf64_Ehdr header = read_header(file);
  std::vector<Elf64_Shdr> out;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i)
    out.push_back(file.at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)));
  return out;
}

const Elf64_Shdr& section_of_strings(const std::vector<Elf64_Shdr>& sections, const Elf64_Shdr& section) {
  if (section.sh_link >= sections.size()) throw ElfError{"is cut off"};
  return sections[section.sh_link];
}

void read_dynamic(const Bytes& file, const Elf64_Shdr& section, const Elf64_Shdr& strings, ElfFile& out) {
  for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= section.sh_size; at += sizeof(Elf64_Dyn)) {
    const auto entry = file.at<Elf64_Dyn>(section.sh_offset + at);
    if (entry.d_tag == DT_NULL) return;
    if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_RPATH && entry.d_tag != DT_RUNPATH) continue;
    const std::string text =
        file.text(strings.sh_offset + entry.d_un.d_val, strings.sh_offset + strings.sh_size);
    if (entry.d_tag == DT_NEEDED) {
      out.needed.push_back(text);
    } else {
      std::istringstream folders(text);
      for (std::string folder; std::getline(folders, folder, ':');) out.search_paths.push_back(folder);
    }
  }
}

void read_symbols(const Bytes& file, const Elf64_Shdr& section, const Elf64_Shdr& strings, ElfFile& out) {
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
    const auto symbol = file.at<Elf64_Sym>(section.sh_offset + at);
    const int binding = ELF64_ST_BIND(symbol.st_info), visibility = ELF64_ST_VISIBILITY(symbol.st_other);
    if (symbol.st_shndx == SHN_UNDEF || binding == STB_LOCAL) continue;
    if (visibility != STV_DEFAULT && visibility != STV_PROTECTED) continue;
    out.exports.push_back(
        {file.text(strings.sh_offset + symbol.st_name, strings.sh_offset + strings.sh_size), binding != STB_GLOBAL});
  }
}

}  // namespace

ElfFile read_elf(const std::filesystem::path& path) {
  FileText text = read_file(path, kLargest);
  if (!text.error.empty()) throw ElfError{"cannot be read: " + text.error};
  if (!text.text.starts_with(ELFMAG)) throw ElfError{"is no ELF file"};
  const Bytes file(std::move(text.text));
  const std::vector<Elf64_Shdr> sections = read_sections(file);
  ElfFile out;
  bool is_dynamic = false;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type == SHT_DYNAMIC) {
      read_dynamic(file, section, section_of_strings(sections, section), out);
      is_dynamic = true;
    } else if (section.sh_type == SHT_DYNSYM) {
      read_symbols(file, section, section_of_strings(sections, section), out);
    }
  }
  if (!is_dynamic) throw ElfError{"has no dynamic section"};
  return out;
}

}  // namespace novaphy::platform
