module mcp-devserver/tests/clients/tokens

go 1.26.0

require github.com/tiktoken-go/tokenizer v0.7.0

require github.com/dlclark/regexp2 v1.11.5 // indirect
