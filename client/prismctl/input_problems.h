// InputProblems: what is wrong with the files of a question, as one message.
#ifndef PRISM_CLIENT_PRISMCTL_INPUT_PROBLEMS_H_
#define PRISM_CLIENT_PRISMCTL_INPUT_PROBLEMS_H_

#include <map>
#include <string>
#include <vector>

#include "core/base/violations.h"

namespace prism::prismctl {

// Field of a question's message ("job", "run.steps") -> the file that holds it,
// or the option that gives its value ("--steps"); the longest path counts.
// The field "" stands for all that have no file of their own.
using QuestionFiles = std::map<std::string, std::string>;

// Not thread-safe.
class InputProblems {
 public:
  explicit InputProblems(QuestionFiles files) : files_(std::move(files)) {}

  // The file that holds `subject` ("job"; "": the whole message) is wrong at
  // `field`; an empty field means the file as a whole.
  void AddToFile(const std::string& subject, const std::string& field,
                 const std::string& description);

  // Adds the violations of a whole question, paths beginning with a field of
  // Question ("job.model.layers") or with "questions[0]." before it, each to
  // the file that holds it. Those at, above or below a field that is already
  // known to be wrong are left out: they only follow from it.
  void AddOfQuestion(const base::Violations& violations);

  bool empty() const { return lines_.empty(); }

  // One heading and a line for each problem: file, field, value and what is
  // accepted. Requires: !empty().
  std::string Text() const;

 private:
  struct Line {
    std::string path;  // in the question
    std::string text;
  };

  void Add(const std::string& path, const std::string& description);
  // The file or option that holds `path`; files_.end() if none does.
  QuestionFiles::const_iterator SourceOf(const std::string& path) const;
  bool Follows(const std::string& path, size_t known) const;

  QuestionFiles files_;
  std::vector<Line> lines_;
  int dropped_ = 0;
};

}  // namespace prism::prismctl

#endif  // PRISM_CLIENT_PRISMCTL_INPUT_PROBLEMS_H_
