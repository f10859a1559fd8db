#!/bin/sh
# Never ends by itself.
sleep 600
