package e2e

func parent() {}
