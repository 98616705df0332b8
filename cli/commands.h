// The command groups, a file each.
#pragma once

#include "cli/parser.h"

namespace strongroom::cli {

void add_init_command(Command& root);
void add_health_commands(Command& root);  // status, verify
void add_compact_command(Command& root);
void add_recovery_commands(Command& root);  // backup, restore, anchor, doctor
void add_config_commands(Command& root);
void add_slot_commands(Command& root);
void add_entry_commands(Command& root);    // set, get, rm
void add_listing_commands(Command& root);  // ls, history
void add_context_command(Command& root);
void add_retain_command(Command& root);
void add_recall_command(Command& root);
void add_reflect_command(Command& root);
void add_memory_commands(Command& root);       // show, edit, link
void add_memory_edit_command(Command& root);   // edit
void add_memory_list_commands(Command& root);  // memories, documents, tags
void add_review_commands(Command& root);       // entities, review
void add_import_command(Command& root);
void add_bank_commands(Command& root);
void add_model_commands(Command& root);
void add_policy_commands(Command& root);
void add_audit_commands(Command& root);
void add_mcp_command(Command& root);
void add_connect_command(Command& root);
void add_completion_command(Command& root);
void add_manual_command(Command& root);

}  // namespace strongroom::cli
