// redsync's Mutex, driven by picklock. With `once` each Lock makes one attempt, and the caller repeats it.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/redigo"
	redigolib "github.com/gomodule/redigo/redis"
)

func main() {
	pool := redigo.NewPool(&redigolib.Pool{
		MaxIdle: 2,
		Dial: func() (redigolib.Conn, error) {
			return redigolib.DialURL(os.Getenv("PICKLOCK_STORES"), redigolib.DialReadTimeout(300*time.Millisecond))
		},
	})
	sync := redsync.New(pool)
	milliseconds, _ := strconv.Atoi(os.Getenv("PICKLOCK_TTL_MS"))
	options := []redsync.Option{redsync.WithExpiry(time.Duration(milliseconds) * time.Millisecond)}
	if len(os.Args) > 1 {
		options = append(options, redsync.WithTries(1))
	}
	held := map[string]*redsync.Mutex{}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		key := words[1]
		if words[0] == "acquire" {
			held[key] = sync.NewMutex(key, options...)
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
