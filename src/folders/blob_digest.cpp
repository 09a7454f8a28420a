#include "folders/blob_digest.h"

#include <algorithm>

#include "alate/error.h"
#include "base/files/mapped_file.h"

namespace alate::folders {
namespace {

constexpr std::size_t kSha256Digits = 64, kSha1Digits = 40;

}  // namespace

bool is_blob_digest(std::string_view text) {
  return (text.size() == kSha256Digits || text.size() == kSha1Digits) &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::optional<BlobDigest> BlobDigest::create(std::string_view expected, std::uint64_t bytes) {
  if (!is_blob_digest(expected)) return std::nullopt;
  if (expected.size() == kSha256Digits) return BlobDigest(base::Sha256());
  base::Sha1 sum;
  const std::string head = "blob " + std::to_string(bytes);
  sum.add(std::as_bytes(std::span(head.c_str(), head.size() + 1)));
  return BlobDigest(sum);
}

void BlobDigest::add(std::span<const std::byte> bytes) {
  std::visit([&](auto& sum) { sum.add(bytes); }, sum_);
}

std::string BlobDigest::finish() {
  return std::visit([](auto& sum) { return sum.finish(); }, sum_);
}

std::string digest_of_file(const std::filesystem::path& file, std::string_view expected) {
  const auto mapped = base::MappedFile::open(file, base::MappedFile::Mode::read);
  std::optional<BlobDigest> digest = BlobDigest::create(expected, mapped->bytes().size());
  if (!digest) throw make_error(ErrorCode::internal, "no digest of a known kind: ", expected);
  digest->add(mapped->bytes());
  return digest->finish();
}

}  // namespace alate::folders
