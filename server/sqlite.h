// SQLite, as far as the server uses it: one connection, prepared statements,
// and errors as absl::Status.
//
// The only header of the tree that knows the library. Not thread-safe.
#ifndef PRISM_SERVER_SQLITE_H_
#define PRISM_SERVER_SQLITE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace prism::server {

// A prepared statement. Bound bytes must live until the next Reset.
class SqliteStatement {
 public:
  explicit SqliteStatement(sqlite3_stmt* statement) : statement_(statement) {}
  ~SqliteStatement();
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  // Parameters are numbered from 1.
  SqliteStatement& Bind(int parameter, int64_t value);
  SqliteStatement& BindText(int parameter, std::string_view value);
  SqliteStatement& BindBytes(int parameter, std::string_view value);

  // True if there is a row, false at the end. After an error or the end the
  // statement must be reset.
  absl::StatusOr<bool> Step();
  // Runs to the end and resets.
  absl::Status Run();
  void Reset();

  // Columns of the row, numbered from 0. Views hold until the next step.
  int64_t Integer(int column) const;
  std::string_view Bytes(int column) const;

 private:
  sqlite3_stmt* const statement_;
};

class SqliteDatabase {
 public:
  // Opens the file, or creates an empty one. UNAVAILABLE if another process
  // has it; DATA_LOSS if it is damaged or no database.
  static absl::StatusOr<std::unique_ptr<SqliteDatabase>> Open(
      const std::string& path);
  ~SqliteDatabase();
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  // Runs statements that give no rows.
  absl::Status Execute(const std::string& sql);

  // The statement must not outlive the database.
  absl::StatusOr<std::unique_ptr<SqliteStatement>> Prepare(
      const std::string& sql);

  // First column of the first row; NOT_FOUND without one.
  absl::StatusOr<std::string> Text(const std::string& sql);
  absl::StatusOr<int64_t> Integer(const std::string& sql);

 private:
  explicit SqliteDatabase(sqlite3* database) : database_(database) {}

  sqlite3* const database_;
};

}  // namespace prism::server

#endif  // PRISM_SERVER_SQLITE_H_
