#include "server/sqlite.h"

#include <absl/strings/str_cat.h>
#include <sqlite3.h>

#include <utility>

namespace prism::server {
namespace {

// Another process may be about to end.
constexpr int kBusyMilliseconds = 1000;

absl::Status ErrorOf(sqlite3* database) {
  const std::string message = sqlite3_errmsg(database);
  switch (sqlite3_errcode(database) & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::UnavailableError("another process uses it");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::DataLossError(message);
    default:
      return absl::InternalError(message);
  }
}

int Size(std::string_view value) { return static_cast<int>(value.size()); }

}  // namespace

SqliteStatement::~SqliteStatement() { sqlite3_finalize(statement_); }

SqliteStatement& SqliteStatement::Bind(int parameter, int64_t value) {
  sqlite3_bind_int64(statement_, parameter, value);
  return *this;
}

SqliteStatement& SqliteStatement::BindText(int parameter,
                                           std::string_view value) {
  sqlite3_bind_text(statement_, parameter, value.data(), Size(value),
                    SQLITE_STATIC);
  return *this;
}

SqliteStatement& SqliteStatement::BindBytes(int parameter,
                                            std::string_view value) {
  // A null pointer would bind NULL.
  sqlite3_bind_blob(statement_, parameter,
                    value.data() == nullptr ? "" : value.data(), Size(value),
                    SQLITE_STATIC);
  return *this;
}

absl::StatusOr<bool> SqliteStatement::Step() {
  switch (sqlite3_step(statement_)) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      return false;
    default:
      return ErrorOf(sqlite3_db_handle(statement_));
  }
}

absl::Status SqliteStatement::Run() {
  absl::StatusOr<bool> row = true;
  while (row.ok() && *row) row = Step();
  Reset();
  return row.status();
}

void SqliteStatement::Reset() { sqlite3_reset(statement_); }

int64_t SqliteStatement::Integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string_view SqliteStatement::Bytes(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return {static_cast<const char*>(bytes), static_cast<size_t>(size)};
}

absl::StatusOr<std::unique_ptr<SqliteDatabase>> SqliteDatabase::Open(
    const std::string& path) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(
      path.c_str(), &handle,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
      nullptr);
  if (handle == nullptr) return absl::InternalError("out of memory");
  std::unique_ptr<SqliteDatabase> database(new SqliteDatabase(handle));
  if (code != SQLITE_OK) return ErrorOf(handle);
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  return database;
}

SqliteDatabase::~SqliteDatabase() { sqlite3_close(database_); }

absl::Status SqliteDatabase::Execute(const std::string& sql) {
  if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) !=
      SQLITE_OK) {
    return ErrorOf(database_);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<SqliteStatement>> SqliteDatabase::Prepare(
    const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_, sql.c_str(), Size(sql), &statement,
                         nullptr) != SQLITE_OK) {
    return ErrorOf(database_);
  }
  return std::make_unique<SqliteStatement>(statement);
}

absl::StatusOr<std::string> SqliteDatabase::Text(const std::string& sql) {
  auto statement = Prepare(sql);
  if (!statement.ok()) return statement.status();
  const auto row = (*statement)->Step();
  if (!row.ok()) return row.status();
  if (!*row) return absl::NotFoundError(absl::StrCat(sql, ": no row"));
  return std::string((*statement)->Bytes(0));
}

absl::StatusOr<int64_t> SqliteDatabase::Integer(const std::string& sql) {
  auto statement = Prepare(sql);
  if (!statement.ok()) return statement.status();
  const auto row = (*statement)->Step();
  if (!row.ok()) return row.status();
  if (!*row) return absl::NotFoundError(absl::StrCat(sql, ": no row"));
  return (*statement)->Integer(0);
}

}  // namespace prism::server
