// Clients with the tokens "worker-12" and "worker-1": the shorter token is a prefix of the longer one.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

var ctx = context.Background()

// obtain asks once, as a client of its own, and prints the answer.
func obtain(key, token, metadata string) *redislock.Lock {
	client := redislock.New(redis.NewClient(&redis.Options{Addr: os.Args[1]}))
	lock, err := client.Obtain(ctx, key, 10*time.Second, &redislock.Options{Token: token, Metadata: metadata})
	fmt.Printf("%s: Obtain(%q, metadata %q): %v\n", token, key, metadata, err)
	return lock
}

func main() {
	long := obtain("job", "worker-12", "")
	short := obtain("job", "worker-1", "")
	fmt.Println("worker-12: Refresh():", long.Refresh(ctx, 10*time.Second, nil))
	fmt.Println("worker-12: Release():", long.Release(ctx))
	fmt.Println("worker-1: Release():", short.Release(ctx))

	// The token of one client and its metadata are the token of the other client and its metadata.
	first := obtain("job 2", "worker-1", "2: nightly")
	second := obtain("job 2", "worker-12", ": nightly")
	fmt.Println("worker-12: Release():", second.Release(ctx))
	fmt.Println("worker-1: Release():", first.Release(ctx))

	// A client obtains its own lock again.
	obtain("job 3", "worker-1", "first")
	obtain("job 3", "worker-1", "second")
}
