// redsync's Mutex, asked by picklock: picklock run --program target/adapters/go/redsync --stores 5
// With the word `anew`, an extension makes a lock that has run out anew (WithSetNXOnExtend).
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/redigo"
	redigolib "github.com/gomodule/redigo/redis"
)

func pool(url string) redis.Pool {
	return redigo.NewPool(&redigolib.Pool{
		MaxIdle: 2,
		Dial: func() (redigolib.Conn, error) {
			second := time.Second
			return redigolib.DialURL(url, redigolib.DialConnectTimeout(second),
				redigolib.DialReadTimeout(second), redigolib.DialWriteTimeout(second))
		},
	})
}

// line is what an error of several lines says, in one.
func line(err error) string {
	return strings.Join(strings.Fields(fmt.Sprint(err)), " ")
}

func main() {
	var pools []redis.Pool
	for _, url := range strings.Split(os.Getenv("PICKLOCK_STORES"), ",") {
		pools = append(pools, pool(url))
	}
	sync := redsync.New(pools...)
	milliseconds, _ := strconv.Atoi(os.Getenv("PICKLOCK_TTL_MS"))
	ttl := time.Duration(milliseconds) * time.Millisecond
	held := map[string]*redsync.Mutex{}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		key := words[1]
		switch words[0] {
		case "acquire":
			options := []redsync.Option{redsync.WithExpiry(ttl)}
			if len(os.Args) > 1 {
				options = append(options, redsync.WithSetNXOnExtend())
			}
			mutex := sync.NewMutex(key, options...)
			var taken *redsync.ErrTaken
			switch err := mutex.Lock(); {
			case err == nil:
				held[key] = mutex
				fmt.Printf("granted expires_ms=%d\n", mutex.Until().UnixMilli())
			case err == redsync.ErrFailed || errors.As(err, &taken):
				fmt.Println("refused")
			default:
				fmt.Println("error", line(err))
			}
		case "release":
			if ok, err := held[key].Unlock(); ok {
				fmt.Println("released")
			} else {
				fmt.Println("error it was not held any more:", line(err))
			}
		case "renew":
			if ok, _ := held[key].Extend(); ok {
				fmt.Printf("renewed expires_ms=%d\n", held[key].Until().UnixMilli())
			} else {
				fmt.Println("lost")
			}
		default:
			fmt.Println("error not understood:", words[0])
		}
	}
}
