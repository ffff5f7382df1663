// npy: numpy's array file (format versions 1.0, 2.0 and 3.0), its header read from bytes and written.
// Format: numpy/lib/format.py, documented in NEP 1.
#include "base/npy.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace torchere {

static constexpr std::string_view magic = "\x93NUMPY";
static constexpr size_t alignment = 64;
static constexpr size_t headerLimit = 1 << 20; // bytes of the dictionary
static constexpr size_t rankLimit = 64;        // numpy's own

namespace {

/// Reads the Python dictionary of a header: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
class DictionaryReader {
public:
  DictionaryReader(std::string_view text, std::string_view subject) : rest(text), subject(subject) {}

  Result<NpyHeader> read() {
    NpyHeader header;
    bool hasDescr = false, hasOrder = false, hasShape = false;
    TORCHERE_TRY(expect('{'));
    while (!accept('}')) {
      TORCHERE_ASSIGN(std::string_view key, quoted("a key"));
      TORCHERE_TRY(expect(':'));
      if (key == "descr" && !hasDescr) {
        TORCHERE_ASSIGN(header.descr, descr());
        hasDescr = true;
      } else if (key == "fortran_order" && !hasOrder) {
        TORCHERE_ASSIGN(header.fortranOrder, boolean());
        hasOrder = true;
      } else if (key == "shape" && !hasShape) {
        TORCHERE_ASSIGN(header.shape, shape());
        hasShape = true;
      } else {
        return wrong("got the key '{}', expected 'descr', 'fortran_order' and 'shape', once each", key);
      }
      if (!accept(',')) {
        TORCHERE_TRY(expect('}'));
        break;
      }
    }
    skipSpace();
    if (!rest.empty())
      return wrong("something follows the dictionary: \"{}\"", rest.substr(0, 20));
    if (!hasDescr || !hasOrder || !hasShape)
      return wrong("the key '{}' is missing", !hasDescr ? "descr" : !hasOrder ? "fortran_order" : "shape");
    return header;
  }

private:
  template <class... Args>
  tl::unexpected<Error> wrong(fmt::format_string<Args...> format, Args &&...args) const {
    return fail(ErrorCode::DataLoss, "[{}] wrong npy header: {}", subject,
                fmt::format(format, std::forward<Args>(args)...));
  }
  void skipSpace() { rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size())); }
  bool accept(char wanted) {
    skipSpace();
    if (rest.empty() || rest.front() != wanted)
      return false;
    rest.remove_prefix(1);
    return true;
  }
  Status expect(char wanted) {
    if (!accept(wanted))
      return wrong("got \"{}\", expected '{}'", rest.substr(0, 20), wanted);
    return {};
  }
  Result<std::string_view> quoted(std::string_view what) {
    skipSpace();
    char quote = rest.empty() ? '\0' : rest.front();
    size_t end = quote == '\'' || quote == '"' ? rest.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos)
      return wrong("got \"{}\", expected {} in quotes", rest.substr(0, 20), what);
    std::string_view text = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    return text;
  }
  Result<std::string> descr() {
    skipSpace();
    if (!rest.empty() && (rest.front() == '[' || rest.front() == '('))
      return invalidArgument("[{}] has a structured type, expected a plain one", subject);
    TORCHERE_ASSIGN(std::string_view text, quoted("a type"));
    return std::string(text);
  }
  Result<bool> boolean() {
    skipSpace();
    for (bool value : {false, true})
      if (std::string_view word = value ? "True" : "False"; rest.starts_with(word)) {
        rest.remove_prefix(word.size());
        return value;
      }
    return wrong("got \"{}\", expected True or False", rest.substr(0, 20));
  }
  Result<std::vector<int64_t>> shape() {
    std::vector<int64_t> sizes;
    TORCHERE_TRY(expect('('));
    while (!accept(')')) {
      int64_t size = 0;
      skipSpace();
      auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
      if (error != std::errc() || size < 0)
        return wrong("got the size \"{}\", expected an integer of at least 0",
                     rest.substr(0, rest.find(',')));
      if (sizes.size() == rankLimit)
        return wrong("too many dimensions: expected at most {}", rankLimit);
      sizes.push_back(size);
      rest.remove_prefix(static_cast<size_t>(end - rest.data()));
      if (!accept(',')) {
        TORCHERE_TRY(expect(')'));
        break;
      }
    }
    return sizes;
  }

  std::string_view rest;
  std::string_view subject;
};

} // namespace

/// The bytes of an element of the type `descr`: a byte order, a kind, and the size in digits.
static Result<size_t> itemSizeOf(std::string_view descr, std::string_view subject) {
  size_t size = 0;
  bool wellFormed = descr.size() >= 3 && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
  if (wellFormed) {
    auto [end, error] = std::from_chars(descr.data() + 2, descr.data() + descr.size(), size);
    wellFormed = error == std::errc() && end == descr.data() + descr.size();
  }
  if (descr == "|O")
    return invalidArgument("[{}] holds pickled Python objects (type '|O'), which are not read", subject);
  if (!wellFormed || std::string_view("biufcV").find(descr[1]) == std::string_view::npos || size == 0 ||
      size > 32)
    return invalidArgument("[{}] has the type '{}', expected bools, numbers or raw bytes of at most 32",
                           subject, descr);
  if (descr[0] == '>' && size > 1)
    return invalidArgument("[{}] is big-endian (type '{}'), expected little-endian numbers", subject, descr);
  return size;
}

/// The product of the sizes times itemSize, if it and the product of the nonzero sizes fit in an int64.
static std::optional<size_t> elementCountOf(std::span<const int64_t> shape, size_t itemSize) {
  int64_t product = static_cast<int64_t>(itemSize);
  bool empty = false;
  for (int64_t size : shape) {
    if (size == 0)
      empty = true;
    else if (__builtin_mul_overflow(product, size, &product))
      return std::nullopt;
  }
  return empty ? 0 : static_cast<size_t>(product) / itemSize;
}

Result<NpyHeader> parseNpyHeader(std::span<const std::byte> file, std::string_view subject) {
  std::string_view text(reinterpret_cast<const char *>(file.data()), file.size());
  if (!text.starts_with(magic) || text.size() < 10)
    return fail(ErrorCode::DataLoss,
                "[{}] is not an npy file: it starts with other bytes, or is cut off ({} bytes)", subject,
                text.size());
  auto byte = [&](size_t index) { return static_cast<size_t>(static_cast<unsigned char>(text[index])); };
  size_t version = byte(6);
  if (version < 1 || version > 3)
    return fail(ErrorCode::Unimplemented, "[{}] npy format version {}.{}: expected 1.0, 2.0 or 3.0", subject,
                version, byte(7));
  size_t lengthBytes = version == 1 ? 2 : 4;
  size_t start = magic.size() + 2 + lengthBytes;
  size_t length = 0;
  for (size_t index = lengthBytes; index-- > 0 && start <= text.size();)
    length = length << 8 | byte(8 + index);
  if (start > text.size() || length > text.size() - start)
    return fail(ErrorCode::DataLoss, "[{}] the npy header is cut off: the file ends after {} bytes", subject,
                text.size());
  if (length > headerLimit)
    return fail(ErrorCode::ResourceExhausted,
                "[{}] the npy header is too long: got {} bytes, expected at most {}", subject, length,
                headerLimit);
  TORCHERE_ASSIGN(NpyHeader header, DictionaryReader(text.substr(start, length), subject).read());
  TORCHERE_ASSIGN(header.itemSize, itemSizeOf(header.descr, subject));
  std::optional<size_t> count = elementCountOf(header.shape, header.itemSize);
  if (!count)
    return fail(ErrorCode::DataLoss, "[{}] wrong npy header: the shape has more elements than fit in memory",
                subject);
  header.elementCount = *count;
  header.dataOffset = start + length;
  size_t present = text.size() - header.dataOffset;
  if (present != header.dataSize())
    return fail(ErrorCode::DataLoss, "[{}] wrong size of data: got {} bytes, expected {}{}", subject, present,
                header.dataSize(), present < header.dataSize() ? " (the file is cut off)" : "");
  return header;
}

std::string makeNpyHeader(DType dtype, std::span<const int64_t> shape) {
  std::string dictionary =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (", dtypeInfo(dtype).descr);
  for (size_t index = 0; index < shape.size(); ++index)
    dictionary += fmt::format("{}{}", index ? ", " : "", shape[index]);
  dictionary += shape.size() == 1 ? ",), }" : "), }"; // a tuple of one element needs its comma
  auto paddedLength = [&](size_t prefix) {
    size_t total = prefix + dictionary.size() + 1; // the dictionary ends with a newline
    return (total + alignment - 1) / alignment * alignment - prefix;
  };
  bool isLong = paddedLength(10) > std::numeric_limits<uint16_t>::max();
  size_t length = paddedLength(isLong ? 12 : 10);
  std::string header(magic);
  header += {isLong ? '\2' : '\1', '\0'};
  for (int shift = 0; shift < (isLong ? 32 : 16); shift += 8)
    header += static_cast<char>(length >> shift & 0xFF);
  header += dictionary;
  header.append(length - dictionary.size() - 1, ' ');
  return header + '\n';
}

/// "<V2" and "=V2" mean "|V2", "<u1" means "|u1", "=f4" means "<f4" on the machines that we build for.
static std::string normalizedDescr(std::string_view descr) {
  std::string result(descr);
  bool hasNoOrder = result.size() > 1 && (result[1] == 'V' || result.substr(2) == "1");
  if (!result.empty())
    result[0] = hasNoOrder ? '|' : result[0] == '=' ? '<' : result[0];
  return result;
}

Result<DType> dtypeFromDescr(std::string_view descr, std::optional<DType> named, std::string_view subject) {
  std::string normalized = normalizedDescr(descr);
  if (named) {
    const DTypeInfo &info = dtypeInfo(*named);
    if (info.descr != normalized)
      return invalidArgument("[{}] wrong dtype: got '{}', expected '{}' ({})", subject, descr, info.descr,
                             info.torchName);
    return *named;
  }
  if (normalized.size() > 1 && normalized[1] == 'V')
    return invalidArgument("[{}] holds raw bytes ('{}') and nothing names their dtype", subject, descr);
  for (int index = 0; index <= static_cast<int>(DType::F8E8M0FNU); ++index)
    if (const DTypeInfo &info = dtypeInfo(static_cast<DType>(index)); info.descr == normalized)
      return info.dtype;
  return invalidArgument("[{}] has the type '{}', which is none of torch's", subject, descr);
}

std::vector<int64_t> denseStrides(std::span<const int64_t> shape, bool fortranOrder) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t step = 0; step < shape.size(); ++step) {
    size_t index = fortranOrder ? step : shape.size() - 1 - step;
    strides[index] = stride;
    stride *= std::max<int64_t>(shape[index], 1);
  }
  return strides;
}

} // namespace torchere
