#include "server/sharded_lru.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace prism::server {
namespace {

using Lru = ShardedLru<int>;

std::shared_ptr<const int> Value(int value) {
  return std::make_shared<const int>(value);
}

TEST(ShardedLruTest, FindsWhatWasInserted) {
  Lru lru(16000);
  lru.Insert("a", Value(1), 10);
  ASSERT_NE(lru.Find("a"), nullptr);
  EXPECT_EQ(*lru.Find("a"), 1);
}

TEST(ShardedLruTest, UnknownKeyIsNull) {
  EXPECT_EQ(Lru(16000).Find("a"), nullptr);
}

TEST(ShardedLruTest, InsertingAgainReplacesTheValueAndItsCharge) {
  Lru lru(16000);
  lru.Insert("a", Value(1), 10);
  EXPECT_EQ(lru.Insert("a", Value(2), 30), 0);
  EXPECT_EQ(*lru.Find("a"), 2);
  EXPECT_EQ(lru.bytes(), 30u);
  EXPECT_EQ(lru.entries(), 1u);
}

TEST(ShardedLruTest, BytesStayWithinTheCapacity) {
  Lru lru(16000);
  for (int i = 0; i < 5000; ++i) {
    lru.Insert(std::to_string(i), Value(i), 100);
    ASSERT_LE(lru.bytes(), 16000u);
  }
  EXPECT_GT(lru.entries(), 100u);
}

TEST(ShardedLruTest, EvictionsAreCounted) {
  Lru lru(16 * 100);
  int evicted = 0;
  for (int i = 0; i < 100; ++i) {
    evicted += lru.Insert(std::to_string(i), Value(i), 100);
  }
  EXPECT_EQ(evicted, 100 - static_cast<int>(lru.entries()));
}

TEST(ShardedLruTest, WhatWasUsedLatelyStays) {
  Lru lru(16 * 1000);
  lru.Insert("hot", Value(-1), 100);
  for (int i = 0; i < 1000; ++i) {
    lru.Insert(std::to_string(i), Value(i), 100);
    ASSERT_NE(lru.Find("hot"), nullptr) << i;
  }
}

TEST(ShardedLruTest, TooLargeAValueIsNotKept) {
  Lru lru(1600);
  lru.Insert("a", Value(1), 101);
  EXPECT_EQ(lru.Find("a"), nullptr);
  EXPECT_EQ(lru.bytes(), 0u);
}

TEST(ShardedLruTest, TooLargeAReplacementDropsTheOldValue) {
  Lru lru(1600);
  lru.Insert("a", Value(1), 10);
  lru.Insert("a", Value(2), 101);
  EXPECT_EQ(lru.Find("a"), nullptr);
}

TEST(ShardedLruTest, ErasedKeyIsGone) {
  Lru lru(16000);
  lru.Insert("a", Value(1), 10);
  EXPECT_TRUE(lru.Erase("a"));
  EXPECT_FALSE(lru.Erase("a"));
  EXPECT_EQ(lru.Find("a"), nullptr);
  EXPECT_EQ(lru.bytes(), 0u);
}

TEST(ShardedLruTest, ManyThreadsKeepTheBound) {
  Lru lru(16000);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&lru, t] {
      for (int i = 0; i < 2000; ++i) {
        const std::string key = std::to_string((i * 7 + t) % 300);
        if (auto found = lru.Find(key)) {
          EXPECT_EQ(std::to_string(*found), key);
        }
        lru.Insert(key, Value(std::stoi(key)), 100);
      }
    });
  }
  threads.clear();
  EXPECT_LE(lru.bytes(), 16000u);
}

}  // namespace
}  // namespace prism::server
