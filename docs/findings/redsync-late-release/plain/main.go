// Without further arguments: the release of a failed attempt reaches the server 1 s late. With `acquire`: the SET of an attempt, 0.6 s late.
package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/redigo"
	redigolib "github.com/gomodule/redigo/redis"
)

// slow delivers the first request with a command late, also after the client has closed the connection, as a network does.
type slow struct {
	net.Conn
	command string
	late    time.Duration
	done    *atomic.Bool
}

func (c slow) Write(request []byte) (int, error) {
	if c.late == 0 || !bytes.Contains(request, []byte(c.command+"\r\n")) || !c.done.CompareAndSwap(false, true) {
		return c.Conn.Write(request)
	}
	request = bytes.Clone(request)
	time.AfterFunc(c.late, func() { c.Conn.Write(request) })
	return len(request), nil
}

func (slow) Close() error { return nil }

// mutex is one of a client of its own, with a read time-out of 300 ms and a lease of 3 s.
func mutex(command string, late, delay time.Duration) *redsync.Mutex {
	done := new(atomic.Bool)
	dial := func() (redigolib.Conn, error) {
		connection, err := net.Dial("tcp", "127.0.0.1:"+os.Args[1])
		return redigolib.NewConn(slow{connection, command, late, done}, 300*time.Millisecond, 0), err
	}
	client := redsync.New(redigo.NewPool(&redigolib.Pool{MaxIdle: 2, Dial: dial}))
	return client.NewMutex("job", redsync.WithExpiry(3*time.Second), redsync.WithRetryDelay(delay), redsync.WithTries(1000))
}

func main() {
	other := mutex("", 0, 10*time.Millisecond)
	other.Lock()
	other.Unlock() // From now on the server has the script of the release.
	began := time.Now()
	since := func(at time.Time) float64 { return at.Sub(began).Seconds() }

	if len(os.Args) > 2 {
		a := mutex("SET", 600*time.Millisecond, 500*time.Millisecond)
		fmt.Println("A: Lock() returned", a.Lock())
		fmt.Printf("%.2f s: A, whose first SET was 0.60 s late, has acquired the free lock\n", since(time.Now()))
		return
	}
	other.Lock()
	a, b := mutex("EVALSHA", time.Second, 10*time.Millisecond), mutex("", 0, 10*time.Millisecond)
	time.AfterFunc(150*time.Millisecond, func() { other.Unlock() })
	fmt.Println("A: Lock() returned", a.Lock())
	fmt.Printf("%.2f s: A has acquired the lock, valid until %.2f s\n", since(time.Now()), since(a.Until()))
	fmt.Println("B: Lock() returned", b.Lock())
	fmt.Printf("%.2f s: B has acquired the lock, A holds it as well: %t\n", since(time.Now()), time.Now().Before(a.Until()))
}
