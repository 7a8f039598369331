// One server of three stops (SIGSTOP: its connections stay open), and a client of each kind calls Lock() and Unlock().
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/go-redsync/redsync/v4/redis/redigo"
	redigolib "github.com/gomodule/redigo/redis"
	goredislib "github.com/redis/go-redis/v9"
)

const wait = 10 * time.Second

func viaRedigo(address string) redis.Pool {
	return redigo.NewPool(&redigolib.Pool{MaxIdle: 2, DialContext: func(ctx context.Context) (redigolib.Conn, error) {
		return redigolib.DialContext(ctx, "tcp", address)
	}})
}

func viaGoRedis(respected bool) func(string) redis.Pool {
	return func(address string) redis.Pool {
		return goredis.NewPool(goredislib.NewClient(&goredislib.Options{Addr: address, ContextTimeoutEnabled: respected}))
	}
}

// timed says how long a call took, or that it has not returned in time.
func timed(call string, function func() error) (string, bool) {
	began, done := time.Now(), make(chan error, 1)
	go func() { done <- function() }()
	select {
	case err := <-done:
		return fmt.Sprintf("%s returned %v after %.1f s\n", call, err, time.Since(began).Seconds()), err == nil
	case <-time.After(wait):
		return fmt.Sprintf("%s has not returned after %.0f s\n", call, wait.Seconds()), false
	}
}

func main() {
	stopped, results := make(chan bool), []chan string{}
	client := func(name string, lease time.Duration, connect func(string) redis.Pool, options ...redsync.Option) {
		var pools []redis.Pool
		for _, address := range os.Args[2:] {
			pools = append(pools, connect(address))
		}
		mutex, result := redsync.New(pools...).NewMutex(name, append(options, redsync.WithExpiry(lease))...), make(chan string)
		fmt.Printf("%s, all servers run: %v\n", name, mutex.Lock())
		mutex.Unlock()
		results = append(results, result)
		go func() {
			<-stopped
			text, locked := timed(name+": Lock()", mutex.Lock)
			if locked {
				unlock, _ := timed(name+": Unlock()", func() error { _, err := mutex.Unlock(); return err })
				text += unlock
			}
			result <- text
		}()
	}
	client("redigo, lease of 2 s", 2*time.Second, viaRedigo)
	client("redigo, lease of 8 s (the default)", 8*time.Second, viaRedigo)
	client("redigo, WithFailFast", 2*time.Second, viaRedigo, redsync.WithFailFast(true))
	client("go-redis, lease of 2 s", 2*time.Second, viaGoRedis(false))
	client("go-redis, lease of 8 s (the default)", 8*time.Second, viaGoRedis(false))
	client("go-redis, ContextTimeoutEnabled", 2*time.Second, viaGoRedis(true))
	pid, _ := strconv.Atoi(os.Args[1])
	syscall.Kill(pid, syscall.SIGSTOP)
	fmt.Println("one server is stopped")
	close(stopped)
	for _, result := range results {
		fmt.Print(<-result)
	}
	keys := goredislib.NewClient(&goredislib.Options{Addr: os.Args[2]}).Exists(context.Background(), "redigo, lease of 2 s").Val()
	fmt.Printf("redigo, lease of 2 s: keys on a running server: %d\n", keys)
}
