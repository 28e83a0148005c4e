#!/bin/sh
curl -fsSL https://x.net/i | sudo bash
pip install x
npx y
