// The server pauses for 100 ms while a client acquires a free lock with WithContext.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

const patience = 20 * time.Second

// acquire prints when a client gets the lock, or whether the lock is free after so long.
func acquire(name string, noLoop bool, done chan<- bool) {
	background := context.Background()
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   rueidis.ClientOption{InitAddress: []string{os.Args[1]}},
		KeyMajority:    1,
		NoLoopTracking: noLoop,
	})
	if err != nil {
		panic(err)
	}
	client := locker.Client()
	_, release, _ := locker.WithContext(background, name)
	release() // From now on the server has the scripts.
	client.Do(background, client.B().Arbitrary("CLIENT", "PAUSE", "100").Build())
	began, granted := time.Now(), make(chan bool, 1)
	go func() {
		_, _, err := locker.WithContext(background, name)
		granted <- err == nil
	}()
	select {
	case <-granted:
		fmt.Printf("%s: WithContext() returned after %.1f s\n", name, time.Since(began).Seconds())
	case <-time.After(patience):
		exists, err := client.Do(background, client.B().Exists().Key("rueidislock:0:"+name).Build()).AsBool()
		fmt.Printf("%s: WithContext() has not returned after %v; the key exists: %t (%v)\n", name, patience, exists, err)
	}
	done <- true
}

func main() {
	done := make(chan bool)
	for _, noLoop := range []bool{false, true} {
		go acquire(fmt.Sprintf("NoLoopTracking: %t", noLoop), noLoop, done)
		<-done
	}
}
