module picklock.example/adapters

go 1.19

require (
	github.com/go-redsync/redsync/v4 v4.8.1
	github.com/gomodule/redigo v1.8.2
)

require (
	github.com/hashicorp/errwrap v1.1.0 // indirect
	github.com/hashicorp/go-multierror v1.1.1 // indirect
)
