// The Lock of go-zookeeper/zk. With the word `anew`, the connection is closed and its session with it when an acquire fails.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

func connect() *zk.Conn {
	milliseconds, _ := strconv.Atoi(os.Getenv("PICKLOCK_TTL_MS"))
	conn, _, err := zk.Connect(strings.Split(os.Getenv("PICKLOCK_STORES"), ","), time.Duration(milliseconds)*time.Millisecond)
	if err != nil {
		panic(err)
	}
	return conn
}

func main() {
	var conn *zk.Conn
	held := map[string]*zk.Lock{}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		key := words[1]
		switch words[0] {
		case "acquire":
			if conn == nil {
				conn = connect()
			}
			lock := zk.NewLock(conn, "/"+key, zk.WorldACL(zk.PermAll))
			if err := lock.Lock(); err == nil {
				held[key] = lock
				fmt.Println("granted")
			} else {
				fmt.Println("error", err)
				if len(os.Args) > 1 {
					conn.Close()
					conn = nil
				}
			}
		case "release":
			if err := held[key].Unlock(); err == nil {
				fmt.Println("released")
			} else {
				fmt.Println("error", err)
			}
		default:
			fmt.Println("error not understood:", words[0])
		}
	}
}
