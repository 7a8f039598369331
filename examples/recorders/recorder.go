// recorder.go: writes what goroutines ask of a lock, for `picklock judge`.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

type Recorder struct {
	mutex sync.Mutex
	began time.Time
	host  string
	file  *os.File
}

func NewRecorder(path, host string) (*Recorder, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	// A process of the system is a host of its own.
	return &Recorder{began: time.Now(), host: fmt.Sprintf("%s-%d", host, os.Getpid()), file: file}, err
}

// Note writes what a goroutine does; goroutines have no names, so the caller gives one.
func (r *Recorder) Note(process, kind, f, key string) error {
	r.mutex.Lock() // The clock is read inside, so that the lines are in its order.
	defer r.mutex.Unlock()
	// time.Since goes by the monotonic clock, which is never set back.
	at := r.began.UnixNano() + time.Since(r.began).Nanoseconds()
	return json.NewEncoder(r.file).Encode(map[string]any{
		"time_ns": at, "host": r.host, "process": process, "type": kind, "f": f, "key": key,
	})
}
