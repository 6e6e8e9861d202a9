#pragma once

// Frames as a client of a websocket sends them, valid or not.

#include <string>
#include <string_view>

namespace terrarium::apiserver {

// `first` is the first byte: the opcode and, for the last frame of a message, 0x80.
inline std::string ClientFrame(unsigned first, std::string_view payload) {
  constexpr std::string_view kMask = "\x01\xfe\x37\x80";
  std::string out(1, static_cast<char>(first));
  if (payload.size() < 126) {
    out += static_cast<char>(0x80 | payload.size());
  } else {
    out += "\xfe";
    out += static_cast<char>(payload.size() >> 8);
    out += static_cast<char>(payload.size() & 0xff);
  }
  out += kMask;
  for (std::size_t i = 0; i < payload.size(); ++i) out += static_cast<char>(payload[i] ^ kMask[i % 4]);
  return out;
}

inline constexpr std::string_view kCloseNormal = "\x88\x02\x03\xe8";
inline constexpr std::string_view kCloseProtocolError = "\x88\x02\x03\xea";

}  // namespace terrarium::apiserver
