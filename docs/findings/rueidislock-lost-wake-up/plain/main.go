// Two goroutines of one process wait for a lock. The holder releases it, and the context of the first waiter is cancelled at that time.
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

const rounds, patience = 100, 10 * time.Second

func main() {
	contend(false)
	contend(true)
}

func contend(noLoop bool) {
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   rueidis.ClientOption{InitAddress: []string{os.Args[1]}},
		KeyMajority:    1,
		NoLoopTracking: noLoop,
	})
	if err != nil {
		panic(err)
	}
	defer locker.Close()
	lost := 0
	for round := range rounds {
		name, background := fmt.Sprint("job ", round, noLoop), context.Background()
		_, release, _ := locker.WithContext(background, name)
		leaving, leave := context.WithCancel(background)
		wait := func(ctx context.Context, granted chan<- bool) {
			_, release, err := locker.WithContext(ctx, name)
			if err == nil {
				release()
			}
			granted <- err == nil
		}
		first, second := make(chan bool, 1), make(chan bool, 1)
		go wait(leaving, first)
		time.Sleep(2 * time.Millisecond)
		go wait(background, second)
		time.Sleep(2 * time.Millisecond)
		time.AfterFunc(rand.N(time.Millisecond), leave)
		release()
		<-first
		select {
		case <-second:
		case <-time.After(100 * time.Millisecond):
			// The lock is free. Only the first of these waiters gets a longer time.
			if lost++; lost == 1 {
				select {
				case <-second:
					lost = 0
				case <-time.After(patience):
					key := "rueidislock:0:" + name
					exists, _ := locker.Client().Do(background, locker.Client().B().Exists().Key(key).Build()).AsBool()
					fmt.Printf("NoLoopTracking: %t: the key exists: %t; WithContext() has not returned after %v\n", noLoop, exists, patience)
				}
			}
		}
	}
	fmt.Printf("NoLoopTracking: %t: waiters that are not woken: %d of %d\n", noLoop, lost, rounds)
}
