// rueidislock on one Redis, asked by picklock: picklock run --program target/adapters/go/rueidislock
// It extends its locks by itself, and waits for the release of another client's by CLIENT TRACKING. A renewal asks whether it still holds.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

// held is a lock: it lasts as long as its context.
type held struct {
	ctx     context.Context
	release context.CancelFunc
}

func main() {
	store, err := url.Parse(os.Getenv("PICKLOCK_STORES"))
	if err != nil {
		panic(err)
	}
	milliseconds, _ := strconv.Atoi(os.Getenv("PICKLOCK_TTL_MS"))
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{InitAddress: []string{store.Host}},
		KeyValidity:  time.Duration(milliseconds) * time.Millisecond,
		KeyMajority:  1,
	})
	if err != nil {
		panic(err)
	}
	locks := map[string]held{}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		key := words[1]
		switch words[0] {
		case "acquire":
			wait, _ := strconv.Atoi(words[2])
			late := time.Now().Add(time.Duration(wait) * time.Millisecond)
			ctx, release, err := acquire(locker, key, late)
			switch {
			case err == nil:
				locks[key] = held{ctx, release}
				fmt.Println("granted")
			case errors.Is(err, context.Canceled):
				fmt.Println("refused")
			default:
				fmt.Println("error", strings.Join(strings.Fields(err.Error()), " "))
			}
		case "release":
			locks[key].release()
			fmt.Println("released")
		case "renew":
			if locks[key].ctx.Err() == nil {
				fmt.Println("renewed")
			} else {
				fmt.Println("lost")
			}
		default:
			fmt.Println("error not understood:", words[0])
		}
	}
}

// acquire waits for the lock until it is late. The context of the request is the parent of the lock's: it has no deadline.
func acquire(locker rueidislock.Locker, key string, late time.Time) (context.Context, context.CancelFunc, error) {
	asked, give := context.WithCancel(context.Background())
	alarm := time.AfterFunc(time.Until(late), give)
	defer alarm.Stop()
	return locker.WithContext(asked, key)
}
