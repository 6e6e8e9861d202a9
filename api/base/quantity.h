#pragma once

// resource.Quantity: an exact decimal number written with an SI, binary or exponent suffix ("250m", "1Gi",
// "1e3").

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace terrarium::api {

// A value type. Magnitudes beyond 10^36 lose their lowest digits; Kubernetes keeps them, but no resource has
// them.
class Quantity {
 public:
  Quantity() = default;

  // Reads what Kubernetes reads; on failure returns nullopt and sets *error to Kubernetes' words.
  static std::optional<Quantity> Parse(std::string_view text, std::string* error);
  static Quantity FromInt(std::int64_t value);

  // The text that Kubernetes writes for this quantity: the canonical form, except that Parse keeps a text
  // that Kubernetes takes for canonical ("1.500" stays so).
  std::string ToString() const;

  int Sign() const { return mantissa_ == 0 ? 0 : (mantissa_ > 0 ? 1 : -1); }
  std::strong_ordering operator<=>(const Quantity& other) const;
  bool operator==(const Quantity& other) const { return (*this <=> other) == 0; }

  // A zero quantity takes the format of `other`, as in Kubernetes.
  void Add(const Quantity& other);
  void Sub(const Quantity& other);

  // Rounds away from zero to a multiple of 10^scale; resource lists are kept at milli scale (-3).
  void RoundUp(int scale);

  // Rounded up; saturates at the limits of int64.
  std::int64_t Value() const { return ScaledValue(0); }
  std::int64_t MilliValue() const { return ScaledValue(-3); }

 private:
  enum class Format : std::uint8_t { kDecimalSi, kBinarySi, kDecimalExponent };
  __extension__ typedef __int128 Int128;
  struct Suffix;

  static bool ParseSuffix(std::string_view text, Suffix* out);
  static void AddDigit(char digit, Int128* mantissa, int* scale, bool fraction);
  void MultiplyBinary(int exponent, int* scale);
  std::int64_t ScaledValue(int scale) const;
  void Reduce();
  std::string Decimal(Format format) const;
  std::string Binary(Int128 value) const;

  Int128 mantissa_ = 0;  // the value is mantissa_ * 10^scale_
  std::int32_t scale_ = 0;
  Format format_ = Format::kDecimalSi;
  std::string text_;  // the text it was read from, when that is what Kubernetes would print
};

}  // namespace terrarium::api
