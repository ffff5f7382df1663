// Implements PackedStore.
#include "cpu/plugin/packed_store.h"

#include "base/log.h"

#include <chrono>
#include <map>

namespace torchere::cpu {

namespace fs = std::filesystem;

using Clock = std::chrono::steady_clock;
static double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

PackedStore::PackedStore(fs::path folder, uint64_t limit)
    : files(packedFolderKind, std::move(folder), limit) {}

std::shared_ptr<PackedStore> PackedStore::choose(const pjrt_server::ClientOptions &options) {
  // Leaked on purpose: programs may outlive static destructors.
  static auto &mutex = *new std::mutex;
  static auto &stores = *new std::map<std::pair<fs::path, uint64_t>, std::shared_ptr<PackedStore>>;
  auto [folder, limit] = PackedFolder::fromEnvironment();
  if (!options.packedCache.empty())
    folder = options.packedCache;
  if (folder.empty())
    return nullptr;
  if (options.packedCacheSize > 0)
    limit = static_cast<uint64_t>(options.packedCacheSize);
  std::lock_guard lock(mutex);
  std::shared_ptr<PackedStore> &store = stores[{folder, limit}];
  if (!store)
    store = std::make_shared<PackedStore>(folder, limit);
  return store;
}

static std::vector<std::span<const std::byte>> sectionsOf(std::span<const std::byte> file,
                                                          const std::vector<int64_t> &sizes) {
  SectionLayout layout(sizes);
  std::vector<std::span<const std::byte>> sections;
  for (size_t section = 0; section < sizes.size(); ++section)
    sections.push_back(file.subspan(layout.offsets[section], static_cast<size_t>(sizes[section])));
  return sections;
}

/// NotFound also where a file was packed from other weights.
Result<std::unique_ptr<const PackedStore::Mapped>> PackedStore::map(const PackedSubject &subject,
                                                                    const Context &context) const {
  TORCHERE_TRY(files.check());
  fs::path path = files.pathOf(subject.key);
  TORCHERE_ASSIGN(std::shared_ptr<const MappedFile> file, MappedFile::openReadOnly(path));
  uint64_t size = SectionLayout(subject.sizes).fileSize;
  TORCHERE_ASSIGN(PackedHeader header, parsePackedHeader(file->bytes(), subject.key, size, path.string()));
  ContentsDigest digest(header.seed);
  if (digest.of(context, subject.weights) != header.weights) {
    TORCHERE_LOG_LINE(Info, "cache", "[{}] was packed from other weights", path.string());
    return fail(ErrorCode::NotFound, "[{}] packed from other weights", path.string());
  }
  std::vector<std::span<const std::byte>> sections = sectionsOf(file->bytes(), subject.sizes);
  if (digest.of(context, sections) != header.sections)
    return fail(ErrorCode::DataLoss, "[{}] damaged: the digest of its contents does not fit", path.string());
  CacheFolder::touch(path);
  auto mapped = std::make_unique<Mapped>();
  mapped->file = std::move(file);
  for (std::span<const std::byte> section : sections)
    mapped->sections.push_back(section.data());
  return mapped;
}

std::unique_ptr<const PackedStore::Mapped> PackedStore::load(const PackedSubject &subject,
                                                             const Context &context) {
  auto start = Clock::now();
  Result<std::unique_ptr<const Mapped>> mapped = map(subject, context);
  if (mapped) {
    TORCHERE_LOG_LINE(Info, "cache", "[{}] mapped {} bytes of packed weights in {:.2f} ms", subject.name,
                      (*mapped)->file->bytes().size(), millisecondsSince(start));
    return *std::move(mapped);
  }
  const Error &error = mapped.error();
  if (error.code == ErrorCode::DataLoss) {
    TORCHERE_LOG_LINE(Warning, "cache", "removed: {}", error.message);
    files.remove(subject.key);
  } else if (error.code != ErrorCode::NotFound) {
    files.report(error);
  }
  return nullptr;
}

Status PackedStore::write(const PackedSubject &subject, std::span<const std::span<const std::byte>> sections,
                          const Context &context) {
  SectionLayout layout(subject.sizes);
  TORCHERE_ASSIGN(FileReplacement file, files.create(subject.key, layout.fileSize));
  PackedHeader header;
  header.key = subject.key;
  TORCHERE_ASSIGN(header.seed, ContentsDigest::randomSeed());
  ContentsDigest digest(header.seed);
  header.weights = digest.of(context, subject.weights);
  header.sections = digest.of(context, sections);
  TORCHERE_TRY(file.writer().write(makePackedHeader(header, layout.fileSize)));
  static constexpr std::byte zeros[memoryAlignment] = {};
  for (size_t section = 0; section < sections.size(); ++section) {
    TORCHERE_TRY(file.writer().write(sections[section]));
    uint64_t end = section + 1 < sections.size() ? layout.offsets[section + 1] : layout.fileSize;
    TORCHERE_TRY(file.writer().write(std::span(zeros).first(end - file.writer().size())));
  }
  return file.commit();
}

void PackedStore::store(const PackedSubject &subject, std::span<const std::span<const std::byte>> sections,
                        const Context &context) {
  auto start = Clock::now();
  Status status = write(subject, sections, context);
  if (!status)
    return files.report(status.error());
  TORCHERE_LOG_LINE(Info, "cache", "[{}] stored {} bytes of packed weights in {:.2f} ms", subject.name,
                    SectionLayout(subject.sizes).fileSize, millisecondsSince(start));
}

} // namespace torchere::cpu
