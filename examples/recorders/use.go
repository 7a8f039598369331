package main

import "os"

func main() {
	recorder, err := NewRecorder(os.Args[1], "web")
	for _, note := range [][2]string{{"invoke", "acquire"}, {"ok", "acquire"}, {"invoke", "release"}, {"ok", "release"}} {
		if err == nil {
			err = recorder.Note("worker-1", note[0], note[1], "stock")
		}
	}
	if err != nil {
		panic(err)
	}
}
