// bsm/redislock on go-redis, asked by picklock: picklock run --program target/adapters/go/redislock
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

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

func main() {
	ctx := context.Background()
	options, err := redis.ParseURL(os.Getenv("PICKLOCK_STORES"))
	if err != nil {
		panic(err)
	}
	locks := redislock.New(redis.NewClient(options))
	milliseconds, _ := strconv.Atoi(os.Getenv("PICKLOCK_TTL_MS"))
	ttl := time.Duration(milliseconds) * time.Millisecond
	held := map[string]*redislock.Lock{}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		key, answer := words[1], ""
		switch words[0] {
		case "acquire":
			answer = "granted"
			var lock *redislock.Lock
			if lock, err = locks.Obtain(ctx, key, ttl, nil); err == nil {
				held[key] = lock
			} else if errors.Is(err, redislock.ErrNotObtained) {
				answer, err = "refused", nil
			}
		case "release":
			answer, err = "released", held[key].Release(ctx)
		case "renew":
			answer = "renewed"
			if err = held[key].Refresh(ctx, ttl, nil); errors.Is(err, redislock.ErrNotObtained) {
				answer, err = "lost", nil
			}
		default:
			answer = "error not understood: " + words[0]
		}
		if err != nil {
			answer = strings.Join(strings.Fields(fmt.Sprint("error ", err)), " ")
		}
		fmt.Println(answer)
	}
}
