#include "recall/builtin_model.h"

#include "recall/static_embedder.h"

// models/, where the file is, is in the assembler's include path.
asm(R"(
    .pushsection .rodata.strongroom_builtin_model, "a", %progbits
    .balign 64
    .type strongroom_builtin_model, %object
strongroom_builtin_model:
    .incbin "static.bin"
strongroom_builtin_model_end:
    .size strongroom_builtin_model, . - strongroom_builtin_model
    .byte 0
    .popsection
)");

extern "C" {
extern const std::byte strongroom_builtin_model[] __attribute__((visibility("hidden")));
extern const std::byte strongroom_builtin_model_end[] __attribute__((visibility("hidden")));
}

namespace strongroom::recall {

std::span<const std::byte> builtin_model() noexcept {
  return {strongroom_builtin_model, strongroom_builtin_model_end};
}

std::unique_ptr<Embedder> make_builtin_embedder() {
  return std::make_unique<StaticEmbedder>(builtin_model());
}

}  // namespace strongroom::recall
