// rueidislock, driven by picklock: the work ends when the context of the lock is cancelled. With `bounded` it ends after 0.8 of the validity.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

func main() {
	milliseconds, _ := strconv.Atoi(os.Getenv("PICKLOCK_TTL_MS"))
	ttl := time.Duration(milliseconds) * time.Millisecond
	option := rueidislock.LockerOption{
		ClientOption:   rueidis.ClientOption{InitAddress: []string{strings.TrimPrefix(os.Getenv("PICKLOCK_STORES"), "redis://")}},
		KeyValidity:    ttl,
		KeyMajority:    1,
		NoLoopTracking: true,
	}
	locker, err := rueidislock.NewLocker(option)
	// It connects at once, and the store may not listen yet.
	for err != nil {
		time.Sleep(100 * time.Millisecond)
		locker, err = rueidislock.NewLocker(option)
	}
	held := map[string]context.CancelFunc{}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		key := words[1]
		if words[0] == "release" {
			held[key]()
			fmt.Println("released")
			continue
		}
		var limit <-chan time.Time
		if len(os.Args) > 1 {
			limit = time.After(ttl * 4 / 5)
		}
		ctx, release, err := locker.TryWithContext(context.Background(), key)
		if err != nil {
			fmt.Println("refused")
			continue
		}
		ended := make(chan bool)
		held[key] = func() {
			close(ended)
			release()
		}
		fmt.Println("granted")
		go func() {
			select {
			case <-ended:
			case <-ctx.Done():
				fmt.Println("lost", key)
			case <-limit:
				fmt.Println("lost", key)
			}
		}()
	}
}
