// redsync's Mutex on redigo, driven by picklock. With `short` redigo has a read time-out of a twentieth of the lease.
package main

import (
	"bufio"
	"context"
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

func main() {
	milliseconds, _ := strconv.Atoi(os.Getenv("PICKLOCK_TTL_MS"))
	ttl := time.Duration(milliseconds) * time.Millisecond
	var options []redigolib.DialOption
	if len(os.Args) > 1 {
		options = append(options, redigolib.DialReadTimeout(ttl/20))
	}
	var pools []redis.Pool
	for _, url := range strings.Split(os.Getenv("PICKLOCK_STORES"), ",") {
		pools = append(pools, redigo.NewPool(&redigolib.Pool{
			MaxIdle: 2,
			DialContext: func(context context.Context) (redigolib.Conn, error) {
				return redigolib.DialURLContext(context, url, options...)
			},
		}))
	}
	sync := redsync.New(pools...)
	held := map[string]*redsync.Mutex{}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		key := words[1]
		if words[0] == "acquire" {
			held[key] = sync.NewMutex(key, redsync.WithExpiry(ttl))
			if err := held[key].Lock(); err == nil {
				fmt.Printf("granted expires_ms=%d\n", held[key].Until().UnixMilli())
			} else {
				fmt.Println("refused")
			}
		} else if ok, err := held[key].Unlock(); ok {
			fmt.Println("released")
		} else {
			fmt.Println("error", strings.Join(strings.Fields(fmt.Sprint(err)), " "))
		}
	}
}
