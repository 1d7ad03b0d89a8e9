#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weir {

// Lengths in rows are u32, little endian. So is every machine this is built for.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "rows are little endian");

constexpr size_t kLengthBytes = 4;
// In place of a length: there is no value.
constexpr uint32_t kAbsent = UINT32_MAX;

inline uint32_t readLength(const char* from) {
  uint32_t length;
  std::memcpy(&length, from, sizeof length);
  return length;
}

inline void writeLength(char* to, size_t length) {
  const uint32_t narrow = static_cast<uint32_t>(length);
  std::memcpy(to, &narrow, sizeof narrow);
}

// An empty buffer may have no address, which memcpy must not be given.
inline void copy(char* to, const char* from, size_t length) {
  if (length > 0) std::memcpy(to, from, length);
}

}  // namespace weir
