// bsm/redislock on go-redis, on one Redis or on Redis Cluster, asked by picklock: picklock run --program target/adapters/go/redislock
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
	store, err := open()
	if err != nil {
		panic(err)
	}
	locks := redislock.New(store)
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

// open returns the client of the one store, or of the cluster.
func open() (redislock.RedisClient, error) {
	if nodes := os.Getenv("PICKLOCK_CLUSTER"); nodes != "" {
		return redis.NewClusterClient(&redis.ClusterOptions{Addrs: strings.Split(nodes, ",")}), nil
	}
	options, err := redis.ParseURL(os.Getenv("PICKLOCK_STORES"))
	if err != nil {
		return nil, err
	}
	return redis.NewClient(options), nil
}
