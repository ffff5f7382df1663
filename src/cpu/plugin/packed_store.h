// PackedStore: what plans have packed of their weights, kept in a folder for other processes.
#pragma once

#include "base/packed_folder.h"
#include "cpu/kernels/contents_digest.h"
#include "cpu/plugin/packed_file.h"
#include "pjrt_server/program.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace torchere::cpu {

/// What is stored, or looked for.
struct PackedSubject {
  std::string name;  ///< of the program, for people
  Digest::Value key; ///< of all that the sections depend on but most of the weights' contents
  std::vector<std::span<const std::byte>> weights; ///< their contents
  std::vector<int64_t> sizes;                      ///< of the sections
};

/// Files are named by their subject's key. Whether one was packed from the same weights is told by a digest
/// of all of their contents, whose seed is the file's own: nobody can have made other weights to meet it.
/// Errors stop nothing: without a file, weights are packed.
class PackedStore {
public:
  PackedStore(std::filesystem::path folder, uint64_t limit = defaultPackedLimit);

  /// The store that the client's options choose, or else TORCHERE_CPU_PACKED_CACHE and
  /// TORCHERE_CPU_PACKED_CACHE_SIZE; null if none is asked for. Invalid values of variables are logged and
  /// ignored. One for all programs with equal options.
  static std::shared_ptr<PackedStore> choose(const pjrt_server::ClientOptions &options);

  /// Sections in a file that is mapped as long as this lives.
  struct Mapped {
    std::shared_ptr<const MappedFile> file;
    std::vector<const std::byte *> sections;
  };
  /// Null if there is no such file, or if it was packed from other weights. A damaged one is removed.
  std::unique_ptr<const Mapped> load(const PackedSubject &subject, const Context &context);
  /// Replaces the file of the subject's key, if there is one.
  void store(const PackedSubject &subject, std::span<const std::span<const std::byte>> sections,
             const Context &context);

private:
  Result<std::unique_ptr<const Mapped>> map(const PackedSubject &subject, const Context &context) const;
  Status write(const PackedSubject &subject, std::span<const std::span<const std::byte>> sections,
               const Context &context);

  CacheFolder files;
};

} // namespace torchere::cpu
