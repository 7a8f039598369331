// etcd's clientv3/concurrency, asked by picklock; the first argument says which: mutex, election, rwmutex.
//
//	picklock run --program 'target/adapters/go/etcd mutex' --topology etcd:3 --set ttl=2s
//
// Each acquire has a session of its own, which nobody keeps alive any more when the acquire has failed or the lock has been released: its lease
// takes along what a request that was not answered may have left behind.
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
	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"
)

// held is a lock, or a leadership, with its session.
type held struct {
	release func(context.Context) error
	session *concurrency.Session
}

func acquire(client *clientv3.Client, kind, key string, ttl int, wait time.Duration) (*held, error) {
	session, err := concurrency.NewSession(client, concurrency.WithTTL(ttl))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	if kind == "election" {
		election := concurrency.NewElection(session, key)
		return &held{election.Resign, session}, election.Campaign(ctx, "me")
	}
	if kind == "rwmutex" {
		writer := recipe.NewRWMutex(session, key)
		return &held{func(context.Context) error { return writer.Unlock() }, session}, writer.Lock()
	}
	mutex := concurrency.NewMutex(session, key)
	return &held{mutex.Unlock, session}, mutex.Lock(ctx)
}

func main() {
	kind := "mutex"
	if len(os.Args) > 1 {
		kind = os.Args[1]
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: strings.Split(os.Getenv("PICKLOCK_STORES"), ","), DialTimeout: time.Second,
	})
	if err != nil {
		panic(err)
	}
	milliseconds, _ := strconv.Atoi(os.Getenv("PICKLOCK_TTL_MS"))
	locks := map[string]*held{}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		switch words[0] {
		case "acquire":
			wait, _ := strconv.Atoi(words[2])
			lock, err := acquire(client, kind, words[1], milliseconds/1000, time.Duration(wait)*time.Millisecond)
			if err != nil && lock != nil {
				lock.session.Orphan()
			}
			switch {
			case err == nil:
				locks[words[1]] = lock
				fmt.Println("granted")
			case errors.Is(err, context.DeadlineExceeded):
				fmt.Println("refused")
			default:
				fmt.Println("error", strings.Join(strings.Fields(err.Error()), " "))
			}
		case "release":
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			err := locks[words[1]].release(ctx)
			cancel()
			locks[words[1]].session.Orphan()
			if err == nil {
				fmt.Println("released")
			} else {
				fmt.Println("error", strings.Join(strings.Fields(err.Error()), " "))
			}
		default:
			fmt.Println("error not understood:", words[0])
		}
	}
}
