// A lock by hand: SET NX PX, and a script that releases.
package main

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

const release = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0"

func main() {
	conn, err := net.Dial("tcp", "store:6379")
	if err != nil {
		panic(err)
	}
	in := bufio.NewReader(conn)
	do := func(words ...string) string {
		text := fmt.Sprintf("*%d\r\n", len(words))
		for _, word := range words {
			text += fmt.Sprintf("$%d\r\n%s\r\n", len(word), word)
		}
		conn.Write([]byte(text))
		line, _ := in.ReadString('\n')
		return strings.TrimSpace(line)
	}
	var token string
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if words[0] == "release" {
			fmt.Println("released", do("EVAL", release, "1", words[1], token))
			continue
		}
		raw := make([]byte, 8)
		rand.Read(raw)
		mine := fmt.Sprintf("%x", raw)
		wait, _ := strconv.Atoi(words[2])
		end, answer := time.Now().Add(time.Duration(wait)*time.Millisecond), "granted"
		for do("SET", words[1], mine, "NX", "PX", "1000") != "+OK" {
			if time.Now().After(end) {
				answer = "refused"
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if answer == "granted" {
			token = mine
		}
		fmt.Println(answer)
	}
}
