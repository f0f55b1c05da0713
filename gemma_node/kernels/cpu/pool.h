// Copyright 2026 The gemma_node authors
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.
// Threads that run one function together and meet at barriers.
//
// The calling thread is thread 0. Helpers spin shortly for the next call and then sleep, so an
// idle engine costs nothing.

#ifndef GEMMA_NODE__KERNELS__CPU__POOL_H_
#define GEMMA_NODE__KERNELS__CPU__POOL_H_

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

class Pool
{
public:
  using Work = void (*)(void * context, int thread);

  explicit Pool(int threads)
  : threads_(threads < 1 ? 1 : threads)
  {
    for (int thread = 1; thread < threads_; ++thread) {
      helpers_.emplace_back([this, thread] {serve(thread);});
    }
  }

  ~Pool()
  {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      is_over_ = true;
      ++call_;
    }
    wake_.notify_all();
    for (std::thread & helper : helpers_) {
      helper.join();
    }
  }

  Pool(const Pool &) = delete;
  Pool & operator=(const Pool &) = delete;

  int size() const {return threads_;}

  void run(Work work, void * context)
  {
    if (threads_ > 1) {
      {
        std::lock_guard<std::mutex> lock(mutex_);
        work_ = work;
        context_ = context;
        running_.store(threads_ - 1, std::memory_order_relaxed);
        call_.fetch_add(1, std::memory_order_release);
      }
      wake_.notify_all();
    }
    work(context, 0);
    for (int spins = 0; running_.load(std::memory_order_acquire); ++spins) {
      pause(spins);
    }
  }

  // Wait until all threads of the running call are here.
  void meet()
  {
    if (threads_ == 1) {
      return;
    }
    const unsigned phase = phase_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) == threads_ - 1) {
      arrived_.store(0, std::memory_order_relaxed);
      phase_.fetch_add(1, std::memory_order_release);
      return;
    }
    for (int spins = 0; phase_.load(std::memory_order_acquire) == phase; ++spins) {
      pause(spins);
    }
  }

private:
  static constexpr int kSpins = 4000;

  static void pause(int spins)
  {
    if (spins > kSpins) {
      std::this_thread::yield();
      return;
    }
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }

  void serve(int thread)
  {
    unsigned seen = 0;
    while (true) {
      for (int spins = 0; spins < kSpins && call_.load(std::memory_order_acquire) == seen;
        ++spins)
      {
        pause(spins);
      }
      {
        std::unique_lock<std::mutex> lock(mutex_);
        wake_.wait(lock, [&] {return call_.load(std::memory_order_acquire) != seen;});
        seen = call_.load(std::memory_order_acquire);
        if (is_over_) {
          return;
        }
      }
      work_(context_, thread);
      running_.fetch_sub(1, std::memory_order_release);
    }
  }

  const int threads_;
  std::vector<std::thread> helpers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<unsigned> call_{0};
  std::atomic<int> running_{0};
  std::atomic<int> arrived_{0};
  std::atomic<unsigned> phase_{0};
  Work work_ = nullptr;
  void * context_ = nullptr;
  bool is_over_ = false;
};

#endif  // GEMMA_NODE__KERNELS__CPU__POOL_H_
