package terrarium

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	k8smetrics "k8s.io/component-base/metrics"
	"k8s.io/kubernetes/pkg/controller/job/metrics"
)

const scrapePeriod = 50 * time.Millisecond

// mirrored are the Job controller's counters, which tests read in this process, by the name they have on /metrics.
var mirrored = map[string]*k8smetrics.CounterVec{
	"job_controller_job_finished_indexes_total":                   metrics.JobFinishedIndexesTotal,
	"job_controller_job_pods_creation_total":                      metrics.JobPodsCreationTotal,
	"job_controller_job_pods_finished_total":                      metrics.JobPodsFinished,
	"job_controller_jobs_by_external_controller_total":            metrics.JobByExternalControllerTotal,
	"job_controller_jobs_finished_total":                          metrics.JobFinishedNum,
	"job_controller_pod_failures_handled_by_failure_policy_total": metrics.PodFailuresHandledByFailurePolicy,
	"job_controller_terminated_pods_tracking_finalizer_total":     metrics.TerminatedPodsTrackingFinalizerTotal,
}

var (
	seriesPattern = regexp.MustCompile(`^(\w+)(?:\{(.*)\})? (\S+)$`)
	labelPattern  = regexp.MustCompile(`(\w+)="((?:[^"\\]|\\.)*)"`)
)

// mirrorCounters scrapes the server's counters until it stops. REQUIRES: s.mu is held.
func (s *Server) mirrorCounters() {
	if s.hasMirror || s.active["job-controller"] == nil {
		return
	}
	s.hasMirror = true
	go func() {
		for {
			time.Sleep(scrapePeriod)
			s.mu.Lock()
			if s.gone {
				s.mu.Unlock()
				return
			}
			if s.running {
				s.scrape()
			}
			s.mu.Unlock()
		}
	}()
}

// scrape adds to the counters of this process what those of the server have gained. REQUIRES: s.mu is held.
func (s *Server) scrape() {
	if !s.hasMirror {
		return
	}
	text, err := s.readMetrics()
	if err != nil {
		Problemf("%s: %v", s.test, err)
		return
	}
	for line := range strings.Lines(text) {
		parts := seriesPattern.FindStringSubmatch(strings.TrimSpace(line))
		if parts == nil || mirrored[parts[1]] == nil {
			continue
		}
		value, err := strconv.ParseFloat(parts[3], 64)
		if err != nil {
			Problemf("%s: %s: %v", s.test, line, err)
			continue
		}
		series := parts[1] + "{" + parts[2] + "}"
		gained := value - s.scraped[series]
		s.scraped[series] = value
		if gained <= 0 {
			continue
		}
		labels := map[string]string{}
		for _, label := range labelPattern.FindAllStringSubmatch(parts[2], -1) {
			labels[label[1]] = label[2]
		}
		mirrored[parts[1]].With(labels).Add(gained)
	}
}

func (s *Server) readMetrics() (string, error) {
	response, err := controlClient.Get(s.url + "/metrics")
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("/metrics: %s", response.Status)
	}
	return string(data), err
}
