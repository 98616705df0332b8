#include "service/fill_vectors.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "service/memory_words.h"
#include "vault/memories.h"

namespace strongroom::service {
namespace {

std::optional<recall::VectorSet> find_set(std::vector<recall::VectorSet> sets,
                                          const recall::Embedder& model) {
  for (recall::VectorSet& set : sets) {
    if (set.model == model.model_id()) return std::move(set);
  }
  return std::nullopt;
}

// What the model has not seen begins here.
recall::Row first_behind(const std::optional<recall::VectorSet>& set) {
  return set ? std::max<recall::Row>(set->filled, 1) : 1;
}

class Filler {
 public:
  Filler(vault::Bank& bank, recall::Index& index, recall::Embedder& model)
      : bank_(bank), index_(index), model_(model) {}

  // The texts of the next rows; false when there are none.
  bool read(std::size_t most) {
    rows_.clear();
    vault::BankRead read = bank_.read();
    recall::IndexView view(index_, read);
    const auto set = find_set(view.vector_sets(), model_);
    first_ = first_behind(set);
    total_ = view.row_end() - 1;
    end_ = static_cast<recall::Row>(std::min<std::uint64_t>(view.row_end(), first_ + most));
    if (first_ >= end_) return false;
    texts_.resize(end_ - first_);
    for (recall::Row row = first_; row < end_; ++row) {
      const recall::RowAttributes attributes = view.attributes(row);
      if (attributes.dead || (set && view.vector(*set, row) != nullptr)) continue;
      passage_for_model(vault::open_memory(read, attributes.record, plain_), attributes.passage,
                        texts_[rows_.size()]);
      rows_.push_back(row);
    }
    return true;
  }

  void embed() {
    std::vector<std::string_view> views;
    for (std::size_t i = 0; i < rows_.size(); ++i) views.push_back(texts_[i].view());
    vectors_.resize(std::max(vectors_.size(), rows_.size()));
    model_.embed_batch(views, recall::Side::passage, {vectors_.data(), rows_.size()});
  }

  // The text of a row never changes, whatever happened since it was read: an edit makes new rows. A
  // row that was forgotten meanwhile stays without a vector.
  void write(const vault::WriteStamp& stamp, vault::AuditEvent event) {
    vault::BankWrite write = bank_.write(stamp);
    recall::IndexWriter writer(index_, write);
    const std::uint32_t number = writer.vector_set(model_.model_id(), model_.dimensions());
    const auto set = find_set(writer.vector_sets(), model_);
    // Another process may have gone on from here, or have dropped the set.
    if (first_behind(set) != first_) return;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      writer.set_vector(rows_[i], {number, &vectors_[i]});
    }
    writer.set_filled(number, end_);
    writer.finish();
    event.time = now_ms();
    event.count = end_ - first_;
    write.log(std::move(event));
    write.commit();
  }

  recall::Row rows_read() const { return end_ - first_; }
  std::uint64_t seen() const { return end_ - 1; }
  std::uint64_t total() const { return total_; }

 private:
  vault::Bank& bank_;
  recall::Index& index_;
  recall::Embedder& model_;
  recall::Row first_ = 1, end_ = 1;
  std::uint64_t total_ = 0;
  std::vector<recall::Row> rows_;
  std::vector<SecretBytes> texts_;
  std::vector<recall::Embedding> vectors_;
  SecretBytes plain_;
};

}  // namespace

std::uint64_t fill_vectors(vault::Bank& bank, recall::Index& index, recall::Embedder& model,
                           const std::function<vault::WriteStamp()>& stamp,
                           const FillOptions& options) {
  Filler filler(bank, index, model);
  std::uint64_t left = options.most;
  while (left > 0 && filler.read(std::min<std::uint64_t>(options.batch, left))) {
    filler.embed();
    filler.write(stamp(), options.event);
    left -= std::min<std::uint64_t>(left, filler.rows_read());
    if (options.progress) options.progress(filler.seen(), filler.total());
  }
  vault::BankRead read = bank.read();
  return rows_behind(recall::IndexView(index, read), model);
}

std::uint64_t rows_behind(const recall::IndexView& view, const recall::Embedder& model) {
  return view.row_end() - first_behind(find_set(view.vector_sets(), model));
}

}  // namespace strongroom::service
