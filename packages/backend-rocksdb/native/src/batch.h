#pragma once

#include <string_view>

namespace weir {

class Database;

// Applies packed rows (RocksDatabase.write in src/driver/rocks-driver.ts) as one. Throws Refusal, and has applied nothing, if they are malformed.
void writeRows(const Database& database, std::string_view rows);

}  // namespace weir
