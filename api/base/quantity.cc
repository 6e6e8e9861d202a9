#include "api/base/quantity.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace terrarium::api {
namespace {

__extension__ typedef __int128 Int128;

constexpr const char* kBadFormat =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr const char* kBadNumber = "unable to parse numeric part of quantity";
constexpr const char* kBadSuffix = "unable to parse quantity's suffix";
constexpr int kNano = -9;
constexpr std::int64_t kMaxInt64 = std::numeric_limits<std::int64_t>::max();
// The largest power of ten that is read. Kubernetes lets exponents wrap around, which no author of a manifest
// intends.
constexpr int kMaxExponent = 1000000;
// Digits that a mantissa keeps: 128 bits hold 38, and adding and comparing need room.
constexpr int kMaxDigits = 36;

constexpr std::string_view kDecimalSuffixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
constexpr std::string_view kBinarySuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

Int128 Pow10(int n) {
  Int128 result = 1;
  while (n-- > 0) result *= 10;
  return result;
}

int DigitCount(Int128 value) {
  int n = 0;
  for (; value != 0; value /= 10) ++n;
  return n;
}

std::string Print(Int128 value) {
  if (value == 0) return "0";
  std::string digits;
  const bool negative = value < 0;
  for (; value != 0; value /= 10) {
    const int digit = static_cast<int>(value % 10);
    digits.push_back(static_cast<char>('0' + (negative ? -digit : digit)));
  }
  if (negative) digits.push_back('-');
  std::reverse(digits.begin(), digits.end());
  return digits;
}

// Divides by 10^places, away from zero.
Int128 DivideUp(Int128 value, int places) {
  if (places > 38) return value == 0 ? 0 : (value > 0 ? 1 : -1);
  const Int128 divisor = Pow10(places);
  Int128 result = value / divisor;
  if (value % divisor != 0) result += value > 0 ? 1 : -1;
  return result;
}

}  // namespace

struct Quantity::Suffix {
  Format format = Format::kDecimalSi;
  int exponent = 0;  // of 10, or of 2 for binary
};

bool Quantity::ParseSuffix(std::string_view text, Suffix* out) {
  for (std::size_t i = 0; i < std::size(kDecimalSuffixes); ++i) {
    if (text == kDecimalSuffixes[i]) return *out = {Format::kDecimalSi, static_cast<int>(i) * 3 - 9}, true;
  }
  for (std::size_t i = 1; i < std::size(kBinarySuffixes); ++i) {
    if (text == kBinarySuffixes[i]) return *out = {Format::kBinarySi, static_cast<int>(i) * 10}, true;
  }
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return false;
  text.remove_prefix(text[1] == '+' ? 2 : 1);
  std::int32_t exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  if (exponent > kMaxExponent || exponent < -kMaxExponent) return false;
  *out = {Format::kDecimalExponent, exponent};
  return true;
}

void Quantity::AddDigit(char digit, Int128* mantissa, int* scale, bool fraction) {
  static const Int128 kFull = Pow10(kMaxDigits - 1);
  if (*mantissa < kFull) {
    *mantissa = *mantissa * 10 + (digit - '0');
    if (fraction) --*scale;
  } else if (!fraction) {
    ++*scale;
  }
}

std::optional<Quantity> Quantity::Parse(std::string_view text, std::string* error) {
  const auto fail = [error](const char* why) {
    if (error != nullptr) *error = why;
    return std::nullopt;
  };
  if (text.empty()) return fail(kBadFormat);

  // Number, then letters, then an exponent: the grammar that the error message quotes.
  std::size_t pos = text[0] == '-' || text[0] == '+' ? 1 : 0;
  const bool negative = text[0] == '-';
  Quantity q;
  int scale = 0;
  std::string shifted;  // the digits without the point and without leading zeros before it
  std::size_t whole_digits = 0, fraction_digits = 0;
  for (; pos < text.size() && IsDigit(text[pos]); ++pos) {
    AddDigit(text[pos], &q.mantissa_, &scale, false);
    if (text[pos] != '0' || !shifted.empty()) shifted.push_back(text[pos]);
  }
  if (shifted.empty()) shifted = "0";
  whole_digits = shifted.size();
  if (pos < text.size() && text[pos] == '.') {
    for (++pos; pos < text.size() && IsDigit(text[pos]); ++pos, ++fraction_digits) {
      AddDigit(text[pos], &q.mantissa_, &scale, true);
      shifted.push_back(text[pos]);
    }
  }
  const bool any_digit = std::any_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(pos), IsDigit);
  const std::size_t suffix_start = pos;
  while (pos < text.size() && std::string_view("eEinumkKMGTP").find(text[pos]) != std::string_view::npos)
    ++pos;
  if (pos < text.size() && (text[pos] == '-' || text[pos] == '+')) ++pos;
  while (pos < text.size() && IsDigit(text[pos])) ++pos;
  if (pos < text.size()) return fail(kBadFormat);

  Suffix suffix;
  if (!ParseSuffix(text.substr(suffix_start), &suffix)) return fail(kBadSuffix);
  q.format_ = suffix.format;
  const int digits = static_cast<int>(whole_digits + fraction_digits);
  // Kubernetes has a fast path for short numbers. It keeps texts that look canonical, and accepts missing
  // digits.
  bool quick, keep_text;
  if (suffix.format == Format::kBinarySi) {
    quick = fraction_digits == 0 && 15 - digits - suffix.exponent * 3 / 10 - 1 >= 0;
    keep_text = quick && (q.mantissa_ & 7) != 0;
    q.MultiplyBinary(suffix.exponent, &scale);
  } else {
    scale += suffix.exponent;
    quick = digits <= 18 && scale >= kNano;
    keep_text = quick && scale % 3 == 0 && !shifted.ends_with("000") && shifted[0] != '0';
  }
  if (!quick && !any_digit) return fail(kBadNumber);
  // The digits count too: "1000e1000000" has the canonical form 1e1000003, which has to be read as well.
  if (scale > kMaxExponent - kMaxDigits && q.mantissa_ != 0 && DigitCount(q.mantissa_) + scale > kMaxExponent)
    return fail(kBadSuffix);
  q.scale_ = scale;
  q.RoundUp(kNano);
  if (suffix.format == Format::kBinarySi && q > FromInt(kMaxInt64)) {
    q.mantissa_ = kMaxInt64;
    q.scale_ = 0;
  }
  if (negative) q.mantissa_ = -q.mantissa_;
  if (keep_text && q.mantissa_ != 0) q.text_ = std::string(text);
  return q;
}

// Multiplies by 2^exponent; what does not fit is beyond the limit that Parse cuts binary quantities to.
void Quantity::MultiplyBinary(int exponent, int* scale) {
  Int128 product;
  if (__builtin_mul_overflow(mantissa_, static_cast<Int128>(1) << exponent, &product)) {
    product = static_cast<Int128>(kMaxInt64) * 2;
    *scale = 0;
  }
  mantissa_ = product;
}

Quantity Quantity::FromInt(std::int64_t value) {
  Quantity q;
  q.mantissa_ = value;
  return q;
}

// Moves factors of ten from the mantissa into the scale.
void Quantity::Reduce() {
  if (mantissa_ == 0) scale_ = 0;
  while (mantissa_ != 0 && mantissa_ % 10 == 0) {
    mantissa_ /= 10;
    ++scale_;
  }
}

std::string Quantity::ToString() const {
  if (!text_.empty()) return text_;
  if (mantissa_ == 0) return "0";
  if (format_ != Format::kBinarySi) return Decimal(format_);
  // Small and fractional numbers are shown in decimal, where nothing is lost.
  Quantity whole = *this;
  whole.Reduce();
  if (whole.scale_ < 0 || (*this > FromInt(-1024) && *this < FromInt(1024)))
    return Decimal(Format::kDecimalSi);
  if (DigitCount(whole.mantissa_) + whole.scale_ > kMaxDigits) return Decimal(Format::kDecimalSi);
  return Binary(whole.mantissa_ * Pow10(whole.scale_));
}

std::string Quantity::Decimal(Format format) const {
  Quantity q = *this;
  q.Reduce();
  // DIVERGES: past "E" Kubernetes loses the suffix and prints a wrong number; here the zeros stay, and more
  // of them than a reader counts become an exponent.
  constexpr int kHighestSuffix = 18;
  constexpr int kZerosMax = 64;
  if (q.scale_ > kHighestSuffix + kZerosMax) format = Format::kDecimalExponent;
  // The next lower power of a thousand, as digits: the mantissa has no room for more.
  int scale = q.scale_ - (q.scale_ % 3 + 3) % 3;
  if (format == Format::kDecimalSi) scale = std::min(scale, kHighestSuffix);
  std::string digits = Print(q.mantissa_).append(static_cast<std::size_t>(q.scale_ - scale), '0');
  if (format == Format::kDecimalExponent) return scale == 0 ? digits : digits + "e" + std::to_string(scale);
  return digits.append(kDecimalSuffixes[scale / 3 + 3]);
}

std::string Quantity::Binary(Int128 value) const {
  std::size_t power = 0;
  for (; power + 1 < std::size(kBinarySuffixes) && value % 1024 == 0; ++power) value /= 1024;
  return Print(value).append(kBinarySuffixes[power]);
}

std::strong_ordering Quantity::operator<=>(const Quantity& other) const {
  if (Sign() != other.Sign() || Sign() == 0) return Sign() <=> other.Sign();
  Quantity a = *this, b = other;
  a.Reduce();
  b.Reduce();
  const int sign = Sign();
  // First by order of magnitude, so that aligning the scales below cannot overflow.
  const int a_size = DigitCount(a.mantissa_) + a.scale_, b_size = DigitCount(b.mantissa_) + b.scale_;
  if (a_size != b_size) return a_size * sign <=> b_size * sign;
  const int low = std::min(a.scale_, b.scale_);
  return a.mantissa_ * Pow10(a.scale_ - low) <=> b.mantissa_ * Pow10(b.scale_ - low);
}

void Quantity::Add(const Quantity& other) {
  text_.clear();
  if (mantissa_ == 0) format_ = other.format_;
  if (other.mantissa_ == 0) return;
  Quantity b = other;
  Reduce();
  b.Reduce();
  if (mantissa_ == 0) scale_ = b.scale_;
  const int low = std::min(scale_, b.scale_);
  const int size = std::max(DigitCount(mantissa_) + scale_, DigitCount(b.mantissa_) + b.scale_) - low;
  if (size > kMaxDigits) {  // far apart: the smaller one is below what we can hold
    if (b.scale_ > scale_) {
      mantissa_ = b.mantissa_;
      scale_ = b.scale_;
    }
    return;
  }
  mantissa_ = mantissa_ * Pow10(scale_ - low) + b.mantissa_ * Pow10(b.scale_ - low);
  scale_ = low;
}

void Quantity::Sub(const Quantity& other) {
  Quantity negated = other;
  negated.mantissa_ = -negated.mantissa_;
  Add(negated);
}

void Quantity::RoundUp(int scale) {
  if (scale_ >= scale) return;
  text_.clear();
  mantissa_ = DivideUp(mantissa_, scale - scale_);
  scale_ = scale;
}

std::int64_t Quantity::ScaledValue(int scale) const {
  Quantity q = *this;
  q.Reduce();
  q.RoundUp(scale);
  constexpr std::int64_t kMinInt64 = std::numeric_limits<std::int64_t>::min();
  if (DigitCount(q.mantissa_) + q.scale_ - scale > 20) return q.mantissa_ > 0 ? kMaxInt64 : kMinInt64;
  const Int128 value = q.mantissa_ * Pow10(q.scale_ - scale);
  return static_cast<std::int64_t>(std::clamp<Int128>(value, kMinInt64, kMaxInt64));
}

}  // namespace terrarium::api
