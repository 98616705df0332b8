// Folders of models for tests: tests/embed/data in a folder of their own, changed as a test wants.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "embed/model_folder.h"
#include "embed/safetensors.h"
#include "vault/format.h"

namespace strongroom::embed {

inline std::string read_data(std::string_view name) {
  std::ifstream in(std::string(STRONGROOM_EMBED_DATA) + "/" + std::string(name), std::ios::binary);
  if (!in) throw std::runtime_error("no test data " + std::string(name));
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// A folder that goes when the test does.
class Folder {
 public:
  Folder() {
    static std::atomic<int> serial = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("strongroom-embed-" + std::to_string(::getpid()) + "-" + std::to_string(serial++));
    std::filesystem::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  std::string path() const { return path_.string(); }
  Folder& write(std::string_view name, std::string_view bytes) {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    return *this;
  }
  Folder& copy(std::string_view data, std::string_view name) {
    return write(name, read_data(data));
  }
  Folder& copy(std::string_view data) { return copy(data, data); }
  Folder& remove(std::string_view name) {
    std::filesystem::remove_all(path_ / name);
    return *this;
  }
  Folder& replace(std::string_view name, std::string_view from, std::string_view to) {
    std::ifstream in(path_ / name, std::ios::binary);
    std::ostringstream whole;
    whole << in.rdbuf();
    std::string text = whole.str();
    const std::size_t at = text.find(from);
    if (at == std::string::npos) throw std::runtime_error("not in the file: " + std::string(from));
    return write(name, text.replace(at, from.size(), to));
  }

 private:
  std::filesystem::path path_;
};

/// A tensor that owns its bytes, for files that tests make.
struct OwnTensor {
  std::string type;
  std::vector<std::uint64_t> shape;
  std::string bytes;
};
using OwnTensors = std::map<std::string, OwnTensor>;

inline std::string safetensors_of(const OwnTensors& tensors) {
  JsonWriter header;
  std::string data;
  header.begin_object();
  for (const auto& [name, tensor] : tensors) {
    header.key(name).begin_object().member("dtype", tensor.type);
    header.key("shape").begin_array();
    for (const std::uint64_t extent : tensor.shape) header.unsigned_integer(extent);
    header.end_array().key("data_offsets").begin_array();
    header.unsigned_integer(data.size()).unsigned_integer(data.size() + tensor.bytes.size());
    header.end_array().end_object();
    data += tensor.bytes;
  }
  header.end_object();
  std::string out;
  vault::append_le(out, std::uint64_t{header.text().size()});
  return out + header.text() + data;
}

/// The tensors of a file, each number as `type` ("F32", "F16", "BF16") holds it.
inline OwnTensors tensors_of(const std::string& file, const std::string& type = "F32") {
  OwnTensors out;
  for (const auto& [name, tensor] : read_safetensors(file, "test")) {
    OwnTensor& own = out[name];
    own.type = type;
    own.shape = tensor.shape;
    std::vector<float> values(tensor.elements());
    read_floats(tensor, 0, values);
    for (const float value : values) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      if (type == "F32") {
        vault::append_le(own.bytes, bits);
      } else {
        vault::append_le(own.bytes, static_cast<std::uint16_t>(bits >> 16));
      }
    }
    if (type == "F16") own.bytes = std::string(tensor.bytes);
  }
  return out;
}

/// A folder with the encoder, whole: weights of 32 bits, vocabulary and configuration.
inline void fill_encoder(Folder& folder) {
  folder.write("model.safetensors",
               safetensors_of(tensors_of(read_data("encoder_f16.safetensors"))));
  folder.copy("vocab.txt").copy("config.json");
}

/// Random weights tell nothing apart, so tests give the curve.
inline FolderOptions given(Pooling pooling = Pooling::mean) {
  FolderOptions out;
  out.pooling = pooling;
  out.curve = recall::EvidenceCurve{0.25F, 0.75F};
  return out;
}

struct Refusal {
  Code code;
  std::string text;
};

inline Refusal refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return {error.code(), error.text()};
  }
  return {Code::internal, "nothing was refused"};
}

}  // namespace strongroom::embed
