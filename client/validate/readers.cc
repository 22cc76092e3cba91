#include "client/validate/readers.h"

namespace prism::validate {

Measurements ReadFolder(const DataFolder& folder) {
  Measurements found;
  for (const SetReader read :
       {ReadPublishedSet, ReadMlperf, ReadVtrain, ReadSimumax, ReadLlmFoundry,
        ReadTorchtitan, ReadBigscience, ReadModelFiles}) {
    read(folder, found);
  }
  return found;
}

}  // namespace prism::validate
