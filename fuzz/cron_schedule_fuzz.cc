// Schedules of CronJobs: */5 * * * *, @every 1h, TZ=Europe/Berlin 0 3 * * *.

#include <chrono>
#include <optional>

#include "api/cron/cron_schedule.h"
#include "fuzz/property.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace terrarium;
  const std::string_view text = fuzz::Input(data, size).text();
  const api::ParsedCronSchedule parsed = api::ParseCronSchedule(text);
  fuzz::Require(parsed.schedule.has_value() == parsed.error.empty(), "a schedule or an error");
  if (!parsed) return 0;
  // Days on which clocks are put forward and back, and one after the last change that the database lists.
  for (const char* from : {"2026-03-28T23:59:59.5Z", "2026-10-24T12:00:00Z", "2050-10-29T12:00:00Z"}) {
    const api::Time before = *api::ParseTime(from);
    const std::optional<api::Time> next = parsed.schedule->Next(before);
    if (!next) continue;
    fuzz::Require(*next > before, "the next time is later");
    fuzz::Require(next->time_since_epoch() % std::chrono::seconds(1) == std::chrono::seconds(0),
                  "the next time is a whole second");
    // In UTC no hour is skipped or repeated, so the start of the search does not matter.
    const bool in_utc = !text.starts_with("TZ=") && !text.starts_with("CRON_TZ=");
    if (in_utc && !text.starts_with("@every")) {
      fuzz::Require(parsed.schedule->Next(*next - std::chrono::microseconds(1)) == next,
                    "a search that starts later finds the same time");
    }
  }
  return 0;
}
