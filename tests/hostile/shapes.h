#pragma once

// Requests that cause as much work as possible: each shape repeats one thing until the body is full.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "apiserver/request.h"

namespace terrarium::hostile {

// The requests of a client: those that create an object, and the one that is measured.
struct Exchange {
  std::vector<apiserver::Request> before;
  apiserver::Request request;
};

struct Shape {
  std::string name;
  std::function<Exchange(std::size_t bytes)> make;  // the last request's body or query is about `bytes` long
  int code = 0;                                     // of the response, at every size
};

// The longest body that the server accepts, and the largest object that it stores.
inline constexpr std::size_t kBodyBytesMax = 3 * 1024 * 1024;
inline constexpr std::size_t kStoredBytesMax = 1400 * 1024;

std::vector<Shape> AllShapes();

// The parts of AllShapes().
void AddApplyShapes(std::vector<Shape>& shapes);
void AddObjectShapes(std::vector<Shape>& shapes);
void AddPodShapes(std::vector<Shape>& shapes);
void AddFormatShapes(std::vector<Shape>& shapes);
void AddPatchShapes(std::vector<Shape>& shapes);
void AddKindShapes(std::vector<Shape>& shapes);

}  // namespace terrarium::hostile
