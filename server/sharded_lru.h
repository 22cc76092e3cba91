// ShardedLru: a map that forgets what was used least lately, bounded in bytes.
//
// Sixteen shards, each with its own lock, list and share of the capacity, as
// in LevelDB's cache: callers on different keys seldom meet. Values are shared
// and immutable, so an entry that is evicted lives on for whoever holds it.
// Thread-safe.
#ifndef PRISM_SERVER_SHARDED_LRU_H_
#define PRISM_SERVER_SHARDED_LRU_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace prism::server {

template <typename Value>
class ShardedLru {
 public:
  static constexpr int kShards = 16;

  explicit ShardedLru(size_t capacity_bytes)
      : shard_capacity_(capacity_bytes / kShards) {}

  // Null if the key is not there. A hit becomes the most recently used.
  std::shared_ptr<const Value> Find(std::string_view key) {
    Shard& shard = ShardOf(key);
    std::lock_guard lock(shard.mutex);
    auto found = shard.index.find(key);
    if (found == shard.index.end()) return nullptr;
    shard.recency.splice(shard.recency.begin(), shard.recency, found->second);
    return found->second->value;
  }

  // Keeps `value` and charges `charge_bytes` for it, in place of what was kept
  // under `key`. A value larger than a shard is not kept. Returns how many
  // other entries had to go.
  int Insert(std::string key, std::shared_ptr<const Value> value,
             size_t charge_bytes) {
    Shard& shard = ShardOf(key);
    std::lock_guard lock(shard.mutex);
    RemoveLocked(shard, key);
    if (charge_bytes > shard_capacity_) return 0;
    int evicted = 0;
    while (shard.bytes + charge_bytes > shard_capacity_) {
      RemoveLocked(shard, shard.recency.back().key);
      ++evicted;
    }
    shard.recency.push_front({std::move(key), std::move(value), charge_bytes});
    shard.index.emplace(shard.recency.front().key, shard.recency.begin());
    shard.bytes += charge_bytes;
    bytes_ += charge_bytes;
    ++entries_;
    return evicted;
  }

  // True if the key was there.
  bool Erase(std::string_view key) {
    Shard& shard = ShardOf(key);
    std::lock_guard lock(shard.mutex);
    return RemoveLocked(shard, key);
  }

  // Never above the capacity.
  size_t bytes() const { return bytes_; }
  size_t entries() const { return entries_; }

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const Value> value;
    size_t charge_bytes;
  };
  using Recency = std::list<Entry>;  // most recent first

  struct Shard {
    std::mutex mutex;
    Recency recency;
    // Keys point into `recency`.
    std::unordered_map<std::string_view, typename Recency::iterator> index;
    size_t bytes = 0;
  };

  Shard& ShardOf(std::string_view key) {
    // The high bits: the map inside the shard uses the low ones.
    return shards_[std::hash<std::string_view>()(key) >> 60];
  }

  bool RemoveLocked(Shard& shard, std::string_view key) {
    auto found = shard.index.find(key);
    if (found == shard.index.end()) return false;
    auto entry = found->second;
    shard.index.erase(found);
    shard.bytes -= entry->charge_bytes;
    bytes_ -= entry->charge_bytes;
    --entries_;
    shard.recency.erase(entry);
    return true;
  }

  const size_t shard_capacity_;
  std::array<Shard, kShards> shards_;
  std::atomic<size_t> bytes_{0};
  std::atomic<size_t> entries_{0};
};

}  // namespace prism::server

#endif  // PRISM_SERVER_SHARDED_LRU_H_
