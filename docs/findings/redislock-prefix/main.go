// bsm/redislock with a custom token for each client, driven by picklock: worker-1, worker-11, and so on. With `padded` all tokens have one length.
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
	host, _ := os.Hostname()
	client, _ := strconv.Atoi(strings.TrimPrefix(host, "client-"))
	token := "worker-" + strings.Repeat("1", client)
	if len(os.Args) > 1 {
		token = fmt.Sprintf("%20s", token)
	}
	held := map[string]*redislock.Lock{}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		key := words[1]
		if words[0] == "acquire" {
			lock, err := locks.Obtain(ctx, key, ttl, &redislock.Options{Token: token})
			if errors.Is(err, redislock.ErrNotObtained) {
				fmt.Println("refused")
				continue
			}
			held[key] = lock
			answer("granted", err)
		} else {
			answer("released", held[key].Release(ctx))
		}
	}
}

func answer(good string, err error) {
	if err != nil {
		good = strings.Join(strings.Fields(fmt.Sprint("error ", err)), " ")
	}
	fmt.Println(good)
}
