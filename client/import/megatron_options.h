// What import does with each option of Megatron-LM and Megatron-DeepSpeed, and
// what they take where a script is silent.
#ifndef PRISM_CLIENT_IMPORT_MEGATRON_OPTIONS_H_
#define PRISM_CLIENT_IMPORT_MEGATRON_OPTIONS_H_

#include <span>
#include <string>
#include <string_view>

namespace prism::import {

enum class OptionUse {
  kRead,         // shapes the job
  kIgnored,      // changes no step: paths, logging, learning rates
  kLeftOut,      // changes a step a little, and a job cannot say it
  kRefused,      // makes a job that PRISM does not model
  kRefusedOver1  // as kRefused, with a value above 1
};

struct OptionRule {
  std::string_view name;  // without "--"; a final "*" stands for any ending
  OptionUse use;
  // For kLeftOut and kRefused: what the option means.
  std::string_view meaning = {};
};

// The rule of `name`; null for options that are not known.
const OptionRule* FindRule(std::string_view name);

struct OptionDefault {
  std::string_view option;
  std::string_view value;
  std::string_view source;
};

// Everything import fills in that a script need not say.
std::span<const OptionDefault> Defaults();

// The value that Defaults() states for `option`; empty where it has none.
std::string DefaultOf(std::string_view option);

// Tokens in the vocabulary of a tokenizer, by --tokenizer-type,
// --tokenizer-name-or-path or --tokenizer-model; 0 where it is not known.
int KnownTokenizerSize(std::string_view name);

}  // namespace prism::import

#endif  // PRISM_CLIENT_IMPORT_MEGATRON_OPTIONS_H_
