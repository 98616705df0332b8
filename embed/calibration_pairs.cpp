#include "embed/calibration_pairs.h"

#include <array>

namespace strongroom::embed {

namespace {

// Question and passage share some words, few or none, as in life; no passage answers two questions.
constexpr std::array kPairs = {
    // Chats between people and with an assistant.
    CalibrationPair{"When does Mira's sister get married?",
                    "Mira: My sister's wedding is on the second Saturday of June, by the lake."},
    CalibrationPair{"What pet did Jonas adopt?",
                    "Jonas: We brought home a grey kitten from the shelter yesterday!"},
    CalibrationPair{"Why did Ana stop running?",
                    "Ana: My knee has been swollen since March, so the doctor told me no jogging."},
    CalibrationPair{"Which instrument is Tom learning?",
                    "Tom: I had my third cello lesson today, my fingers hurt."},
    CalibrationPair{"Where did Priya grow up?",
                    "Priya: I spent my whole childhood in a fishing village near Kochi."},
    CalibrationPair{"What is Leo allergic to?",
                    "Leo: I can't have the cake, walnuts make my throat close up."},
    CalibrationPair{"What gift did Hanna receive for her birthday?",
                    "Hanna: My brother surprised me with a telescope when I turned thirty."},
    CalibrationPair{"How does Sven commute to work?",
                    "Sven: I take the ferry and cycle the last two kilometres to the office."},
    CalibrationPair{"What book is Elif reading?",
                    "Elif: I'm halfway through a novel about lighthouse keepers."},
    CalibrationPair{"Which food does Carlos dislike?",
                    "Carlos: Please no olives on mine, I never could stand them."},
    CalibrationPair{"What does Grace do for a living?",
                    "Grace: After ten years as a nurse I now train new paramedics."},
    CalibrationPair{"Where will Omar go on holiday?",
                    "Omar: The tickets are booked, two weeks of hiking in Norway in August."},
    CalibrationPair{"How many children does Ruth have?",
                    "Ruth: The twins started school, and the little one is still at home with me."},
    CalibrationPair{"What made Nadia proud?",
                    "Nadia: I finally presented my thesis, and the professors applauded!"},
    CalibrationPair{"What hobby did Ben pick up during the winter?",
                    "Ben: Since December I carve wooden spoons every evening."},
    // Facts about a user, and preferences.
    CalibrationPair{"Which editor does the user prefer?",
                    "The user works in Neovim and does not want instructions for other editors."},
    CalibrationPair{"How should dates be written?",
                    "Preference: dates in documents are ISO 8601, never with month names."},
    CalibrationPair{
        "In what language should replies be?",
        "The user asked to be answered in German, even when code comments are English."},
    CalibrationPair{"How long may a commit message line be?",
                    "Commit messages wrap at 72 characters; the subject line stays below 50."},
    CalibrationPair{"What time zone is the user in?",
                    "The user lives in Lisbon, so meetings are planned in Western European Time."},
    CalibrationPair{"Who is the product owner?",
                    "Decisions about scope are taken by Katrin Vogel, who owns the product."},
    CalibrationPair{"Which colour is the company's logo?",
                    "Brand guide: the logo is dark teal on white, without gradients."},
    CalibrationPair{"What is the budget for the spring campaign?",
                    "Marketing may spend 40,000 euros on advertising from March to May."},
    CalibrationPair{"When is the quarterly report due?",
                    "Finance wants the numbers of each quarter by the tenth day after it ends."},
    CalibrationPair{"Who covers for Dana while she is away?",
                    "During Dana's parental leave all invoices go to Felix."},
    // Decisions and code.
    CalibrationPair{"Why did we choose PostgreSQL?",
                    "Decision: PostgreSQL over MySQL, because we need partial indexes and JSONB."},
    CalibrationPair{"Which library parses the command line?",
                    "Arguments of the tool are read with clap's derive macros."},
    CalibrationPair{"How are passwords stored?",
                    "Credentials are hashed with Argon2id, 64 MiB and three passes."},
    CalibrationPair{"Where is the retry logic implemented?",
                    "src/net/backoff.rs repeats failed requests with growing pauses and jitter."},
    CalibrationPair{"What does the cache evict first?",
                    "The in-memory store throws out the entry that was not used for longest."},
    CalibrationPair{"How do we version the public API?",
                    "Breaking changes get a new path prefix such as /v3; old ones live a year."},
    CalibrationPair{
        "Why is the test for time zones flaky?",
        "test_dst_switch fails in the hour when summer time ends, it compares local times."},
    CalibrationPair{"What replaced the message queue?",
                    "RabbitMQ was taken out in favour of a table with SKIP LOCKED."},
    CalibrationPair{"How large may an upload be?",
                    "Files of more than 25 MB are refused by the gateway with status 413."},
    CalibrationPair{"Which function validates email addresses?",
                    "is_plausible_mailbox() checks an address before the account is made."},
    CalibrationPair{
        "Why do we avoid exceptions in the parser?",
        "The tokenizer returns result values, since throwing cost a third of its speed."},
    CalibrationPair{"What is the code style for Python?",
                    "All .py files go through black and ruff with a line length of 100."},
    CalibrationPair{
        "How does the mobile app work without a connection?",
        "When offline, changes are kept in SQLite on the phone and synchronised later."},
    CalibrationPair{
        "What causes the memory leak in the image worker?",
        "Thumbnails were never released: the decoder's buffer pool grew with every job."},
    CalibrationPair{"Who reviews changes to the billing module?",
                    "CODEOWNERS: two people of the payments team have to approve src/billing."},
    // Operations.
    CalibrationPair{
        "How do I roll back a deployment?",
        "If a release misbehaves, run helm rollback shop and tell the on-call channel."},
    CalibrationPair{"On which port does the staging database listen?",
                    "The PostgreSQL of staging is reached at port 6543 through the bastion."},
    CalibrationPair{
        "When do backups run?",
        "A snapshot of every volume is taken nightly at half past two and kept 30 days."},
    CalibrationPair{
        "What happened in the outage on Friday?",
        "Incident: the certificate of the load balancer expired, the shop was down 40 minutes."},
    CalibrationPair{
        "How do we rotate the signing key?",
        "Make a new key pair, publish both public halves, switch, drop the old one a week later."},
    CalibrationPair{"Which alert fires when the disk is full?",
                    "VolumeAlmostOut pages the operator when less than five percent is left."},
    CalibrationPair{"How many replicas does the search service have?",
                    "The search deployment is scaled to four pods in production, one elsewhere."},
    CalibrationPair{"Where are the logs kept?",
                    "Everything that containers print is shipped to Loki and stays for two weeks."},
    CalibrationPair{"How is the firmware flashed?",
                    "Hold the boot button, connect USB, then use dfu-util with the signed image."},
    CalibrationPair{
        "Why was the cron job disabled?",
        "The nightly cleanup deleted fresh sessions, so it is off until ticket OPS-311."},
    CalibrationPair{"How do I get access to the cluster?",
                    "New colleagues ask in #platform for a kubeconfig; it is valid for a day."},
    CalibrationPair{"What is the rate limit for partners?",
                    "External integrations may send 600 requests a minute before they get a 429."},
    // The world at large.
    CalibrationPair{"How long should the rice cook?",
                    "Let the basmati simmer covered for twelve minutes, then rest for five."},
    CalibrationPair{
        "What does the plant need in winter?",
        "Keep the lemon tree cool and bright when it freezes outside, and water it little."},
    CalibrationPair{"Who won the chess tournament?",
                    "In the club's final Iryna beat the defending champion after six hours."},
    CalibrationPair{"How warm was it yesterday?",
                    "The thermometer on the balcony showed 31 degrees at noon on Tuesday."},
    CalibrationPair{"What was the museum visit like?",
                    "The exhibition of old maps was crowded, but the guide made it fascinating."},
    CalibrationPair{"How is the guitar tuned for this song?",
                    "The piece is played with the lowest string a whole tone down, in drop D."},
    CalibrationPair{"Which train goes to the airport?",
                    "Line S8 reaches the terminal every twenty minutes from the main station."},
    CalibrationPair{"What did the dentist recommend?",
                    "At the check-up I was told to get a night guard against grinding my teeth."},
};

}  // namespace

std::span<const CalibrationPair> calibration_pairs() noexcept {
  return kPairs;
}

}  // namespace strongroom::embed
