// A lease lock by hand on Go's standard library, asked by picklock: picklock run --program target/adapters/go/lease
package main

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

const release = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"
const renew = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) else return 0 end"

var ttl = os.Getenv("PICKLOCK_TTL_MS")

// call makes one request on a connection of its own and returns the first line of its reply.
func call(host string, words ...string) (string, error) {
	conn, err := net.DialTimeout("tcp", host, time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Second))
	text := fmt.Sprintf("*%d\r\n", len(words))
	for _, word := range words {
		text += fmt.Sprintf("$%d\r\n%s\r\n", len(word), word)
	}
	if _, err = conn.Write([]byte(text)); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	return strings.TrimSpace(line), err
}

func acquire(host, key string, wait time.Duration) (answer, owner string, err error) {
	raw := make([]byte, 16)
	rand.Read(raw)
	owner = fmt.Sprintf("%x", raw)
	for end := time.Now().Add(wait); ; time.Sleep(20 * time.Millisecond) {
		reply, err := call(host, "SET", key, owner, "NX", "PX", ttl)
		if err != nil {
			return "", "", err
		}
		if reply == "+OK" {
			return "granted", owner, nil
		}
		if time.Now().After(end) {
			return "refused", "", nil
		}
	}
}

// compared is the word for whether a script found the owner whom it was to find.
func compared(reply, yes, no string) string {
	if reply == ":1" {
		return yes
	}
	return no
}

func main() {
	store, err := url.Parse(os.Getenv("PICKLOCK_STORES"))
	if err != nil {
		panic(err)
	}
	held := map[string]string{}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		key, answer := words[1], ""
		switch words[0] {
		case "acquire":
			wait, _ := strconv.Atoi(words[2])
			answer, held[key], err = acquire(store.Host, key, time.Duration(wait)*time.Millisecond)
		case "release":
			answer, err = call(store.Host, "EVAL", release, "1", key, held[key])
			answer = compared(answer, "released", "error it was not held any more")
		case "renew":
			answer, err = call(store.Host, "EVAL", renew, "1", key, held[key], ttl)
			answer = compared(answer, "renewed", "lost")
		default:
			answer = "error not understood: " + words[0]
		}
		if err != nil {
			answer = fmt.Sprint("error ", err)
		}
		fmt.Println(answer)
	}
}
