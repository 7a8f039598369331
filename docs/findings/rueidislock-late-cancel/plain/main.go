// From 1 s on the network between a holder and the server drops everything. A second client waits for the lock, which expires after 5 s.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

var silent atomic.Bool

// link is a connection of the holder: while the network is silent, nothing is sent and nothing arrives.
type link struct{ net.Conn }

func (l link) Write(request []byte) (int, error) {
	if silent.Load() {
		return len(request), nil
	}
	return l.Conn.Write(request)
}

func (l link) Read(reply []byte) (int, error) {
	for {
		n, err := l.Conn.Read(reply)
		if err != nil || !silent.Load() {
			return n, err
		}
	}
}

func dial(ctx context.Context, address string, dialer *net.Dialer, _ *tls.Config) (net.Conn, error) {
	if silent.Load() {
		time.Sleep(time.Second)
		return nil, errors.New("i/o timeout")
	}
	connection, err := dialer.DialContext(ctx, "tcp", address)
	return link{connection}, err
}

func main() {
	option := rueidislock.LockerOption{
		ClientOption:   rueidis.ClientOption{InitAddress: []string{os.Args[1]}},
		KeyMajority:    1,
		NoLoopTracking: true,
	}
	second, err := rueidislock.NewLocker(option)
	if err != nil {
		panic(err)
	}
	option.ClientOption.DialCtxFn = dial
	first, err := rueidislock.NewLocker(option)
	if err != nil {
		panic(err)
	}
	began := time.Now()
	say := func(text string) { fmt.Printf("%.1f s: %s\n", time.Since(began).Seconds(), text) }
	held, _, _ := first.WithContext(context.Background(), "job")
	say("the first client has acquired the lock")
	time.AfterFunc(time.Second, func() {
		silent.Store(true)
		say("the network of the first client is silent")
	})
	granted := make(chan context.Context, 1)
	go func() {
		ctx, _, _ := second.WithContext(context.Background(), "job")
		say("the second client has acquired the lock")
		granted <- ctx
	}()
	<-held.Done()
	say("the context of the first client is cancelled")
	select {
	case <-granted:
	case <-time.After(10 * time.Second):
	}
	say("end")
}
