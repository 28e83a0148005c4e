# Every target is a small script in .ci/, which can also be run by itself.
.DEFAULT_GOAL := help
.PHONY: help demo demo-claude test bench bench-leaderboard

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## from nothing to a finished paired evaluation on http://127.0.0.1:3000 (data in ./data)
	@.ci/demo

demo-claude: ## the same evaluation with the real Claude Code, installed from npm, and the same scripted model
	@.ci/demo claude-code

test: ## set up and run everything that CI runs
	@.ci/run

bench: ## measure our own overhead beside the least that a Docker client can spend
	@.ci/bench

bench-leaderboard: ## measure the leaderboard over HTTP with a million trials in 20 000 rows
	@.ci/bench-leaderboard
