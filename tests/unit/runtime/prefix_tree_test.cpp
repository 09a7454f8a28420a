// Pages, their readers, and the prefixes that are found again.
#include "runtime/decoding/prefix_tree.h"

#include <numeric>

#include "step_testing.h"

namespace alate::runtime {
namespace {

class PrefixTreeTest : public StepTest {
 protected:
  // `count` pages, with the caller as their reader.
  TokenIds take(std::size_t count) {
    TokenIds pages(count);
    for (std::int32_t& page : pages) page = store_.take();
    return pages;
  }
  void release(const TokenIds& pages) {
    for (const std::int32_t page : pages) store_.remove_reader(page);
  }

  PageStore store_{program_, 16};
  PrefixTree tree_{store_};
};

TEST_F(PrefixTreeTest, FindsTheLongestPrefix) {
  const TokenIds ids = random_ids(80, 1), pages = take(3);
  TokenIds kept = pages;
  tree_.keep(ids, kept);
  EXPECT_EQ(kept, pages);
  const PrefixTree::Match whole = tree_.find(ids);
  EXPECT_EQ(whole.pages, TokenIds({pages[0], pages[1]}));
  EXPECT_EQ(whole.partial, pages[2]);
  EXPECT_EQ(whole.tokens(), 80U);
  // In the middle of a full page, and of the last one.
  TokenIds other = ids;
  other[40] ^= 1;
  EXPECT_EQ(tree_.find(other).tokens(), 40U);
  EXPECT_EQ(tree_.find(other).partial, pages[1]);
  other = ids;
  other[70] ^= 1;
  EXPECT_EQ(tree_.find(other).tokens(), 70U);
  EXPECT_EQ(tree_.find(std::span(ids).first(64)).tokens(), 64U);
  EXPECT_EQ(tree_.find({}).tokens(), 0U);
  other[0] ^= 1;
  EXPECT_EQ(tree_.find(other).tokens(), 0U);
}

TEST_F(PrefixTreeTest, SequencesWithTheSamePrefixGetTheSamePages) {
  const TokenIds ids = random_ids(80, 1);
  TokenIds first = take(3), second = take(3);
  tree_.keep(ids, first);
  TokenIds longer = ids;
  longer.resize(90, 5);
  tree_.keep(longer, second);
  EXPECT_EQ(TokenIds({second[0], second[1]}), TokenIds({first[0], first[1]}));
  EXPECT_NE(second[2], first[2]);
  // The shorter of two last pages is found no more.
  EXPECT_EQ(tree_.size(), 3U);
  EXPECT_EQ(tree_.find(ids).partial, second[2]);
  release(first);
  release(second);
  EXPECT_EQ(store_.idle(), 3U);
  EXPECT_EQ(store_.unused(), store_.allocated() - 3);
}

TEST_F(PrefixTreeTest, DropsTheOldestIdlePage) {
  TokenIds first = take(2), second = take(1), third = take(1);
  const TokenIds of_first = random_ids(64, 1), of_second = random_ids(32, 2), of_third = random_ids(32, 3);
  tree_.keep(of_first, first);
  tree_.keep(of_second, second);
  tree_.keep(of_third, third);
  EXPECT_FALSE(tree_.evict());  // all are in use
  release(first);
  release(third);
  (void)tree_.find(of_first);
  EXPECT_TRUE(tree_.evict());
  EXPECT_EQ(tree_.find(of_third).tokens(), 0U);
  EXPECT_TRUE(tree_.evict());
  EXPECT_EQ(tree_.find(of_first).tokens(), 32U);  // the end goes first
  EXPECT_TRUE(tree_.evict());
  EXPECT_FALSE(tree_.evict());
  EXPECT_EQ(tree_.find(of_second).tokens(), 32U);
  release(second);
  EXPECT_EQ(store_.idle(), 1U);
}

TEST_F(PrefixTreeTest, ForgetsAPageThatIsNotFull) {
  TokenIds pages = take(2);
  const TokenIds ids = random_ids(40, 1);
  tree_.keep(ids, pages);
  tree_.forget(pages[0]);  // full ones are never written again
  EXPECT_EQ(tree_.find(ids).tokens(), 40U);
  tree_.forget(pages[1]);
  EXPECT_EQ(tree_.find(ids).tokens(), 32U);
}

TEST_F(PrefixTreeTest, PagesKeepTheirValuesWhenTheCacheGrows) {
  const std::int32_t page = store_.take();
  const auto values = [&](std::int32_t of) {
    Tensor& tensor = store_.cache().tensors.front();
    const std::size_t bytes = tensor.byte_count() / static_cast<std::size_t>(store_.cache().pages);
    return tensor.mutable_bytes().subspan(static_cast<std::size_t>(of) * bytes, bytes);
  };
  std::ranges::fill(values(page), std::byte{7});
  TokenIds others = take(12);
  EXPECT_GT(store_.allocated(), 8U);
  EXPECT_EQ(values(page).back(), std::byte{7});
  std::ranges::fill(values(others[0]), std::byte{1});
  store_.copy(page, others[0], 1);
  EXPECT_EQ(values(others[0]).front(), std::byte{7});
  EXPECT_EQ(values(others[0]).back(), std::byte{1});
  (void)take(3);
  EXPECT_EQ(store_.available(), 0U);
  const Error error = base::error_of([&] { (void)store_.take(); });
  EXPECT_EQ(error.code(), ErrorCode::resource_exhausted);
  EXPECT_NE(error.message().find("has 16 pages of 32 tokens"), std::string::npos) << error.message();
}

}  // namespace
}  // namespace alate::runtime
