package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"syscall"
	"testing"

	"k8s.io/client-go/rest"
)

// line is a client's connection to the server: it records the requests and can be cut and mended.
type line struct {
	mu       sync.Mutex
	cut      bool
	requests []request
	open     map[*lineBody]bool
}

type request struct {
	method string
	path   string
	query  url.Values
	accept string
	code   int
	answer string // content type
}

// throughLine makes every request of `config` go through the returned line.
func throughLine(config *rest.Config) *line {
	l := &line{open: map[*lineBody]bool{}}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) { return l.send(next, r) })
	})
	return l
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Clients treat it as a short outage of the server, and resume.
var errCut = fmt.Errorf("the line is cut: %w", syscall.ECONNREFUSED)

func (l *line) send(next http.RoundTripper, r *http.Request) (*http.Response, error) {
	if l.isCut() {
		return nil, errCut
	}
	response, err := next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	body := &lineBody{ReadCloser: response.Body, line: l}
	response.Body = body
	l.open[body] = true
	l.requests = append(l.requests, request{r.Method, r.URL.Path, r.URL.Query(), r.Header.Get("Accept"), response.StatusCode,
		response.Header.Get("Content-Type")})
	return response, nil
}

func (l *line) isCut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

// Cut ends every answer that is still being read and refuses new requests until Mend.
func (l *line) Cut() {
	l.mu.Lock()
	l.cut = true
	var open []*lineBody
	for body := range l.open {
		open = append(open, body)
	}
	l.mu.Unlock()
	for _, body := range open {
		body.Close()
	}
}

func (l *line) Mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = false
}

// Count returns the number of requests so far that satisfy the condition.
func (l *line) Count(condition func(request) bool) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, r := range l.requests {
		if condition(r) {
			n++
		}
	}
	return n
}

type lineBody struct {
	io.ReadCloser
	line *line
}

func (b *lineBody) Close() error {
	b.line.mu.Lock()
	delete(b.line.open, b)
	b.line.mu.Unlock()
	return b.ReadCloser.Close()
}

func isWatch(r request) bool { return r.query.Get("watch") == "true" || r.query.Get("watch") == "1" }

func isList(r request) bool {
	return r.query.Get("sendInitialEvents") == "true" || (r.method == http.MethodGet && !isWatch(r))
}

// The kinds of body that the clients really got.
func TestContentTypesOnTheWire(t *testing.T) {
	for name, contentType := range map[string]string{"protobuf": protobufType, "json": jsonType} {
		t.Run(name, func(t *testing.T) {
			c := configWithType(t, contentType)
			l := throughLine(c)
			client := newClientset(t, c)
			createConfigMaps(t, client, newNamespace(t, client), 1)
			if n := l.Count(func(r request) bool { return r.answer == contentType && r.code == http.StatusCreated }); n != 2 {
				t.Errorf("%d of 2 answers came as %s: %+v", n, contentType, l.requests)
			}
		})
	}
}
