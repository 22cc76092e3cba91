// Readers: measurements of each set as questions.
//
// A reader takes the files of its set as they were published, names what is
// damaged in them and goes on. One file a set; what the set leaves open is
// filled in there.
#ifndef PRISM_CLIENT_VALIDATE_READERS_H_
#define PRISM_CLIENT_VALIDATE_READERS_H_

#include <string>

#include "client/validate/data_folder.h"
#include "client/validate/measured.h"

namespace prism::validate {

// Adds what `folder` holds of a set to `found`, or the set to what is missing.
using SetReader = void (*)(const DataFolder& folder, Measurements& found);

// Papers: step times and utilisations of tables in the form of
// published/published.csv, times of single layers.
void ReadPublishedSet(const DataFolder& folder, Measurements& found);
void ReadPublishedRows(const std::string& name, const std::string& text,
                       Measurements& found);
void ReadLayerTimes(const std::string& name, const std::string& text,
                    Measurements& found);

void ReadMlperf(const DataFolder& folder, Measurements& found);
void ReadVtrain(const DataFolder& folder, Measurements& found);
void ReadSimumax(const DataFolder& folder, Measurements& found);
void ReadLlmFoundry(const DataFolder& folder, Measurements& found);
void ReadBigscience(const DataFolder& folder, Measurements& found);
void ReadTorchtitan(const DataFolder& folder, Measurements& found);
void ReadModelFiles(const DataFolder& folder, Measurements& found);

// All of them.
Measurements ReadFolder(const DataFolder& folder);

}  // namespace prism::validate

#endif  // PRISM_CLIENT_VALIDATE_READERS_H_
