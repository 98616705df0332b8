// Memories, documents and links for tests.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "vault/documents.h"
#include "vault/links.h"
#include "vault/memories.h"
#include "vault_fixture.h"

namespace strongroom::vault {

/// A draft with every field set; views lead to literals.
inline MemoryDraft full_memory() {
  MemoryDraft draft;
  draft.text = "the text of a memory";
  draft.type = MemoryType::experience;
  draft.importance = 0.75;
  draft.mentioned = 900;
  draft.occurred_start = 100;
  draft.occurred_end = 200;
  draft.expires = 5'000'000;
  draft.invalidated = 1'000;
  draft.restored = 800;
  draft.superseded_by = 1;
  draft.context = "a context";
  draft.speaker = "a speaker";
  draft.source_label = "a label";
  draft.position = -3;
  draft.document = "notes";
  draft.document_first = 2;
  draft.chunk_index = 1;
  draft.row = 4;
  draft.rows = 2;
  draft.tags = {"one", "two"};
  draft.entities = {"Ada", ""};
  draft.metadata = {{"key", "value"}, {"empty", ""}};
  draft.principal = "local:mcp";
  draft.tool = "agent_retain";
  draft.source = SourceKind::mcp;
  draft.session.fill('s');
  draft.trust = Trust::imported;
  return draft;
}

inline MemoryDraft small_memory(std::string_view text) {
  MemoryDraft draft;
  draft.text = text;
  return draft;
}

inline LinkEnd end_of(RecordId memory) {
  LinkEnd end;
  end.memory = memory;
  return end;
}
inline LinkEnd end_of(std::string entity) {
  LinkEnd end;
  end.entity = std::move(entity);
  return end;
}
inline Link link_of(LinkEnd from, LinkEnd to, std::string relation) {
  Link link;
  link.from = std::move(from);
  link.to = std::move(to);
  link.relation = std::move(relation);
  link.principal = "test";
  return link;
}

/// Works on bank `global` in one transaction, and commits it.
template <class Work>
void in_global(Vault& vault, const Work& work) {
  const auto bank = vault.open_bank(kGlobalBank);
  BankWrite write = bank->write(vault.stamp());
  work(write);
  write.commit();
}

inline void require_sound(Vault& vault) {
  const VerifyReport report = verify_vault(vault, VerifyDepth::full);
  for (const VerifyProblem& problem : report.problems) UNSCOPED_INFO(problem.where + problem.text);
  REQUIRE(report.problems.empty());
}

}  // namespace strongroom::vault
