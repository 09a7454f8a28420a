// Streaming downloads of files from the web.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "hub/http/http_url.h"

namespace alate::hub {

struct DownloadOptions {
  std::uint64_t max_bytes = std::uint64_t{1} << 30;
  std::chrono::milliseconds timeout{60000};  // without any progress
  std::string accept = "*/*";
  int most_redirects = 8;
};

struct Download {
  HttpUrl url;  // after redirects
  std::string content_type;
  std::uint64_t bytes = 0;
};

/// Receives pieces of the file in order. `total` is 0 if the server does not state it.
using DownloadSink = std::function<void(std::span<const std::byte> piece, std::uint64_t total)>;

/// GETs the file and passes its bytes to `sink`; follows redirects, from https only to https. Throws not_found for 404
/// and 410, unauthenticated for 401 and 403, unavailable for other statuses and network failures, deadline_exceeded,
/// resource_exhausted for more than `max_bytes`, and whatever `sink` throws.
Download download(const HttpUrl& url, const DownloadOptions& options, const DownloadSink& sink);

/// The contents of a small file.
struct DownloadedText {
  Download facts;
  std::string text;
};
DownloadedText download_text(const HttpUrl& url, const DownloadOptions& options);

}  // namespace alate::hub
