// etcd's Mutex, in one session for all locks. An Unlock that fails is tried again in the background; not with the word `once`.
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

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

func unlock(mutex *concurrency.Mutex) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return mutex.Unlock(ctx)
}

// again unlocks until it succeeds.
func again(mutex *concurrency.Mutex) {
	for err := errors.New("failed"); err != nil; err = unlock(mutex) {
		time.Sleep(200 * time.Millisecond)
	}
}

// line is what an error of several lines says, in one.
func line(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}

func main() {
	client, err := clientv3.New(clientv3.Config{
		Endpoints: strings.Split(os.Getenv("PICKLOCK_STORES"), ","), DialTimeout: time.Second,
	})
	if err != nil {
		panic(err)
	}
	milliseconds, _ := strconv.Atoi(os.Getenv("PICKLOCK_TTL_MS"))
	var session *concurrency.Session
	locks := map[string]*concurrency.Mutex{}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		key := words[1]
		switch words[0] {
		case "acquire":
			if session == nil {
				if session, err = concurrency.NewSession(client, concurrency.WithTTL(milliseconds/1000)); err != nil {
					fmt.Println("error", line(err))
					continue
				}
			}
			wait, _ := strconv.Atoi(words[2])
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(wait)*time.Millisecond)
			mutex := concurrency.NewMutex(session, key)
			err := mutex.Lock(ctx)
			cancel()
			switch {
			case err == nil:
				locks[key] = mutex
				fmt.Println("granted")
			case errors.Is(err, context.DeadlineExceeded):
				fmt.Println("refused")
			default:
				fmt.Println("error", line(err))
			}
		case "release":
			mutex := locks[key]
			if err := unlock(mutex); err == nil {
				fmt.Println("released")
			} else {
				fmt.Println("error", line(err))
				if len(os.Args) < 2 {
					go again(mutex)
				}
			}
		default:
			fmt.Println("error not understood:", words[0])
		}
	}
}
