#include <cctype>
#include <cstdio>
#include <cstdlib>

#include "api/base/clock.h"

namespace terrarium::api {
namespace {

struct Parts {
  int year, month, day, hour, minute, second, micros;
};

Parts Split(Time t) {
  using namespace std::chrono;  // NOLINT: arithmetic of dates
  auto days = floor<std::chrono::days>(t);
  year_month_day date{sys_days{days}};
  hh_mm_ss<microseconds> time{t - days};
  return {static_cast<int>(date.year()),
          static_cast<int>(static_cast<unsigned>(date.month())),
          static_cast<int>(static_cast<unsigned>(date.day())),
          static_cast<int>(time.hours().count()),
          static_cast<int>(time.minutes().count()),
          static_cast<int>(time.seconds().count()),
          static_cast<int>(time.subseconds().count())};
}

// Reads exactly `n` digits at `pos`.
bool Digits(std::string_view s, std::size_t pos, int n, int* out) {
  if (s.size() < pos + static_cast<std::size_t>(n)) return false;
  *out = 0;
  for (int i = 0; i < n; ++i) {
    char c = s[pos + static_cast<std::size_t>(i)];
    if (c < '0' || c > '9') return false;
    *out = *out * 10 + (c - '0');
  }
  return true;
}

// "Z" or "+hh:mm" at the end of `s`; the offset in minutes.
bool Offset(std::string_view s, int* minutes) {
  if (s == "Z" || s == "z") return *minutes = 0, true;
  int h, m;
  if (s.size() != 6 || (s[0] != '+' && s[0] != '-') || s[3] != ':' || !Digits(s, 1, 2, &h) ||
      !Digits(s, 4, 2, &m))
    return false;
  if (h > 23 || m > 59) return false;
  *minutes = (s[0] == '-' ? -1 : 1) * (h * 60 + m);
  return true;
}

std::string Printed(const Parts& p) {
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02dZ", p.year, p.month, p.day, p.hour, p.minute,
                p.second);
  return text;
}

}  // namespace

std::string FormatTime(Time t) {
  // Formats by hand: every write formats several times, and printf parses its format string on each call.
  Parts p = Split(t);
  if (p.year < 0 || p.year > 9999) return Printed(p);  // the clock was moved very far
  std::string text = "0000-00-00T00:00:00Z";
  auto put = [&text](std::size_t last, int value) {
    for (std::size_t at = last; value > 0; --at, value /= 10) text[at] = static_cast<char>('0' + value % 10);
  };
  put(3, p.year);
  put(6, p.month);
  put(9, p.day);
  put(12, p.hour);
  put(15, p.minute);
  put(18, p.second);
  return text;
}

std::string FormatMicroTime(Time t) {
  Parts p = Split(t);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", p.year, p.month, p.day, p.hour,
                p.minute, p.second, p.micros);
  return text;
}

std::optional<Time> ParseTime(std::string_view s) {
  using namespace std::chrono;  // NOLINT: arithmetic of dates
  int y, mo, d, h, mi, sec;
  if (s.size() < 20 || s[4] != '-' || s[7] != '-' || (s[10] != 'T' && s[10] != 't') || s[13] != ':' ||
      s[16] != ':')
    return std::nullopt;
  if (!Digits(s, 0, 4, &y) || !Digits(s, 5, 2, &mo) || !Digits(s, 8, 2, &d) || !Digits(s, 11, 2, &h) ||
      !Digits(s, 14, 2, &mi) || !Digits(s, 17, 2, &sec))
    return std::nullopt;
  std::size_t pos = 19;
  int micros = 0;
  if (s[pos] == '.') {
    int scale = 100000;
    std::size_t first = ++pos;
    for (; pos < s.size() && std::isdigit(static_cast<unsigned char>(s[pos])); ++pos, scale /= 10)
      micros += (s[pos] - '0') * scale;
    if (pos == first) return std::nullopt;
  }
  int offset_minutes;
  if (!Offset(s.substr(pos), &offset_minutes)) return std::nullopt;
  year_month_day date{year{y}, month{static_cast<unsigned>(mo)}, day{static_cast<unsigned>(d)}};
  if (!date.ok() || h > 23 || mi > 59 || sec > 59) return std::nullopt;
  const Time time =
      Time{sys_days{date}} + hours{h} + minutes{mi - offset_minutes} + seconds{sec} + microseconds{micros};
  // DIVERGES: Go accepts an offset that leads out of these years, and then writes text that it cannot read.
  if (!HasFourDigitYear(time)) return std::nullopt;
  return time;
}

bool HasFourDigitYear(Time t) {
  using namespace std::chrono;  // NOLINT: arithmetic of dates
  constexpr Time kBegin{sys_days{year{0} / January / 1}}, kEnd{sys_days{year{10000} / January / 1}};
  return kBegin <= t && t < kEnd;
}

}  // namespace terrarium::api
