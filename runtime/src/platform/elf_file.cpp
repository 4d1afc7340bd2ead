// SPDX-License-Identifier: Apache-2.0
#include "platform/elf_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <sstream>
#include <system_error>

#include "platform/files.hpp"

namespace novaphy::platform {
namespace {

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);
using Section = ElfW(Shdr);
using Entry = ElfW(Dyn);
using Symbol = ElfW(Sym);

/// What people call the kind of processor that a library is built for.
std::string processor_of(unsigned machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_386:
      return "x86";
    case EM_AARCH64:
      return "aarch64";
    case EM_RISCV:
      return "riscv";
    default:
      return "processor " + std::to_string(machine);
  }
}

/// A part of a file that lies in memory.
class Bytes {
 public:
  explicit Bytes(std::string bytes) : bytes_(std::move(bytes)) {}

  std::size_t size() const { return bytes_.size(); }
  template <class T>
  T at(std::size_t offset) const {
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);  // the callers count by size()
    return value;
  }
  /// The text that begins at `offset` and ends at a NUL.
  std::string text(std::uint64_t offset) const {
    if (offset >= bytes_.size())
      throw ElfError{"is damaged: a name lies outside of its table", "build it again"};
    return bytes_.c_str() + offset;
  }

 private:
  std::string bytes_;
};

/// The file of a library; every read is checked against its end.
class LibraryFile {
 public:
  explicit LibraryFile(const fs::path& path) : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status {};
    if (file_ < 0 || fstat(file_, &status) != 0) {
      ElfError error{"cannot be read: " + std::generic_category().message(errno), "make it readable"};
      close(file_);
      throw error;
    }
    size_ = S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
  }
  ~LibraryFile() { close(file_); }
  LibraryFile(const LibraryFile&) = delete;
  LibraryFile& operator=(const LibraryFile&) = delete;

  std::uint64_t size() const { return size_; }
  bool has(std::uint64_t offset, std::uint64_t count) const {
    return offset <= size_ && count <= size_ - offset;
  }
  /// Throws ElfError, which names `what` when it is not all there.
  Bytes read(std::uint64_t offset, std::uint64_t count, const std::string& what) const {
    std::string out(has(offset, count) ? count : 0, '\0');
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t got =
          pread(file_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    if (done < count) throw cut_off(what);
    return Bytes(std::move(out));
  }
  ElfError cut_off(const std::string& what) const {
    return {"is cut off: it has " + std::to_string(size_) + " bytes and needs " + what,
            "copy or build it again"};
  }

 private:
  int file_;
  std::uint64_t size_ = 0;
};

/// The header of the program that runs; nothing where the system does not tell.
std::optional<Header> own_header() {
  const std::string own = read_file("/proc/self/exe", sizeof(Header)).text;
  if (own.size() < sizeof(Header)) return std::nullopt;
  return Bytes(own).at<Header>(0);
}

const char* bits_of(const Header& header) {
  return header.e_ident[EI_CLASS] == ELFCLASS32 ? "32" : "64";
}

Header read_header(const LibraryFile& file) {
  const auto header =
      file.size() < sizeof(Header) ? Header{} : file.read(0, sizeof(Header), "a header").at<Header>(0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) throw ElfError{"is no ELF library"};
  const std::optional<Header> ours = own_header();
  if (!ours) return header;
  if (header.e_ident[EI_CLASS] != ours->e_ident[EI_CLASS])
    throw ElfError{std::string("has ") + bits_of(header) + " bits, this process has " + bits_of(*ours)};
  if (header.e_ident[EI_DATA] != ours->e_ident[EI_DATA])
    throw ElfError{"has its bytes in another order than this machine"};
  if (header.e_machine != ours->e_machine)
    throw ElfError{"is built for " + processor_of(header.e_machine) + ", this is " +
                   processor_of(ours->e_machine)};
  return header;
}

/// The system's loader maps all segments whether they are there or not, and touching what is not ends the
/// process.
void check_segments(const LibraryFile& file, const Header& header) {
  if (header.e_phentsize != sizeof(Segment)) return;  // the loader says so itself
  const Bytes table = file.read(header.e_phoff, header.e_phnum * sizeof(Segment), "a table of its segments");
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = table.at<Segment>(i * sizeof(Segment));
    if (segment.p_type == PT_LOAD && !file.has(segment.p_offset, segment.p_filesz))
      throw file.cut_off("all bytes of segment " + std::to_string(i));
  }
}

std::vector<Section> read_sections(const LibraryFile& file, const Header& header) {
  if (header.e_shnum > 0 && header.e_shentsize != sizeof(Section))
    throw ElfError{"is damaged: its sections have another size than this machine's", "build it again"};
  const Bytes table = file.read(header.e_shoff, header.e_shnum * sizeof(Section), "a table of its sections");
  std::vector<Section> out;
  for (std::size_t i = 0; i < header.e_shnum; ++i) out.push_back(table.at<Section>(i * sizeof(Section)));
  return out;
}

Bytes content(const LibraryFile& file, const Section& section) {
  return file.read(section.sh_offset, section.sh_size, "all bytes of its sections");
}

/// The names that a section points to.
Bytes names_of(const LibraryFile& file, const std::vector<Section>& sections, const Section& section) {
  if (section.sh_link >= sections.size())
    throw ElfError{"is damaged: a section's names are missing", "build it again"};
  return content(file, sections[section.sh_link]);
}

void read_dynamic(const Bytes& entries, const Bytes& names, ElfFile& out) {
  for (std::size_t at = 0; at + sizeof(Entry) <= entries.size(); at += sizeof(Entry)) {
    const auto entry = entries.at<Entry>(at);
    if (entry.d_tag == DT_NULL) return;
    if (entry.d_tag == DT_NEEDED) out.needed.push_back(names.text(entry.d_un.d_val));
    if (entry.d_tag != DT_RPATH && entry.d_tag != DT_RUNPATH) continue;
    std::istringstream folders(names.text(entry.d_un.d_val));
    for (std::string folder; std::getline(folders, folder, ':');) out.search_paths.push_back(folder);
  }
}

void read_symbols(const Bytes& symbols, const Bytes& names, ElfFile& out) {
  for (std::size_t at = 0; at + sizeof(Symbol) <= symbols.size(); at += sizeof(Symbol)) {
    const auto symbol = symbols.at<Symbol>(at);
    // both classes keep binding and visibility in the same bits
    const int binding = ELF64_ST_BIND(symbol.st_info), visibility = ELF64_ST_VISIBILITY(symbol.st_other);
    if (symbol.st_shndx == SHN_UNDEF || binding == STB_LOCAL) continue;
    if (visibility != STV_DEFAULT && visibility != STV_PROTECTED) continue;
    out.exports.push_back({names.text(symbol.st_name), binding != STB_GLOBAL});
  }
}

}  // namespace

ElfFile read_elf(const fs::path& path) {
  const LibraryFile file(path);
  const Header header = read_header(file);
  check_segments(file, header);
  if (header.e_type != ET_DYN) throw ElfError{"is no shared library"};
  const std::vector<Section> sections = read_sections(file, header);
  ElfFile out;
  bool is_dynamic = false;
  for (const Section& section : sections) {
    if (section.sh_type == SHT_DYNAMIC) {
      read_dynamic(content(file, section), names_of(file, sections, section), out);
      is_dynamic = true;
    } else if (section.sh_type == SHT_DYNSYM) {
      read_symbols(content(file, section), names_of(file, sections, section), out);
    }
  }
  if (!is_dynamic) throw ElfError{"has no dynamic section", "link it as a shared library"};
  return out;
}

std::string unloadable_library(const fs::path& path) {
  try {
    const LibraryFile file(path);
    check_segments(file, read_header(file));
    return {};
  } catch (const ElfError& error) {
    return error.text + (error.remedy.empty() ? "" : "; " + error.remedy);
  }
}

}  // namespace novaphy::platform
