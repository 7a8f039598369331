// rueidislock on one Redis or on Redis Cluster, asked by picklock: picklock run --program target/adapters/go/rueidislock
// It extends its locks by itself, and waits for the release of another client's by CLIENT TRACKING.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

func main() {
	nodes := os.Getenv("PICKLOCK_CLUSTER")
	if nodes == "" {
		nodes = strings.TrimPrefix(os.Getenv("PICKLOCK_STORES"), "redis://")
	}
	milliseconds, _ := strconv.Atoi(os.Getenv("PICKLOCK_TTL_MS"))
	option := rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{InitAddress: strings.Split(nodes, ",")},
		KeyValidity:  time.Duration(milliseconds) * time.Millisecond,
		KeyMajority:  1,
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
		switch words[0] {
		case "acquire":
			wait, _ := strconv.Atoi(words[2])
			late := time.Now().Add(time.Duration(wait) * time.Millisecond)
			release, err := acquire(locker, key, late)
			switch {
			case err == nil:
				held[key] = release
				fmt.Println("granted")
			case errors.Is(err, context.Canceled):
				fmt.Println("refused")
			default:
				fmt.Println("error", strings.Join(strings.Fields(err.Error()), " "))
			}
		case "release":
			held[key]()
			fmt.Println("released")
		default:
			fmt.Println("error not understood:", words[0])
		}
	}
}

// acquire waits for the lock until it is late. The context of the request is the parent of the lock's: it has no deadline.
func acquire(locker rueidislock.Locker, key string, late time.Time) (context.CancelFunc, error) {
	asked, give := context.WithCancel(context.Background())
	alarm := time.AfterFunc(time.Until(late), give)
	defer alarm.Stop()
	_, release, err := locker.WithContext(asked, key)
	return release, err
}
